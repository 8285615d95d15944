"""Several files in one stream, as ``tail`` and ``head`` print them: each is a source of its own."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from triage.diagnosis.attempts.attempts import last_occurrence
from triage.diagnosis.job import Item
from triage.diagnosis.run import Run
from triage.model import Evidence, Finding, Prefix, Source
from triage.scan.around import Around
from triage.scan.ends import Lines, Parts
from triage.scan.ordinary.routine import How
from triage.scan.ordinary.selves import Selves
from triage.scan.prefix import split_line
from triage.sources.labels import labelled


@dataclass(slots=True, eq=False, repr=False)
class _Section:
    """Where a file begins in the stream, and which source it became."""

    offset: int
    line: int
    source: int


_Sections = dict[int, list[_Section]]


class _Ends:
    """What is left to say of the end of a bundle so long that the ends of most of its logs lie above it."""

    def __init__(self, run: Run, sections: _Sections) -> None:
        self._run = run
        self._sections = sections

    @cached_property
    def last_words(self) -> Lines:
        """The last lines that state an error in so many words."""
        return self._moved(self._run.ends.last_words if self._run.ends else ())

    def words_before(self, until: Mapping[int, int], /) -> Lines:
        """Nothing: offsets are those of the files in the bundle."""
        return ()

    @cached_property
    def alarms(self) -> Lines:
        """The last lines with alarming words in them."""
        return self._moved(self._run.ends.alarms if self._run.ends else ())

    @cached_property
    def closing(self) -> Lines:
        """The lines, whatever they say, of logs as short as what people paste."""
        return self._moved(self._run.ends.closing if self._run.ends else ())

    @property
    def ordinary(self) -> bool:
        """Whether the bundle ends like the log of a program at work."""
        return self._run.ends is not None and self._run.ends.ordinary

    def began(self, source: int, line: int, /) -> Evidence | None:
        """None, for the same reason."""
        return None

    def afresh(self, source: int, line: int, died: str, /) -> Evidence | None:
        """None, for the same reason."""
        return None

    def parted(self, parts: Parts, sources: Sequence[Source], findings: Iterable[Finding], /) -> None:
        """None, for the same reason."""
        return

    def opens(self, source: int, line: int, /) -> bool:
        """False, for the same reason."""
        return False

    def said(self, source: int, first: int, last: int, /) -> Sequence[str]:
        """None, for the same reason."""
        return ()

    def resumed(self, source: int, stream: str, line: int, how: How = "raised", /) -> Evidence | None:
        """None: several files' lines stand behind each other."""
        return None

    def split(self, source: int, text: str, /) -> tuple[Prefix, str]:
        """What the prefixes of a line say by themselves."""
        return split_line(text)

    def oddities(self, until: Mapping[int, int], /) -> Sequence[Finding]:
        """None: what was kept of each file is too short to tell what is ordinary."""
        return ()

    @property
    def around(self) -> Around:
        """Nothing, for the same reason."""
        return Around({}, (), frozenset)

    @property
    def selves(self) -> Selves:
        """Nothing, for the same reason."""
        return Selves()

    def chorus(self, known: Lines = (), /) -> Sequence[Finding]:
        """None, for the same reason."""
        return ()

    @property
    def in_concert(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def standstill(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def left_out(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def lost(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def not_finite(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def waiting(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def retrying(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def mentioned(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def nothing_done(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def unwritten(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def unfinished(self) -> Finding | None:
        """None, for the same reason."""
        return None

    @property
    def given_up(self) -> Finding | None:
        """None, for the same reason."""
        return None

    def went_on(self, source: int, offset: int, /) -> frozenset[int]:
        """None, for the same reason."""
        return frozenset()

    def _moved(self, lines: Lines) -> Lines:
        return [(self._source(index, shown.line or 0), shown) for index, shown in lines]

    def _source(self, index: int, line: int) -> int:
        sections = self._sections.get(index, [])
        at = bisect_right(sections, line, key=lambda s: s.line)
        return sections[at - 1].source if at else index


def unbundled(run: Run, items: Sequence[Item]) -> tuple[Run, list[Item]]:
    """``run`` with a source for every file of a bundle, and ``items`` in their own sources."""
    headers = [i for i in items if i.rule.fact == "file-header"]
    if not headers:
        return run, list(items)
    sources: list[Source] = list(run.sources)
    sections: _Sections = defaultdict(list)
    for item in sorted(_apart(headers), key=lambda i: (i.finding.source, i.finding.offset)):
        finding, name = item.finding, item.text("name") or ""
        line = finding.evidence[0].line or 0
        sections[finding.source].append(_Section(finding.offset, line, len(sources)))
        whole = run.sources[finding.source]
        # its lines are shown where they stand
        sources.append(Source(whole.name, path=name, host=whole.host, attempt=whole.attempt))
    count = len(run.sources)
    sources[count:] = labelled(sources[count:])
    moved = [_moved(item, sections, sources) for item in _apart(items, sections)]
    parts = {index: [(s.offset, s.line, s.source) for s in found] for index, found in sections.items()}
    ends = None if run.ends is None else run.ends.parted(parts, sources, [item.finding for item in moved])
    return replace(run, sources=sources, ends=_Ends(run, sections) if ends is None else ends), moved


def _moved(item: Item, sections: _Sections, sources: Sequence[Source]) -> Item:
    """``item`` in its own source; whoever does not say himself who he is is told by the name of the file."""
    finding, index = item.finding, _source(item, sections)
    if index == finding.source:
        return item
    source = sources[index]
    found = replace(
        finding, source=index,
        rank=source.rank if finding.rank is None else finding.rank,
        local_rank=source.local_rank if finding.local_rank is None else finding.local_rank,
        host=source.host if finding.host is None else finding.host,
    )  # fmt: skip
    return Item(found, item.rule)


def _source(item: Item, sections: _Sections) -> int:
    found = sections.get(item.finding.source, [])
    at = bisect_right(found, item.finding.offset, key=lambda s: s.offset)
    return found[at - 1].source if at else item.finding.source


def _apart(items: Iterable[Item], sections: _Sections | None = None) -> Iterable[Item]:
    """``items``, where equal findings of several files were folded the first and the last of them apart."""
    for item in items:
        again = last_occurrence(item)
        if again is None or (sections is not None and _source(again, sections) == _source(item, sections)):
            yield item
            continue
        shown = item.finding
        yield Item(replace(shown, last_offset=None, last_time=None, count=1), item.rule)
        yield again
