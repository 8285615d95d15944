"""The rank whose process names a GPU of its own in what it raised, where nothing else tells who wrote that."""

from __future__ import annotations

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.speaking import thrown_or_raised
from triage.model import Origin
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


_HELD, _SUBPROCESS = "gpu.smi-memory-held", "deepspeed.killing-subprocess"
_OUT_OF_MEMORY = "torch.cuda-out-of-memory"


def numbered_as_gpu(job: Job, origin: Origin, lead: Item, identities: Identities) -> Origin:
    """``origin`` with the rank whose local number, or number, the GPU has, where it is known how many processes were started.

    Which GPU it was the exception says, or ``nvidia-smi`` does of the only one whose memory somebody held. A launcher
    that lists whom it kills lists all that it started; the command that it shows then is not that of whoever failed.
    """
    if origin.rank is not None or origin.ranks or lead.rule.origin == "job" or not identities.single_node:
        return origin
    if lead.rank is not None or lead.finding.stream or not thrown_or_raised(lead):
        return origin
    if sum(i.finding.count for i in job.of_rule(lead.rule.id) if i.finding.raised) > 1:
        return origin
    started = {i.number("pid") for i in job.of_rule(_SUBPROCESS) if not i.finding.stream}
    gpu = _gpu_of(lead)
    held = {i.number("gpu") for i in job.of_rule(_HELD)} if lead.rule.id == _OUT_OF_MEMORY else set()
    if gpu is None and len(held) == 1:
        gpu = held.pop()
    elif gpu == 0:
        return origin
    size = len(started)
    if identities.world_size not in {None, size}:
        return origin  # there are other nodes, with GPUs of the same numbers
    failed = identities.ended_badly
    local = {seat.local_rank: rank for rank, seat in identities.seats.items() if seat.local_rank is not None}
    rank = local.get(gpu) if local and gpu is not None else gpu
    if rank is None or rank >= size or (failed and rank not in failed):
        return origin
    return origin._replace(rank=rank, ranks=(rank,), gpu=gpu)


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
