"""Numbers in the names of files, pods and containers, where what was written under them shows that they are ranks.

``out.6.log``, ``attempt_0/6/stderr.log``, ``train-worker-6`` and ``worker-6  | `` may count ranks, nodes, attempts or
array tasks. They count ranks where the ranks that write there say so by themselves; a pod's number may differ from
its rank by a constant (``master-0`` comes before ``worker-0``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.columns import columns, of_a_later_node, of_one_process, silent_sources
from triage.diagnosis.ranks.containers import (
    hold_several,
    may_be_process,
    numbers_of_pods,
    shift_of_containers,
    without_suffix,
    work_together,
)
from triage.diagnosis.ranks.heard import Heard, Place, listen, outermost
from triage.diagnosis.ranks.in_names import leader_of, numbers_in, without_container
from triage.diagnosis.ranks.introduced import introduced
from triage.diagnosis.ranks.launchers import by_launcher
from triage.model import Source
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.selves import Selves
from triage.sources.grids import seats

_LAUNCHED = deferred(r"/bin/(?:torchrun|accelerate|deepspeed)$|/(?:launcher|launchers|elastic)/")
"""Where the programs are that start the ranks of a node, and meet at a store of their own."""
_SURE = 3
"""Places whose numbers are those that torch itself says there, by which the others' are known."""
_PROCESSES = deferred(
    r"(?i)^(?:lead|own) (?!(?:.*[^a-z])?(?:node|host|machine|server|pod|rack|cn|vm|box)s?[ =_-]?\0\Z)"
    r".*\0(?::(\d{1,5})| [a-z][a-z-]{1,40})?\Z"
)
"""What stands in front of lines and numbers processes, not nodes; a container's name may follow that of its pod."""

_OF_PYTHON = r"^(?:lead|own) (?:Spawn|Fork|ForkServer)?Process-\0\Z"
"""Names that Python gives to the processes that a program starts, which it counts from 1."""
_WORKERS = deferred(r"(?i)(?:^|[^a-z])workers?[._-]?\0")
_MASTER = deferred(r"(?i)(?:^|[^a-z])(?:master|chief|leader)(?:[._-]?0)?(?![a-z0-9])[^/]*\Z")


@dataclass(slots=True, eq=False, repr=False)
class _Family:
    """Places whose names differ in one number only."""

    members: dict[int, list[Place]] = field(default_factory=lambda: defaultdict(list))
    shift: int | None = None
    """What is added to the number to get the rank, once that is known."""


def number_ranks(job: Job, world_size: int | None, told: Selves) -> tuple[int | None, dict[Place, int]]:
    """Fill in the ranks of sources and items that only the number in a name tells, or what is said under it.

    Args:
        told: what the writers say of themselves.

    Returns:
        How many there are by names such as ``w3/12``, None where none say it; and the ranks of the places.
    """
    own = told.ranks
    heard = listen(job)
    for place in told.writers:
        if place[1].startswith(("lead ", "own ")) or any(
            may_be_process(name) for _, name, _ in numbers_in(without_suffix(place[1]))
        ):
            _ = heard[place]  # it writes there, whatever it says
    for place, said in own.items():
        if len(said) == 1 or place[1]:
            heard[place].ranks.update(said)
    families = _families(job, heard)
    size = world_size if world_size is not None else clients(job) or _ended(job)
    aside = silent_sources(job)
    leads = Counter(folder for folder, name in families if _PROCESSES.search(name))
    pods = numbers_of_pods(pod for item in job.items if (pod := item.text("pod")) is not None)
    for (folder, name), family in families.items():
        beside = [f for key, f in families.items() if key[0] == folder and of_one_process(name, key[1])]
        family.shift = _shift(family, heard, size, alone=_alone(family, heard, aside, beside))
        if (
            family.shift is None
            and compiled(_OF_PYTHON).search(name) is not None
            and min(family.members) == 1
        ):
            family.shift = -1
        if family.shift is None and _led(name, family, job, heard):
            family.shift = 1
        if family.shift is None and leads[folder] == 1 and (named := _PROCESSES.search(name)) is not None:
            family.shift = _unspoken(family, heard, named[1])
        if family.shift is None:
            family.shift = _in_containers(name, family, heard, told, size, pods)
    given: dict[Place, set[int]] = defaultdict(set)
    for (folder, _), family in families.items():
        shift = family.shift if family.shift is not None else _by_sisters(folder, family, families, heard)
        if shift is not None:
            for number, places in family.members.items():
                for place in places:
                    given[place].add(number + shift)
    ranks = {place: found.pop() for place, found in given.items() if len(found) == 1}
    placed = seats([source.path or source.name for source in job.sources])
    by_seat = {index: node * held + own_number for index, (node, own_number, held) in placed.items()}
    if all(
        heard[index, ""].ranks <= {rank} and not heard[index, ""].launcher for index, rank in by_seat.items()
    ):
        ranks |= {(index, ""): rank for index, rank in by_seat.items()}
    ranks |= columns(job, heard, aside, size)
    ranks |= introduced(own, heard)
    if not ranks:
        return None, {}
    job.sources = [_labelled(source, ranks.get((i, ""))) for i, source in enumerate(job.sources)]
    job.items = [_placed(item, ranks) for item in job.items]
    job.index()
    sizes = {_size_of(name, family) for (_, name), family in families.items() if family.shift is not None}
    return sizes.pop() if len(sizes) == 1 else None, ranks


