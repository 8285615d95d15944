"""What a flight-recorder dump says, whatever version of PyTorch wrote it.

Times are nanoseconds since the Unix epoch by the clock of the host that wrote the dump.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["scheduled", "started", "completed"]


@dataclass(frozen=True, slots=True)
class Group:
    """A process group. ``ranks`` are global, in group order; empty when the dump doesn't say."""

    guid: str
    desc: str = ""
    ranks: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """How messages call it: ``tp [0, 1]``."""
        name = self.desc if self.desc not in {"", "undefined"} else f"group {self.guid}"
        return f"{name} {list(self.ranks)}" if 0 < len(self.ranks) <= 16 else name


@dataclass(frozen=True, slots=True)
class Progress:
    """The counters of one group on one rank; None when the recorder did not know."""

    enqueued: int | None = None
    started: int | None = None
    completed: int | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One recorded collective, or one send or receive."""

    record: int
    guid: str
    name: str
    seq: int
    p2p: bool = False
    sender: int | None = None
    """Position of the sending rank within its group, for a send or receive."""
    receiver: int | None = None
    batch: int = 0
    """Sends and receives of one group with the same number were issued together."""
    state: State = "scheduled"
    retired: bool = False
    """The watchdog has let go of it; when it is not completed either, it timed out."""
    created: int | None = None
    timeout: float | None = None
    """Seconds."""
    numel_in: int = 0
    """Elements of all its input tensors together."""
    numel_out: int = 0
    types_in: tuple[str, ...] = ()
    """Types of its input tensors, each once, sorted."""
    types_out: tuple[str, ...] = ()
    where: str | None = None
    """Innermost frames outside of libraries: ``step (model.py:59) called from main (train.py:7)``."""

    @property
    def done(self) -> bool:
        """Did the rank see it complete?"""
        return self.state == "completed"


@dataclass(frozen=True, slots=True)
class Dump:
    """The dump of one rank."""

    name: str
    rank: int | None
    version: str = ""
    library: str = ""
    """Version of the communication library, e.g. ``2.28.9``."""
    groups: Mapping[str, Group] = field(default_factory=dict)
    progress: Mapping[str, Progress] = field(default_factory=dict)
    """By guid; only groups whose counters could be attributed."""
    operations: tuple[Operation, ...] = ()
    """Oldest first. A ring buffer forgets, so they need not begin at the beginning."""
    wrapped: bool = False
    """Older operations are not in the dump: forgotten, or left out because they had completed."""
    active_only: bool = False
    """The dump lists only what had not completed (``TORCH_INCLUDE_ONLY_ACTIVE``)."""
    timed: bool = False
    """The recorder saw kernels start, so ``scheduled`` means that one did not."""
    stacks: bool = False
    """The dump has Python stacks; a rank whose GIL is held can't record them."""
    complete: bool = True
    """False when the file was cut: its latest operations are unknown."""

    @property
    def first_time(self) -> int | None:
        """When its oldest operation was created."""
        return next((op.created for op in self.operations if op.created is not None), None)

    @property
    def last_time(self) -> int | None:
        """When its latest operation was created."""
        return max((op.created for op in self.operations if op.created is not None), default=None)
