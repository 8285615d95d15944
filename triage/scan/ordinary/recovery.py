"""What shows that a job got over an exception although nobody says that it was caught.

Either everybody who counted his work before counts on, whoever raised it; or somebody says right below that it is
tried again, or done without, and work is counted from then to the end.
"""

from __future__ import annotations

from collections import defaultdict

from triage.scan.counting import AFTER, CODE, counts_on, goes_on
from triage.scan.lazy import compiled
from triage.scan.ordinary.rows import GAVE_UP, MANY, MAX_ROWS, Rows

NEAR = 40
"""Rows below an exception in which it may be said what is done about it: what else complains of it may stand between."""
FRESH = (
    r"(?i)\b(?:re-?(?:start|spawn|launch|tr(?:y|i)|run|sum|queu|creat|buil|connect|load|open|schedul|group|cover|stor|join)\w*|(?:re)?spawn(?:ed|ing)|rebuilt"
    r"|(?:try|trying|start|starting|started|launching|spawning|doing)\b.{0,40}\b(?:again|anew|over|another|next|new)"
    r"|again|anew|new (?:pool|worker|process|engine|group)|left out|leaving (?:it|them) out|skipp\w+|ignor\w+|without (?:it|them)"
    r"|fall(?:s|ing)? back|fell back|instead|continu(?:es|ing)|carr(?:y|ies|ying) on|go(?:es|ing) on|replaced by)\b"
)
"""What is said of what is done after something went wrong."""
_RESUMED = r"(?i)\b(?:resum(?:e[sd]?|ing)|restored|continu(?:es|ing)) (?:\w+ ){0,2}(?:from|at)\b"
"""What a program says of itself that takes its work up where it had been saved."""
_SAVED = (
    r"(?i)[\w.-]*\d[\w.-]*\.(?:pt|pth|ckpt|safetensors|bin|npz|h5|pkl|state|tar|msgpack|orbax|rst|chk)\b"
    r"|\b(?:ckpt|checkpoint|snapshot|restart|step)[-_]\w*\d+\b"
)
_SAVES = (
    r"(?i)\b(?:sav(?:e[sd]?|ing)|writ(?:es?|ing|ten)|wrote|dump(?:s|ed|ing)?|stor(?:es?|ed|ing)|flush\w*|upload\w*"
    r"|remov\w*|delet\w*)\b"
)
"""The name of what a run can be taken up from, and how it is said that it is written."""
FEW = 3
"""Lines that count work right below what is done about an error, and rows that are right below it."""
_DENIED = r"(?i)\b(?:cannot|can't|could not|unable|failed to|won't|will not|not be|no longer)\b"
_CAME_OF_IT = r"(?i)\b(?:exported|saved|written|wrote|finished|complete[ds]?|all done|uploaded)\b"
_DONE = r"(?i)\b(?:done|finished|complete[ds]?|ended|bye)\b"


def begun_afresh(rows: Rows, at: int, died: str = "") -> int | None:
    """The last row of work that is counted to the end of the log since somebody said, near row ``at``, that it begins again.

    Args:
        died: a writer who ended at row ``at``: others must say it, and he must work again.
    """
    for i in range(at, min(len(rows), at + NEAR)):
        writer, words = rows.part(i)
        if (died and writer == died) or any(
            compiled(pattern).search(words) for pattern in (GAVE_UP, _DENIED)
        ):
            continue
        taken_up = _takes_up(rows, i, at)
        if taken_up or (compiled(FRESH).search(words) and not CODE.match(words)) or _next_try(rows, i, at):
            many = FEW if i - at < FEW or taken_up or compiled(_RESUMED).search(words) else MANY
            found = rows.counted(i, died, many) if died else rows.counted_by_any(i, many)
            return _brought_to_an_end(rows, i, writer) if found is None and writer != died else found
    return None


def _takes_up(rows: Rows, i: int, at: int) -> bool:
    """Whether row ``i`` names what had been saved above row ``at``, and does not say that it is saved."""
    words = rows.part(i)[1]
    named = {found[0] for found in compiled(_SAVED).finditer(words)}
    if not named or compiled(_SAVES).search(words) is not None:
        return False
    return any(
        compiled(_SAVES).search(said := rows.part(k)[1]) is not None
        and named & {found[0] for found in compiled(_SAVED).finditer(said)}
        for k in range(max(0, at - MAX_ROWS), at)
    )


def _brought_to_an_end(rows: Rows, at: int, writer: str) -> int | None:
    """The last row, where the one who said in row ``at`` what is done ends the log, some lines later, with what came of it."""
    last = len(rows) - 1
    if rows.part(last)[0] != writer or not rows.told(last):
        return None
    said = sum(rows.told(i) for i in rows.of(writer, range(at + 1, last + 1)))
    return last if said >= FEW and compiled(_CAME_OF_IT).search(rows.part(last)[1]) is not None else None


def _next_try(rows: Rows, i: int, at: int) -> bool:
    """Whether row ``i`` begins a further one of numbered tries, of which one began above row ``at``."""
    told = rows.tried(i)
    if told is None:
        return False
    above = (rows.tried(k) for k in range(max(0, at - MAX_ROWS), at))
    past = [known[1] for known in above if known is not None and known[0] == told[0]]
    return bool(past) and counts_on(past, [told[1]])


def all_count_on(rows: Rows, at: int) -> int | None:
    """The last row, where all of several named writers who counted before row ``at`` count on after it, or had done with it."""
    left = len(rows)
    above = range(max(0, at - MAX_ROWS), at)
    below = list(
        dict.fromkeys([*range(at, min(left, at + MAX_ROWS)), *range(max(at, left - MAX_ROWS), left)])
    )
    by_writer: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for later, part in enumerate((above, below)):
        for i in part:
            by_writer[rows.part(i)[0]][later].append(i)
    seen: list[int] = []
    for stream, (before, after) in sorted(by_writer.items()):
        past = {s: told for s, told in rows.shapes(before, stream).items() if len(told) >= AFTER}
        if not stream or not past:
            continue
        new = rows.shapes(after, stream)
        on = [
            new[s][-1][0] for s, told in past.items()
            if len(new.get(s, ())) >= AFTER and goes_on(told, new[s])
        ]  # fmt: skip
        last = max(on, default=None)
        if last is None:
            final = rows.last_of(stream)
            if final >= at or final < 0 or compiled(_DONE).search(rows.part(final)[1]) is None:
                return None
            continue
        seen.append(last)
    return max(seen) if len(seen) > 1 else None
