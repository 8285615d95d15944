"""What was said before processes ended, where nothing is known but how they did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.causes.candidates import Candidate
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
from triage.diagnosis.causes.unanswered import unanswered
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.oddities import first_trouble
from triage.diagnosis.run import Ends
from triage.diagnosis.words.hearsay import heard, loudest, told
from triage.model import Evidence, Finding
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import SELF
from triage.scan.prefix import split_line


def by_words(job: Job, candidate: Candidate) -> Candidate:
    """``candidate`` as its words tell it, where it only supposes what it is."""
    item = heard(job, candidate.lead)
    if item is not candidate.lead:
        candidate.items = [item, *(i for i in candidate.items if i is not candidate.lead)]
        candidate.score = item.rule.confidence
        candidate.reasons.append("its words are those of such failures")
    return candidate


def loudest_line(job: Job, ends: Ends | None) -> Candidate | None:
    """A candidate from an alarming line that nobody knows, where its words are plainly those of one kind of failure."""
    if ends is None:
        return None
    spoken_of = [w for w in ends.closing if compiled(_REPORTS).fullmatch(w[1].text) is None]
    found = loudest([*unanswered(job, ends.alarms, "alarm"), *spoken_of])
    if found is None:
        return None
    index, shown, like = found
    candidate = made(job, job.rules["unknown.last-words"], {}, index, [shown])
    candidate.items = [told(job, candidate.lead, like, shown.text)]
    candidate.score = min(candidate.lead.rule.confidence, OF_CHOSEN)
    return candidate


_REPORTS = r"[^\n]*[:=] ?-?[\d.,]+(?: ?(?:%|[A-Za-z]{1,5}))?\s*"
"""A line that reports a number under its name complains of nothing, whatever it is the number of."""
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
            w for w in unanswered(job, ends.words_before(_first_ends(job)), "printed") if tells(w)
        ]
        found = stated_exception(job, words) or (last_words(job, words) if words else None)
        if found is None or found.rule_id in _TELL_NOTHING:
            found = _parting(job, gave_up) or loudest_line(job, ends) or found
        if found is not None and found.rule_id in _TELL_NOTHING and any(map(_killed, live)):
            return None  # a signal from outside tells more than words that tell nothing
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
        found = by_words(job, found)
        awaited = any(c.lead.rule.fact == "awaited" for c in live)
        # that somebody never came is worth more than words which tell no kind of failure
        return None if awaited and found.rule_id in _TELL_NOTHING else found
    return None


def _first_ends(job: Job) -> dict[int, int]:
    """Where in each source somebody first waited in vain, or a launcher first saw a process end or ended one."""
    until = first_trouble(job)
    for item in job.items:
        if not _OF_ENDS.isdisjoint(item.rule.tags):
            at = item.finding.source
            until[at] = min(until.get(at, item.finding.offset), item.finding.offset)
    return until


_OF_ENDS = frozenset({"rank-exit", "teardown", "launcher-report"})


def _felled(candidate: Candidate) -> bool:
    """Whether one process alone was felled by a signal, which leaves no time for words, and all others gave up after it.

    It is then the only one that the candidate speaks of.
    """
    if candidate.rule_id != _CHILD_ENDED or len(candidate.items) < 2:
        return False
    felled = [i for i in candidate.items if _by_a_signal(i)]
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


def _killed(candidate: Candidate) -> bool:
    """Whether some process was felled by a signal, whoever it was."""
    return candidate.rule_id == _CHILD_ENDED and any(map(_by_a_signal, candidate.items))


def _by_a_signal(end: Item) -> bool:
    """Whether a process ended by a signal that leaves no time for words."""
    return (end.number("code") or 0) % _SHELL in _FELLING


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
    split = [job.parts(at, shown.text)[0] for at, shown in told]
    errors = [
        word for word, prefix in zip(told, split, strict=True)
        if prefix.level in {"error", "fatal"} and not prefix.stream and _writer(job, word) is None
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
