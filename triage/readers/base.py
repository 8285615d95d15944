"""What a reader is, and how it makes its findings.

A reader knows one kind of structured input (a dump, a table, a record), recognises it by its content,
reads it whole and says what it found. Its findings name rules with ``signature: {reader: <kind>}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from triage.model import Evidence, Finding, Level, Moment, Reading, Source, Value
from triage.text import safe


class Reader(Protocol):
    """Reads one kind of structured input."""

    kind: str
    """How reports call the kind, e.g. ``flight-recorder``."""

    def recognise(self, name: str, head: bytes) -> bool:
        """Is a source that begins with ``head`` of this kind? ``name`` may support, never decide."""
        ...

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """What ``data``, all of the source, says; ``index`` is the source's position in the run.

        Bad input never raises: it becomes a note, and ``complete`` is false when something is missing.
        """
        ...


def finding(
    rule_id: str,
    fields: Mapping[str, Value],
    source: Source,
    index: int,
    text: str | tuple[str, ...],
    *,
    rank: int | None = None,
    host: str | None = None,
    gpu: int | None = None,
    pid: int | None = None,
    time: Moment | None = None,
    level: Level | None = None,
    raised: bool = False,
    line: int | None = None,
    offset: int = 0,
    labels: tuple[tuple[str, int], ...] = (),
) -> Finding:
    """A finding of ``rule_id`` in ``source``; ``text`` gives one piece of evidence each.

    ``rank`` and ``host`` default to the source's. Fields that are None are left out: unknown is not a value.
    """
    known = {name: value for name, value in fields.items() if value is not None}
    texts = (text,) if isinstance(text, str) else text
    return Finding(
        rule_id=rule_id,
        fields=known,
        evidence=tuple(
            Evidence(source.name, line, safe(part), known if i == 0 else {}) for i, part in enumerate(texts)
        ),
        source=index,
        offset=offset,
        rank=source.rank if rank is None else rank,
        local_rank=source.local_rank,
        host=host or source.host,
        gpu=gpu,
        pid=pid,
        time=time,
        level=level,
        raised=raised,
        labels=labels,
    )
