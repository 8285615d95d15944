"""Runs that nobody says have failed and that came to nothing: lost numbers, waits to the end of the log, a tally of none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.causes.ranking import Ranking
from triage.diagnosis.causes.stated import last_words, stated_exception
from triage.diagnosis.causes.worded import by_words
from triage.diagnosis.job import Item, Job
from triage.diagnosis.order import last_of
from triage.diagnosis.run import Ends
from triage.model import Finding
from triage.scan.closing.wordings import speaks_of_trouble
from triage.scan.lazy import compiled
from triage.scan.ordinary.answers import ANSWERS
from triage.scan.ordinary.never_saved import NEVER_SAVED
from triage.scan.ordinary.said import without_digits
from triage.scan.ordinary.silenced import SILENCED
from triage.scan.prefix import split_line

_START = (
    r"(?i)\b(?:shard|worker|server|engine|replica|model|core)\w*\b.{0,30}"
    r"\b(?:to (?:be(?:come)? ready|come up|start|load)|not (?:yet )?(?:ready|loaded))\b"
)
_RESOURCES = r"(?i)\bschedul\w+|\bresources?\b|\bplacement\b|\bquota\b|\ballocation\b|\bqueued?\b.{0,20}\bpriority\b|\bpending\b"
_PEERS = (
    r"(?i)\b(?:join\w*|rendezvous|regist\w+|connect\w*|check(?:ed)? in|come up|peers?|members?)\b"
    r"|\bfor \d+ (?:more )?(?:workers?|nodes?|ranks?|hosts?|peers?|processes)\b"
)
_DATA = r"(?i)\b(?:batch(?:es)?|samples?|data\w*|load\w*|prefetch\w*|queue|shards?|rollouts?)\b|数据|采样|队列|データ|데이터"
_NAMED = r"(?i)\b(?:task|rank)[ :=#_-]{0,2}(\d{1,5})\b(?! of)"
"""Who is awaited, where one is named."""
_COMPILER = r"(?i)\b(?:compil\w*|lower\w*|autotun\w*|captur\w*|trac(?:e|ing)|jit)\b"
_SAVING = r"(?i)\b(?:checkpoints?|ckpts?|sav(?:e|es|ed|ing)|shards? (?:to be )?written|written)\b"
_NO_SAMPLES = (
    r"(?i)(?<![\w./,-])0 (?:\w+ )?(?:samples|batches|examples|sequences|documents|records|rows|prompts|questions|items|images)\b"
    r"|\b(?:n|(?:n|num|total)[_ ](?:samples|examples|batches))[\"']? ?[:=] ?0\b"
)
"""How it is said that there was no data at all."""
_WAITS = (
    (_START, "unknown.waits-to-the-end"),
    (_RESOURCES, "unknown.waits-for-resources"),
    (_SAVING, "unknown.waits-for-checkpoint"),
    (_COMPILER, "unknown.waits-for-compiler"),
    (_PEERS, "unknown.waits-for-peers"),
    (_DATA, "unknown.waits-for-data"),
)
"""What is awaited, by the words of who waits."""


def in_vain(job: Job, ranking: Ranking, ends: Ends | None) -> Candidate | None:
    """What speaks for a failure in a job that seems to have got over all that went wrong, None where it had something of it."""
    if ends is None:
        return None
    return (
        _lost(job, ends)
        or _waits(job, ranking, ends)
        or _retries(job, ranking, ends)
        or _nothing(job, ranking, ends)
        or _unwritten(job, ends)
        or _unfinished(job, ranking, ends)
        or _given_up(job, ranking, ends)
        or _left_out(job, ranking, ends)
        or _mentioned(job, ranking, ends)
    )


def _lost(job: Job, ends: Ends) -> Candidate | None:
    return (
        None if ends.lost is None else _made(job, ends.lost, "nothing better is told to the end of the log")
    )


def _waits(job: Job, ranking: Ranking, ends: Ends) -> Candidate | None:
    told = ends.waiting
    if told is None:
        return None
    since = told.last_offset or told.offset
    if any(last_of(end) > since or end.finding.source != told.source for end in job.of_fact("ended-well")):
        return None
    known = _not_survived(ranking, told, "the program waits in vain since")
    if known is not None:
        return known
    words = str(told.fields.get("words") or "")
    named = compiled(_NAMED).findall(words)
    if told.rank is None and len(named) == 1:
        told = replace(told, rank=int(named[0]))  # who is awaited
    if "throughput" in words:
        return _made(job, told, "it has requests and makes nothing of them")
    kind = next((rule for like, rule in _WAITS if compiled(like).search(words)), told.rule_id)
    return _made(job, replace(told, rule_id=kind), "it is said to the end of the log, and nothing changes")


def _retries(job: Job, ranking: Ranking, ends: Ends) -> Candidate | None:
    told = ends.retrying
    if told is None or any(
        last_of(end) > told.offset or end.finding.source != told.source for end in job.of_fact("ended-well")
    ):
        return None
    why = "it is tried again to the end of the log, and nothing tells that it worked"
    known = _not_survived(ranking, told, why)
    if known is not None:
        return known
    return _or_made(job, told, _by_words(job, told), why)


def _by_words(job: Job, told: Finding) -> Candidate:
    """A cause from the words of the first line of what the end of a log tells."""
    words = [(told.source, told.evidence[0])]
    return by_words(job, stated_exception(job, words) or last_words(job, words))


def _or_made(job: Job, told: Finding, found: Candidate, why: str) -> Candidate | None:
    """``found``, where its words tell a kind of failure; else what the end of the log tells by itself."""
    if found.rule_id == "unknown.last-words":
        return _made(job, told, why)
    found.reasons.append(why)
    return found


def _nothing(job: Job, ranking: Ranking, ends: Ends) -> Candidate | None:
    told = ends.nothing_done
    if told is None or (told.fields.get("_items") is True and _at_work_since(job, told)):
        return None
    known = _not_survived(ranking, told, "nothing came of the work")
    if known is not None:
        return known
    if "why" in told.fields and told.evidence:
        found = _by_words(job, told)
        found.reasons.append("nothing came of the work, and this was complained of most")
        return found
    if compiled(_NO_SAMPLES).search(str(told.fields.get("words") or "")):
        told = replace(told, rule_id="unknown.no-samples", rank=None)
    return _made(job, told, "a tally at the end says so")


def _at_work_since(job: Job, told: Finding) -> bool:
    """Whether a step is told below the first of the things that went wrong, by a line that speaks of no trouble."""
    return any(
        last_of(step) > told.offset and step.finding.source == told.source
        and not speaks_of_trouble(split_line(step.finding.evidence[-1].text)[1])
        for step in job.of_fact("progress")
    )  # fmt: skip


def _unwritten(job: Job, ends: Ends) -> Candidate | None:
    told = ends.unwritten
    if told is None or any(
        "job-end" in end.rule.tags and end.finding.source == told.source for end in job.of_fact("ended-well")
    ):
        return None
    since = told.last_offset or told.offset
    if any(last_of(i) > since and i.finding.source == told.source for i in job.of_fact("progress")):
        return None  # what is written every so often is written again
    found = by_words(job, last_words(job, [(told.source, told.evidence[0])]))
    return _or_made(job, told, found, "nothing tells that it came there later")


def _unfinished(job: Job, ranking: Ranking, ends: Ends) -> Candidate | None:
    told = ends.unfinished
    if told is None:
        return None
    if told.rule_id == NEVER_SAVED:
        why = "checkpoints are begun below it, and none is said to be there"
        return _or_made(job, told, _by_words(job, told), why)
    if told.rule_id == SILENCED:
        if any(
            "job-end" in end.rule.tags or end.rank == told.rank is not None
            for end in job.of_fact("ended-well")
        ):
            return None
        found = _or_made(job, told, _by_words(job, told), "it is not heard again, and all others go on")
        return None if found is None else _of_rank(found, told.rank)
    why = "nothing below it tells of work that is done"
    since = told.last_offset or told.offset
    signs = (*job.of_fact("progress"), *job.of_fact("ended-well"))
    if any(last_of(sign) > since and sign.finding.source == told.source for sign in signs):
        return None
    if told.rule_id == ANSWERS:
        before = [
            c for c in ranking.survived
            if not c.advisory and c.lead.finding.source == told.source and last_of(c.lead) <= since
        ]  # fmt: skip
        last = max((last_of(c.lead) for c in before), default=0)
        known = _taken_back(ranking, [c for c in before if last_of(c.lead) == last], why)
        if known is not None:
            return known
    return _made(job, told, why)


def _given_up(job: Job, ranking: Ranking, ends: Ends) -> Candidate | None:
    told = ends.given_up
    if told is None or any(
        last_of(end) > told.offset if end.finding.source == told.source else not _siblings(job, told, end)
        for end in job.of_fact("ended-well")
    ):
        return None
    if told.level == "warning" and any(
        end.finding.source == told.source and 0 < told.offset - last_of(end) <= _RIGHT_BELOW
        for end in job.of_fact("ended-well")
    ):
        return None  # the work was done: what is only warned of came after it
    why = "the program says last of all that it leaves its work undone"
    before = [
        c for c in ranking.survived
        if not c.advisory and c.lead.finding.source == told.source and c.lead.finding.offset <= told.offset
    ]  # fmt: skip
    last = max((last_of(c.lead) for c in before), default=0)
    known = _taken_back(ranking, [c for c in before if last_of(c.lead) == last], why)
    if known is not None:
        return known
    return _or_made(job, told, _by_words(job, told), why)


_RIGHT_BELOW = 400
"""Bytes between the words that all is done and what is warned of afterwards."""


def _mentioned(job: Job, ranking: Ranking, ends: Ends) -> Candidate | None:
    told = ends.mentioned
    if told is None:
        return None
    since = (*job.of_fact("progress"), *job.of_fact("answered"))
    if any(last_of(sign) > told.offset and sign.finding.source == told.source for sign in since):
        return None
    why = "it is the last thing that the program's logger says"
    line = told.evidence[0].line
    of_it = [
        c for c in ranking.survived
        if c.lead.finding.source == told.source and any(e.line == line for e in c.lead.finding.evidence)
    ]  # fmt: skip
    known = _taken_back(ranking, of_it, why) or _not_survived(ranking, told, why)
    if known is not None:
        return known
    found = _by_words(job, told)
    found.score = min(found.score, _DOUBT)
    found.reasons.append(why)
    return found


def _siblings(job: Job, told: Finding, end: Item) -> bool:
    """Whether somebody's own good end stands in a log of the same kind: tasks of an array end each for itself."""
    one, other = job.sources[told.source].name, job.sources[end.finding.source].name
    return (
        "job-end" not in end.rule.tags and without_digits(one) == without_digits(other) and end.rank is None
    )


