"""Ranks that ended as if all were well while the others went on, until these lost them or their launcher lost patience."""

from __future__ import annotations

from collections.abc import Iterator

from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.absence import stopped
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.parting import said_last
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value


def left_first(job: Job) -> Iterator[Item]:
    """The few that left, by what the launcher tells and by what they said last; where most left, the others are slow."""
    for item in job.of_fact("left-first"):
        ranks, running = item.ranks("ranks"), item.ranks("running")
        if not ranks or len(ranks) >= len(running):
            continue
        if any(i.rank in ranks and (i.finding.raised or i.rule.role == "cause") for i in job.items):
            continue
        said = [word for rank in ranks if (word := stopped(job, rank) or said_last(job, rank)) is not None]
        fields: dict[str, Value] = {"ranks": ranks, "seq": None, "op": None}
        one = ranks[0] if len(ranks) == 1 else None
        yield verdict(job, "ledger.finished-early", fields, [*said[:2], item], rank=one)
        return


AGENT_IS_DONE = "torch.exit-barrier"
"""What an agent says whose own workers have ended, and ended well where it says of none that it failed."""
ON_THE_WAY_OUT = "torch.group-not-destroyed"


def left_quietly(job: Job, ledger: Ledger) -> Iterator[Item]:
    """The few that left the interpreter without an error, before the others lost them or waited in vain."""
    lost = {**{r: w.item for r, w in ledger.waiting.items()}, **ledger.bereft}
    if not lost or ledger.finished or job.cut:
        return
    gone = {**_through_by_their_agent(job, ledger), **_on_their_way_out(job, lost)}
    gone = {r: item for r, item in gone.items() if r not in lost and _ended_well(job, ledger, r, item)}
    if not gone or len(gone) >= len(lost) or set(ledger.members) - set(gone) - set(lost):
        return
    ranks = tuple(sorted(gone))
    said = [word for rank in ranks if (word := said_last(job, rank)) is not None]
    fields: dict[str, Value] = {"ranks": ranks, "seq": None, "op": None}
    one = ranks[0] if len(ranks) == 1 else None
    first = min(lost.values(), key=lambda item: (item.finding.source, item.finding.offset))
    yield verdict(job, "ledger.finished-early", fields, [gone[ranks[0]], *said[:1], first], rank=one)


def _through_by_their_agent(job: Job, ledger: Ledger) -> dict[int, Item]:
    """All ranks of a log in which the agent waits for other nodes, and in which no worker failed."""
    failed = {i.finding.source for i in job.of_fact("rank-exit")}
    found: dict[int, Item] = {}
    for item in job.of_rule(AGENT_IS_DONE):
        source = item.finding.source
        if source in failed:
            continue
        own = {i.rank for i in job.items if i.finding.source == source and i.rank is not None}
        found |= dict.fromkeys(own & set(ledger.members), item)
    return found


def _on_their_way_out(job: Job, lost: dict[int, Item]) -> dict[int, Item]:
    """Ranks that ended the interpreter before anybody else complained."""
    return {
        i.rank: i for i in job.of_rule(ON_THE_WAY_OUT)
        if i.rank is not None and all(compare(i.finding, other.finding) == -1 for other in lost.values())
    }  # fmt: skip


def _ended_well(job: Job, ledger: Ledger, rank: int, left: Item) -> bool:
    """Whether nothing says that a rank failed until it left; what its agent raises afterwards is not its own."""
    end = ledger.exits.get(rank)
    if end is not None and end.broke:
        return False
    return not any(
        i.rank == rank and (i.finding.raised or i.rule.role == "cause") and compare(i.finding, left.finding) == -1
        for i in job.items
    )  # fmt: skip
