"""From findings to a diagnosis: attempts apart, each judged, then the job from its attempts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from triage.diagnosis.attempts import attempts as attempts_module
from triage.diagnosis.attempts import openings
from triage.diagnosis.attempts.bundled import unbundled
from triage.diagnosis.causes.candidates import Candidate, collect
from triage.diagnosis.causes.conditions import holds, undisputed
from triage.diagnosis.causes.derived import derive, stated
from triage.diagnosis.causes.doubts import SURE as OF_DOUBTS
from triage.diagnosis.causes.doubts import others
from triage.diagnosis.causes.fallback import alarm, carrier, fall_back, named_below, worded
from triage.diagnosis.causes.ranking import Ranking, rank
from triage.diagnosis.heeded import heeded, trusted
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.awaited import settle, stalled
from triage.diagnosis.ledger.judgement import judge
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.ledger import build as build_ledger
from triage.diagnosis.ledger.oddities import idle, left_behind, observed, suspect, with_words_of_ranks
from triage.diagnosis.ledger.phases import Activities
from triage.diagnosis.ranks.identity import Identities, identify, relabel
from triage.diagnosis.ranks.nodes import around
from triage.diagnosis.run import Ends, Run
from triage.diagnosis.survival.endings import first_ended
from triage.diagnosis.telling.explain import reasoning, table, timeline
from triage.diagnosis.telling.fingerprint import fingerprint
from triage.diagnosis.telling.hypothesis import build
from triage.diagnosis.telling.origin import moment_text
from triage.model import Attempt, Diagnosis, Evidence, FindingGroup, Hypothesis, Verdict

MAX_ALTERNATIVES = 6
MAX_WARNINGS = 8
STACKS = "pyspy"
_CONTEXT_ONLY = frozenset({"exception"})


@dataclass(slots=True, eq=False, repr=False)
class _Outcome:
    """One attempt, judged."""

    job: Job
    identities: Identities
    ledger: Ledger
    ranking: Ranking
    verdict: Verdict
    completed: bool | None
    hypotheses: list[Hypothesis]
    warnings: list[Hypothesis]
    alarm: Evidence | None
    """An alarming line that nobody knows and that keeps this attempt from being called healthy."""


def diagnose(run: Run) -> Diagnosis:
    """The diagnosis of one job. Never raises for what a log says."""
    items = trusted(heeded([Item(f, run.rules[f.rule_id]) for f in run.findings if f.rule_id in run.rules]))
    year = _year(items)
    if year is not None:
        items = [_dated(item, year) for item in items]
    run, items = unbundled(run, items)
    tries = attempts_module.split(items, run.sources, run.ends.began if run.ends is not None else None)
    items = openings.told(items)
    outcomes = [_attempt(run, tried, year, last=i == len(tries) - 1) for i, tried in enumerate(tries)]
    chosen, notes = _choose(outcomes, run)
    outcome = outcomes[chosen]
    verdict, completed = outcomes[-1].verdict, outcomes[-1].completed
    if outcome is not outcomes[-1] and verdict == "healthy":
        verdict = "failed"  # what came after it did not begin
    warnings = list(outcomes[-1].warnings)
    if len(outcomes) > 1 and verdict == "healthy":
        for number, earlier in enumerate(outcomes[:-1]):
            warnings.extend(
                replace(
                    h, reasons=(*h.reasons, f"attempt {number} failed with it; a later attempt succeeded")
                )
                for h in earlier.hypotheses[:1]
            )
    elif verdict == "failed":
        completed = outcome.completed
    failed = verdict == "failed" and bool(outcome.hypotheses)
    root = outcome.hypotheses[0] if failed else None
    best = outcome.ranking.causes[0] if failed and outcome.ranking.causes else None
    notes = [*run.notes, *notes, *_notes(run, outcomes[-1], completed, items)]
    shown = outcome if verdict == "failed" else outcomes[-1]
    return Diagnosis(
        verdict=verdict,
        completed=completed,
        root_cause=root,
        alternatives=tuple(outcome.hypotheses[1 : 1 + MAX_ALTERNATIVES]) if failed else (),
        warnings=tuple(warnings[:MAX_WARNINGS]),
        notes=tuple(dict.fromkeys(notes)),
        findings=_groups(items, root.rule_id if root else None),
        ranks=table(shown.ledger, year),
        attempts=_attempts(outcomes, year) if len(outcomes) > 1 else (),
        timeline=timeline(shown.job, shown.ledger, year),
        sources=tuple(run.reports),
        fingerprint=fingerprint(root.rule_id, root.category, best.lead.fields if best else {})
        if root
        else None,
        reasoning=reasoning(shown.ranking, shown.ledger) if verdict == "failed" else (),
        stats={
            "bytes": run.bytes_read,
            "sources": len(run.reports),
            "findings": sum(i.finding.count for i in items),
            "rules": len(run.rules),
        },
    )


def _attempt(run: Run, items: Sequence[Item], year: int | None, *, last: bool) -> _Outcome:
    job = Job(run.rules, list(items), run.sources, run.reports, run.receipt, run.cut)
    if last:
        seen = [*observed(job, run.ends), *idle(job, run.ends)]
        job.add(seen)
        if year is None and (year := _year([*items, *seen])) is not None:
            # the program's own lines may be the only ones that state it
            job.items = [_dated(item, year) for item in job.items]
            job.index()
        if run.ends is not None:
            job.resumed, job.began, job.split = run.ends.resumed, run.ends.began, run.ends.split
    identities = identify(job, run.ends)
    job.items = relabel(job.items, identities)
    job.index()
    job.add(stated(job))
    known = list(job.items)
    job.items = [i for i in known if holds(job, i, identities.world_size)]
    job.index()
    derived = derive(job, identities.world_size)  # from what counts by its own condition
    job.items = [*known, *derived]
    job.index()
    held = [i for i in job.items if holds(job, i, identities.world_size)]
    closing = _closing(job, held) if last else None
    job.items = undisputed(held)
    job.index()
    ledger = build_ledger(job, identities)
    settle(job, ledger)
    stalled(job)
    identities.only_failed = _only_failed(job, ledger)
    identities.failed_at = _failed_at(ledger)
    identities.suspect = suspect(job, ledger.seen)
    identities.missing = ledger.missing
    identities.behind = None if (short := left_behind(job)) is None else short.rank
    identities.first_ended = first_ended(job, identities.rank_of_pid)
    of_files = {s.rank for s in run.sources if s.rank is not None}
    identities.heard = frozenset(ledger.seen) | identities.introduced | of_files
    verdicts = judge(job, ledger, Activities(job, identities))
    job.items = with_words_of_ranks(job)
    job.add(verdicts)
    ranking = rank(job, ledger, collect(job, ledger, verdicts))
    if not any(c.explained_by is None and not c.doubtful for c in ranking.causes):
        found = fall_back(job, ledger, ranking, run.ends if last else None)
        if closing is not None and (found is None or found.rule_id.startswith(_BY_WORDS)):
            found = closing
        if found is not None:
            ranking.causes.insert(0, found)
    elif last and (said := worded(job, ranking, run.ends)) is not None:
        ranking.causes.insert(0, said)
    elif (enclosing := carrier(job, ledger, ranking)) is not None:
        ranking.causes[0] = enclosing
    elif (named := named_below(job, ranking)) is not None:
        ranking.causes.insert(0, named)
    alarmed = alarm(job, ledger, run.ends, ranking.complainers) if last and not ranking.causes else None
    verdict, completed = _verdict(run, job, ranking, alarmed)
    hypotheses = [
        build(job, identities, c, _confidence(c, ranking, position), year)
        for position, c in enumerate(_diverse(ranking.causes))
    ]
    if hypotheses:
        told = {h.category for h in hypotheses}
        hypotheses += [
            build(job, identities, Candidate([item]), OF_DOUBTS, year)
            for item in others(job, ranking.causes[0].lead)
            if item.rule.category not in told
        ]
    warnings = [build(job, identities, c, min(c.lead.rule.confidence, 0.5), year) for c in ranking.survived]
    return _Outcome(job, identities, ledger, ranking, verdict, completed, hypotheses, warnings, alarmed)


def _closing(job: Job, held: Sequence[Item]) -> Candidate | None:
    """A cause that asks for company, where the log ends with its line: what a shell says last is how its script ended."""
    if job.of_fact("ended-well"):
        return None
    known = {id(item) for item in held}
    harmless = {(i.finding.source, i.at_last.offset) for i in held if i.rule.role == "benign"}
    for item in reversed(job.items):
        if id(item) in known or "last-word" not in item.rule.tags:
            continue
        if (item.finding.source, item.at_last.offset) in harmless:
            continue  # another rule knows the same line, and when it means no harm
        if job.lines_below(item.at_last) == 0:
            return Candidate([item], score=0.4, reasons=["the log ends with it"])
    return None


_BY_WORDS = ("unknown.last-words", "unknown.like-")
"""What is only supposed, by the words of a line."""


def _only_failed(job: Job, ledger: Ledger) -> int | None:
    """The one rank that ended badly without having been told to stop, or the one its launcher saw first."""
    failed = [rank for rank, end in ledger.exits.items() if end.failed and not end.orderly]
    if len(failed) == 1:
        return failed[0]
    first = next(iter(job.of_rule("torch.agent-worker-failed")), None)
    if first is None:
        return None
    rank = ledger.identities.rank_of_pid(first.number("pid"))
    return rank if rank in failed else None


def _failed_at(ledger: Ledger) -> dict[tuple[int, str], int]:
    """By node, where each has a launcher that tells of its processes: the one of them that ended badly by itself."""
    places: dict[tuple[int, str], set[int]] = defaultdict(set)
    for number, end in ledger.exits.items():
        if end.failed and not end.orderly:
            places[end.item.finding.source, around(end.item.finding)].add(number)
    return {place: ranks.pop() for place, ranks in places.items() if len(ranks) == 1}


def _verdict(run: Run, job: Job, ranking: Ranking, alarmed: Evidence | None) -> tuple[Verdict, bool | None]:
    if ranking.causes:
        return "failed", False
    ended = bool(job.of_fact("ended-well"))
    if run.cut:
        return "inconclusive", True if ended else None
    if alarmed is not None:
        return "inconclusive", None
    if not ended and _dumped(run, job.items):
        return "inconclusive", None  # who dumps the stacks of a job has seen it stand still
    if (run.bytes_read == 0 and (run.sources or run.receipt is None)) or not _understood(run, job):
        return "inconclusive", None
    return "healthy", True if ended else None


def _dumped(run: Run, items: Iterable[Item]) -> bool:
    """Whether somebody had the stacks of the processes printed."""
    return any(report.kind == STACKS for report in run.reports) or any(
        item.rule.fact == "native-stacks" for item in items
    )


def _understood(run: Run, job: Job) -> bool:
    """Whether something in the input was recognised: a line of a log, or what kind of output it is."""
    return (
        any(item.rule.fact != "mention" and item.rule.id not in _IGNORED for item in job.items)
        or run.receipt is not None
        or any(report.kind not in _KINDS_THAT_SAY_NOTHING for report in run.reports)
        or (run.ends is not None and (run.ends.ordinary or _counts(run.ends, len(run.sources))))
    )


_IGNORED = frozenset({"python.ignored-exception", "python.exit-noise", "python.destructor"})
"""What Python says of exceptions that it ignores: of a log that says nothing else, whose objects were never finished, nothing is known."""


def _counts(ends: Ends, sources: int) -> bool:
    """Whether every log ends with lines in which its program counts its work."""
    return sources > 0 and all(ends.began(source, 0) is not None for source in range(sources))


_KINDS_THAT_SAY_NOTHING = frozenset({"log", "empty", "unintelligible", "unreadable"})


def _confidence(candidate: Candidate, ranking: Ranking, position: int) -> float:
    """The score as a probability: a close rival takes some of it away."""
    value = candidate.score
    if position == 0:
        rivals = [c for c in ranking.causes if c is not candidate and c.explained_by is None]
        others = [c for c in rivals if c.lead.rule.category != candidate.lead.rule.category]
        if others and max(c.score for c in others) > candidate.score - 0.1:
            value -= 0.12
        elif others:
            value -= 0.03
    elif candidate.explained_by is not None:
        value = min(value * 0.4, 0.35)
    else:
        value = min(value, max(0.05, ranking.causes[0].score - 0.05)) * 0.7
    return max(0.05, min(0.97, value))


def _diverse(causes: Sequence[Candidate]) -> list[Candidate]:
    """Causes in order, repetitions of a category moved behind other categories."""
    first: list[Candidate] = []
    repeats: list[Candidate] = []
    seen: Counter[str] = Counter()
    for candidate in causes:
        category = candidate.lead.rule.category or "unknown"
        (repeats if seen[category] else first).append(candidate)
        seen[category] += 1
    return [*first, *repeats]


def _choose(outcomes: Sequence[_Outcome], run: Run) -> tuple[int, list[str]]:
    """Which attempt's cause is the job's: the first whose cause recurs or after which nothing moved."""
    last = len(outcomes) - 1
    if last > 0 and outcomes[last - 1].verdict == "failed" and _stillborn(outcomes[last]):
        return last - 1, [
            f"attempt {last} ended before its first step, so the cause of attempt {last - 1} is the job's"
        ]
    if last > 0 and outcomes[last - 1].verdict == "failed" and _unseen(outcomes[last], run):
        return last - 1, [
            f"nothing of attempt {last} was seen but its start, so the cause of attempt {last - 1} is the job's"
        ]
    if last == 0 or outcomes[last].verdict != "failed":
        return last, ([] if last == 0 else [f"attempt {last} of {last + 1} decides: it did not fail"])
    final = outcomes[last].hypotheses[0] if outcomes[last].hypotheses else None
    this = attempts_module.cancelled_jobs(outcomes[last].job.items)
    for number in range(last):
        earlier = outcomes[number]
        if not earlier.hypotheses or earlier.verdict != "failed":
            continue
        theirs = attempts_module.cancelled_jobs(earlier.job.items)
        if this and theirs and this.isdisjoint(theirs):
            continue  # Slurm ended it as a job of its own
        cause = earlier.hypotheses[0]
        if final is not None and cause.rule_id == final.rule_id:
            return number, [f"attempt {number} failed first; the same cause recurs in attempt {last}"]
        if cause.rule_id in attempts_module.NEVER_RAN:
            continue  # who had mistyped corrected it and started again
        moved = any(later.job.of_fact("progress") for later in outcomes[number + 1 :])
        weaker = final is None or final.category in _AFTERMATH or final.confidence < cause.confidence
        # ranks that worked together before had a network: what keeps them apart now was left by the first end
        weaker |= (
            final is not None and final.category == "network-config" and bool(earlier.job.of_fact("progress"))
        )
        if not moved and weaker:
            return number, [
                f"attempt {number} failed first and no later attempt made progress, so its cause is the job's"
            ]
    return last, []


def _stillborn(outcome: _Outcome) -> bool:
    """Whether a last try did nothing but raise what follows from another's end."""
    job = outcome.job
    if outcome.verdict != "healthy" or outcome.completed or job.of_fact("progress"):
        return False
    return any(i.finding.raised and i.rule.role == "symptom" for i in job.items)


