"""What the ledger says: verdicts as findings of ``ledger.*`` rules.

The rank that times out is a victim. Who is to blame is the rank that is missing, late, in another
operation, or gone; where the lines don't tell, the verdict says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger import DEFAULT_GROUP, Ledger, Wait, by_group
from triage.diagnosis.nodes import NOWHERE
from triage.diagnosis.phases import Activities, Activity
from triage.model import Evidence, Finding, Value
from triage.rules.fields import show

UNEVEN_OPS = frozenset({"ALLTOALL", "ALLTOALL_BASE", "GATHER", "SCATTER", "SEND", "RECV", "COALESCED"})
"""Operations whose element counts may differ between ranks."""
PAIRWISE_OPS = frozenset({"SEND", "RECV"})
"""Operations of two ranks, in which the others of the group have no part."""
TINY_TIMEOUT = 1.0
"""Seconds below which a timeout says nothing about a collective of a real job."""


def judge(job: Job, ledger: Ledger, activities: Activities) -> list[Item]:
    """The ledger's verdicts, each with the lines that support it."""
    verdicts = list(_fingerprints(job, ledger))
    verdicts += _named(job, ledger)
    verdicts += _waits(job, ledger, activities)
    verdicts += _initialisation(job, ledger)
    verdicts += _placement(job, ledger)
    return verdicts


def verdict(
    job: Job, rule_id: str, fields: Mapping[str, Value], witnesses: Sequence[Item], **known: Any
) -> Item:
    """A finding of a ledger rule, standing where its first witness stands."""
    first = witnesses[0].finding
    evidence: list[Evidence] = []
    for witness in witnesses[:4]:
        evidence.extend(e for e in witness.finding.evidence[:1] if e not in evidence)
    finding = Finding(
        rule_id=rule_id, fields=fields, evidence=tuple(evidence), source=first.source, offset=first.offset,
        time=first.time, rank=known.get("rank"), host=known.get("host"), stream=first.stream,
        level="error",
    )  # fmt: skip
    return Item(finding, job.rules[rule_id])


def _fingerprints(job: Job, ledger: Ledger) -> Iterator[Item]:
    """TORCH_DISTRIBUTED_DEBUG=DETAIL compares fingerprints pairwise: the odd rank is in every pair."""
    items = list(job.of_fact("fingerprint"))
    if not items:
        return
    blamed: Counter[int] = Counter()
    claims: dict[int, tuple[Any, ...]] = {}
    pairs = 0
    for item in items:
        a, b = item.number("rank_a"), item.number("rank_b")
        if a is None or b is None:
            continue
        pairs += 1
        blamed.update({a, b})
        claims.setdefault(a, tuple(item.fields.get(k) for k in ("seq_a", "op_a", "shape_a")))
        if a != b:
            claims.setdefault(b, tuple(item.fields.get(k) for k in ("seq_b", "op_b", "shape_b")))
    if not pairs:
        yield verdict(job, "ledger.fingerprint-tie", {}, items)
        return
    # what a rank says of itself beats what another rank heard of it in a broken gather
    own = {a: claims[a] for i in items if (a := i.number("rank_a")) is not None}
    values = Counter(own.values())
    common, votes = values.most_common(1)[0]
    odd = sorted(rank for rank, claim in own.items() if claim != common)
    top = blamed.most_common()
    if len(own) >= 3 and votes * 2 > len(own) and odd:
        ranks = tuple(odd)
    elif pairs >= 2 and top[0][1] >= pairs and (len(top) == 1 or top[1][1] < top[0][1]):
        ranks = (top[0][0],)
    elif len(own) == 1 and len(claims) > 2:
        ranks = tuple(own)
    else:
        first = items[0]
        yield verdict(job, "ledger.fingerprint-tie", dict(first.fields), items)
        return
    rest = next((claim for rank, claim in claims.items() if rank not in ranks), (None, None, None))
    mine = claims.get(ranks[0], (None, None, None))
    fields = {"ranks": ranks, "seq_odd": mine[0], "op_odd": mine[1], "seq_rest": rest[0], "op_rest": rest[1]}
    speaking = [i for i in items if i.number("rank_a") in ranks]
    yield verdict(job, "ledger.fingerprint-desync", fields, [*speaking, *items], rank=ranks[0])


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
        yield from _nameless(job, ledger)
        return
    groups = by_group(waiting)
    # several groups wait when one hang spreads: the earliest began it
    order = sorted(groups.values(), key=lambda ws: (min(_onset(w) for w in ws), -len(ws)))
    waits = sorted(order[0], key=lambda w: w.rank)
    tiny = [w for w in waiting.values() if w.timeout is not None and w.timeout < TINY_TIMEOUT]
    if tiny and len(tiny) == len(waiting):
        yield _too_short(job, tiny[0], (), None)
        return
    odd = _odd_ones(waits)
    if odd is not None:
        yield _desync(job, waits, odd)
        return
    # who lost a peer was inside the operation as well
    inside = set(waiting) | {
        i.rank for i in job.of_tag("peer-loss") if i.rank is not None and i.finding.raised
    }
    members = ledger.members if waits[0].group == DEFAULT_GROUP else ledger.status.get(waits[0].group, {})
    absent = [r for r in members if r not in inside and not _entered(ledger, r, waits[0])]
    if not absent:
        yield from _all_inside(job, ledger, waits)
        return
    yield from _absent(job, ledger, activities, waits, absent)


