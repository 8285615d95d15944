"""The rank ledger: per process group and rank, what is waited for and how far everybody had got.

It is built from facts that rules capture (``collective-timeout``, ``pg-status``, ``fingerprint``,
``lagging``, ``rank-exit``, ``comm-init-*``, ``progress`` …), so a new wording needs a rule, not code.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.groups import DEFAULT_GROUP, group_of, scattered
from triage.diagnosis.ledger.swept import killed_at_last
from triage.diagnosis.ranks.seats import Identities
from triage.model import Value
from triage.text.signals import SIGNALS

ORDERLY = frozenset({"SIGTERM", "SIGINT", "SIGHUP"})
"""Signals by which launchers and schedulers end processes that did nothing wrong."""
FAULTS = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE"})
"""Signals that the kernel raises for what the process itself did; nobody sends them."""
BARRIER_SURVIVOR = "torch.monitored-barrier-survivor"


@dataclass(slots=True, eq=False, repr=False)
class Wait:
    """One rank that timed out in a collective."""

    rank: int
    group: str
    seq: int | None
    op: str | None
    numel_in: int | None
    numel_out: int | None
    timeout: float | None
    elapsed: float | None
    item: Item

    @property
    def onset(self) -> float | None:
        """When the wait began, on the line's own clock: the time of the line minus its duration."""
        time = self.item.finding.time
        if time is None or self.elapsed is None:
            return None
        return time.seconds - self.elapsed


@dataclass(slots=True, eq=False, repr=False)
class Status:
    """How far a process group had got on one rank."""

    enqueued: int
    completed: int
    item: Item


BADLY = "ended-badly"
"""Tag of lines that call a process failed and say neither its exit code nor a signal."""


@dataclass(slots=True, eq=False, repr=False)
class Exit:
    """How a process ended, by the best witness."""

    code: int | None
    signal: str | None
    item: Item
    untold: bool = False
    """True when its launcher saw it end first: whoever sent the signal, it was not the launcher."""
    swept: bool = False
    """True when its launcher killed it at last, because it did not stop when it was told to."""

    @property
    def orderly(self) -> bool:
        """Told to stop, by the launcher or scheduler that was ending the job."""
        return self.swept or (self.signal in ORDERLY and not self.untold)

    @property
    def violent(self) -> bool:
        """Killed or crashed by a signal that nobody sends to end a process in order."""
        return self.signal is not None and not self.orderly

    @property
    def failed(self) -> bool:
        """Ended badly in any way, be it only by the word of its launcher."""
        return self.signal is not None or bool(self.code) or BADLY in self.item.rule.tags

    @property
    def broke(self) -> bool:
        """Ended badly, and not because it was told to."""
        return self.failed and not self.orderly


@dataclass(slots=True, eq=False, repr=False)
class Ledger:
    """What is known of every rank."""

    identities: Identities
    members: tuple[int, ...] = ()
    """The ranks that must exist: 0 … world size - 1, or those that the logs imply when the size is unknown."""
    seen: set[int] = field(default_factory=set)
    waits: dict[str, dict[int, Wait]] = field(default_factory=dict)
    status: dict[str, dict[int, Status]] = field(default_factory=dict)
    exits: dict[int, Exit] = field(default_factory=dict)
    finished: dict[int, Item] = field(default_factory=dict)
    progress: dict[int, Item] = field(default_factory=dict)
    named: list[Item] = field(default_factory=list)
    bereft: dict[int, Item] = field(default_factory=dict)
    """Ranks that lost the connection to another one, so that were at work with it; how they say it first."""
    init_started: dict[str, dict[int, Item]] = field(default_factory=dict)
    init_completed: dict[str, dict[int, Item]] = field(default_factory=dict)
    init_sizes: dict[str, int] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    """What the program calls a group; several groups may share a description."""
    scattered: frozenset[str] = frozenset()
    """Descriptions that stand for several groups, where the lines name no group by its own name; ``UNNAMED`` where they name none."""

    @property
    def missing(self) -> int | None:
        """The one rank of which nothing says that it waited, where all others waited in vain."""
        idle = set(self.members) - set(self.waiting)
        return idle.pop() if self.waiting and len(idle) == 1 else None

    @property
    def waiting(self) -> dict[int, Wait]:
        """Every rank that waits in some group, with its earliest wait."""
        found: dict[int, Wait] = {}
        for ranks in self.waits.values():
            for rank, wait in ranks.items():
                held = found.get(rank)
                if held is None or wait.item.finding.offset < held.item.finding.offset:
                    found[rank] = wait
        return found

    def waits_somewhere(self, rank: int | None) -> bool:
        """Whether a rank waits in any group."""
        return any(rank in ranks for ranks in self.waits.values())

    def status_of(self, rank: int, group: str) -> Status | None:
        """How far ``group`` had got on ``rank``."""
        return self.status.get(group, {}).get(rank)


