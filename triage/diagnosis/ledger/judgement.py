"""What the ledger says: verdicts as findings of ``ledger.*`` rules.

The rank that times out is a victim. Who is to blame is the rank that is missing, late, in another
operation, or gone; where the lines don't tell, the verdict says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from triage.diagnosis.job import Item, Job, comparable, compare
from triage.diagnosis.ledger.absence import (
    absent_ranks,
    announced,
    onset_text,
    own_way,
    said_last,
    stopped,
    unlocalised,
)
from triage.diagnosis.ledger.bars import outlasted
from triage.diagnosis.ledger.claims import compared_claims
from triage.diagnosis.ledger.lateness import at_work, came_back, came_late, latecomers, too_short
from triage.diagnosis.ledger.ledger import BARRIER_SURVIVOR, DEFAULT_GROUP, Ledger, Wait, by_group
from triage.diagnosis.ledger.models import models_differ
from triage.diagnosis.ledger.oddities import OUTSIDE, left_behind, shown, suspect
from triage.diagnosis.ledger.phases import Activities
from triage.diagnosis.ledger.settings import (
    differing,
    other_layout,
    other_release,
    other_worlds,
    started_otherwise,
)
from triage.diagnosis.ledger.sites import mismatched, odd_site, same_site
from triage.diagnosis.ledger.stacked import apart
from triage.diagnosis.ledger.subgroups import issued_less, silent_members
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.ranks.nodes import NOWHERE
from triage.model import Value

UNEVEN_OPS = frozenset({"ALLTOALL", "ALLTOALL_BASE", "GATHER", "SCATTER", "SEND", "RECV", "COALESCED"})
"""Operations whose element counts may differ between ranks."""
ALL_TO_ALL = frozenset({"ALLTOALL", "ALLTOALL_BASE"})
GLOO_TIMEOUT = "torch.gloo-timeout"
TINY_TIMEOUT = 1.0
"""Seconds below which a timeout says nothing about a collective of a real job."""


def judge(job: Job, ledger: Ledger, activities: Activities) -> list[Item]:
    """The ledger's verdicts, each with the lines that support it."""
    verdicts = list(compared_claims(job))
    verdicts += _named(job, ledger)
    work = outlasted(job, set(ledger.waiting))
    verdicts += _waits(job, ledger, activities) if work is None else [at_work(job, work, ledger.missing)]
    verdicts += _vanished(job, ledger)
    verdicts += _initialisation(job, ledger)
    verdicts += differing(job, ledger)
    verdicts += models_differ(job, ledger)
    verdicts += mismatched(job, ledger)
    verdicts += other_worlds(job)
    verdicts += other_layout(job)
    verdicts += other_release(job)
    verdicts += started_otherwise(job)
    verdicts += _placement(job, ledger)
    return shown(job, verdicts)


def _named(job: Job, ledger: Ledger) -> Iterator[Item]:
    """A desync report or a monitored barrier names the ranks outright."""
    ranks = sorted({rank for item in ledger.named for rank in item.ranks("ranks")})
    if ranks:
        seq = next((s for i in ledger.named if (s := i.number("seq")) is not None), None)
        fields: dict[str, Value] = {"ranks": tuple(ranks), "seq": seq}
        yield verdict(job, "ledger.named-lagging", fields, ledger.named, rank=ranks[0])


