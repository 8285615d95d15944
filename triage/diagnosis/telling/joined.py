"""What other lines of a log add to where a failure began: the GPU that the same line names, the host's own name."""

from __future__ import annotations

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.nodes import NOWHERE
from triage.model import Origin
from triage.scan.lazy import compiled

_ADDRESS = r"[\d.]+|[\da-fA-F:]*:[\da-fA-F:]*"


def joined(job: Job, origin: Origin, lead: Item) -> Origin:
    """``origin`` with the GPU that the line of ``lead`` names, and with its host as the host calls itself."""
    if origin.rank is None or len(origin.ranks) > 1:
        return origin
    if origin.gpu is None and origin.pci_bus_id is None:
        named = {
            gpu
            for item in job.items
            if (item.finding.source, item.finding.offset) == (lead.finding.source, lead.finding.offset)
            and (gpu := item.number("gpu") if item.finding.gpu is None else item.finding.gpu) is not None
        }
        if len(named) == 1:
            origin = origin._replace(gpu=named.pop())
    source = job.source_of(lead.finding)
    if source is None or source.host is None or origin.host != source.host:
        return origin
    own = {
        host
        for item in job.items
        if item.finding.source == lead.finding.source
        and item.number("rank") == origin.rank
        and (host := item.text("host")) is not None
        and host not in NOWHERE
        and compiled(_ADDRESS).fullmatch(host) is None
    }
    return origin._replace(host=own.pop()) if len(own) == 1 else origin
