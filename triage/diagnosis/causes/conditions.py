"""What ``when`` and ``if`` may ask about the job; the meaning is documented in ``docs/rules.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triage.diagnosis.job import Item, Job, comparable, compare
from triage.model import Value
from triage.scan.lazy import compiled


def names_of(job: Job, item: Item | None, world_size: int | None, phase: str | None) -> dict[str, Any]:
    """The plain names that a condition may use."""
    names: dict[str, Any] = {"world_size": world_size, "phase": phase}
    nodes = {i.finding.host for i in job.items if i.finding.host}
    names["nodes"] = len(nodes) or None
    if item is not None:
        finding = item.finding
        names.update(
            rank=finding.rank, host=finding.host, gpu=finding.gpu, local_rank=finding.local_rank,
            count=finding.count, line_level=finding.level,
        )  # fmt: skip
        names.update(item.fields)
    return names


def functions_of(job: Job, item: Item | None) -> Mapping[str, Callable[..., Any]]:
    """The functions that a condition may call, bound to one finding of one job."""

    def others(name: str) -> list[Item]:
        return [o for o in job.named(name) if o is not item]

    def seen(name: str) -> bool:
        return bool(others(name))

    def absent(name: str) -> bool:
        return not job.cut and not others(name)

    def same_rank(name: str) -> bool:
        if item is None:
            return False
        rank, stream = item.rank, item.finding.stream
        return any(
            (rank is not None and o.rank == rank)
            or (rank is None and o.finding.source == item.finding.source and o.finding.stream == stream)
            for o in others(name)
        )

    def same_host(name: str) -> bool:
        host = item.finding.host if item else None
        return host is not None and any(o.finding.host == host for o in others(name))

    def near(name: str, lines: int = 0, seconds: float = 0.0) -> bool:
        return item is not None and any(_near(item, o, lines, seconds) for o in others(name))

    def before(name: str) -> bool:
        return item is not None and any(compare(o.finding, item.finding) == -1 for o in others(name))

    def after(name: str) -> bool:
        return item is not None and any(compare(o.at_last, item.finding) == 1 for o in others(name))

    def works_on(rank: int | None) -> bool:
        return rank is not None and _works_on(job, rank)

    def values(field: str) -> set[Value]:
        return {i.fields[field] for i in (job.of_rule(item.rule.id) if item else ()) if field in i.fields}

    return {
        "seen": seen,
        "absent": absent,
        "count": lambda name: sum(o.finding.count for o in job.named(name)),
        "ranks_with": lambda name: len({o.rank for o in job.named(name) if o.rank is not None}),
        "same_rank": same_rank,
        "same_host": same_host,
        "near": near,
        "before": before,
        "after": after,
        "works_on": works_on,
        "differs": lambda field: len(values(field)) > 1,
        "same": lambda field: len(values(field)) == 1,
        "env": lambda name: job.environment.get(name),
        "version": lambda name: job.version(name),
        "uses": job.uses,
        "stack": lambda name: stack(job, name),
        "longest": lambda phase: longest(job, phase),
        "slurm": lambda name: next(job.facts("slurm-job", name), None),
        "receipt": lambda path: _dig(job.receipt, path),
        "fact": lambda fact, name: next(job.facts(fact, name), None),
        "context": lambda fact, name: next(job.facts(fact, name), None),
    }


def stack(job: Job, name: str) -> bool:
    """Whether a log has lines of these programs, by the rules that know them; ``serving`` is any engine that serves."""
    wanted = _SERVING if name == "serving" else frozenset({name})
    return any(item.rule.id.partition(".")[0] in wanted for item in job.items)


_SERVING = frozenset(
    ["dynamo", "lmdeploy", "llamacpp", "serving", "sglang", "tensorrt-llm", "tgi", "triton", "vllm"]
)


def _near(item: Item, other: Item, lines: int, seconds: float) -> bool:
    one, two = item.finding, other.finding
    if one.source == two.source and lines and one.evidence and two.evidence:
        here, there = one.evidence[0].line, two.evidence[0].line
        if here is not None and there is not None and abs(here - there) <= lines:
            return True
    if seconds and one.time is not None and two.time is not None and one.time.clock == two.time.clock:
        return abs(one.time.seconds - two.time.seconds) <= seconds
    return False


_WORK = ("progress.step", "progress.counted-work", "progress.own-pace")
_CLOCKS_AGREE = 1.0
"""Seconds by which the clocks of nodes may differ."""


def _works_on(job: Job, rank: int) -> bool:
    """Whether a rank counts work in its own lines when others have lost it already."""
    lost = [
        time
        for o in job.named("tag:peer-loss")
        if o.rank not in {None, rank} and (time := o.finding.time) is not None
    ]
    own = [o.at_last.time for name in _WORK for o in job.of_rule(name) if o.rank == rank]
    return any(
        all(comparable(done, time) and done.seconds >= time.seconds + _CLOCKS_AGREE for time in lost)
        for done in own
        if done is not None and lost
    )


def longest(job: Job, phase: str) -> float | None:
    """The longest that an activity took, in seconds, by the logs or the receipt; None when unknown."""
    took = [i.seconds("seconds") for i in job.of_fact("duration") if i.rule.phase == phase]
    took.append(_number(_dig(job.receipt, f"durations.{phase}_s")))
    ends = [i for i in job.of_fact("phase-end") if i.rule.phase == phase]
    for start in (i for i in job.of_fact("phase-start") if i.rule.phase == phase):
        end = next((e for e in ends if e.rank == start.rank and compare(e.finding, start.finding) == 1), None)
        if end is not None and start.finding.time is not None and end.finding.time is not None:
            took.append(end.finding.time.seconds - start.finding.time.seconds)
    return max((t for t in took if t is not None), default=None)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _dig(receipt: Mapping[str, Any] | None, path: str) -> Any:
    value: Any = receipt
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def holds(job: Job, item: Item, world_size: int | None = None, phase: str | None = None) -> bool:
    """Whether the rule's ``when`` is true for this finding (always, when it has none)."""
    if item.rule.role in {"cause", "symptom"} and _wanted(item):
        return False
    condition = item.rule.when
    if condition is None:
        return True
    return condition.holds(names_of(job, item, world_size, phase), functions_of(job, item))


