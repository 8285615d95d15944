"""Windows into anchors: each anchor has one, they are shared, and ordinary text is avoided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from triage.rules.loader import load_rules
from triage.rules.windows import LENGTH, choose

ANCHORS = st.lists(st.text(alphabet="abc d", min_size=1, max_size=14), max_size=12)


@given(anchors=ANCHORS, ordinary=ANCHORS)
def test_every_anchor_has_a_window_that_is_part_of_it(anchors: list[str], ordinary: list[str]) -> None:
    chosen = choose(anchors, ordinary)
    assert set(chosen) == set(anchors)
    for anchor, window in chosen.items():
        assert window in anchor
        assert len(window) == min(LENGTH, len(anchor))


def test_windows_are_shared_where_ordinary_text_does_not_have_them() -> None:
    anchors = ["failed to open consumed", "failed to read consumed"]
    assert len(set(choose(anchors).values())) == 1
    for common, rare in (("failed to", "consumed"), ("consumed", "failed to")):
        window = set(choose(anchors, [f"{common} twice {common}"]).values()).pop()
        assert window in f"o {rare} t" or window in rare or rare.startswith(window.strip())
        assert window not in common


def test_the_built_in_rules_have_far_fewer_windows_than_anchors() -> None:
    anchors = load_rules().anchors()
    assert len(anchors.windows) == len(set(anchors.literals)) == len(anchors.literals)
    assert len(set(anchors.windows)) * 2.2 < len(anchors.windows)


def test_windows_of_rare_pairs_of_characters_are_preferred() -> None:
    ordinary = ["the rest of the session is as it was there, then these others"]
    assert "zq" in set(choose(["other the zqxjkvwp"], ordinary).values()).pop()


@given(anchors=ANCHORS, ordinary=ANCHORS)
def test_the_order_of_anchors_changes_no_window(anchors: list[str], ordinary: list[str]) -> None:
    assert choose(anchors, ordinary) == choose(anchors[::-1], ordinary)


def test_the_sample_of_ordinary_text_is_that_of_the_fixtures() -> None:
    tool = Path(__file__).parents[2] / "tools" / "ordinary.py"
    subprocess.run([sys.executable, str(tool), "--check"], check=True, timeout=60)