def build(job: Job, identities: Identities) -> Ledger:
    """The ledger of a job."""
    ledger = Ledger(identities)
    ledger.seen = {i.rank for i in job.items if i.rank is not None} | set(identities.seats)
    size = identities.world_size
    if size is not None and size > 0:
        # a stray number must not make the world smaller than the ranks that were seen
        size = max(size, max(ledger.seen, default=-1) + 1)
        ledger.members = tuple(range(min(size, 65536)))
    else:
        ledger.members = _implied(job, ledger)
    ledger.scattered = scattered(job, identities)
    _statuses(job, ledger)
    _waits(job, ledger)
    _exits(job, ledger)
    for item in job.of_fact("rank-finished"):
        rank = item.number("rank")
        rank = identities.rank_of(item.finding) if rank is None else rank
        if rank is not None:
            ledger.finished[rank] = item
    for item in job.of_fact("progress"):
        rank = identities.rank_of(item.finding)
        if rank is not None:
            ledger.progress[rank] = item
    ledger.named = list(job.of_fact("lagging"))
    for item in (*job.of_tag("peer-loss"), *job.of_rule(BARRIER_SURVIVOR)):
        # the store is lost by whoever still lives when rank 0 ends, wherever in the program it was
        of_store = not {"store-loss", "teardown"}.isdisjoint(item.rule.tags) and not item.finding.raised
        if item.rank is not None and item.rule.role == "symptom" and not of_store:
            ledger.bereft.setdefault(item.rank, item)
    _communicators(job, ledger)
    return ledger


def _implied(job: Job, ledger: Ledger) -> tuple[int, ...]:
    """The ranks that exist though nothing states how many: seen ones, owners of files, gaps between them.

    Ranks are numbered without gaps, so one that is missing between others exists. That it says nothing
    counts only where it had a place to say it: in a file of several ranks around it, or in its own.
    """
    known = ledger.seen | {s.rank for s in job.sources if s.rank is not None}
    for seat in ledger.identities.seats.values():
        if seat.local_rank is not None and 0 < seat.local_rank <= seat.rank:
            known.update(range(seat.rank - seat.local_rank, seat.rank))  # a node counts its ranks from 0
    speakers: dict[int, set[int]] = defaultdict(set)
    for item in job.items:
        if item.rank is not None:
            speakers[item.finding.source].add(item.rank)
    for ranks in speakers.values():
        low, high = min(ranks), max(ranks) + 1
        # rank 0 always exists; a node's own file begins with a higher one
        low = 0 if high < 2 * len(ranks) else low
        if len(ranks) > 1 and high - low < 2 * len(ranks):
            known |= set(range(low, high))
    return tuple(sorted(known | _of_equal_nodes(list(speakers.values()))))


_FEWEST_NODES = 2


