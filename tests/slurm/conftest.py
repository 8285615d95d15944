"""What several test modules of the Slurm hooks and worker need."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that other users can reach.

    Not pytest's: whenever a session begins it closes the folder above all of them to other users.
    """
    with tempfile.TemporaryDirectory(prefix="triage-") as place:
        folder = Path(place)
        folder.chmod(0o755)
        yield folder
