"""``nvidia-smi dmon``: samples of power, utilisation and clocks, one row per GPU and interval."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours

KIND = "dmon"
BUSY = 95.0
"""Utilisation in percent from which a GPU counts as busy; a waiting collective kernel shows 100."""
IDLE = 5.0

_HEADER = re.compile(r"\s*#\s*(?:Date\s+Time\s+)?gpu\b(?!\s+pid\b)")
_UNITS = re.compile(r"\s*#\s*(?:YYYYMMDD\s+\S+\s+)?Idx\b")
_ROW = re.compile(r"\s*(?:\d{8}\s+\d\d:\d\d:\d\d\s+)?\d{1,3}(?:\s+(?:-|\d+(?:\.\d+)?))+\s*$")

_Samples = dict[int, dict[str, list[float]]]


class DmonReader:
    """Reads captures of ``nvidia-smi dmon``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a dmon capture?"""
        return b"gpu" in head and mostly(head, lambda t: bool(_HEADER.match(t)), _belongs)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Average the samples and look for the one GPU that idles while the others spin."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for dmon samples in a piece of a source."""
    lines = lines_of(text, line, offset)
    return _read(lines, source, index).findings if _samples(lines)[0] else ()


def _belongs(text: str) -> bool:
    return bool(_HEADER.match(text) or _UNITS.match(text) or _ROW.match(text))


def _samples(lines: Sequence[Line]) -> tuple[_Samples, dict[int, Line]]:
    samples: _Samples = defaultdict(lambda: defaultdict(list))
    last: dict[int, Line] = {}
    columns: list[str] = []
    for line in lines:
        if _HEADER.match(line.text):
            columns = line.text.replace("#", " ").split()[:64]
            continue
        if not columns or not _ROW.match(line.text):
            continue
        cells = line.text.split()
        if len(cells) < 3 or "gpu" not in columns:
            continue
        at = columns.index("gpu")
        if at >= len(cells) or not cells[at].isdigit() or len(cells[at]) > 3:
            continue
        gpu = int(cells[at])
        last[gpu] = line
        for name, cell in zip(columns[at + 1 :], cells[at + 1 :], strict=False):
            if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", cell):
                samples[gpu][name].append(float(cell))
    return dict(samples), last


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    samples, last = _samples(lines)
    if not samples:
        found.note("no dmon samples could be read")
        found.complete = False
        return found.reading()
    usage = {gpu: _mean(values.get("sm", [])) for gpu, values in samples.items()}
    known = {gpu: value for gpu, value in usage.items() if value is not None}
    facts: dict[str, Value] = {
        "gpus": len(samples),
        "busy": tuple(sorted(g for g, v in known.items() if v >= BUSY)),
        "idle": tuple(sorted(g for g, v in known.items() if v <= IDLE)),
    }
    found.add("gpu.dmon-samples", [last[g] for g in sorted(last)[:16]], facts)
    idle = [gpu for gpu, value in known.items() if value <= IDLE]
    if len(idle) == 1 and len(known) >= 3 and all(v >= BUSY for g, v in known.items() if g != idle[0]):
        fields: dict[str, Value] = {"gpu": idle[0], "others": len(known) - 1}
        found.add("gpu.dmon-one-idle", [last[g] for g in sorted(last)[:16]], fields, gpu=idle[0])
    for gpu, values in samples.items():
        double = max(values.get("dbecc", []), default=0.0)
        if double > 0:
            fields = {"gpu": gpu, "errors": int(double)}
            found.add("gpu.dmon-ecc", [last[gpu]], fields, gpu=gpu)
    return found.reading()
