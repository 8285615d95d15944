"""What Slurm knows about one job: its accounting record with steps, wherever the facts came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

FINAL_STATES = frozenset(
    [
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "LAUNCH_FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REQUEUED",
        "REVOKED",
        "SPECIAL_EXIT",
        "TIMEOUT",
    ]
)
"""States in which this run of the job is over."""
UNSET = 4294967294
"""NO_VAL: how Slurm prints a number that is not set, an array task id for one."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step: ``batch``, ``extern`` or a number. Times are Unix seconds, sizes bytes."""

    id: str
    name: str | None = None
    state: str | None = None
    cancelled_by: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    nodes: tuple[str, ...] = ()
    tasks: int | None = None
    start: float | None = None
    end: float | None = None
    max_rss: int | None = None
    max_rss_node: str | None = None
    max_rss_task: int | None = None
    stdout: str | None = None
    stderr: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the step itself ended badly."""
        return bool(self.exit_code or self.signal) or (
            self.state is not None and self.state not in {"COMPLETED", "RUNNING", "PENDING"}
        )


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One run of one job (array task, het component). What is unknown is None or empty."""

    job_id: int
    array_job_id: int | None = None
    array_task_id: int | None = None
    het_job_id: int | None = None
    het_offset: int | None = None
    name: str | None = None
    user: str | None = None
    uid: int | None = None
    gid: int | None = None
    account: str | None = None
    partition: str | None = None
    qos: str | None = None
    cluster: str | None = None
    state: str | None = None
    cancelled_by: int | None = None
    """Who ran scancel, as a user id; 0 is an administrator or Slurm itself."""
    flags: tuple[str, ...] = ()
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    derived_exit_code: int | None = None
    derived_signal: int | None = None
    nodes: tuple[str, ...] = ()
    node_count: int | None = None
    failed_node: str | None = None
    submit: float | None = None
    start: float | None = None
    end: float | None = None
    elapsed: float | None = None
    limit: float | None = None
    """Time limit in seconds."""
    tres: Mapping[str, int] = field(default_factory=dict)
    """What was allocated: ``{"cpu": 16, "gres/gpu": 8, "mem": bytes}``."""
    memory_requested: str | None = None
    restarts: int | None = None
    work_dir: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    submit_line: str | None = None
    admin_comment: str | None = None
    steps: tuple[StepRecord, ...] = ()
    origin: tuple[str, ...] = ()
    """Where the facts came from: ``sacct``, ``scontrol``, ``hook``; the one that wins first."""

    @property
    def display_id(self) -> str:
        """The id as ``sacct`` prints it: ``12``, ``12_3`` for array tasks, ``12+1`` for het components."""
        if self.array_job_id and self.array_task_id is not None:
            return f"{self.array_job_id}_{self.array_task_id}"
        if self.het_job_id and self.het_offset is not None:
            return f"{self.het_job_id}+{self.het_offset}"
        return str(self.job_id)

    @property
    def over(self) -> bool:
        """Whether this run has ended, as far as its state tells."""
        return self.state in FINAL_STATES

    @property
    def gpus(self) -> int:
        """Number of GPUs that were allocated."""
        if "gres/gpu" in self.tres:
            return self.tres["gres/gpu"]
        return sum(count for name, count in self.tres.items() if name.startswith("gres/gpu:"))

    @property
    def seconds(self) -> float:
        """How long it ran; 0 when it never did or that is unknown."""
        if self.elapsed is not None:
            return self.elapsed
        if self.start and self.end:
            return max(0.0, self.end - self.start)
        return 0.0

    @property
    def gpu_hours(self) -> float:
        """GPU-hours that the run occupied."""
        return self.gpus * self.seconds / 3600

    def filled(self, other: JobRecord) -> JobRecord:
        """This record with what it does not know taken from ``other``, another view of the same run."""
        gaps = {
            f.name: getattr(other, f.name)
            for f in fields(self)
            if f.name != "origin" and getattr(self, f.name) in (None, (), {})
        }
        return replace(self, **gaps, origin=tuple(dict.fromkeys([*self.origin, *other.origin])))
