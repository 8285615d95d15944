"""What the ledger says: verdicts as findings of ``ledger.*`` rules.

The rank that times out is a victim. Who is to blame is the rank that is missing, late, in another
operation, or gone; where the lines don't tell, the verdict says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triage.diagnosis.job import Item, Job, comparable, compare
from triage.diagnosis.ledger.absence import (
    absent_ranks,
    announced,
    nameless_waits,
    onset_text,
    own_way,
    stopped,
    unlocalised,
    without_swept,
)
from triage.diagnosis.ledger.bars import outlasted
from triage.diagnosis.ledger.beginnings import initialisation, placement
from triage.diagnosis.ledger.claims import compared_claims
from triage.diagnosis.ledger.desync import (
    aside,
    contradict,
    desync,
    odd_ones,
    one_sided,
    pairwise,
    uneven_exchange,
    unlike_others,
)
from triage.diagnosis.ledger.entangled import entangled
from triage.diagnosis.ledger.first_use import at_first_use
from triage.diagnosis.ledger.groups import DEFAULT_GROUP, UNNAMED
from triage.diagnosis.ledger.lateness import at_work, came_back, came_late, latecomers, too_short
from triage.diagnosis.ledger.ledger import BARRIER_SURVIVOR, Ledger, Wait, by_group
from triage.diagnosis.ledger.left_first import left_first, left_quietly
from triage.diagnosis.ledger.models import models_differ
from triage.diagnosis.ledger.oddities import OUTSIDE, left_behind, shown, suspect
from triage.diagnosis.ledger.phases import Activities
from triage.diagnosis.ledger.settings import (
    differing,
    other_layout,
    other_nccl,
    other_release,
    other_worlds,
    out_of_step,
    started_otherwise,
)
from triage.diagnosis.ledger.sites import mismatched, odd_site, same_site
from triage.diagnosis.ledger.stacked import apart
from triage.diagnosis.ledger.subgroups import issued_alone, issued_less, silent_members, waited_for
from triage.diagnosis.ledger.undertaken import undertaken
from triage.diagnosis.ledger.vanished import GLOO_TIMEOUT, inside_ranks, left_over, vanished
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Moment, Value

TINY_TIMEOUT = 1.0
"""Seconds below which a timeout says nothing about a collective of a real job."""


def judge(job: Job, ledger: Ledger, activities: Activities) -> list[Item]:
    """The ledger's verdicts, each with the lines that support it."""
    verdicts = list(compared_claims(job, ledger.identities.world_size))
    verdicts += _named(job, ledger)
    work = outlasted(job, set(ledger.waiting))
    verdicts += (
        _waits(job, ledger, activities) if work is None else [at_work(job, work, _missed(job, ledger))]
    )
    verdicts += vanished(job, ledger)
    verdicts += left_over(job, ledger)
    verdicts += left_first(job)
    verdicts += left_quietly(job, ledger)
    verdicts += initialisation(job, ledger)
    verdicts += differing(job, ledger)
    verdicts += models_differ(job, ledger)
    verdicts += mismatched(job, ledger)
    verdicts += [*other_worlds(job), *other_layout(job)]
    verdicts += out_of_step(job, ledger)
    verdicts += [*other_release(job), *other_nccl(job)]
    verdicts += started_otherwise(job)
    verdicts += placement(job, ledger)
    verdicts += list(undertaken(job, ledger, verdicts))
    return shown(job, verdicts)


def _missed(job: Job, ledger: Ledger) -> int | None:
    """The one rank of which nothing says that it waited, or for which all others waited in a monitored barrier."""
    awaited = {item.number("coordinator") for item in job.of_rule(BARRIER_SURVIVOR)} - {None}
    if ledger.missing is not None or len(awaited) != 1:
        return ledger.missing
    (rank,) = awaited
    return None if ledger.waits_somewhere(rank) else rank


