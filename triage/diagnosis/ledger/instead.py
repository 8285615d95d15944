"""What a missing rank did instead of coming to the others: what it began, swallowed, left out or has otherwise than they."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.lateness import follows, outlived, too_short
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.diagnosis.ledger.parting import own_words, said_last
from triage.diagnosis.ledger.phases import Activities, Activity
from triage.diagnosis.ledger.stacked import STUCK_IN
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.words.undertaking import at_work, undertaking
from triage.model import Value
from triage.scan.lazy import compiled

_LEFT_OUT = (
    r"(?i)\b(?:skip(?:s|ped|ping)?|left out|leaving out|drop(?:s|ped|ping)|filtered out|discard(?:s|ed|ing)|nothing to do|"
    r"no (?:tokens|samples|batch|data|grad\w*)|empty (?:batch|shard|micro\w*)|ignor(?:es|ed|ing)|continuing (?:with|without)|"
    r"moving on|going on with|could not be (?:\w+ed|read|done))\b"
)
"""How programs say that they pass over something."""


def with_activity(
    job: Job, ledger: Ledger, activities: Activities, ranks: Sequence[int], rule_id: str,
    fields: Mapping[str, Value], witnesses: Sequence[Item], waits: Sequence[Wait],
) -> Iterator[Item]:  # fmt: skip
    """Name what the missing rank was doing, when its own lines tell."""
    first = waits[0]
    making = _making_groups(job, ranks)
    if making:
        few = [rank for rank in ranks if any(item.rank == rank for item in making)]
        told = {**fields, "ranks": tuple(few), "code": making[0].text("code")}
        yield verdict(job, "ledger.group-among-some", told, [making[0], *witnesses], rank=few[0])
        return
    doing: Activity | None = None
    for rank in ranks:
        doing = activities.of_rank(rank, first.item.finding)
        if doing is not None:
            break
    if doing is None:
        swallowed = _swallowed(job, ledger, ranks, first)
        seen = next((i for i in job.of_fact("stack") if i.rank in ranks and i.text("function")), None)
        ahead = next((i for i in job.of_fact("ahead") if i.rank in ranks), None)
        begun = next((i for i in job.of_fact("exception") if i.rank in ranks and _cut(i)), None)
        skipped = next(iter(left_out(job, ranks)), None)
        deviant = next((i for i in job.of_fact("deviant") if i.rank in ranks), None)
        if deviant is not None and _at_work_since(job, deviant):
            deviant = None  # whatever it had set otherwise, it did not come back from what it did
        if swallowed is None and deviant is not None:
            told = {**fields, "words": deviant.text("words")}
            yield verdict(
                job, "ledger.other-path", told, [witnesses[0], deviant, *witnesses[1:]], rank=ranks[0]
            )
        elif swallowed is None and skipped is not None:
            told = {**fields, "type": skipped.text("words")}
            yield verdict(job, "ledger.skipped-batch", told, [skipped, *witnesses], rank=ranks[0])
        elif swallowed is None and seen is not None:
            yield _seen(job, seen, fields, witnesses)
        elif swallowed is None and ahead is not None and follows(ahead, first.item):
            yield too_short(
                job, [first.item, ahead], timeout=first.timeout, seq=first.seq, ranks=tuple(ranks),
                activity=f'still on its way (it said "{own_words(job, ahead)}" when they had given up)',
            )  # fmt: skip
        elif swallowed is None and ahead is not None:
            told = {**fields, "step": ahead.number("step"), "others": ahead.number("others")}
            yield verdict(job, "ledger.ran-ahead", told, [ahead, *witnesses], rank=ahead.rank)
        elif swallowed is None and begun is not None:
            yield verdict(job, "ledger.raised-and-left", fields, [begun, *witnesses], rank=begun.rank)
        elif swallowed is None:
            yield verdict(job, rule_id, fields, witnesses, rank=ranks[0])
        else:
            told = {**fields, "type": swallowed.text("type"), "message": swallowed.text("message")}
            yield verdict(job, _way_out(told), told, [swallowed, *witnesses], rank=ranks[0])
    elif doing.end is not None:
        yield outlived(job, first, ranks, doing)
    else:
        named = {**fields, "activity": doing.what, "phase": doing.phase}
        which = doing.phase if doing.phase in {"checkpoint", "compile"} else "activity"
        if which == "activity" and undertaking(doing.what) == "data-loading":
            which = "data"
        yield verdict(
            job, f"ledger.{which}-never-returned", named, [doing.start, *witnesses], rank=ranks[0]
        )  # fmt: skip


_MAKES_GROUPS = frozenset(
    [
        "_new_process_group_helper",
        "_new_group_with_tag",
        "new_group",
        "split_group",
        "new_subgroups_by_enumeration",
    ]
)
"""Functions of torch's distributed_c10d.py that all ranks must call, members of the group or not."""


