"""The node of which all ranks, and no others, met what all ranks of a job might have met."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.speaking import speakers_of

_OF_ITS_SETUP = frozenset(
    {"config", "driver-or-version", "user-code", "storage", "shm", "auth-or-hub", "gpu-hardware"}
)
"""Categories of what may be otherwise on one node: its files, its driver, the command that was started there."""
_FEWEST = 2


def all_of_a_node(candidate: Candidate, identities: Identities) -> tuple[str | None, tuple[int, ...]]:
    """The host and its ranks, where those alone raised the same.

    Where the first node's fail alone, the others may only have had no time to.
    """
    if candidate.of_ledger or candidate.lead.rule.category not in _OF_ITS_SETUP:
        return None, ()
    met = {rank for rank in speakers_of(candidate) if rank is not None}
    if len(met) < _FEWEST or 0 in met or any(item.rank is None for item in candidate.items):
        return None, ()
    host = _ended_together(candidate, met)
    if host is None and identities.heard - met:
        host = next((at for at, ranks in identities.residents.items() if set(ranks) == met), None)
    return (None, ()) if host is None else (host, tuple(sorted(met)))


def _ended_together(candidate: Candidate, met: AbstractSet[int]) -> str | None:
    """The host on which the launcher of all ranks saw these end with a code, and nobody else with the same."""
    hosts: set[str | None] = set()
    ended: set[int] = set()
    codes = set()
    exits = [i for i in candidate.explains if i.rule.fact == "rank-exit" and i.text("host") is not None]
    for item in exits:
        if not met.isdisjoint(item.ranks("ranks")):
            hosts.add(item.text("host"))
            codes.add(item.number("exit_code"))
    for item in exits:
        if item.number("exit_code") in codes:
            ended.update(item.ranks("ranks"))
    return hosts.pop() if len(hosts) == 1 and ended == met else None