def _waits(job: Job, ledger: Ledger, activities: Activities) -> Iterator[Item]:
    waiting = ledger.waiting
    if not waiting:
        yield from _nameless(job, ledger, activities)
        return
    groups = by_group(waiting)
    # several groups wait when one hang spreads: the earliest began it
    order = sorted(groups.values(), key=lambda ws: (min(_onset(w) for w in ws), -len(ws)))
    waits = sorted(order[0], key=lambda w: w.rank)
    tiny = [w for w in waiting.values() if w.timeout is not None and w.timeout < TINY_TIMEOUT]
    if tiny and len(tiny) == len(waiting):
        yield too_short(job, [tiny[0].item], timeout=tiny[0].timeout, seq=tiny[0].seq)
        return
    late = latecomers(ledger)
    if late:
        yield came_late(job, ledger, late)
        return
    odd = _odd_ones(waits)
    if odd is None:
        for others in order[1:]:
            if _contradict(others):
                waits = sorted(others, key=lambda w: w.rank)
                odd = _odd_ones(waits)
                break
    if odd is not None and len(odd) == len(waits):
        # as many went one way as the other: who said that it left the common path did
        guilty = suspect(job, {w.rank for w in waits})
        guilty = _through(job, waits) if guilty is None else guilty
        odd = [w for w in waits if w.rank == guilty] or odd
    if odd is not None:
        yield _desync(job, waits, odd)
        return
    uneven = _uneven_exchange(job, ledger, list(groups.values()))
    if uneven is not None:
        yield uneven
        return
    inside = {r for r in _inside(ledger) if came_back(job, ledger, r) is None}
    members = ledger.members if waits[0].group == DEFAULT_GROUP else ledger.status.get(waits[0].group, {})
    absent = [
        r for r in members
        if (r not in inside and not _entered(ledger, r, waits[0])) or _short_of(ledger, r, waits[0])
    ]  # fmt: skip
    if not absent and waits[0].group != DEFAULT_GROUP:
        absent = [r for r in silent_members(job, ledger, waits[0].group) if r not in inside]
    if not absent and waits[0].group != DEFAULT_GROUP:
        # who belongs to a sub-group is not stated; whoever waits in none holds up the rest in the end
        absent = [r for r in ledger.members if r not in inside and not _entered(ledger, r, waits[0])]
        waits = [*waits, *(w for r, w in sorted(waiting.items()) if w not in waits)]
    if absent:
        found = list(absent_ranks(job, ledger, activities, waits, absent))
        named = any(item.rule.id != "ledger.waiting-unlocalised" for item in found)
        less = None if named else issued_less(job, ledger, waits)
        yield from found if less is None else [less]
    else:
        yield from _none_absent(job, ledger, activities, waits)


def _none_absent(job: Job, ledger: Ledger, activities: Activities, waits: Sequence[Wait]) -> Iterator[Item]:
    """Who kept the others waiting although every rank was in an operation."""
    waiting = ledger.waiting
    guilty = suspect(job, set(ledger.members) | set(waiting))
    loss = None if guilty is None or guilty in waiting else ledger.bereft.get(guilty)
    if guilty is not None and loss is not None and set(ledger.members) <= {guilty, *waiting} and all(
        compare(loss.finding, w.item.finding) == 1 for w in waiting.values()
    ):  # fmt: skip
        # all others waited for as long as they could; it lost them when they had gone
        yield from absent_ranks(job, ledger, activities, waits, [guilty])
        return
    if guilty is not None and _the_first(waits) and not _said_oddly(job, guilty):
        guilty = None  # before the first of all collectives nobody can have left one out
    late = _latecomer(job, ledger)
    if late is not None and guilty in {None, late}:
        yield from absent_ranks(job, ledger, activities, waits, [late])
        return
    astray = odd_site(job, waits, {r: i for r, i in ledger.bereft.items() if r not in waiting})
    if astray is not None and guilty in {None, astray.rank}:
        yield astray
    else:
        yield from _all_inside(job, ledger, waits) if guilty is None else [_own_way(job, waits, guilty)]


def _latecomer(job: Job, ledger: Ledger) -> int | None:
    """The one rank that met the end of all others where they had waited for all of their timeout.

    Had all been in it at a time it would have gone through, and whoever is there from the beginning gives up when the
    others do: they close their connections only later, when their processes end.
    """
    waiting = ledger.waiting
    left = set(ledger.members) - waiting.keys()
    if len(left) != 1 or not waiting or len(ledger.members) != ledger.identities.world_size:
        return None
    if any(w.item.rule.id != GLOO_TIMEOUT for w in waiting.values()):
        return None
    (late,) = left
    loss = ledger.bereft.get(late)
    together = loss is not None and all(same_site(job, w.item, loss) for w in waiting.values())
    return late if together else None


