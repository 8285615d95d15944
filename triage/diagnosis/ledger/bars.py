"""What progress bars prove: somebody was at work for all the time that others waited.

A bar that was not full when the others gave up, and that had been running for about as long as they had
waited, was drawn by the rank that they waited for: it had begun its work when they began to wait.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from triage.diagnosis.job import Item, Job, comparable, compare
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

NEAR = (0.93, 1.3)
"""Share of the wait that a bar must have been running for."""
OWN = 0.4
"""The same where it is the bar of the very rank that is said to be waited for: it may have prepared something first."""
SHORTEST = 20.0
"""Seconds below which a wait and a bar may agree by chance."""
DEFAULT_WAIT = 1800.0
"""Seconds that torch waits at the store when its message does not say, before 2.2."""
_STEPS = (
    r"(?i)\s*(?:training|train|(?:train )?epochs?|(?:global |train )?steps?|iterations?)\b"
    r"(?:[^|]{0,60}\d{1,3}%\||[^|\n]{0,60}: \d{1,9}[a-z]{0,10} \[\d)"
)
"""How bars of the steps of a training begin; without a total they show no share."""
_UNTIMED = frozenset(["torch.store-nccl-id-missing", "torch.store-key-timeout"])


@dataclass(slots=True, eq=False, repr=False)
class Work:
    """Unfinished work beside a wait."""

    bar: Item
    wait: Item
    timeout: float

    @property
    def rank(self) -> int | None:
        """The rank at work: the bar's own, else the one that the wait says it waited for."""
        awaited = self.wait.ranks("absent")
        return self.bar.rank if self.bar.rank is not None or len(awaited) != 1 else awaited[0]

    @property
    def done(self) -> bool:
        """Whether it came to its end, however late."""
        reached = self.bar.number("reached")
        return reached is not None and reached == self.bar.number("whole")

    @property
    def needed(self) -> float:
        """Seconds that the whole work would take, at the pace seen, with some to spare."""
        elapsed = self.bar.seconds("elapsed") or self.timeout
        done = _share(self.bar)
        return max(600.0, 1.5 * elapsed / done if done else 3 * elapsed)


def outlasted(job: Job, waiting: Collection[int]) -> Work | None:
    """Work that was going on when a wait of the others ended, None when no bar shows any.

    Args:
        waiting: ranks that waited themselves; their bars prove nothing.
    """
    timed = [(i, t) for i in _waits(job) if (t := _timeout(i)) is not None]
    # every rank of hundreds says the same
    waits: dict[tuple[int | None, float], Item] = {}
    for wait, timeout in timed:
        if timeout >= SHORTEST:
            waits.setdefault((_awaited(wait), timeout), wait)
    for bar in map(_freed, _last_bars(job)):
        elapsed = bar.seconds("elapsed") or 0.0
        if bar.rank in waiting or _of_the_steps(bar) or _closed_at_once(bar):
            continue
        for (awaited, timeout), wait in waits.items():
            least = OWN if bar.rank is not None and awaited == bar.rank else NEAR[0]
            if least * timeout <= elapsed <= NEAR[1] * timeout:
                return Work(bar, wait, timeout)
    bars = _drawn(job, waiting)
    for wait, timeout in timed if bars else ():
        drawn = _moved_on(bars, wait)
        if drawn is not None and (drawn.seconds("elapsed") or 0.0) >= timeout:
            return Work(drawn, wait, timeout)
    return _counted_on(job, set(waiting) | {wait.rank for wait, _ in timed}, timed)


def _awaited(wait: Item) -> int | None:
    """The one rank that a wait names as waited for."""
    named = wait.ranks("absent") or wait.ranks("awaited")
    return named[0] if len(named) == 1 else None


def _of_the_steps(bar: Item) -> bool:
    """Whether a bar counts the steps of the training itself, in each of which all ranks meet: it is nobody's work aside."""
    return any(compiled(_STEPS).match(split_line(e.text)[1]) for e in bar.finding.evidence[-1:])


def _freed(bar: Item) -> Item:
    """``bar`` without a rank where somebody else's record stands right behind it, in the same line of the log: that is his."""
    if bar.rank is None or not any(compiled(_OF_ANOTHER).search(e.text) for e in bar.finding.evidence[-1:]):
        return bar
    return Item(replace(bar.finding, rank=None), bar.rule)


_OF_ANOTHER = r"\[\d[\d:]*<[^\]\n]{0,60}\]\s?(?:\[(?:rank|default)\d+\]:?)?\[[EWFI](?:\d{3,4}|\s)"
"""The end of a bar, and the head of a record of C++ behind it."""


def _closed_at_once(bar: Item) -> bool:
    """Whether a bar shows time but no step: tqdm draws it so when an exception ends the first one, so that was a wait too."""
    return bar.number("step") == 0 and bool(bar.number("total")) and bar.rank is None


def _drawn(job: Job, waiting: Collection[int]) -> list[Item]:
    """All states of bars that tell how long they have been running, but for those of the waiting."""
    return [
        i for fact in ("progress", "phase-start", "phase-end") for i in job.of_fact(fact)
        if i.rank not in waiting and i.seconds("elapsed") is not None
        and (_share(i) is not None or i.rule.fact == "phase-end")
    ]  # fmt: skip


