"""Report formats: one module each, imported only when it is asked for.

Every format's ``render(diagnosis, …) -> str`` returns text without a trailing line feed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from triage.errors import UsageError
from triage.model import Diagnosis

_MODULES = {"text": "terminal", "json": "json", "md": "markdown", "oneline": "oneline"}

FORMATS: tuple[str, ...] = tuple(_MODULES)
"""The names that ``render`` takes, the default first."""


def render(diagnosis: Diagnosis, fmt: str = "text", **options: Any) -> str:
    """``diagnosis`` in the format ``fmt``; ``options`` are those of that format's ``render``.

    Raises:
        UsageError: when ``fmt`` is none of ``FORMATS``.
    """
    if fmt not in _MODULES:
        raise UsageError(f"unknown format {fmt!r}; known: {', '.join(FORMATS)}")
    module = import_module(f"triage.report.{_MODULES[fmt]}")
    return cast(str, module.render(diagnosis, **options))
