"""Ranks that others waited for: whether they are gone, what they did instead, or were still doing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.desync import PAIRWISE_OPS, pairwise
from triage.diagnosis.ledger.groups import DEFAULT_GROUP
from triage.diagnosis.ledger.instead import with_activity
from triage.diagnosis.ledger.lateness import (
    as_last_seen,
    at_own_pace,
    built_late,
    came_back,
    counting,
    got_through,
    late_by_its_times,
    slowest,
    too_short,
    took,
)
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.diagnosis.ledger.oddities import (
    deviant,
    last_apart,
    only_odd,
    said_alone,
    says_no_more,
    suspect,
)
from triage.diagnosis.ledger.parting import own_words, said_last
from triage.diagnosis.ledger.phases import Activities
from triage.diagnosis.ledger.sites import crossed
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value


def absent_ranks(
    job: Job, ledger: Ledger, activities: Activities, waits: Sequence[Wait], absent: list[int]
) -> Iterator[Item]:
    """Somebody is missing: explicitly behind, finished, silent, or merely not in these logs."""
    first = waits[0]
    seq = first.seq
    neighbours = first.op in PAIRWISE_OPS or pairwise(waits)
    if neighbours and len(ledger.members) > 2 and ledger.missing is None:
        yield unlocalised(job, waits)  # it waits for one peer, which the line does not name
        return
    done = took(job, first, absent)
    if done is not None:
        seconds = done.seconds("seconds") or 0.0
        yield too_short(
            job, [first.item, done], timeout=first.timeout, seq=seq, ranks=tuple(absent),
            activity=f'at work of its own (it said "{own_words(job, done)}" when they had given up)',
            needed=max(600.0, 3 * seconds),
        )  # fmt: skip
        return
    busy = counting(job, first, absent, {w.rank for w in waits} | set(ledger.waiting))
    if busy is not None:
        words = f"{busy.text('activity')}, at {busy.number('reached')} of {busy.number('whole')} when the others had given up"
        yield too_short(
            job, [first.item, as_last_seen(busy)], timeout=first.timeout, seq=seq, ranks=tuple(absent), activity=words,
            phase=busy.text("phase"),
        )  # fmt: skip
        return
    paced = at_own_pace(job, waits, absent, {w.rank for w in waits} | set(ledger.waiting))
    if paced is not None:
        words = f'at work of its own (it said "{paced.text("words")}" when they had given up)'
        whose = tuple(absent) if paced.rank is None else (paced.rank,)
        yield too_short(
            job, [first.item, as_last_seen(paced)], timeout=first.timeout, seq=seq, ranks=whose,
            activity=words,
        )  # fmt: skip
        return
    end = built_late(job, first, absent)
    if end is not None:
        seconds = sum(i.seconds("seconds") or 0.0 for i in job.of_rule(end.rule.id))
        yield too_short(
            job, [first.item, end], timeout=first.timeout, seq=seq, ranks=tuple(absent), phase="compile",
            activity=f'compiling (it said "{own_words(job, end)}" when they had given up)', needed=max(600.0, 3 * seconds),
        )  # fmt: skip
        return
    late = next((i for r in absent if (i := came_back(job, ledger, r)) is not None), None)
    if late is not None:
        words = f'still on its way (it said "{own_words(job, late)}" when they had given up)'
        yield too_short(
            job, [first.item, late], timeout=first.timeout, seq=seq, ranks=(late.rank or 0,), activity=words
        )
        return
    through = got_through(job, ledger, first, absent)
    if through is not None:
        last = said_last(job, absent[0])
        words = "on its way" if last is None else f'on its way (it had said "{own_words(job, last)}")'
        yield too_short(
            job, [first.item, *([] if last is None else [last]), through], timeout=first.timeout, seq=seq,
            ranks=tuple(absent), activity=f"still {words}",
        )  # fmt: skip
        return
    behind: list[int] = []
    for rank in absent:
        status = ledger.status_of(rank, first.group)
        if status is not None and seq is not None and status.enqueued < seq and not neighbours:
            behind.append(rank)
    finished = [r for r in absent if r in ledger.finished]
    heard = [r for r in absent if r in ledger.seen]
    base: dict[str, Value] = {
        "seq": seq, "op": first.op, "timeout": first.timeout, "onset": onset_text(first),
        "elapsed": first.elapsed,
    }  # fmt: skip
    named = [i for i in ledger.named if not set(absent).isdisjoint(i.ranks("ranks"))]
    witnesses = [*named[:1], *(w.item for w in waits)]
    if behind:
        if len(behind) > len(waits) and len(behind) + len(waits) > 2:
            idle = all(_idle(ledger, r, first.group) for r in behind)
            if idle:
                fields = {**base, "ranks": tuple(w.rank for w in waits)}
                yield verdict(job, "ledger.extra-collective", fields, witnesses, rank=waits[0].rank)
                return
        status_items = [s.item for r in behind if (s := ledger.status_of(r, first.group)) is not None]
        status = ledger.status_of(behind[0], first.group)
        fields = {**base, "ranks": tuple(behind), "enqueued": status.enqueued if status else None}
        yield from with_activity(
            job,
            ledger,
            activities,
            behind,
            "ledger.never-entered",
            fields,
            [*status_items[:2], *witnesses],
            waits,
        )
        return
    if finished:
        if len(finished) > len(waits) and len(finished) + len(waits) > 2:
            fields = {**base, "ranks": tuple(w.rank for w in waits)}
            yield verdict(job, "ledger.extra-collective", fields, witnesses, rank=waits[0].rank)
        else:
            fields = {**base, "ranks": tuple(finished)}
            ended = [ledger.finished[r] for r in finished[:2]]
            yield verdict(job, "ledger.finished-early", fields, [*ended, *witnesses], rank=finished[0])
        return
    farewells = {r: said for r in absent if (said := stopped(job, r, first.item)) is not None}
    if farewells and len(farewells) == len(absent):
        yield _took_leave(job, absent, farewells, base, witnesses)
        return
    elsewhere = crossed(job, waits, absent)
    if elsewhere is not None:
        yield elsewhere
        return
    apart = _deviant(job, absent, waits)
    if apart is not None and not all(_idle(ledger, rank, first.group) for rank in absent):
        yield own_way(job, witnesses, apart, seq=seq, op=first.op)
        return
    suspects = heard if heard and len(heard) < len(absent) and len(absent) > len(waits) else absent
    if len(suspects) > 1 and (alone := said_alone(job, suspects)) is not None:
        suspects = [alone]
    few = len(suspects) == 1 or len(suspects) * 2 <= len(waits)
    if few and len(suspects) < len(ledger.members):
        if farewells.keys() >= set(suspects):
            # the rest of the absent was ended before it could complain
            yield _took_leave(job, suspects, farewells, base, witnesses)
            return
        fields = {**base, "ranks": tuple(suspects)}
        yield from with_activity(
            job, ledger, activities, suspects, "ledger.never-entered-silent", fields, witnesses, waits
        )
        return
    guilty = last_apart(job, ledger.members)
    if guilty is None and nameless_waits(job):
        guilty = suspect(job, ledger.members)  # most of those that seem to be absent wait too
    elif guilty is None:
        guilty = only_odd(job)  # or wait for nobody, in groups of their own
    if guilty is not None and guilty in absent and guilty not in ledger.bereft:
        fields = {**base, "ranks": (guilty,)}
        own = [i for i in job.of_fact("last-line") if i.rank == guilty]
        yield from with_activity(
            job, ledger, activities, [guilty], "ledger.never-entered-silent", fields,
            [witnesses[0], *own[-1:], *witnesses[1:]], waits,
        )  # fmt: skip
        return
    yield unlocalised(job, waits)


def _took_leave(
    job: Job, ranks: Sequence[int], farewells: Mapping[int, Item], base: Mapping[str, Value], witnesses: Sequence[Item]
) -> Item:  # fmt: skip
    """That ``ranks`` said they were through before the others gave up waiting for them."""
    said = [farewells[rank] for rank in ranks][:2]
    return verdict(
        job, "ledger.finished-early", {**base, "ranks": tuple(ranks)}, [witnesses[0], *said, *witnesses[1:]],
        rank=ranks[0],
    )  # fmt: skip


def without_swept(ledger: Ledger, absent: list[int]) -> list[int]:
    """``absent`` without the ranks whose agent ended them because another of its node, absent too, had ended badly."""
    dead = {r for r in absent if (end := ledger.exits.get(r)) is not None and end.broke}
    hosts = {ledger.identities.seat(rank).host for rank in dead} - {None}
    return [r for r in absent if r in dead or ledger.identities.seat(r).host not in hosts]


def nameless_waits(job: Job) -> int:
    """How many timeouts were printed of which no line tells whose they are."""
    return sum(
        i.finding.count for i in job.of_tag("collective-timeout")
        if i.rule.role == "symptom" and i.rank is None and i.rule.fact == "collective-timeout"
    )  # fmt: skip


def _deviant(job: Job, absent: Sequence[int], waits: Sequence[Wait]) -> Item | None:
    """What one of the waiting said otherwise than all others, which makes silence of others the less telling."""
    odd = deviant(job)
    return odd if odd is not None and odd.rank in {w.rank for w in waits} - set(absent) else None


def stopped(job: Job, rank: int, until: Item | None = None) -> Item | None:
    """The last line of a rank that says that it has done, or does, no more, if but few others of its own come after it.

    Args:
        until: what others said when they gave up; what stands below it in a log may have been said before.
    """
    told = [*job.of_fact("last-line"), *job.of_fact("oddity")]
    if until is not None:
        told += [i for i in job.of_fact("own-words") if compare(i.finding, until.finding) == -1]
    own = sorted((i for i in told if i.rank == rank), key=lambda i: i.finding.offset)
    return next((item for item in reversed(own) if says_no_more(item)), None)


def announced(job: Job, ledger: Ledger, activities: Activities) -> Iterator[Item]:
    """Ranks that were told of a timeout of one whose own lines are not in these logs.

    Who is told while it has nothing to do in the group of all may be the one that is waited for: where nobody else
    is, or where it shows what kept it.
    """
    # who announces that it lost a peer did not wait in vain
    told = [
        i for i in job.of_fact("dump-signal")
        if i.number("announcer") not in {None, i.rank} and i.number("announcer") not in ledger.bereft
    ]  # fmt: skip
    if not told or job.of_fact("ended-well"):
        return
    announcers = tuple(sorted({i.ranks("announcer")[0] for i in told}))
    heard = {i.rank for i in told if i.rank is not None}
    waits = [Wait(a, DEFAULT_GROUP, None, None, None, None, None, None, told[0]) for a in announcers]
    if len(heard) == 1:
        (rank,) = heard
        alone = {rank, *announcers} == set(ledger.members)
        if _idle(ledger, rank, DEFAULT_GROUP) and (alone or activities.of_rank(rank, told[0].finding)):
            status = ledger.status[DEFAULT_GROUP][rank]
            fields: dict[str, Value] = {"ranks": (rank,), "enqueued": status.enqueued}
            yield from with_activity(
                job, ledger, activities, [rank], "ledger.never-entered", fields, [*told, status.item], waits
            )
            return
    yield verdict(job, "ledger.waiting-unlocalised", {"ranks": announcers}, told)


def _idle(ledger: Ledger, rank: int, group: str) -> bool:
    status = ledger.status_of(rank, group)
    return status is not None and status.enqueued == status.completed


def own_way(job: Job, witnesses: Sequence[Item], said: Item, *, seq: Value, op: Value) -> Item:
    """A rank said what no other did, or otherwise than all others, and its collectives do not fit theirs."""
    fields: dict[str, Value] = {
        "ranks": () if said.rank is None else (said.rank,), "seq": seq, "op": op, "words": said.text("words") or own_words(job, said),
    }  # fmt: skip
    return verdict(job, "ledger.own-way", fields, [witnesses[0], said, *witnesses[1:]], rank=said.rank)


def unlocalised(job: Job, waits: Sequence[Wait]) -> Item:
    """Ranks waited, and nothing tells for whom; but for the times that all state of themselves."""
    slow = slowest(job, {wait.rank for wait in waits})
    if slow is not None:
        return late_by_its_times(job, waits, slow)
    first = waits[0]
    fields: dict[str, Value] = {
        "ranks": tuple(w.rank for w in waits), "seq": first.seq, "op": first.op,
        "elapsed": first.elapsed, "timeout": first.timeout,
    }  # fmt: skip
    return verdict(job, "ledger.waiting-unlocalised", fields, [w.item for w in waits[:3]])


def onset_text(wait: Wait) -> str | None:
    """When a wait began, as far as the log's clock tells."""
    from triage.scan.clock import iso

    time, onset = wait.item.finding.time, wait.onset
    if time is None or onset is None:
        return None
    text = iso(type(time)(onset, time.clock, time.zoned), None)
    if text is None and time.clock == "yearless":
        text = iso(type(time)(onset, time.clock, time.zoned), 1970)
        return text.split("T", 1)[1] if text and "T" in text else None
    return text
