"""The ranks of the pods that a failure is about."""

from __future__ import annotations

from collections.abc import Collection

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.ranks.seats import Identities


def ranks_in_pods(candidate: Candidate, identities: Identities) -> list[int]:
    """The ranks of all pods of which a cause tells, and of those that are listed as kept from running by the same.

    None where that is every pod, or where one of them holds ranks of which nothing tells.
    """
    named = {pod for item in candidate.items if (pod := item.text("pod")) is not None}
    waiting = {identities.statuses.get(pod) for pod in named} - _LATER
    alike = {pod for pod, said in identities.statuses.items() if said in waiting and pod in identities.pods}
    held = [_held(pod, identities) for pod in named | alike]
    ranks = {rank for found in held for rank in found}
    everyone = {rank for found in identities.pods.values() for rank in found} | {*identities.writers.values()}
    whole = named and all(held) and ranks < everyone
    if candidate.lead.rule.origin == "job" and not _no_others(identities, ranks):
        return []
    return sorted(ranks) if whole else []


def never_started(candidate: Candidate, identities: Identities) -> list[int]:
    """The ranks in pods that are listed as not running, where as many of those that were expected did not arrive."""
    told = {(item.number("expected"), item.number("arrived")) for item in candidate.items} - {(None, None)}
    expected, arrived = told.pop() if len(told) == 1 else (None, None)
    if expected is None or arrived is None or len(identities.idle) != expected - arrived:
        return []
    return sorted(identities.idle)


def pod_of(candidate: Candidate) -> str | None:
    """The one pod of which a cause tells: what its processes call their host."""
    named = {pod for item in candidate.items if (pod := item.text("pod")) is not None}
    one = named.pop() if len(named) == 1 else None
    return None if one is None or one.startswith(_NODE) else one


def _no_others(identities: Identities, ranks: Collection[int]) -> bool:
    """Whether what might have met every pod met no others: all are listed, as many ranks were missed, or others lost them."""
    if len(identities.statuses.keys() & identities.pods.keys()) == len(identities.pods) > len(ranks):
        return True
    if identities.missed is None and identities.bereft:
        return identities.bereft.isdisjoint(ranks)  # the others were left by them
    return identities.missed == len(ranks)


def _held(name: str, identities: Identities) -> tuple[int, ...]:
    """The ranks in a pod, or in those of a node, of which events tell beside those of pods."""
    node = name.removeprefix(_NODE)
    return identities.pods.get(name, ()) if node == name else identities.ranks_on(node)


_NODE = "node/"
_LATER = frozenset(
    {None, "Running", "NotReady", "Completed", "Succeeded", "Error", "Failed", "OOMKilled", "CrashLoopBackOff",
     "Terminating", "Terminated", "Unknown", "ContainerStatusUnknown"}
)  # fmt: skip
"""What lists say of pods that ran: others may have come to the same for another reason."""
