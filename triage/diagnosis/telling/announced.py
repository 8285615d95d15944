"""The rank of what was raised without a name, by the words with which another process announces it.

``[ps] worker 3 failed:`` right above a traceback, or ``dataset 5: eval-3 failed with ValueError``, is said by who had
started the worker, and passes on what that one raised.
"""

from __future__ import annotations

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.model import Origin
from triage.scan.around import Around
from triage.scan.lazy import deferred

_OF_MANY = frozenset({"scheduler", "network-fabric", "port-conflict", "auth-or-hub", "config"})
"""Categories of what all processes may meet, of which the first is told."""
_FAILED = deferred(
    r"(?i)(?<![\w./-])(?P<name>(?!(?:step|epoch|iter\w*|round|batch|attempt|try|run|job|test|line|dataset|file|part|chunk|sample|request|query"
    r"|trial|fold|seed|game|episode|page|document|doc|image|node|host|gpu)\b)[a-z][a-z_-]{0,30}[ _#-]?(?P<number>\d{1,4}))"
    r"\)?:? (?:has |was |is )?"
    r"(?:failed|raised|crashed|died|broke|threw|gave up|reported an? (?:error|exception)|stopped with|ended with|exception|error)\b"
)


def announced_by_another(
    job: Job, origin: Origin, lead: Item, around: Around | None, identities: Identities
) -> Origin:
    """``origin`` with the one rank that the words above the lead say has failed, where nothing else tells it."""
    if around is None or origin.rank is not None or origin.ranks or lead.finding.stream:
        return origin
    if not lead.finding.raised or lead.rule.category in _OF_MANY:
        return origin
    raised = next((i for i in job.of_fact("exception") if inside(i, lead) or inside(lead, i)), None)
    begin = None if raised is None else raised.number("_begin")
    above = None if begin is None else around.above(lead.finding.source, begin)
    if above is None:
        return origin
    told = {
        (rank if (rank := identities.rank_of_name(found["name"])) is not None else int(found["number"]))
        for found in _FAILED.finditer(above.text.partition("\n")[0])
    }
    size = identities.world_size
    if len(told) != 1 or (size is not None and max(told) >= size):
        return origin
    rank = told.pop()
    return origin._replace(rank=rank, ranks=(rank,))
