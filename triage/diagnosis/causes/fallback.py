"""When no cause is known: the best symptom, the last words, or an honest "can't tell"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from triage.diagnosis.causes.candidates import TELLING, Candidate
from triage.diagnosis.causes.ranking import Ranking
from triage.diagnosis.causes.stated import (
    last_words,
    made,
    spoken,
    stated_exception,
    telling,
    tells,
    trouble_of,
)
from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.oddities import first_trouble
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.run import Ends
from triage.diagnosis.survival.going_on import hampered
from triage.diagnosis.survival.strides import LONG_BAR, last_bar
from triage.diagnosis.survival.survival import Survival
from triage.diagnosis.templates import fill, kinds_of
from triage.diagnosis.words.hearsay import heard, loudest, told
from triage.model import Evidence, Finding, Value
from triage.scan.closing.tail import stands
from triage.scan.lazy import compiled
from triage.scan.ordinary.routine import How
from triage.scan.ordinary.said import SELF
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
        return _refused(job, symptom) or symptom
    words = _after_the_end(job, unanswered(job, ends.last_words, "printed")) if ends else []
    words = _before_losses(_of_others(words, ranking.complainers))
    stated = stated_exception(job, words)
    told = words if symptom is None else [w for w in words if tells(w)]
    if stated is None and told and (symptom is None or trouble_of(told[telling(told)]) is not None):
        stated = last_words(job, told)
    found = stated or symptom or _gone(job)
    unknown = not job.items and ends is not None and not ends.ordinary
    alarmed = alarm(job, ledger, ends, ranking.complainers)
    # where somebody stood when it ended tells nothing of why
    if found is not None or (alarmed is not None and not stands(alarmed.text)) or unknown:
        known = _forewarned(ranking) or (_by_words(job, found) if found else None)
        # what was said last may tell less than an alarm before it
        return known if known and known.rule_id != "unknown.last-words" else _loudest(job, ends) or known
    return None


def _refused(job: Job, symptom: Candidate) -> Candidate | None:
    """What the one log says last that ends with a status and has no error in it, where all others only lost a peer."""
    if symptom.rule_id != "ledger.peer-vanished":
        return None
    wrong = {i.finding.source for i in job.items if i.finding.raised or "peer-loss" in i.rule.tags}
    left = {i.finding.source for i in job.of_rule(EXIT_STATUS) if i.number("exit_code")} - wrong
    said = [i for i in job.of_fact("last-line") if i.finding.source in left]
    if len(left) != 1 or not said or said[-1].fields.get("_shared") is True:
        return None
    found = last_words(job, [(said[-1].finding.source, said[-1].finding.evidence[0])])
    found.explains = [*symptom.explains, *symptom.items]
    found.reasons.append("its process ended with a status of its own, and the others only lost a peer")
    return _by_words(job, found)


EXIT_STATUS = "host.exit-status"


def _by_words(job: Job, candidate: Candidate) -> Candidate:
    """``candidate`` as its words tell it, where it only supposes what it is."""
    item = heard(job, candidate.lead)
    if item is not candidate.lead:
        candidate.items = [item, *(i for i in candidate.items if i is not candidate.lead)]
        candidate.score = item.rule.confidence
        candidate.reasons.append("its words are those of such failures")
    return candidate


def _loudest(job: Job, ends: Ends | None) -> Candidate | None:
    """A candidate from an alarming line that nobody knows, where its words are plainly those of one kind of failure."""
    found = loudest([*unanswered(job, ends.alarms, "alarm"), *ends.closing]) if ends else None
    if found is None:
        return None
    index, shown, like = found
    candidate = made(job, job.rules["unknown.last-words"], {}, index, [shown])
    candidate.items = [told(job, candidate.lead, like, shown.text)]
    candidate.score = min(candidate.lead.rule.confidence, OF_CHOSEN)
    return candidate


OF_CHOSEN = 0.4
"""How sure a category can be that is told by the words of a line which does not state an error."""
_ENDS = frozenset(
    {
        "ledger.exited",
        "ledger.killed",
        "host.child-ended",
        "host.child-left",
        "host.shell-aborted",
        "mpi.received-signal",
        "torch.native-exception",
        "unknown.begun",
        "ledger.vanished",
    }
)
"""Causes that tell how a process ended and not why."""
VANISHED = "ledger.vanished"
_EXITED = frozenset({"ledger.exited", "host.child-ended", "host.child-left"})
"""Those of them that tell an exit code."""


def worded(job: Job, ranking: Ranking, ends: Ends | None) -> Candidate | None:
    """What was said last where all that is known is how processes ended: the words come before the end.

    Programs abort, as they exit, after they said why. Behind an exit code stands whatever was said; what
    comes before a signal must name a trouble.
    """
    live = [c for c in ranking.causes if c.explained_by is None and not c.doubtful]
    gave_up = [c for c in live if _gave_up(c) or _missing(c)]
    if not ends or not gave_up or any(c.rule_id not in _ENDS and not _missing(c) for c in live):
        return None
    if len(live) == 1 and _felled(live[0]):
        return None
    words = [w for w in unanswered(job, ends.last_words, "printed") if tells(w)]
    if all(_missing(c) for c in live):
        found = _of_vanished(job, ends, live[0])
    elif all(c.rule_id in _EXITED for c in live):
        # peers and launchers may have said much more since
        words = words or [
            w for w in unanswered(job, ends.words_before(first_trouble(job)), "printed") if tells(w)
        ]
        found = stated_exception(job, words) or (last_words(job, words) if words else None)
        if found is None or found.rule_id in _TELL_NOTHING:
            found = _parting(job, gave_up) or _loudest(job, ends) or found
    elif all(c.rule_id == "unknown.begun" for c in live):
        # a log that is cut in its second traceback has said what the first one was
        found = stated_exception(job, words)
    else:
        thrown = [c.lead.finding for c in gave_up if c.rule_id == "torch.native-exception"]
        words.extend((finding.source, finding.evidence[0]) for finding in thrown if finding.evidence)
        named = bool(words) and trouble_of(words[telling(words)]) not in {None, "crash"}
        if not named and thrown:
            # what was thrown is no chatter: it may also be told by whom it speaks of
            words = [w for f in thrown for w in [(f.source, _thrown(f))] if spoken(w[1]) not in _TELL_NOTHING]
            named = bool(words)
        found = last_words(job, words) if named else None
    if found is not None:
        lead = found.lead
        ranks = {rank for c in gave_up for rank in c.ranks}
        if lead.rank is None and len(ranks) == 1:
            found.items = [Item(replace(lead.finding, rank=ranks.pop()), lead.rule)]
        found.explains = [item for c in live for item in c.items]
        found.reasons.append("a process ended with an error after it")
        found = _by_words(job, found)
        awaited = any(c.lead.rule.fact == "awaited" for c in live)
        # that somebody never came is worth more than words which tell no kind of failure
        return None if awaited and found.rule_id in _TELL_NOTHING else found
    return None


def _felled(candidate: Candidate) -> bool:
    """Whether one process alone was felled by a signal, which leaves no time for words, and all others gave up after it.

    It is then the only one that the candidate speaks of.
    """
    if candidate.rule_id != _CHILD_ENDED or len(candidate.items) < 2:
        return False
    felled = [i for i in candidate.items if (i.number("code") or 0) % _SHELL in _FELLING]
    if len({i.rank for i in felled}) != 1 or felled[0].rank is None:
        return False
    candidate.explains = [*candidate.explains, *(i for i in candidate.items if i not in felled)]
    candidate.items = felled
    candidate.reasons.append("no other process was felled by a signal")
    return True


_CHILD_ENDED = "host.child-ended"
_SHELL = 128
"""What shells add to the number of a signal; what is negative comes to 128 less than that."""
_FELLING = frozenset([4, 7, 8, 9, 11, _SHELL - 4, _SHELL - 7, _SHELL - 8, _SHELL - 9, _SHELL - 11])
"""Signals that end a process wherever it is: illegal instruction, bus error, arithmetic, a kill, a segmentation fault."""


def _missing(candidate: Candidate) -> bool:
    """Whether all that is known is that one rank is gone, or never came to the store where the others waited for it."""
    if candidate.rule_id == VANISHED:
        return True
    lead, ranks = candidate.lead, candidate.ranks
    return lead.rule.fact == "awaited" and len(ranks) == 1 and lead.rank not in ranks


def _of_vanished(job: Job, ends: Ends, vanished: Candidate) -> Candidate | None:
    """What the one rank that is gone said in alarming words, if nobody else did."""
    if len(vanished.ranks) != 1:
        return None
    rank = vanished.ranks[0]
    odd = {
        (e.path, e.line) for fact in ("oddity", "last-line") for i in job.of_fact(fact) if i.rank == rank
        for e in i.finding.evidence
    }  # fmt: skip
    own = [
        word for word in (*ends.last_words, *ends.alarms)
        if _writer(job, word) == rank or (word[1].path, word[1].line) in odd
    ]  # fmt: skip
    if not own:
        own = _nameless_errors(job, ends)
    return last_words(job, own[-1:]) if own else None


def _nameless_errors(job: Job, ends: Ends) -> list[tuple[int, Evidence]]:
    """What was logged as an error before anybody lost a connection, without a name: who went said it, the others were at work."""
    told = ends.words_before(first_trouble(job))
    split = [
        split_line(shown.text)[0] if job.split is None else job.split(at, shown.text)[0] for at, shown in told
    ]
    errors = [
        word for word, prefix in zip(told, split, strict=True)
        if prefix.level in {"error", "fatal"} and prefix.rank is None and not prefix.stream
    ]  # fmt: skip
    return errors if len(errors) == 1 else []


def _writer(job: Job, word: tuple[int, Evidence]) -> int | None:
    """The rank that a line is of, by its prefix, its file or its first words."""
    index, shown = word
    prefix, message = split_line(shown.text)
    own = compiled(SELF).match(message) if prefix.rank is None else None
    if own is not None:
        return int(own[1] or own[2])
    return job.sources[index].rank if prefix.rank is None else prefix.rank


def _parting(job: Job, gave_up: Sequence[Candidate]) -> Candidate | None:
    """What the one rank that left with an exit code said last, where no other rank said the like."""
    ranks = {rank for candidate in gave_up for rank in candidate.ranks}
    if len(ranks) != 1:
        return None
    (rank,) = ranks
    said = [*job.of_fact("last-line"), *job.of_fact("oddity")]
    odd = job.of_fact("oddity")
    own = [i for i in said if i.rank == rank] or [i for i in odd if i.rank is None and len(odd) == 1]
    last = max(own, key=lambda i: i.finding.offset, default=None)
    if last is None or last.fields.get("_shared") is True:
        return None
    others = any(i.rank != rank and i.fields.get("_shared") is True for i in said)
    if last.rule.fact != "oddity" and last.finding.level not in {"warning", "error", "fatal"} and not others:
        return None
    return last_words(job, [(last.finding.source, last.finding.evidence[0])])


_TELL_NOTHING = frozenset(["unknown.last-words", "unknown.said-of-crash"])


def _thrown(finding: Finding) -> Evidence:
    """The text of an exception, without what the run-time library says around it."""
    shown = finding.evidence[0]
    what = finding.fields.get("what")
    return Evidence(shown.path, shown.line, f"{what or ''}", shown.fields)


def _gave_up(candidate: Candidate) -> bool:
    """Whether a process ended itself."""
    by_itself = candidate.lead.text("signal") in {None, "SIGABRT"}
    return candidate.rule_id in _EXITED or (candidate.rule_id in _ENDS and by_itself)


_STARTING = r"(?i)\b(?:captur|load|compil|warm)\w*"
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
    if tag == "peer-loss":
        lost = {rank for i in symptoms if (rank := i.number("lost")) is not None}
        peer = best.fields.get("peer") or best.fields.get("host")
        fields = {"peer": peer, "lost": next(iter(lost)) if len(lost) == 1 else None}
        candidate = Candidate([verdict(job, "ledger.peer-vanished", fields, [best])], score=0.4)
    elif tag in {"wrapper", "launcher-report", "rank-exit"} or best.rule.category in {None, "unknown"}:
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


_SERVICE_GAVE_UP = (
    r"\b(?:slurmd|munged|kubelet|containerd|dockerd|nvidia-\w+|nv-\w+|openibd|opensm)(?:\[\d+\])?: (?:\w+: )?"
    r"(?i:fatal|panic|critical)\b"
)
"""Services without which no job runs: what ends them is more than a complaint."""


def unanswered(job: Job, lines: Sequence[tuple[int, Evidence]], how: How) -> list[tuple[int, Evidence]]:
    """Those of ``lines`` after which nothing ordinary follows in their source: no step, no line of level info.

    A kernel complains of much at every boot and has no end: only what rules know of it counts, and what ends
    a service that jobs need.
    """
    moved: dict[str, int] = {}
    for fact in ("alive", "answered", "progress"):
        for item in job.of_fact(fact):
            for shown in item.finding.evidence:
                moved[shown.path] = max(moved.get(shown.path, 0), shown.line or 0)
    kernel = [
        (item.finding.source, range(item.number("first") or 0, (item.number("last") or 0) + 2))
        for item in job.of_fact("kernel-log")
    ]
    left = [
        (index, shown) for index, shown in lines
        if (shown.line or 0) > moved.get(shown.path, 0)
        and (
            compiled(_SERVICE_GAVE_UP).search(shown.text)
            or not any(index == source and shown.line in where for source, where in kernel)
        )
    ]  # fmt: skip
    if job.resumed is None or any(job.of_tag(tag) for tag in ("rank-exit", "launcher-report")):
        return left
    if hampered(job, (item for tag in TROUBLE for item in job.of_tag(tag))):
        return left
    return [
        (index, shown) for index, shown in left
        if shown.line is None or job.resumed(index, _stream(job, index, shown), shown.line, how) is None
    ]  # fmt: skip


def _stream(job: Job, index: int, shown: Evidence) -> str:
    """Who wrote a line, by all that is known of its log."""
    first = shown.text.partition("\n")[0]
    return (split_line(first) if job.split is None else job.split(index, first))[0].stream
