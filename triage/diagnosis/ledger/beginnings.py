"""What goes wrong before the first collective: communicators that not everybody makes, ranks on one GPU."""

from __future__ import annotations

from collections.abc import Iterator

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.ledger import FAULTS, Ledger
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.ranks.nodes import NOWHERE
from triage.model import Value


def initialisation(job: Job, ledger: Ledger) -> Iterator[Item]:
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
            if any(end.signal in FAULTS for rank, end in ledger.exits.items() if rank in stuck):
                return  # one crashed in the midst of it: the others could not finish
            fields = {"ranks": stuck, "nranks": size, "completed": len(completed)}
            yield verdict(job, "ledger.init-incomplete", fields, [started[r] for r in stuck])
        return


def placement(job: Job, ledger: Ledger) -> Iterator[Item]:
    """Two ranks with one local rank on one host share a GPU: two nodes' launchers ran on one node."""
    if any(item.rule.id.startswith("torch.gloo") for item in job.items):
        return  # ranks that talk over gloo need no GPU of their own
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
