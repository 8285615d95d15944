"""Ranks that others waited for: whether they are gone, what they did instead, or were still doing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from triage.diagnosis.bars import Work
from triage.diagnosis.job import Item, Job, comparable, compare
from triage.diagnosis.ledger import DEFAULT_GROUP, Ledger, Wait
from triage.diagnosis.oddities import last_apart, says_no_more
from triage.diagnosis.phases import Activities, Activity
from triage.diagnosis.stacked import STUCK_IN
from triage.diagnosis.unclaimed import inside
from triage.diagnosis.verdicts import verdict
from triage.model import Value
from triage.rules.fields import show
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

_LEFT_OUT = (
    r"(?i)\b(?:skip(?:s|ped|ping)?|left out|leaving out|drop(?:s|ped|ping)|filtered out|discard(?:s|ed|ing)|nothing to do|"
    r"no (?:tokens|samples|batch|data|grad\w*)|empty (?:batch|shard|micro\w*)|ignor(?:es|ed|ing)|continuing (?:with|without)|"
    r"moving on|going on with|could not be (?:\w+ed|read|done))\b"
)
"""How programs say that they pass over something."""

_MOST_OF_IT = 0.6
"""Part of a wait that one must have been at work for, to be what was waited for."""

PAIRWISE_OPS = frozenset({"SEND", "RECV"})
"""Operations of two ranks, in which the others of the group have no part."""


def absent_ranks(
    job: Job, ledger: Ledger, activities: Activities, waits: Sequence[Wait], absent: list[int]
) -> Iterator[Item]:
    """Somebody is missing: explicitly behind, finished, silent, or merely not in these logs."""
    first = waits[0]
    seq = first.seq
    if first.op in PAIRWISE_OPS and len(ledger.members) > 2:
        yield unlocalised(job, waits)  # it waits for one peer, which the line does not name
        return
    done = _took(job, first, absent)
    if done is not None:
        seconds = done.seconds("seconds") or 0.0
        yield too_short(
            job, [first.item, done], timeout=first.timeout, seq=seq, ranks=tuple(absent),
            activity=f'at work of its own (it said "{_words(done)}" when they had given up)',
            needed=max(600.0, 3 * seconds),
        )  # fmt: skip
        return
    busy = _counting(job, first, absent, {w.rank for w in waits} | set(ledger.waiting))
    if busy is not None:
        words = f"{busy.text('activity')}, at {busy.number('reached')} of {busy.number('whole')} when the others had given up"
        yield too_short(
            job, [first.item, busy], timeout=first.timeout, seq=seq, ranks=tuple(absent), activity=words,
            phase=busy.text("phase"),
        )  # fmt: skip
        return
    built = _built(job, first, absent)
    if built is not None:
        seconds = sum(i.seconds("seconds") or 0.0 for i in job.of_rule(built.rule.id))
        yield too_short(
            job, [first.item, built], timeout=first.timeout, seq=seq, ranks=tuple(absent), phase="compile",
            activity=f'compiling (it said "{_words(built)}" when they had given up)', needed=max(600.0, 3 * seconds),
        )  # fmt: skip
        return
    late = next((i for r in absent if (i := came_back(job, ledger, r)) is not None), None)
    if late is not None:
        words = f'still on its way (it said "{_words(late)}" when they had given up)'
        yield too_short(
            job, [first.item, late], timeout=first.timeout, seq=seq, ranks=(late.rank or 0,), activity=words
        )
        return
    behind: list[int] = []
    for rank in absent:
        status = ledger.status_of(rank, first.group)
        if status is not None and seq is not None and status.enqueued < seq:
            behind.append(rank)
    finished = [r for r in absent if r in ledger.finished]
    heard = [r for r in absent if r in ledger.seen]
    base: dict[str, Value] = {
        "seq": seq, "op": first.op, "timeout": first.timeout, "onset": onset_text(first),
        "elapsed": first.elapsed,
    }  # fmt: skip
    witnesses = [w.item for w in waits]
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
        yield from _with_activity(
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
    said = stopped(job, absent[0]) if len(absent) == 1 else None
    if said is not None:
        fields = {**base, "ranks": tuple(absent)}
        yield verdict(
            job, "ledger.finished-early", fields, [witnesses[0], said, *witnesses[1:]], rank=absent[0]
        )
        return
    apart = _deviant(job, absent, waits)
    if apart is not None:
        yield own_way(job, witnesses, apart, seq=seq, op=first.op)
        return
    suspects = heard if heard and len(heard) < len(absent) and len(absent) > len(waits) else absent
    few = len(suspects) == 1 or len(suspects) * 2 <= len(waits)
    if few and len(suspects) < len(ledger.members):
        fields = {**base, "ranks": tuple(suspects)}
        yield from _with_activity(
            job, ledger, activities, suspects, "ledger.never-entered-silent", fields, witnesses, waits
        )
        return
    guilty = last_apart(job, ledger.members)
    if guilty is not None and guilty in absent and guilty not in ledger.bereft:
        fields = {**base, "ranks": (guilty,)}
        own = [i for i in job.of_fact("last-line") if i.rank == guilty]
        yield from _with_activity(
            job, ledger, activities, [guilty], "ledger.never-entered-silent", fields,
            [witnesses[0], *own[-1:], *witnesses[1:]], waits,
        )  # fmt: skip
        return
    yield unlocalised(job, waits)


def _deviant(job: Job, absent: Sequence[int], waits: Sequence[Wait]) -> Item | None:
    """What one of the waiting said otherwise than all others, which makes silence of others the less telling."""
    odd = [i for i in job.of_fact("deviant") if i.rank is not None]
    ranks = {i.rank for i in odd}
    waiting = {w.rank for w in waits}
    return odd[0] if len(ranks) == 1 and ranks <= waiting and ranks.isdisjoint(absent) else None


def _took(job: Job, wait: Wait, absent: Sequence[int]) -> Item | None:
    """What a missing rank says, after the others had given up, to have been at for about as long as they waited."""
    least = _MOST_OF_IT * (wait.timeout or wait.elapsed or float("inf"))
    own = [i for i in job.of_fact("took") if i.rank in absent or (i.rank is None and len(absent) == 1)]
    return max(
        (i for i in own if (i.seconds("seconds") or 0.0) >= least and _follows(i, wait.item)),
        key=lambda i: i.seconds("seconds") or 0.0, default=None,
    )  # fmt: skip


def _built(job: Job, wait: Wait, absent: Sequence[int]) -> Item | None:
    """The end of a compilation or tuning after the others had given up, by the one rank that was missing."""
    if len(absent) != 1:
        return None
    return next(
        (
            i for i in job.of_fact("phase-end")
            if i.rule.phase == "compile" and i.rank in {None, absent[0]} and i.seconds("seconds") is not None
            and _follows(i, wait.item)
        ),
        None,
    )  # fmt: skip


def _follows(item: Item, other: Item) -> bool:
    """Whether ``item`` was said after ``other``, by the place in their log where clocks don't tell."""
    one, two = item.finding, other.finding
    order = compare(one, two)
    return order == 1 or (order is None and one.source == two.source and one.offset > two.offset)


