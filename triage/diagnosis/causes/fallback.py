"""When no cause is known: the best symptom, the last words, or an honest "can't tell"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from triage.diagnosis.causes.bereaved import word_of_the_lost
from triage.diagnosis.causes.candidates import TELLING, Candidate
from triage.diagnosis.causes.ranking import Ranking
from triage.diagnosis.causes.stated import (
    last_words,
    stated_exception,
    telling,
    tells,
    trouble_of,
)
from triage.diagnosis.causes.unanswered import unanswered
from triage.diagnosis.causes.worded import by_words, loudest_line
from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.run import Ends
from triage.diagnosis.survival.strides import LONG_BAR, last_bar
from triage.diagnosis.survival.survival import Survival
from triage.diagnosis.templates import fill, kinds_of
from triage.model import Evidence, Value
from triage.scan.closing.wordings import stands
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

PRIORITY = (*TELLING, "wrapper", "rank-exit", "launcher-report")
"""Tags of symptoms that show a failure on their own, closest to a cause first. Shutdown noise does not."""


def fall_back(job: Job, ledger: Ledger, ranking: Ranking, ends: Ends | None) -> Candidate | None:
    """What speaks for a failure when no cause is known, None when nothing does.

    Args:
        ends: the ends of the logs, None where they are not this attempt's.
    """
    symptom = symptom_alone(job, ledger)
    if symptom is not None and symptom.rule_id != "unknown.reported":
        return word_of_the_lost(job, symptom, ends) or symptom
    words = _after_the_end(job, unanswered(job, ends.last_words, "printed")) if ends else []
    words = _before_losses(_of_others(_but_retried(job, words), ranking.complainers))
    stated = stated_exception(job, words)
    told = words if symptom is None else [w for w in words if tells(w)]
    if stated is None and told and (symptom is None or trouble_of(told[telling(told)]) is not None):
        stated = last_words(job, told)
    found = stated or symptom or _gone(job)
    unknown = not job.items and ends is not None and not ends.ordinary
    alarmed = alarm(job, ledger, ends, ranking.complainers)
    # where somebody stood when it ended tells nothing of why
    if found is not None or (alarmed is not None and not stands(alarmed.text)) or unknown:
        known = _forewarned(ranking) or (by_words(job, found) if found else None)
        # what was said last may tell less than an alarm before it
        return known if known and known.rule_id != "unknown.last-words" else loudest_line(job, ends) or known
    return None


_STARTING = r"(?i)(?:[\w-]+ ){0,3}\b(?:captur|load|compil|warm)\w*"
"""How bars of what comes before the work begin."""


def _gone(job: Job) -> Candidate | None:
    """A process that was gone in the midst of its start or work: what tidies up after processes is all that spoke then.

    Whoever ends by itself says so, or gives back what the tracker finds; only a kill leaves no time for either.
    """
    left = [i for i in job.of_rule("python.exit-noise") if "leaked" in i.finding.evidence[-1].text]
    if not left or any(job.of_tag(tag) for tag in ("teardown", "external-stop")) or job.of_fact("ended-well"):
        return None
    note = max(left, key=lambda i: i.at_last.offset)
    here = [i for i in job.items if i.finding.source == note.finding.source and i.rule.role != "benign"]
    if any(i.finding.raised or i.at_last.offset > note.at_last.offset for i in here):
        return None
    bar = last_bar(here)
    if bar is None or bar.number("step") == bar.number("total"):
        return None
    shown = note.finding.evidence[-1]
    known = {"rank": note.rank, "host": note.finding.host}
    if compiled(_STARTING).match(split_line(shown.text)[1].strip()) is not None:
        item = verdict(job, "unknown.gone-while-starting", {}, [note], **known)
        return Candidate([item], score=item.rule.confidence, reasons=["the log ends in the midst of a start"])
    apart = note.at_last.offset - bar.at_last.offset
    step, total = bar.number("step") or 0, bar.number("total") or 0
    if apart > _CLOSE or total < LONG_BAR or step * 50 > total * 49 or not _is_the_end(job, note):
        return None
    fields: dict[str, Value] = {"step": step, "total": total}
    item = verdict(job, "unknown.gone-at-work", fields, [note, bar], **known)
    return Candidate([item], score=item.rule.confidence, reasons=["the log ends in the midst of a bar"])


_CLOSE = 2000
"""Bytes between a bar and what is said of the process that drew it, where nothing else was said in between."""


def _is_the_end(job: Job, note: Item) -> bool:
    """Whether a warning stands at the end of its log, with the line of code that Python prints below it."""
    return job.lines_below(note.at_last) in {0, 1}


def _after_the_end(job: Job, words: Sequence[tuple[int, Evidence]]) -> list[tuple[int, Evidence]]:
    """All of ``words`` where nothing has ended well; else those below the last good end of their own log."""
    good = job.of_fact("ended-well")
    ended: dict[int, int] = {}
    for item in good:
        for shown in item.finding.evidence:
            below = (shown.line or 0) + shown.text.count("\n")
            ended[item.finding.source] = max(ended.get(item.finding.source, 0), below)
    return [
        (index, shown) for index, shown in words
        if not good or (index in ended and (shown.line or 0) > ended[index])
    ]  # fmt: skip


_OF_A_TRY = 40
"""Lines below the word that a task is run again in which stands what it raised."""


def _but_retried(job: Job, words: Sequence[tuple[int, Evidence]]) -> list[tuple[int, Evidence]]:
    """Those of ``words`` that are not what a task raised of which it is said right above that it is run again."""
    again = [
        (item.finding.source, shown.line) for item in job.of_fact("task-retried") for shown in item.finding.evidence
        if shown.line is not None
    ]  # fmt: skip
    return [
        (index, shown) for index, shown in words
        if not any(source == index and 0 < (shown.line or 0) - line < _OF_A_TRY for source, line in again)
    ]  # fmt: skip


_LOST = (
    r"(?i)\bconnection (?:was )?(?:reset|closed|lost|aborted)\b|\breset by peer\b|\bbroken pipe\b"
    r"|\bpeer \d* ?(?:closed|left|gone|lost|disconnected)"
)


def _before_losses(words: Sequence[tuple[int, Evidence]]) -> list[tuple[int, Evidence]]:
    """Those of ``words`` that do not say, as another one does, that a connection was lost; all where all say so."""
    wordings = [compiled(r"\d+").sub("", shown.text) for _, shown in words]
    kept = [
        word for word, said in zip(words, wordings, strict=True)
        if wordings.count(said) < 2 or compiled(_LOST).search(said) is None
    ]  # fmt: skip
    return kept or list(words)


def _of_others(
    words: Sequence[tuple[int, Evidence]], complainers: Collection[str]
) -> list[tuple[int, Evidence]]:
    """Those of ``words`` that none of the writers said whose exceptions something catches."""
    return [word for word in words if split_line(word[1].text)[0].stream not in complainers]


def alarm(job: Job, ledger: Ledger, ends: Ends | None, complainers: Collection[str]) -> Evidence | None:
    """The last alarming line that nobody knows, if nothing shows that all was well after it.

    Or an exception that follows from something else, when that something is nowhere in the logs.

    Args:
        complainers: writers whose exceptions something catches.
    """
    if ends is None or job.of_fact("ended-well"):
        return None
    lines = _of_others(unanswered(job, ends.alarms, "alarm"), complainers)
    if job.of_fact("task-retried"):
        # where a worker stood that died, while another one has its task
        lines = [(i, e) for i, e in lines if not (stands(e.text) and split_line(e.text)[0].pid is not None)]
    if lines:
        return lines[-1][1]
    survival = Survival(job, ledger)
    raised = [
        i for i in job.items if i.rule.role == "symptom" and i.finding.raised and survival.proof(i) is None
    ]
    return raised[-1].finding.evidence[0] if raised and not _all_done(job, ledger) else None


def symptom_alone(job: Job, ledger: Ledger) -> Candidate | None:
    """A candidate from symptoms alone, None when there are none or all were survived."""
    survival = Survival(job, ledger)
    symptoms = [i for i in job.items if i.rule.role == "symptom" and survival.proof(i) is None]
    if _all_done(job, ledger):
        # the first to leave closes connections
        symptoms = [i for i in symptoms if "peer-loss" not in i.rule.tags]
    telling = [i for i in symptoms if _tag(i)]
    if not telling:
        return None
    best = min(telling, key=_rank)
    tag = _tag(best)
    if tag == "peer-loss" and best.rule.category != "straggler-or-hang" and _never_reached(telling):
        fields = _called(best)
        item = verdict(job, "ledger.peer-unreached", fields, [best], rank=best.rank, host=best.finding.host)
        candidate = Candidate([item], score=0.4)
    elif tag == "peer-loss" and best.rule.category != "straggler-or-hang":
        lost = {rank for i in symptoms if (rank := i.number("lost")) is not None}
        peer = best.fields.get("peer") or best.fields.get("host")
        fields = {"peer": peer, "lost": next(iter(lost)) if len(lost) == 1 else None}
        flushed = [i for i in symptoms if i.rule.id == _FLUSHED]
        if flushed and not any(i.rule.id in _CLOSED for i in symptoms):
            fields = {"peer": flushed[0].text("peer"), "hca": flushed[0].text("hca")}
            candidate = Candidate([verdict(job, "ledger.link-broke", fields, flushed)], score=0.4)
        else:
            candidate = Candidate([verdict(job, "ledger.peer-vanished", fields, [best])], score=0.4)
    elif (
        tag in {"wrapper", "launcher-report", "rank-exit"} and not _names_its_kind(best)
    ) or best.rule.category in {None, "unknown"}:
        said = fill(best.rule.summary or best.rule.title, best.fields, kinds_of(best.rule))
        fields = {"what": said.strip(" .")}
        item = verdict(job, "unknown.reported", fields, [best], rank=best.rank, host=best.finding.host)
        candidate = Candidate([item], score=0.3)
    else:
        same = [i for i in symptoms if i.rule.id == best.rule.id]
        candidate = Candidate(same, score=min(best.rule.confidence, 0.45))
    candidate.reasons.append("nothing but symptoms was found; this one is closest to a cause")
    candidate.explains = symptoms
    return candidate


def _names_its_kind(best: Item) -> bool:
    """Whether what was raised only passes a failure on, but says what failed."""
    vague = {None, "unknown", "user-code", "rank-crash", "straggler-or-hang"}
    return best.finding.raised and _tag(best) == "wrapper" and best.rule.category not in vague


def _called(loss: Item) -> dict[str, Value]:
    """Whom somebody called in vain: as the rule's fields tell it, or the only address in its words."""
    peer = loss.fields.get("peer") or loss.fields.get("host")
    shown = "\n".join(piece.text for piece in loss.finding.evidence)
    told = {(found[1], found[2]) for found in compiled(_ADDRESS).finditer(shown)}
    if len(told) != 1:
        return {"peer": peer}
    ((host, port),) = told
    return {"peer": peer or f"{host}:{port}", "address": f"{host} {port}"}


