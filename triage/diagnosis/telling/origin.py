"""Where a failure began: ranks by the rule's fields, the writer or what others tell, joined with host and GPU."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.causes.candidates import Candidate, blamed
from triage.diagnosis.job import TROUBLE
from triage.diagnosis.ledger.oddities import STOOD_STILL
from triage.diagnosis.ranks.cards import elsewhere, owner
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.first import first_by_clock
from triage.diagnosis.telling.hearing import (
    FEWEST_CONTENT,
    sender,
    told_by_others,
)
from triage.diagnosis.telling.in_pods import never_started, pod_of, ranks_in_pods
from triage.diagnosis.telling.of_a_node import all_of_a_node
from triage.diagnosis.telling.speaking import speakers_of, thrown_or_raised
from triage.diagnosis.words.accused import accused
from triage.model import Moment, Origin
from triage.scan.around import Around
from triage.scan.clock import iso
from triage.scan.lazy import compiled


def origin_of(
    candidate: Candidate, identities: Identities, year: int | None, around: Around | None = None
) -> Origin:
    """Where it began: ranks by the rule's fields or the writer, joined with host and GPU."""
    lead = candidate.lead
    rule, finding = lead.rule, lead.finding
    fields = rule.origin_fields
    ranks = list(dict.fromkeys(r for i in candidate.items for r in blamed(i)))
    if not ranks and rule.origin == "speaker" and not fields:
        rank = identities.rank_of(finding)
        ranks = [] if rank is None else [rank]
    if not ranks and rule.origin == "speaker":
        named = identities.rank_of_name(lead.text("program") or lead.text("name"))
        ranks = [] if named is None else [named]
    if not ranks and rule.origin == "speaker" and rule.id.startswith(_OF_NO_RULE) and not finding.labels:
        writer = identities.rank_of_writer(finding)
        ranks = [] if writer is None else [writer]
    pci = lead.text(fields["pci"]) if "pci" in fields else None
    if pci is not None and not ranks:
        bereft = {
            i.rank for i in candidate.explains
            if i.rank is not None and not set(TROUBLE).isdisjoint(i.rule.tags)
        }  # fmt: skip
        card = owner(identities, pci, finding.host, lead.number("pid"), bereft)
        ranks = [] if card is None else [card]
    in_pods = ranks_in_pods(candidate, identities)
    ranks = ranks or in_pods or never_started(candidate, identities)
    if not ranks:
        ranks = told_by_others(candidate, identities)
        if pci is not None:
            ranks = [rank for rank in ranks if not elsewhere(identities, rank, pci)]
    if len(ranks) > 1 and rule.category == "numerics":
        own = _whose_number(candidate)
        ranks = ranks if own is None else [own]
    if rule.category == "numerics" and identities.not_finite is not None:
        ranks = [identities.not_finite]  # whoever complains of it: from there it spread
    # operations that don't fit each other, or ranks that just stand: who left the common path said so
    apart_from_all = rule.category == "collective-desync" or rule.id in STOOD_STILL
    astray = identities.suspect if apart_from_all else None
    if astray is None and rule.id in STOOD_STILL:
        astray = identities.behind
    if not ranks and astray is not None:
        ranks = [astray]
    left = identities.out_of_the_loop if rule.category == "collective-desync" and not ranks else ()
    alone = accused(lead)
    if alone is None or alone >= (identities.world_size or alone + 1):
        alone = sender(candidate, identities)
    if alone is not None:
        ranks = [alone]
    host = _host_named(candidate)
    uuid = lead.text(fields["uuid"]) if "uuid" in fields else None
    gpu = lead.number(fields["gpu"]) if "gpu" in fields else None
    local = lead.number(fields["local_rank"]) if "local_rank" in fields else None
    if local is not None and not ranks:
        rank = identities.rank_of_local(local, finding.host, finding)
        ranks = [] if rank is None else [rank]
    if rule.origin == "job":
        if alone is None:
            alone = _alone(candidate, identities, around) if astray is None else astray
        if alone is None and in_pods:
            one = in_pods[0] if len(in_pods) == 1 else None
            return Origin(one, tuple(in_pods), time=moment_text(finding.time, year))
        if alone is None and not left:
            host, together = all_of_a_node(candidate, identities)
            host = host if host or together else pod_of(candidate)
            return Origin(ranks=together, host=host, time=moment_text(finding.time, year))
        ranks = [*left] if alone is None else [alone]
    if host is None and rule.origin in {"speaker", "node"}:
        host = finding.host
    if len(ranks) > 1 and candidate.of_ledger and finding.rank is None and rule.id == _ENDED_ALIKE:
        return Origin(ranks=tuple(ranks), host=host, time=moment_text(finding.time, year))
    one = ranks[0] if len(ranks) == 1 else None
    if not candidate.rivals and fields.keys().isdisjoint(("rank", "ranks")):
        if one is None and identities.deviant is not None and finding.raised:
            one = identities.deviant  # what it had otherwise than all others, all refuse
            ranks = [one]
        if one is None and ranks:
            one = _first_met(candidate, ranks, identities, around)
            one = _first_of_all(candidate, ranks, identities) if one is None else one
            if one is None and ranks != [*left]:  # several met the same: who complained first is chance
                return Origin(ranks=tuple(ranks), host=host, time=moment_text(finding.time, year))
            ranks.sort(key=lambda rank: rank != one)
    if one is not None and rule.origin != "node":
        seat = identities.seat(one)
        host = host or seat.host
        local = seat.local_rank if local is None else local
        gpu = (seat.gpu if seat.gpu is not None else finding.gpu) if gpu is None else gpu
        pci = pci or seat.pci
        uuid = uuid or seat.uuid
    known_gpu, known_uuid = identities.gpu_of_pci(pci)
    if candidate.rivals:
        both = [*ranks, *(r for rival in candidate.rivals for r in rival.ranks)]
        return Origin(ranks=tuple(dict.fromkeys(both)), time=moment_text(finding.time, year))
    if ranks == [0] and rule.category == "network-config" and rule.phase == "bootstrap" and not fields:
        # rank 0 makes the communicator's id: it meets a setting of all before the others come to it
        return Origin(host=host, time=moment_text(finding.time, year))
    if not ranks and (rule.origin == "node" or "host" in fields):
        known = identities.ranks_on(host) or identities.ranks_on(lead.text("pod"))
        ranks = [*(known or _complaining_of(candidate, host))]
        one = ranks[0] if len(ranks) == 1 else None
        if one is None and (ranks or host):  # all of the node, no single one
            return Origin(
                ranks=tuple(ranks),
                host=None if host in _ANY_HOST else host,
                time=moment_text(finding.time, year),
            )
    if not ranks and host is None:
        host = pod_of(candidate)
    return Origin(
        rank=ranks[0] if ranks else None,
        ranks=tuple(ranks),
        local_rank=local if local is not None else (finding.local_rank if one is not None else None),
        host=None if host in _ANY_HOST else host,
        gpu=gpu if gpu is not None else known_gpu,
        pci_bus_id=pci,
        gpu_uuid=uuid or known_uuid,
        time=moment_text(finding.time, year),
    )


