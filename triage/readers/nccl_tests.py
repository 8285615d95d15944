"""``all_reduce_perf`` and the other programs of nccl-tests: results, wrong values, who ran where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.readers.gpu_models import model_of
from triage.readers.smi_device import pci_of

KIND = "nccl-tests"
LARGE = 128 << 20
"""Bytes from which a message shows bandwidth rather than latency."""
MAX_RANKS = 4096

_HEADER = re.compile(r"#\s*nThread\s+(?P<threads>\d+)\s+nGpus\s+(?P<gpus>\d+)\s+min[Bb]ytes\s+(?P<min>\d+)")
_VERSION = re.compile(r"#\s*nccl-tests version (?P<tests>[\d.]+)(?:.*nccl-library=(?P<nccl>\d+))?")
_RANK = re.compile(
    r"#\s+Rank\s+(?P<rank>\d{1,5})\s+(?:Group\s+\d+\s+)?Pid\s+(?P<pid>\d{1,9})\s+on\s+(?P<host>\S+)\s+device\s+"
    r"(?P<gpu>\d{1,3})\s+\[(?P<bus>[0-9a-fA-Fx:.]+)\]\s*(?P<model>[^\r\n]{0,80})"
)
_ROW = re.compile(
    r"\s*\d{1,16}\s+\d{1,16}\s+[a-z]\w*(?:\s+(?:[a-z]\w*|-?\d+))*?\s+[\d.]+(?:e[+-]?\d+)?\s+[\d.]\S*"
)
_COLUMNS = re.compile(r"#\s+size\s+count\s+type\s+(?P<columns>\S.*\balgbw\s+busbw\b.*)")
_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*(?P<count>\d+)\s+(?P<verdict>OK|FAILED)")
_AVERAGE = re.compile(r"#\s*Avg bus bandwidth\s*:\s*(?P<average>[\d.]+)\s*(?P<verdict>OK|FAILED)?")
_DATE = re.compile(r"\s\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
"""What ``-T`` puts behind a row."""
_TIMES = frozenset({"time", "cputime"})
_PROGRAM = re.compile(
    r"\b(all_reduce|all_gather|reduce_scatter|alltoallv?|broadcast|reduce|sendrecv|scatter|gather"
    r"|hypercube)_perf\b"
)

_EXPECTED = {
    "H100": 440.0,
    "H200": 440.0,
    "H20": 420.0,
    "B200": 750.0,
    "B300": 750.0,
    "A100": 220.0,
    "A800": 150.0,
    "H800": 180.0,
}
"""All-reduce bus bandwidth in GB/s that eight switched GPUs of one node reach with large messages."""
SHARE = 0.6
"""Part of the expected bandwidth below which a result is worth a warning."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table, as its header names them.

    ``redop`` and ``root`` stand only where a program has them (all programs have both since 2.13), and the
    last column of a half was ``error``, the largest difference, before it became ``#wrong``, a count.
    """

    leading: tuple[str, ...]
    """Columns after size and count: type, redop, root."""
    halves: tuple[tuple[str, ...], ...]
    """Columns of the out-of-place and of the in-place half."""


_LAYOUT = Layout(("type", "redop", "root"), (("time", "algbw", "busbw", "#wrong"),) * 2)
"""What a table has whose header is missing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of results: bytes, and the better direction's bandwidths (GB/s) and wrong values of both."""

    size: int
    dtype: str
    algbw: float
    busbw: float
    wrong: int
    line: Line


@dataclass(frozen=True, slots=True)
class Member:
    """Who a rank of the test was."""

    rank: int
    pid: int
    host: str
    gpu: int
    pci: str | None
    model: str
    line: Line