def _through(job: Job, waits: Sequence[Wait]) -> int | None:
    """The one of those that wait whose last words were that it is through."""
    through = [w.rank for w in waits if stopped(job, w.rank) is not None]
    return through[0] if len(through) == 1 else None


def _inside(ledger: Ledger) -> set[int]:
    """The ranks that wait, or that lost a peer before anybody gave up waiting: they were in the operation too."""
    gave_up = [w.item.finding.time for w in ledger.waiting.values() if w.item.finding.time is not None]

    def later(loss: Item) -> bool:
        time = loss.finding.time
        return time is not None and any(comparable(time, t) for t in gave_up) and all(
            time.seconds - t.seconds >= 1.0 for t in gave_up if comparable(time, t)
        )  # fmt: skip

    return set(ledger.waiting) | {rank for rank, loss in ledger.bereft.items() if not later(loss)}


def _vanished(job: Job, ledger: Ledger) -> Iterator[Item]:
    """All ranks but one lost a connection or wait, and that one just stops: nobody else can have closed it."""
    inside = _inside(ledger)
    lost = [item for rank, item in ledger.bereft.items() if rank in inside]
    gone = [r for r in ledger.members if r not in inside]
    if not lost or len(gone) != 1 or job.cut:
        return
    rank = gone[0]
    placed = rank in ledger.seen or any(s.rank == rank for s in job.sources)
    if rank in ledger.finished or (len(inside) < 2 and not placed):
        return
    if any(rank in item.ranks("ranks") for item in ledger.named):
        return  # somebody says that it did not come, not that it went
    if any(wait.item.rule.id == GLOO_TIMEOUT for wait in ledger.waiting.values()):
        return  # gloo closes its connections at once when a process ends: this one was there and silent
    spared = inside <= {r for r, end in ledger.exits.items() if end.failed} and rank in ledger.seen
    if any(end.failed for end in ledger.exits.values()) and (not spared or rank in ledger.exits):
        return  # who reports how ranks ended would have reported this one
    if any(i.rank == rank for i in job.of_rule("torch.group-not-destroyed")):
        return  # that is said on the way out of the interpreter
    for item in job.items:
        spoke = item.rule.role == "cause" or item.rule.fact == "exception"
        if item.rank == rank and (spoke or compare(item.finding, lost[0].finding) == 1):
            return
    word = _last_error(job, rank)
    if word is not None:
        told = {"ranks": (rank,), "type": word.text("type"), "message": word.text("message")}
        yield verdict(job, "ledger.swallowed-exception", told, [word, *lost], rank=rank)
        return
    said = stopped(job, rank)
    if said is None and spared:
        # a launcher lists all that ended badly: who is not among them ended as if all were well
        said = said_last(job, rank)
    if said is not None:
        early: dict[str, Value] = {"ranks": (rank,), "seq": None, "op": None}
        yield verdict(job, "ledger.finished-early", early, [lost[0], said, *lost[1:]], rank=rank)
        return
    fields: dict[str, Value] = {"ranks": (rank,), "others": tuple(sorted(inside))}
    more = {i.rule.id: i for i in reversed(job.of_tag("peer-loss")) if i.rank in inside}
    witnesses = [lost[0], *(i for i in more.values() if i.rule.id != lost[0].rule.id), *lost[1:]]
    yield verdict(job, "ledger.vanished", fields, witnesses, rank=rank)


def _last_error(job: Job, rank: int) -> Item | None:
    """The exception that a rank mentions in its last words, as an error."""
    last = said_last(job, rank)
    told = [
        i for i in job.of_fact("mention")
        if i.rank == rank
        and (i.finding.level in {"error", "fatal"} or last is None or compare(i.finding, last.finding) != -1)
    ]  # fmt: skip
    return max(told, key=lambda i: i.finding.offset, default=None)


def _entered(ledger: Ledger, rank: int, wait: Wait) -> bool:
    """Whether a rank that printed no timeout says elsewhere that it had begun the operation, and not ended it."""
    status = ledger.status_of(rank, wait.group)
    return status is not None and wait.seq is not None and status.completed < wait.seq <= status.enqueued


