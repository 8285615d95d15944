from __future__ import annotations

import pytest

from triage.errors import RuleError
from triage.rules.pack import packed, unpacked
from triage.rules.patterns import compile_pattern, infer_anchors, needs, spaced


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


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"(?P<name>\w+) \((?:pid|PID) (?P<pid>\d+)\)", [["(pid"]]),
        (r"stopped \((?:exit code|rc)=\d+\) by the (?:user|host)", [
            [") by the user", ") by the host"], ["stopped (exit code", "stopped (rc"],
        ]),
        (r"lost (?:a|\d+) workers?", [["worker"], ["lost"]]),
    ],
)  # fmt: skip
def test_a_pattern_needs_its_alternatives_with_what_stands_before_them(
    pattern: str, needed: list[list[str]]
) -> None:
    assert needs(pattern) == needed


def test_a_pack_is_read_as_it_was_written() -> None:
    rules = [
        {"id": "a.b", "_anchors": ["Lost it"], "_path": "a.yaml", "_line": 3, "title": "ü"},
        {"id": "a.c", "_anchors": []},
    ]
    pack = unpacked("own", packed(rules))
    assert pack.anchors.literals == ["lost it"]
    assert (pack.raw("a.b"), pack.raw("a.c")) == ({"id": "a.b", "title": "ü"}, {"id": "a.c"})
    assert (pack.place("a.b").file, pack.place("a.b").line, pack.place("a.c").file) == ("a.yaml", 3, None)


def test_what_parts_the_words_of_a_pack_stands_in_none_of_them() -> None:
    with pytest.raises(RuleError, match="control characters"):
        packed([{"id": "a.b", "_anchors": ["lost\x1fit"]}])
