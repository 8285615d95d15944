"""What follows from the end of another process: of one that somebody watches, or of a server that clients need."""

from __future__ import annotations

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import comparable, compare

_SOON = 120.0
"""Seconds within which whoever loses a worker stumbles over that."""
_KILLED = "ledger.killed"
"""The verdict on a death by a signal: who leaves with a code may have raised, further below, what ended it."""


def outlived(death: Candidate, raised: Candidate) -> bool:
    """Whether ``raised`` is what no rule knows, of a process that had just told of ``death``.

    Who waits for a worker's answer, or uses a queue that was torn down with it, stumbles in words of its own.
    """
    gone, said = death.lead, raised.lead
    told = death.rule_id == _KILLED or ("rank-exit" in gone.rule.tags and gone.rule.category == "rank-crash")
    unknown = "unclaimed" in said.rule.tags or said.rule.id.startswith("unknown.like-")
    if not told or not unknown or not said.finding.raised:
        return False
    one, two = gone.finding, said.finding
    # who dies may have said so himself; whoever is no rank had it in his keeping
    watched = one.stream == two.stream or (bool(two.stream) and two.rank is None)
    if one.source != two.source or not watched or compare(one, two) != -1:
        return False
    if one.time is None or two.time is None or not comparable(one.time, two.time):
        return True
    return two.time.seconds - one.time.seconds <= _SOON


_OF_A_CLIENT = "of-a-client"
"""Tag of what clients say of a server that they could not reach."""
_SURE = 0.3
"""How sure it must be that something ended the server."""


def unserved(failure: Candidate, complaint: Candidate) -> bool:
    """Whether ``complaint`` is that of a client, of a server that a failure told in another log may have ended."""
    if _OF_A_CLIENT not in complaint.lead.rule.tags or _OF_A_CLIENT in failure.lead.rule.tags:
        return False
    apart = failure.lead.finding.source != complaint.lead.finding.source
    return apart and failure.score >= _SURE and compare(failure.lead.finding, complaint.lead.finding) != 1
