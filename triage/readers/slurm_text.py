"""What Slurm recorded of a job: why it ended, how its steps ended, and in which state its nodes are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, lines_of, mostly, prompt_host
from triage.readers.slurm_records import Node, Record, from_json, from_scontrol, from_table, is_header
from triage.readers.slurm_values import ENDED_BY, LAUNCH_SIGNAL, OOM_SIGNAL
from triage.text import safe
from triage.text.signals import SIGNALS

SACCT = "sacct"
SCONTROL = "scontrol"
_LAUNCH = re.compile(
    r"JobLaunchFailure|LaunchFailed|launch_fail|launch failure|RaisedSignal:53", re.IGNORECASE
)
_PROLOG = re.compile(r"Prolog", re.IGNORECASE)
_GPU = re.compile(r"gpu|gres|xid|nvlink|nvidia|ecc", re.IGNORECASE)
_NO_GPU = re.compile(r"gpu\S* count (?:reported lower than configured|too low) \(0 < \d+\)")
"""All of them are gone: it is the driver, not one GPU."""
_HEALTHY = frozenset(
    {"IDLE", "ALLOCATED", "MIXED", "COMPLETING", "RESERVED", "CLOUD", "PLANNED", "DYNAMIC_NORM", "ALLOC",
     "MIX", "POWERED_DOWN", "POWERING_UP", "POWERING_DOWN", "COMP", "RESV"}
)  # fmt: skip
_OUT = frozenset({"DOWN", "FAIL", "FAILING", "NOT_RESPONDING", "ERROR", "UNKNOWN"})


class SacctReader:
    """Reads ``sacct``: tables with any separator, and JSON."""

    kind = SACCT

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source the output of ``sacct``?"""
        if head.lstrip()[:1] == b"{":
            return b'"jobs"' in head and (b'"derived_exit_code"' in head or b'"exit_code"' in head)
        return mostly(head, is_header, _in_table)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say how each job ended, and what its steps add to that."""
        lines = lines_of(data)
        found = Findings(source, index, SACCT, host=prompt_host(lines))
        if data.lstrip()[:1] == b"{":
            records, problem = from_json(data, lines[0])
            if problem:
                found.note(problem)
                found.complete = False
        else:
            records = from_table(lines)
        if not records:
            found.note("no job could be read from this sacct output")
            found.complete = False
        _jobs(found, records)
        return found.reading()


class ScontrolReader:
    """Reads ``scontrol show job`` and ``scontrol show node``."""

    kind = SCONTROL

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source the output of ``scontrol show``?"""
        if b"JobId=" not in head and b"NodeName=" not in head:
            return False
        return mostly(head, _begins_record, lambda text: re.search(r"\b[A-Z]\w+=\S", text) is not None)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say how the jobs ended and which nodes are out of service."""
        lines = lines_of(data)
        found = Findings(source, index, SCONTROL, host=prompt_host(lines))
        jobs, nodes = from_scontrol(lines)
        if not jobs and not nodes:
            found.note("no job or node could be read from this scontrol output")
            found.complete = False
        _jobs(found, jobs)
        for node in nodes:
            _node(found, node)
        return found.reading()


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for such output in a piece of a source that begins at ``line`` and ``offset``."""
    lines = lines_of(text, line, offset)
    found = Findings(source, index, SACCT)
    if any(is_header(x.text) for x in lines):
        _jobs(found, from_table(lines))
    if any(_begins_record(x.text) for x in lines):
        jobs, nodes = from_scontrol(lines)
        _jobs(found, jobs)
        for node in nodes:
            _node(found, node)
    return tuple(found.items)


def _in_table(text: str) -> bool:
    return is_header(text) or re.match(r"\s*(?:\d+(?:[_.+]\S*)?[|\s]|[\s-]+$)", text) is not None


def _begins_record(text: str) -> bool:
    return re.match(r"\s*(?:JobId=\d|NodeName=\S)", text) is not None


def _jobs(found: Findings, records: Sequence[Record]) -> None:
    records = _last_runs(records)
    steps: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.step is not None:
            steps[record.job].append(record)
    for record in records:
        if record.step is None:
            _job(found, record, steps[record.job])
    orphans = [job for job in steps if not any(r.step is None and r.job == job for r in records)]
    for job in orphans:
        _job(found, steps[job][0], steps[job])


def _last_runs(records: Sequence[Record]) -> list[Record]:
    """``records`` without those of earlier runs of a job that was started again and ran or runs well since.

    With ``--duplicates`` sacct lists every run of a job that was requeued, each with its steps below it.
    """
    last: dict[str, int] = {}
    for place, record in enumerate(records):
        if record.step is None:
            last[record.job] = place
    well = {
        job for job, place in last.items() if records[place].state in {"RUNNING", "COMPLETING", "COMPLETED"}
    }
    return [r for place, r in enumerate(records) if r.job not in well or place >= last[r.job]]


