"""A receipt that lies among the logs of a run, known by what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triage.errors import ReceiptError
from triage.model import Source, SourceReport
from triage.receipts.model import load_receipt, parse
from triage.sources import BlockReader, first_bytes

MAX_BYTES = 4 << 20
"""Bytes above which a file among logs is not looked at as a receipt."""
_OWN = (b'"run_id"', b'"machine_class"', b'"step_window"', b'"launch"', b'"source_revision"', b'"preflight"')
_TELLING = frozenset(
    {"run_id", "source_revision", "machine_class", "lane", "launch", "env", "topology", "gpu_nic_affinity",
     "step_window", "memory", "preflight"}
)  # fmt: skip
LEAST = 3
"""Parts of a receipt that a JSON object must have to be taken for one."""


def taken_from(
    sources: Sequence[Source],
) -> tuple[dict[str, Any] | None, Sequence[Source], list[SourceReport], list[str]]:
    """The first receipt among ``sources``, the other sources, what became of the receipts, and notes.

    Of several receipts the first one counts, and a note says which were left out.
    """
    record: dict[str, Any] | None = None
    others: list[Source] = []
    reports: list[SourceReport] = []
    notes: list[str] = []
    for source in sources:
        found, size = _receipt(source)
        if found is None:
            others.append(source)
        elif record is None:
            record = found
            reports.append(SourceReport(source.name, "receipt", size, rank=source.rank, host=source.host))
        else:
            why = "another receipt was read before it; compare the two with: triage receipt diff"
            reports.append(SourceReport(source.name, "receipt", 0, complete=True, note=why))
            notes.append(f"{source.name}: {why}")
    return record, (others if record is not None else sources), reports, notes


def _receipt(source: Source) -> tuple[dict[str, Any] | None, int]:
    """The receipt in ``source`` and its size, ``(None, 0)`` when it holds none."""
    if first_bytes(source).lstrip()[:1] != b"{":
        return None, 0
    with BlockReader(source, counting=False) as reader:
        head = reader.head
        if sum(key in head for key in _OWN) < 2:
            return None, 0
        data = reader.read(MAX_BYTES)
        if not reader.complete:
            return None, 0
    try:
        record = load_receipt(parse(data, source.name))
    except ReceiptError:
        return None, 0
    return (record, len(data)) if len(_TELLING & record.keys()) >= LEAST else (None, 0)