def _making_groups(job: Job, ranks: Collection[int]) -> list[Item]:
    """What those of ``ranks`` raised who stood in the making of a group when they lost the others."""
    return [
        item for item in job.of_fact("exception")
        if item.rank in ranks and item.text("raised_function") in _MAKES_GROUPS
        and (item.text("raised_in") or "").endswith("distributed_c10d.py")
    ]  # fmt: skip


def _at_work_since(job: Job, deviant: Item) -> bool:
    """Whether the last that a rank said, after the line by which it differs, tells of something that it does."""
    last = None if deviant.rank is None else said_last(job, deviant.rank)
    return last is not None and compare(last.finding, deviant.finding) == 1 and at_work(own_words(job, last))


def _way_out(told: Mapping[str, Value]) -> str:
    """What a rank that mentions ``told`` did instead of coming to the others."""
    if "memory" in f"{told['type']} {told['message']}".lower():
        return "ledger.swallowed-oom"
    return "ledger.skipped-batch" if "skip" in str(told["type"]).lower() else "ledger.swallowed-exception"


def _same(item: Item, loss: Item) -> bool:
    """Whether an exception is the loss of a peer itself."""
    one, other = item.finding, loss.finding
    told = {(e.path, e.line) for e in other.evidence}
    return inside(loss, item) or (
        one.source == other.source
        and (one.offset == other.offset or any((e.path, e.line) in told for e in one.evidence))
    )


def _swallowed(job: Job, ledger: Ledger, ranks: Sequence[int], wait: Wait) -> Item | None:
    """The last exception that a missing rank mentioned before the others waited, if it made no progress since.

    Of a thread's own, whatever the rank did since: it went on with what the thread had left it.
    A traceback that was cut off before its exception does not count: nobody can say that it was caught.
    """
    found: Item | None = None
    for item in (*job.of_fact("mention"), *job.of_fact("exception")):
        loss = None if item.rank is None else ledger.bereft.get(item.rank)
        if loss is not None and _same(item, loss):
            continue  # how it met that the others had gone
        nameless = item.rank is None and len(ranks) == 1 and item.fields.get("_thread") is True
        if (
            (item.rank not in ranks and not nameless)
            or _cut(item)
            or compare(item.finding, wait.item.finding) == 1
        ):
            continue
        moved = any(
            p.rank == item.rank and p.finding.source == item.finding.source
            and (p.finding.last_offset or p.finding.offset) > (item.finding.last_offset or item.finding.offset)
            for p in job.of_fact("progress")
        )  # fmt: skip
        if (not moved or item.fields.get("_thread") is True) and (
            found is None or compare(item.finding, found.finding) == 1
        ):
            found = item
    return found


def _seen(job: Job, stack: Item, fields: Mapping[str, Value], witnesses: Sequence[Item]) -> Item:
    """A stack shows where the missing rank was."""
    kind = STUCK_IN.get(stack.text("activity") or "", "ledger.stuck-in")
    told = {**fields, **{name: stack.fields.get(name) for name in ("function", "file", "line", "top")}}
    return verdict(job, kind, told, [stack, *witnesses], rank=stack.rank)


def _cut(item: Item) -> bool:
    """Whether the log breaks off before it names what was raised."""
    return item.text("type") is None and item.text("words") is None


def left_out(job: Job, ranks: Collection[int], facts: Sequence[str] = ("oddity",)) -> list[Item]:
    """What ``ranks`` said, out of the ordinary of work or in other ``facts``, that they left out; the last first."""
    return [
        i for fact in facts for i in reversed(job.of_fact(fact))
        if i.rank in ranks and compiled(_LEFT_OUT).search(i.text("words") or "")
    ]  # fmt: skip
