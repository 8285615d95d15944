"""Memory over the read-backs of a run: does the allocator's cache fall to pieces, or demand grow?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from triage.model import Value

LEAST = 1 << 30
"""Bytes that a gap or a demand must have grown by to mean anything."""
SHARE = 0.05
"""Part of the reserved memory that a growth must reach to mean anything."""
STEADY = 0.7
"""Part of the steps between read-backs that must go up for a trend."""

Claim = tuple[str, Mapping[str, Value], str]


def memory_findings(receipt: Mapping[str, Any]) -> Iterator[Claim]:
    """Drift of reserved minus allocated memory, or growth of both, over read-backs of one shape.

    Read-backs of different batch shapes or sequence lengths are not compared.
    """
    given = receipt.get("memory")
    by_shape: dict[str, list[tuple[float, float]]] = defaultdict(list)
    entries = [e for e in (given if isinstance(given, list | tuple) else ()) if isinstance(e, Mapping)]
    if all(isinstance(e.get("step"), int) for e in entries):
        entries.sort(key=lambda e: e["step"])
    for entry in entries:
        allocated, reserved = entry.get("allocated_bytes"), entry.get("reserved_bytes")
        if isinstance(allocated, int | float) and isinstance(reserved, int | float) and reserved > 0:
            shape = f"{entry.get('batch_shape')}/{entry.get('sequence_length')}"
            by_shape[shape].append((float(allocated), float(reserved)))
    for _, points in sorted(by_shape.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(points) >= 3:
            yield from _trend(points)
            return


def _trend(points: Sequence[tuple[float, float]]) -> Iterator[Claim]:
    gaps = [reserved - allocated for allocated, reserved in points]
    demand = [allocated for allocated, _ in points]
    enough = max(LEAST, SHARE * points[-1][1])
    gap_growth, growth = gaps[-1] - gaps[0], demand[-1] - demand[0]
    fields: dict[str, Value] = {
        "readings": len(points),
        "first_gap": int(gaps[0]),
        "last_gap": int(gaps[-1]),
        "first_allocated": int(demand[0]),
        "last_allocated": int(demand[-1]),
        "gap_growth": int(gap_growth),
        "growth": int(growth),
    }
    shown = ", ".join(f"{a / 2**30:.1f} of {r / 2**30:.1f} GiB" for a, r in (points[0], points[-1]))
    text = f"memory (allocated of reserved, first and last of {len(points)}): {shown}"
    if gap_growth >= enough and gap_growth > growth and _rises(gaps):
        yield "receipt.memory-fragmenting", fields, text
    elif growth >= enough and points[-1][1] > points[0][1] and _rises(demand):
        yield "receipt.memory-growing", fields, text


def _rises(values: Sequence[float]) -> bool:
    steps = [b - a for a, b in pairwise(values)]
    return sum(1 for step in steps if step >= 0) >= STEADY * len(steps)