def _wanted(item: Item) -> bool:
    """Whether the line itself says that a test had wanted the failure that it tells of."""
    shown = item.finding.evidence
    return not item.finding.raised and bool(shown) and all(compiled(_WANTED).search(e.text) for e in shown)


_WANTED = (
    r"(?i)\b(?:raised|fails?|failed|rejected|refused|errored|threw|caught)[^\n]{0,40} as (?:expected|intended|it should)\b"
    r"|\(expected\)"
)
"""How tests say so."""


def undisputed(items: list[Item]) -> list[Item]:
    """``items`` without those whose lines a rule with conditions knows better; the scan decides of all other rules."""
    better = [i for i in items if i.rule.when is not None and (i.rule.refines or i.rule.role == "benign")]
    if not better:
        return items
    return [item for item in items if not any(_knows_better(one, item) for one in better if one is not item)]


def _knows_better(one: Item, item: Item) -> bool:
    hushed = one.rule.role == "benign" and item.rule.role in {"cause", "symptom"}
    if item.rule.id not in one.rule.refines and not hushed:
        return False
    mine, other = one.finding, item.finding
    if mine.source != other.source or not mine.evidence or not other.evidence:
        return False
    begin, end = _lines(one)
    first, last = _lines(item)
    return (
        begin is not None
        and first is not None
        and begin <= last
        and first <= end
        and other.count <= mine.count
    )


def _lines(item: Item) -> tuple[int | None, int]:
    """The first and the last line on which a finding was seen first."""
    shown = item.finding.evidence[0]
    first = shown.line
    return first, (first or 0) + shown.text.count("\n")