def _counting(job: Job, wait: Wait, absent: Sequence[int], waiting: Collection[int]) -> Item | None:
    """Work that a writer without a name counted on through when the others gave up, where one rank is missing."""
    if len(absent) != 1 or len(waiting) < 2:
        return None
    return next(
        (i for i in job.of_rule("progress.counted-work") if i.rank is None and _goes_on(i, wait.item)), None
    )


def _goes_on(work: Item, wait: Item) -> bool:
    """Whether work was counted before and after a wait ended."""
    shown = work.finding
    if shown.last_offset is None or compare(shown, wait.finding) != -1:
        return False
    return compare(work.at_last, wait.finding) == 1


def stopped(job: Job, rank: int) -> Item | None:
    """The last line of a rank that says that it has done, or does, no more, if but few others of its own come after it."""
    told = (*job.of_fact("last-line"), *job.of_fact("oddity"))
    own = sorted((i for i in told if i.rank == rank), key=lambda i: i.finding.offset)
    return next((item for item in reversed(own) if says_no_more(item)), None)


def said_last(job: Job, rank: int) -> Item | None:
    """The last line of a rank before trouble began."""
    told = (*job.of_fact("last-line"), *job.of_fact("oddity"))
    return max((i for i in told if i.rank == rank), key=lambda i: i.finding.offset, default=None)


def came_back(job: Job, ledger: Ledger, rank: int) -> Item | None:
    """An ordinary line of a rank between the time when all others had timed out and the loss of them that it then met."""
    loss = ledger.bereft.get(rank)
    waits = [
        w.item.finding
        for w in ledger.waiting.values()
        if loss is not None and w.item.finding.source == loss.finding.source
    ]
    if loss is None or len(waits) < 2 or rank in ledger.waiting:
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


