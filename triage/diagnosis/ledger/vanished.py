"""The one rank that just stops while all others lose a connection or wait."""

from __future__ import annotations

from collections.abc import Iterator

from triage.diagnosis.job import Item, Job, comparable, compare
from triage.diagnosis.ledger.absence import stopped
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.oddities import says_no_more
from triage.diagnosis.ledger.parting import said_last
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.ranks.quoted import LISTED
from triage.model import Value

FEWEST = 2
"""Ranks that all ended otherwise, by which it is known who is the odd one."""
_WAITED = "progress.waited-in-vain"
GLOO_TIMEOUT = "torch.gloo-timeout"


def inside_ranks(ledger: Ledger) -> set[int]:
    """The ranks that wait, or that lost a peer before anybody gave up waiting: they were in the operation too."""
    gave_up = [w.item.finding.time for w in ledger.waiting.values() if w.item.finding.time is not None]

    def later(loss: Item) -> bool:
        time = loss.finding.time
        return time is not None and any(comparable(time, t) for t in gave_up) and all(
            time.seconds - t.seconds >= 1.0 for t in gave_up if comparable(time, t)
        )  # fmt: skip

    return set(ledger.waiting) | {rank for rank, loss in ledger.bereft.items() if not later(loss)}


def vanished(job: Job, ledger: Ledger) -> Iterator[Item]:
    """All ranks but one lost a connection or wait, and that one just stops: nobody else can have closed it."""
    if not ledger.bereft and not ledger.waiting and not job.cut:
        yield from _left_the_nameless(job, ledger)
        return
    inside = inside_ranks(ledger)
    lost = [item for rank, item in ledger.bereft.items() if rank in inside]
    gone = [r for r in ledger.members if r not in inside]
    if len(gone) > 1:
        several, gone = gone, _not_through(job, gone)
        if not gone and lost and not job.cut:
            yield from _left_together(job, ledger, several, lost)
            return
    if len(gone) > 1 and lost:
        gone = _alone_through(job, gone) or _alone_spared(job, ledger, gone) or gone
    if not lost or len(gone) != 1 or job.cut:
        return
    rank = gone[0]
    placed = rank in ledger.seen or any(s.rank == rank for s in job.sources)
    if rank in ledger.finished or (len(inside) < 2 and not placed):
        return
    if any(rank in item.ranks("ranks") for item in ledger.named):
        return  # somebody says that it did not come, not that it went
    if any(wait.item.rule.id in {GLOO_TIMEOUT, _WAITED} for wait in ledger.waiting.values()):
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
    if said is None:
        said = _nameless_farewell(job, lost)
    if said is not None:
        yield _early(job, [rank], [said], lost)
        return
    fields: dict[str, Value] = {"ranks": (rank,), "others": tuple(sorted(inside))}
    more = {i.rule.id: i for i in reversed(job.of_tag("peer-loss")) if i.rank in inside}
    missed = [i for i in job.of_tag("rank-exit") if i.number("rank") == rank][:1]
    witnesses = [lost[0], *missed, *(i for i in more.values() if i.rule.id != lost[0].rule.id), *lost[1:]]
    yield verdict(job, "ledger.vanished", fields, witnesses, rank=rank)


def _not_through(job: Job, ranks: list[int]) -> list[int]:
    """``ranks`` without those that came to the end of the program, in groups of their own: several say so alike."""
    through = [
        r for r in ranks if (said := stopped(job, r)) is not None and said.fields.get("_shared") is True
    ]
    return [r for r in ranks if r not in through] if len(through) > 1 else ranks


def _left_together(job: Job, ledger: Ledger, ranks: list[int], lost: list[Item]) -> Iterator[Item]:
    """Several ranks said that they are through, and as many others, who go on, lost them."""
    if len(ranks) > len(lost):
        return  # it is the few who ask for more that are out of step
    if any(end.failed for rank, end in ledger.exits.items() if rank in ranks):
        return
    if any(i.rule.role == "cause" or i.rule.fact == "exception" for i in job.items if i.rank in ranks):
        return
    said = [item for rank in ranks if (item := stopped(job, rank)) is not None]
    if any(compare(item.finding, loss.finding) == 1 for item in said for loss in lost):
        return
    yield _early(job, ranks, said, lost)


def _early(job: Job, ranks: list[int], said: list[Item], lost: list[Item]) -> Item:
    """That ``ranks`` left before the others, by what they said and by whom they were lost."""
    fields: dict[str, Value] = {"ranks": tuple(ranks), "seq": None, "op": None}
    one = ranks[0] if len(ranks) == 1 else None
    return verdict(job, "ledger.finished-early", fields, [lost[0], *said[:2], *lost[1:]], rank=one)


