"""Attempts: a launcher that restarts its workers leaves several tries in one log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.attempts.openings import OPENS, OVER, openings, told
from triage.diagnosis.job import Began, Item, comparable, compare
from triage.model import Source
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

MAX_ATTEMPTS = 64


def split(items: Sequence[Item], sources: Sequence[Source], began: Began | None = None) -> list[list[Item]]:
    """The items of each attempt, in order; a single list when nothing was restarted.

    A restart line divides its own source by position and the others by time; sources that carry
    an attempt number in their path belong to it.
    """
    labelled = {i: s.attempt for i, s in enumerate(sources) if s.attempt is not None}
    boundaries = _boundaries(items, began)
    items = told(items)
    if not items or (not boundaries and len(set(labelled.values())) < 2):
        return [list(items)]
    attempts: dict[int, list[Item]] = defaultdict(list)
    floating: list[Item] = []
    for item in items:
        label = labelled.get(item.finding.source)
        number = _number(item, boundaries) if label is None else label
        if number is None:
            floating.append(item)
            continue
        attempts[number].append(item)
        if label is None:
            again = last_occurrence(item)
            if again is not None and (later := _number(again, boundaries)) not in {None, number}:
                attempts[later or 0].append(again)
    if floating:
        last = max(len(boundaries), max(attempts, default=0))
        ends = {i.rule.category for i in attempts[last] if i.rule.role == "cause"}
        started = bool(ends - _BEFORE_STEPS) or any(i.rule.fact == "ended-well" for i in attempts[last])
        attempts[last if started else 0].extend(floating)
    if boundaries and _goes_on(boundaries[-1], began):
        attempts.setdefault(len(boundaries), [])  # nothing of it is known but that it works
    return [attempts[number] for number in sorted(attempts)][-MAX_ATTEMPTS:]


def last_occurrence(item: Item) -> Item | None:
    """Equal findings are folded over a whole source: the last of them may be another attempt's."""
    finding = item.finding
    if finding.last_offset is None or finding.last_offset == finding.offset:
        return None
    by = finding.last_offset - finding.offset
    fields = dict(finding.fields)
    for edge in ("_begin", "_end"):
        if isinstance(place := fields.get(edge), int):
            fields[edge] = place + by
    moved = replace(
        finding,
        offset=finding.last_offset,
        time=finding.last_time,
        evidence=finding.evidence[-1:],
        count=1,
        fields=fields,
    )
    return Item(moved, item.rule)


def _boundaries(items: Sequence[Item], began: Began | None) -> list[Item]:
    """Where one try ended and the next began, by the launcher that says most about it.

    Launchers announce restarts only at level info. Without that, a launcher that saw its workers fail
    and did not give up (no summary follows before the next failure, or a good end does) restarted.
    """
    by_writer: dict[tuple[int, int | None], list[Item]] = defaultdict(list)
    for item in items:
        if item.rule.fact == "restart":
            by_writer[(item.finding.source, item.finding.pid)].append(item)
    if by_writer:
        return max(by_writer.values(), key=len)
    gave_up = [i for i in items if i.rule.id == "torch.child-failed-error"]
    ended_well = any(i.rule.fact == "ended-well" for i in items)
    for item in items:
        if item.rule.id == "torch.agent-worker-failed":
            by_writer[(item.finding.source, item.finding.pid)].append(item)
    best: list[Item] = []
    for (source, _), failures in by_writer.items():
        ends = [g.finding.offset for g in gave_up if g.finding.source == source]
        nexts = [f.finding.offset for f in failures[1:]]
        restarts = [
            failure
            for failure, following in zip(failures, [*nexts, 1 << 62], strict=True)
            if not any(failure.finding.offset < end < following for end in ends)
            and (following < 1 << 62 or ended_well or _worked_on(failure, items, began))
        ]
        best = max(best, restarts, key=len)
    appended = _appended(items)
    if best and appended and best[0].finding.source != appended[0].finding.source:
        return best
    return sorted([*best, *appended], key=lambda i: i.finding.offset)