def _of_equal_nodes(logs: list[set[int]]) -> set[int]:
    """All ranks of logs of which each is of a node and all nodes have as many, as at least two that are complete tell."""
    size = max(map(len, logs), default=0)
    firsts = {min(ranks) - min(ranks) % size for ranks in logs} if size > 1 else set()
    complete = sum(len(ranks) == size for ranks in logs)
    if len(firsts) < len(logs) or complete < _FEWEST_NODES or firsts != set(range(0, size * len(logs), size)):
        return set()
    if any(min(ranks) // size != max(ranks) // size for ranks in logs):
        return set()
    return set(range(size * len(logs)))


def _rank_of(item: Item, ledger: Ledger) -> int | None:
    rank = ledger.identities.rank_of(item.finding)
    if rank is None and group_of(item) == DEFAULT_GROUP and not ledger.identities.tags_are_local:
        # before torch 2.2 the line itself is the only witness; its rank is local to the group
        rank = item.number("group_rank")
        if rank is not None:
            ledger.seen.add(rank)
    return rank


def _statuses(job: Job, ledger: Ledger) -> None:
    for item in job.of_fact("pg-status"):
        rank = _rank_of(item, ledger)
        enqueued, completed = item.number("enqueued"), item.number("completed")
        if rank is None or enqueued is None or completed is None or not 0 <= enqueued < 1 << 48:
            continue
        group = group_of(item, ledger.scattered, rank)
        if (described := item.text("desc")) is not None:
            ledger.descriptions.setdefault(group, described)
        ranks = ledger.status.setdefault(group, {})
        known = ranks.get(rank)
        # the first statement is closest to the moment of the hang
        if known is None:
            ranks[rank] = Status(enqueued, completed if completed < 1 << 48 else -1, item)


def _waits(job: Job, ledger: Ledger) -> None:
    """Timeouts name no group; the status that the same watchdog prints next does.

    A rank may time out at one sequence number of several groups: its timeouts and statuses pair up in order.
    """
    named: dict[tuple[int, int, int], list[str]] = defaultdict(list)
    for item in job.of_fact("pg-status"):
        rank, seq = _rank_of(item, ledger), item.number("seq")
        if rank is not None and seq is not None:
            groups = named[item.finding.source, rank, seq]
            if (group := group_of(item, ledger.scattered, rank)) not in groups:
                groups.append(group)
    taken: dict[tuple[int, int, int], int] = defaultdict(int)
    for item in job.of_fact("collective-timeout"):
        rank = _rank_of(item, ledger)
        if rank is None:
            continue
        seq = item.number("seq")
        group = group_of(item, ledger.scattered, rank)
        if seq is not None and (groups := named.get(key := (item.finding.source, rank, seq), [])):
            if taken[key] == len(groups):
                continue  # said again
            group = groups[taken[key]]
            taken[key] += 1
        ranks = ledger.waits.setdefault(group, {})
        if rank in ranks:
            continue
        ranks[rank] = Wait(
            rank, group, seq, item.text("op"), item.number("numel_in"), item.number("numel_out"),
            item.seconds("timeout"), item.seconds("elapsed"), item,
        )  # fmt: skip


_OF_WINDOWS = {
    0xC0000005: "SIGSEGV", 0xC00000FD: "SIGSEGV", 0xC0000374: "SIGABRT", 0xC0000409: "SIGABRT", 0xC000001D: "SIGILL",
    0xC0000094: "SIGFPE", 0xC0000006: "SIGBUS", 0xC000013A: "SIGINT",
}  # fmt: skip
"""The status with which Windows ends a process (access violation, stack overflow, broken heap, ...), as signals."""


def signal_of(code: int | None, name: str | None = None) -> str | None:
    """The signal that an exit code or a name stands for: -9, 137 and ``Killed`` are SIGKILL."""
    words = {
        "killed": "SIGKILL", "segmentation fault": "SIGSEGV", "aborted": "SIGABRT", "terminated": "SIGTERM",
        "bus error": "SIGBUS", "floating point exception": "SIGFPE", "illegal instruction": "SIGILL",
        "interrupt": "SIGINT", "hangup": "SIGHUP",
    }  # fmt: skip
    if name:
        lowered = name.strip().lower().removesuffix(" (core dumped)")
        if lowered in words:
            return words[lowered]
        if lowered.isdigit():
            return SIGNALS.get(int(lowered), f"signal {lowered}")
        upper = name.strip().upper()
        return upper if upper.startswith("SIG") else None
    if code is None:
        return None
    if code % 2**32 in _OF_WINDOWS:
        return _OF_WINDOWS[code % 2**32]
    if code < 0:
        return SIGNALS.get(-code, f"signal {-code}")
    if 128 < code < 160 and (code - 128) in SIGNALS:
        return SIGNALS[code - 128]
    return None


def manner(signal: str | None) -> dict[str, Value]:
    """How a signal ends a process, in words for ``ledger.killed``."""
    if signal in FAULTS:
        return {
            "ended": "crashed with",
            "sender": "nobody sends that signal: its own native code, a library's or a driver's, made the fault",
        }
    if signal == "SIGABRT":
        return {
            "ended": "aborted with",
            "sender": "a process sends that signal to itself, after a failed check",
        }
    return {"sender": _SENDERS[signal]} if signal in _SENDERS else {}


_SENDERS = {
    "SIGXCPU": "the kernel sends that signal to who has used the processor time that its limit allows (ulimit -t)",
    "SIGXFSZ": "the kernel sends that signal to who writes beyond the size that its limit allows a file (ulimit -f)",
    "SIGALRM": "a timer sends that signal, which the process itself or whoever started it had set",
}
"""Signals that only one thing sends."""


def _untold(job: Job, item: Item, signal: str | None) -> bool:
    """Whether a launcher reports a process as the first to end, before it told any to stop.

    torchrun's agent may name one that it stopped itself, so there the list of those it told decides.
    """
    if signal not in ORDERLY or "first-failure" not in item.rule.tags or job.of_fact("external-stop"):
        return False
    told = _told_to_end(job, item)
    return item.number("pid") not in told if told else item.rule.id != "torch.agent-worker-failed"


def _told_to_end(job: Job, end: Item) -> set[int | None]:
    """The pids of those that the launcher which saw ``end`` told to end as well."""
    return {i.number("pid") for i in job.of_fact("survivor") if i.finding.source == end.finding.source}


def _exits(job: Job, ledger: Ledger) -> None:
    for item in job.of_fact("rank-exit"):
        code = item.number("exit_code")
        signal = signal_of(code, item.text("signal"))
        ranks = item.ranks("rank") or item.ranks("ranks")
        if not ranks:
            rank = ledger.identities.rank_of_pid(item.number("pid"), item.text("host"))
            if rank is None:
                rank = ledger.identities.rank_of_local(
                    item.number("local_rank"), item.text("host") or item.finding.host, item.finding
                )
            if rank is None and signal is not None and item.text("host") is None:
                rank = ledger.identities.rank_of_dead(item.number("local_rank"), len(_told_to_end(job, item)))
            rank = ledger.identities.rank_of_name(item.text("name")) if rank is None else rank
            rank = ledger.identities.rank_of(item.finding) if rank is None else rank
            ranks = () if rank is None else (rank,)
        for rank in ranks:
            known = ledger.exits.get(rank)
            if known is None or (known.signal is None and signal is not None):
                ledger.exits[rank] = Exit(code, signal, item, _untold(job, item, signal))
    for rank in killed_at_last(job) & ledger.exits.keys():
        ledger.exits[rank].swept = ledger.exits[rank].signal == "SIGKILL"


def _communicators(job: Job, ledger: Ledger) -> None:
    """Init START and COMPLETE per communicator; before NCCL 2.15 there is no START line."""
    sizes: dict[str, int] = {}
    for fact, table in (
        ("comm-init-start", ledger.init_started),
        ("comm-init-complete", ledger.init_completed),
    ):
        for item in job.of_fact(fact):
            size, rank = item.number("nranks"), item.number("comm_rank")
            if size is None or rank is None:
                continue
            key = item.text("comm_id") or f"of {size}"
            sizes[key] = size
            table.setdefault(key, {}).setdefault(rank, item)
    ledger.init_sizes = sizes


def by_group(waits: dict[int, Wait]) -> dict[str, list[Wait]]:
    """Waits by the group they are in."""
    found: dict[str, list[Wait]] = defaultdict(list)
    for wait in waits.values():
        found[wait.group].append(wait)
    return dict(found)
