"""The join table of a job: where each rank runs, and which rank a pid, a pod or a GPU belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from triage.diagnosis.ranks.nodes import (
    NOWHERE,
    Nodes,
    also_called,
    around,
    short,
    without_numbers,
)
from triage.model import Finding, Moment
from triage.scan.lazy import deferred


@dataclass(slots=True, eq=False, repr=False)
class Seat:
    """Where one rank runs, as far as it is known."""

    rank: int
    host: str | None = None
    local_rank: int | None = None
    pid: int | None = None
    gpu: int | None = None
    pci: str | None = None
    uuid: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class Identities:
    """The join table of a job."""

    seats: dict[int, Seat] = field(default_factory=dict)
    world_size: int | None = None
    nodes: Nodes = field(default_factory=Nodes)
    suspect: int | None = None
    """The one rank that said what no other did, where somebody waited or lost a peer."""
    only_failed: int | None = None
    """The one rank whose process ended by itself and badly, when there is exactly one."""
    ended_badly: frozenset[int] = frozenset()
    """The ranks whose processes ended badly by themselves."""
    failed_at: dict[tuple[int, str], int] = field(default_factory=dict)
    """The same by the source, and the writer around the launcher in it, that tell how the processes there ended."""
    own_logs: frozenset[int] = frozenset()
    """Sources in which launchers told how ranks ended, where ranks wrote in all of these; else none."""
    heard: frozenset[int] = frozenset()
    """Ranks that wrote anything."""
    introduced: frozenset[int] = frozenset()
    """Ranks that their processes gave as their own."""
    went_on: Callable[[int, int], frozenset[int]] | None = None
    """The ranks that had more to say in a source behind some offset."""
    out_of_the_loop: tuple[int, ...] = ()
    """The ranks that were through with a part of the work at which all others still were."""
    bereft: frozenset[int] = frozenset()
    """Ranks that lost a peer, or waited for one in vain."""
    missing: int | None = None
    """The one rank of which nothing says that it waited, where all others waited in vain."""
    behind: int | None = None
    """The one rank that did not come as far as all others, by its own lines."""
    first_ended: int | None = None
    """The rank whose process ended before all others, as its launcher tells."""
    deviant: int | None = None
    """The one rank that had said another number or setting than all others, who all raised the same."""
    ended_at: dict[int, Moment] = field(default_factory=dict)
    """When the processes of ranks ended that ended badly by themselves, as their launchers tell."""
    accused: int | None = None
    """The one rank of which the exceptions of others speak."""
    not_finite: int | None = None
    """The one rank whose own numbers ceased to be finite before those of all others."""
    absentee: int | None = None
    """The one rank that never came to the store at which all others were."""
    missed: int | None = None
    """How many never came to the store, whoever they are."""
    deserter: int | None = None
    """The one rank that several others of its node saw go."""
    tags_are_local: bool = False
    """Whether ``[Rank 3]`` of lines that say no more counts within groups."""
    pods_are_ranks: bool = False
    """Whether the logs of pods show that pod N holds rank N and no other."""
    pods: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The ranks of each pod, where the numbers of pods tell them."""
    statuses: dict[str, str] = field(default_factory=dict)
    """What the newest list says of each pod."""
    idle: frozenset[int] = frozenset()
    """The ranks of pods of which a list says that their program does not run."""
    writers: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """The ranks of those who write in a source under a name, or alone."""
    residents: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The ranks of each host of which all are known, by its short name or its address."""
    unplaced: tuple[str, tuple[int, ...]] | None = None
    """The ranks of the one host of which nothing is heard, with the name of all hosts but for their numbers."""
    _by_pid: dict[tuple[str | None, int], int | None] = field(default_factory=dict)
    _by_device: dict[tuple[int, int], int | None] = field(default_factory=dict)
    """The rank on a GPU of a process, which may hold several."""
    _of_log: dict[str, set[int]] = field(default_factory=dict)
    """The ranks that spoke in a log, by the log's name without its endings: mostly that of a pod."""
    _called: set[int] = field(default_factory=set)
    """The ranks of those who are called by any name."""
    _of_name: dict[str, set[int]] = field(default_factory=dict)
    """The ranks of those who are called by a name, in its plain form: ``shard 6`` and ``shard-06`` are the same."""
    _pci_uuid: dict[str, str] = field(default_factory=dict)
    _pci_gpu: dict[str, int] = field(default_factory=dict)

    def seat(self, rank: int) -> Seat:
        """Where ``rank`` runs; an empty seat when nothing says."""
        return self.seats.get(rank) or Seat(rank)

    def note(
        self,
        rank: int,
        *,
        host: str | None = None,
        local_rank: int | None = None,
        pid: int | None = None,
        gpu: int | None = None,
        pci: str | None = None,
        uuid: str | None = None,
    ) -> None:
        """Record what one line pairs with ``rank``; what is known already stays."""
        if host in NOWHERE:
            host = None
        seat = self.seat(rank)
        known = (seat.host, seat.local_rank, seat.pid, seat.gpu, seat.pci, seat.uuid)
        given = (host, local_rank, pid, gpu, pci, uuid)
        merged = [old if old is not None else new for old, new in zip(known, given, strict=True)]
        self.seats[rank] = Seat(rank, *merged)  # type: ignore[arg-type]
        if pid is not None:
            for place in {host, None}:
                if self._by_pid.setdefault((place, pid), rank) != rank:
                    self._by_pid[(place, pid)] = None  # a launcher's, or two nodes count alike
            if gpu is not None and self._by_device.setdefault((pid, gpu), rank) != rank:
                self._by_device[(pid, gpu)] = None

    def rank_of_pid(self, pid: int | None, host: str | None = None) -> int | None:
        """The rank that runs as ``pid``, where a line pairs them."""
        if pid is None:
            return None
        rank = self._by_pid.get((None, pid))
        if host is None or (rank is not None and _incomparable(self.seat(rank).host, host)):
            return rank  # nothing says on which host it runs, or one line calls it by its address
        return self._by_pid.get((host, pid))

    def rank_of_pod(self, pod: str | None) -> int | None:
        """The one rank that spoke from this pod, or whom the pod is named after, such as ``llm-worker-2``."""
        if pod is None:
            return None
        if pod in self.pods:
            return self.pods[pod][0] if len(self.pods[pod]) == 1 else None
        here = {rank for rank, seat in self.seats.items() if seat.host == pod} | self._of_log.get(pod, set())
        if here:
            return here.pop() if len(here) == 1 else None
        found = ORDINAL.search(pod) if pod is not None and self.pods_are_ranks else None
        return int(found[1]) if found is not None else None

    def name(self, name: str, rank: int) -> None:
        """Record that a process is called so: before its lines, or by the name of its log."""
        if name:
            self._of_name.setdefault(_plain(name), set()).add(rank)
            self._called.add(rank)

    def rank_of_name(self, name: str | None) -> int | None:
        """The one rank that is called so."""
        plain = _plain(name or "")
        ranks = self._of_name.get(plain, set())
        if not ranks and self.single_node and (number := _NUMBERED.fullmatch(plain)) is not None:
            # who starts processes has a word for them, where they give their numbers alone
            same = {int(number[1])}
            ranks = self._of_name.get(number[1]) or (same if same <= self._called else set())
        return next(iter(ranks)) if len(ranks) == 1 else None

    @property
    def single_node(self) -> bool:
        """Whether nothing speaks of a second node."""
        return self.nodes.single

    def rank_of_local(
        self, local_rank: int | None, host: str | None = None, finding: Finding | None = None
    ) -> int | None:
        """The rank with this local rank on ``host``, or where ``finding`` was written; on one node they agree."""
        if local_rank is None:
            return None
        for seat in self.seats.values():
            if seat.local_rank == local_rank and (
                host is None or (seat.host and short(seat.host) == short(host))
            ):
                if host is None and not self.single_node:
                    continue
                return seat.rank
        counted = self.nodes.rank(local_rank, host, finding)
        if counted is not None and (self.world_size is None or counted < self.world_size):
            return counted
        if not self.single_node or (self.seats and local_rank not in self.seats):
            return None  # a second node's launcher counts its own ranks from 0
        return local_rank

    def rank_of_dead(self, local_rank: int | None, siblings: int = 0) -> int | None:
        """The rank of a process that died of a signal, on the node on which all ran that are known.

        On a later node than the first all of them would lie between two multiples of its size, which is more than
        the number that its launcher gives, and than the ``siblings`` that it told to end.
        """
        if local_rank is None or not self.single_node:
            return None
        least, most = min(self.seats, default=0), max(self.seats, default=0)
        later = any(least // size == most // size for size in range(max(local_rank, siblings) + 1, least + 1))
        return None if later else local_rank

    def rank_of_writer(self, finding: Finding) -> int | None:
        """The rank of whoever wrote a finding's line, by the name before it or that of its log."""
        name = finding.stream.partition("/")[0]
        return self.writers.get((finding.source, name), self.writers.get((finding.source, "")))

    def ranks_on(self, host: str | None) -> tuple[int, ...]:
        """All ranks that run on ``host``; none where not all of them are known."""
        if host is None or host in NOWHERE:
            return ()
        known = next((name for name in also_called(host) if name in self.residents), None)
        if known is not None:
            return self.residents[known]
        shape, left = self.unplaced or ("", ())
        seated = any(
            seat.host is not None and short(seat.host) == short(host) for seat in self.seats.values()
        )
        return left if without_numbers(short(host)) == shape and not seated else ()

    def gpu_of_pci(self, pci: str | None) -> tuple[int | None, str | None]:
        """``(index, uuid)`` of the GPU at ``pci`` where nvidia-smi or the driver told it."""
        return (None, None) if pci is None else (self._pci_gpu.get(pci), self._pci_uuid.get(pci))

    def alone(self, finding: Finding) -> int | None:
        """The one rank that ended badly by itself where ``finding`` was written by whom no line names.

        Where ranks write in the log of their launcher, who writes another one is none of them.
        """
        if self.own_logs and finding.source not in self.own_logs:
            return None
        here = (
            self.failed_at.get((finding.source, finding.stream))
            if around(finding) == finding.stream
            else None
        )
        if here is None and not finding.stream:
            return self.only_failed
        if finding.rank is None and finding.local_rank is not None and self.only_failed is not None:
            # several nodes have a process of that number; one of these failed
            same = self.seat(self.only_failed).local_rank == finding.local_rank
            return self.only_failed if same else None
        return here

    def rank_of(self, finding: Finding) -> int | None:
        """The global rank of a finding's writer, by the line, its pid or its local rank."""
        if finding.rank is not None:
            return finding.rank
        by_pid = self.rank_of_pid(finding.pid, finding.host)
        if by_pid is not None and self._may_be_there(by_pid, finding):
            return by_pid
        if (
            finding.pid is not None
            and finding.gpu
            and (on := self._by_device.get((finding.pid, finding.gpu))) is not None
        ):
            return on  # one process holds several ranks; threads that chose no device give number 0
        return self.rank_of_local(finding.local_rank, finding.host, finding)

    def _may_be_there(self, rank: int, finding: Finding) -> bool:
        """Whether ``rank`` may run on the node in whose log ``finding`` was written: each node has pids of its own."""
        local_rank, first = self.seat(rank).local_rank, self.nodes.first(finding)
        return local_rank is None or first is None or first + local_rank == rank


def bare(name: str) -> str:
    """A writer's name without the word for how it was learned."""
    return _KIND.sub("", name)


def _plain(name: str) -> str:
    """A name as it may be written elsewhere: without signs between its parts, and without leading zeros."""
    return "".join(
        part.lstrip("0") or "0" if part.isdecimal() else part for part in _PARTS.findall(bare(name).lower())
    )


_NUMBERED = deferred(r"[^\W\d_]+(\d+)")
_KIND = deferred(r"\A(?:lead|own) ")
_PARTS = deferred(r"\d+|[^\W\d_]+")


def _incomparable(one: str | None, other: str) -> bool:
    """Whether two names of hosts may be those of one: one is an address, or not known."""
    return one is None or (_ADDRESS.fullmatch(one) is None) != (_ADDRESS.fullmatch(other) is None)


ORDINAL = deferred(r"(?:^|[-_/])(?:worker|task|trainer|node|ps)-(\d{1,5})(?:\.[a-z]+)*$")
_ADDRESS = deferred(r"\d{1,3}(?:\.\d{1,3}){3}|[\da-f:]*:[\da-f:]+")
