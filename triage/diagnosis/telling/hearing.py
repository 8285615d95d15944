"""The rank of a cause whose own line names none: by its pid, its node, or what others say of it."""

from __future__ import annotations

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import TROUBLE, Item
from triage.diagnosis.ledger.sites import MISMATCH
from triage.diagnosis.ranks.identity import SPAWNED
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.answered import CUDA_ERROR, raised_by_nobody, stated_by
from triage.diagnosis.telling.met import (
    GONE,
    by_pid,
    ended_where_raised,
    on_host,
    on_its_node,
)
from triage.diagnosis.telling.on_gpu import rank_on_gpu
from triage.diagnosis.telling.speaking import speakers_of, thrown_or_raised
from triage.scan.lazy import compiled

FEWEST_CONTENT = 2
"""Ranks that are heard of and do not say the same, by which one that does is known to be alone."""


def on_another_gpu(lead: Item, rank: int, identities: Identities) -> bool:
    """Whether a line that was only logged names another GPU than that of ``rank``, which died of something.

    An exception's words are those of the process that it ended, whatever number its GPU has there.
    """
    gpu = lead.number("gpu")
    own = identities.seat(rank).local_rank
    if own is None and identities.single_node:
        own = rank
    return not thrown_or_raised(lead) and None not in (gpu, own) and gpu != own


_OF_ONE = frozenset({"gpu-oom", "rank-crash", "cuda-kernel"})
"""Categories of which a rank dies itself: the one that ended badly is the one that said it."""


_GIVEN_UP = frozenset({"numerics", "shm"})
"""Categories that end who meets them; what is sure of its cause is no mere warning."""
_SURE = 0.8


def _ends_its_writer(lead: Item) -> bool:
    """Whether who prints such a line, as nobody else does, is the one that it ends."""
    sure = lead.rule.category in _GIVEN_UP and lead.rule.confidence >= _SURE
    return lead.rule.category in _OF_ONE or (sure and lead.finding.count == 1)


_LAST_WORDS = ("unknown.said-", "unknown.last-words", "unknown.like-")
_CALLED = ("program", "name")
_BY_RANK = r"(?i)(?:global[ _])?rank[ _#:-]?(\d{1,5})|\w*WorkerDict_0:(\d{1,3})(?::[\w.]+)?"
"""A name that is a rank, or verl's for the workers of its first node."""
_BY_PID = r"(?i)(?:process|child|pid)[ _#:=-]?(\d{3,8})"
_MISSED = frozenset(
    {"ledger.never-entered", "ledger.never-entered-silent", "ledger.vanished", "ledger.swallowed-exception"}
)
"""Verdicts on who is not where the others wait."""


def sender(candidate: Candidate, identities: Identities) -> int | None:
    """The one rank from which all others got what they did not expect."""
    if candidate.lead.rule.id != MISMATCH:
        return None
    met = speakers_of(candidate)
    left = set(identities.heard) - met
    return left.pop() if len(met) >= FEWEST_CONTENT and None not in met and len(left) == 1 else None