def _entered(ledger: Ledger, rank: int, wait: Wait) -> bool:
    """Whether a rank that printed no timeout says elsewhere that it had begun the operation, and not ended it."""
    status = ledger.status_of(rank, wait.group)
    return status is not None and wait.seq is not None and status.completed < wait.seq <= status.enqueued


def _onset(wait: Wait) -> float:
    onset = wait.onset
    return float("inf") if onset is None else onset


def _signature(wait: Wait) -> tuple[Any, ...]:
    sizes = (None, None) if wait.op in UNEVEN_OPS else (wait.numel_in, wait.numel_out)
    return (wait.seq, wait.op, *sizes)


def _odd_ones(waits: Sequence[Wait]) -> list[Wait] | None:
    """Waits that differ from the majority; all of them when there is none; None when all agree."""
    whole = [s for w in waits if None not in (s := _signature(w))[:2]]
    kinds = Counter(whole or map(_signature, waits))
    if len(kinds) < 2:
        common = next(iter(kinds), None)
        odd = [w for w in waits if common is not None and _differs(w, common)]
        return odd or None
    (common, votes), second = kinds.most_common(2)[0], kinds.most_common(2)[1][1]
    if votes == second:
        return list(waits)
    return [w for w in waits if _differs(w, common)] or None


def _differs(wait: Wait, common: tuple[Any, ...]) -> bool:
    """Whether what is known of a wait contradicts ``common``; a line that was cut off contradicts nothing."""
    return any(
        a != b for a, b in zip(_signature(wait), common, strict=True) if a is not None and b is not None
    )


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
            "site_odd": _site(job, one.rank), "site_rest": _site(job, two.rank),
        }  # fmt: skip
        return verdict(job, "ledger.desync-tie", fields, [one.item, two.item])
    rest = next(w for w in waits if w not in odd)
    fields = {
        "ranks": tuple(w.rank for w in odd), "seq": odd[0].seq,
        "op_odd": odd[0].op, "size_odd": _size(odd[0]), "op_rest": rest.op, "size_rest": _size(rest),
        "site_odd": _site(job, odd[0].rank), "site_rest": _site(job, rest.rank),
    }  # fmt: skip
    return verdict(job, "ledger.desync", fields, [*(w.item for w in odd[:2]), rest.item], rank=odd[0].rank)


def _all_inside(job: Job, ledger: Ledger, waits: Sequence[Wait]) -> Iterator[Item]:
    first = waits[0]
    fields: dict[str, Value]
    known = ledger.identities.world_size is not None and len(waits) >= ledger.identities.world_size
    ended = next((i for i in job.of_fact("ended-well") if compare(i.finding, first.item.finding) == -1), None)
    if ended is not None and len(waits) == 1:
        fields = {"ranks": (first.rank,), "seq": first.seq, "op": first.op}
        yield verdict(job, "ledger.after-the-end", fields, [first.item, ended], rank=first.rank)
        return
    if not known or len(waits) < 2:
        yield _unlocalised(job, waits)
        return
    fields = {"seq": first.seq, "op": first.op, "members": len(waits), "onset": _clock(first)}
    yield verdict(job, "ledger.all-inside", fields, [w.item for w in waits[:3]])


