"""The sizes and bounds that finding and reading sources keep to."""

from __future__ import annotations

BLOCK_SIZE = 1 << 20
"""Bytes of a block's own region."""

CONTEXT = 32 << 10
"""Bytes of a neighbour's region that a block carries on each side."""

HEAD_SIZE = 64 << 10
"""Bytes at the beginning of a source that can be looked at before it is read."""

TAIL_SIZE = 128 << 10
"""Bytes at the end of a log that are kept once it has been read."""

SNIFF_SIZE = 4 << 10
"""Bytes by which a file found in a directory is judged to be a log or not."""

MAX_FILES = 20_000
"""Files taken from the directories and globs of one call."""

MAX_ENTRIES = 200_000
"""Directory entries looked at in one call."""

UNSIZED_LIMIT = 256 << 20
"""Bytes read from a regular file that states no size (``/proc``, a file just created)."""


def words(text: str) -> frozenset[str]:
    """The set of the words in ``text``."""
    return frozenset(text.split())
