"""Placeholders in the texts of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

PLACEHOLDER = re.compile(
    r"(?<![\\$%{])\{([a-z][a-z0-9_]*)(?:\|((?:[^{}]|(?<![\\$%{])\{[a-z][a-z0-9_]*(?:\|[^{}]*)?\})*))?\}(?!\})"
)
"""``{field}`` or ``{field|text when unknown}``, where that text may hold placeholders; ``${VAR}`` and ``{{`` are left alone."""


def template_names(text: str) -> Iterator[str]:
    """The placeholders of a template."""
    for match in PLACEHOLDER.finditer(text):
        yield match[1]
        if match[2]:
            yield from template_names(match[2])


def plain(text: str) -> str:
    """A template as it reads where nothing is known to fill it with."""
    return PLACEHOLDER.sub(lambda one: plain(one[2]) if one[2] else "" if one[2] == "" else "…", text)
