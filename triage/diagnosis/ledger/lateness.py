"""Ranks that the others gave up on and that were at work all the while: late, not stuck."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from triage.diagnosis.job import APART, Item, Job, comparable, compare
from triage.diagnosis.ledger.bars import Work
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.diagnosis.ledger.phases import Activity
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value
from triage.rules.fields import show

_MOST_OF_IT = 0.6
"""Part of a wait that one must have been at work for, to be what was waited for."""


def took(job: Job, wait: Wait, absent: Sequence[int]) -> Item | None:
    """What a missing rank says, after the others had given up, to have been at for about as long as they waited."""
    least = _MOST_OF_IT * (wait.timeout or wait.elapsed or float("inf"))
    own = [i for i in job.of_fact("took") if i.rank in absent or (i.rank is None and len(absent) == 1)]
    return max(
        (i for i in own if (i.seconds("seconds") or 0.0) >= least and _had_given_up(job, i, wait)),
        key=lambda i: i.seconds("seconds") or 0.0, default=None,
    )  # fmt: skip


def _had_given_up(job: Job, said: Item, wait: Wait) -> bool:
    """Whether others had given up when a rank said how long its own work took.

    Its own watchdog is asked for a dump when they do. What took as long as they waited, and came to its end in the very
    second, is what they waited for.
    """
    if follows(said, wait.item):
        return True
    shown, ended = said.finding, wait.item.finding
    asked = (i.finding for i in job.of_fact("dump-signal") if i.number("announcer") not in {None, said.rank})
    if any(signal.source == shown.source and signal.offset < shown.offset for signal in asked):
        return True
    if shown.time is None or ended.time is None or not comparable(shown.time, ended.time):
        return False
    whole = (said.seconds("seconds") or 0.0) >= _MOST_OF_IT * (wait.elapsed or float("inf"))
    return whole and abs(shown.time.seconds - ended.time.seconds) < APART


def built_late(job: Job, wait: Wait, absent: Sequence[int]) -> Item | None:
    """The end of a compilation or tuning after the others had given up, by the one rank that was missing."""
    if len(absent) != 1:
        return None
    return next(
        (
            i for i in job.of_fact("phase-end")
            if i.rule.phase == "compile" and i.rank in {None, absent[0]} and i.seconds("seconds") is not None
            and follows(i, wait.item)
        ),
        None,
    )  # fmt: skip


def follows(item: Item, other: Item) -> bool:
    """Whether ``item`` was said after ``other``, by the place in their log where clocks don't tell."""
    one, two = item.finding, other.finding
    order = compare(one, two)
    return order == 1 or (order is None and one.source == two.source and one.offset > two.offset)


def counting(job: Job, wait: Wait, absent: Sequence[int], waiting: Collection[int]) -> Item | None:
    """Work that a writer without a name counted on through when the others gave up, where one rank is missing."""
    if len(absent) != 1 or len(waiting) < 2:
        return None
    return next(
        (i for i in job.of_rule("progress.counted-work") if i.rank is None and _goes_on(i, wait.item)), None
    )


def at_own_pace(
    job: Job, waits: Sequence[Wait], absent: Sequence[int], waiting: Collection[int]
) -> Item | None:
    """What a missing rank alone counted on through while the others waited, until after one of them had given up.

    A writer without a name is the one that is missing, where that is one and several wait.
    """
    nameless = len(absent) == 1 and len(waiting) > 1
    return next(
        (
            i for i in job.of_rule("progress.own-pace")
            if (i.rank in absent or (i.rank is None and nameless)) and any(_goes_on(i, w.item) for w in waits)
        ),
        None,
    )  # fmt: skip


def _goes_on(work: Item, wait: Item) -> bool:
    """Whether work was counted before and after a wait ended."""
    shown = work.finding
    if shown.last_offset is None or compare(shown, wait.finding) != -1:
        return False
    return compare(work.at_last, wait.finding) == 1


def came_back(job: Job, ledger: Ledger, rank: int) -> Item | None:
    """An ordinary line of a rank between the time when all others had timed out and the loss of them that it then met."""
    loss = ledger.bereft.get(rank)
    if loss is None or ledger.waits_somewhere(rank):
        return None
    found = (wait.item.finding for wait in ledger.waiting.values())
    waits = [finding for finding in found if finding.source == loss.finding.source]
    if len(waits) < 2:
        return None
    last = max(finding.offset for finding in waits)
    return next(
        (
            i for fact in ("alive", "progress") for i in job.of_fact(fact)
            if i.rank == rank and i.finding.source == loss.finding.source
            and last < (i.finding.last_offset or i.finding.offset) < loss.finding.offset
        ),
        None,
    )  # fmt: skip


def got_through(job: Job, ledger: Ledger, wait: Wait, absent: Sequence[int]) -> Item | None:
    """What shows that the one rank that was missing had completed the collective when the others had given up on it."""
    status = ledger.status_of(absent[0], wait.group) if len(absent) == 1 else None
    if status is None or wait.seq is None or status.completed < wait.seq or ledger.waits_somewhere(absent[0]):
        return None
    others = (ledger.status_of(rank, wait.group) for rank in ledger.waiting)
    if any(other is not None and other.completed >= wait.seq for other in others):
        return None  # they count otherwise
    return status.item if follows(status.item, wait.item) else None