_AFTERMATH = frozenset(
    {"port-conflict", "rendezvous", "unknown", "rank-crash", "straggler-or-hang", "gpu-oom"}
)
"""What a failed first attempt often leaves to the next: its port, its memory, its absence."""


def _unseen(outcome: _Outcome, run: Run) -> bool:
    """Whether a log ends with the launcher's words that it tries again: what became of that try is not there."""
    items = outcome.job.items
    if (
        outcome.verdict != "healthy"
        or outcome.completed
        or len(items) != 1
        or len(run.sources) != 1
        or run.cut
    ):
        return False
    return not outcome.job.of_fact("progress") and run.bytes_read - items[0].finding.offset < _JUST_BEGUN


_JUST_BEGUN = 400
"""Bytes after the words that a try begins in which it can hardly have shown that it lives."""


def _attempts(outcomes: Sequence[_Outcome], year: int | None) -> tuple[Attempt, ...]:
    found: list[Attempt] = []
    for number, outcome in enumerate(outcomes):
        times = [i.finding.time for i in outcome.job.items if i.finding.time is not None]
        found.append(
            Attempt(
                number=number,
                verdict=outcome.verdict,
                root_cause=outcome.hypotheses[0]
                if outcome.hypotheses and outcome.verdict == "failed"
                else None,
                began=moment_text(times[0], year) if times else None,
                ended=moment_text(times[-1], year) if times else None,
            )
        )
    return tuple(found)