_ENDED_ALIKE = "ledger.exited"
"""Ranks that ended with the same code; where all did so at once, which of them a launcher lists first is chance."""


def _complaining_of(candidate: Candidate, host: str | None) -> tuple[int, ...]:
    """The ranks that tell of what is wrong with a host, where several do and nobody elsewhere: they all run on it."""
    told = {(item.rank, item.finding.host) for item in candidate.items}
    if len(told) < _FEWEST_ENDS or any(rank is None or at != host for rank, at in told):
        return ()
    return tuple(sorted(rank for rank, _ in told if rank is not None))


def _host_named(candidate: Candidate) -> str | None:
    """The host that the lines name which tell of the failure: the first may leave it out."""
    field = candidate.lead.rule.origin_fields.get("host")
    if field is None:
        return None
    named = dict.fromkeys(host for item in candidate.items if (host := item.text(field)) is not None)
    return candidate.lead.text(field) or (next(iter(named)) if len(named) == 1 else None)


_OF_NO_RULE = "unknown."
"""What is found when it is known already who writes where."""
_ANY_HOST = frozenset({"localhost", "0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104
"""Names and addresses that every machine has for itself: they tell of none."""
_NOT_A_NUMBER = r"(?i)(?<![\w-])[-+]?(?:nan|inf(?:inity)?)(?![\w-])"


def _whose_number(candidate: Candidate) -> int | None:
    """The one rank that says of more numbers than all others that they are none: of its own beside that of all."""
    counts: dict[int, int] = {}
    for item in candidate.items:
        if item.rank is not None and item.finding.evidence:
            words = item.finding.evidence[0].text.split("\n")[-1]
            counts[item.rank] = max(counts.get(item.rank, 0), len(compiled(_NOT_A_NUMBER).findall(words)))
    most = max(counts.values(), default=0)
    odd = [rank for rank, count in counts.items() if count == most]
    return odd[0] if len(odd) == 1 and len(counts) > 1 and min(counts.values()) > 0 else None


_OF_ITS_OWN = frozenset({"rank-crash", "cuda-kernel"})
"""Categories of which each rank has its own: the one that died of it is told from those that were told to end."""


_FEWEST_ENDS = 2
"""Processes that ended, of which one is told from the others."""


def _first_of_all(candidate: Candidate, ranks: Sequence[int], identities: Identities) -> int | None:
    """The one of ``ranks``, which all met the same, that something tells to have been first.

    One alone ended of it; or few of all met it before the rest were told to end, and the first of them
    in the log is the one whose end the launcher saw first.
    """
    if candidate.lead.rule.fact == "rank-exit":
        by_themselves = [rank for rank in ranks if rank not in identities.bereft]
        if len(by_themselves) == 1 and len(ranks) > _FEWEST_ENDS:
            return by_themselves[0]  # the others ended because they had lost it
    seen_first = identities.only_failed
    if seen_first in ranks and candidate.lead.rule.category in _OF_ITS_OWN:
        return seen_first
    fewest = max(ranks) + 1  # ranks that the job has in any case
    few = 2 * len(ranks) < (identities.world_size or fewest)
    return seen_first if few and seen_first == ranks[0] else None


_OF_MANY = frozenset(
    [
        "rendezvous",
        "network-fabric",
        "network-config",
        "topology",
        "scheduler",
        "port-conflict",
        "straggler-or-hang",
        "watchdog-too-short",
    ]
)
"""Categories of which the one that complains is not the one to blame."""


def _first_met(
    candidate: Candidate, ranks: Sequence[int], identities: Identities, around: Around | None
) -> int | None:
    """The one of several that met the same clearly before the others did; None where who complains is not to blame."""
    if candidate.of_ledger or candidate.lead.rule.category in _OF_MANY:
        return None
    return first_by_clock(candidate, ranks, identities, around)


def _alone(candidate: Candidate, identities: Identities, around: Around | None) -> int | None:
    """The one rank that raised what all ranks might have, where the logs show that the others did not."""
    lead = candidate.lead
    ranks = speakers_of(candidate)
    if identities.absentee is not None and ranks == {identities.absentee}:
        return identities.absentee  # it complains of a store at which all others were
    if len(ranks) > 1:
        return _first_met(candidate, [r for r in ranks if r is not None], identities, around)
    if len(ranks) != 1:
        return None
    (rank,) = ranks
    content = len(identities.heard - {rank})
    if (
        rank
        and not candidate.of_ledger
        and lead.rule.category == "network-config"
        and content >= FEWEST_CONTENT
    ):
        return rank  # what is wrong on all nodes, all ranks meet
    if lead.rule.category in _OF_MANY:
        return None
    if rank and not candidate.of_ledger and content >= (1 if thrown_or_raised(lead) else FEWEST_CONTENT):
        return rank
    if lead.rule.category == "collective-desync" or not (thrown_or_raised(lead) or rank is None):
        return None
    if rank is not None and identities.heard <= ranks:
        return rank  # nobody else wrote in these logs
    if rank is None:
        # a wrong setting ends the first rank that meets it, and what several met is nobody's
        if sum(item.finding.count for item in candidate.items if item.rule is lead.rule) > 1:
            return None
        return None if lead.finding.stream or lead.rule.category == "config" else identities.only_failed
    others = {i.rank for i in candidate.explains if i.rank is not None} - ranks
    if identities.went_on is not None and not others:
        said = lead.at_last
        others = set(identities.went_on(said.source, said.offset)) - ranks
    return rank if others or identities.only_failed == rank else None


def moment_text(time: Moment | None, year: int | None) -> str | None:
    """A moment as ISO 8601, None when the log does not tell enough."""
    return None if time is None or time.clock in {"uptime", "daytime"} else iso(time, year)
