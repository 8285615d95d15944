"""What was said after what: in one log by place, in several by clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triage.diagnosis.job import APART, Item, compare


def last_of(item: Item) -> int:
    """Where a finding was seen last: equal ones are folded."""
    last = item.finding.last_offset
    return item.finding.offset if last is None else last


def later(sign: Item, item: Item) -> bool:
    """Whether ``sign`` was seen after ``item`` was seen last."""
    one, two = sign.finding, item.finding
    if one.source == two.source:
        return one.offset > last_of(item)
    return compare(one, two) == 1


def unordered(end: Item, item: Item) -> bool:
    """Whether nothing orders the two: standard output and standard error of one job, say."""
    return end.finding.source != item.finding.source and compare(end.finding, item.finding) is None


def after_all(troubles: Sequence[Item]) -> Callable[[Item], bool]:
    """Whether a sign of life was last seen after all of ``troubles``: with hundreds of ranks each can't be asked of each."""
    last: dict[int, int] = {}
    newest: dict[int, float] = {}
    untimed: set[int] = set()
    clocks: set[tuple[str, bool]] = set()
    for trouble in troubles:
        finding, moment = trouble.finding, trouble.finding.time
        last[finding.source] = max(last.get(finding.source, -1), last_of(trouble))
        if moment is None:
            untimed.add(finding.source)
        else:
            clocks.add((moment.clock, moment.zoned))
            newest[finding.source] = max(newest.get(finding.source, moment.seconds), moment.seconds)
    top = sorted(((seconds, source) for source, seconds in newest.items()), reverse=True)[:2]

    def after(sign: Item) -> bool:
        own = sign.finding.source
        if own in last and last_of(sign) <= last[own]:
            return False
        if len(last) == (own in last):
            return True
        moment = sign.finding.last_time or sign.finding.time
        if moment is None or len(untimed) > (own in untimed) or clocks != {(moment.clock, moment.zoned)}:
            return False
        latest = next(seconds for seconds, source in top if source != own)
        return moment.seconds - latest >= APART

    return after