def _words(item: Item) -> str:
    shown = item.finding.evidence[-1].text
    return " ".join(split_line(shown)[1].split())[:120]


def announced(job: Job, ledger: Ledger, activities: Activities) -> Iterator[Item]:
    """Ranks that were told of a timeout of one whose own lines are not in these logs.

    Who is told while it has nothing to do in the group of all may be the one that is waited for: where nobody else
    is, or where it shows what kept it.
    """
    told = [i for i in job.of_fact("dump-signal") if i.number("announcer") not in {None, i.rank}]
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
            yield from _with_activity(
                job, ledger, activities, [rank], "ledger.never-entered", fields, [*told, status.item], waits
            )
            return
    yield verdict(job, "ledger.waiting-unlocalised", {"ranks": announcers}, told)


def _idle(ledger: Ledger, rank: int, group: str) -> bool:
    status = ledger.status_of(rank, group)
    return status is not None and status.enqueued == status.completed


def _with_activity(
    job: Job, ledger: Ledger, activities: Activities, ranks: Sequence[int], rule_id: str,
    fields: Mapping[str, Value], witnesses: Sequence[Item], waits: Sequence[Wait],
) -> Iterator[Item]:  # fmt: skip
    """Name what the missing rank was doing, when its own lines tell."""
    first = waits[0]
    doing: Activity | None = None
    for rank in ranks:
        doing = activities.of_rank(rank, first.item.finding)
        if doing is not None:
            break
    if doing is None:
        swallowed = _swallowed(job, ledger, ranks, first)
        seen = next((i for i in job.of_fact("stack") if i.rank in ranks and i.text("function")), None)
        ahead = next((i for i in job.of_fact("ahead") if i.rank in ranks), None)
        begun = next((i for i in job.of_fact("exception") if i.rank in ranks and _cut(i)), None)
        skipped = _skipped(job, ranks)
        deviant = next((i for i in job.of_fact("deviant") if i.rank in ranks), None)
        if swallowed is None and deviant is not None:
            told = {**fields, "words": deviant.text("words")}
            yield verdict(
                job, "ledger.other-path", told, [witnesses[0], deviant, *witnesses[1:]], rank=ranks[0]
            )
        elif swallowed is None and skipped is not None:
            told = {**fields, "type": skipped.text("words")}
            yield verdict(job, "ledger.skipped-batch", told, [skipped, *witnesses], rank=ranks[0])
        elif swallowed is None and seen is not None:
            yield _seen(job, seen, fields, witnesses)
        elif swallowed is None and ahead is not None:
            told = {**fields, "step": ahead.number("step"), "others": ahead.number("others")}
            yield verdict(job, "ledger.ran-ahead", told, [ahead, *witnesses], rank=ahead.rank)
        elif swallowed is None and begun is not None:
            yield verdict(job, "ledger.raised-and-left", fields, [begun, *witnesses], rank=begun.rank)
        elif swallowed is None:
            yield verdict(job, rule_id, fields, witnesses, rank=ranks[0])
        else:
            told = {**fields, "type": swallowed.text("type"), "message": swallowed.text("message")}
            yield verdict(job, _way_out(told), told, [swallowed, *witnesses], rank=ranks[0])
    elif doing.end is not None:
        yield _outlived(job, first, ranks, doing)
    else:
        named = {**fields, "activity": doing.what, "phase": doing.phase}
        which = doing.phase if doing.phase in {"checkpoint", "compile"} else "activity"
        yield verdict(
            job, f"ledger.{which}-never-returned", named, [doing.start, *witnesses], rank=ranks[0]
        )  # fmt: skip


def _way_out(told: Mapping[str, Value]) -> str:
    """What a rank that mentions ``told`` did instead of coming to the others."""
    if "memory" in f"{told['type']} {told['message']}".lower():
        return "ledger.swallowed-oom"
    return "ledger.skipped-batch" if "skip" in str(told["type"]).lower() else "ledger.swallowed-exception"


def _same(item: Item, loss: Item) -> bool:
    """Whether an exception is the loss of a peer itself."""
    one, other = item.finding, loss.finding
    told = {(e.path, e.line) for e in other.evidence}
    return inside(loss, item) or (
        one.source == other.source
        and (one.offset == other.offset or any((e.path, e.line) in told for e in one.evidence))
    )