def _absent(
    job: Job, ledger: Ledger, activities: Activities, waits: Sequence[Wait], absent: list[int]
) -> Iterator[Item]:
    """Somebody is missing: explicitly behind, finished, silent, or merely not in these logs."""
    first = waits[0]
    seq = first.seq
    if first.op in PAIRWISE_OPS:
        yield _unlocalised(job, waits)  # it waits for one peer, which the line does not name
        return
    behind: list[int] = []
    for rank in absent:
        status = ledger.status_of(rank, first.group)
        if status is not None and seq is not None and status.enqueued < seq:
            behind.append(rank)
    finished = [r for r in absent if r in ledger.finished]
    heard = [r for r in absent if r in ledger.seen]
    base: dict[str, Value] = {
        "seq": seq, "op": first.op, "timeout": first.timeout, "onset": _clock(first),
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
    suspects = heard if heard and len(heard) < len(absent) and len(absent) > len(waits) else absent
    few = len(suspects) == 1 or len(suspects) * 2 <= len(waits)
    if few and len(suspects) < len(ledger.members):
        fields = {**base, "ranks": tuple(suspects)}
        yield from _with_activity(
            job, ledger, activities, suspects, "ledger.never-entered-silent", fields, witnesses, waits
        )
        return
    yield _unlocalised(job, waits)


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
        swallowed = _swallowed(job, ranks, first)
        if swallowed is None:
            yield verdict(job, rule_id, fields, witnesses, rank=ranks[0])
        else:
            told = {**fields, "type": swallowed.text("type"), "message": swallowed.text("message")}
            yield verdict(job, _way_out(told), told, [swallowed, *witnesses], rank=ranks[0])
    elif doing.end is not None:
        yield _too_short(job, first, ranks, doing)
    else:
        named = {**fields, "activity": doing.what, "phase": doing.phase}
        yield verdict(job, "ledger.activity-never-returned", named, [doing.start, *witnesses], rank=ranks[0])


def _way_out(told: Mapping[str, Value]) -> str:
    """What a rank that mentions ``told`` did instead of coming to the others."""
    if "memory" in f"{told['type']} {told['message']}".lower():
        return "ledger.swallowed-oom"
    return "ledger.skipped-batch" if "skip" in str(told["type"]).lower() else "ledger.swallowed-exception"


def _swallowed(job: Job, ranks: Sequence[int], wait: Wait) -> Item | None:
    """The last exception that a missing rank mentioned before the others waited, if it made no progress since."""
    found: Item | None = None
    for item in (*job.of_fact("mention"), *job.of_fact("exception")):
        if item.rank not in ranks or compare(item.finding, wait.item.finding) == 1:
            continue
        moved = any(
            p.rank == item.rank and p.finding.source == item.finding.source
            and (p.finding.last_offset or p.finding.offset) > (item.finding.last_offset or item.finding.offset)
            for p in job.of_fact("progress")
        )  # fmt: skip
        if not moved and (found is None or compare(item.finding, found.finding) == 1):
            found = item
    return found


def _site(job: Job, rank: int) -> str | None:
    """Where ``rank`` called the collective that it waits in, from the watchdog's stack trace."""
    for item in job.of_fact("call-site"):
        if item.rank == rank:
            return f"{item.text('function')} at {item.text('file')}:{item.text('line')}"
    return None


def _too_short(job: Job, wait: Wait, ranks: Sequence[int], doing: Activity | None) -> Item:
    took = doing.seconds if doing is not None else None
    needed = None
    if took is not None:
        needed = max(600.0, 3 * took)
    fields: dict[str, Value] = {
        "ranks": tuple(ranks) or None, "timeout": wait.timeout, "seq": wait.seq, "needed": needed,
        "needed_s": int(needed) if needed else 1800,
        "activity": doing.what if doing else "still working",
        "phase": doing.phase if doing else None,
        "took": f" for {show(took, 'seconds')}" if took is not None else None,
    }  # fmt: skip
    witnesses = [wait.item]
    if doing is not None:
        witnesses = [wait.item, *([doing.end] if doing.end else []), doing.start]
    return verdict(job, "ledger.timeout-too-short", fields, witnesses, rank=ranks[0] if ranks else None)


def _unlocalised(job: Job, waits: Sequence[Wait]) -> Item:
    first = waits[0]
    fields: dict[str, Value] = {
        "ranks": tuple(w.rank for w in waits), "seq": first.seq, "op": first.op,
        "elapsed": first.elapsed, "timeout": first.timeout,
    }  # fmt: skip
    return verdict(job, "ledger.waiting-unlocalised", fields, [w.item for w in waits[:3]])


def _nameless(job: Job, ledger: Ledger) -> Iterator[Item]:
    """Timeouts whose lines name no rank at all."""
    # a watchdog that ends its process may do so after any error: only waits count here
    waits = {"torch.monitored-barrier-survivor"}
    items = [
        i for i in job.of_tag("collective-timeout")
        if i.rule.role == "symptom" and (i.rule.fact == "collective-timeout" or i.rule.id in waits)
    ]  # fmt: skip
    if not items:
        return
    tiny = [t for i in items if (t := i.seconds("timeout")) is not None]
    first = items[0]
    if tiny and max(tiny) < TINY_TIMEOUT:
        fields: dict[str, Value] = {
            "timeout": tiny[0],
            "seq": first.number("seq"),
            "needed_s": 1800,
            "activity": "still working",
        }
        yield verdict(job, "ledger.timeout-too-short", fields, items)
        return
    fields = {"seq": first.number("seq"), "op": first.text("op"), "elapsed": first.seconds("elapsed")}
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


def _clock(wait: Wait) -> str | None:
    from triage.scan.clock import iso

    time, onset = wait.item.finding.time, wait.onset
    if time is None or onset is None:
        return None
    text = iso(type(time)(onset, time.clock, time.zoned), None)
    if text is None and time.clock == "yearless":
        text = iso(type(time)(onset, time.clock, time.zoned), 1970)
        return text.split("T", 1)[1] if text and "T" in text else None
    return text
