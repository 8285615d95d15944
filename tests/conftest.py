"""What all tests share: one engine, compiled once, and a cache of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import triage


@pytest.fixture(scope="session", autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def engine() -> triage.Engine:
    """The shipped rules, ready to diagnose."""
    return triage.Engine()


@pytest.fixture(scope="session")
def captured() -> Path:
    """The folder of captured logs."""
    return Path(__file__).parents[1] / "fixtures" / "captured"
