"""What Slurm hands to a hook in its environment, as a record.

``Epilog`` and ``EpilogSlurmctld`` get ``SLURM_JOB_*`` and no state; ``jobcomp/script`` gets names of its
own and the state. Output paths are the raw patterns. Releases differ; everything is optional.
"""

from __future__ import annotations

from collections.abc import Mapping

from triage.readers import slurm_values as values
from triage.slurm.record import UNSET, JobRecord
from triage.sources.hostlist import expand

_LONGEST = 4096


def parse(environment: Mapping[str, str]) -> JobRecord | None:
    """The record of the job that a hook was called for; None when no job is named."""
    given = {k: v for k, v in environment.items() if len(v) <= _LONGEST}
    return _completion(given) if "JOBSTATE" in given and "JOBID" in given else _epilog(given)


def _epilog(given: Mapping[str, str]) -> JobRecord | None:
    job_id = values.integer(given.get("SLURM_JOB_ID") or given.get("SLURM_JOBID"))
    if job_id is None:
        return None
    code, signal = values.exit_status(given.get("SLURM_JOB_EXIT_CODE2"))
    if code is None:
        code, signal = values.wait_status(given.get("SLURM_JOB_EXIT_CODE"))
    nodes = expand(given.get("SLURM_JOB_NODELIST") or given.get("SLURM_NODELIST"))
    array = values.integer(given.get("SLURM_ARRAY_JOB_ID"))
    gpus = [g for g in given.get("SLURM_JOB_GPUS", "").split(",") if g.strip()]
    return JobRecord(
        job_id=job_id,
        array_job_id=array or None,
        array_task_id=_task(given.get("SLURM_ARRAY_TASK_ID")) if array else None,
        name=given.get("SLURM_JOB_NAME") or None,
        user=values.known(given.get("SLURM_JOB_USER")),
        uid=values.integer(given.get("SLURM_JOB_UID")),
        gid=values.integer(given.get("SLURM_JOB_GID")),
        account=values.known(given.get("SLURM_JOB_ACCOUNT")),
        partition=values.known(given.get("SLURM_JOB_PARTITION")),
        qos=values.known(given.get("SLURM_JOB_QOS")),
        cluster=values.known(given.get("SLURM_CLUSTER_NAME")),
        exit_code=code,
        signal=signal,
        derived_exit_code=(values.integer(given.get("SLURM_JOB_DERIVED_EC")) or 0) >> 8,
        nodes=nodes,
        node_count=values.integer(given.get("SLURM_JOB_NUM_NODES")),
        start=values.moment(given.get("SLURM_JOB_START_TIME")),
        end=values.moment(given.get("SLURM_JOB_END_TIME")),
        tres={"gres/gpu": len(gpus) * max(1, len(nodes))} if gpus else {},
        restarts=values.integer(given.get("SLURM_JOB_RESTART_COUNT")),
        work_dir=given.get("SLURM_JOB_WORK_DIR") or None,
        stdout=given.get("SLURM_JOB_STDOUT") or None,
        stderr=given.get("SLURM_JOB_STDERR") or None,
        origin=("hook",),
    )


def _completion(given: Mapping[str, str]) -> JobRecord | None:
    job_id = values.integer(given["JOBID"])
    if job_id is None:
        return None
    state, by = values.state(given["JOBSTATE"])
    code, signal = values.exit_status(given.get("EXITCODE"))
    derived, derived_signal = values.exit_status(given.get("DERIVED_EC"))
    array, het = values.integer(given.get("ARRAYJOBID")), values.integer(given.get("HETJOBID"))
    return JobRecord(
        job_id=job_id,
        array_job_id=array or None,
        array_task_id=_task(given.get("ARRAYTASKID")) if array else None,
        het_job_id=het or None,
        het_offset=_task(given.get("HETJOBOFFSET")) if het else None,
        name=given.get("JOBNAME") or None,
        user=values.known(given.get("USERNAME")),
        uid=values.integer(given.get("UID")),
        gid=values.integer(given.get("GID")),
        account=values.known(given.get("ACCOUNT")),
        partition=values.known(given.get("PARTITION")),
        qos=values.known(given.get("QOS")),
        cluster=values.known(given.get("CLUSTER")),
        state=state,
        cancelled_by=by,
        reason=values.known(given.get("STATEREASONPREV")),
        exit_code=code,
        signal=signal,
        derived_exit_code=derived,
        derived_signal=derived_signal,
        nodes=expand(given.get("NODES")),
        node_count=values.integer(given.get("NODECNT")),
        submit=values.moment(given.get("SUBMIT")),
        start=values.moment(given.get("START")),
        end=values.moment(given.get("END")),
        limit=values.duration(given.get("LIMIT")),
        work_dir=given.get("WORK_DIR") or None,
        stdout=given.get("STDOUT") or None,
        stderr=given.get("STDERR") or None,
        origin=("hook",),
    )


def _task(text: str | None) -> int | None:
    number = values.integer(text)
    return None if number is None or number >= UNSET else number
