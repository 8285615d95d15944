"""Whether a log ends with the work done: its last words say so, or what its program counted it has counted to the end.

The words have to be new, for what is said of each part is not said of the whole; and nothing below a full count may
take it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise

from triage.model import Block, Evidence, Finding, Source
from triage.scan.closing.done import gives_up, says_done, without_place
from triage.scan.closing.tail import last_rows
from triage.scan.closing.wordings import speaks_of_trouble
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.errors_above import NEAR, unanswered_above
from triage.scan.ordinary.recovery import FRESH
from triage.scan.ordinary.rows import GAVE_UP
from triage.scan.ordinary.said import without_digits
from triage.scan.ordinary.status import WANTED
from triage.scan.prefix import clean, split_line
from triage.text import safe

DONE = "progress.said-done"
GAVE_UP_RULE = "unknown.gave-up"
_WINDOW, _END = 32 << 10, 4 << 10
_LONGEST = 400
_BESIDE = deferred(
    # what a terminal draws; what is asked of the scheduler; status, times, rulers
    r"\s*[\u2500-\u257f|+][\s\u2500-\u257f|+=-]*(?:[^\n]*[\u2500-\u257f|+]\s*)?"
    r"|\s*(?:JobId=\d|[A-Z][\w/:]{2,30}=\S*(?: +[A-Z][\w/:]{2,30}=\S*)*\s*$)"
    r"|::endgroup::|##\[(?:endgroup|section|debug)\].*|\W{0,4}(?:exit|rc|status|return)\b[^\n1-9]{0,20}\b0\W*|[\W_]*|(?:real|user|sys)\s+\d.*"
    r"|(?:[A-Z][a-z]{2},? +){1,2}\d{1,2} .{0,8}\d\d:\d\d:\d\d.{0,16}"
    r"|\s*warnings\.warn\(.*|.{0,120}\bresource_tracker\b.*|.{0,60}\bdestroy_process_group\(\) was not called\b.*"
    r"|(?:wandb|mlflow|swanlab): .*|.{0,40}\b(?:elapsed|took|duration|wall ?time|total time|peak (?:memory|rss))\b[^\n]{0,60}\d.*"
)
"""What stands below the last words of a program without being its words."""
_TITLE = deferred(r"\s{2,}[A-Za-z]\w*(?: \w+){0,3}\s*")
"""What stands above a table that a terminal draws."""
_DRAWN = deferred(r"\s*[\u2500-\u257f]")
_RAYS = deferred(r"\((?:raylet|[\w.<>:, =]{1,80}\bpid=\d+[^)\n]{0,40})\) ")
_OF_RAYS = deferred(
    r"\s|ray::|(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b|Traceback|The (?:worker|actor)\b|\((?:raylet|[\w.<>:, =]{1,80}\bpid=\d)"
)
_COMPLAINS = frozenset(["warning", "error"])
_GIVES_UP_ITSELF = deferred(r"(?i)\b(?:giv(?:e|es|ing) up|gave up|no \w+ (?:is |are )?left)\b")
_MOST_BESIDE, _LAST = 80, 3
_LEFT = deferred(r"(?i)\b(?:left|remaining|unprocessed|undone|not done)\W*$")
_IS_OVER = deferred(
    r"(?i)\b(?:down|closed|stopped|over|gone|ended|released|cleaned up|bye|leav(?:es?|ing)|exit(?:s|ed|ing)?|quit(?:s|ting)?|aborting)"
    r"(?: too| as well)?\W*$"
)
"""What is said last of what was used for the work, whatever became of that."""
_NAMED = deferred(r"^\W{0,2}[^:\n]{1,30}:\s+")
"""The name of who speaks."""
_WELL = deferred(r"(?i)\b(?:successfully|succeeded)\b")
_SPEAKS = 3
"""Lines that somebody says who is one of several at work."""
_PARTED = deferred(r"[:;|\t]\s*|\s{2,}")
_GAVE_BACK = deferred(
    r"(?i)\b(?:exit(?:ed|s)?|ended|left|returned|went away|terminated|failed)\b[^\n:]{0,20}?\b(?:with )?(?:exit )?"
    r"(?:status|code|rc|signal)[ :=]{1,3}-?[1-9]\d{0,2}\b"
    r"|(?:^|[\w\]]: )exit(?:ed)? [1-9]\d{0,2}\s*$|\bexit ?codes?[ :=]{1,3}-?[1-9]\d{0,2}\b"
    r"|\b(?:exit ?(?:codes?|status(?:es)?)|return ?codes?|rcs?)\b[^\n\[({]{0,20}[\[({][^\])}\n]{0,200}(?<![\w.:])(?!\d+:)"
    r"-?[1-9]\d{0,2}(?![\d:.])"
)
"""How it is said of a process that it ended badly."""
_NEAR_THE_END = 12
"""Rows at the end among which a count is looked for that came to its total."""
_FULL = deferred(r"(?<![\w./:-])(\d{1,7}) ?(?:/|of|out of) ?(\d{1,7})(?![\w/.:]|%)")
_NO_WORK = deferred(
    r"(?i)\b(?:attempt|tr(?:y|ies)|retr(?:y|ies|ying)|restart\w*|epochs?|phase|stage|step|fail\w*|errors?|warn\w*|ranks?|workers?|nodes?|gpus?|loading"
    r"|checkpoint shards)\b|%\||it/s|s/it"
)
_FEWEST = 3
"""Counts one above the other that lead to a full one, at least."""


def completion(block: Block, source: Source, index: int) -> Iterator[Finding]:
    """The line by which a log shows that all was done that its program was there for."""
    rows = [(number, clean(raw.decode("utf-8", "replace"))) for number, raw in last_rows(block, _WINDOW)]
    end = _own_end(rows)
    last = range(end - 1, max(-1, end - 1 - _LAST), -1)
    at = next((i for i in last if _says_done(rows, i) and _nothing_wrong(rows[i + 1 : end])), None)
    if at is None:
        at = _counted_out(rows, end)
    if at is None:
        return
    number, text = rows[at]
    prefix = split_line(text)[0]
    offset = block.offset + _offset_of(block, number)
    yield Finding(
        rule_id=DONE, fields={"_words": True},
        evidence=(Evidence(source.name, number, safe(text[:_LONGEST])),), source=index, offset=offset,
        rank=prefix.rank if prefix.rank is not None else source.rank,
        host=prefix.host or source.host, time=prefix.time, stream=prefix.stream,
    )  # fmt: skip


def given_up(
    tails: Mapping[int, Block], sources: Sequence[Source], taken: Mapping[str, Container[int]]
) -> Finding | None:
    """The last words of a log that say that its program leaves its work undone, None without.

    Args:
        taken: by the names of sources, the numbers of lines that rules know, and judge better.
    """
    for index, block in sorted(tails.items()):
        rows = [(number, clean(raw.decode("utf-8", "replace"))) for number, raw in last_rows(block, _END)]
        end = _own_end(rows)
        at = _given_up(rows, end, ended=len(tails) == 1)
        if at is not None and rows[at][0] not in taken.get(sources[index].name, ()):
            number, text = rows[at]
            prefix = split_line(text)[0]
            shown = [rows[at]] if (why := _complaint(rows, at)) is None else [why, rows[at]]
            return Finding(
                rule_id=GAVE_UP_RULE, fields={"words": " ".join(text.split())[:160]},
                evidence=tuple(Evidence(sources[index].name, n, safe(said[:_LONGEST])) for n, said in shown),
                source=index, offset=block.offset + _offset_of(block, number), host=prefix.host,
                rank=sources[index].rank if prefix.rank is None else prefix.rank, local_rank=prefix.local_rank,
                time=prefix.time, stream=prefix.stream, level=prefix.level,
            )  # fmt: skip
    return None


def _complaint(rows: Sequence[tuple[int, str]], at: int) -> tuple[int, str] | None:
    """What the one who gives up in row ``at`` complained of right above it, if the row itself names no trouble."""
    if speaks_of_trouble(_GIVES_UP_ITSELF.sub("", rows[at][1])):
        return None
    stream = split_line(rows[at][1])[0].stream
    for row in reversed(rows[max(0, at - NEAR) : at]):
        prefix = split_line(row[1])[0]
        if prefix.stream == stream:
            return row if prefix.level in _COMPLAINS or speaks_of_trouble(row[1]) else None
    return None


def _given_up(rows: Sequence[tuple[int, str]], end: int, *, ended: bool) -> int | None:
    """The row at the end in which the work is said to be left, or, with ``ended``, somebody is last said to have ended badly."""
    if end and gives_up(rows[end - 1][1]) and not _counts_down(rows, end - 1):
        return end - 1
    for at in range(end - 2, max(-1, end - 1 - _MOST_BESIDE), -1) if ended else ():
        if _IS_OVER.search(rows[at + 1][1]) is None:
            break
        if gives_up(rows[at][1]) and not _counts_down(rows, at):
            return at
    for at in range(end - 1, max(-1, end - 1 - _LAST), -1) if ended else ():
        text = rows[at][1]
        if says_done(text) or (at < end - 1 and compiled(FRESH).search(text)):
            return None
        if _GAVE_BACK.search(text) and not (at == end - 1 and compiled(FRESH).search(text)):
            return at
    return None


def _counts_down(rows: Sequence[tuple[int, str]], at: int) -> bool:
    """Whether a row says how much is left, and one above it said the same of more."""
    text = rows[at][1]
    if _LEFT.search(text) is None:
        return False
    wording = _wording(text)
    return any(said != text and _wording(said) == wording for _, said in rows[:at])


def _offset_of(block: Block, number: int) -> int:
    at = 0
    for _ in range(number - block.line):
        at = block.data.find(b"\n", at) + 1
    return at


def _own_end(rows: Sequence[tuple[int, str]]) -> int:
    """How many of the rows come before what stands below the last words of the program."""
    end = _before_rays(rows)
    for _ in range(_MOST_BESIDE):
        if not end:
            break
        text = rows[end - 1][1]
        drawn_below = end < len(rows) and _DRAWN.match(rows[end][1]) is not None
        if not (_BESIDE.fullmatch(text) or (drawn_below and _TITLE.fullmatch(text))):
            break
        end -= 1
    return end


def _before_rays(rows: Sequence[tuple[int, str]]) -> int:
    """How many rows come before what Ray passes on of workers, late, behind the last words of a driver."""
    end = len(rows)
    for at in range(len(rows) - 1, max(-1, len(rows) - _MOST_BESIDE), -1):
        text = rows[at][1]
        if _OF_RAYS.match(text) is None:
            break
        if _RAYS.match(text):
            end = at
    return end


def _says_done(rows: Sequence[tuple[int, str]], at: int) -> bool:
    """Whether a row says that all is done, in words that nobody else said and that no part was spoken of with.

    Not where it stands right below an error, or somebody ended with a status and was not begun again.
    """
    text = rows[at][1]
    if not says_done(text):
        return False
    wording = _wording(text)
    clause = _clause(text)
    others = [said for i, (_, said) in enumerate(rows) if i != at]
    alike = any(_wording(said) == wording or (clause and _clause(said) == clause) for said in others)
    if alike and not _all_end_so(rows[: at + 1], wording):
        return False
    above = rows[at - 1][1] if at else ""
    if (speaks_of_trouble(above) and WANTED.search(above) is None) or (
        gives_up(above) and not _WELL.search(text)
    ):
        return False
    if unanswered_above([said for _, said in rows[max(0, at - NEAR) : at]]) is not None:
        return False
    return _WELL.search(text) is not None or not _left_as_it_was(rows[:at])


def _nothing_wrong(rows: Sequence[tuple[int, str]]) -> bool:
    """Whether what stands below the last words takes nothing of them back."""
    return not any(speaks_of_trouble(text) or gives_up(text) or _GAVE_BACK.search(text) for _, text in rows)


def _wording(text: str) -> str:
    """What a row says, whoever of several says it: without its numbers and what stands before a colon."""
    return without_digits(_NAMED.sub("", without_place(split_line(text)[1].rstrip("`"))))


def _all_end_so(rows: Sequence[tuple[int, str]], wording: str) -> bool:
    """Whether everybody who says more than a little under a name of his own before a colon ends in one wording, and once."""
    last: dict[str, str] = {}
    times: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for _, text in rows:
        named = _NAMED.match(split_line(text)[1].strip())
        if named is not None:
            name = named[0].strip()
            last[name] = _wording(text)
            times[name] += 1
            ends[name] += last[name] == wording
    often = [name for name, many in times.items() if many >= _SPEAKS]
    return len(often) > 1 and all(last[name] == wording and ends[name] == 1 for name in often)


def _clause(text: str) -> str:
    """The last part of what a row says: of those who end one after the other each says it under a name of its own."""
    return without_digits(_PARTED.split(without_place(text))[-1]).strip()


def _left_as_it_was(rows: Sequence[tuple[int, str]]) -> bool:
    """Whether somebody is said to have ended with a status, and nothing to have been begun again since."""
    last = next((i for i in range(len(rows) - 1, -1, -1) if _GAVE_BACK.search(rows[i][1])), None)
    return last is not None and not any(compiled(FRESH).search(text) for _, text in rows[last:])


def _counted_out(rows: Sequence[tuple[int, str]], end: int) -> int | None:
    """The row in which something that was counted one by one came to its total, None where the rows below speak of trouble."""
    for at in range(end - 1, max(-1, end - 1 - _NEAR_THE_END), -1):
        text = rows[at][1]
        if at < end - 1 and (speaks_of_trouble(rows[at + 1][1]) or compiled(GAVE_UP).search(rows[at + 1][1])):
            return None
        full = _count(text)
        if full is None or full[0] != full[1] or full[1] < _FEWEST or speaks_of_trouble(text):
            continue
        shape = _shape(text)
        counts = [
            found[0]
            for _, said in rows[: at + 1]
            if _shape(said) == shape and (found := _count(said)) and found[1] == full[1]
        ]
        run = 1
        for one, other in pairwise(reversed(counts)):
            if one != other + 1:
                break
            run += 1
        if run >= min(_FEWEST, full[1]):
            return at
    return None


def _count(text: str) -> tuple[int, int] | None:
    """The last count of a row out of so many."""
    message = split_line(text)[1]
    found = _FULL.findall(message)
    if not found or _NO_WORK.search(message):
        return None
    return int(found[-1][0]), int(found[-1][1])


def _shape(text: str) -> str:
    """How a row counts: the first word of it, and what stands around the count."""
    message = split_line(text)[1]
    counts = list(_FULL.finditer(message))
    if not counts:
        return ""
    first = message.split(maxsplit=1)[0] if message.strip() else ""
    around = message[max(0, counts[-1].start() - 2) : counts[-1].start()] + message[counts[-1].end() :][:2]
    return f"{without_digits(first) if message.startswith(first) and first.endswith(':') else ''} {around}"
