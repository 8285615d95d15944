"""Every fixture through the public API: verdict, category, origin and the decisive line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import triage

ROOT = Path(__file__).parents[1] / "fixtures"
CASES = sorted(ROOT.glob("*/*/expected.yaml"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.parent.name}/{p.parent.name}")
def test_fixture(path: Path, engine: triage.Engine) -> None:
    expected: dict[str, Any] = yaml.safe_load(path.read_text())
    diagnosis = engine.diagnose([path.parent / name for name in expected["files"]])
    shown = diagnosis.to_text()
    assert diagnosis.verdict == expected["verdict"], shown
    root = diagnosis.root_cause
    if root is None:
        return
    if expected.get("known_miss"):
        pytest.xfail(expected["known_miss"])
    assert root.category in expected["category"], shown
    if "origin_rank" in expected:
        assert root.origin.rank == expected["origin_rank"], shown
    if "key_line" in expected:
        wanted = " ".join(expected["key_line"].split())
        assert any(wanted in " ".join(e.text.split()) for e in root.evidence), shown


def test_there_are_enough_fixtures() -> None:
    real = [p for p in CASES if yaml.safe_load(p.read_text())["source"] == "captured"]
    assert len(real) >= 40
    assert sum(yaml.safe_load(p.read_text())["verdict"] == "healthy" for p in CASES) >= 8
