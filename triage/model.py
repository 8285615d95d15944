"""The nouns of triage: what flows from one stage of the engine to the next.

Everything here is frozen and typed and has no behaviour beyond its own. The stages are
described in ``docs/architecture.md``; each takes one of these values and returns another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

Value = str | int | float | bool | None | tuple["Value", ...]
"""A typed captured field. Bytes are ints, durations are float seconds, rank lists are tuples."""

Role = Literal["cause", "symptom", "context", "benign"]
Owner = Literal["user", "operator", "vendor"]
Retry = Literal["as-is", "other-nodes", "after-fix", "never", "unknown"]
Verdict = Literal["failed", "healthy", "inconclusive"]
Phase = Literal["bootstrap", "load", "compile", "steady", "checkpoint", "teardown"]
Level = Literal["debug", "info", "warning", "error", "fatal"]
Clock = Literal["wall", "yearless", "daytime", "uptime"]

PHASES: tuple[str, ...] = ("bootstrap", "load", "compile", "steady", "checkpoint", "teardown")
ROLES: tuple[str, ...] = ("cause", "symptom", "context", "benign")
OWNERS: tuple[str, ...] = ("user", "operator", "vendor")
RETRIES: tuple[str, ...] = ("as-is", "other-nodes", "after-fix", "never", "unknown")
CATEGORIES: tuple[str, ...] = (
    "collective-desync",
    "straggler-or-hang",
    "rank-crash",
    "gpu-oom",
    "gpu-oom-fragmentation",
    "host-oom",
    "rendezvous",
    "network-config",
    "network-fabric",
    "shm",
    "gpu-hardware",
    "driver-or-version",
    "topology",
    "cuda-kernel",
    "compile-or-graph-capture",
    "data-loading",
    "storage",
    "checkpoint",
    "numerics",
    "config",
    "user-code",
    "auth-or-hub",
    "scheduler",
    "port-conflict",
    "watchdog-too-short",
    "unknown",
)
"""The closed list of root-cause categories; ``docs/categories.md`` says what each one means."""


class Moment(NamedTuple):
    """A point in time as a log line states it.

    ``seconds`` counts from the clock's own zero: the Unix epoch reading of the printed
    date for ``wall`` (the printed zone is applied when there is one, else the time is kept
    as printed), the start of an unknown year for ``yearless``, midnight for ``daytime``,
    boot for ``uptime``. Two moments are comparable only when their clocks are.
    """

    seconds: float
    clock: Clock
    zoned: bool = False
    """True when the line named its offset from UTC, so hosts can be compared."""


class Prefix(NamedTuple):
    """What the beginning of a line says about who wrote it and when.

    ``stream`` identifies the writer within one source: lines of one traceback share it.
    ``length`` is the number of characters of the line that belong to the prefix.
    """

    length: int = 0
    stream: str = ""
    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    pid: int | None = None
    gpu: int | None = None
    time: Moment | None = None
    level: Level | None = None
    logger: str | None = None
    """Emitting file or logger where the prefix names it, e.g. ``ProcessGroupNCCL.cpp:689``."""
    stamped: bool = False
    """True when the prefix starts a new log record (a time stamp or a level was there)."""
    clocked: bool = False
    """True when the line begins with nothing but a time, as programs print it and ``ts`` puts it everywhere."""
    recorded: bool = False
    """True when more than such a bare time starts a record: a level, a logger, a second stamp."""
    labels: tuple[tuple[str, int], ...] = ()
    """Parallelism coordinates such as ``(("TP", 3), ("DP", 0))``."""


class ByteStream(Protocol):
    """The part of a binary file object that sources need."""

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to read, with what is known about it before it is read.

    Exactly one of ``path``, ``data`` and ``stream`` says where the bytes are; of a file that was found in another one,
    ``data`` holds them and ``path`` is what it was called. ``name`` is how
    reports call it. ``rank``, ``host`` and ``attempt`` are labels given by the caller or read
    off the file name; they apply to lines that do not say better themselves.
    """

    name: str
    path: str | None = None
    data: bytes | None = None
    stream: ByteStream | None = None
    kind: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    attempt: int | None = None
    above: int = 0
    """Lines that stand above it in the file of which it is a part: its own are counted on from there."""