def _job(found: Findings, job: Record, steps: Sequence[Record]) -> None:
    fields = _fields(job, steps)
    host = _one_host(job)
    found.add("slurm.recorded-job", [job.line], fields, host=host)
    rule_id = _ended(job, steps)
    if rule_id is not None:
        witnesses = [s.line for s in steps if s.state not in {"COMPLETED", "RUNNING", "PENDING"}]
        failed = job.get("failednode") if rule_id == "slurm.recorded-node-fail" else None
        lines = sorted({x.number: x for x in (*job.lines, *witnesses[:6])}.items())
        found.add(rule_id, [line for _, line in lines], fields, host=failed or host)
    if job.state in {"FAILED", "COMPLETED"} and rule_id is None:
        _exits(found, job, steps, fields)


def _ended(job: Record, steps: Sequence[Record]) -> str | None:
    """The rule for the end of a job that says more than "an exit code"."""
    states = [job.state, *(step.state for step in steps)]
    signals = [code[1] for record in (job, *steps) if (code := record.exit()) is not None]
    reason = f"{job.get('reason') or ''} {job.get('failedreason') or ''}"
    if "OUT_OF_MEMORY" in states or OOM_SIGNAL in signals or "OutOfMemory" in reason:
        return ENDED_BY["OUT_OF_MEMORY"]
    if job.state in ENDED_BY:
        return ENDED_BY[job.state]
    if job.state == "FAILED" and (LAUNCH_SIGNAL in signals or _LAUNCH.search(reason)):
        return ENDED_BY["LAUNCH_FAILED"]
    if job.state in {"FAILED", "PENDING", "REQUEUE_HOLD"} and _PROLOG.search(reason):
        return "slurm.recorded-prolog"
    return None


def _exits(found: Findings, job: Record, steps: Sequence[Record], fields: dict[str, Value]) -> None:
    """Exit codes: of the job, and of the step that failed, be it inside a script that did not care."""
    own, derived = job.exit(), job.exit("derivedexitcode")
    failed = [s for s in steps if s.step not in {"extern", "batch"} and s.state == "FAILED"]
    if own is not None and own != (0, 0):
        _exit(found, "slurm.recorded-exit", job, own, fields)
    elif job.state == "FAILED":
        _exit(found, "slurm.recorded-exit", job, (1, 0), fields)
    if failed:
        _exit(found, "slurm.recorded-step-exit", failed[0], failed[0].exit() or (1, 0), fields)
    elif job.state == "COMPLETED" and derived is not None and derived != (0, 0):
        _exit(found, "slurm.recorded-step-exit", job, derived, fields)
    elif job.state == "COMPLETED" and own in {None, (0, 0)}:
        found.add("slurm.recorded-completed", [job.line], fields)


def _exit(
    found: Findings, rule_id: str, record: Record, code: tuple[int, int], fields: dict[str, Value]
) -> None:
    number, signal = code
    if signal == 0 and number > 128:
        signal = number - 128
    more: dict[str, Value] = {
        **fields,
        "exit_code": number,
        "signal": SIGNALS.get(signal),
        "step": record.step,
    }
    found.add(rule_id, record.lines, more)


def _fields(job: Record, steps: Sequence[Record]) -> dict[str, Value]:
    largest = max((s for s in (job, *steps)), key=lambda s: s.size("maxrss") or 0)
    code = job.exit()
    return {
        "job_id": job.job,
        "name": _short(job.get("jobname", "name")),
        "state": job.state or None,
        "reason": _short(job.get("reason")),
        "exit_code": code[0] if code else None,
        "nodes": _short(job.get("nodelist")),
        "tasks": int(n) if (n := job.get("numtasks") or "").isdigit() and len(n) < 8 else None,
        "failed_node": job.get("failednode"),
        "elapsed": job.seconds("elapsed") if job.get("elapsed") else job.seconds("runtime"),
        "limit": job.seconds("timelimit"),
        "requested": job.size("reqmem") or job.size("minmemorynode"),
        "peak": largest.size("maxrss"),
        "peak_step": largest.step if largest.size("maxrss") else None,
        "peak_node": largest.get("maxrssnode"),
        "cancelled_by": job.cancelled_by,
        "restarts": int(r) if (r := job.get("restarts") or "").isdigit() and len(r) < 6 else None,
    }


def _short(text: str | None) -> str | None:
    return safe(text, 300) if text else None


def _one_host(job: Record) -> str | None:
    """The job's host, when it ran on one only."""
    nodes = job.get("nodelist") or ""
    return nodes if re.fullmatch(r"[\w.-]{1,100}", nodes) else None


def _node(found: Findings, node: Node) -> None:
    states = node.states
    reason = node.values.get("reason")
    reason = reason if reason and reason not in {"none", "(null)"} else None
    fields: dict[str, Value] = {
        "node": node.name,
        "state": node.values.get("state"),
        "reason": safe(reason, 300) if reason else None,
    }
    lines = [x for x in node.lines if re.search(r"NodeName=|State=|Reason=", x.text)]
    found.add("slurm.node-state", lines, fields, host=node.name)
    out = states & _OUT
    drained = any(word.startswith("DRAIN") for word in states)
    if not out and not drained and states <= _HEALTHY:
        return
    if reason and _GPU.search(reason) and (out or drained):
        rule_id = "slurm.node-out-no-gpu" if _NO_GPU.search(reason) else "slurm.node-out-gpu"
    elif out:
        rule_id = "slurm.node-out-down"
    elif drained:
        rule_id = "slurm.node-out-drained"
    else:
        return
    found.add(rule_id, lines, fields, host=node.name)
