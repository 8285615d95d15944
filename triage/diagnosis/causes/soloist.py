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
from triage.diagnosis.ledger.oddities import SILENT, says_no_more
from triage.diagnosis.words.hearsay import loudest, told

RULE = "progress.solo"


def soloist(job: Job, ranking: Ranking) -> Candidate | None:
    """A candidate from the words of those that do not complain of others, where nothing else is known but that all others do."""
    said = [item for item in job.of_rule(RULE) if not says_no_more(item)]
    live = [c for c in ranking.causes if c.explained_by is None and not c.doubtful]
    if not said or not all(c.lead.concluded for c in live):
        return None
    first = min(said, key=lambda item: (item.fields.get("_weak") is True, *_moment(item)))
    if not any(map(job.of_rule, _COMPLAINTS)):
        # others complain in known words, of which more is known: it must be the one that they lost
        gone = live[0].rule_id == "ledger.vanished" if len(live) == 1 else False
        if (
            not gone
            or first.fields.get("_weak") is True
            or first.rank is None
            or live[0].ranks != (first.rank,)
        ):
            return None
    shown_there = first.finding.evidence[0]
    # the name of the writer, in whatever layout, is none of its words
    word = (
        first.finding.source,
        replace(shown_there, text=first.text("words") or shown_there.text, span=None),
    )
    found = stated_exception(job, [word]) or last_words(job, [word])
    lead = found.lead
    own = replace(
        lead.finding, rank=first.rank, local_rank=first.finding.local_rank, host=first.finding.host,
        evidence=(shown_there, *lead.finding.evidence[1:]),
    )  # fmt: skip
    found.items = [Item(own, lead.rule), *found.items[1:]]
    found.explains = [item for c in live for item in c.items] + [
        *job.of_tag("collective-timeout"),
        *job.of_tag("peer-loss"),
    ]
    found.reasons = ["all others say last that they waited for somebody or lost him; nobody else says this"]
    found = by_words(job, found)
    plain = loudest([word]) if found.rule_id == _TELLS_NOTHING else None
    if plain is not None:
        _, shown, like = plain
        found.items[0] = told(job, found.lead, like, shown.text)
        found.score = found.lead.rule.confidence
    if found.rule_id == _TELLS_NOTHING and first.fields.get("_weak") is True:
        return None
    if found.rule_id == _TELLS_NOTHING:
        # nothing in its words speaks of anything else than what the program itself does
        lead = found.lead
        found.items[0] = Item(replace(lead.finding, rule_id=OWN), job.rules[OWN])
        found.score = job.rules[OWN].confidence
    return found


def joined(job: Job, ranking: Ranking, closing: Candidate | None) -> Candidate | None:
    """What ended a process that no line names, as the end of the one that alone was missing when all others complained.

    Args:
        closing: what ended the job by the last line of its log, if that tells.
    """
    live = [c for c in ranking.causes if c.explained_by is None and not c.doubtful]
    silent = [c for c in live if c.rule_id in _GONE]
    ends = [c for c in live if c not in silent and c.lead.rule.category in _OF_ONE]
    if silent and not ends and closing is not None and any(map(job.of_rule, _COMPLAINTS)):
        ends = [c for c in [closing] if c.lead.rule.category in _OF_ONE]
    ranks = {rank for c in silent for rank in c.ranks}
    ranks |= {item.rank for item in job.of_rule(RULE) if item.rank is not None}
    if len(ranks) != 1 or len(ends) != 1 or len(live) > len(silent) + 1:
        return None
    (end,) = ends
    lead = end.lead
    if end.ranks or lead.finding.count > 1 or lead.rank is not None:
        return None
    (rank,) = ranks
    field = lead.rule.origin_fields.get("ranks") or lead.rule.origin_fields.get("rank")
    fields = lead.fields if field is None else {**lead.fields, field: rank}
    end.items[0] = Item(replace(lead.finding, rank=rank, fields=fields), lead.rule)
    end.explains = [*end.explains, *(item for c in silent for item in c.items)]
    for gone in silent:
        gone.explained_by = end
    end.reasons.append("no line says whose end it was; all ranks but one complain, so it was that one's")
    return end


_COMPLAINTS = ("progress.waited-in-vain", "progress.lost-another")
_GONE = SILENT | {"ledger.vanished"}
_OF_ONE = frozenset(
    ["rank-crash", "user-code", "data-loading", "numerics", "cuda-kernel", "gpu-oom", "host-oom"]
)
"""What befalls one rank alone."""
OWN = "unknown.own-error"
_TELLS_NOTHING = "unknown.last-words"


def _moment(item: Item) -> tuple[float, int, int]:
    time = item.finding.time
    return (0.0 if time is None else time.seconds, item.finding.source, item.finding.offset)
