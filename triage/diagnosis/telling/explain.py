"""What ``--explain`` shows: the ledger as rows, the argument in sentences, the timeline."""

from __future__ import annotations

from triage.diagnosis.causes.ranking import Ranking
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.telling.origin import moment_text
from triage.diagnosis.templates import fill, kinds_of
from triage.model import Event, RankState

MAX_EVENTS = 60
_TOLD = frozenset({"restart", "ended-well", "rank-finished", "rank-exit", "external-stop"})


def table(ledger: Ledger, year: int | None) -> tuple[RankState, ...]:
    """One row for each rank of which anything is known, missing ones included."""
    if not (ledger.waits or ledger.exits or ledger.status or ledger.finished or ledger.identities.seats):
        return ()
    waiting = ledger.waiting
    rows: list[RankState] = []
    for rank in sorted(set(ledger.members) | ledger.seen):
        seat = ledger.identities.seat(rank)
        wait = waiting.get(rank)
        group = wait.group if wait else next((g for g, r in ledger.status.items() if rank in r), None)
        status = ledger.status_of(rank, group) if group else None
        ended = ledger.exits.get(rank)
        moved = ledger.progress.get(rank)
        rows.append(
            RankState(
                rank=rank, host=seat.host, local_rank=seat.local_rank, gpu=seat.gpu, pci_bus_id=seat.pci,
                gpu_uuid=seat.uuid, pid=seat.pid,
                status=_status(rank, ledger),
                group=ledger.descriptions.get(group, group) if group else None,
                sequence=wait.seq if wait else None, operation=wait.op if wait else None,
                elements_in=wait.numel_in if wait else None, elements_out=wait.numel_out if wait else None,
                enqueued=status.enqueued if status else None, completed=status.completed if status else None,
                timeout_s=wait.timeout if wait else None, waited_s=wait.elapsed if wait else None,
                exit_code=ended.code if ended else None, signal=ended.signal if ended else None,
                last_step=moved.number("step") if moved else None,
                time=moment_text(wait.item.finding.time, year) if wait else None,
            )
        )  # fmt: skip
    return tuple(rows)


def _status(rank: int, ledger: Ledger) -> str:
    ended = ledger.exits.get(rank)
    if ledger.waits_somewhere(rank):
        return "timed-out"
    if ended is not None and ended.signal is not None:
        return "killed"
    if ended is not None and ended.code:
        return "exited"
    if rank in ledger.finished:
        return "finished"
    if rank not in ledger.seen:
        return "not-seen"
    return "never-joined" if any(ledger.waits.values()) else "seen"


def reasoning(ranking: Ranking, ledger: Ledger) -> tuple[str, ...]:
    """The argument: who explains whom, and why the runner-up lost."""
    if not ranking.causes:
        return ()
    best = ranking.causes[0]
    lines = [f"{best.rule_id} (score {best.score:.2f}): " + "; ".join(best.reasons)]
    if best.explains:
        kinds = {i.rule.id for i in best.explains}
        kinds_of_it = "the one kind of symptom" if len(kinds) == 1 else f"all {len(kinds)} kinds of symptoms"
        lines.append(f"it explains {kinds_of_it} that {'was' if len(kinds) == 1 else 'were'} found")
    for other in ranking.causes[1:8]:
        if other.explained_by is not None:
            lines.append(f"{other.rule_id} follows from {other.explained_by.rule_id}: {other.why_explained}")
        else:
            lines.append(f"{other.rule_id} (score {other.score:.2f}) is weaker: " + "; ".join(other.reasons))
    for other in ranking.survived[:4]:
        if other.survived is not None and other.survived.finding.evidence:
            at = other.survived.finding.evidence[-1]
            lines.append(f"{other.rule_id} was survived: the job went on at {at.path}:{at.line}")
    if ledger.waiting:
        lines.append(f"{len(ledger.waiting)} of {len(ledger.members) or '?'} ranks waited in a collective")
    return tuple(lines)


def timeline(job: Job, ledger: Ledger, year: int | None) -> tuple[Event, ...]:
    """What happened, in order as far as it is known; folded findings appear once."""
    told: list[tuple[tuple[float, int, int], Item]] = []
    for item in job.items:
        if item.rule.role not in {"cause", "symptom"} and item.rule.fact not in _TOLD:
            continue
        if item.finding.source < 0:
            continue  # what the receipt says is no event
        if item.concluded:
            continue
        time = item.finding.time
        wall = time.seconds if time is not None and time.clock in {"wall", "yearless"} else None
        told.append(((wall if wall is not None else 0.0, item.finding.source, item.finding.offset), item))
    if any(key[0] == 0.0 for key, _ in told):
        told.sort(key=lambda entry: entry[0][1:])
    else:
        told.sort(key=lambda entry: entry[0])
    events: list[Event] = []
    for _, item in told[:MAX_EVENTS]:
        evidence = item.finding.evidence[0] if item.finding.evidence else None
        events.append(
            Event(
                time=moment_text(item.finding.time, year),
                rank=ledger.identities.rank_of(item.finding),
                host=item.finding.host,
                what=fill(item.rule.title, item.fields, kinds_of(item.rule)),
                rule_id=item.rule.id,
                path=evidence.path if evidence else job.sources[item.finding.source].name,
                line=evidence.line if evidence else None,
            )
        )
    return tuple(events)