def _size_of(name: str, family: _Family) -> int | None:
    """How many processes there are by what stands behind the numbers of all."""
    named = _PROCESSES.search(name)
    size = int(named[1]) if named is not None and named[1] is not None else None
    return size if size is not None and max(family.members) + (family.shift or 0) < size else None


def wanted(job: Job) -> bool:
    """Whether something that matters was said: by whom the line may not tell, nor who else there is."""
    return any(
        i.rule.role in {"cause", "symptom"} or i.rule.fact in {"exception", "stack"} for i in job.items
    )


def clients(job: Job) -> int | None:
    """How many processes a store or service waits for that the ranks themselves set up, not their launchers."""
    waits = [*job.of_rule("torch.store-clients-missing"), *job.of_rule("jax.registration-timeout")]
    sizes = {size for item in waits if (size := item.number("expected")) is not None}
    if len(sizes) != 1 or any(by_launcher(item) for item in job.items):
        return None
    traced = [i for i in job.of_fact("exception") if any(i.finding.source == w.finding.source for w in waits)]
    return None if any(_LAUNCHED.search(i.text("file") or "") for i in traced) else sizes.pop()


def _ended(job: Job) -> int | None:
    """How many ranks launchers saw end, if those are all from 0 on."""
    ranks = {rank for item in job.of_fact("rank-exit") if (rank := item.number("rank")) is not None}
    return len(ranks) if len(ranks) >= _SURE and ranks == set(range(len(ranks))) else None


def _labelled(source: Source, rank: int | None) -> Source:
    return source if rank is None or source.rank is not None else replace(source, rank=rank)


def _placed(item: Item, ranks: dict[Place, int]) -> Item:
    finding = item.finding
    if finding.rank is not None or finding.labels or by_launcher(item):
        return item
    for place in (
        (finding.source, finding.stream.partition("/")[0]),
        (finding.source, outermost(finding.stream)),
        (finding.source, ""),
    ):
        if place in ranks:
            return Item(replace(finding, rank=ranks[place]), item.rule)
    return item


def _families(job: Job, heard: dict[Place, Heard]) -> dict[tuple[str, str], _Family]:
    """Places by their folder and their name without one of its numbers; only those with two numbers or more."""
    found: dict[tuple[str, str], _Family] = defaultdict(_Family)
    called: dict[tuple[str, str], Place] = {}
    for index, source in enumerate(job.sources):
        if source.rank is None:
            path = without_suffix(source.path or source.name)
            for folder, name, number in numbers_in(path):
                found[folder, name].members[number].append((index, ""))
                called[folder, path.removeprefix(f"{folder}/")] = (index, "")
    for place in heard:
        if place[1] and not place[1].startswith("seat "):  # numbers on hosts are no ranks
            for _, name, number in numbers_in(without_suffix(place[1])):
                found[f"<{place[0]}>", name].members[number].append(place)
                called[f"<{place[0]}>", without_container(without_suffix(place[1]))] = place
    led: set[tuple[str, str]] = set()
    pods: set[Place] = set()
    for (folder, name), family in found.items():
        leader = called.get((folder, leader_of(name) or ""))
        if leader is not None and min(family.members) == 1:
            family.members[0].append(leader)
            led.add((folder, name))
            pods.update(place for places in family.members.values() for place in places)
    for key in found.keys() - led:
        if any(place in pods for places in found[key].members.values() for place in places):
            del found[key]  # the number of the group
    return {key: family for key, family in found.items() if len(family.members) > 1}


def _alone(
    family: _Family,
    heard: Mapping[Place, Heard],
    aside: frozenset[int],
    others: Sequence[_Family] = (),
) -> bool:
    """Whether all that speak are of one family of sources, and each number stands for one of them.

    Args:
        aside: sources in which no rank writes.
    """
    speaking = {place[0] for place in heard} - aside
    places = [place for found in family.members.values() for place in found if not place[1]]
    if len(places) != len(family.members):
        return False
    # standard output and error of the same processes
    alike = [f for f in others if f is not family and f.members.keys() >= family.members.keys()]
    places += [place for other in alike for found in other.members.values() for place in found]
    return speaking <= {place[0] for place in places}


