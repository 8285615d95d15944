"""What a pass of the worker has concluded and not yet delivered: written before the first delivery.

A worker that is killed in between reads it when it starts again and delivers the rest. Every delivery is
harmless when repeated: reports are created once, decisions replaced by themselves; only a command may run twice.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from triage.slurm.writing import replace_file

NAME = "journal.json"


def save(folder: Path, data: dict[str, Any]) -> None:
    """Write the journal in one step."""
    replace_file(str(folder), NAME, json.dumps(data).encode())


def load(folder: Path) -> dict[str, Any] | None:
    """The journal of a worker that did not finish; None when there is none."""
    try:
        data = json.loads((folder / NAME).read_bytes())
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def clear(folder: Path) -> None:
    """Everything is delivered."""
    (folder / NAME).unlink(missing_ok=True)


def pack(data: bytes) -> str:
    """Bytes as JSON takes them."""
    return base64.b64encode(data).decode()


def unpack(text: str) -> bytes:
    """What ``pack`` was given."""
    return base64.b64decode(text)