def _named(job: Job, ledger: Ledger) -> Iterator[Item]:
    """A desync report or a monitored barrier names the ranks outright."""
    ranks = sorted({rank for item in ledger.named for rank in item.ranks("ranks")})
    if ranks:
        seq = next((s for i in ledger.named if (s := i.number("seq")) is not None), None)
        fields: dict[str, Value] = {"ranks": tuple(ranks), "seq": seq}
        yield verdict(job, "ledger.named-lagging", fields, ledger.named, rank=ranks[0])
    elif ledger.named:
        # the barrier counts within a group of which nobody tells who is in it
        yield verdict(job, "ledger.waiting-unlocalised", {"ranks": None}, ledger.named)


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
    odd = odd_ones(waits)
    if odd is None:
        # a rank may wait in several groups: any of them may show that its members are at odds
        for others in (*order[1:], *(list(ranks.values()) for ranks in ledger.waits.values())):
            if contradict(others):
                waits = sorted(others, key=lambda w: w.rank)
                odd = odd_ones(waits)
                break
    if odd is not None and len(odd) == len(waits):
        # as many went one way as the other: who said that it left the common path did
        guilty = suspect(job, {w.rank for w in waits})
        guilty = _through(job, waits) if guilty is None else guilty
        odd = (
            unlike_others(ledger, waits) or [w for w in waits if w.rank == guilty] or aside(job, waits) or odd
        )
    if odd is not None and len(odd) == len(waits) and _let_down(ledger, waits):
        odd = None
    if odd is not None:
        yield desync(job, waits, odd)
        return
    unmet = one_sided(job, ledger)
    if unmet is None and all(w.seq is None for w in waits):
        unmet = issued_alone(job, ledger)  # what they wait in has no numbers; other groups may tell more
    if unmet is not None:
        yield unmet
        return
    uneven = uneven_exchange(job, ledger, list(groups.values()))
    if uneven is not None:
        yield uneven
        return
    crossed = entangled(job, ledger)
    if crossed is not None:
        yield crossed
        return
    inside = {r for r in inside_ranks(ledger) if came_back(job, ledger, r) is None}
    members = ledger.members if waits[0].group == DEFAULT_GROUP else ledger.status.get(waits[0].group, {})
    absent = [
        r for r in members
        if (r not in inside and (pairwise(waits) or not _entered(ledger, r, waits[0]))) or _short_of(ledger, r, waits[0])
    ]  # fmt: skip
    if waits[0].group.startswith(UNNAMED):
        waits, absent = waited_for(ledger, waits, inside)
        if not absent and len(ledger.members) > 2 * len(waiting):
            yield unlocalised(job, waits)  # of a few groups, whose members are not told
            return
    elif not absent and waits[0].group != DEFAULT_GROUP:
        absent = [r for r in silent_members(job, ledger, waits[0].group) if r not in inside]
    if not absent and waits[0].group != DEFAULT_GROUP:
        # who belongs to a sub-group is not stated; whoever waits in none holds up the rest in the end
        absent = [r for r in ledger.members if r not in inside and not _entered(ledger, r, waits[0])]
        waits = [*waits, *(w for r, w in sorted(waiting.items()) if w not in waits)]
    absent = without_swept(ledger, absent)
    if len(absent) == 1 and absent[0] in ledger.bereft:
        # it lost the others when they had gone: in a call of its own, or on its way to theirs
        astray = odd_site(job, waits, ledger.bereft)
        if astray is not None and astray.rank == absent[0]:
            yield astray
            return
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
    if guilty is not None and loss is not None and _spoke_when_over(job, guilty, waiting):
        yield from absent_ranks(job, ledger, activities, waits, [guilty])
        return
    if guilty is not None and _the_first(waits) and not _said_oddly(job, guilty):
        guilty = None  # before the first of all collectives nobody can have left one out
    late = _latecomer(job, ledger)
    if late is not None and guilty in {None, late}:
        yield from absent_ranks(job, ledger, activities, waits, [late])
        return
    astray = odd_site(job, waits, {r: i for r, i in ledger.bereft.items() if r not in waiting})
    if astray is not None and not any(i.number("caller") == guilty for i in job.of_rule(OUTSIDE)):
        yield astray  # where a rank was counts for more than what another one said out of the ordinary
    else:
        yield from _all_inside(job, ledger, waits) if guilty is None else [_own_way(job, waits, guilty)]


