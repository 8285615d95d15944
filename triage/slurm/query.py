"""Asking Slurm about jobs: ``sacct`` for what happened, ``scontrol`` for where the output went.

One job is asked for as JSON, where ``sacct`` has it, and what that release's JSON lacks (user ids always,
paths in old ones) is filled in from the table. Many jobs are asked for as a table only: formatting options
don't apply to JSON, so it costs some 50 KB a job.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from triage.errors import UsageError
from triage.slurm import sacct_json, sacct_text, scontrol
from triage.slurm.command import Runner, SlurmError, run
from triage.slurm.record import JobRecord

LAG_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between questions while accounting lags behind the end of a job; then what there is counts."""
_JOB_ID = r"\d{1,10}(?:_\d{1,10}|\+\d{1,6})?"
_BATCH = 200


class Slurm:
    """The accounting and the controller of one cluster, through their commands."""

    def __init__(self, runner: Runner = run, sleep: Callable[[float], None] = time.sleep) -> None:
        self._run = runner
        self._sleep = sleep
        self._fields: tuple[str, ...] | None = None

    def job(self, job_id: str, *, pauses: Sequence[float] = LAG_PAUSES) -> tuple[JobRecord, ...]:
        """The last run of the job, of every array task or het component that ``job_id`` names.

        Asks again while a job that the controller calls finished is not in accounting yet, or not as finished.

        Raises:
            SlurmError: when neither command can be asked.
            UsageError: when ``job_id`` is no job id.
        """
        if not re.fullmatch(_JOB_ID, job_id):
            raise UsageError(f"{job_id!r} is no Slurm job id; examples: 1234, 1234_7, 1234+1")
        live = self._controller(job_id)
        done = {job.job_id for job in live if job.over}
        for pause in (*pauses, None):
            jobs = last_runs(self._accounted(job_id))
            missing = done - {job.job_id for job in jobs if job.over}
            if pause is None or not (missing or not (jobs or live)):
                break
            self._sleep(pause)
        return merged(jobs, live)

    def runs(self, job_id: str) -> tuple[JobRecord, ...]:
        """Every run of a job, requeued ones included, oldest first."""
        if not re.fullmatch(_JOB_ID, job_id):
            raise UsageError(f"{job_id!r} is no Slurm job id; examples: 1234, 1234_7, 1234+1")
        return self._table(["--duplicates", "-j", job_id])

    def jobs(self, job_ids: Sequence[int]) -> tuple[JobRecord, ...]:
        """The last runs of many jobs, by raw job id, in as few questions as possible."""
        found: list[JobRecord] = []
        for at in range(0, len(job_ids), _BATCH):
            some = ",".join(str(i) for i in job_ids[at : at + _BATCH])
            found.extend(last_runs(self._table(["--duplicates", "-j", some])))
        return tuple(found)

    def ended_since(self, since: float, until: float | None = None) -> tuple[JobRecord, ...]:
        """All runs that were over between two moments (Unix seconds), of all users that one may see."""
        end = until if until is not None else time.time()
        # without a state sacct selects by eligible time, with states by those that were in them in the window
        window = ["-S", _stamp(since), "-E", _stamp(end), "--allusers", "--duplicates"]
        return tuple(j for j in self._table(window) if j.over and j.end is not None and j.end >= since)

    def controller(self, job_id: int) -> JobRecord | None:
        """What ``scontrol`` still knows about one job."""
        return next(iter(self._controller(str(job_id))), None)

    def _controller(self, job_id: str) -> tuple[JobRecord, ...]:
        try:
            return scontrol.parse(self._run(["scontrol", "show", "job", "-o", job_id]))
        except SlurmError:
            return ()  # the controller forgets jobs after MinJobAge

    def _accounted(self, job_id: str) -> tuple[JobRecord, ...]:
        table = self._table(["--duplicates", "-j", job_id])
        try:
            described = sacct_json.parse(self._run(["sacct", "--json", "--duplicates", "-j", job_id]))
        except SlurmError:
            return table  # no JSON before 21.08, or without the serializer plugin
        rich = {(job.job_id, job.start): job for job in described}
        return tuple(
            job if (more := rich.get((job.job_id, job.start))) is None else job.filled(more) for job in table
        )

    def _table(self, selection: Sequence[str]) -> tuple[JobRecord, ...]:
        wanted = ",".join(self.fields)
        return sacct_text.parse(
            self._run(
                [
                    "sacct",
                    "--parsable2",
                    f"--delimiter={sacct_text.DELIMITER}",
                    "--noconvert",
                    "-o",
                    wanted,
                    *selection,
                ]
            )
        )

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that this release's ``sacct`` has, of those that triage wants."""
        if self._fields is None:
            have = {name.lower() for name in self._run(["sacct", "-e"]).split()}
            self._fields = tuple(f for f in sacct_text.FIELDS if f.lower() in have)
        return self._fields


def last_runs(jobs: Sequence[JobRecord]) -> tuple[JobRecord, ...]:
    """The latest run of each job; ``sacct --duplicates`` lists requeued ones too."""
    latest: dict[int, JobRecord] = {}
    for job in jobs:
        other = latest.get(job.job_id)
        if other is None or (job.submit or 0, job.start or 0) >= (other.submit or 0, other.start or 0):
            latest[job.job_id] = job
    return tuple(latest.values())


def merged(accounted: Sequence[JobRecord], live: Sequence[JobRecord]) -> tuple[JobRecord, ...]:
    """Accounting first, gaps filled by the controller; a job that only one of them knows counts too."""
    known = {job.job_id: job for job in live}
    jobs: list[JobRecord] = []
    for job in accounted:
        other = known.pop(job.job_id, None)
        if other is None:
            jobs.append(job)
        elif not job.over:
            # of a job that is not over the controller knows more: why it is held, above all
            jobs.append(other.filled(job))
        else:
            jobs.append(job.filled(other))
    return (*jobs, *known.values())


def _stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(moment))