def _short_of(ledger: Ledger, rank: int, wait: Wait) -> bool:
    """Whether a rank that lost a peer, and does not wait itself, had never begun the operation of the others."""
    status = ledger.status_of(rank, wait.group)
    return (
        rank not in ledger.waiting and rank in ledger.bereft
        and status is not None and wait.seq is not None and status.enqueued < wait.seq
    )  # fmt: skip


def _onset(wait: Wait) -> float:
    onset = wait.onset
    return float("inf") if onset is None else onset


def _signature(wait: Wait) -> tuple[Any, ...]:
    sizes = (None, None) if wait.op in UNEVEN_OPS else (wait.numel_in, wait.numel_out)
    return (wait.seq, wait.op, *sizes)


def _odd_ones(waits: Sequence[Wait]) -> list[Wait] | None:
    """Waits that left the common path; all of them when that can't be told; None when all agree.

    Ranks that are further on passed what the others wait in, so only those at the lowest sequence number
    can be compared with each other: a minority there, or a minority that is there while the rest went on.
    """
    known = sorted({_signature(w) for w in waits}, key=lambda kind: sum(part is None for part in kind))
    # a line that was cut off contradicts nothing: it counts for the first kind that it agrees with
    kinds = {w.rank: next(k for k in known if _agree(_signature(w), k)) for w in waits}
    if len(set(kinds.values())) < 2:
        return None
    lowest = min((kind[0] for kind in kinds.values() if kind[0] is not None), default=None)
    behind = [w for w in waits if kinds[w.rank][0] == lowest]
    ahead = [w for w in waits if kinds[w.rank][0] != lowest]
    camps = Counter(kinds[w.rank] for w in behind)
    if len(camps) == 1:
        if 2 * len(behind) == len(waits):
            return list(waits)
        return behind if 2 * len(behind) < len(waits) else ahead
    # where the camps are of one size, what those further on run shows which operation is the usual one
    support = camps
    if len(set(camps.values())) == 1:
        usual = Counter(w.op for w in ahead)
        support = Counter({kind: usual[kind[1]] for kind in camps})
    (common, votes), second = support.most_common(2)[0], support.most_common(2)[1][1]
    if votes == second:
        return list(waits)
    return [w for w in behind if kinds[w.rank] != common]


def _contradict(waits: Sequence[Wait]) -> bool:
    """Whether members of a group wait in different operations at one sequence number."""
    return any(
        a.seq is not None and a.seq == b.seq and not _agree(_signature(a), _signature(b))
        for a in waits
        for b in waits[:1]
    )


def _uneven_exchange(job: Job, ledger: Ledger, groups: Sequence[Sequence[Wait]]) -> Item | None:
    """An all-to-all in which more is sent than is expected, or less: somebody's split sizes are wrong.

    That can only be told where all ranks wait, so that all members of each group are known.
    """
    if ledger.identities.world_size is None or not set(ledger.members) <= set(ledger.waiting):
        return None
    for waits in groups:
        if len({(w.seq, w.op) for w in waits}) != 1 or waits[0].op not in ALL_TO_ALL or len(waits) < 2:
            continue
        sent, expected = [w.numel_in for w in waits], [w.numel_out for w in waits]
        if None in sent or None in expected or sum(n or 0 for n in sent) == sum(n or 0 for n in expected):
            continue
        fields: dict[str, Value] = {
            "members": tuple(w.rank for w in waits), "seq": waits[0].seq,
            "sent": sum(n or 0 for n in sent), "expected": sum(n or 0 for n in expected),
        }  # fmt: skip
        return verdict(job, "ledger.uneven-exchange", fields, [w.item for w in waits[:4]])
    return None


