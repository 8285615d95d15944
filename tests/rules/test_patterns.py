from __future__ import annotations

import pytest

from triage.rules.patterns import compile_pattern, infer_anchors, spaced


def test_a_space_is_any_white_space_but_not_in_a_class() -> None:
    assert spaced("a b") == r"a\s+b"
    assert spaced("[a b] c") == r"[a b]\s+c"
    assert spaced(r"a\ b ?c") == r"a\ b\s?c"
    assert compile_pattern("out of memory").search("out of\n   memory")


@pytest.mark.parametrize(
    ("pattern", "anchor"),
    [
        (r"CUDA out of memory\. Tried to allocate (?P<x>\d+)", "CUDA out of memory. Tried to allocate"),
        (r"(?:foo|bar) never came back", "never came back"),
        (r"(?P<a>\d+) seconds(?: of waiting for nothing at all)?", "seconds"),
    ],
)
def test_anchors_are_what_every_match_contains(pattern: str, anchor: str) -> None:
    assert infer_anchors([pattern]) == (anchor,)


def test_no_anchor_where_nothing_is_certain() -> None:
    assert infer_anchors([r"(?:a|b)\d+"]) == ()
