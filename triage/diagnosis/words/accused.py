"""Whom the words of a failure speak of: a rank that collects what others send says of which one it is that something is wrong."""

from __future__ import annotations

import re

from triage.diagnosis.job import Item, Job
from triage.scan.lazy import deferred
from triage.scan.prefix import split_line

_OF_WORDS = ("unknown.", "numerics.")
"""Rules whose lines are a program's own words."""
_SAID_OF = deferred(
    r"(?<![\w-])ranks?[ #=]?(\d{1,5})(?:'s(?: [a-z]\w*){1,4})? (?:is|was|has|had|does|did|ran|sent|gave|got|came|left|stopped"
    r"|failed|died|diverged|produced|returned|reported|reports|holds?|uses?|lacks?|wrote|skipped|saw|sees|misses|missed|never"
    r"|went|disagrees|differs|exited|crashed|hung|still)(?! (?:waiting|successfully|ready|done|up|alive|fine|ok)\b)\b"
    r"|\b(?:no (?:answer|reply|response|heartbeat|message|result|data|news)s?|nothing|timed out|gave up|waiting|waited)\b"
    r"(?: \w+){0,2}? (?:of|from|on|for) rank[ #=]?(\d{1,5})\b"
    # a list of one
    r"|\b(?:missing|absent|late|stragglers?|waiting (?:for|on)|waited (?:for|on)|no (?:answer|reply|response|heartbeat)s? (?:of|from))"
    r"(?: (?:ranks?|peers?|members?|workers?|processes))?[ :=]{1,2}\[(\d{1,5})\]",
    re.IGNORECASE,
    needs=(
        "rank",
        "missing",
        "absent",
        "late",
        "straggler",
        "waiting",
        "waited",
        "no answer",
        "no reply",
        "no response",
        "no heartbeat",
    ),
)
_SEVERAL_PROCESSES = 2
_SEVERAL = deferred(r"(?i)(?<![\w-])ranks? \[?\d{1,5}(?:, ?| and )\d")


def accused(lead: Item) -> int | None:
    """The one rank that the words of ``lead`` say something of, None where they speak of none or of several."""
    if not lead.rule.id.startswith(_OF_WORDS):
        return None
    words = lead.text("message") or lead.text("words")
    if words is None and lead.finding.evidence:
        words = split_line(lead.finding.evidence[0].text)[1]
    return None if words is None else _named_in(words)


def _named_in(words: str) -> int | None:
    if _SEVERAL.search(words) is not None:
        return None
    ranks = {int(found[1] or found[2] or found[3]) for found in _SAID_OF.finditer(words)}
    return ranks.pop() if len(ranks) == 1 else None


def accused_by_others(job: Job) -> int | None:
    """The one rank that the exceptions of several processes speak of, which none of them is."""
    told = [
        (i, rank)
        for i in job.of_fact("exception")
        if (rank := _named_in(i.text("message") or "")) is not None
    ]
    ranks = {rank for _, rank in told}
    if len(ranks) != 1 or sum(i.finding.count for i, _ in told) < _SEVERAL_PROCESSES:
        return None
    (rank,) = ranks
    return None if any(i.rank == rank for i, _ in told) else rank
