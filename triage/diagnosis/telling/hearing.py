"""The rank of a cause whose own line names none: by its pid, its node, or what others say of it."""

from __future__ import annotations

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import TROUBLE, Item
from triage.diagnosis.ledger.sites import MISMATCH
from triage.diagnosis.ranks.identity import SPAWNED
from triage.diagnosis.ranks.nodes import short
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.answered import CUDA_ERROR, raised_by_nobody, stated_by
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

_THROWN = r"\s*(?:what\(\):|terminate called |(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): |(?:[a-z_]\w*\.)+[A-Z]\w+: )"
FEWEST_CONTENT = 2
"""Ranks that are heard of and do not say the same, by which one that does is known to be alone."""


def speakers_of(candidate: Candidate) -> set[int | None]:
    """Who said it. What nobody in particular says and a rank repeats word for word was said by that rank.

    Both Python's own hook for exceptions and torch's, which names the rank, may print one. Where the lead was raised, a
    mere warning of the like says nothing of who raised it.
    """
    items = (
        [i for i in candidate.items if thrown_or_raised(i)]
        if thrown_or_raised(candidate.lead)
        else candidate.items
    )
    ranks = {item.rank for item in items}
    said = {_said(item) for item in items if item.rank is not None}
    if None in ranks and all(_repeated(_said(item), said) for item in items if item.rank is None):
        ranks.discard(None)
    quoted = _quoted(candidate) if ranks == {None} and len(items) == 1 else set()
    return quoted if len(quoted) == 1 else ranks


def _repeated(nameless: str, said: set[str]) -> bool:
    """Whether a line without a name says what one with a name says: the same, or the message of an exception in either."""
    own = _message(nameless)
    return nameless in said or any(
        (len(m := _message(words)) >= _ENOUGH_WORDS and m in nameless)
        or (len(own) >= _ENOUGH_WORDS and own in words)
        for words in said
    )


def _message(words: str) -> str:
    """What an exception says, without its name."""
    return compiled(_NAME).sub("", words, count=1)


_NAME = r"\A(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): "


def _quoted(candidate: Candidate) -> set[int | None]:
    """The ranks in whose name the words of the lead were logged: as what nobody caught, or before it was raised again."""
    lead = candidate.lead.finding
    words = _message(_said(candidate.lead))
    if lead.count > 1 or len(words) < _ENOUGH_WORDS:
        return set()
    return {
        item.rank for item in candidate.items
        if item.rank is not None and item.finding.source == lead.source and words in _said(item)
    }  # fmt: skip


def _said(item: Item) -> str:
    shown = item.finding.evidence[0].text.split("\n")[-1] if item.finding.evidence else ""
    return split_line(shown)[1].strip()


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


def _thrown(lead: Item) -> bool:
    """Whether the line is what an exception said that nobody caught: it ended its process."""
    said = (text for e in lead.finding.evidence[:1] for text in (e.text, split_line(e.text)[1]))
    return any(compiled(_THROWN).match(text) is not None for text in said)


_LAST_WORDS = ("unknown.said-", "unknown.last-words", "unknown.like-")
_CALLED = ("program", "name")
_BY_RANK = r"(?i)(?:global[ _])?rank[ _#:-]?(\d{1,5})|\w*WorkerDict_0:(\d{1,3})(?::[\w.]+)?"
"""A name that is a rank, or verl's for the workers of its first node."""
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
    # a thread's exception ends no process: who ended did so for what came of it, as others may have
    several = _said_by_several(candidate, identities)
    alone = None if several or lead.fields.get("_thread") is True else identities.alone(lead.finding)
    if alone is None and identities.world_size == 1:
        alone = 0  # there is nobody else
    if (
        alone is not None
        and (thrown_or_raised(lead) or lead.rule.category in _OF_ONE or lead.rule.id.startswith(_LAST_WORDS))
        and lead.rule.origin == "speaker"
        and not on_another_gpu(lead, alone, identities)
    ):
        return [alone]  # last words without a name, and one process that died of something
    if lead.rank is None and lead.rule.origin == "speaker" and raised_by_nobody(candidate):
        missed = {r for effect in candidate.led_to if effect.rule_id in _MISSED for r in effect.ranks}
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
        died = {_by_pid(item, identities) for item in candidate.items} - {None}
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
        # the kernel names a GPU; the one rank whose CUDA calls failed for it was on that GPU
        victims = {i.rank for effect in candidate.led_to for i in effect.items if i.rank is not None}
        victims = victims or {
            i.rank for i in candidate.explains if i.rank is not None and set(TROUBLE).isdisjoint(i.rule.tags)
        }
        return list(victims) if len(victims) == 1 else []
    started = identities.rank_of_pod(lead.text("program"))
    if started is not None:
        return [started]  # who started the process calls it so, and its log is named alike
    if lead.rule.origin == "node":
        return _on_its_node(candidate, identities)
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


