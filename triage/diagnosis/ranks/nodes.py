"""Nodes: how many there are, and which rank comes first on each, so that a local rank can become a global one.

A local rank says nothing about its node. It is joined with a rank only where a line states both, where the
launcher states the node's rank and how many processes a node holds, or where there is one node only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.launchers import LOCAL_RANK
from triage.model import Finding
from triage.scan.lazy import deferred

NOWHERE = frozenset({"localhost", "localhost.localdomain", "127.0.0.1", "::1"})
"""Names that every node has: they say nothing about which one it is."""

_USUAL = 8
"""Processes that a node holds at most, unless it says otherwise; nodes with more GPUs are few."""
_BESIDE_HOST = deferred(r"local_rank(\d+)")
_LATER = deferred(r"(?:task |[^:]+:)0*[1-9]\d*")
"""Writers around a launcher that are not the first of their kind: ``task 1``, ``trainer:1``."""
SEAT = deferred(r"seat (.+):(\d+)")
"""How a writer is called that is known by its host, or the number of it, and its number there."""
_NAMED_BY_ADDRESS = deferred(r"(?i)ip-(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})")
_ADDRESS = deferred(r"\d{1,3}(?:\.\d{1,3}){3}")
_DIGITS = deferred(r"\d+")
_PROCESS = deferred(r"(?:rank|default|local_?rank|pid |seat |lead |own |[A-Z]{2,3})\d|(?:pid|seat|lead|own) ")
"""Names of processes: what stands before their lines is no launcher's."""
_AGENTS = frozenset({"torch.agent-worker-failed", "torch.closing-signal"})
"""What an agent says of its own processes, with its own pid before it."""
_NODE_RANK = ("GROUP_RANK", "NODE_RANK", "MACHINE_RANK", "SLURM_NODEID")
_NODES = ("NNODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
_PER_NODE = ("LOCAL_WORLD_SIZE", "NPROC_PER_NODE")

Place = tuple[int, str]
"""A source, and the writer around the launcher in it."""
_At = str | Place
"""A host, or where its launcher writes."""


@dataclass(slots=True, eq=False, repr=False)
class Nodes:
    """What is known of a job's nodes."""

    single: bool = False
    _first: dict[_At, int | None] = field(default_factory=dict)

    def rank(self, local_rank: int, host: str | None, finding: Finding | None = None) -> int | None:
        """The rank with this local rank on ``host`` or where ``finding`` was written, if its node's first rank is known."""
        places: list[_At] = [] if host is None or host in NOWHERE else [short(host)]
        if finding is not None:
            places.append((finding.source, around(finding)))
        for place in places:
            first = self._first.get(place)
            if first is not None:
                return first + local_rank
        return None

    def note(self, place: _At, first: int) -> None:
        """``first`` is the first rank at ``place``, unless another line says another."""
        if first < 0 or self._first.setdefault(place, first) != first:
            self._first[place] = None

    def first(self, finding: Finding) -> int | None:
        """The first rank of the node in whose log ``finding`` was written, if that is known."""
        return self._first.get((finding.source, around(finding)))

    def places(self, place: _At) -> bool:
        """Whether lines say which rank is the first at ``place``, if they don't agree."""
        return place in self._first

    def pair(self, pairs: Iterable[tuple[Finding, int, int]]) -> None:
        """Join ``(line, rank, local rank)``; lines that nothing wraps may be of several nodes: two must agree."""
        told: dict[tuple[int, str], dict[int, int]] = defaultdict(dict)
        for finding, rank, local_rank in pairs:
            told[(finding.source, around(finding))][local_rank] = rank - local_rank
        for place, firsts in told.items():
            if place[1] or len(firsts) > 1:
                for first in firsts.values():
                    self.note(place, first)

    @property
    def hosts(self) -> dict[str, int]:
        """The first rank of each host that lines place, as far as they agree."""
        return {at: first for at, first in self._first.items() if isinstance(at, str) and first is not None}

    @property
    def firsts(self) -> frozenset[int]:
        """The first ranks of the nodes that are known."""
        return frozenset(first for first in self._first.values() if first is not None)


def short(host: str) -> str:
    """The name of a host without its domain; addresses stay whole."""
    return host if ":" in host or host.replace(".", "").isdigit() else host.partition(".")[0]


def without_numbers(host: str) -> str:
    """How a host is called but for its number, as others of its cluster are."""
    return _DIGITS.sub("#", host)


def also_called(host: str) -> tuple[str, ...]:
    """The short name of a host, and the address or name that goes with one as clouds form them: ``ip-10-0-4-20``."""
    name = short(host)
    address = _NAMED_BY_ADDRESS.fullmatch(name)
    if address is not None:
        return name, ".".join(address.groups())
    return (name, f"ip-{name.replace('.', '-')}") if _ADDRESS.fullmatch(name) is not None else (name,)


def around(finding: Finding) -> str:
    """The writers around the launcher that gave the process its local rank; all of them where it gave none."""
    parts = finding.stream.split("/") if finding.stream else []
    for at, part in enumerate(parts):
        if LOCAL_RANK.fullmatch(part):
            return "/".join(parts[:at])
    return "/".join(part for part in parts if not part.startswith("rank"))


def several_around(items: Iterable[Item], writers: Iterable[tuple[int, str]] = ()) -> bool:
    """Whether more than one launcher handed out local ranks, by what stands before their lines.

    Args:
        writers: sources and names of all that write: who is called as a launcher is, but for a number, has one too.
    """
    named: dict[int, set[str]] = defaultdict(set)
    for source, name in writers:
        named[source].add(name)
    places: dict[int, set[str]] = defaultdict(set)
    for item in items:
        finding = item.finding
        launched = finding.local_rank is not None and any(
            map(LOCAL_RANK.fullmatch, finding.stream.split("/"))
        )
        if launched or (item.rule.fact == "rank-exit" and item.number("local_rank") is not None):
            # the host beside a local rank is counted with the hosts
            outer = around(finding) if launched else finding.stream
            places[finding.source].add("" if outer == finding.host else outer)
    return any(
        len(found) > 1
        or any(map(_LATER.fullmatch, "/".join(found).split("/")))
        or any(_one_of_several(outer, named[source]) for outer in found)
        for source, found in places.items()
    )


def _one_of_several(name: str, writers: Iterable[str]) -> bool:
    """Whether others write under a name that differs from this one in its numbers only: ``ft-0``, ``ft-1``."""
    alike = _DIGITS.sub("#", name)
    return alike != name and any(
        _DIGITS.sub("#", writer) == alike
        for writer in writers
        if writer != name and not _PROCESS.match(writer)
    )


def global_numbers(items: list[Item]) -> list[Item]:
    """``items`` in which the numbers beside hosts are ranks, where they count on from host to host.

    ``[gpu-12:6]:`` is a template, and a few write the global rank there: then no number is on two hosts and one is
    beyond what a node of eight has.
    """
    hosts: dict[int, set[str]] = defaultdict(set)
    for item in items:
        finding = item.finding
        number = _beside_host(finding)
        if number is not None and finding.host is not None:
            hosts[number].add(finding.host)
    spread = {host for found in hosts.values() for host in found}
    if len(spread) < 2 or max(hosts) < _USUAL or any(len(found) > 1 for found in hosts.values()):
        return items
    return [
        item
        if (number := _beside_host(item.finding)) is None or item.finding.rank is not None
        else Item(replace(item.finding, rank=number, local_rank=None), item.rule)
        for item in items
    ]


def within_nodes(items: list[Item]) -> list[Item]:
    """``items`` in which a number that a node's processes have among themselves is no longer taken for a rank.

    ``[1] step 3`` may be of rank 1. In the log of a launcher that tells of ranks 4 to 7, by their local ranks, it is rank 5.
    """
    held: dict[int, dict[int, int]] = defaultdict(dict)
    for item in items:
        rank, local_rank = item.number("rank"), item.number("local_rank")
        if item.rule.fact == "rank-exit" and rank is not None and local_rank is not None:
            held[item.finding.source][rank] = local_rank
    firsts = {
        source: min(seats)
        for source, seats in held.items()
        if len({rank - local_rank for rank, local_rank in seats.items()}) == 1
        and min(seats) == len(seats) * (min(seats) // len(seats)) > 0
    }
    return [
        item
        if (first := firsts.get(item.finding.source)) is None
        or item.rule.fact == "rank-exit"
        or (rank := item.finding.rank) is None
        or rank not in held[item.finding.source].values()
        or rank in held[item.finding.source]
        or item.finding.stream != f"rank{rank}"
        else Item(replace(item.finding, rank=first + rank, local_rank=rank), item.rule)
        for item in items
    ]


def _beside_host(finding: Finding) -> int | None:
    """The number of ``host:3``, as long as nothing else stands for the process."""
    host, _, last = finding.stream.rpartition("/")
    found = _BESIDE_HOST.fullmatch(last)
    return int(found[1]) if found and finding.host and host.endswith(finding.host) else None


def count_nodes(job: Job, nodes: Nodes, world_size: int | None, several: bool, ranks: Iterable[int]) -> None:
    """Decide whether there is one node, and where it began when each node's place in the job is stated."""
    each = per_node(job)
    stated = set(_stated(job, world_size))
    if each is None and world_size and len(stated) == 1:
        each = world_size // max(stated) if world_size % max(stated) == 0 else None
    later = False
    for finding, node_rank in _node_ranks(job):
        later = later or node_rank > 0
        if each is None and node_rank > 0:
            continue
        first = node_rank * (each or 0)
        nodes.note((finding.source, around(finding)), first)
        if finding.host is not None and finding.host not in NOWHERE:
            nodes.note(short(finding.host), first)
    hosts = {
        short(i.finding.host)
        for i in job.items
        if i.finding.host
        and i.finding.host not in NOWHERE
        and (
            i.rank is not None or i.finding.local_rank is not None or i.rule.id == "torch.agent-worker-failed"
        )
    }
    highest = max(ranks, default=0)
    if later or several or any(nodes.firsts) or max(stated, default=1) > 1:
        nodes.single = False
    elif each is not None and world_size is not None and each != world_size:
        nodes.single = world_size < each
    elif stated:
        nodes.single = True
    else:
        nodes.single = len(hosts) <= 1 and max(world_size or 0, highest + 1) <= _USUAL


def first_nodes(job: Job, nodes: Nodes) -> None:
    """Note where the first node's launcher writes: it alone, and rank 0 with others beneath it."""
    agents: dict[tuple[int, str], set[int]] = defaultdict(set)
    ranks: dict[tuple[int, str], set[int]] = defaultdict(set)
    for item in job.items:
        finding = item.finding
        if item.rule.id in _AGENTS and finding.pid is not None:
            agents[finding.source, around(finding)].add(finding.pid)
        elif finding.rank is not None and finding.stream.endswith(f"rank{finding.rank}"):
            ranks[finding.source, around(finding)].add(finding.rank)
    for place, pids in agents.items():
        spoken = ranks.get(place, set())
        if len(pids) == 1 and 0 in spoken and len(spoken) > 1 and max(spoken) < _USUAL:
            nodes.note(place, 0)


def hosts_in_order(
    job: Job, nodes: Nodes, world_size: int | None, writers: Iterable[tuple[int, str]] = ()
) -> None:
    """Note where hosts begin that nothing else places, by the numbers in their names.

    Each is known to hold the same local ranks, and together they are as many as the job has.

    Args:
        writers: sources and names of all that write, whether or not anything that they say is known.
    """
    held: dict[str, set[int]] = defaultdict(set)
    for _, name in writers:
        seat = SEAT.fullmatch(name)
        if seat is not None and not seat[1].isdecimal() and seat[1] not in NOWHERE:
            held[short(seat[1])].add(int(seat[2]))
    for item in job.items:
        host, local_rank = item.finding.host, item.finding.local_rank
        if host is not None and local_rank is not None and host not in NOWHERE:
            held[short(host)].add(local_rank)
    every = set().union(*held.values())
    if not held or every != set(range(len(every))):
        return
    complete = all(found == every for found in held.values())
    if len(held) * len(every) != world_size and not (world_size is None and complete):
        return
    numbers = {host: [int(n) for n in _DIGITS.findall(host)] for host in held}
    if len({_DIGITS.sub("", host) for host in held}) == 1 and not any(map(nodes.places, held)):
        for at, host in enumerate(sorted(held, key=lambda host: numbers[host])):
            nodes.note(host, at * len(every))
        nodes.single = len(held) == 1
    else:
        _the_last_host(nodes, held, len(every))


def _the_last_host(nodes: Nodes, hosts: Iterable[str], each: int) -> None:
    """Note where the one host begins that nothing places, where all others are placed: what they leave is its own."""
    firsts = {host: nodes.rank(0, host) for host in hosts}
    left = set(range(0, each * len(firsts), each)) - set(firsts.values())
    unplaced = [host for host, first in firsts.items() if first is None]
    if len(unplaced) == 1 and len(left) == 1:
        nodes.note(unplaced[0], left.pop())


def _stated(job: Job, world_size: int | None) -> Iterator[int]:
    """Numbers of nodes as launchers, NCCL and the environment state them."""
    for fact in ("rendezvous", "launch"):
        yield from (v for v in job.facts(fact, "nodes") if isinstance(v, int) and v > 0)
    for item in job.of_fact("comm-layout"):
        count, size = item.number("comm_nodes"), item.number("nranks")
        if count is not None and (count > 1 or size == world_size):
            yield count
    for name in _NODES:
        value = job.environment.get(name, "")
        if value.isdecimal() and 0 < len(value) < 6 and int(value) > 0:
            yield int(value)


def per_node(job: Job) -> int | None:
    """How many processes a node holds, where all that state it agree."""
    stated = {v for v in job.facts("launch", "per_node") if isinstance(v, int) and v > 0}
    if job.receipt is not None and isinstance(launch := job.receipt.get("launch"), dict):
        stated |= {v for v in (launch.get("nproc_per_node"),) if isinstance(v, int) and v > 0}
    for item in job.of_fact("env"):
        value = item.text("value") or ""
        if item.text("name") in _PER_NODE and value.isdecimal() and 0 < len(value) < 6:
            stated.add(int(value))
    return stated.pop() if len(stated) == 1 else None


def _node_ranks(job: Job) -> Iterator[tuple[Finding, int]]:
    """Where a node's rank is stated, and which it is; what the agent was given outranks what Slurm counts."""
    for item in (*job.of_fact("rendezvous"), *job.of_fact("launch")):
        number = item.number("group_rank")
        number = item.number("node_rank") if number is None else number
        if number is not None:
            yield item.finding, number
    told: dict[int, tuple[int, Finding, int]] = {}
    for item in job.of_fact("env"):
        name, value = item.text("name"), item.text("value") or ""
        if name in _NODE_RANK and value.isdecimal() and len(value) < 6:
            if name == "SLURM_NODEID" and int(value) == 0:
                continue  # the batch script's, which starts every node's launcher
            entry = (_NODE_RANK.index(name), item.finding, int(value))
            told[item.finding.source] = min(told.get(item.finding.source, entry), entry, key=lambda e: e[0])
    if len(job.sources) > 1 and len(told) == 1:
        # one dump of the environment beside logs that do not say their node: it is theirs
        (_, finding, number), *_ = told.values()
        others = [i for i in range(len(job.sources)) if not _hosted(job, i)]
        yield from ((replace(finding, source=i, stream=""), number) for i in others)
    yield from ((finding, number) for _, finding, number in told.values())


def _hosted(job: Job, source: int) -> bool:
    """Whether a source says by itself which host it is from."""
    return job.sources[source].host is not None or any(
        item.finding.host for item in job.items if item.finding.source == source
    )
