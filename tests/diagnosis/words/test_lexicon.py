"""Whose words an unknown message uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triage.diagnosis.words.lexicon import HOME, Weights, features, likeness
from triage.model import CATEGORIES


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("frobd: could not bind its control port: address taken by another process", "port-conflict"),
        ("zorkfs: write of shard 3 refused, quota of the volume used up, no space", "storage"),
        ("quux: device memory exhausted while allocating 3.1 GiB for the KV cache", "gpu-oom"),
        ("flub: token rejected by the model hub, access to the gated repository denied", "auth-or-hub"),
    ],
)
def test_words_tell_the_kind(text: str, category: str) -> None:
    found = likeness(text)
    assert found is not None
    assert (found.category, found.margin > 0, bool(found.words)) == (category, True, True)
    assert found.category in CATEGORIES


@pytest.mark.parametrize("text", ["", "zork", "\n\n", "0x1f 0x2e", "ValueError: grue", "\x00\x01"])
def test_too_few_known_words_tell_nothing(text: str) -> None:
    assert likeness(text) is None


def test_ordinary_words_are_not_ahead_of_ordinary_ones() -> None:
    found = likeness("step 40 loss 2.31 grad norm 0.8 lr 3e-4 tokens per second 41000")
    assert found is None or found.ahead < 0


def test_what_a_text_is_known_by() -> None:
    assert features("CudaGraph capture failed") == [
        "cuda", "graph", "capture", "failed", "~cuda", "~graph", "~capture", "~fail",
        "cuda graph", "graph capture", "capture failed",
    ]  # fmt: skip
    assert features("ValueError: errno 98") == ["errno", "~errno", "errno 98", "!ValueError"], (
        "Python's names are no words, and lone numbers are left out"
    )
    assert features("显存不足") == ["显存", "存不", "不足"]


def test_a_long_text_is_judged_by_its_end() -> None:
    end = " token rejected by the model hub, access to the gated repository denied"
    short, long = (
        likeness(end),
        likeness("disk quota exceeded on the scratch volume\n" * 4000 + "x" * 2000 + end),
    )
    assert short is not None and long is not None
    assert (long.category, long.margin) == (short.category, short.margin)


def test_a_feature_is_found_by_its_place_in_the_file() -> None:
    text = Path(HOME).read_text(encoding="utf-8")
    weights = Weights(text)
    written = json.loads(text)["words"]
    assert all(weights.of(feature) == entry for feature, entry in written.items())
    for unknown in ("", "!", "~", "aaaa", "zork grue", "zzzz", "\uffff", "}}"):
        assert unknown not in written
        assert weights.of(unknown) is None
