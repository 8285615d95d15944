"""Words that readers look for in the beginning of an input."""

from __future__ import annotations

import pytest

from triage.readers.marks import Marks
from triage.scan.database import PLAIN

WORDS = (b"GPU0 ", b"gpu", b"nvidia-smi", b"Link ")


@pytest.mark.parametrize("before", [b"", b" " * (PLAIN + 1)])
def test_words_count_as_they_are_written(before: bytes) -> None:
    marks = Marks(WORDS)
    marks.within(before)
    there = marks.within(b"GPU0 of 8\nNVIDIA-SMI 550\nLink 0: 26 GB/s, Link 1: 26 GB/s")
    assert [word for word in WORDS if word in there] == [b"GPU0 ", b"Link "]
