"""Placeholders in the texts of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

PLACEHOLDER = re.compile(r"(?<![\\$%{])\{([a-z][a-z0-9_]*)(?:\|([^{}]*))?\}(?!\})")
"""``{field}`` or ``{field|text when unknown}``; ``${VAR}`` and ``{{`` are left alone."""


def template_names(text: str) -> Iterator[str]:
    """The placeholders of a template."""
    return (match[1] for match in PLACEHOLDER.finditer(text))
