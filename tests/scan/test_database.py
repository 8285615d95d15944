"""The plain search for small logs finds what the compiled database finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triage.scan.database import PLAIN, AnchorDatabase

ANCHORS = {0: "ab", 1: "aba", 2: "NCCL WARN", 3: "out of memory", 4: "b"}
TEXT = st.lists(
    st.sampled_from(["a", "b", "AB", " ", "\n", "nccl warn", "Out Of Memory", "out of\nmemory", "é"]),
    max_size=30,
)


@given(words=TEXT, sampled=st.sets(st.sampled_from(sorted(ANCHORS))), wrapped=st.booleans())
def test_plain_and_compiled_agree(words: list[str], sampled: set[int], wrapped: bool) -> None:
    data = "".join(words).encode()
    plain = AnchorDatabase(ANCHORS, sampled, wrapped=wrapped)
    compiled = AnchorDatabase(ANCHORS, sampled, wrapped=wrapped)
    compiled.scan(b" " * (PLAIN + 1))
    found, wanted = plain.scan(data), compiled.scan(data)
    # of an anchor that is sampled, one hit; where it is broken over lines, one for each way of breaking
    assert [h for h in found if h[1] not in sampled] == [h for h in wanted if h[1] not in sampled]
    assert {n for _, n in found} == {n for _, n in wanted}
