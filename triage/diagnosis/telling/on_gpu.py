"""The rank whose process names a GPU of its own in what it raised, where nothing else tells who wrote that."""

from __future__ import annotations

from triage.diagnosis.job import Item
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.speaking import thrown_or_raised
from triage.scan.lazy import compiled

_DEVICE = r"cuda:(\d{1,3})"


def rank_on_gpu(lead: Item, identities: Identities) -> int | None:
    """The rank on the GPU that an exception names: a program says on which it is, or it is that of its local rank.

    A process that sees one GPU alone calls it 0, whichever it is.
    """
    if (
        lead.rank is not None
        or lead.finding.stream
        or not thrown_or_raised(lead)
        or not identities.single_node
    ):
        return None
    gpu = _gpu_of(lead)
    if gpu is None:
        return None
    known = {rank: seat.gpu for rank, seat in identities.seats.items() if seat.gpu is not None}
    on_it = [rank for rank, own in known.items() if own == gpu]
    if len(set(known.values())) > 1:
        rank = on_it[0] if len(on_it) == 1 else None
    else:
        rank = (
            next((r for r, seat in identities.seats.items() if seat.local_rank == gpu), None) if gpu else None
        )
    if identities.ended_badly and rank not in identities.ended_badly:
        return None  # one that goes on after it says so no more than others
    return rank


def _gpu_of(lead: Item) -> int | None:
    """The GPU that an exception names as that of its process; None of several."""
    gpu = lead.number("gpu")
    if gpu is not None:
        return gpu
    named = {
        int(device[1]) for name in ("a", "b")
        if (device := compiled(_DEVICE).fullmatch(lead.text(name) or "")) is not None
    }  # fmt: skip
    return named.pop() if len(named) == 1 else None