def _led(name: str, family: _Family, job: Job, heard: dict[Place, Heard]) -> bool:
    """Whether the family are the workers of a master: all other sources are its own, and it comes before them as rank 0."""
    if _WORKERS.search(name) is None or sorted(family.members) != list(range(len(family.members))):
        return False
    workers = {place for found in family.members.values() for place in found}
    others = [*(set(range(len(job.sources))) - {index for index, _ in workers} - silent_sources(job))]
    names = [job.sources[index].path or job.sources[index].name for index in others]
    if len(workers) != len(family.members) or len(others) != 1 or _MASTER.search(names[0]) is None:
        return False
    said = [heard[place] for place in (*workers, (others[0], "")) if place in heard]
    silent = not any(at.ranks or at.tags or at.local_ranks or at.launcher for at in said)
    return silent and any(at.met for at in said)


def _shift(family: _Family, heard: dict[Place, Heard], world_size: int | None, *, alone: bool) -> int | None:
    """What makes ranks of a family's numbers, None where they are or may be something else.

    Args:
        alone: whether nobody else writes anywhere.
    """
    numbers = sorted(family.members)
    shifts: dict[int, int] = {}
    tags: dict[int, set[int]] = defaultdict(set)
    peers = launched = met = False
    for number, places in family.members.items():
        ranks: set[int] = set()
        for place in places:
            at = heard.get(place)
            if at is None:
                continue
            if len(at.local_ranks) > 1 or (at.launcher and len(at.ranks) != 1):
                return None
            launched = launched or at.launcher
            met = met or at.met
            ranks |= at.ranks
            tags[number] |= at.tags | at.local_ranks
            peers = peers or at.peers
        if len(ranks) > 1:
            return None
        if ranks:
            shifts[number] = ranks.pop() - number
    if len(set(shifts.values())) > 1:
        return None
    from_zero = numbers == list(range(len(numbers)))
    if not shifts:
        tagged = {number: told for number, told in tags.items() if told}
        agree = len(tagged) > 1 and all(told == {number} for number, told in tagged.items())
        if agree and len(tagged) >= _SURE:
            return 0  # one that is missing among them printed nothing that is known
        if any(told != {number} for number, told in tagged.items()):
            return of_a_later_node(tagged, len(numbers)) if from_zero else None
        return 0 if from_zero and (agree or len(numbers) == world_size or (met and alone)) else None
    number, shift = next(iter(shifts.items()))
    alone = shift == 0 and from_zero and (number > 0 or peers)
    return shift if len(shifts) > 1 or (alone and not launched) else None


def _unspoken(family: _Family, heard: Mapping[Place, Heard], size: str | None) -> int | None:
    """0 where somebody numbered processes from 0 on in front of their lines, and none of them says anything of its rank.

    ``(1/4)`` to ``(4/4)`` count from 1.
    """
    numbers = sorted(family.members)
    places = [heard[place] for found in family.members.values() for place in found if place in heard]
    silent = not any(at.ranks or at.local_ranks or at.launcher for at in places)
    tagged = all(
        at.tags <= {number} for number, found in family.members.items() for p in found if (at := heard.get(p))
    )
    if silent and numbers == list(range(1, len(numbers) + 1)) and str(len(numbers)) == size:
        return -1
    return 0 if silent and tagged and numbers == list(range(len(numbers))) else None


def _in_containers(
    name: str,
    family: _Family,
    heard: Mapping[Place, Heard],
    told: Selves,
    size: int | None,
    pods: frozenset[int],
) -> int | None:
    """What makes ranks of the numbers of containers that say nothing of ranks, one process each."""
    places = {place for found in family.members.values() for place in found}
    sources = {index for index, _ in places}
    if len(sources) != 1 or len(places) != len(family.members):
        return None
    said = [heard[place] for place in places if place in heard]
    if any(at.ranks or at.tags or at.local_ranks or at.launcher or at.host for at in said):
        return None
    if hold_several(at.raised for at in said) or 2 * len(told.doubled & places) >= len(places):
        return None
    if not work_together(name, sum(at.trouble for at in said), size):
        return None
    others = {writer for index, writer in told.writers if index in sources and writer} - {
        w for _, w in places
    }
    return shift_of_containers(name, family.members, others, size, pods)


def _by_sisters(
    folder: str, family: _Family, families: dict[tuple[str, str], _Family], heard: dict[Place, Heard]
) -> int | None:
    """The shift of a family that says nothing itself, beside one of the same numbers: standard output and error."""
    if any(heard[p].ranks or heard[p].launcher for ps in family.members.values() for p in ps if p in heard):
        return None
    shifts = {
        other.shift
        for (place, _), other in families.items()
        if place == folder
        and other.shift is not None
        and (family.members.keys() <= other.members.keys() or _complete(family, other))
    }
    shift = shifts.pop() if len(shifts) == 1 else None
    said = {
        (number, tag)
        for number, at in family.members.items()
        for p in at
        if p in heard
        for tag in heard[p].tags
    }
    return None if shift is None or any(number + shift != tag for number, tag in said) else shift


def _complete(family: _Family, part: _Family) -> bool:
    """Whether ``family`` has all the numbers from 0 on, and ``part`` lacks some of them: those wrote nothing there."""
    return family.members.keys() >= part.members.keys() and sorted(family.members) == list(
        range(len(family.members))
    )
