"""Whether somebody who is not heard again was given a successor: another one, of another number, does his work."""

from __future__ import annotations

from collections.abc import Sequence

from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.recovery import FRESH
from triage.scan.ordinary.said import Said

_NEAR = 12
"""Lines below his last one in which it is said."""
_SUCCESSOR = deferred(
    r"(?i)\b(?:replacement|substitut\w+|successor|stand-?by|spare|in (?:its|his) (?:place|stead)|takes? over from|taken over by"
    r"|reassign\w*|redistribut\w*|re-?spawn\w*|scal(?:ed|ing) (?:down|in)|down-?scal\w*|autoscal\w*|resiz(?:ed|ing)|shr[aiu]nk(?:ing)?"
    r"|(?:continu|go|carry)\w*(?: on)? with (?:only |the (?:other|remaining) )?\d+)\b"
)
_NO_SUCCESSOR = deferred(
    r"(?i)\b(?:no|not|never|without|cannot|can't|could not|unable|fail(?:ed|s|ure)?|waiting|wait)\b"
)


def succeeded(below: Sequence[Said], number: str) -> bool:
    """Whether one of the lines right below the last of who is called ``number`` says so, or that he is begun again."""
    for line in below[:_NEAR]:
        said = line.message
        if _NO_SUCCESSOR.search(said) is not None:
            continue
        if _SUCCESSOR.search(said) is not None:
            return True
        if compiled(FRESH).search(said) is not None and _speaks_of(said, number):
            return True
    return False


def _speaks_of(said: str, number: str) -> bool:
    return (
        compiled(
            rf"(?i)\b(?:worker|rank|actor|proc(?:ess)?|replica|task|node|env|member|client)[ _#=:-]{{0,2}}{number}\b"
        ).search(said)
        is not None
    )
