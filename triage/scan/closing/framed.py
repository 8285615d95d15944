"""What MPI's launchers and libraries say in a frame of dashes: a text of several lines, of which none need name an error."""

from __future__ import annotations

from collections.abc import Container, Sequence

from triage.scan.lazy import deferred
from triage.scan.prefix import split_line

_RULER = deferred(r"-{74}\s*")
"""The line that ``opal_show_help``, and what PMIx and PRRTE have made of it, print above and below a text."""
_OF_THE_SAME = deferred(
    r"\[?[\w.:-]*\]? ?\d+ more process(?:es)? ha(?:s|ve) sent help message "
    r"|(?:\[[\w.:-]+\] )?Set MCA parameter \"\w*help_aggregate\" to 0"
)
"""What is said below of texts that came again."""
_GOES_ON = deferred(
    r"\s*(?:WARNING|NOTE|INFO)\b"
    r"|[\s\S]*?(?:\b(?:will|may|can) (?:be ignored|(?:still )?(?:continue|proceed|run|work))\b|\bdeprecated\b"
    r"|\bignor(?:ed|ing)\b|\bthis is a warning\b|\bcontinuing\b|\bfall(?:ing)? back\b|\bperformance\b"
    r"|\bstatus is being reported)"
)
"""How a text begins, or what it says, that lets the job go on."""
_PROSE = deferred(r"[^|=\n]*\b[a-z]+ [a-z]+ [a-z]+\b")
"""A line of a sentence, not of a table or a sum of figures."""
_MOST_LINES = 40


def closing_frame(rows: Sequence[tuple[int, str, bool]], taken: Container[int]) -> tuple[int, int] | None:
    """The first and last position in ``rows`` of the text in the frame that a log ends with, None where it ends otherwise.

    Such a text tells why a program was not started, or was ended, unless it only warns. Below it may stand what a rule
    knows, whose lines are ``taken``, and that the same text came from other processes.
    """
    said = [split_line(text)[1] for _, text, _ in rows]
    end = len(rows) - 1
    while end >= 0 and (rows[end][0] in taken or _OF_THE_SAME.match(said[end])):
        end -= 1
    if end < 2 or _RULER.fullmatch(said[end]) is None:
        return None
    begin = next((at for at in range(end - 1, -1, -1) if _RULER.fullmatch(said[at])), end)
    if not 1 <= end - begin - 1 <= _MOST_LINES or any(rows[at][0] in taken for at in range(begin, end)):
        return None
    text = said[begin + 1 : end]
    if _GOES_ON.match("\n".join(text)) or not any(_PROSE.match(line) for line in text[:2]):
        return None
    return begin + 1, end