def _moved_on(bars: Sequence[Item], wait: Item) -> Item | None:
    """The last state of a bar that was drawn, in the log of a wait, before the wait ended and further on behind it."""
    ended = wait.finding
    here = [i for i in bars if i.finding.source == ended.source]
    before = max((i for i in here if i.finding.offset < ended.offset), key=_place, default=None)
    after = max((i for i in here if i.finding.offset > ended.offset), key=_place, default=None)
    if before is None or after is None or before.finding.stream != after.finding.stream:
        return None
    further = (after.seconds("elapsed") or 0.0) > (before.seconds("elapsed") or 0.0)
    return after if further and before.number("total") in {None, after.number("total")} else None


def _place(item: Item) -> tuple[int, bool]:
    return item.finding.offset, item.rule.fact == "progress"


def _counted_on(
    job: Job, waiting: Collection[int | None], waits: Sequence[tuple[Item, float]]
) -> Work | None:
    """Work that a rank counted on after a wait had ended, or for longer than the wait was, by its own account."""
    works = job.of_rule("progress.counted-work")
    shared = any(work.rank in waiting for work in works)
    for work in works:
        if work.rank is None or work.rank in waiting:
            continue
        lasted = work.seconds("elapsed") or (0.0 if shared else _spanned(work))
        for wait, timeout in waits:
            if (
                lasted >= timeout or compare(work.at_last, wait.finding) == 1
                or _kept_its_pace(work, wait, timeout) or _came_in_vain(job, work, wait)
            ):  # fmt: skip
                return Work(work, wait, timeout)
    return None


def _came_in_vain(job: Job, work: Item, wait: Item) -> bool:
    """Whether the one that a wait was for came to the end of its work and then found nobody: they had given up by then.

    Before that they would have had what they waited for; no clock needs to tell.
    """
    whole = work.number("whole")
    if whole is None or work.number("reached") != whole or wait.ranks("absent") != (work.rank,):
        return False
    if _spanned(work) < SHORTEST or (compare(wait.finding, work.at_last) == 1):
        return False
    done = work.finding.last_offset or work.finding.offset
    losses = (i for tag in ("peer-loss", "store-loss") for i in job.of_tag(tag) if i.rank == work.rank)
    return any(
        i.finding.raised and i.finding.source == work.finding.source and i.finding.offset > done
        for i in losses
    )


def _spanned(work: Item) -> float:
    """Seconds from the first count of a work to the last, 0 where it tells no times."""
    first, last = work.finding.time, work.finding.last_time
    return last.seconds - first.seconds if first and last and comparable(first, last) else 0.0


def _kept_its_pace(work: Item, wait: Item, timeout: float) -> bool:
    """Whether work was counted through most of a wait, and the next count was not yet due when it ended."""
    first, last, ended = work.finding.time, work.finding.last_time, wait.finding.time
    times = work.number("times") or 0
    if first is None or last is None or ended is None or times < _COUNTS:
        return False
    if not (comparable(first, last) and comparable(last, ended)):
        return False
    pace = (last.seconds - first.seconds) / (times - 1)
    silent = ended.seconds - last.seconds
    return 0 <= silent <= _LATE * max(pace, 1.0) and silent < _QUIET * timeout


_COUNTS = 3
"""Counts by which the pace of a work is known."""
_LATE = 1.5
"""How late the next count may be, in terms of the pace."""
_QUIET = 0.5
"""Part of a wait after which silence means something whatever the pace was."""


def _waits(job: Job) -> Iterator[Item]:
    for tag in ("collective-timeout", "store-timeout"):
        yield from job.of_tag(tag)


def _timeout(item: Item) -> float | None:
    said = item.seconds("timeout")
    if said is None and item.rule.id in _UNTIMED:
        return DEFAULT_WAIT
    return said


def _last_bars(job: Job) -> list[Item]:
    """The last state of the bar of each writer, if it was not full, and that of its longest work.

    Where nothing tells writers apart, one that begins its own work draws the last bar of all.
    """
    last: dict[tuple[int, str, int | None], Item] = {}
    longest: dict[tuple[int, str, int | None], Item] = {}
    for fact in ("progress", "phase-start"):
        for item in job.of_fact(fact):
            elapsed = item.seconds("elapsed")
            if elapsed is None:
                continue
            # a bar that somebody else's line stands right behind seems to be his
            key = (item.finding.source, item.finding.stream, item.rank)
            if key not in last or item.finding.offset > last[key].finding.offset:
                last[key] = item
            if key not in longest or elapsed >= (longest[key].seconds("elapsed") or 0.0):
                longest[key] = item
    found = [*last.values(), *(item for key, item in longest.items() if item is not last[key])]
    return [item for item in found if (_share(item) or 0.0) < 1.0]


def _share(item: Item) -> float | None:
    """How much of its work a bar says is done, from 0 to 1."""
    percent, step, total = item.seconds("percent"), item.number("step"), item.number("total")
    if step is not None and total:
        return step / total
    return None if percent is None else percent / 100
