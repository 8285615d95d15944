"""From findings to a diagnosis: attempts apart, each judged, then the job from its attempts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.attempts import attempts as attempts_module
from triage.diagnosis.attempts import openings
from triage.diagnosis.attempts.bundled import unbundled
from triage.diagnosis.causes.candidates import Candidate, collect
from triage.diagnosis.causes.conditions import holds, undisputed
from triage.diagnosis.causes.derived import derive, stated
from triage.diagnosis.causes.doubts import SURE as OF_DOUBTS
from triage.diagnosis.causes.doubts import others
from triage.diagnosis.causes.enclosing import carrier, named_below
from triage.diagnosis.causes.fallback import alarm, fall_back
from triage.diagnosis.causes.in_vain import in_vain
from triage.diagnosis.causes.ranking import Ranking, rank
from triage.diagnosis.causes.soloist import joined, soloist
from triage.diagnosis.causes.worded import worded
from triage.diagnosis.heeded import heeded, lasting, of_scripts, trusted, unwanted
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.awaited import settle, stalled
from triage.diagnosis.ledger.barriers import by_rank
from triage.diagnosis.ledger.first_use import reread
from triage.diagnosis.ledger.judgement import judge
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.ledger import build as build_ledger
from triage.diagnosis.ledger.oddities import (
    complained,
    idle,
    left_behind,
    observed,
    refused,
    suspect,
    through,
    with_words_of_ranks,
)
from triage.diagnosis.ledger.part_over import out_of_the_loop
from triage.diagnosis.ledger.phases import Activities
from triage.diagnosis.ledger.snapshots import take_in
from triage.diagnosis.ranks.identity import identify, relabel
from triage.diagnosis.ranks.nodes import around
from triage.diagnosis.ranks.quoted import by_row
from triage.diagnosis.ranks.servers import by_server
from triage.diagnosis.run import Ends, Run
from triage.diagnosis.survival.endings import first_ended
from triage.diagnosis.telling.explain import reasoning, table, timeline
from triage.diagnosis.telling.fingerprint import fingerprint
from triage.diagnosis.telling.groups import groups
from triage.diagnosis.telling.hypothesis import build
from triage.diagnosis.telling.notes import dumped, notes_on
from triage.diagnosis.telling.outcomes import Outcome, attempts, choose
from triage.diagnosis.telling.runners_up import runners_up
from triage.diagnosis.telling.years import dated, year_of
from triage.diagnosis.words.accused import accused_by_others
from triage.diagnosis.woven import rejoined
from triage.model import Diagnosis, Evidence, Verdict

MAX_ALTERNATIVES = 6
MAX_WARNINGS = 8


def diagnose(run: Run) -> Diagnosis:
    """The diagnosis of one job. Never raises for what a log says."""
    known = [Item(f, run.rules[f.rule_id]) for f in run.findings if f.rule_id in run.rules]
    items = lasting(trusted(heeded(unwanted(rejoined(known)))))
    year = year_of(items)
    if year is not None:
        items = [dated(item, year) for item in items]
    run, items = unbundled(run, items)
    tries = attempts_module.split(items, run.sources, run.ends.began if run.ends is not None else None)
    items = openings.told(items)
    outcomes = [_attempt(run, tried, year, last=i == len(tries) - 1) for i, tried in enumerate(tries)]
    chosen, notes = choose(outcomes, run)
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
    notes = [*run.notes, *notes, *notes_on(run, outcomes[-1], completed, items)]
    shown = outcome if verdict == "failed" else outcomes[-1]
    return Diagnosis(
        verdict=verdict,
        completed=completed,
        root_cause=root,
        alternatives=tuple(outcome.hypotheses[1 : 1 + MAX_ALTERNATIVES]) if failed else (),
        warnings=tuple(warnings[:MAX_WARNINGS]),
        notes=tuple(dict.fromkeys(notes)),
        findings=groups(items, root.rule_id if root else None),
        ranks=table(shown.ledger, year),
        attempts=attempts(outcomes, year) if len(outcomes) > 1 else (),
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


def _attempt(run: Run, items: Sequence[Item], year: int | None, *, last: bool) -> Outcome:
    job = Job(run.rules, list(items), run.sources, run.reports, run.receipt, run.cut)
    if last:
        job.add(complained(job, run.ends))
        seen = [*observed(job, run.ends), *idle(job, run.ends), *through(job, run.ends)]
        job.add(seen)
        if year is None and (year := year_of([*items, *seen])) is not None:
            # the program's own lines may be the only ones that state it
            job.items = [dated(item, year) for item in job.items]
            job.index()
        if run.ends is not None:
            job.resumed, job.began, job.split = run.ends.resumed, run.ends.began, run.ends.split
            job.afresh, job.opens, job.said = run.ends.afresh, run.ends.opens, run.ends.said
    job.items = of_scripts(job.items)
    identities = identify(job, run.ends)
    job.items = by_row(by_server(relabel(job.items, identities)))
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
    by_rank(job)
    ledger = build_ledger(job, identities)
    take_in(job, ledger)
    reread(job, ledger)
    settle(job, ledger)
    stalled(job)
    identities.only_failed = _only_failed(job, ledger)
    if last and not ledger.exits and run.ends is not None and (broke_off := run.ends.left_out) is not None:
        # all others ended in order
        called = identities.rank_of_name(broke_off.stream)
        identities.only_failed = called if broke_off.rank is None else broke_off.rank
    identities.failed_at = _failed_at(job, ledger)
    identities.own_logs = _own_logs(job, ledger)
    identities.ended_badly = frozenset(r for r, end in ledger.exits.items() if end.broke)
    identities.ended_at = {
        number: time
        for number in identities.ended_badly
        if (time := ledger.exits[number].item.finding.time) is not None
    }
    identities.suspect = suspect(job, ledger.seen)
    identities.out_of_the_loop = out_of_the_loop(job, ledger.seen)
    identities.bereft = frozenset(ledger.bereft) | frozenset(ledger.waiting)
    identities.missing = ledger.missing
    identities.behind = None if (short := left_behind(job)) is None else short.rank
    identities.first_ended = first_ended(job, identities.rank_of_pid)
    identities.accused = accused_by_others(job)
    of_files = {s.rank for s in run.sources if s.rank is not None}
    identities.heard = (
        frozenset(ledger.seen) | identities.introduced | of_files | set(identities.writers.values())
    )
    writers = run.ends.selves.writers if run.ends is not None else ()
    identities.deviant = refused(job, max(len(identities.heard), sum(bool(name) for _, name in writers)))
    verdicts = judge(job, ledger, Activities(job, identities))
    job.items = with_words_of_ranks(job)
    job.add(verdicts)
    ranking = rank(job, ledger, collect(job, ledger, verdicts))
    alone = soloist(job, ranking) if last else None
    if alone is not None:
        ranking.causes.insert(0, alone)
    elif (end := joined(job, ranking, closing)) is not None:
        ranking.causes = [c for c in ranking.causes if c is not end]
        ranking.causes.insert(0, end)
    elif not any(c.explained_by is None and not c.doubtful for c in ranking.causes):
        found = fall_back(job, ledger, ranking, run.ends if last else None)
        if closing is not None and (found is None or found.rule_id.startswith(_BY_WORDS)):
            found = closing
        if found is None and last:
            found = in_vain(job, ranking, run.ends)
        if found is not None:
            ranking.causes.insert(0, found)
    elif last and (said := worded(job, ranking, run.ends)) is not None:
        ranking.causes.insert(0, said)
    elif (enclosing := carrier(job, ledger, ranking)) is not None:
        ranking.causes[0] = enclosing
    elif (named := named_below(job, ledger, ranking)) is not None:
        ranking.causes.insert(0, named)
    if (
        last
        and run.ends is not None
        and ranking.causes
        and ranking.causes[0].lead.rule.category == "numerics"
    ):
        first = run.ends.not_finite
        if first is not None and first.rule_id in job.rules:
            identities.not_finite = first.rank
            job.add([Item(first, job.rules[first.rule_id])])
    alarmed = alarm(job, ledger, run.ends, ranking.complainers) if last and not ranking.causes else None
    verdict, completed = _verdict(run, job, ranking, alarmed)
    around = run.ends.around if run.ends is not None else None
    hypotheses = [
        build(job, identities, c, _confidence(c, ranking, position), year)
        if position
        else build(job, identities, c, _confidence(c, ranking, 0), year, around, _kin(c, ranking))
        for position, c in enumerate(_diverse(ranking.causes))
    ]
    if hypotheses:
        told = {h.category for h in hypotheses}
        hypotheses += [
            build(job, identities, Candidate([item]), OF_DOUBTS, year)
            for item in others(job, ranking.causes[0].lead)
            if item.rule.category not in told
        ]
        hypotheses = runners_up(hypotheses)
    warnings = [build(job, identities, c, min(c.lead.rule.confidence, 0.5), year) for c in ranking.survived]
    return Outcome(job, identities, ledger, ranking, verdict, completed, hypotheses, warnings, alarmed)


def _closing(job: Job, held: Sequence[Item]) -> Candidate | None:
    """A cause that asks for company, where the log ends with its line: what a shell says last is how its script ended."""
    if job.of_fact("ended-well"):
        return None
    known = {id(item) for item in held}
    harmless = {(i.finding.source, i.at_last.offset): i.rule.id for i in held if i.rule.role == "benign"}
    for item in reversed(job.items):
        if id(item) in known or "last-word" not in item.rule.tags:
            continue
        knows = harmless.get((item.finding.source, item.at_last.offset))
        if knows is not None and knows not in item.rule.refines:
            continue  # another rule knows the same line, and when it means no harm
        if job.lines_below(item.at_last) == 0:
            return Candidate([item], score=0.4, reasons=["the log ends with it"])
    return None


_SEEN_FIRST = "torch.agent-worker-failed"
"""The rule of what an agent says of the process of its node that it saw end first."""
_BY_WORDS = ("unknown.last-words", "unknown.like-")
"""What is only supposed, by the words of a line."""


def _kin(root: Candidate, ranking: Ranking) -> list[Item]:
    """What others met of the kind, and is not told to have come of it: first what can lead to the root cause."""
    others = [c.lead for c in ranking.causes if c is not root and c.explained_by is None]
    to_it = [i for i in others if root.rule_id in i.rule.explains]
    alike = [i for i in others if i.rule.category == root.lead.rule.category and i not in to_it]
    return [*to_it, *alike]


def _only_failed(job: Job, ledger: Ledger) -> int | None:
    """The one rank that ended badly without having been told to stop, or the one its launcher saw first."""
    failed = [rank for rank, end in ledger.exits.items() if end.broke]
    # a watchdog ends its process when others did not come
    by_themselves = [r for r in failed if ledger.exits[r].signal != _BY_WATCHDOG or r not in ledger.waiting]
    if len(by_themselves) == 1:
        return by_themselves[0]
    seen = job.of_rule(_SEEN_FIRST)
    if not seen or any(_as_early(other, seen[0]) for other in seen[1:]):
        return None
    rank = ledger.identities.rank_of_pid(seen[0].number("pid"))
    return rank if rank in failed else None


def _as_early(other: Item, first: Item) -> bool:
    """Whether the agent of another node may have seen a worker end as early: each tells of its own first.

    Which of several logs comes first is chance; in one, clocks tell.
    """
    if other.finding.source != first.finding.source:
        return True
    one, two = first.finding.time, other.finding.time
    same = one is not None and two is not None and one.clock == two.clock
    return same and one is not None and two is not None and two.seconds - one.seconds < 1.0


_BY_WATCHDOG = "SIGABRT"
"""The signal by which a process ends whose watchdog gives up."""


def _own_logs(job: Job, ledger: Ledger) -> frozenset[int]:
    """The sources in which launchers told how ranks ended, where ranks wrote in all of them; else none."""
    told = frozenset(end.item.finding.source for end in ledger.exits.values())
    written = {i.finding.source for i in job.items if i.finding.raised and i.rank is not None}
    return told if told <= written else frozenset()


def _failed_at(job: Job, ledger: Ledger) -> dict[tuple[int, str], int]:
    """By node, where each has a launcher that tells of its processes: the one of them that ended badly by itself, or first."""
    places: dict[tuple[int, str], set[int]] = defaultdict(set)
    for number, end in ledger.exits.items():
        if end.broke:
            places[end.item.finding.source, around(end.item.finding)].add(number)
    first: dict[tuple[int, str], int | None] = {}
    for item in job.of_rule(_SEEN_FIRST):
        rank = ledger.identities.rank_of_pid(item.number("pid"), item.finding.host)
        first.setdefault((item.finding.source, around(item.finding)), rank)
    found = {}
    for place, ranks in places.items():
        # of a job with a single launcher's log it is decided for all of it
        rank = next(iter(ranks)) if len(ranks) == 1 else first.get(place) if len(places) > 1 else None
        if rank in ranks:
            found[place] = rank
    return found


def _verdict(run: Run, job: Job, ranking: Ranking, alarmed: Evidence | None) -> tuple[Verdict, bool | None]:
    if ranking.causes:
        return "failed", False
    ended = bool(job.of_fact("ended-well"))
    if run.cut:
        return "inconclusive", True if ended else None
    if alarmed is not None:
        return "inconclusive", None
    if not ended and dumped(run, job.items):
        return "inconclusive", None  # who dumps the stacks of a job has seen it stand still
    if (run.bytes_read == 0 and (run.sources or run.receipt is None)) or not _understood(run, job):
        return "inconclusive", None
    return "healthy", True if ended else None


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
