"""Whom a wait for the rendezvous store is to blame on, by who else waits.

A rank that waits for another's key says nothing about who is at fault: if the other one were missing,
everybody would wait for it. Who waits alone may be the one that is elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.model import Value
from triage.scan.lazy import deferred

MAX_RANKS = 65536
_SEVERAL = 2
"""Ranks that wait alike by which the one that does not stands out."""
_OF_NOBODY = ("torch.store-key-timeout", "sglang.load-barrier")
"""Waits for keys, or in barriers, whose words name nobody."""
_LISTED = deferred(r"(?m)(?:^|\s)(\d{1,6})!?: \[([^\]\n]{1,4000})(?:\]|$)")
_PAIR = deferred(r"(?:^|/)(\d{1,6}):(\d{1,6})$")


def settle(job: Job, ledger: Ledger) -> None:
    """Fill in ``absent`` for the facts ``awaited``: the ranks that are missing, where the waits tell."""
    _unstored(job, ledger)
    waits = job.of_fact("awaited")
    if not waits:
        return
    missed = _missed_by_server(job, ledger)
    ledger.identities.absentee = missed[0] if missed is not None and len(missed) == 1 else None
    ledger.identities.missed = _how_many(waits)
    pairs = {id(item): pair for item in waits if (pair := _pair(item)) is not None}
    ends = _ends(pairs.values())
    job.exchange(
        {
            id(item): _with(item, "absent", ends if id(item) in pairs else _absent(job, ledger, item))
            for item in waits
        }
    )


def _unstored(job: Job, ledger: Ledger) -> None:
    """Fill in ``absent`` for waits that say nothing of who is missing, where all ranks but one give up in them."""
    told: dict[int, Item] = {}
    for rule in _OF_NOBODY:
        waits = job.of_rule(rule)
        waiting = {item.rank for item in waits}
        missing = [rank for rank in ledger.members if rank not in waiting]
        if len(waiting) >= _SEVERAL and None not in waiting and len(missing) == 1:
            told.update((id(item), _with(item, "absent", tuple(missing))) for item in waits)
    job.exchange(told)


def stalled(job: Job) -> None:
    """Fill in the ranks that Horovod's stall inspector misses, from the list of all of them or from those that are ready."""
    job.exchange(
        {id(item): _with(item, "ranks", _missed_by_horovod(item)) for item in job.of_rule("horovod.stalled")}
    )


def _missed_by_horovod(item: Item) -> Value:
    listing = [(int(m[1]), set(m[2].split(", "))) for m in _LISTED.finditer(item.text("listing") or "")]
    if listing:
        common = set.intersection(*(tensors for _, tensors in listing))
        # ranks that miss different tensors took different paths: which of them is wrong, the list does not tell
        return tuple(rank for rank, _ in listing) if common else None
    ready = set(item.ranks("ready"))
    if ready and not item.ranks("ranks"):
        # ranks are numbered without gaps: whoever is not in the list, below its greatest, is there and not ready
        return tuple(sorted(set(range(min(max(ready), MAX_RANKS))) - ready)) or None
    return item.fields.get("ranks")


def _pair(item: Item) -> tuple[int, int] | None:
    """Who waits for whom, where two ranks set up a communicator of their own: its key is ``2:3``."""
    found = _PAIR.search(item.text("key") or "")
    if found is None or item.rank is None:
        return None
    one, other = int(found[1]), int(found[2])
    if item.rank not in {one, other} or one == other:
        return None  # the key counts the ranks of a sub-group
    return item.rank, other if item.rank == one else one


def _ends(pairs: Collection[tuple[int, int]]) -> tuple[int, ...] | None:
    """The one rank that others wait for, each in turn, and that waits for nobody."""
    waiting = {waiter for waiter, _ in pairs}
    free = {peer for _, peer in pairs} - waiting
    return tuple(free) if len(free) == 1 else None


def _with(item: Item, name: str, value: Value) -> Item:
    return Item(replace(item.finding, fields={**item.fields, name: value}), item.rule)


def _absent(job: Job, ledger: Ledger, item: Item) -> tuple[int, ...] | None:
    expected, joined = item.number("expected"), item.number("joined")
    if expected is not None and joined is not None:
        return _never_joined(job, ledger, item, expected, joined)
    awaited = item.number("awaited")
    if awaited is None:
        return None
    speaker = item.number("me")
    if speaker is not None and item.rank is not None and speaker != item.rank:
        return None  # the message counts within a sub-group
    if item.number("peer") is not None and item.rank not in {awaited, item.number("peer")}:
        return None  # so does the key
    if awaited == 0 and (missed := _missed_by_server(job, ledger)) is not None:
        return missed
    waiting = {i.rank for i in job.of_rule(item.rule.id) if i.number("awaited") == awaited}
    failed = {i.rank for i in job.items if i.finding.raised or i.rule.role == "cause"} | set(ledger.exits)
    quiet = set(ledger.members) - waiting - failed - {awaited}
    if len(waiting) == 1 and None not in waiting and len(quiet) > 1:
        # the others would wait for it as well, unless they are told to do something else
        odd = {i.rank for i in job.of_fact("deviant")}
        return tuple(rank for rank in waiting if rank is not None) if odd == waiting else None
    return (awaited,)


def _how_many(waits: Collection[Item]) -> int | None:
    """How many never came to the store, as far as those who waited for them agree."""
    told = {
        expected - joined
        for item in waits
        if (expected := item.number("expected")) is not None and (joined := item.number("joined")) is not None
    }
    return told.pop() if len(told) == 1 else None


def _missed_by_server(job: Job, ledger: Ledger) -> tuple[int, ...] | None:
    """Whom rank 0 waits for itself: it serves the store, and publishes nothing before all have come."""
    for item in job.of_fact("awaited"):
        expected, joined = item.number("expected"), item.number("joined")
        if expected is not None and joined is not None and _speaker(item) in {0, None}:
            return _never_joined(job, ledger, item, expected, joined) or ()
    return None


def _never_joined(job: Job, ledger: Ledger, item: Item, expected: int, joined: int) -> tuple[int, ...] | None:
    """The ranks that are not known to have reached the store, if they are as many as it misses.

    The store's clients are ranks only where it expects as many as there are. Where nobody says of another number of
    ranks, and no name stands before the line, it is rank 0 that serves the store, for as many as it expects.
    """
    server = _speaker(item)
    members: Sequence[int] = ledger.members
    if ledger.identities.world_size in {None, expected} and server is None and joined > 1:
        members, server = range(min(expected, MAX_RANKS)), 0
    if expected != len(members) or server is None:
        return None
    outside = {i.rank for i in job.of_rule("torch.store-client-timeout")}
    outside |= {i.rank for i in job.of_rule("torch.store-client-refused")}
    waiting = {i.rank for tag in ("store-timeout", "store-loss") for i in job.of_tag(tag)} - outside
    seen = (ledger.seen | ledger.identities.introduced | {server}) - outside
    at_work = set(members) - (ledger.identities.idle - seen)
    for inside in (waiting, seen, at_work):
        missing = [rank for rank in members if rank not in inside]
        if len(missing) == expected - joined:
            return tuple(missing)
    return None


def _speaker(item: Item) -> int | None:
    """The rank that waits: the one that the message names, else the one that writes it."""
    named = item.number("me")
    return item.rank if named is None else named