def told_by_others(candidate: Candidate, identities: Identities) -> list[int]:
    """The rank of a cause whose own line names none: by its pid, or by the error that it led to.

    A device-side assertion goes to standard output without a rank; the CUDA error that follows from it
    is raised by the rank. The kernel's OOM killer names a pid.
    """
    lead = candidate.lead
    if lead.rule.origin == "job":
        return []
    names = (item.text(name) or "" for item in candidate.items for name in _CALLED)
    called = next((m for name in names if (m := compiled(_BY_RANK).fullmatch(name))), None)
    if called is not None:
        return [int(called[1] or called[2])]  # who started it calls it by its rank
    process = compiled(_BY_PID).fullmatch(lead.text("name") or "")
    if process is not None and (rank := identities.rank_of_pid(int(process[1]))) is not None:
        return [rank]
    # a thread's exception ends no process: who ended did so for what came of it, as others may have
    several = _said_by_several(candidate, identities)
    on_gpu = None if several else rank_on_gpu(lead, identities)
    if on_gpu is not None and lead.rule.origin == "speaker":
        return [on_gpu]
    alone = None if several or lead.fields.get("_thread") is True else identities.alone(lead.finding)
    if alone is None and identities.world_size == 1:
        alone = 0  # there is nobody else
    if (
        alone is not None
        and (thrown_or_raised(lead) or _ends_its_writer(lead) or lead.rule.id.startswith(_LAST_WORDS))
        and lead.rule.origin == "speaker"
        and not on_another_gpu(lead, alone, identities)
    ):
        return [alone]  # last words without a name, and one process that died of something
    missed = {r for effect in candidate.led_to if effect.rule_id in _MISSED for r in effect.ranks}
    if len(missed) == 1 and _dying_words(candidate):
        return [missed.pop()]
    if lead.rank is None and lead.rule.origin == "speaker" and raised_by_nobody(candidate):
        if not missed and identities.missing is not None:
            missed = {identities.missing}
        if not missed and identities.behind is not None:
            missed = {identities.behind}
        if not missed and identities.first_ended is not None:
            missed = {identities.first_ended}
        if not missed and identities.accused is not None:
            missed = {identities.accused}
        if len(missed) == 1:
            return [missed.pop()]  # nobody else has a reason not to be where all others are
    if (
        lead.rule.origin == "speaker"
        and not several
        and (lead.rule.category in _OF_ONE or any(thrown_or_raised(item) for item in candidate.items))
    ):
        lost = {r for effect in candidate.led_to if _named_dead(effect.lead) for r in effect.ranks}
        if len(lost) == 1:
            return [lost.pop()]  # one process raised an error, and one is told to be gone
    if lead.rule.origin == "speaker" and not several:
        boxed = {
            i.number("rank") for i in candidate.explains
            if "wrapper" in i.rule.tags and i.rule.id in lead.rule.explains and "rank" in i.rule.origin_fields
        } - {None}  # fmt: skip
        if len(boxed) == 1:
            return [
                rank for rank in boxed if rank is not None
            ]  # the program prints its words in a box, with its rank
    told = lead.rule.category in {"rank-crash", "host-oom", "cuda-kernel"} or lead.rule.fact == "rank-exit"
    if told and lead.rule.origin != "node":
        died = {by_pid(item, identities) for item in candidate.items} - {None}
        if len(died) == 1:
            return [rank for rank in died if rank is not None]
        killed = _by_signal(candidate)
        if killed is not None:
            return [killed]
    if lead.rule.category == "rank-crash" and identities.deserter is not None:
        return [identities.deserter]
    echoed = _echoed(candidate)
    if echoed is not None:
        return [echoed]
    spawned = {i.number("local_rank") for i in candidate.explains if i.rule.id == SPAWNED} - {None}
    if len(spawned) == 1 and not candidate.of_ledger and lead.rank is None:
        number = spawned.pop()
        rank = identities.rank_of_local(number, lead.finding.host, lead.finding)
        if rank is None and identities.single_node and _with_rank_zero(candidate):
            rank = number  # the first node's processes count as ranks do
        if rank is not None and not on_another_gpu(lead, rank, identities):
            return [rank]  # who started it says which of its processes raised it
    if lead.rule.category == "gpu-hardware":
        there = identities.ranks_on(lead.finding.host)
        if len(there) == 1:
            return [*there]  # whichever of the node's GPUs it was, nobody else of the job runs there
        # the kernel names a GPU; the one rank whose CUDA calls failed for it was on that GPU
        victims = {i.rank for effect in candidate.led_to for i in effect.items if i.rank is not None}
        victims = on_host(victims, lead, identities) or ended_where_raised(candidate, identities)
        victims = victims or on_host(
            {
                i.rank
                for i in candidate.explains
                if i.rank is not None and set(TROUBLE).isdisjoint(i.rule.tags)
            },
            lead,
            identities,
        )
        return list(victims) if len(victims) == 1 else []
    started = identities.rank_of_pod(lead.text("program"))
    if started is not None:
        return [started]  # who started the process calls it so, and its log is named alike
    if lead.rule.origin == "node":
        return on_its_node(candidate, identities)
    if candidate.of_ledger:
        return []  # it names whom it can
    found = [
        effect.lead.rank
        for effect in candidate.led_to
        if effect.lead.finding.raised and effect.lead.rank is not None
        and (effect.lead.rule.category == lead.rule.category or CUDA_ERROR in effect.lead.rule.tags)
    ]  # fmt: skip
    if not found and alone is not None and not lead.finding.stream and any(
        CUDA_ERROR in effect.lead.rule.tags and thrown_or_raised(effect.lead) and not effect.lead.finding.stream
        for effect in candidate.led_to
    ):  # fmt: skip
        return [alone]  # neither the assertion nor the error that followed has a name; one process died
    return found[:1] or stated_by(candidate) or _by_device(lead, identities)


