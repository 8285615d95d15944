"""Who is where: rank, host, local rank, pid, GPU, PCI bus id, joined from every line that pairs them.

A GPU index is not a rank and a local rank is not a rank; they are joined only where some line, file
name or table states both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.agents import note_agents
from triage.diagnosis.ranks.coordinates import located
from triage.diagnosis.ranks.heard import default_tag, group_tag, own_name
from triage.diagnosis.ranks.hosts import place_daemons, place_logs
from triage.diagnosis.ranks.launchers import unwrapped
from triage.diagnosis.ranks.named import name_processes
from triage.diagnosis.ranks.nodes import (
    SEAT,
    count_nodes,
    first_nodes,
    global_numbers,
    hosts_in_order,
    several_around,
    short,
    within_nodes,
)
from triage.diagnosis.ranks.numbered import clients, number_ranks, wanted
from triage.diagnosis.ranks.pods import note_pods
from triage.diagnosis.ranks.residents import note_residents
from triage.diagnosis.ranks.seats import ORDINAL, Identities, bare
from triage.diagnosis.ranks.spawned import note_spawned
from triage.diagnosis.run import Ends
from triage.model import Finding
from triage.scan.lazy import deferred
from triage.scan.ordinary.selves import Selves
from triage.scan.prefix import split_line
from triage.sources.labels import stem


def identify(job: Job, ends: Ends | None = None) -> Identities:
    """Join everything that pairs ranks with hosts, pids and GPUs."""
    place_logs(job)
    told = ends.selves if ends is not None and (wanted(job) or ends.last_words) else Selves()
    several = several_around(job.items, told.writers)
    said = told.ranks
    job.items = within_nodes(
        global_numbers(
            unwrapped(job.items, {place for place, ranks in said.items() if len(ranks) == 1}, told.writers)
        )
    )
    job.index()
    table = Identities()
    table.introduced = frozenset().union(*said.values())
    table.went_on = ends.went_on if ends is not None else None
    table.world_size = _world_size(job, told.size)
    seats = [seat for _, name in told.writers if (seat := SEAT.fullmatch(name)) and seat[1].isdecimal()]
    job.items = located(
        job.items, table.world_size, {(int(seat[1]), int(seat[2])) for seat in seats}, told.labels
    )
    job.index()
    counted, table.writers = number_ranks(job, table.world_size, told)
    table.world_size = counted if table.world_size is None else table.world_size
    for item in job.items:
        finding = item.finding
        if finding.rank is not None:
            # srun -l and tee prefixes may name a host that only relays: the pairing is still right
            table.note(
                finding.rank, host=finding.host, local_rank=finding.local_rank,
                pid=finding.pid if item.rule.fact != "rank-exit" else None, gpu=finding.gpu,
            )  # fmt: skip
    for item in job.of_fact("identity"):
        _identity(item, table)
    for (_, name), ranks in sorted(said.items()):
        if len(ranks) == 1:
            table.name(name, next(iter(ranks)))
        if len(ranks) == 1 and (process := _PID.fullmatch(name)) is not None:
            table.note(next(iter(ranks)), pid=int(process[1]), host=process[2])
    for fact in ("comm-init-start", "comm-init-complete"):
        for item in job.of_fact(fact):
            _communicator(item, table)
    if not job.of_fact("comm-init-start") and not job.of_fact("comm-init-complete"):
        for item in job.of_fact("channel"):
            _sender(item, table)
    name_processes(job, table, [name for _, name in told.writers])
    for item in job.of_fact("rank-exit"):
        rank = item.number("rank")
        if rank is not None:
            table.note(
                rank, host=item.text("host") or item.finding.host, local_rank=item.number("local_rank"),
                pid=item.number("pid"),
            )  # fmt: skip
    for item in job.of_fact("rendezvous"):
        for rank, local in zip(item.ranks("ranks"), item.ranks("local_ranks"), strict=False):
            table.note(rank, host=item.finding.host, local_rank=local)
    _place_nodes(job, table)
    note_agents(job, table)
    first_nodes(job, table.nodes)
    several = note_spawned(job, table.nodes, table.world_size) or several
    count_nodes(job, table.nodes, table.world_size, several or _scattered(table), table.seats)
    hosts_in_order(job, table.nodes, table.world_size, told.writers)
    listed = {_process(i) for i in job.of_fact("rank-exit") if i.number("rank") is not None}
    started = {i.number("local_rank") for i in job.of_fact("identity") if i.number("rank") is None} - {None}
    for item in (*job.of_fact("identity"), *job.of_fact("rank-exit")):
        pid, own = item.number("pid"), item.number("local_rank")
        if pid is None or own is None or item.number("rank") is not None:
            continue
        if _process(item) in listed:
            continue  # the launcher's table says below which rank of all it is
        owner = table.rank_of_local(own, item.finding.host, item.finding)
        if owner is None and table.single_node and own < (table.world_size or len(started)):
            owner = own  # the launcher itself names every process of the one node
        if owner is not None:
            table.note(owner, host=item.finding.host, local_rank=own, pid=pid)
    place_daemons(job, (*(s.host for s in table.seats.values()), *(i.finding.host for i in job.items)))
    _gpus_of_processes(job, table)
    _pods(job, table)
    for (index, writer), ranks in said.items():
        if not writer and len(ranks) == 1:
            source = job.sources[index]
            name = stem(source.path or source.name)
            table._of_log.setdefault(name, set()).update(ranks)
    table.deserter = _deserter(job, table)
    note_residents(job, table)
    note_pods(job, table, clients(job) if table.world_size is None else table.world_size)
    return table


def _process(item: Item) -> tuple[int, int | None, int | None]:
    """Which process a launcher speaks of: in which log, its pid and its number on its node."""
    return item.finding.source, item.number("pid"), item.number("local_rank")


def _gpus_of_processes(job: Job, table: Identities) -> None:
    """Note the GPU of every rank whose process the driver names beside one GPU only."""
    held: dict[int, set[str]] = {}
    used: dict[str, set[int]] = {}
    for item in job.items:
        pid, pci = item.number("pid"), item.text("pci")
        if pid is not None and pci is not None:
            held.setdefault(pid, set()).add(pci)
            used.setdefault(pci, set()).add(pid)
    for pid, gpus in held.items():
        rank = table.rank_of_pid(pid)
        if rank is None or len(gpus) > 1:
            continue
        pci = next(iter(gpus))
        if {table.rank_of_pid(other) for other in used[pci]} - {None} == {rank}:
            table.note(rank, pci=pci)  # who is no rank had the GPU before, or beside it


def _deserter(job: Job, table: Identities) -> int | None:
    left = job.of_fact("local-peer-left")
    seen = {(i.finding.host, i.number("local_rank")) for i in left}
    # what several processes say alike is one finding, with its first and last line
    witnesses = {split_line(e.text)[0].pid for i in left for e in i.finding.evidence}
    if len(seen) != 1 or len(witnesses) < 2:
        return None  # at a normal end everybody leaves everybody
    ((host, local_rank),) = seen
    rank = table.rank_of_local(local_rank, host)
    return local_rank if rank is None and table.single_node else rank


_PID = deferred(r"pid (\d+)(?:@(\S+))?")


def _pods(job: Job, table: Identities) -> None:
    """One rank per pod and ranks numbered as the pods are: at least two logs must show it, none deny it."""
    pairs = set()
    for source in job.sources:
        if source.rank is not None:
            name = stem(source.path or source.name)
            table._of_log.setdefault(name, set()).add(source.rank)
    for item in job.items:
        source = job.sources[item.finding.source]
        name = source.path or source.name
        if item.finding.rank is None:
            continue
        table._of_log.setdefault(stem(name), set()).add(item.finding.rank)
        found = ORDINAL.search(name)
        if found is not None:
            pairs.add((int(found[1]), item.finding.rank))
    for (_, name), number in table.writers.items():
        if name:  # a container's stands behind that of its pod
            table._of_log.setdefault(bare(name).partition(":")[0], set()).add(number)
    for item in job.of_fact("pod"):
        pod, rank = item.text("pod"), item.number("pod_rank")
        if pod is not None and rank is not None:
            table._of_log.setdefault(pod, set()).add(rank)
    table.pods_are_ranks = len(pairs) >= 2 and all(ordinal == rank for ordinal, rank in pairs)


def _identity(item: Item, table: Identities) -> None:
    pci, uuid, gpu = item.text("pci"), item.text("uuid"), item.number("gpu")
    if pci and uuid:
        table._pci_uuid.setdefault(pci, uuid)
    if pci and gpu is not None:
        table._pci_gpu.setdefault(pci, gpu)
    rank = item.number("rank")
    rank = item.finding.rank if rank is None else rank
    if rank is not None:
        table.note(
            rank, host=item.text("host") or item.finding.host,
            local_rank=item.number("local_rank"), pid=item.number("pid") or item.finding.pid,
            gpu=gpu, pci=pci, uuid=uuid,
        )  # fmt: skip


def _communicator(item: Item, table: Identities) -> None:
    """NCCL ranks are communicator-local: they are global ranks only in a world-sized one."""
    rank, size = item.number("comm_rank"), item.number("nranks")
    if rank is None or size is None or size != table.world_size:
        rank = item.finding.rank
        if rank is None:
            return
    table.note(
        rank, host=item.finding.host, pid=item.finding.pid, gpu=item.number("cuda_dev"),
        pci=item.text("bus_id"),
    )  # fmt: skip


def _sender(item: Item, table: Identities) -> None:
    """Who sends over a channel says so; its number is that of its rank where its GPU has the same, not that in a group."""
    rank = item.number("from_rank")
    if rank is not None and item.text("device") == str(rank):
        table.note(rank, host=item.finding.host, pid=item.finding.pid, gpu=item.finding.gpu)


def _world_size(job: Job, told: int | None) -> int | None:
    """The world size by the most frequent statement, by what the writers say that they are, else by the largest communicator."""
    stated: Counter[int] = Counter()
    for fact in ("world-size", "identity", "rendezvous", "flight-recorder"):
        stated.update(v for v in job.facts(fact, "world_size") if isinstance(v, int) and v > 0)
    if job.receipt is not None:
        launch = job.receipt.get("launch")
        size = launch.get("world_size") if isinstance(launch, dict) else None
        if isinstance(size, int):
            stated[size] += 100
    if stated:
        return stated.most_common(1)[0][0]
    if told is not None:
        return told
    sizes = [
        v for f in ("comm-init-start", "comm-init-complete") for v in job.facts(f, "nranks")
        if isinstance(v, int)
    ]  # fmt: skip
    return max(sizes, default=None)


def _scattered(table: Identities) -> bool:
    """Whether something pairs a rank with another local rank: then nodes come before it."""
    return any(s.local_rank is not None and s.rank != s.local_rank for s in table.seats.values())


def _place_nodes(job: Job, table: Identities) -> None:
    """Note the first rank of every node that some line pairs a rank and a local rank of."""
    table.nodes.pair(
        (i.finding, i.finding.rank, i.finding.local_rank)
        for i in job.items
        if i.finding.rank is not None and i.finding.local_rank is not None
    )
    table.nodes.pair(
        (i.finding, rank, local)
        for i in job.of_fact("rank-exit")
        if (rank := i.number("rank")) is not None and (local := i.number("local_rank")) is not None
    )
    for item in job.of_fact("comm-layout"):
        rank, local = item.number("comm_rank"), item.number("local")
        if rank is not None and local is not None and item.number("nranks") == table.world_size:
            table.note(rank, host=item.finding.host, local_rank=local, pid=item.finding.pid)
    devices: dict[str, set[int]] = {}
    for seat in table.seats.values():
        if seat.host is None:
            continue
        if seat.local_rank is not None:
            table.nodes.note(short(seat.host), seat.rank - seat.local_rank)
        elif seat.gpu is not None:
            devices.setdefault(short(seat.host), set()).add(seat.rank - seat.gpu)
    for host, firsts in devices.items():
        # torch programs take the device of their local rank, unless each sees but one
        numbers = {s.gpu for s in table.seats.values() if s.host is not None and short(s.host) == host}
        if len(firsts) == 1 and numbers != {0} and table.nodes.rank(0, host) is None:
            table.nodes.note(host, firsts.pop())


def _by_tag_alone(finding: Finding, tag: int | None) -> bool:
    """Whether nothing but the number in ``[Rank 3]`` made its writer rank 3."""
    return tag is not None and finding.rank == tag and finding.stream == f"own {tag}"


def _contradictory(items: Iterable[Item]) -> bool:
    """Whether two processes call themselves by one number: they count within groups.

    One process may give up several operations of a group, which lie close together.
    """
    waits: dict[int, dict[int, str | None]] = {}
    for item in items:
        seq = item.number("seq")
        tag = group_tag(item.finding)
        named = item.finding.rank is not None and not _by_tag_alone(item.finding, tag)
        if item.rule.fact != "collective-timeout" or named or seq is None:
            continue
        if tag is not None:
            told = waits.setdefault(tag, {})
            if told.setdefault(seq, item.text("op")) != item.text("op"):
                return True
    return any(max(told) - min(told) > _CLOSE for told in waits.values())


_OF_WORK = frozenset(["phase-start", "phase-end", "progress", "took", "alive"])
"""Facts of work that somebody does who may name himself at the beginning of the line."""
_CLOSE = 8


SPAWNED = "torch.spawn-raised"
_QUOTED = 20_000
"""Bytes within which a process quotes what one that it started has raised."""


def _quoted(item: Item, parent: Item) -> bool:
    """Whether an exception is what ``parent`` says that one of its processes raised."""
    raised, said = item.finding, parent.finding
    return (
        raised.source == said.source and raised.stream == said.stream
        and 0 <= raised.offset - said.offset <= _QUOTED
    )  # fmt: skip


def _called(item: Item, table: Identities) -> int | None:
    """The rank of the actor that Ray says raised it, by its pid or by the number that the program gave it."""
    rank = table.rank_of_pid(item.number("_called_pid"), item.text("_called_host"))
    return item.number("_called_number") if rank is None else rank


def relabel(items: Iterable[Item], table: Identities) -> list[Item]:
    """``items`` with the rank filled in where a pid or a local rank tells it."""
    items = list(items)
    # before torch 2.2 only the message says "[Rank 3]"; elsewhere that number is local to its group
    tagged = any(item.finding.rank is not None for item in items)
    if _contradictory(items):
        table.tags_are_local = True
        items = [
            Item(replace(i.finding, rank=None), i.rule)
            if _by_tag_alone(i.finding, group_tag(i.finding))
            else i
            for i in items
        ]
    found: list[Item] = []
    called = [
        (item, rank) for item in items
        if item.rule.fact == "exception" and item.finding.rank is None
        and (rank := _called(item, table)) is not None
    ]  # fmt: skip
    spawned = [
        (i, i.number("local_rank"))
        for i in items
        if i.rule.id == SPAWNED and i.number("local_rank") is not None
    ]
    for item in items:
        rank = table.rank_of(item.finding) if item.finding.rank is None else None
        if rank is None and item.finding.rank is None and item.finding.raised:
            rank = next(
                (table.rank_of_local(local, item.finding.host, item.finding) for parent, local in spawned if _quoted(item, parent)),
                None,
            )  # fmt: skip
        if rank is None and item.finding.raised and called:
            rank = next((r for raised, r in called if raised is item or inside(item, raised)), None)
        if rank is None and item.finding.rank is None:
            rank = default_tag(item.finding)
        if rank is None and not (tagged or table.tags_are_local) and item.finding.rank is None:
            rank = group_tag(item.finding)
        if rank is None and item.finding.rank is None and item.rule.fact in _OF_WORK:
            rank = own_name(item.finding)
        found.append(item if rank is None else Item(replace(item.finding, rank=rank), item.rule))
    return found
