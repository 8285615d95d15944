"""The ranks of the pods that a failure is about."""

from __future__ import annotations

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
    everyone = {rank for found in identities.pods.values() for rank in found}
    whole = named and all(held) and ranks < everyone
    if candidate.lead.rule.origin == "job" and not _as_many_as_missed(identities, len(ranks)):
        return []
    return sorted(ranks) if whole else []


def _as_many_as_missed(identities: Identities, count: int) -> bool:
    """Whether what might have met every pod met no others: all are listed, or as many ranks were missed."""
    if len(identities.statuses.keys() & identities.pods.keys()) == len(identities.pods) > count:
        return True
    return identities.missed == count


def _held(name: str, identities: Identities) -> tuple[int, ...]:
    """The ranks in a pod, or in those of a node, of which events tell beside those of pods."""
    node = name.removeprefix(_NODE)
    return identities.pods.get(name, ()) if node == name else identities.ranks_on(node)


_NODE = "node/"
_LATER = frozenset(
    {None, "Running", "Completed", "Succeeded", "Error", "Failed", "OOMKilled", "CrashLoopBackOff", "Terminating",
     "Terminated", "Unknown"}
)  # fmt: skip
"""What lists say of pods that ran: others may have come to the same for another reason."""