def _dying_words(candidate: Candidate) -> bool:
    """Whether one process wrote, past all prefixes, what it says that dies in native code."""
    lead = candidate.lead
    nobody = lead.rank is None and not lead.finding.stream and lead.rule.origin == "speaker"
    return (
        nobody and lead.rule.category == "rank-crash" and sum(i.finding.count for i in candidate.items) == 1
    )


def _said_by_several(candidate: Candidate, identities: Identities) -> bool:
    """Whether words that bear no name stand there as often as there are ranks: of those that died one is told of first."""
    nameless = all(i.rank is None and not i.finding.stream for i in candidate.items)
    raised = [i.finding.count for i in candidate.items if i.finding.raised]
    if nameless and len(raised) == len(candidate.items):
        return sum(raised) >= _SEVERAL
    times = sum(i.finding.count for i in candidate.items)
    return nameless and not raised and times >= len(identities.heard) >= FEWEST_CONTENT


_SEVERAL = 3
"""Times that the same is raised by whom no line names: it is nobody's own."""


def _by_device(lead: Item, identities: Identities) -> list[int]:
    """The rank whose own device an allocator names, where the launcher of its node told which ranks it started.

    Programs that are launched once for each GPU take the one of their local rank. Number 0 may also be that of a
    process which sees no other.
    """
    gpu = lead.number("gpu")
    if not gpu or "oom-message" not in lead.rule.tags or not thrown_or_raised(lead):
        return []
    rank = identities.nodes.rank(gpu, lead.finding.host, lead.finding)
    size = identities.world_size
    return [] if rank is None or (size is not None and rank >= size) else [rank]


def _named_dead(lead: Item) -> bool:
    """Whether somebody says by its number which process is gone."""
    return lead.rule.category == "rank-crash" and "rank" in lead.rule.origin_fields


def _with_rank_zero(candidate: Candidate) -> bool:
    """Whether rank 0 complains in the log of the cause: it is that of the first node."""
    return any(i.rank == 0 and i.finding.source == candidate.lead.finding.source for i in candidate.explains)


def _by_signal(candidate: Candidate) -> int | None:
    """The one rank that is told to have died of the very signal that a process names in its last words."""
    signal = candidate.lead.text("signal")
    dead = {
        rank for effect in candidate.led_to
        if effect.rule_id in GONE and signal is not None and effect.lead.text("signal") == signal
        for rank in effect.ranks
    }  # fmt: skip
    return dead.pop() if len(dead) == 1 and len(candidate.items) == 1 else None


def _echoed(candidate: Candidate) -> int | None:
    """The rank whose watchdog thread passes on what was raised without saying where."""
    lead = candidate.lead.finding
    if lead.rank is not None or candidate.of_ledger:
        return None
    message = " ".join(lead.evidence[0].text.split())
    told = {
        item.rank
        for item in candidate.explains
        if item.rule.id == "torch.watchdog-messenger" and (item.text("what") or "?").split("\n")[0] in message
    }
    return told.pop() if len(told) == 1 else None
