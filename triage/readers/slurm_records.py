"""Jobs, steps and nodes as Slurm's commands print them: ``sacct`` tables and JSON, ``scontrol show``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.readers import slurm_values
from triage.readers.capture import Line, parsed_json
from triage.rules.fields import to_bytes, to_seconds

MAX_RECORDS = 20_000
MAX_JSON = 64 << 20

_JOB_ID = re.compile(
    r"(?P<job>\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?)"
    r"(?:\.(?P<step>batch|extern|interactive|\d+)(?:\+\d*)?)?$"
)
_TELLS = re.compile(r"\b(?:JobState|ExitCode|FailedNode)=")
_TOKEN = re.compile(r"(?:^|\s)([A-Z][\w:/]*)=(.*?)(?=\s+[A-Z][\w:/]*=|\s*$)")


@dataclass(slots=True)
class Record:
    """One job or step; ``values`` holds every field under its lower-case name."""

    job: str
    step: str | None
    line: Line
    values: dict[str, str] = field(default_factory=dict)
    told: list[Line] = field(default_factory=list)
    """Where a record of several lines gives its state, reason and exit code."""

    @property
    def lines(self) -> list[Line]:
        """What to show of it: the line that names it, and those that say how it ended."""
        return [self.line, *(line for line in self.told if line is not self.line)]

    def get(self, *names: str) -> str | None:
        """The first known value of some names; Slurm's words for "none" are none."""
        for name in names:
            value = self.values.get(name, "").strip()
            if value and value not in {
                "(null)",
                "None",
                "N/A",
                "Unknown",
                "None assigned",
                "Partition_Limit",
            }:
                return value
        return None

    @property
    def state(self) -> str:
        """The state in full, without `` by 1000`` and without truncation (``OUT_OF_ME+``)."""
        return slurm_values.state(self.values.get("state") or self.values.get("jobstate"))[0] or ""

    @property
    def cancelled_by(self) -> int | None:
        """The uid behind ``CANCELLED by 1000``."""
        return slurm_values.state(self.values.get("state"))[1]

    def exit(self, name: str = "exitcode") -> tuple[int, int] | None:
        """``(exit code, signal)`` of a field such as ``1:0``."""
        code, signal = slurm_values.exit_status(self.values.get(name))
        return None if code is None or signal is None else (code, signal)

    def size(self, name: str) -> int | None:
        """Bytes of a field such as ``512000K`` or ``64Gn``."""
        text = (self.get(name) or "").rstrip("nc")
        try:
            value = to_bytes(text + ("K" if text.isdigit() and name == "maxrss" else "")) if text else None
        except (ValueError, OverflowError):
            return None
        return value if isinstance(value, int) else None

    def seconds(self, name: str) -> float | None:
        """Seconds of a field such as ``1-00:00:00``."""
        try:
            value = to_seconds(self.get(name) or "")
        except (ValueError, OverflowError):
            return None
        return value if isinstance(value, float) else None