class Slot(NamedTuple):
    """Which words of its records name their writer, counted from the beginning, or from the end if below 0."""

    first: int
    last: int
    names: frozenset[str]
    """Those under which something is said that others say too."""
    shapes: frozenset[str]
    """What several of them are but for their numbers."""
    before: frozenset[str]
    """What stands before them, without numbers and levels."""
    processes: bool = False
    """Whether all names end in pids."""
    key: str = ""
    """Under which name it stands, if it does so wherever that is."""
    lettered: bool = False
    """Whether a letter for the level follows."""


class Leads(NamedTuple):
    """What a launcher puts before the lines of one source to say whose they are, in words of its own."""

    names: frozenset[str] = frozenset()
    shapes: frozenset[tuple[str, str]] = frozenset()
    """How several of the names are marked off, and what they have in common but for their numbers."""
    mark: re.Pattern[str] | None = None
    """Where the program itself writes which of its processes speaks."""
    base: int = 0
    """The number of the first of them."""
    width: int = 0
    """Of a mark that gives a place in a grid: how many places a row has, negative where ranks run down the columns."""
    pid: re.Pattern[str] | None = None
    """Where it writes its pid."""
    seated: bool = False
    """Whether the names are those of hosts, each with the number of a process there."""
    numbered: bool = False
    """Whether each name is a host's, and the number behind it that of a process there."""
    slot: Slot | None = None
    """Where the lines of a source name their writer, whatever stands around it."""
    same: str = ""
    """What stands before every line."""
    behind: Leads | None = None
    """What stands there behind it."""


