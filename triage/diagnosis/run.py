"""What the diagnosis is made from: everything that was read of one job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from triage.model import Evidence, Finding, Prefix, Source, SourceReport
from triage.rules.loader import RuleSet
from triage.scan.around import Around
from triage.scan.ends import Lines, Parts
from triage.scan.ordinary.routine import How
from triage.scan.ordinary.selves import Selves


class Ends(Protocol):
    """What the ends of the logs say in lines that no rule has recognised."""

    @property
    def last_words(self) -> Lines:
        """The last lines that state an error in so many words."""
        ...

    def words_before(self, until: Mapping[int, int], /) -> Lines:
        """The lines right before an offset, ``until`` in each source, that state an error in so many words."""
        ...

    @property
    def alarms(self) -> Lines:
        """The last lines with alarming words in them."""
        ...

    @property
    def closing(self) -> Lines:
        """The lines, whatever they say, of logs as short as what people paste."""
        ...

    @property
    def ordinary(self) -> bool:
        """Whether all logs end like those of programs at work."""
        ...

    def resumed(self, source: int, stream: str, line: int, how: How = "raised", /) -> Evidence | None:
        """The line with which a writer goes on after ``line`` as it did before, None without."""
        ...

    def split(self, source: int, text: str, /) -> tuple[Prefix, str]:
        """What the prefixes of a line say, by all that is known of its source, and the message after them."""
        ...

    def began(self, source: int, line: int, /) -> Evidence | None:
        """The line with which somebody counts on at the end of a log, having begun after ``line``."""
        ...

    def afresh(self, source: int, line: int, died: str, /) -> Evidence | None:
        """The line with which somebody counts on at the end of a log, having said after ``line`` that it begins again."""
        ...

    def parted(self, parts: Parts, sources: Sequence[Source], findings: Iterable[Finding], /) -> Ends | None:
        """The ends of the logs that some sources show one after the other, as logs of their own; None where they are not known."""
        ...

    def opens(self, source: int, line: int, /) -> bool:
        """Whether nothing ordinary was said above ``line``."""
        ...

    def said(self, source: int, first: int, last: int, /) -> Sequence[str]:
        """The lines between two, but for those without words."""
        ...

    @property
    def unwritten(self) -> Finding | None:
        """The line in which it is said of what a run was for that it did not come where it belongs."""
        ...

    @property
    def unfinished(self) -> Finding | None:
        """What tells of work that nobody says has failed, and that never came to its end."""
        ...

    @property
    def mentioned(self) -> Finding | None:
        """The exception that is the last thing a program's logger says, in whatever tone."""
        ...

    @property
    def given_up(self) -> Finding | None:
        """The last words of a log that say that its program leaves its work undone."""
        ...

    def oddities(self, until: Mapping[int, int], /) -> Sequence[Finding]:
        """What single writers said out of the ordinary before trouble began, at ``until`` in each source."""
        ...

    @property
    def around(self) -> Around:
        """What stands around any of the lines at the ends of the logs."""
        ...

    @property
    def selves(self) -> Selves:
        """What the writers of each log say of themselves, by source and name; an empty name is all of it."""
        ...

    @property
    def in_concert(self) -> Finding | None:
        """The last words of a job whose writers all ended in the same ones, which say that they are through."""
        ...

    def chorus(self, known: Lines = (), /) -> Sequence[Finding]:
        """The last words of those that waited for another in vain or lost it; where they are known, those of the few others."""
        ...

    @property
    def standstill(self) -> Finding | None:
        """The last line of a job that had stood still for long when its time limit ended it."""
        ...

    @property
    def left_out(self) -> Finding | None:
        """The last line of the one writer that breaks off, where all others say that they are through."""
        ...

    @property
    def lost(self) -> Finding | None:
        """The lines from which on a job has no numbers any more, to its end."""
        ...

    @property
    def not_finite(self) -> Finding | None:
        """The line of the one rank whose numbers ceased to be finite before those of all others."""
        ...

    @property
    def waiting(self) -> Finding | None:
        """The lines in which somebody waits, to the end of a log."""
        ...

    @property
    def retrying(self) -> Finding | None:
        """The lines in which something is tried again and again, to the end of a log."""
        ...

    @property
    def nothing_done(self) -> Finding | None:
        """The tally at an end that counts nothing, and what was complained of before it."""
        ...

    def went_on(self, source: int, offset: int, /) -> frozenset[int]:
        """The ranks that say something of their own in a source behind ``offset``."""
        ...


@dataclass(slots=True, eq=False, repr=False)
class Run:
    """The input of :func:`triage.diagnosis.diagnose`.

    ``ends`` are the ends of the logs; their words count when nothing else was recognised.
    """

    rules: RuleSet
    sources: Sequence[Source]
    findings: Sequence[Finding]
    reports: Sequence[SourceReport]
    receipt: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()
    ends: Ends | None = None

    @property
    def cut(self) -> bool:
        """Whether some source was not read to its end."""
        return any(not report.complete for report in self.reports)

    @property
    def bytes_read(self) -> int:
        """Bytes over all sources, decompressed."""
        return sum(report.bytes_read for report in self.reports)