def _spoke_when_over(job: Job, rank: int, waiting: Mapping[int, Wait]) -> bool:
    """Whether a rank said something when all others had said their last longer ago than they wait."""
    last: dict[int, Moment] = {}
    for fact in ("last-line", "oddity"):
        for item in job.of_fact(fact):
            time = item.finding.time
            if item.rank is not None and time is not None:
                known = last.get(item.rank)
                if known is None or (comparable(known, time) and time.seconds > known.seconds):
                    last[item.rank] = time
    own = last.get(rank)
    timeouts = [wait.timeout for wait in waiting.values() if wait.timeout]
    if own is None or not timeouts or not set(waiting) <= last.keys():
        return False
    return all(comparable(own, last[r]) and own.seconds - last[r].seconds >= max(timeouts) for r in waiting)


def _latecomer(job: Job, ledger: Ledger) -> int | None:
    """The one rank that met the end of all others where they had waited for all of their timeout.

    Had all been in it at a time it would have gone through, and whoever is there from the beginning gives up when the
    others do: they close their connections only later, when their processes end.
    """
    waiting = ledger.waiting
    left = set(ledger.members) - waiting.keys()
    size = ledger.identities.world_size
    if size is None and len(ledger.members) >= _AS_MANY:
        size = len(ledger.members)
    if len(left) != 1 or not waiting or len(ledger.members) != size:
        return None
    if any(w.item.rule.id != GLOO_TIMEOUT for w in waiting.values()):
        return None
    (late,) = left
    loss = ledger.bereft.get(late)
    together = loss is not None and all(same_site(job, w.item, loss) for w in waiting.values())
    return late if together else None


_AS_MANY = 4
"""Ranks that write, by which nobody else is expected where no line says how many there are."""


def _let_down(ledger: Ledger, waits: Sequence[Wait]) -> bool:
    """Whether all that wait had lost a peer before: where each is caught then is chance, and no path of its own."""
    losses = [(ledger.bereft.get(wait.rank), wait) for wait in waits]
    return all(loss is not None and compare(loss.finding, wait.item.finding) == -1 for loss, wait in losses)


def _through(job: Job, waits: Sequence[Wait]) -> int | None:
    """The one of those that wait whose last words were that it is through."""
    through = [w.rank for w in waits if stopped(job, w.rank) is not None]
    return through[0] if len(through) == 1 else None


def _entered(ledger: Ledger, rank: int, wait: Wait) -> bool:
    """Whether a rank that printed no timeout says elsewhere that it had begun the operation, and not ended it."""
    status = ledger.status_of(rank, wait.group)
    return status is not None and wait.seq is not None and status.completed < wait.seq <= status.enqueued


def _short_of(ledger: Ledger, rank: int, wait: Wait) -> bool:
    """Whether a rank that lost a peer, and does not wait itself, had never begun the operation of the others."""
    status = ledger.status_of(rank, wait.group)
    return (
        rank in ledger.bereft and not ledger.waits_somewhere(rank)
        and status is not None and wait.seq is not None and status.enqueued < wait.seq
    )  # fmt: skip


def _onset(wait: Wait) -> float:
    onset = wait.onset
    return float("inf") if onset is None else onset


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


def _one_less(job: Job, ledger: Ledger) -> bool:
    """Whether fewer ranks than there are complain, without a name, that others did not come or went: one never complains.

    Of tracebacks that several processes write at a time, some cannot be told apart.
    """
    lost = sum(i.finding.count for i in job.of_tag("peer-loss") if i.rank is None and i.finding.raised)
    size = ledger.identities.world_size or len(ledger.members)
    return not ledger.bereft and size / 2 < nameless_waits(job) + lost < size


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
    if first.op is None:
        fields["alike"] = ", which these lines don't name"
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
        yield from at_first_use(job, ledger, activities)
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
        if _one_less(job, ledger):
            silent: dict[str, Value] = {
                "ranks": (guilty,), "seq": first.number("seq"), "op": first.text("op"), "timeout": first.seconds("timeout"),
            }  # fmt: skip
            witnesses = [first, _telling(job, guilty), *items[1:]]
            yield verdict(job, "ledger.never-entered-silent", silent, witnesses, rank=guilty)
            return
        yield own_way(job, items[:3], _telling(job, guilty), seq=first.number("seq"), op=first.text("op"))
        return
    fields: dict[str, Value] = {
        "ranks": None if ledger.identities.tags_are_local else tuple(sorted({i.rank for i in items if i.rank is not None})) or None,
        "seq": first.number("seq"), "op": first.text("op"), "elapsed": first.seconds("elapsed"),
    }  # fmt: skip
    yield verdict(job, "ledger.waiting-unlocalised", fields, items)
