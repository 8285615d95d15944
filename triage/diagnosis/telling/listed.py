"""The ranks that an exception of all ranks says it is about."""

from __future__ import annotations

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.model import Origin

_LISTS = "torch.dcp-failed"
"""What a distributed checkpoint raises everywhere, with the numbers of those on which it failed."""


def listed(job: Job, origin: Origin, lead: Item, identities: Identities) -> Origin:
    """``origin`` with the ranks on which the lead was raised, as the exception lists them that passes it on; none where it lists all."""
    if not lead.finding.raised:
        return origin
    lists = {
        item.ranks("ranks") for item in job.of_rule(_LISTS)
        if item.finding.source == lead.finding.source and item.finding.offset <= lead.at_last.offset
    }  # fmt: skip
    if len(lists) != 1:
        return origin
    ranks = sorted(lists.pop())
    size = identities.world_size or max([*ranks, *identities.heard], default=0) + 1
    if origin.rank is not None:
        # a log that breaks off shows what one of them raised; the others had met the same
        alike = 1 < size <= len(ranks) and set(origin.ranks) <= set(ranks)
        return origin._replace(rank=None, ranks=(), local_rank=None) if alike else origin
    if not ranks or len(ranks) >= size or not set(origin.ranks) <= set(ranks):
        return origin
    if lead.rule.origin == "node" and 2 * len(ranks) > size:
        return origin  # what most of them met, the others would have
    ranks = sorted(origin.ranks) or ranks
    return origin._replace(rank=ranks[0], ranks=tuple(ranks))