def _groups(items: Sequence[Item], root: str | None) -> tuple[FindingGroup, ...]:
    by_rule: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.rule.fact not in _CONTEXT_ONLY:
            by_rule[item.rule.id].append(item)
    groups: list[FindingGroup] = []
    for rule_id, members in by_rule.items():
        rule = members[0].rule
        ranks = sorted({i.rank for i in members if i.rank is not None})
        groups.append(
            FindingGroup(
                rule_id=rule_id,
                title=_plain(rule.title),
                role=rule.role,
                category=rule.category,
                count=sum(i.finding.count for i in members),
                ranks=tuple(ranks),
                evidence=members[0].finding.evidence[:1],
                sampled=any(i.finding.sampled for i in members),
                explained_by=root if root and rule.role == "symptom" else None,
            )
        )
    return tuple(groups)


def _plain(title: str) -> str:
    """A title without its placeholders, for a group of findings that differ in them."""
    import re

    text = re.sub(r"\s*\([^()]*\{[^()]*\)", "", title)
    text = re.sub(r"\{[a-z_0-9]+\|([^{}]*)\}", r"\1", text)
    return " ".join(re.sub(r"\{[a-z_0-9]+\}", "…", text).split())


def _year(items: Sequence[Item]) -> int | None:
    """The year that year-less clocks lack, from lines that state one on about the same days of the year."""
    from triage.scan.clock import iso, with_year

    days: dict[int, Counter[int]] = defaultdict(Counter)
    bare = {time for item in items if (time := item.finding.time) is not None and time.clock == "yearless"}
    for item in items:
        time = item.finding.time
        if time is not None and time.clock == "wall":
            text = iso(time, None)
            if text:
                days[int(text[:4])][int(time.seconds // _DAY)] += 1
    if not days:
        return None
    near: Counter[int] = Counter()
    for year, told in days.items() if len(days) > 1 else ():
        here = {int(with_year(time, year).seconds // _DAY) for time in bare}
        near[year] = sum(n for day, n in told.items() if not here.isdisjoint(range(day - 2, day + 3)))
    return max(sorted(days), key=lambda year: (near[year], days[year].total()))


_DAY = 86400


def _dated(item: Item, year: int) -> Item:
    """``item`` with its year-less times put on the calendar, so that loggers can be compared."""
    from triage.scan.clock import with_year

    finding = item.finding
    first, last = finding.time, finding.last_time
    if first is None or first.clock != "yearless":
        return item
    return Item(
        replace(
            finding,
            time=with_year(first, year),
            last_time=with_year(last, year) if last is not None and last.clock == "yearless" else last,
        ),
        item.rule,
    )


def _notes(run: Run, last: _Outcome, completed: bool | None, items: Sequence[Item]) -> list[str]:
    notes: list[str] = []
    if last.verdict == "inconclusive":
        if run.bytes_read == 0:
            notes.append(
                "There is nothing to read: the input is empty. Look at standard output and at the other ranks' logs."
            )
        elif run.cut:
            notes.append("Some input was not read to its end, and what was read shows no failure.")
        elif last.alarm is not None:
            shown = last.alarm
            words = " ".join(shown.text.split())[:160]
            notes.append(
                f"No known failure was found, but nothing shows a good end either, and the log ends with "
                f"words that no rule knows: {shown.path}:{shown.line}: {words}"
            )
        elif _dumped(run, items):
            notes.append(
                "Stacks of processes were dumped, as is done of a job that stands still, and nothing tells why it "
                "does. Dump those of all ranks at one moment (py-spy dump --pid PID) and give their logs with them."
            )
        else:
            notes.append(
                "Nothing in the input was recognised. Give triage the job's standard error, dmesg, "
                "sacct output or flight-recorder dumps."
            )
    elif last.verdict == "healthy" and completed is None and any(i.rule.fact == "progress" for i in items):
        notes.append(
            "The log ends without saying that the job ended. If it died, its death is outside of this "
            "log: look at dmesg, sacct and the launcher's output."
        )
    return notes
