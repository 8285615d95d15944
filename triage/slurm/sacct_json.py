"""``sacct --json`` as records: openapi/dbv0.0.36 (21.08) to data_parser v0.0.4x (25.x).

The shapes moved over the years: states became lists, numbers became ``{set, infinite, number}``, exit
codes grew from plain numbers to objects. Every key may be missing; a wrong type counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from triage.readers import slurm_values as values
from triage.slurm.record import UNSET, JobRecord, StepRecord
from triage.sources.hostlist import expand


def parse(text: str) -> tuple[JobRecord, ...]:
    """The jobs in the output of ``sacct --json``; empty when it is not that."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    jobs = data.get("jobs") if isinstance(data, Mapping) else None
    return tuple(j for j in map(_job, jobs) if j is not None) if isinstance(jobs, list) else ()


def at(data: Any, *path: str) -> Any:
    """The value below nested keys, None where one is missing."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def number(value: Any) -> int | None:
    """A number, plain or as ``{set, infinite, number}``."""
    if isinstance(value, Mapping):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if isinstance(value, str):
        return values.integer(value)
    return (
        int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18
        else None
    )


def text(value: Any) -> str | None:
    """A text that says something."""
    return value if isinstance(value, str) and value else None


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


def _status(value: Any) -> tuple[int | None, int | None]:
    if isinstance(value, int) and not isinstance(value, bool):
        return value >> 8, value & 0x7F
    signal = at(value, "signal", "id")
    if signal is None:
        signal = at(value, "signal", "signal_id")
    code = number(at(value, "return_code"))
    return (code, number(signal) or 0) if code is not None or signal is not None else (None, None)


def _positive(value: Any) -> float | None:
    found = number(value)
    return float(found) if found and found > 0 else None


def _task(value: Any) -> int | None:
    found = number(value)
    return None if found is None or found >= UNSET else found


def _states(value: Any) -> tuple[str | None, tuple[str, ...]]:
    """The base state and the flags beside it."""
    words = tuple(w.upper() for w in _words(value))
    state = next((w for w in words if w in _BASE), words[0] if words else None)
    return state, tuple(w for w in words if w != state)


_BASE = frozenset(
    [
        "PENDING",
        "RUNNING",
        "SUSPENDED",
        "COMPLETED",
        "CANCELLED",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "PREEMPTED",
        "BOOT_FAIL",
        "DEADLINE",
        "OUT_OF_MEMORY",
    ]
)


def _job(data: Any) -> JobRecord | None:
    job_id = number(at(data, "job_id"))
    if job_id is None:
        return None
    state, flags = _states(at(data, "state", "current") or at(data, "job_state"))
    code, signal = _status(at(data, "exit_code"))
    derived, derived_signal = _status(at(data, "derived_exit_code"))
    array, het = number(at(data, "array", "job_id")), number(at(data, "het", "job_id"))
    limit = number(at(data, "time", "limit"))
    nodes = expand(text(at(data, "nodes")))
    user = text(at(data, "association", "user")) or text(at(data, "user"))
    killer = at(data, "kill_request_user")
    return JobRecord(
        job_id=job_id,
        array_job_id=array or None,
        array_task_id=_task(at(data, "array", "task_id")) if array else None,
        het_job_id=het or None,
        het_offset=_task(at(data, "het", "job_offset")) if het else None,
        name=text(at(data, "name")),
        user=user,
        account=text(at(data, "account")),
        partition=text(at(data, "partition")),
        qos=text(at(data, "qos")),
        cluster=text(at(data, "cluster")),
        state=state,
        cancelled_by=_user_id(killer) if state == "CANCELLED" else None,
        flags=(*flags, *_words(at(data, "flags"))),
        reason=values.known(text(at(data, "state", "reason"))),
        exit_code=code,
        signal=signal,
        derived_exit_code=derived,
        derived_signal=derived_signal,
        nodes=nodes,
        node_count=number(at(data, "allocation_nodes")),
        failed_node=values.known(text(at(data, "failed_node"))),
        submit=_positive(at(data, "time", "submission")),
        start=_positive(at(data, "time", "start")),
        end=_positive(at(data, "time", "end")),
        elapsed=float(number(at(data, "time", "elapsed")) or 0) or None,
        limit=None if limit is None else limit * 60.0,
        tres=_tres(at(data, "tres", "allocated")),
        restarts=number(at(data, "restart_cnt")),
        work_dir=text(at(data, "working_directory")),
        stdout=text(at(data, "stdout_expanded")) or text(at(data, "stdout")),
        stderr=text(at(data, "stderr_expanded")) or text(at(data, "stderr")),
        submit_line=text(at(data, "submit_line")),
        admin_comment=text(at(data, "comment", "administrator")),
        steps=tuple(_steps(at(data, "steps"))),
        origin=("sacct",),
    )


def _user_id(name: Any) -> int | None:
    """``kill_request_user`` is a name; ids are what the rest of triage compares."""
    if isinstance(name, str) and name and not name.isdecimal():
        import pwd

        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            return None
    return number(name)


def _tres(items: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in items if isinstance(items, list) else ():
        kind, name, count = text(at(item, "type")), text(at(item, "name")), number(at(item, "count"))
        if kind and count is not None:
            # memory is counted in MiB
            found[f"{kind}/{name}" if name else kind] = count << 20 if kind == "mem" else count
    return found


def _steps(items: Any) -> Iterator[StepRecord]:
    for item in items if isinstance(items, list) else ():
        state, _ = _states(at(item, "state"))
        code, signal = _status(at(item, "exit_code"))
        identity = at(item, "step", "id")
        name = text(at(item, "step", "name"))
        if isinstance(identity, Mapping):
            identity = identity.get("step_id")
        shown = str(identity).rpartition(".")[2] if identity is not None else ""
        rss = _consumed(item, "mem")
        yield StepRecord(
            id=shown if shown and not shown.startswith("-") else (name or "?"),
            name=name,
            state=state,
            cancelled_by=_user_id(at(item, "kill_request_user")) if state == "CANCELLED" else None,
            exit_code=code,
            signal=signal,
            nodes=tuple(_words(at(item, "nodes", "list"))) or expand(text(at(item, "nodes", "range"))),
            tasks=number(at(item, "tasks", "count")),
            start=_positive(at(item, "time", "start")),
            end=_positive(at(item, "time", "end")),
            max_rss=number(at(rss, "count")),
            max_rss_node=text(at(rss, "node")),
            max_rss_task=number(at(rss, "task")),
            stdout=text(at(item, "step", "stdout_expanded")) or text(at(item, "step", "stdout")),
            stderr=text(at(item, "step", "stderr_expanded")) or text(at(item, "step", "stderr")),
        )


def _consumed(step: Any, kind: str) -> Any:
    items = at(step, "tres", "requested", "max")  # Slurm's names for it: "requested" is what went in
    return next((i for i in items if at(i, "type") == kind), None) if isinstance(items, list) else None
