"""What ranks state of their collectives where torch compares fingerprints (TORCH_DISTRIBUTED_DEBUG=DETAIL).

They are compared in pairs: the odd rank is in every pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value
from triage.rules.fields import show


def compared_claims(job: Job, world_size: int | None) -> Iterator[Item]:
    """The rank whose fingerprint is in every pair that differs, or a tie."""
    items = list(job.of_fact("fingerprint"))
    if not items:
        return
    blamed: Counter[int] = Counter()
    claims: dict[int, tuple[Any, ...]] = {}
    pairs = 0
    for item in items:
        a, b = item.number("rank_a"), item.number("rank_b")
        if a is None or b is None:
            continue
        pairs += 1
        blamed.update({a, b})
        claims.setdefault(a, _claim(item, "a"))
        if a != b:
            claims.setdefault(b, _claim(item, "b"))
    if not pairs:
        yield verdict(job, "ledger.fingerprint-tie", {}, items)
        return
    # what a rank says of itself beats what another rank heard of it in a broken gather
    own = {a: claims[a] for i in items if (a := i.number("rank_a")) is not None}
    values = Counter(own.values())
    common, votes = values.most_common(1)[0]
    odd = sorted(rank for rank, claim in own.items() if claim != common)
    top = blamed.most_common()
    if len(own) >= 3 and votes * 2 > len(own) and odd:
        ranks = tuple(odd)
    elif pairs >= 2 and top[0][1] >= pairs and (len(top) == 1 or top[1][1] < top[0][1]):
        ranks = (top[0][0],)
    elif len(own) == 1 and len(claims) > 2:
        ranks = tuple(own)
    elif (lone := _against_most(items, world_size or max(claims) + 1)) is not None:
        ranks = (lone,)
    else:
        first = next(i for i in items if i.number("rank_a") is not None)
        one, two = _claim(first, "a"), _claim(first, "b")
        told = {"what_a": _told(one, two), "what_b": _told(two, one), "rank_a": first.number("rank_a"),
                "rank_b": first.number("rank_b")}  # fmt: skip
        yield verdict(job, "ledger.fingerprint-tie", told, [first, *items])
        return
    rest = next((claim for rank, claim in claims.items() if rank not in ranks), _NOTHING)
    mine = claims.get(ranks[0], _NOTHING)
    fields: dict[str, Value] = {
        "ranks": ranks, "odd": _told(mine, rest), "rest": _told(rest, mine), "why": _why(mine, rest),
    }  # fmt: skip
    speaking = [i for i in items if i.number("rank_a") in ranks]
    yield verdict(job, "ledger.fingerprint-desync", fields, [*speaking, *items], rank=ranks[0])


def _against_most(items: Sequence[Item], size: int) -> int | None:
    """The one rank that differs from more than half of ``size``: who compares goes from rank 0 on to the first that differs."""
    found: set[int] = set()
    for item in items:
        a, b = item.number("rank_a"), item.number("rank_b")
        if a is None or b is None:
            return None
        if 2 * len({a, *range(b)}) > max(size, b + 1):
            found.add(b)
    return found.pop() if len(found) == 1 else None


_NOTHING: tuple[Value, ...] = (None, None, None, None)


def _claim(item: Item, side: str) -> tuple[Value, ...]:
    """Sequence number, operation, shape and type that a fingerprint states of one of its two ranks."""
    return tuple(item.fields.get(f"{name}_{side}") for name in ("seq", "op", "shape", "dtype"))


def _told(claim: tuple[Value, ...], other: tuple[Value, ...]) -> str | None:
    """A claim in words: always the operation and its number, of the tensor what the other has differently."""
    seq, op, shape, dtype = claim
    if op is None:
        return None
    words = str(op)
    if shape is not None and shape != other[2]:
        words += f" of {show(shape, 'shape')}"
    if dtype is not None and dtype != other[3]:
        words += f" of {dtype}" if shape == other[2] else f" {dtype}"
    return words if seq is None else f"{words} (sequence {seq})"


def _why(claim: tuple[Value, ...], other: tuple[Value, ...]) -> str | None:
    """Why two claims differ; None when the control flow must have."""
    if claim[:2] != other[:2] or None in claim[:2]:
        return None
    differing = [name for name, a, b in zip(("shape", "type"), claim[2:], other[2:], strict=True) if a != b]
    return f"its tensor has another {' and '.join(differing)}" if differing else None
