"""triage names the root cause of a failed distributed GPU job, and what to do about it, in order.

The public API, imported on first use so that ``import triage`` costs nothing:

* :func:`diagnose` and :class:`Engine`: from paths, bytes or sources to a :class:`Diagnosis`
* :class:`Source` and :func:`text_source`: something to read, with what is known about it
* :func:`load_rules`: the rules, with packs of your own
* the exceptions of :mod:`triage.errors`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.engine import Engine, diagnose
    from triage.errors import InputError, ReceiptError, RuleError, TriageError, UsageError
    from triage.model import Diagnosis, Evidence, Hypothesis, Origin, Source
    from triage.rules.loader import load_rules
    from triage.sources.given import text_source

__version__ = "0.1.0"

_HOMES = {
    "Engine": "triage.engine",
    "diagnose": "triage.engine",
    "load_rules": "triage.rules.loader",
    "text_source": "triage.sources.given",
    "Diagnosis": "triage.model",
    "Evidence": "triage.model",
    "Hypothesis": "triage.model",
    "Origin": "triage.model",
    "Source": "triage.model",
    "TriageError": "triage.errors",
    "InputError": "triage.errors",
    "RuleError": "triage.errors",
    "ReceiptError": "triage.errors",
    "UsageError": "triage.errors",
}

__all__ = [
    "Diagnosis",
    "Engine",
    "Evidence",
    "Hypothesis",
    "InputError",
    "Origin",
    "ReceiptError",
    "RuleError",
    "Source",
    "TriageError",
    "UsageError",
    "__version__",
    "diagnose",
    "load_rules",
    "text_source",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'triage' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
