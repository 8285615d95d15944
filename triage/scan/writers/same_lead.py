"""Words that stand before every line of a source, always the same: a pod and its container, a host, a service.

They tell nobody apart, but hide the prefixes behind them. Taken for such are one to three words that nearly all lines
begin with, if what follows reads as records and tracebacks do only once they are gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from triage.scan.lazy import Lazy
from triage.scan.prefix import split_line
from triage.scan.tracebacks.lines import HEADER

FEWEST = 6
"""Lines by which it can be told."""
MANY = 40
"""Lines that no program begins all alike, whatever follows."""
_WORDS = Lazy(
    r"(?:(?=\S*[-_.\d])[A-Za-z0-9][\w./:@-]{1,80}:?(?: \[?[A-Za-z0-9][\w./:@-]{0,60}\]?:?){0,2}[ \t])"
)
_FRAME = '  File "'
_TAGGED = ("(", "[rank", "[default")


def same_lead(lines: Sequence[str]) -> str:
    """The words that all ``lines`` begin with, empty where there are none or they may be the program's own."""
    if len(lines) < FEWEST:
        return ""
    shared = _beginning(min(lines), max(lines))
    found = _WORDS.match(shared, 0)
    longest = "" if found is None else shared[: found.end()]
    ends = [at + 1 for at, sign in enumerate(longest) if sign in " \t"]
    # as many words as lay the most beginnings open, and no more: a date may be the same on all lines too
    known = {end: _laid_open(longest[:end], lines) for end in ends}
    best = max(known.values(), default=0)
    if not best:
        return ""
    return longest[: (min if best > 1 else max)(end for end, count in known.items() if count == best)]


def _laid_open(lead: str, lines: Sequence[str]) -> int:
    """How many records and tracebacks begin behind ``lead``, one more where any; none where it is no lead."""
    bare = [line[len(lead) :] for line in lines]
    known = sum(
        split_line(line)[0].length >= len(lead) and not text.startswith(_TAGGED)
        for line, text in zip(lines, bare, strict=True)
    )
    if 2 * known > len(lines):
        return 0  # a prefix is known for it; before a launcher's tag any words are taken for one
    traces = sum(text.startswith((HEADER, _FRAME)) for text in bare)
    begun = sum(split_line(text)[0].length > 0 for text in bare)
    if not (traces or 2 * begun >= len(bare) or len(lines) >= MANY):
        return 0
    return 1 + traces + begun


def _beginning(one: str, other: str) -> str:
    """What both texts begin with."""
    differ = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return min(one, other, key=len) if differ is None else one[:differ]
