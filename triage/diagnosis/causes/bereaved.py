"""What one writer said before all others lost a peer: why it went, in words that no rule knows."""

from __future__ import annotations

from collections.abc import Iterator

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.causes.stated import last_words, stated_exception
from triage.diagnosis.causes.unanswered import unanswered
from triage.diagnosis.causes.worded import by_words
from triage.diagnosis.job import Job
from triage.diagnosis.run import Ends
from triage.model import Evidence, Prefix

PEER_VANISHED = "ledger.peer-vanished"
_EXIT_STATUS = "host.exit-status"
_UNHEARD = frozenset({"warning", "info", "debug", "trace"})
"""Levels at which nobody says why it goes."""
Word = tuple[int, Evidence]


def word_of_the_lost(job: Job, symptom: Candidate, ends: Ends | None) -> Candidate | None:
    """Why the peer went that all others lost, as far as its own last lines say it; None where ``symptom`` is nothing of the kind."""
    if symptom.rule_id != PEER_VANISHED:
        return None
    said = _with_a_status(job)
    if said is not None:
        found, reason = last_words(job, [said]), "its process ended with a status of its own"
    else:
        words = _of_the_silent(job, symptom, ends)
        if not words:
            return None
        found, reason = stated_exception(job, words) or last_words(job, words), "it said so before they did"
    found.explains = [*symptom.explains, *symptom.items]
    found.reasons.append(f"{reason}, and the others only lost a peer")
    return by_words(job, found)


def _with_a_status(job: Job) -> Word | None:
    """What the one log says last that ends with a status and has no error in it."""
    wrong = {i.finding.source for i in job.items if i.finding.raised or "peer-loss" in i.rule.tags}
    left = {i.finding.source for i in job.of_rule(_EXIT_STATUS) if i.number("exit_code")} - wrong
    said = [i for i in job.of_fact("last-line") if i.finding.source in left]
    if len(left) != 1 or not said or said[-1].fields.get("_shared") is True:
        return None
    return said[-1].finding.source, said[-1].finding.evidence[0]


def _of_the_silent(job: Job, symptom: Candidate, ends: Ends | None) -> list[Word]:
    """Exceptions and alarms of the one writer that lost nobody, said before the last of the others in its log lost it."""
    losses = [i for i in symptom.explains if "peer-loss" in i.rule.tags]
    losers = {
        _writer(i.finding.source, _prefix(job, i.finding.source, e))
        for i in losses
        for e in i.finding.evidence
    }
    latest: dict[int, int] = {}
    for loss in losses:
        for shown in loss.finding.evidence:
            latest[loss.finding.source] = max(latest.get(loss.finding.source, 0), shown.line or 0)
    words: dict[tuple[int, int], Word] = {}
    writers = set()
    for index, shown in (*_mentions(job), *(unanswered(job, ends.alarms, "alarm") if ends else ())):
        prefix = _prefix(job, index, shown)
        writer = _writer(index, prefix)
        line = shown.line or 0
        if writer in losers or line > latest.get(index, line) or prefix.level in _UNHEARD:
            continue
        writers.add(writer)
        words[index, line] = (index, shown)
    return [words[at] for at in sorted(words)] if len(writers) == 1 else []


def _mentions(job: Job) -> Iterator[Word]:
    """The lines that name an exception."""
    for item in job.of_fact("mention"):
        yield item.finding.source, item.finding.evidence[0]


def _prefix(job: Job, index: int, shown: Evidence) -> Prefix:
    """What stands before a line, by all that is known of its log."""
    return job.parts(index, shown.text.partition("\n")[0])[0]


def _writer(index: int, prefix: Prefix) -> tuple[int, str, int | None, str | None, int | None]:
    """Who wrote a line of the source ``index``."""
    return index, prefix.stream, prefix.rank, prefix.host, prefix.local_rank