def _swallowed(job: Job, ledger: Ledger, ranks: Sequence[int], wait: Wait) -> Item | None:
    """The last exception that a missing rank mentioned before the others waited, if it made no progress since.

    Of a thread's own, whatever the rank did since: it went on with what the thread had left it.
    A traceback that was cut off before its exception does not count: nobody can say that it was caught.
    """
    found: Item | None = None
    for item in (*job.of_fact("mention"), *job.of_fact("exception")):
        loss = None if item.rank is None else ledger.bereft.get(item.rank)
        if loss is not None and _same(item, loss):
            continue  # how it met that the others had gone
        nameless = item.rank is None and len(ranks) == 1 and item.fields.get("_thread") is True
        if (
            (item.rank not in ranks and not nameless)
            or _cut(item)
            or compare(item.finding, wait.item.finding) == 1
        ):
            continue
        moved = any(
            p.rank == item.rank and p.finding.source == item.finding.source
            and (p.finding.last_offset or p.finding.offset) > (item.finding.last_offset or item.finding.offset)
            for p in job.of_fact("progress")
        )  # fmt: skip
        if (not moved or item.fields.get("_thread") is True) and (
            found is None or compare(item.finding, found.finding) == 1
        ):
            found = item
    return found


def _seen(job: Job, stack: Item, fields: Mapping[str, Value], witnesses: Sequence[Item]) -> Item:
    """A stack shows where the missing rank was."""
    kind = STUCK_IN.get(stack.text("activity") or "", "ledger.stuck-in")
    told = {**fields, **{name: stack.fields.get(name) for name in ("function", "file", "line", "top")}}
    return verdict(job, kind, told, [stack, *witnesses], rank=stack.rank)


def _cut(item: Item) -> bool:
    """Whether the log breaks off before it names what was raised."""
    return item.text("type") is None and item.text("words") is None


def own_way(job: Job, witnesses: Sequence[Item], said: Item, *, seq: Value, op: Value) -> Item:
    """A rank said what no other did, or otherwise than all others, and its collectives do not fit theirs."""
    fields: dict[str, Value] = {
        "ranks": () if said.rank is None else (said.rank,), "seq": seq, "op": op, "words": said.text("words")
    }  # fmt: skip
    return verdict(job, "ledger.own-way", fields, [witnesses[0], said, *witnesses[1:]], rank=said.rank)


def _skipped(job: Job, ranks: Sequence[int]) -> Item | None:
    """What a missing rank said out of the ordinary of work that it left out."""
    return next(
        (
            i for i in reversed(job.of_fact("oddity"))
            if i.rank in ranks and compiled(_LEFT_OUT).search(i.text("words") or "")
        ),
        None,
    )  # fmt: skip


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


def _outlived(job: Job, wait: Wait, ranks: Sequence[int], doing: Activity) -> Item:
    """The missing rank came back from what it was doing, only later than the others waited."""
    took = doing.seconds
    witnesses = [wait.item, *([doing.end] if doing.end else []), doing.start]
    return too_short(
        job, witnesses, timeout=wait.timeout, seq=wait.seq, ranks=ranks, activity=doing.what,
        phase=doing.phase, took=None if took is None else show(took, "seconds"),
        needed=None if took is None else max(600.0, 3 * took),
    )  # fmt: skip


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
    return ended.seconds < began.seconds - other.elapsed


def came_late(job: Job, ledger: Ledger, late: Sequence[Wait]) -> Item:
    """The others gave up on ranks that were on their way."""
    first = min((w for w in ledger.waiting.values() if w not in late), key=lambda w: w.onset or 0.0)
    delay = (late[0].onset or 0.0) - (first.onset or 0.0)
    return too_short(
        job, [late[0].item, first.item], timeout=first.timeout, seq=first.seq, ranks=[w.rank for w in late],
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
            and (i.seconds("seconds") or 0.0) >= max(work.timeout, elapsed or 0.0) and _follows(i, work.wait)
        ),
        None,
    )  # fmt: skip
    if whole is not None:
        elapsed = whole.seconds("seconds") or 0.0
        needed = max(600.0, 3 * elapsed)
    still = "" if work.done or whole is not None else " and not done"
    return too_short(
        job, [work.wait, *([] if whole is None else [whole]), work.bar], timeout=work.timeout,
        seq=work.wait.number("seq"), ranks=ranks, phase=work.bar.text("phase") or work.bar.rule.phase,
        activity=(work.bar.text("activity") or "still working").lower(), needed=needed,
        took=None if elapsed is None else f"{show(elapsed, 'seconds')}{still}",
    )  # fmt: skip


def unlocalised(job: Job, waits: Sequence[Wait]) -> Item:
    """Ranks waited, and nothing tells for whom."""
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