def _worked_on(failure: Item, items: Sequence[Item], began: Began | None) -> bool:
    """Whether ranks made several steps after a launcher, the only one of its log, had seen its workers end."""
    source = failure.finding.source
    agents = {i.finding.pid for i in items if i.rule.id == failure.rule.id and i.finding.source == source}
    if len(agents) > 1 or failure.finding.pid is None:
        return False
    steps = 0
    for item in items:
        if item.rule.fact != "progress" or item.finding.source != source:
            continue
        for seen in {id(s): s for s in (item, last_occurrence(item)) if s is not None}.values():
            order = compare(seen.finding, failure.finding)
            steps += order == 1 and seen.finding.offset > failure.finding.offset
    return steps >= _STEPS or _goes_on(failure, began)


def _goes_on(item: Item, began: Began | None) -> bool:
    """Whether work is counted from after ``item`` to the end of its log."""
    shown = item.finding.evidence[-1].line if item.finding.evidence else None
    found = None if began is None or shown is None else began(item.finding.source, shown)
    if found is None:
        return False
    then, now = item.finding.time, split_line(found.text)[0].time
    # what stands below may have been said before
    return then is None or now is None or not comparable(then, now) or now.seconds > then.seconds


_STEPS = 3
"""Steps that are more than what was still in a buffer."""


def _appended(items: Sequence[Item]) -> list[Item]:
    """Where another run begins in a log that several runs were appended to, one after the other had ended."""
    by_source: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if (
            (item.rule.fact in _BEGINNINGS and not _is_report(item))
            or item.rule.fact == "progress"
            or _is_last(item)
            or _ends_a_run(item)
            or item.rule.id in NEVER_RAN
            or _job_cancelled(item) is not None
            or _came_to_work(item, -1)
            or _ends_its_process(item)
        ):
            again = last_occurrence(item)
            by_source[item.finding.source] += [item] if again is None else [item, again]
    opened = openings(items)
    best: list[Item] = []
    for source, told_there in by_source.items():
        told_there.extend(opened.get(source, ()))
        told_there.sort(key=lambda i: i.finding.offset)
        best = max(best, _runs(told_there), key=len)
    return best


def _runs(told: Sequence[Item]) -> list[Item]:
    """The lines of one source at which another run begins."""
    found: list[Item] = []
    ended = False
    over: list[Item] = []
    refused = raised = False
    unstarted: int | None = None
    cancelled: str | None = None
    reached: int | None = None
    launchers = {
        i.finding.stream
        for i in told
        if i.rule.fact in {"launch-begins", "launch"} or "launcher-report" in i.rule.tags
    }
    stepped = max((i.finding.offset for i in told if i.rule.fact == "progress"), default=-1)
    for item in told:
        step = item.number("step") if item.rule.fact == "progress" else None
        job = _job_cancelled(item)
        if item.rule.fact == OPENS:
            # where a script began, all that it ran is over
            anew = bool(over) or ended or OVER in item.finding.fields
        elif item.rule.fact == "run-begins":
            anew = all(_is_over(past, item) for past in over) if over else ended or raised
        else:
            # bars are drawn on for a moment while Slurm ends a job
            back = (
                len(launchers) < 2
                and _steps_back(item, step, reached)
                and not (cancelled and step == reached)
            )
            back = back or (refused and step is not None and not item.finding.stream)
            if unstarted is not None and not launchers and item.finding.offset > stepped:
                back = back or _came_to_work(item, unstarted)
            anew = ended and (item.rule.fact in _BEGINNINGS or back)
        if job is not None and cancelled not in {None, job}:
            anew = True  # the job before this one had been cancelled: all since then is another's
        if anew:
            # a place of its own, so that what begins belongs to what it begins
            at = over[-1].finding.offset + 1 if job is not None and over else item.finding.offset - 1
            found.append(Item(replace(item.finding, offset=at, time=None), item.rule))
            ended, refused, reached, cancelled = False, False, None, None
            unstarted = None
            raised = False
            over = []
        if _is_last(item):
            ended = True
            refused = refused or reached is None
        if item.rule.id in NEVER_RAN:
            ended = refused = True
            unstarted = item.finding.offset
        if _ends_its_process(item):
            raised = True
        if _ends_a_run(item) or job is not None:
            over.append(item)
        if job is not None:
            ended, cancelled = True, job
        if step is not None:
            reached = step
    return found


