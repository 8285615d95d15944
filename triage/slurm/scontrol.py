"""``scontrol show job -o`` as records: what the controller still knows, output paths above all."""

from __future__ import annotations

import re

from triage.readers import slurm_values as values
from triage.slurm.record import JobRecord
from triage.sources.hostlist import expand

_KEY = r"(?:^|\s)([A-Z][A-Za-z/:]*)="
_PATHS = ("Command", "WorkDir", "StdErr", "StdIn", "StdOut")


def parse(text: str) -> tuple[JobRecord, ...]:
    """One record for each line that describes a job."""
    found = (_job(_pairs(line)) for line in text.splitlines() if "JobId=" in line)
    return tuple(job for job in found if job is not None)


def _pairs(line: str) -> dict[str, str]:
    """Keys and values of a line. A value reaches to the next key; the first of equal keys wins."""
    found: dict[str, str] = {}
    marks = list(re.finditer(_KEY, line))
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(line)
        found.setdefault(mark[1], line[mark.end() : end].strip())
    return found


def _job(pairs: dict[str, str]) -> JobRecord | None:
    job_id = values.integer(pairs.get("JobId"))
    if job_id is None:
        return None
    state, by = values.state(pairs.get("JobState"))
    code, signal = values.exit_status(pairs.get("ExitCode"))
    derived, derived_signal = values.exit_status(pairs.get("DerivedExitCode"))
    user, uid = _identity(pairs.get("UserId"))
    _, gid = _identity(pairs.get("GroupId"))
    paths = {name: value for name in _PATHS if (value := values.known(pairs.get(name))) is not None}
    return JobRecord(
        job_id=job_id,
        array_job_id=values.integer(pairs.get("ArrayJobId")),
        array_task_id=values.integer(pairs.get("ArrayTaskId")),
        het_job_id=values.integer(pairs.get("HetJobId")),
        het_offset=values.integer(pairs.get("HetJobOffset")),
        name=pairs.get("JobName") or None,
        user=user,
        uid=uid,
        gid=gid,
        account=values.known(pairs.get("Account")),
        partition=values.known(pairs.get("Partition")),
        qos=values.known(pairs.get("QOS")),
        state=state,
        cancelled_by=by,
        reason=values.known(pairs.get("Reason")),
        exit_code=code,
        signal=signal,
        derived_exit_code=derived,
        derived_signal=derived_signal,
        nodes=expand(pairs.get("NodeList")),
        node_count=values.integer((pairs.get("NumNodes") or "").partition("-")[0]),
        failed_node=values.known(pairs.get("FailedNode")),
        submit=values.moment(pairs.get("SubmitTime")),
        start=values.moment(pairs.get("StartTime")),
        end=values.moment(pairs.get("EndTime")),
        elapsed=values.duration(pairs.get("RunTime")),
        limit=values.duration(pairs.get("TimeLimit")),
        tres=values.tres(pairs.get("AllocTRES") or pairs.get("TRES")),
        restarts=values.integer(pairs.get("Restarts")),
        work_dir=paths.get("WorkDir"),
        stdout=paths.get("StdOut"),
        stderr=paths.get("StdErr"),
        admin_comment=values.known(pairs.get("AdminComment")),
        origin=("scontrol",),
    )


def _identity(text: str | None) -> tuple[str | None, int | None]:
    """``alice(1000)`` as name and number."""
    match = re.fullmatch(r"(.*)\((\d{1,10})\)", text or "")
    return (match[1] or None, int(match[2])) if match else (None, None)
