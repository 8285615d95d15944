"""Windows, plain search and the compiled database all find the same anchors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triage.rules.windows import choose
from triage.scan.database import MANY, PLAIN, AnchorDatabase, looks_wrapped

ANCHORS = {0: "ab", 1: "aba", 2: "nccl warn", 3: "cuda out of memory", 4: "b", 5: "host out of memory"}
TEXT = st.lists(
    st.sampled_from(
        ["a", "b", "AB", " ", "\n", "nccl warn", "cuda ", "HOST ", "Out Of Memory", "out of\nmemory", "é"]
    ),
    max_size=30,
)


def database(windows: bool, sampled: set[int], spelled: set[str], wrapped: bool) -> AnchorDatabase:
    return AnchorDatabase(
        ANCHORS, choose(ANCHORS.values()) if windows else None, sampled, spelled, wrapped=wrapped
    )


@given(
    words=TEXT,
    sampled=st.sets(st.sampled_from(sorted(ANCHORS))),
    wrapped=st.booleans(),
    windows=st.booleans(),
)
def test_plain_and_compiled_agree(words: list[str], sampled: set[int], wrapped: bool, windows: bool) -> None:
    data = "".join(words).encode()
    plain = database(windows, sampled, set(), wrapped)
    compiled = database(windows, sampled, set(), wrapped)
    compiled.scan(b" " * (PLAIN + 1))
    (found, _), (wanted, _) = plain.scan(data), compiled.scan(data)
    # of an anchor that is sampled, one hit; where it is broken over lines, one for each way of breaking
    assert [h for h in found if h[1] not in sampled] == [h for h in wanted if h[1] not in sampled]
    assert {n for _, n in found} == {n for _, n in wanted}


@given(words=TEXT, spelled=st.sets(st.sampled_from(sorted(set(choose(ANCHORS.values()).values())))))
def test_windows_lose_and_add_nothing(words: list[str], spelled: set[str]) -> None:
    data = "".join(words).encode()
    wanted = {
        (at + len(anchor), number)
        for number, anchor in ANCHORS.items()
        for at in range(len(data))
        if data.lower()[at:].startswith(anchor.encode())
    }
    for windows in (False, True):
        hits, _ = database(windows, set(), spelled, wrapped=False).scan(data)
        assert hits == sorted(wanted)


@given(words=TEXT, wrapped=st.booleans())
def test_among_many_anchors_the_same_are_found(words: list[str], wrapped: bool) -> None:
    others = {100 + n: f"straw {n:04} of the stack" for n in range(MANY)}
    data = " ".join([*words, "Straw 0007 of the stack", *words]).encode()
    hits, _ = AnchorDatabase({**ANCHORS, **others}, wrapped=wrapped).scan(data)
    few, _ = AnchorDatabase({**ANCHORS, 107: others[107]}, wrapped=wrapped).scan(data)
    assert hits == few
    assert 107 in {number for _, number in hits}


def test_a_broken_line_hides_no_anchor() -> None:
    hits, _ = database(True, set(), set(), wrapped=True).scan(b"CUDA out\nof memory")
    assert hits == [(18, 3)]


def test_windows_found_in_vain_are_counted_and_can_be_spelled_out() -> None:
    windows = choose(ANCHORS.values())
    shared = windows["cuda out of memory"]
    assert windows["host out of memory"] == shared
    text = f"xx{shared}xx{shared}".encode()
    _, missed = database(True, set(), set(), wrapped=False).scan(text)
    assert missed == {shared: 2}
    _, missed = database(True, set(), {shared}, wrapped=False).scan(text)
    assert missed == {}


def test_a_pasted_sentence_that_goes_on_below_is_broken() -> None:
    pasted = (
        b"2026-01-02 11:00:01 WARNING trainer: the process on node 4 was killed\nwhile running the step\n"
    )
    assert looks_wrapped(pasted)
    assert not looks_wrapped(
        b"2026-01-02 11:00:01 INFO trainer: step 4 done\n2026-01-02 11:00:02 INFO step 5\n"
    )
    assert not looks_wrapped(b"0123456789" * 4096 + pasted)
