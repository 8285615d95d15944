"""Exceptions that count for nothing: that Python ignores, that come of an interrupt, or of those who only keep records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from triage.diagnosis.job import Item
from triage.scan.exceptions import IGNORED_RULE
from triage.scan.lazy import compiled
from triage.scan.ordinary.chorus import LOST, WAITED
from triage.scan.ordinary.completion import DONE as SAID_DONE
from triage.scan.ordinary.said import without_digits
from triage.scan.ordinary.status import WELL as STATUS_ZERO

_EXIT_STATUS, _SAID_FINISHED = "host.exit-status", "progress.finished"
INTERRUPTED = "KeyboardInterrupt"
_OF_DEVICES = frozenset(["cuda-error", "oom-message", "collective-timeout", "peer-loss"])


def heeded(items: Sequence[Item]) -> list[Item]:
    """``items`` without what stands in tracebacks that Python says it ignores: of destructors, of what is called at exit.

    What it ignored there once it ignores each time, also where lines of others stand between. An error of the
    GPU is what it is, wherever it was met.
    """
    said = [i for i in items if i.rule.id == IGNORED_RULE]
    if not said:
        return list(items)
    origins = {origin for i in said if any(origin := _origin(i))}
    ignored = [*said, *(i for i in items if i.rule.fact == "exception" and _origin(i) in origins)]
    return [
        item
        for item in items
        if not (
            (item.rule.fact == "exception" and _origin(item) in origins)
            or (
                item.rule.role in {"cause", "symptom"}
                and item.finding.raised
                and not _OF_DEVICES.intersection(item.rule.tags)
                and any(inside(item, exception) for exception in ignored)
            )
        )
    ]


_WANTED = (
    r"(?i)(?:\bas (?:planned|expected|intended|wanted)\b|\b(?:expected|intended|provoked|anticipated) (?:\w+ ){0,2}"
    r"(?:errors?|exceptions?|failures?)\b)[^:\n]{0,40}: ?"
)
"""How what was meant to happen is announced."""


def unwanted(items: Sequence[Item]) -> list[Item]:
    """``items`` without the errors that a program announces in the same breath as what it wanted to see."""
    return [i for i in items if not (i.rule.role in {"cause", "symptom"} and _is_wanted(i))]


def _is_wanted(item: Item) -> bool:
    if item.finding.raised or not item.finding.evidence:
        return False
    lines = [e.text.partition("\n")[0] for e in item.finding.evidence]
    return all(compiled(_WANTED).search(line) for line in lines)


def of_scripts(items: Sequence[Item]) -> list[Item]:
    """``items`` without the exit status that a process states of itself, in a line like those with which others end."""
    own = {(i.finding.source, i.at_last.offset) for i in items if i.rule.id in {LOST, WAITED}}
    return [
        i for i in items
        if i.rule.id != _EXIT_STATUS or (i.finding.source, i.finding.offset) not in own
    ]  # fmt: skip


_FAILURE = r"(?i)error|exception|fail|could not|cannot|can't|unable|denied|no space|lost"
"""Words without which an alarming line need not be of the program that says below that it is through."""


def trusted(items: Sequence[Item]) -> list[Item]:
    """``items`` without a status of 0 that stands right below an error which nothing knows to be harmless.

    The pipe of a shell hides the status of all but its last command. What a program says of itself at its end counts
    where it is the only one: it does not speak for other ranks and for other logs.
    """
    sources = {i.finding.source for i in items}
    harmless = {
        without_digits(line)
        for i in items if i.rule.role == "benign" or _of_a_trackers_thread(i) for e in i.finding.evidence for line in e.text.splitlines()
    }  # fmt: skip
    zeros = [
        i for i in items
        if i.rule.id == STATUS_ZERO and (below := i.text("_below")) is not None and below not in harmless
    ]  # fmt: skip
    # what a program's own good end stands above is met by its script, which does without
    own = [i for i in zeros if not _ended_above(items, i)]
    worthless = {id(i) for i in zeros if i.fields.get("_direct") is True} | {id(i) for i in own}
    lines = {
        (i.finding.source, i.finding.offset) for i in own if compiled(_FAILURE).search(i.text("_below") or "")
    }
    return [
        i for i in items
        if id(i) not in worthless
        and (i.rule.id != SAID_DONE or (len(sources) == 1 and i.rank is None))
        # what a status is worth, the words around it are
        and (i.rule.id != _SAID_FINISHED or (i.finding.source, i.at_last.offset) not in lines)
    ]  # fmt: skip


def _of_a_trackers_thread(item: Item) -> bool:
    """Whether a thread of those who only keep records raised it: a program ends well without."""
    return item.fields.get("_of_tracker") is True and item.fields.get("_thread") is True


def _ended_above(items: Sequence[Item], status: Item) -> bool:
    """Whether the program itself said that it was through, above a status."""
    one = status.finding
    return any(
        i.rule.fact == "ended-well" and i.finding.source == one.source and i.finding.offset < one.offset
        for i in items
    )


def lasting(items: Sequence[Item]) -> list[Item]:
    """``items`` without the ends of workers whose tasks are run again, and what ranks lose once their interpreters end.

    Whoever still has a task to be run again says so beside each such end. A rank that says that it leaves with its
    group still up has done all it was to do, or has raised what counts already: whom its threads lose from then on went
    as it did.
    """
    told = [i.finding for i in items if i.rule.fact == "task-retried"]
    retried = [(said.source, at) for said in told for at in {said.offset, said.last_offset or said.offset}]
    replaced = {
        (i.finding.source, i.number("pid")) for i in items
        if i.rule.id == _WORKER_DIED and i.number("pid") is not None
        and any(s == i.finding.source and abs(at - i.at_last.offset) < _NEAR for s, at in retried)
    }  # fmt: skip
    again = [i for i in items if i.rule.fact == "exception" and _to_be_run_again(i, retried)]
    leaving: dict[tuple[int, int], int] = {}
    for i in items:
        if i.rule.id == _LEAVES and i.rank is not None:
            leaving.setdefault((i.finding.source, i.rank), i.finding.offset)
    return [
        i for i in items
        if not (
            replaced and i.rule.role in {"cause", "symptom"}
            and {(i.finding.source, i.finding.pid), (i.finding.source, i.number("pid"))} & replaced
        )
        and i not in again
        and not (i.finding.raised and any(inside(i, exception) for exception in again))
        and not (
            _LOSSES.intersection(i.rule.tags) and i.rule.role == "symptom" and not i.finding.raised
            and i.rank is not None and i.finding.offset > leaving.get((i.finding.source, i.rank), 1 << 62)
        )
    ]  # fmt: skip


def _to_be_run_again(exception: Item, retried: Sequence[tuple[int, int]]) -> bool:
    """Whether an exception stands below the words that its task is run again, each time that it does."""
    begin, source = exception.number("_begin"), exception.finding.source
    if begin is None:
        return False
    places = {begin, exception.at_last.offset if exception.finding.count > 1 else begin}
    return all(any(s == source and 0 < at - said < _RIGHT_BELOW for s, said in retried) for at in places)


_RIGHT_BELOW = 2 << 10
"""Bytes below the words that a task is run again in which it stands what it raised."""
_WORKER_DIED, _LEAVES = "ray.worker-died", "torch.group-not-destroyed"
_LOSSES = frozenset(["peer-loss", "teardown"])
_NEAR = 8 << 10
"""Bytes around the end of a worker in which it is said that its task is run again: of two reports either may come first."""


def while_handling(item: Item, stop: Item) -> bool:
    """Whether an exception was raised while ``stop`` was handled: its traceback is the end of one chain with that."""
    if item.finding.source != stop.finding.source or item.number("_end") != stop.number("_end"):
        return False
    one, two = item.number("_begin"), stop.number("_begin")
    return one is not None and two is not None and one > two


def by_source(items: Iterable[Item]) -> Mapping[int, Sequence[Item]]:
    """``items`` by their sources, none for the others: what stands in a traceback is looked for in its log alone."""
    found: defaultdict[int, list[Item]] = defaultdict(list)
    for item in items:
        found[item.finding.source].append(item)
    return found


def but_trackers(found: list[Item]) -> list[Item]:
    """``found`` without what a tracker's own threads and processes raised, if there is anything else: programs do without."""
    return [i for i in found if i.fields.get("_of_tracker") is not True] or found


def _origin(item: Item) -> tuple[object, ...]:
    """What was raised, where, and from which line of the program."""
    names = ("type", "raised_in", "raised_function", "file", "line")
    return tuple(item.fields.get(name) for name in names)


def inside(known: Item, exception: Item) -> bool:
    """Whether a rule's finding lies in the traceback of an exception."""
    one, two = known.finding, exception.finding
    if one.source != two.source:
        return False
    begin, end = exception.number("_begin"), exception.number("_end")
    if begin is None or end is None:
        return False
    # equal symptoms are folded: of those, the first and the last place are known
    last = one.last_offset if known.rule.role == "symptom" else None
    places = {one.offset, one.offset if last is None else last}
    return any(begin <= at <= end for at in places) and (
        one.stream == two.stream or not one.stream or not two.stream
    )
