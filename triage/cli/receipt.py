"""``triage receipt collect|diff``: the record of a run that keeps runs comparable."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.errors import ReceiptError
from triage.receipts import load_receipt


def collect_receipt(out: Path | None, command: Sequence[str]) -> int:
    """Print or write a receipt of this node, environment and command."""
    from triage.service.collect import collect

    receipt = collect(command[1:] if command[:1] == ["--"] else command)
    if out is None:
        sys.stdout.write(_text(receipt))
    else:
        write_receipt(receipt, out)
    return 0


def diff_receipts(one: Path, other: Path, format: str) -> int:
    """Print what changed between two receipts, what matters first."""
    from triage.service.diff import compare, render

    changes = compare(load_receipt(one), load_receipt(other))
    if format == "json":
        sys.stdout.write(
            _text({"schema_version": "1.0", "changes": [change.to_dict() for change in changes]})
        )
    else:
        sys.stdout.write(render(changes, str(one), str(other)))
    return 0


def write_receipt(receipt: Mapping[str, Any], path: Path) -> None:
    """Write a receipt so that readers see the old one or the new one, never half of it.

    Raises:
        ReceiptError: when it can't be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(_text(receipt), "utf-8")
        temporary.replace(path)
    except OSError as error:
        raise ReceiptError(f"{path}: can't write the receipt: {error.strerror}") from None


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