_ADDRESS = r"(?<![\d.])((?:\d{1,3}\.){3}\d{1,3}):(\d{1,5})(?![\d.])"


def _never_reached(symptoms: Sequence[Item]) -> bool:
    """Whether all that is known is that one process called on somebody who did not answer its calls from the start."""
    said = [shown.text for item in symptoms for shown in item.finding.evidence]
    writers = {(item.finding.source, item.rank, item.finding.stream) for item in symptoms}
    return (
        len(writers) == 1
        and any(compiled(_REFUSED).search(text) for text in said)
        and not any(compiled(_LOST).search(text) for text in said)
    )


_REFUSED = (
    r"(?i)\b(?:connection refused|connect call failed|cannot connect|failed to connect|could not connect)\b"
)
_FLUSHED = "nccl.ib-flush"
_CLOSED = frozenset(
    {"nccl.connection-closed", "nccl.peer-reset", "nccl.local-proxy-lost", "torch.gloo-peer-closed"}
)
"""The kernel closes the sockets of a process that has ended; that a queue pair broke says nothing of a process."""
_MISS_THE_STORE = ("torch.store-connection-lost", "torch.should-dump-check-failed")
"""What ranks say when the one that holds the store is gone."""


def _all_done(job: Job, ledger: Ledger) -> bool:
    """Whether every rank said that it came to a good end, and nobody ended badly."""
    done = {i.rank for i in job.of_fact("ended-well")} | set(ledger.finished)
    if not any(i.finding.raised and i.rule.fact != "mention" for i in job.items):
        # said on the way out of the interpreter, which nothing that was raised has led to
        done |= {i.rank for i in job.of_rule("torch.group-not-destroyed")}
        if 0 in done and not any(job.of_tag(tag) for tag in TROUBLE if tag != "peer-loss"):
            # who holds the store left in order: that the others miss it says that they leave after it
            done |= {i.rank for rule in _MISS_THE_STORE for i in job.of_rule(rule)}
    return (
        len(ledger.members) > 1
        and set(ledger.members) <= done
        and not any(e.failed for e in ledger.exits.values())
    )


def _tag(item: Item) -> str:
    return next((t for t in PRIORITY if t in item.rule.tags), "")


def _rank(item: Item) -> tuple[int, int, int]:
    return (PRIORITY.index(_tag(item)), item.finding.source, item.finding.offset)


def _forewarned(ranking: Ranking) -> Candidate | None:
    """A warning that is known to lead to an end that nobody knows: with it, it is the likelier cause."""
    for candidate in ranking.survived:
        names = candidate.lead.rule.explains
        if candidate.advisory and candidate.survived is None and "unknown.last-words" in names:
            ranking.survived.remove(candidate)
            candidate.score = candidate.lead.rule.confidence
            candidate.reasons.append("nothing else is known of the job's bad end")
            return candidate
    return None