def _left_out(job: Job, ranking: Ranking, ends: Ends) -> Candidate | None:
    told = ends.left_out
    if told is None or any("job-end" in end.rule.tags for end in job.of_fact("ended-well")):
        return None
    if told.rank is not None and any(end.rank == told.rank for end in job.of_fact("ended-well")):
        return None
    why = "all others say at their ends that they are through"
    return _what_ended(ranking, told, why) or _made(job, told, why)


def _what_ended(ranking: Ranking, told: Finding, why: str) -> Candidate | None:
    """What the job was thought to have got over, behind the last line of the one who breaks off and nobody else's: it ended him."""
    found = [
        c for c in ranking.survived
        if not c.advisory and c.lead.finding.source == told.source and c.lead.finding.offset > told.offset
        and c.lead.rank in {None, told.rank}
    ]  # fmt: skip
    best = _taken_back(ranking, found, why)
    return None if best is None else _of_rank(best, told.rank)


def _of_rank(found: Candidate, rank: int | None) -> Candidate:
    """``found``, as what befell a rank, where it does not say whom."""
    if found.lead.rank is None and rank is not None:
        found.items[0] = found.lead._replace(finding=replace(found.lead.finding, rank=rank))
    return found


def _not_survived(ranking: Ranking, told: Finding, why: str) -> Candidate | None:
    """The surest of the causes that the job was thought to have got over."""
    found = [
        c for c in ranking.survived
        if not c.advisory and c.lead.finding.raised and c.lead.finding.source == told.source
        and c.lead.finding.offset <= (told.last_offset or told.offset)
    ]  # fmt: skip
    return _taken_back(ranking, found, why)


def _taken_back(ranking: Ranking, survived: Sequence[Candidate], why: str) -> Candidate | None:
    """The surest of ``survived``, as a cause again: it was not got over."""
    best = max(survived, key=lambda c: c.score, default=None)
    if best is not None:
        ranking.survived.remove(best)
        best.survived = None
        best.score = min(best.score or best.lead.rule.confidence, _DOUBT)
        best.reasons.append(why)
    return best


_DOUBT = 0.6
"""How sure a cause can be that something seemed to be got over after."""


def _made(job: Job, told: Finding, why: str) -> Candidate | None:
    rule = job.rules.get(told.rule_id)
    return None if rule is None else Candidate([Item(told, rule)], score=rule.confidence, reasons=[why])