def too_short(
    job: Job, witnesses: Sequence[Item], *, timeout: float | None, seq: Value = None,
    ranks: Sequence[int] = (), activity: str = "still working", phase: str | None = None,
    took: str | None = None, needed: float | None = None,
) -> Item:  # fmt: skip
    """The watchdog killed a healthy job: ``needed`` seconds would do, where something tells."""
    fields: dict[str, Value] = {
        "ranks": tuple(ranks) or None, "timeout": timeout, "seq": seq, "needed": needed,
        "needed_s": int(needed) if needed else 1800, "phase": phase,
        "activity": activity if took is None else f"{activity} for {took}",
    }  # fmt: skip
    return verdict(job, "ledger.timeout-too-short", fields, witnesses, rank=ranks[0] if ranks else None)


def outlived(job: Job, wait: Wait, ranks: Sequence[int], doing: Activity) -> Item:
    """The missing rank came back from what it was doing, only later than the others waited."""
    took = doing.seconds
    witnesses = [wait.item, *([doing.end] if doing.end else []), doing.start]
    return too_short(
        job, witnesses, timeout=wait.timeout, seq=wait.seq, ranks=ranks, activity=doing.what,
        phase=doing.phase, took=None if took is None else show(took, "seconds"),
        needed=None if took is None else max(600.0, 3 * took),
    )  # fmt: skip


def as_last_seen(bar: Item) -> Item:
    """What was counted with its latest state first: that shows how far it had come."""
    return Item(replace(bar.finding, evidence=bar.finding.evidence[::-1]), bar.rule)


def slowest(job: Job, waiting: Collection[int]) -> Item | None:
    """What the one rank said last that took much longer than all others, if it was not among those that waited."""
    return next((i for i in job.of_fact("slower") if i.rank is not None and i.rank not in waiting), None)


def late_by_its_times(job: Job, waits: Sequence[Wait], slow: Item) -> Item:
    """By the times that ranks state of themselves, the others waited for the one that is slower than all."""
    first = waits[0]
    fields: dict[str, Value] = {
        "ranks": () if slow.rank is None else (slow.rank,), "seq": first.seq, "op": first.op, "timeout": first.timeout,
        "elapsed": first.elapsed,
    }  # fmt: skip
    witnesses = [first.item, slow, *(wait.item for wait in waits[1:3])]
    return verdict(job, "ledger.never-entered-silent", fields, witnesses, rank=slow.rank)


def latecomers(ledger: Ledger) -> list[Wait]:
    """Waits that began when all others had given up, where that accounts for every rank.

    Those were at work elsewhere and came in the end: nobody was stuck.
    """
    waits = list(ledger.waiting.values())
    if len(waits) < 2 or set(ledger.members) - set(ledger.waiting):
        return []
    late = [w for w in waits if any(_gave_up_before(other, w) for other in waits)]
    early = [w for w in waits if w not in late]
    clear = all(_gave_up_before(one, other) for one in early for other in late)
    return late if clear and len(late) <= len(early) else []


def _gave_up_before(one: Wait, other: Wait) -> bool:
    """Whether ``one`` had timed out before ``other`` began to wait."""
    ended, began = one.item.finding.time, other.item.finding.time
    if ended is None or began is None or other.elapsed is None or not comparable(ended, began):
        return False
    return ended.seconds < began.seconds - other.elapsed + APART


def came_late(job: Job, ledger: Ledger, late: Sequence[Wait]) -> Item:
    """The others gave up on ranks that were on their way."""
    first = min((w for w in ledger.waiting.values() if w not in late), key=lambda w: w.onset or 0.0)
    delay = (late[0].onset or 0.0) - (first.onset or 0.0)
    kept = [i for i in job.of_rule("torch.gil-hang") if i.rank == late[0].rank]
    return too_short(
        job, [late[0].item, first.item, *kept[:1]], timeout=first.timeout, seq=first.seq, ranks=[w.rank for w in late],
        activity="still on its way", took=show(delay, "seconds"), needed=max(600.0, 3 * delay),
    )  # fmt: skip


def at_work(job: Job, work: Work, missing: int | None) -> Item:
    """A bar shows that the one that was waited for, ``missing`` among the others, was at work all the while."""
    elapsed, needed = work.bar.seconds("elapsed"), work.needed
    rank = missing if work.rank is None else work.rank
    ranks = () if rank is None else (rank,)
    whole = next(
        (
            i for i in job.of_fact("took")
            if (i.rank in ranks or (i.rank is None and i.finding.source == work.bar.finding.source))
            and (i.seconds("seconds") or 0.0) >= max(work.timeout, elapsed or 0.0) and follows(i, work.wait)
        ),
        None,
    )  # fmt: skip
    if whole is not None:
        elapsed = whole.seconds("seconds") or 0.0
        needed = max(600.0, 3 * elapsed)
    still = "" if work.done or whole is not None else " and not done"
    return too_short(
        job, [work.wait, *([] if whole is None else [whole]), as_last_seen(work.bar)], timeout=work.timeout,
        seq=work.wait.number("seq"), ranks=ranks, phase=work.bar.text("phase") or work.bar.rule.phase,
        activity=(work.bar.text("activity") or "still working").lower(), needed=needed,
        took=None if elapsed is None else f"{show(elapsed, 'seconds')}{still}",
    )  # fmt: skip