def _came_to_work(item: Item, since: int) -> bool:
    """Whether a program that raises something after ``since`` had got past its command line."""
    begin = item.number("_begin")
    return (
        item.rule.fact == "exception"
        and not item.finding.stream
        and begin is not None
        and begin > since
        and not _OF_LAUNCHERS.intersection(item.rule.tags)
    )


def _is_report(item: Item) -> bool:
    """Whether the command of a launcher is only named because it failed."""
    return item.rule.fact == "launch" and any(
        compiled(_FAILED_COMMAND).search(shown.text) is not None for shown in item.finding.evidence
    )


def _is_last(item: Item) -> bool:
    """Whether a launcher's or a server's main process says why it gives up."""
    return "launcher-report" in item.rule.tags or (
        "wrapper" in item.rule.tags and item.rule.fact == "rank-exit"
    )


def _ends_a_run(item: Item) -> bool:
    """Whether a program that others run under says that one of them, or all, came to a bad end."""
    if item.rule.role == "benign":
        return False
    return "launcher-report" in item.rule.tags or (item.finding.raised and "wrapper" in item.rule.tags)


def _ends_its_process(item: Item) -> bool:
    """Whether an exception stands as the interpreter prints it when nobody has caught it."""
    finding = item.finding
    known = item.rule.role in {"cause", "symptom"} or item.rule.fact == "exception"
    return known and finding.raised and finding.level is None and not finding.stream


def cancelled_jobs(items: Sequence[Item]) -> frozenset[str]:
    """The jobs that Slurm says it cancelled as a whole."""
    return frozenset(job for item in items if (job := _job_cancelled(item)) is not None)


def _job_cancelled(item: Item) -> str | None:
    """The job that Slurm says it cancelled, all of it and not a step."""
    what = item.text("what") if "external-stop" in item.rule.tags else None
    return what if what is not None and what.startswith("JOB ") else None


def _is_over(past: Item, begin: Item) -> bool:
    """Whether what ended had ended when a program began, by the clock where both tell the time."""
    one, two = past.finding, begin.finding
    return compare(one, two) == -1 and (not one.stream or one.stream != two.stream)


def _steps_back(item: Item, step: int | None, reached: int | None) -> bool:
    """Whether progress begins anew: bars of one launcher that gave up, another's may be anywhere."""
    return step is not None and reached is not None and step <= reached and not item.finding.stream


_FAILED_COMMAND = (
    r"(?i)\bfail(?:ed|ure) to (?:run|start|launch|execute)\b|\bCommand:? ?['\"\[(]|\bnon-zero exit\b"
)
"""What is said around the command of a launcher that came to a bad end."""
_BEGINNINGS = frozenset({"launch-begins", "launch", "rendezvous", "run-begins"})
"""What a launcher says before it starts its processes, and a program that others are started by at its start."""
NEVER_RAN = frozenset(
    {"python.command-line", "python.syntax", "serving.command-line", "python.script-missing"}
)
"""What ends every process of a program at its start: one that works later is another run's."""
_OF_LAUNCHERS = frozenset({"launcher-report", "wrapper", "carrier", "fallout", "teardown", "rank-exit"})
"""What is raised by who started the program."""
_BEFORE_STEPS = frozenset({"port-conflict", "rendezvous"})
"""What ends a try before its first step."""


def _number(item: Item, boundaries: Sequence[Item]) -> int | None:
    """How many restarts came before ``item``; None for progress that can't be ordered.

    What else can't be ordered belongs to the first try, but a good end to the last.
    """
    orders = [compare(item.finding, b.finding) for b in boundaries]
    if boundaries and all(order is None for order in orders):
        if item.rule.fact == "progress":
            return None
        if item.rule.fact == "ended-well":
            return len(boundaries)
    return sum(1 for order in orders if order == 1)
