"""What all but one say last, in like words: that somebody did not come, or went.

Programs have words of their own for that: ``token 12 overdue``, ``ring is broken``. Where most writers of a job end with
such a line, each of them waited for another or lost it; it was not they who broke first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from triage.model import Block, Finding, Source, Value
from triage.scan.closing.wordings import REFUSES, speaks_of_trouble
from triage.scan.lazy import compiled
from triage.scan.ordinary.concert import NOBODYS, says_that_it_is_through
from triage.scan.ordinary.said import WINDOW, Said, any_line, finding_of, share, without_digits

WAITED, LOST, SOLO = "progress.waited-in-vain", "progress.lost-another", "progress.solo"
FEWEST = 2
"""Writers that end alike."""
OF_ALL = 0.5
"""Part of all writers that do."""
GLANCE = 2 << 10
IN_ALL = 512 << 10
"""Bytes that are looked at, of all logs together."""
LEAST = 4 << 10
_IN_VAIN = (
    r"(?i)\b(?:(?:tim(?:ed|e)[ -]?out|timeouts?)\b(?! ?=)|overdue|expired|deadline|unresponsive"
    r"|(?:still |been )?waiting|waited|starved|stalled|stuck"
    r"|no (?:\w+ ){0,2}(?:answer|reply|response|word|sign|news|heartbeat|ack\w*|progress|\w+ (?:for|within|in|after|from|since))"
    r"|(?:not|never|n't) (?:been )?(?!allowed|supported|defined|permitted|implemented|needed|expected|recogni|installed"
    r"|configured|specified)"
    r"(?:\w+ed|seen|heard|come|came|there|ready|delivered|got|met|sent)"
    r"|did ?n[o']t (?:\w+ )?(?:come|arrive|answer|respond|reply|show|report|join|check|finish|get|see|hear|appear|send)"
    r"|(?:missed|missing|absent|late|silent|lagging|behind)\b|after \d[\d.]* ?(?:s|sec\w*|ms|min\w*)\b)"
)
_GONE = (
    r"(?i)\b(?<!device )(?<!gpu )(?<!card )"
    r"(?:clos(?:ed|ing)|lost|broken?|gone|reset|dropp(?:ed|ing)|disconnect\w*|hung up|went (?:away|down)|left|died|dead|vanished"
    r"|disappeared|rejected|torn down|revoked|unreachable|eof|end of (?:file|stream)|peers?|neighbou?rs?|partners?|others?|somebody|someone"
    r"|generation changed|cancel\w*|session (?:is )?over|refused|interrupted|collapsed|dissolved|severed|unavailable|failed elsewhere)\b"
)
_GIVES_UP = (
    r"(?i)\b(?:giv(?:es|ing) up|gave up|abandon\w*|halt\w*|stopp(?:ing|ed)|stops|abort\w*|bail\w*|exiting|leaving|quit\w*"
    r"|terminat\w*|shutting down|cannot go on|can't continue|cannot continue|error|fatal|fail\w*)\b"
)
_WHOLE = r"(?<![\w.])\d{1,9}(?![\w.]*\d|[.:/])"
_NUMBERED = r"(?<![^\s:])[^\s:]*\d\S*"
"""A word with a number in it, whatever else is: a place, an id, a count; looked for where words begin."""


def chorus(
    tails: Mapping[int, Block], sources: Sequence[Source], known: Container[str] = ()
) -> list[Finding]:
    """The last lines of those that waited in vain for another or lost it, if most of a job's writers say so last of all.

    Args:
        known: messages without their digits that rules know for such; who says something else is all that is asked then.
    """
    shared = len(tails) == 1
    if not known and not any(
        _worth_reading(block, sources[index], index, shared=shared) for index, block in tails.items()
    ):
        return []
    lines = list(_lines(tails, sources))
    last = _last_of_each(lines)
    if len(last) < FEWEST:
        return []
    told = {writer: kind for writer, line in last.items() if (kind := _complaint(line)) is not None}
    told.update((writer, LOST) for writer, line in last.items() if without_digits(line.message) in known)
    told.update((writer, LOST) for writer in _like_them(told, last))
    if not _most(told, last):
        told = _new_to_all(lines, last)
    if not _most(told, last):
        return []
    others = [line for writer, line in last.items() if writer not in told]
    final = {
        line.source: line.offset for line in sorted((last[w] for w in told), key=lambda line: line.offset)
    }
    if any(line.offset > final.get(line.source, line.offset) and not _as_error(line) for line in others):
        return []  # somebody goes on with the work
    if known:
        others = [line for line in others if line.prefix.level != "warning"]
    own = Counter((line.writer, _wording(line)) for line in lines)
    through = [
        line for line in others if says_that_it_is_through(line) and own[line.writer, _wording(line)] == 1
    ]
    if through and not all(_as_error(last[writer]) for writer in told):
        return []
    counts = _counts({writer: last[writer] for writer in told})
    found = [
        finding_of(kind, last[writer], sources, _fields(last[writer], counts.get(writer)))
        for writer, kind in told.items()
    ]
    wordings = Counter(map(_wording, lines))
    solo = [
        line for line in others
        if _as_error(line) or speaks_of_trouble(line.message)
        or (wordings[_wording(line)] == 1 and (compiled(_GIVES_UP).search(line.message) or REFUSES.search(line.message)))
    ]  # fmt: skip
    weak = [
        line for line in others
        if line not in solo and LOST in told.values() and WAITED not in told.values() and _may_be_why(line, wordings)
    ]  # fmt: skip
    found += [finding_of(SOLO, line, sources, _fields(line, None)) for line in solo]
    return found + [finding_of(SOLO, line, sources, {**_fields(line, None), "_weak": True}) for line in weak]


def _may_be_why(line: Said, wordings: Mapping[str, int]) -> bool:
    """Whether the last words of one that is gone may be the reason: nobody else says them, and they name no work."""
    words = line.message.split()
    return wordings[_wording(line)] == 1 and len(words) >= _SEVERAL_WORDS and not words[0].endswith("ing")


_SEVERAL_WORDS = 3


def _fields(line: Said, count: int | None) -> dict[str, Value]:
    return {"words": " ".join(line.message.split())[:200], "seq": count}


def _like_them(told: Mapping[str, str], last: Mapping[str, Said]) -> list[str]:
    """Others whose last lines begin as those of several who complain do, up to a colon: they have another reason for the same."""
    begun = Counter(_begin(last[writer]) for writer in told)
    like = [
        writer
        for writer, line in last.items()
        if writer not in told
        and _begin(line)
        and begun[_begin(line)] >= FEWEST
        and REFUSES.search(line.message) is None
    ]
    # somebody must have been the first: if there is nobody else, it is the one with another reason
    return like if len(like) > 1 or len(told) + len(like) < len(last) else []


def _kind(line: Said) -> str:
    wording = _wording(line)
    return _begun(wording) or wording


def _begin(line: Said) -> str:
    return _begun(_wording(line))


def _begun(wording: str) -> str:
    before = compiled(_REASON).split(wording.rpartition(":: ")[2], maxsplit=1)
    return before[0] if len(before) > 1 and len(before[0]) >= _SHORTEST else ""


_REASON = r": |, | because | since | as "
"""What stands between what is done and why."""
_SHORTEST = 6


def _counts(told: Mapping[str, Said]) -> dict[str, int]:
    """The number by which one of those who complain in one wording differs from all others: where it was in its work."""
    for wording in set(map(_wording, told.values())):
        rows = {
            w: compiled(_WHOLE).findall(line.message) for w, line in told.items() if _wording(line) == wording
        }
        for at in range(min(map(len, rows.values()))):
            values = {writer: int(row[at]) for writer, row in rows.items()}
            often = Counter(values.values()).most_common()
            if len(often) == 2 and often[1][1] == 1 and often[0][1] > FEWEST:
                return values
    return {}


def _worth_reading(block: Block, source: Source, index: int, *, shared: bool) -> bool:
    """Whether a line near the end of a log says so, or its last line with a name says anything else than that its writer is through."""
    named = [
        line for line in _lines_of(block, source, index, GLANCE) if line.writer is not None or not shared
    ]
    return bool(named) and (not says_that_it_is_through(named[-1]) or any(map(_complaint, named)))


def _most(told: Mapping[str, str], last: Mapping[str, Said]) -> bool:
    """Whether most writers complain, some of them in the same words."""
    wordings = Counter(_wording(last[writer]) for writer in told)
    return len(told) >= max(FEWEST, OF_ALL * len(last)) and wordings.most_common(1)[0][1] >= FEWEST


def _new_to_all(lines: Sequence[Said], last: Mapping[str, Said]) -> dict[str, str]:
    """Those who end in one wording that nobody has used before, if somebody who worked as they did does not: what it says is no matter.

    All that end well say that too, or say that they do.
    """
    kinds = {line: _kind(line) for line in lines}
    wording, count = Counter(kinds[line] for line in last.values()).most_common(1)[0]
    told = {writer for writer, line in last.items() if kinds[line] == wording}
    said: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        if line.writer is not None:
            said[kinds[line]][line.writer] += 1
    first = next((line for line in lines if kinds[line] == wording), None)
    if (
        first is None
        or count == len(last)
        or max(said[wording].values()) > _TRIES
        or says_that_it_is_through(first)
        or compiled(_TAKES_LEAVE).fullmatch(first.message.strip()) is not None
    ):
        return {}
    # a routine is what most of them said again and again, and whoever is missing said too
    routine = [by for words, by in said.items() if words != wording and sum(by.values()) >= _AGAIN * len(by)]
    missing = last.keys() - told
    if len(missing) > _FEW_MISSING * len(last) or not all(
        any(w in by for by in routine if len(by) > count // 2) for w in missing
    ):
        return {}
    begun = first.offset
    if any(last[writer].source == first.source and last[writer].offset > begun for writer in missing):
        return {}  # it went on when they said so
    kind = WAITED if compiled(_IN_VAIN).search(first.message) is not None else LOST
    return dict.fromkeys((writer for writer in last if writer in told), kind)


_TAKES_LEAVE = r"(?i)\W*(?:good ?)?(?:bye|night)(?:[ -]?bye)?\W*|\W*(?:exit|ok|(?:the )?end)\W*"
"""What is said on the way out, of nobody else."""
_TRIES = 5
"""Times that one says at the most that another did not come."""
_AGAIN = 2
_FEW_MISSING = 0.34


def _complaint(line: Said) -> str | None:
    """What somebody says of others: that they did not come, that they went; None where it is neither."""
    if line.prefix.level not in {"error", "fatal"} and compiled(_GIVES_UP).search(line.message) is None:
        return None
    if compiled(_IN_VAIN).search(line.message) is not None:
        return WAITED
    return LOST if compiled(_GONE).search(line.message) is not None else None


def _as_error(line: Said) -> bool:
    return (
        line.prefix.level in {"error", "fatal"}
        or compiled(r"(?i)\bgiv(?:es|ing) up|gave up\b").search(line.message) is not None
    )


def _wording(line: Said) -> str:
    return " ".join(compiled(_NUMBERED).sub("#", line.message).split())


_FAREWELL = (
    r"(?i)\W{0,3}(?:[\w./#:-]{1,24} ){0,3}?(?:is |am )?(?:(?:(?:now )?"
    r"(?:leaving|exiting|quitting|terminating|stopping|shutting down|exits?|leaves|exited|quits|bye|good ?bye)\b)"
    r"(?:[ ,:]{1,2}(?:now|the|process|program|job|run|with|code|status|exit|rc|return|\(|=|-?\d{1,3}\)?)){0,8}"
    r"|(?:exit|return)(?:[ _]?(?:code|status|value))?[ :=]{1,3}-?\d{1,3})\W{0,3}"
)
"""What somebody says of his own end, and nothing of the reason."""


def _last_of_each(lines: Iterable[Said]) -> dict[str, Said]:
    """The last line of each writer; of one that takes leave the one above, if that is where he complains of others."""
    last: dict[str, Said] = {}
    before: dict[str, Said] = {}
    for line in lines:
        if line.writer is not None:
            if line.writer in last:
                before[line.writer] = last[line.writer]
            last[line.writer] = line
    for writer, line in before.items():
        if compiled(_FAREWELL).fullmatch(last[writer].message) is not None and _complaint(line) is not None:
            last[writer] = line
    return last


def _lines(tails: Mapping[int, Block], sources: Sequence[Source]) -> Iterator[Said]:
    size = share(IN_ALL, len(tails), LEAST, WINDOW)
    for index, block in sorted(tails.items()):
        for line in _lines_of(block, sources[index], index, size):
            # a log of its own is a writer's, whatever stands before its lines
            yield line if line.writer is not None or len(tails) == 1 else _of_log(line)


def _of_log(line: Said) -> Said:
    line.writer = f"log {line.source}"
    return line


def _lines_of(block: Block, source: Source, index: int, size: int) -> Iterator[Said]:
    start = max(0, len(block.data) - size)
    start = block.data.find(b"\n", start) + 1 if start else 0
    for line in any_line(block, source, index, start):
        if compiled(NOBODYS).match(line.message) is None and compiled(_LAUNCHERS).search(line.text) is None:
            yield line


_LAUNCHERS = r"\btorch[./]distributed[./](?:elastic|launcher|run)\b|\[launch\.py:\d+:\w+\]|^(?:srun|slurmstepd|mpirun|mpiexec|prterun): "
"""Who starts the ranks tells how they end: it neither waits for one nor is one."""
