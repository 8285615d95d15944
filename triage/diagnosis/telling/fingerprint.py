"""A name for a kind of failure that is the same in other jobs, on other ranks and hosts."""

from __future__ import annotations

from collections.abc import Mapping

from triage.model import Value
from triage.scan.lazy import deferred

_VARIABLE = deferred(
    r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|/[\w./+-]+|\d+(?:\.\d+)*|'[^']{0,80}'|\"[^\"]{0,80}\""
)


def fingerprint(rule_id: str, category: str, fields: Mapping[str, Value]) -> str:
    """Sixteen hexadecimal digits from the rule and, for unknown failures, the normalised message."""
    import hashlib

    parts = [rule_id, category]
    if rule_id.startswith("unknown."):
        parts += [str(fields.get("type") or ""), str(fields.get("raised_function") or "")]
        words = str(fields.get("message") or fields.get("words") or "")
        parts.append(_VARIABLE.sub("#", words)[:200])
    for name in ("xid", "op_odd", "op_rest", "signal", "exit_code"):
        if fields.get(name) is not None:
            parts.append(f"{name}={fields[name]}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
