"""What one process said went wrong, where all others only say that they waited for somebody or lost him.

Its words may be of no known kind; that nobody else says them, and that nobody else has any reason of his own, makes
them the cause.
"""

from __future__ import annotations

from dataclasses import replace

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.causes.ranking import Ranking
from triage.diagnosis.causes.stated import last_words, stated_exception
from triage.diagnosis.causes.worded import by_words
from triage.diagnosis.job import Item, Job

RULE = "progress.solo"


def soloist(job: Job, ranking: Ranking) -> Candidate | None:
    """A candidate from the words of those that do not complain of others, where nothing else is known but that all others do."""
    said = job.of_rule(RULE)
    live = [c for c in ranking.causes if c.explained_by is None and not c.doubtful]
    if not said or not all(c.lead.concluded for c in live):
        return None
    first = min(said, key=_moment)
    word = (first.finding.source, first.finding.evidence[0])
    found = stated_exception(job, [word]) or last_words(job, [word])
    lead = found.lead
    own = replace(lead.finding, rank=first.rank, local_rank=first.finding.local_rank, host=first.finding.host)
    found.items = [Item(own, lead.rule), *found.items[1:]]
    found.explains = [item for c in live for item in c.items] + [
        *job.of_tag("collective-timeout"),
        *job.of_tag("peer-loss"),
    ]
    found.reasons = ["all others say last that they waited for somebody or lost him; nobody else says this"]
    found = by_words(job, found)
    if found.rule_id == _TELLS_NOTHING:
        # nothing in its words speaks of anything else than what the program itself does
        lead = found.lead
        found.items[0] = Item(replace(lead.finding, rule_id=OWN), job.rules[OWN])
        found.score = job.rules[OWN].confidence
    return found


OWN = "unknown.own-error"
_TELLS_NOTHING = "unknown.last-words"


def _moment(item: Item) -> tuple[float, int, int]:
    time = item.finding.time
    return (0.0 if time is None else time.seconds, item.finding.source, item.finding.offset)