def _agree(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether nothing that is known of two waits differs."""
    return all(a == b for a, b in zip(one, other, strict=True) if a is not None and b is not None)


def _size(wait: Wait) -> str | None:
    if wait.numel_in is None:
        return None
    if wait.numel_out in {None, wait.numel_in}:
        return f"{wait.numel_in} elements"
    return f"{wait.numel_in} to {wait.numel_out} elements"


def _desync(job: Job, waits: Sequence[Wait], odd: list[Wait]) -> Item:
    if len(odd) == len(waits):
        one, two = waits[0], next(w for w in waits if _signature(w) != _signature(waits[0]))
        fields: dict[str, Value] = {
            "seq": one.seq, "rank_a": one.rank, "op_a": one.op, "size_a": _size(one),
            "rank_b": two.rank, "op_b": two.op, "size_b": _size(two),
            "later": f" at sequence {two.seq}" if two.seq != one.seq else None,
            "site_odd": _site(job, one.rank), "site_rest": _site(job, two.rank),
        }  # fmt: skip
        return verdict(job, "ledger.desync-tie", fields, [one.item, two.item])
    others = [w for w in waits if w not in odd]
    rest = next((w for w in others if w.seq == odd[0].seq), others[0])
    level = rest.seq == odd[0].seq
    moved = "had gone on to" if (rest.seq or 0) > (odd[0].seq or 0) else "are still in"
    fields = {
        "ranks": tuple(w.rank for w in odd if _signature(w) == _signature(odd[0])), "seq": odd[0].seq,
        "op_odd": odd[0].op, "size_odd": _size(odd[0]),
        "rest": f"the others entered {rest.op} ({_size(rest) or 'unknown size'})" if level else
        f"the others {moved} {rest.op} (sequence {rest.seq})",
        "site_odd": _site(job, odd[0].rank), "site_rest": _site(job, rest.rank),
    }  # fmt: skip
    return verdict(job, "ledger.desync", fields, [*(w.item for w in odd[:2]), rest.item], rank=odd[0].rank)


def _the_first(waits: Sequence[Wait]) -> bool:
    """Whether all wait in one operation, the first of their group."""
    return all(w.seq == 1 and w.op == waits[0].op for w in waits)


def _said_oddly(job: Job, rank: int) -> bool:
    """Whether a rank said anything out of the ordinary, and not only something else last of all."""
    return any(i.rank == rank for fact in ("oddity", "deviant") for i in job.of_fact(fact)) or any(
        i.number("caller") == rank for i in job.of_rule(OUTSIDE)
    )


def _own_way(job: Job, waits: Sequence[Wait], rank: int) -> Item:
    """All wait, and nothing that they wait in differs; but one of them said what no other did."""
    return own_way(job, [w.item for w in waits[:3]], _telling(job, rank), seq=waits[0].seq, op=waits[0].op)


def _telling(job: Job, rank: int) -> Item:
    """What sets apart the rank that is to blame."""
    said = (
        [i for i in job.of_rule(OUTSIDE) if i.number("caller") == rank]
        or [i for fact in ("oddity", "deviant") for i in job.of_fact(fact) if i.rank == rank]
        or [i for i in job.of_fact("last-line") if i.rank == rank]
    )
    return said[-1]


def _all_inside(job: Job, ledger: Ledger, waits: Sequence[Wait]) -> Iterator[Item]:
    first = waits[0]
    fields: dict[str, Value]
    known = ledger.identities.world_size is not None and len(waits) >= ledger.identities.world_size
    ended = next((i for i in job.of_fact("ended-well") if compare(i.finding, first.item.finding) == -1), None)
    if ended is not None and len(waits) == 1:
        fields = {"ranks": (first.rank,), "seq": first.seq, "op": first.op}
        yield verdict(job, "ledger.after-the-end", fields, [first.item, ended], rank=first.rank)
        return
    less = issued_less(job, ledger, waits)
    if less is not None:
        yield less
        return
    if not known or len(waits) < 2:
        yield unlocalised(job, waits)
        return
    fields = {"seq": first.seq, "op": first.op, "members": len(waits), "onset": onset_text(first)}
    yield verdict(job, "ledger.all-inside", fields, [w.item for w in waits[:3]])


def _nameless(job: Job, ledger: Ledger, activities: Activities) -> Iterator[Item]:
    """Timeouts whose lines name no rank at all."""
    # a watchdog that ends its process may do so after any error: only waits count here, and whoever was
    # let down in a barrier because a connection closed did not wait
    items = [
        i for i in job.of_tag("collective-timeout")
        if i.rule.role == "symptom"
        and (i.rule.fact == "collective-timeout" or (i.rule.id == BARRIER_SURVIVOR and not job.of_tag("peer-loss")))
    ]  # fmt: skip
    if not items:
        elsewhere = apart(job)
        if elsewhere is not None:
            yield elsewhere
        yield from announced(job, ledger, activities)
        return
    tiny = [t for i in items if (t := i.seconds("timeout")) is not None]
    first = items[0]
    if tiny and max(tiny) < TINY_TIMEOUT:
        yield too_short(job, items, timeout=tiny[0], seq=first.number("seq"))
        return
    behind = left_behind(job)
    if behind is not None and not any(
        i.rank == behind.rank for i in (*job.of_fact("oddity"), *job.of_fact("deviant"))
    ):
        said: dict[str, Value] = {
            "ranks": (behind.rank,), "words": behind.text("words"), "further": behind.text("further"),
        }  # fmt: skip
        yield verdict(job, "ledger.left-behind", said, [items[0], behind, *items[1:]], rank=behind.rank)
        return
    guilty = suspect(job, ledger.seen)
    if guilty is not None and not any(i.rank is not None for i in items):
        yield own_way(job, items[:3], _telling(job, guilty), seq=first.number("seq"), op=first.text("op"))
        return
    fields: dict[str, Value] = {
        "ranks": None if ledger.identities.tags_are_local else tuple(sorted({i.rank for i in items if i.rank is not None})) or None,
        "seq": first.number("seq"), "op": first.text("op"), "elapsed": first.seconds("elapsed"),
    }  # fmt: skip
    yield verdict(job, "ledger.waiting-unlocalised", fields, items)


def _initialisation(job: Job, ledger: Ledger) -> Iterator[Item]:
    """Communicators that not everybody began, or not everybody finished, to initialise."""
    if not (job.of_tag("collective-timeout") or job.of_tag("rank-exit") or job.of_tag("peer-loss")
            or job.of_tag("store-timeout")):  # fmt: skip
        return
    for key, started in ledger.init_started.items():
        size = ledger.init_sizes[key]
        completed = ledger.init_completed.get(key, {})
        if len(completed) >= size or completed.keys() >= started.keys():
            continue
        missing = tuple(sorted(set(range(size)) - started.keys())) if size <= 4096 else ()
        witnesses = list(started.values())
        if missing and len(missing) < size and len(started) > 1:
            fields: dict[str, Value] = {"ranks": missing, "started": len(started), "nranks": size}
            yield verdict(job, "ledger.init-missing", fields, witnesses)
        elif not missing:
            stuck = tuple(sorted(started.keys() - completed.keys()))
            fields = {"ranks": stuck, "nranks": size, "completed": len(completed)}
            yield verdict(job, "ledger.init-incomplete", fields, [started[r] for r in stuck])
        return


def _placement(job: Job, ledger: Ledger) -> Iterator[Item]:
    """Two ranks with one local rank on one host share a GPU: two nodes' launchers ran on one node."""
    seats: dict[tuple[str, int], Item] = {}
    for item in job.of_fact("rank-exit"):
        rank, host, local = item.number("rank"), item.text("host"), item.number("local_rank")
        if rank is None or host is None or local is None or host in NOWHERE:
            continue
        other = seats.setdefault((host, local), item)
        if other.number("rank") != rank:
            ranks = (other.number("rank"), rank)
            fields: dict[str, Value] = {"ranks": ranks, "node": host, "seat": local}
            yield verdict(job, "ledger.ranks-share-gpu", fields, [item, other], host=host)
            return


def _site(job: Job, rank: int) -> str | None:
    """Where ``rank`` called the collective that it waits in, from the watchdog's stack trace."""
    for item in job.of_fact("call-site"):
        if item.rank == rank:
            return f"{item.text('function')} at {item.text('file')}:{item.text('line')}"
    return None