@dataclass(slots=True)
class Node:
    """One node of ``scontrol show node``."""

    name: str
    line: Line
    values: dict[str, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    @property
    def states(self) -> frozenset[str]:
        """Base state and flags: ``DOWN*+DRAIN`` is DOWN, NOT_RESPONDING and DRAIN."""
        text = self.values.get("state", "").upper()
        words = set(re.split(r"[+,]", text.replace("*", "")))
        if "*" in text:
            words.add("NOT_RESPONDING")
        return frozenset(word for word in words if word)


def is_header(text: str) -> bool:
    """Is this the header of a ``sacct`` table?"""
    words = re.split(r"[|\s]+", text.strip())
    return words[0].lower() in {"jobid", "jobidraw"} and any(
        w.lower() in {"state", "exitcode"} for w in words
    )


def from_table(lines: Sequence[Line]) -> list[Record]:
    """The rows of ``sacct``, with ``|`` between columns or in columns of fixed width."""
    return list(_rows(lines))[:MAX_RECORDS]


def _rows(lines: Sequence[Line]) -> Iterator[Record]:
    names: list[str] = []
    spans: list[tuple[int, int]] | None = None
    for line in lines:
        text = line.text
        if is_header(text):
            spans = None
            names = [n.strip().lower() for n in text.split("|")] if "|" in text else text.split()
            names = [n.lower() for n in names]
            continue
        if not names:
            continue
        if re.fullmatch(r"[\s-]+", text) and "--" in text:
            spans = [(m.start(), m.end()) for m in re.finditer(r"-+", text)]
            continue
        if "|" in text:
            cells = [cell.strip() for cell in text.split("|")]
        elif spans is not None:
            cells = _cells(text, spans)
        else:
            cells = text.split()
        row = dict(zip(names, cells, strict=False))
        match = _JOB_ID.match(row.get("jobid") or row.get("jobidraw") or "")
        if match:
            yield Record(match["job"], match["step"], line, row)


def _cells(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """What stands under each rule of a table: a word belongs to the one it shares most with, for copies are seldom exact."""
    cells = [""] * len(spans)
    for word in re.finditer(r"\S+", text):
        shared = [min(b, word.end()) - max(a, word.start()) for a, b in spans]
        place = shared.index(max(shared))
        cells[place] = f"{cells[place]} {word[0]}".lstrip()
    return cells


def from_scontrol(lines: Sequence[Line]) -> tuple[list[Record], list[Node]]:
    """The jobs and nodes of ``scontrol show job`` and ``show node``, one or several lines each."""
    jobs: list[Record] = []
    nodes: list[Node] = []
    values: dict[str, str] | None = None
    for line in lines:
        text = line.text.strip()
        if "=" not in text:
            continue
        if text.startswith("JobId="):
            job = _JOB_ID.match(text[6:].split()[0] if text[6:].split() else "")
            jobs.append(Record(job["job"] if job else text[6:26], None, line))
            values = jobs[-1].values
        elif text.startswith("NodeName="):
            nodes.append(Node(text[9:].split()[0] if text[9:].split() else "?", line))
            values = nodes[-1].values
        if values is None or len(jobs) + len(nodes) > MAX_RECORDS:
            continue
        if nodes and values is nodes[-1].values and len(nodes[-1].lines) < 40:
            nodes[-1].lines.append(line)
        elif jobs and values is jobs[-1].values and _TELLS.search(text) and len(jobs[-1].told) < 4:
            jobs[-1].told.append(line)
        for match in _TOKEN.finditer(text):
            values.setdefault(match[1].lower(), match[2].strip())
    return jobs, nodes


def from_json(data: bytes, first: Line) -> tuple[list[Record], str | None]:
    """The jobs of ``sacct --json`` with their steps, and what is wrong with the document."""
    document, problem = parsed_json(data, MAX_JSON)
    if problem is not None:
        return [], problem
    listed = document.get("jobs") if isinstance(document, Mapping) else None
    records: list[Record] = []
    for job in (listed if isinstance(listed, list) else [])[:MAX_RECORDS]:
        if not isinstance(job, Mapping):
            continue
        number = str(_plain(job.get("job_id")))
        records.append(Record(number, None, first, _values(job)))
        steps = job.get("steps")
        for step in (steps if isinstance(steps, list) else [])[:1000]:
            if isinstance(step, Mapping):
                name = str(_map(step.get("step")).get("id") or "?").rpartition(".")[2]
                records.append(Record(number, name, first, _values(step)))
    return records, None


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _plain(value: Any) -> Any:
    """A number that newer releases wrap as ``{"set": true, "infinite": false, "number": 5}``."""
    if isinstance(value, Mapping) and "number" in value:
        return value["number"] if value.get("set", True) else None
    return value


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(str(word) for word in value[:8])
    return str(value) if value is not None else ""


def _exit_text(value: Any) -> str:
    """``exit:signal`` from the nested form."""
    entry = _map(value)
    signal = _map(entry.get("signal"))
    code = _plain(entry.get("return_code"))
    number = _plain(signal.get("id", signal.get("signal_id")))
    if not entry:
        return ""
    return f"{code if isinstance(code, int) else 0}:{number if isinstance(number, int) else 0}"


def _values(entry: Mapping[str, Any]) -> dict[str, str]:
    state = entry.get("state")
    current = _map(state).get("current") if isinstance(state, Mapping) else state
    time = _map(entry.get("time"))
    nodes = entry.get("nodes")
    limit = _plain(time.get("limit"))
    values = {
        "state": _words(current),
        "reason": _words(_map(state).get("reason")) if isinstance(state, Mapping) else "",
        "exitcode": _exit_text(entry.get("exit_code")),
        "derivedexitcode": _exit_text(entry.get("derived_exit_code")),
        "nodelist": str(_map(nodes).get("range") or "") if isinstance(nodes, Mapping) else _words(nodes),
        "failednode": _words(entry.get("failed_node")),
        "jobname": _words(entry.get("name")),
        "elapsed": _words(_plain(time.get("elapsed"))),
        "timelimit": f"{limit * 60}" if isinstance(limit, int) else "",
        "restarts": _words(_plain(entry.get("restart_cnt"))),
    }
    by = entry.get("kill_request_user")
    if by and str(values["state"]).startswith("CANCELLED"):
        values["killer"] = str(by)
    return {name: value for name, value in values.items() if value}