@dataclass(slots=True, eq=False, repr=False)
class Block:
    """A stretch of one source, in memory, with enough around it to read messages whole.

    ``data`` holds the bytes; only what ends in ``data[begin:end]`` belongs to this block, the
    rest is context shared with its neighbours. ``offset`` is the position of ``data[0]`` in the
    decompressed source and ``line`` the number (from 1) of the line that ``data[0]`` is in.
    ``leads`` are what has been learned of its lines, None where nobody has tried; ``heard`` are the lines that
    somebody has read, by their positions in the source: text, prefix and message; ``worded`` is how those are worded
    that were found to be statements, None for others, by position and whether a statement may be indented.
    """

    data: bytes
    offset: int
    line: int
    begin: int
    end: int
    last: bool
    leads: Leads | None = None
    heard: dict[int, tuple[str, Prefix, str]] = field(default_factory=dict)
    worded: dict[tuple[int, bool], str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of input that supports a claim.

    ``text`` is the raw line or lines with their prefix, secrets masked, at most 4 KiB.
    ``span`` marks the decisive characters of ``text``.
    """

    path: str
    line: int | None
    text: str
    fields: Mapping[str, Value] = field(default_factory=dict)
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that matched, or a fact that a reader found, with who said it and where.

    Equal findings are folded: ``count`` says how many there were (a lower bound when
    ``sampled``), ``evidence`` keeps the first and, when different, the last.
    """

    rule_id: str
    fields: Mapping[str, Value]
    evidence: tuple[Evidence, ...]
    source: int
    """Index of the source in the run."""
    offset: int
    """Byte offset of the line in the decompressed source; orders findings within a source."""
    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    gpu: int | None = None
    pid: int | None = None
    time: Moment | None = None
    level: Level | None = None
    stream: str = ""
    raised: bool = False
    """True when the line is the message of a raised exception."""
    count: int = 1
    sampled: bool = False
    last_offset: int | None = None
    last_time: Moment | None = None
    labels: tuple[tuple[str, int], ...] = ()


class SourceReport(NamedTuple):
    """What became of one source: how much of it was read, as what, and what went wrong."""

    name: str
    kind: str
    bytes_read: int = 0
    lines: int | None = None
    complete: bool = True
    """False when the source was cut: truncated archive, exhausted budget, read error."""
    note: str | None = None
    rank: int | None = None
    host: str | None = None
    attempt: int | None = None


class Step(NamedTuple):
    """One remediation step: what to do, the command, how to see that it worked, who acts."""

    do: str
    run: str | None = None
    verify: str | None = None
    owner: Owner | None = None


class Discouraged(NamedTuple):
    """Something people habitually try for this failure, and why it does not help."""

    do: str
    why: str


class Origin(NamedTuple):
    """Where the failure began. Unknown parts are None, never guessed.

    ``time`` is ISO 8601 as far as the log tells it, without a zone when the log had none.
    """

    rank: int | None = None
    ranks: tuple[int, ...] = ()
    local_rank: int | None = None
    host: str | None = None
    gpu: int | None = None
    pci_bus_id: str | None = None
    gpu_uuid: str | None = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A candidate root cause: the claim, its evidence, what it explains and what to do."""

    rule_id: str
    title: str
    category: str
    phase: str | None
    confidence: float
    summary: str
    origin: Origin
    evidence: tuple[Evidence, ...]
    explains: tuple[str, ...]
    owner: Owner
    remediation: tuple[Step, ...]
    does_not_help: tuple[Discouraged, ...]
    retry: Retry
    nodes_to_avoid: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why this hypothesis has its rank: one short sentence per consideration."""


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """All findings of one rule, folded for the report."""

    rule_id: str
    title: str
    role: Role
    category: str | None
    count: int
    ranks: tuple[int, ...]
    evidence: tuple[Evidence, ...]
    sampled: bool = False
    explained_by: str | None = None


class RankState(NamedTuple):
    """One row of the rank ledger: the last that is known of one rank."""

    rank: int
    host: str | None = None
    local_rank: int | None = None
    gpu: int | None = None
    pci_bus_id: str | None = None
    gpu_uuid: str | None = None
    pid: int | None = None
    status: str = "seen"
    """seen, timed-out, never-joined, raised, killed, exited, finished, not-seen."""
    group: str | None = None
    sequence: int | None = None
    operation: str | None = None
    elements_in: int | None = None
    elements_out: int | None = None
    enqueued: int | None = None
    started: int | None = None
    completed: int | None = None
    timeout_s: float | None = None
    waited_s: float | None = None
    exit_code: int | None = None
    signal: str | None = None
    last_step: int | None = None
    time: str | None = None
    error: str | None = None


class Event(NamedTuple):
    """One entry of the timeline. ``time`` is None when only the order is known."""

    time: str | None
    rank: int | None
    host: str | None
    what: str
    rule_id: str | None
    path: str
    line: int | None


class Attempt(NamedTuple):
    """One try of a job that its launcher restarted."""

    number: int
    verdict: Verdict
    root_cause: Hypothesis | None
    began: str | None = None
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer."""

    verdict: Verdict
    completed: bool | None
    root_cause: Hypothesis | None
    alternatives: tuple[Hypothesis, ...] = ()
    warnings: tuple[Hypothesis, ...] = ()
    notes: tuple[str, ...] = ()
    findings: tuple[FindingGroup, ...] = ()
    ranks: tuple[RankState, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    timeline: tuple[Event, ...] = ()
    sources: tuple[SourceReport, ...] = ()
    fingerprint: str | None = None
    reasoning: tuple[str, ...] = ()
    """The causal argument, a line each, for ``--explain``."""
    stats: Mapping[str, int | float | str] = field(default_factory=dict)

    # The formats live in triage.report; these doors are imported when somebody goes through them.

    def to_dict(self) -> dict[str, Any]:
        """The published form, as ``docs/schema/diagnosis.schema.json`` describes it."""
        from importlib import import_module

        published: dict[str, Any] = import_module("triage.report.json").to_dict(self)
        return published

    def to_json(self) -> str:
        """The published form as JSON text."""
        return self._render("json")

    def to_markdown(self) -> str:
        """The report as Markdown, for tickets."""
        return self._render("md")

    def to_text(self, *, width: int = 80) -> str:
        """The report as the terminal shows it, without colours."""
        return self._render("text", width=width)

    def attach_to(self, receipt: Any) -> dict[str, Any]:
        """A copy of ``receipt`` (a mapping, a path, an object), masked, with this diagnosis under ``triage``.

        Raises:
            ReceiptError: when it is no receipt.
        """
        from importlib import import_module

        receipts = import_module("triage.receipts")
        return {**receipts.masked(receipts.load_receipt(receipt)), "triage": self.to_dict()}

    def _render(self, format: str, **options: Any) -> str:
        from importlib import import_module

        text: str = import_module("triage.report").render(self, format, **options)
        return text


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader made of one structured source."""

    kind: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    complete: bool = True


def ranks_of(findings: Sequence[Finding]) -> Iterator[int]:
    """The known ranks of some findings, in order of appearance, repeats included."""
    return (f.rank for f in findings if f.rank is not None)
