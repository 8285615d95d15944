"""``sacct --parsable2`` as records. Every column is optional: releases differ in what they have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from triage.readers import slurm_values as values
from triage.slurm.record import UNSET, JobRecord, StepRecord
from triage.sources.hostlist import expand

FIELDS = [
    "JobID",
    "JobIDRaw",
    "JobName",
    "User",
    "UID",
    "GID",
    "Account",
    "Partition",
    "QOS",
    "Cluster",
    "State",
    "ExitCode",
    "DerivedExitCode",
    "Reason",
    "Flags",
    "FailedNode",
    "Submit",
    "Start",
    "End",
    "ElapsedRaw",
    "Timelimit",
    "NodeList",
    "NNodes",
    "NTasks",
    "AllocTRES",
    "ReqMem",
    "MaxRSS",
    "MaxRSSNode",
    "MaxRSSTask",
    "Restarts",
    "AdminComment",
    "SubmitLine",
    "StdOut",
    "StdErr",
    "WorkDir",
]
"""The columns asked for, where the release has them. Free text comes late: it may hold a separator."""
DELIMITER = "\x1f"
"""Between columns. Job names and submit lines may contain ``|``, no sane one contains this."""


def parse(text: str, delimiter: str = DELIMITER) -> tuple[JobRecord, ...]:
    """The jobs of a table with a header line, steps with their jobs."""
    lines = text.splitlines()
    if not lines:
        return ()
    header = [name.strip() for name in lines[0].split(delimiter)]
    jobs: list[JobRecord] = []
    steps: dict[int, list[StepRecord]] = {}
    current = -1
    for line in lines[1:]:
        cells = line.split(delimiter)
        if len(cells) < 2:
            continue
        row = dict(zip(header, cells, strict=False))
        raw, _, step = (row.get("JobIDRaw") or row.get("JobID") or "").partition(".")
        if step:
            if current >= 0:
                steps.setdefault(current, []).append(_step(step, row))
            continue
        job = _job(row, raw)
        if job is not None:
            jobs.append(job)
            current = len(jobs) - 1
    return tuple(_with(job, steps.get(i, ())) for i, job in enumerate(jobs))


def _with(job: JobRecord, steps: Sequence[StepRecord]) -> JobRecord:
    from dataclasses import replace

    return replace(job, steps=tuple(steps)) if steps else job


def _job(row: Mapping[str, str], raw: str) -> JobRecord | None:
    shown = row.get("JobID", raw)
    number = values.integer(raw) or values.integer(re.split(r"[_+.]", shown)[0])
    if number is None:
        return None
    array = re.fullmatch(r"(\d+)_(\d+)", shown)
    het = re.fullmatch(r"(\d+)\+(\d+)", shown)
    state, by = values.state(row.get("State"))
    code, signal = values.exit_status(row.get("ExitCode"))
    derived, derived_signal = values.exit_status(row.get("DerivedExitCode"))
    nodes = expand(row.get("NodeList"))
    task = int(array[2]) if array else None
    limit = row.get("Timelimit")
    return JobRecord(
        job_id=number,
        array_job_id=int(array[1]) if array else None,
        array_task_id=None if task == UNSET else task,
        het_job_id=int(het[1]) if het else None,
        het_offset=int(het[2]) if het else None,
        name=row.get("JobName") or None,
        user=values.known(row.get("User")),
        uid=values.integer(row.get("UID")),
        gid=values.integer(row.get("GID")),
        account=values.known(row.get("Account")),
        partition=values.known(row.get("Partition")),
        qos=values.known(row.get("QOS")),
        cluster=values.known(row.get("Cluster")),
        state=state,
        cancelled_by=by,
        flags=tuple(f for f in re.split(r"[,\s]+", row.get("Flags", "")) if f),
        reason=values.known(row.get("Reason")),
        exit_code=code,
        signal=signal,
        derived_exit_code=derived,
        derived_signal=derived_signal,
        nodes=nodes,
        node_count=values.integer(row.get("NNodes")),
        failed_node=values.known(row.get("FailedNode")),
        submit=values.moment(row.get("Submit")),
        start=values.moment(row.get("Start")),
        end=values.moment(row.get("End")),
        elapsed=_elapsed(row),
        limit=values.duration(limit),
        tres=values.tres(row.get("AllocTRES")),
        memory_requested=values.known(row.get("ReqMem")),
        restarts=values.integer(row.get("Restarts")),
        work_dir=row.get("WorkDir") or None,
        stdout=row.get("StdOut") or None,
        stderr=row.get("StdErr") or None,
        submit_line=row.get("SubmitLine") or None,
        admin_comment=row.get("AdminComment") or None,
        origin=("sacct",),
    )


def _elapsed(row: Mapping[str, str]) -> float | None:
    seconds = values.integer(row.get("ElapsedRaw"))
    return float(seconds) if seconds is not None else values.duration(row.get("Elapsed"))


def _step(step: str, row: Mapping[str, str]) -> StepRecord:
    state, by = values.state(row.get("State"))
    code, signal = values.exit_status(row.get("ExitCode"))
    return StepRecord(
        id=step,
        name=row.get("JobName") or None,
        state=state,
        cancelled_by=by,
        exit_code=code,
        signal=signal,
        nodes=expand(row.get("NodeList")),
        tasks=values.integer(row.get("NTasks")),
        start=values.moment(row.get("Start")),
        end=values.moment(row.get("End")),
        max_rss=values.size(row.get("MaxRSS")),
        max_rss_node=values.known(row.get("MaxRSSNode")),
        max_rss_task=values.integer(row.get("MaxRSSTask")),
        stdout=row.get("StdOut") or None,
        stderr=row.get("StdErr") or None,
    )