def _alone_through(job: Job, ranks: list[int]) -> list[int]:
    """The one of ``ranks`` that said, as nobody else, that it was through, where all others were at work until then.

    Who starts processes from Python tells of the first of them alone that raised something.
    """
    spawned = job.of_rule("torch.spawn-raised")
    last = {r: said for r in ranks if (said := said_last(job, r)) is not None}
    through = [r for r, said in last.items() if says_no_more(said) and said.fields.get("_shared") is not True]
    at_work = [r for r, said in last.items() if said.fields.get("_shared") is True]
    return through if spawned and len(through) == 1 and len(at_work) == len(ranks) - 1 else []


def _alone_spared(job: Job, ledger: Ledger, ranks: list[int]) -> list[int]:
    """The one of ``ranks`` that said that it is through and of whose end no launcher complains, as it does of all others."""
    spared = [r for r in ranks if (end := ledger.exits.get(r)) is None or not end.failed]
    return spared if len(spared) == 1 and stopped(job, spared[0]) is not None else []


def _nameless_farewell(job: Job, lost: list[Item]) -> Item | None:
    """The one line without a name that says, before anybody lost a connection, that its writer is through.

    All others were at work until then: it is of the one that went.
    """
    told = [
        i for fact in ("oddity", "last-line") for i in job.of_fact(fact)
        if i.rank is None and says_no_more(i) and i.fields.get("_shared") is not True
        and all(compare(i.finding, loss.finding) == -1 for loss in lost)
    ]  # fmt: skip
    writers = {(i.finding.source, i.finding.stream) for i in told}
    lines = [e.line or 0 for i in told for e in i.finding.evidence]
    together = bool(lines) and max(lines) - min(lines) < len(lines)
    return told[0] if len(writers) == 1 and (together or next(iter(writers))[1]) else None


def _left_the_nameless(job: Job, ledger: Ledger) -> Iterator[Item]:
    """One rank said that it is through before as many as all others lost a connection, whose lines bear no names."""
    lost = [i for i in job.of_tag("peer-loss") if i.finding.raised]
    size = ledger.identities.world_size or len(ledger.members)
    if (
        any(i.rank is not None for i in lost)
        or sum(i.finding.count for i in lost) != size - 1
        or size < _FEWEST
    ):
        return
    if any(i.rule.role == "cause" for i in job.items) or any(end.failed for end in ledger.exits.values()):
        return
    farewells = {rank: said for rank in ledger.members if (said := stopped(job, rank)) is not None}
    if len(farewells) == 1 and not ledger.finished:
        ((rank, said),) = farewells.items()
        yield _early(job, [rank], [said], lost)


_FEWEST = 3
"""Ranks of which one is told from the others."""


def left_over(job: Job, ledger: Ledger) -> Iterator[Item]:
    """The one rank that lost its peers, where torchrun, which lists all that ended badly, lists nobody else: they had ended well.

    It may have told some of the others to end, which were about to, and list these: then that rank alone had not come as far.
    """
    told = {rank for rank, end in ledger.exits.items() if end.failed and end.orderly}
    failed = {rank for rank, end in ledger.exits.items() if end.failed} - told
    if (
        len(failed) != 1
        or set(ledger.bereft) - told != failed
        or not set(ledger.waiting) <= failed
        or job.cut
    ):
        return
    if told and {item.rank for item in job.of_fact("behind")} != failed:
        return
    others = set(ledger.members) - failed - told
    listed = {item.number("rank") for item in job.of_rule(LISTED)}
    if len(others) < FEWEST or not others <= set(ledger.seen) or listed != failed | told:
        return
    if any(
        item.rank in others and (item.rule.fact == "exception" or item.rule.role in {"cause", "symptom"})
        for item in job.items
    ):
        return
    (rank,) = failed
    yield verdict(job, "ledger.left-over", {"ranks": (rank,)}, [ledger.bereft[rank]], rank=rank)


def _last_error(job: Job, rank: int) -> Item | None:
    """The exception that a rank mentions in its last words, as an error."""
    last = said_last(job, rank)
    told = [
        i for i in job.of_fact("mention")
        if i.rank == rank
        and (i.finding.level in {"error", "fatal"} or last is None or compare(i.finding, last.finding) != -1)
    ]  # fmt: skip
    return max(told, key=lambda i: i.finding.offset, default=None)
