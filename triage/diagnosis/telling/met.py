"""The rank that a fault of a node met, where the line that tells of the fault names none."""

from __future__ import annotations

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import Item
from triage.diagnosis.ranks.nodes import short
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.speaking import speakers_of, thrown_or_raised


def on_its_node(candidate: Candidate, identities: Identities) -> list[int]:
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
    rank = by_pid(lead, identities)
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
        or (effect.of_ledger and (effect.rule_id in GONE or lead.rule.category == "host-oom"))
        for r in effect.ranks
    }  # fmt: skip
    dead = on_host(dead, lead, identities)
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
    hit = on_host(hit, lead, identities)
    hit = hit or _behind_port(candidate, identities)
    # what a library's native code says without a name, one rank raises once more
    hit = hit or {
        i.rank for i in candidate.explains
        if i.finding.raised and i.rank is not None and i.rule.id in lead.rule.explains
    }  # fmt: skip
    return list(hit) if lead.rank is None and len(hit) == 1 else []


def on_host(ranks: set[int], lead: Item, identities: Identities) -> set[int]:
    """``ranks`` without those that are known to run on another host than that of which ``lead`` tells."""
    host = None if lead.finding.host is None else short(lead.finding.host)
    hosts = {rank: short(seat.host) for rank, seat in identities.seats.items() if seat.host is not None}
    if host not in hosts.values():
        return ranks  # pods and containers have names of their own
    return {rank for rank in ranks if hosts.get(rank, host) == host}


def ended_where_raised(candidate: Candidate, identities: Identities) -> set[int]:
    """Who ended where somebody without a name raised what the fault of one device led to, if its agent tells of one."""
    if candidate.lead.text("pci") is None:
        return set()  # what is wrong with all of a node, whoever comes first meets
    raised = [i for effect in _consequences(candidate) for i in effect.items if i.finding.raised]
    if any(i.rank is not None for i in raised):
        return set()
    ranks = {identities.alone(i.finding) for i in raised} - {None}
    return on_host({r for r in ranks if r is not None}, candidate.lead, identities)


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


GONE = frozenset({"ledger.killed", "ledger.vanished"})
"""Verdicts on ranks that are dead."""
_MET_BY_ONE = frozenset({"storage", "shm", "data-loading"})
"""Faults of a node that the process which meets them tells of itself."""


def by_pid(lead: Item, identities: Identities) -> int | None:
    """The rank that runs as the process that a line names, on its host or on the only one."""
    pid = lead.number("pid")
    rank = identities.rank_of_pid(pid, lead.finding.host)
    return identities.rank_of_pid(pid) if rank is None and identities.single_node else rank


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