def _on_its_node(candidate: Candidate, identities: Identities) -> list[int]:
    """The rank that a fault of a node met."""
    lead = candidate.lead
    local = any(i.finding.raised for i in candidate.items) or lead.rule.category in _MET_BY_ONE
    speakers = speakers_of(candidate)
    named = sorted(rank for rank in speakers if rank is not None)
    if local and len(named) == len(speakers) and (len(named) == 1 or set(named) < identities.heard):
        return named
    if lead.rule.category == "network-fabric":
        ends = {identities.rank_of(i.finding) for i in candidate.items}
        if len(ends) == 1 and None not in ends:
            return [
                rank for rank in ends if rank is not None
            ]  # one rank's adapter, of which no other complains
    rank = _by_pid(lead, identities)
    if rank is None and named == [] and thrown_or_raised(lead):
        rank = identities.alone(lead.finding)  # one process raised it, and one ended badly
    if rank is None:
        rank = identities.rank_of_pod(lead.text("pod"))
    if rank is None:
        rank = _parent(candidate)
    if rank is not None:
        return [rank]
    # a kill that another process reports: the one rank whose death follows from it
    dead = {
        r for effect in candidate.led_to
        if "rank-exit" in effect.lead.rule.tags or effect.rule_id == "python.fatal-error"
        or (effect.of_ledger and (effect.rule_id in _GONE or lead.rule.category == "host-oom"))
        for r in effect.ranks
    }  # fmt: skip
    if identities.only_failed in dead:
        dead = {identities.only_failed}  # the others were told to end
    if len(dead) == 1 and len({(i.finding.source, i.finding.host) for i in candidate.items}) == 1:
        return list(dead)
    lost = {i.number("lost") for i in candidate.explains if "peer-loss" in i.rule.tags} - {None}
    if len(lost) == 1 and len(candidate.items) == 1:
        return [rank for rank in lost if rank is not None]  # a peer names whom it lost
    alone = _only_end(candidate, identities)
    if alone is not None:
        return [alone]
    hit = {
        r for effect in _consequences(candidate)
        if effect.lead.finding.raised and effect.lead.rule.category == lead.rule.category
        for r in effect.ranks or [i.rank for i in effect.items if i.rank is not None]
    }  # fmt: skip
    hit = hit or _behind_port(candidate, identities)
    # what a library's native code says without a name, one rank raises once more
    hit = hit or {
        i.rank for i in candidate.explains
        if i.finding.raised and i.rank is not None and i.rule.id in lead.rule.explains
    }  # fmt: skip
    return list(hit) if lead.rank is None and len(hit) == 1 else []


def _behind_port(candidate: Candidate, identities: Identities) -> set[int]:
    """Who complained, on the node with a port that has no link, of that port's adapter."""
    lead = candidate.lead
    down = {port.partition("/")[0] for port in (lead.text("ports") or "").replace(",", " ").split()}
    node = lead.finding.host
    ranks = {
        i.rank for effect in candidate.led_to for i in effect.items
        if (i.text("hca") or "").partition(":")[0] in down
    }  # fmt: skip
    here = [identities.seat(rank).host for rank in ranks if rank is not None]
    if node is None or len(here) < len(ranks) or any(h is None or short(h) != short(node) for h in here):
        return set()  # the other end of a link may have an adapter of the same name
    return {rank for rank in ranks if rank is not None}


def _consequences(candidate: Candidate) -> list[Candidate]:
    """What a candidate led to, and what that led to."""
    found: list[Candidate] = []
    left = list(candidate.led_to)
    while left:
        effect = left.pop()
        if not any(effect is other for other in found):
            found.append(effect)
            left.extend(effect.led_to)
    return found


def _only_end(candidate: Candidate, identities: Identities) -> int | None:
    """The one process that ended by itself with a code of its own, of which a node's fault is the reason."""
    rank = identities.only_failed
    if rank is None or len(candidate.items) > 1 or candidate.lead.finding.stream:
        return None
    host, own = candidate.lead.finding.host, identities.seat(rank).host
    if host is not None and own is not None and short(host) != short(own):
        return None
    ended = (effect for effect in candidate.led_to if effect.rule_id == "ledger.exited")
    return rank if any(rank in effect.ranks for effect in ended) else None


_GONE = frozenset({"ledger.killed", "ledger.vanished"})
"""Verdicts on ranks that are dead."""
_MET_BY_ONE = frozenset({"storage", "shm", "data-loading"})
"""Faults of a node that the process which meets them tells of itself."""


def _with_rank_zero(candidate: Candidate) -> bool:
    """Whether rank 0 complains in the log of the cause: it is that of the first node."""
    return any(i.rank == 0 and i.finding.source == candidate.lead.finding.source for i in candidate.explains)


def _by_pid(lead: Item, identities: Identities) -> int | None:
    """The rank that runs as the process that a line names, on its host or on the only one."""
    pid = lead.number("pid")
    rank = identities.rank_of_pid(pid, lead.finding.host)
    return identities.rank_of_pid(pid) if rank is None and identities.single_node else rank


def thrown_or_raised(lead: Item) -> bool:
    """Whether a process broke down with it, in Python or below."""
    return lead.finding.raised or _thrown(lead)


def _by_signal(candidate: Candidate) -> int | None:
    """The one rank that is told to have died of the very signal that a process names in its last words."""
    signal = candidate.lead.text("signal")
    dead = {
        rank for effect in candidate.led_to
        if effect.rule_id in _GONE and signal is not None and effect.lead.text("signal") == signal
        for rank in effect.ranks
    }  # fmt: skip
    return dead.pop() if len(dead) == 1 and len(candidate.items) == 1 else None


def _parent(candidate: Candidate) -> int | None:
    """The one rank that tells of the same process: its data loader's worker, a child that it started."""
    pid = candidate.lead.number("pid")
    if pid is None:
        return None
    told = {
        i.rank for effect in candidate.led_to for i in effect.items
        if i.rank is not None and i.number("pid") == pid
    }  # fmt: skip
    return told.pop() if len(told) == 1 else None


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


_ENOUGH_WORDS = 16
"""Letters of a message that two processes hardly have in common by chance."""