@dataclass(slots=True)
class Run:
    """One run of a test program."""

    header: Line
    program: str | None = None
    layout: Layout = _LAYOUT
    members: list[Member] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    bounds: tuple[int, str, Line] | None = None
    average: tuple[float, str | None, Line] | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of its ranks."""
        return tuple(dict.fromkeys(member.host for member in self.members))

    @property
    def best(self) -> Row | None:
        """The row with the highest bus bandwidth."""
        return max(self.rows, key=lambda row: row.busbw, default=None)


class NcclTestsReader:
    """Reads the output of nccl-tests."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source the output of a test program and little else?"""
        return b"nGpus" in head and mostly(head, _begins, _belongs, top=40)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say whether values were wrong and whether the bandwidth is what the GPUs should give."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def find_runs(text: str | bytes) -> list[Run]:
    """The test runs in ``text``."""
    return _runs(lines_of(text))


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for nccl-tests output in a piece of a source."""
    lines = lines_of(text, line, offset)
    return _read(lines, source, index).findings if _runs(lines) else ()


def _begins(text: str) -> bool:
    return bool(_HEADER.search(text) or _VERSION.search(text))


def _belongs(text: str) -> bool:
    return text.lstrip().startswith("#") or _ROW.match(text) is not None


def _runs(lines: Sequence[Line]) -> list[Run]:
    runs: list[Run] = []
    program: str | None = None
    for line in lines:
        text = line.text
        named = _PROGRAM.search(text) if "_perf" in text else None
        if named:
            program = named[1]
            if runs and not runs[-1].rows:
                runs[-1].program = runs[-1].program or program
        header = _HEADER.search(text) if "nThread" in text else None
        if header:
            runs.append(Run(line, program))
            continue
        if runs:
            _take(runs[-1], line)
    return runs


def _take(run: Run, line: Line) -> None:
    text = line.text
    rank = _RANK.search(text) if "Rank" in text else None
    if rank:
        if len(run.members) < MAX_RANKS:
            run.members.append(
                Member(
                    int(rank["rank"]), int(rank["pid"]), rank["host"], int(rank["gpu"]),
                    _bus(rank["bus"]), rank["model"].strip(), line,
                )
            )  # fmt: skip
        return
    columns = _COLUMNS.match(text.lstrip())
    if columns:
        run.layout = _layout(columns["columns"].split())
        return
    row = _row(line, run.layout) if _ROW.match(text) else None
    if row is not None:
        run.rows.append(row)
        return
    bounds = _BOUNDS.search(text)
    if bounds:
        run.bounds = (int(bounds["count"]), bounds["verdict"], line)
        return
    average = _AVERAGE.search(text)
    if average:
        run.average = (_float(average["average"]) or 0.0, average["verdict"], line)


def _bus(text: str) -> str | None:
    """``0x1b`` (older programs print the bus only) or ``0000:1b:00``."""
    if text.startswith("0x"):
        text = f"{text[2:]:>02}:00.0"
    elif text.count(":") == 1 or "." not in text:
        text = text + (".0" if text.count(":") == 2 else ":00.0")
    return pci_of(text)


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) < 1e12 else None


def _layout(columns: Sequence[str]) -> Layout:
    """The layout of a table from the words of its header after ``size`` and ``count``."""
    begins = [number for number, name in enumerate(columns) if name in _TIMES]
    if not begins:
        return _LAYOUT
    ends = [*begins[1:], len(columns)]
    halves = tuple(
        tuple(name for name in columns[begin:end] if name != "timestamp")
        for begin, end in zip(begins, ends, strict=True)
    )
    return Layout(("type", *columns[: begins[0]]), halves)


def _row(line: Line, layout: Layout) -> Row | None:
    """The row in ``line``. Halves are counted from the right: a name in front may be empty."""
    cells = _DATE.sub("", line.text).split()
    width = sum(len(half) for half in layout.halves)
    half_only = 2 + len(layout.leading) + len(layout.halves[-1])
    if len(cells) >= width + 3:
        halves, values = layout.halves, cells[-width:]
    elif len(cells) == half_only:  # one direction was measured, the other is blank
        halves, values = layout.halves[-1:], cells[-len(layout.halves[-1]) :]
    else:
        return None
    best, wrong = (0.0, 0.0), 0
    for half in halves:
        named = dict(zip(half, values[: len(half)], strict=True))
        values = values[len(half) :]
        algbw, busbw = _float(named.get("algbw", "")), _float(named.get("busbw", ""))
        if algbw is None or busbw is None:
            return None
        best = max(best, (algbw, busbw), key=lambda pair: pair[1])
        count = _float(named.get("#wrong", ""))  # printed with %g: 1e+06 is a count too
        wrong += int(count) if count is not None and count > 0 else 0
    return Row(int(cells[0]), cells[2], *best, wrong, line)


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    runs = _runs(lines)
    if not runs:
        found.note("no nccl-tests run could be read")
        found.complete = False
    for run in runs:
        _facts(found, run)
        _values(found, run)
        _bandwidth(found, run)
        if run.average is None and run.rows:
            found.note("an nccl-tests run has no summary: it was cut or did not end")
    if runs and all(_passed(run) for run in runs):
        closing = [line for run in runs[-1:] for line in (run.bounds, run.average) if line is not None]
        found.add(
            "fabric.nccl-tests-finished", [entry[2] for entry in reversed(closing)], {"runs": len(runs)}
        )
    for group in _lonely(runs):
        found.add("fabric.nccl-tests-without-mpi", [r.header for r in group[:8]], {"processes": len(group)})
    return found.reading()


def _passed(run: Run) -> bool:
    """Whether a run printed its summary, and a good one."""
    checked = run.bounds is None or (run.bounds[0] == 0 and run.bounds[1] == "OK")
    return checked and run.average is not None and run.average[1] != "FAILED"


def _facts(found: Findings, run: Run) -> None:
    for member in run.members[:512]:
        fields: dict[str, Value] = {
            "rank": member.rank, "host": member.host, "pid": member.pid, "gpu": member.gpu,
            "pci": member.pci, "model": member.model or None, "world_size": len(run.members),
        }  # fmt: skip
        found.add(
            "fabric.nccl-tests-rank", [member.line], fields,
            gpu=member.gpu, rank=member.rank, pid=member.pid, host=member.host,
        )  # fmt: skip
    best = run.best
    result: dict[str, Value] = {
        "program": run.program,
        "ranks": len(run.members) or None,
        "hosts": len(run.hosts) or None,
        "busbw": best.busbw if best else None,
        "size": best.size if best else None,
        "average": run.average[0] if run.average else None,
        "finished": run.average is not None,
    }
    evidence = [
        line for line in (best.line if best else None, run.average[2] if run.average else None) if line
    ]
    found.add("fabric.nccl-tests-result", evidence or [run.header], result)


def _values(found: Findings, run: Run) -> None:
    if run.bounds is not None and run.bounds[0] == 0 and run.bounds[1] == "OK":
        return  # the program itself has counted
    bad = [row for row in run.rows if row.wrong > 0]
    failed = run.bounds is not None and (run.bounds[0] > 0 or run.bounds[1] == "FAILED")
    if not bad and not failed:
        return
    evidence = [row.line for row in bad[:8]] + ([run.bounds[2]] if run.bounds and failed else [])
    fields: dict[str, Value] = {
        "wrong": sum(row.wrong for row in bad) or (run.bounds[0] if run.bounds else None),
        "size": bad[0].size if bad else None,
        "program": run.program,
        "hosts": ", ".join(run.hosts[:16]) or None,
    }
    host = run.hosts[0] if len(run.hosts) == 1 else None
    found.add("fabric.nccl-tests-wrong-values", evidence, fields, host=host)


def _bandwidth(found: Findings, run: Run) -> None:
    best = run.best
    if run.average is not None and run.average[1] == "FAILED" and best is not None:
        fields: dict[str, Value] = {"busbw": best.busbw, "average": run.average[0], "program": run.program}
        found.add("fabric.nccl-tests-below-minimum", [best.line, run.average[2]], fields)
    if best is None or best.size < LARGE or not run.members:
        return
    expected = _expected(run, best)
    if expected is not None and best.busbw < SHARE * expected:
        fields = {
            "busbw": best.busbw, "expected": expected, "size": best.size, "program": run.program,
            "model": run.members[0].model, "ranks": len(run.members), "hosts": ", ".join(run.hosts[:16]),
        }  # fmt: skip
        host = run.hosts[0] if len(run.hosts) == 1 else None
        found.add("fabric.nccl-tests-slow", [run.members[0].line, best.line], fields, host=host)


def _expected(run: Run, best: Row) -> float | None:
    """What the best row should reach: known for eight modules on one node, a floor for several."""
    model = model_of(run.members[0].model)
    if model is None or model.form != "sxm":
        return None
    if len(run.hosts) > 1:
        return 20.0 / SHARE  # less than one 200 Gb/s adapter: the traffic goes over TCP or one bad link
    ratio = best.busbw / best.algbw if best.algbw > 0 else 0.0
    if len(run.members) != 8 or abs(ratio - 1.75) > 0.02:
        return None
    return next((value for name, value in _EXPECTED.items() if name in model.name), None)


def _lonely(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Several runs of one rank each that all call themselves rank 0: built without MPI."""
    alone = [r for r in runs if len(r.members) == 1 and r.members[0].rank == 0]
    if len(alone) > 1 and len({run.members[0].pid for run in alone}) == len(alone) == len(runs):
        yield alone
