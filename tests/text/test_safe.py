"""Control characters, length, and the whole treatment."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.text import clip, safe, safe_span, sanitize

TOKEN = "hf" + "_" + "aB3dE6gH9jK2" * 3

CASES = [
    ("plain\ttext\nsecond line", "plain\ttext\nsecond line"),
    ("\x1b[1;31mred\x1b[0m", "red"),
    ("\x1b]0;owned\x07title", "title"),
    ("\x1b]8;;https://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1bPq#0\x1b\\dcs", "dcs"),
    ("\x9b2Jc1 csi", "c1 csi"),
    ("\x1b[\x1b[0m31mnested", "31mnested"),
    ("\x1bcreset", "reset"),
    ("end \x1b", "end "),
    ("\x1b]0;unterminated title", "0;unterminated title"),
    ("dos\r\nline", "dos\nline"),
    ("10%\r20%\rdone", "10%\n20%\ndone"),
    ("h\x00o\x00l\x00e", "hole"),
    ("bell\x07 back\x08space", "bell backspace"),
    ("a\x01b\x7fc\x85d", "a\ufffdb\ufffdc\ufffdd"),
    ("a\u202eb\u2066c\u200bd\ufeffe\u00adf", "abcdef"),
    ("tag\U000e0041s", "tags"),
    ("line\u2028separator", "line separator"),
    ("lone \ud800 surrogate", "lone \ufffd surrogate"),
    ("grün 中文 ✓ 🙂", "grün 中文 ✓ 🙂"),
]


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_nothing_that_drives_a_terminal_is_left(text: str, shown: str) -> None:
    assert sanitize(text) == shown


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("\x1b[]0;\x07\x9b\\mP\r\n\x00a\u202e\ud800") | st.characters()).map("".join))
def test_sanitizing_again_changes_nothing(text: str) -> None:
    once = sanitize(text)
    assert sanitize(once) == once
    assert not any(ord(c) < 32 and c not in "\t\n" for c in once)
    once.encode()


def test_a_zero_width_character_does_not_hide_a_secret() -> None:
    assert safe(TOKEN[:9] + "\u200b" + TOKEN[9:]) == "hf_***"


def test_short_text_is_not_cut() -> None:
    text = "ü" * 2048
    assert clip(text) == text


def test_a_cut_keeps_both_ends_and_says_how_much_went() -> None:
    text = "begin " + "x" * 9000 + " end"
    cut = clip(text)
    assert cut.startswith("begin ")
    assert cut.endswith(" end")
    assert len(cut.encode()) <= 4096
    assert " bytes]… " in cut


@pytest.mark.parametrize("before", [0, 10, 3000, 6000, 20000])
@pytest.mark.parametrize("filling", ["x", "ü", "🙂"])
def test_a_cut_spares_what_it_is_told_to_keep(before: int, filling: str) -> None:
    text = "[rank3]: " + filling * before + "DECISIVE" + filling * 9000
    start = text.index("DECISIVE")
    cut = clip(text, 1024, (start, start + 8))
    assert len(cut.encode()) <= 1024
    assert "DECISIVE" in cut
    assert cut.startswith("[rank3]: ")
    shown, span = safe_span(text, (start, start + 8), 1024)
    assert span is not None
    assert shown[slice(*span)] == "DECISIVE"


def test_a_span_longer_than_the_limit_is_cut_itself() -> None:
    assert len(clip("a" * 10000, 500, (100, 9900)).encode()) <= 500


def test_the_decisive_characters_are_followed_through_the_treatment() -> None:
    text = f"\x1b[31mHF_TOKEN={TOKEN}\x1b[0m CUDA \x1b[1mout of\x1b[0m memory"
    start = text.index("CUDA")
    shown, span = safe_span(text, (start, len(text)))
    assert shown == "HF_TOKEN=*** CUDA out of memory"
    assert span is not None
    assert shown[slice(*span)] == "CUDA out of memory"


@pytest.mark.parametrize("span", [None, (0, 0), (5, 2), (3, 400), (-4, 2)])
def test_a_span_that_makes_no_sense_is_dropped(span: tuple[int, int] | None) -> None:
    assert safe_span("some text", span) == ("some text", None)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["password=", "," + TOKEN, "\x1b[0m", "\x00", " ", "🙂", "x" * 90, "=" * 9, "\u200b"])
        | st.text(max_size=4),
        max_size=40,
    ).map("".join),
    st.integers(256, 1000),
)  # fmt: skip
def test_safe_is_idempotent_and_bounded(text: str, limit: int) -> None:
    once = safe(text, limit)
    assert safe(once, limit) == once
    assert len(once.encode()) <= limit
    assert TOKEN not in once
