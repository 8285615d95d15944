"""``triage rules draft LOG``: a rule for the failure of a log, ready to be edited.

The anchor is the rarest literal of the message, the pattern its fixed words with what varies taken
out, the examples the line itself and the same line with its decisive words changed.
"""

from __future__ import annotations

import re
import sys

from triage.engine import Engine
from triage.errors import InputError
from triage.model import Diagnosis, Evidence
from triage.scan.prefix import split_line

_VARYING = re.compile(
    r"(?P<path>(?:/[\w.+@-]+){2,})|(?P<hex>0x[0-9a-fA-F]+)|(?P<quoted>'[^']{1,120}'|\"[^\"]{1,120}\")|"
    r"(?P<number>\d+(?:\.\d+)?(?:\s?(?:[KMGT]i?B|ms|s)\b)?)"
)
_MAX_MESSAGE = 300


def draft_rule(path: str) -> int:
    """Print a draft for the root cause of ``path``; 1 when a rule knows it already."""
    diagnosis = Engine().diagnose(path)
    root = diagnosis.root_cause
    if root is None:
        raise InputError(
            f"{path}: the verdict is {diagnosis.verdict}; there is no failure to write a rule for"
        )
    if not root.rule_id.startswith(("unknown.", "ledger.")):
        print(f"triage: rule {root.rule_id} knows this failure already; drafting anyway", file=sys.stderr)
    print(draft(diagnosis), end="")
    return 0


def draft(diagnosis: Diagnosis) -> str:
    """The YAML text of a rule that matches the root cause's evidence."""
    root = diagnosis.root_cause
    if root is None or not root.evidence:
        raise InputError("there is no failure to write a rule for")
    message = _message(root.evidence[0])
    pattern, fields = _pattern(message)
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", message).lower())
    name = "-".join(words[:4]) or "failure"
    lines = [
        "engine: 1",
        "rules:",
        f"  - id: local.{name}",
        f"    title: {_quoted(message[:80])}",
        "    role: cause",
        f"    category: {root.category}   # one of docs/categories.md",
        "    owner: user                # user | operator | vendor",
        f"    summary: {_quoted(message[:160])}",
        "    confidence: 0.7",
        "    signature:",
        f"      anchor: {_quoted(_anchor(message))}",
        "      patterns:",
        f"        - {_quoted(pattern)}",
    ]
    if fields:
        lines.append("      fields: {" + ", ".join(f"{k}: {v}" for k, v in fields.items()) + "}")
    lines += [
        "    retry: unknown             # as-is | other-nodes | after-fix | never | unknown",
        "    remediation:",
        "      - do: Say what to do first",
        "        verify: Say how to see that it worked",
        "    references: [where the message comes from]",
        "    examples:",
        "      match:",
        f"        - log: {_quoted(root.evidence[0].text)}",
        "      no_match:",
        f"        - {_quoted(_near_miss(message))}",
    ]
    return "\n".join(lines) + "\n"


def _message(evidence: Evidence) -> str:
    first = next((line for line in evidence.text.splitlines() if line.strip()), "")
    return " ".join(split_line(first)[1].split())[:_MAX_MESSAGE]


def _pattern(message: str) -> tuple[str, dict[str, str]]:
    """The message as a pattern: what varies becomes named groups, the rest is taken literally."""
    kinds = {
        "path": (r"\S+", "str"),
        "hex": ("0x[0-9a-f]+", "str"),
        "quoted": (r"['\"].{1,200}?['\"]", "str"),
    }
    out: list[str] = []
    fields: dict[str, str] = {}
    position = 0
    for match in _VARYING.finditer(message):
        out.append(_escaped(message[position : match.start()]))
        kind = match.lastgroup or "number"
        name = f"{kind}{len(fields) + 1}"
        if kind == "number":
            text = match[0]
            unit = text.lstrip("0123456789. ")
            fields[name] = (
                "bytes" if unit.endswith("B") else "seconds" if unit else "float" if "." in text else "int"
            )
            out.append(rf"(?P<{name}>[\d.]+ ?{unit})" if unit else rf"(?P<{name}>[\d.]+)")
        else:
            expression, fields[name] = kinds[kind]
            out.append(f"(?P<{name}>{expression})")
        position = match.end()
    out.append(_escaped(message[position:]))
    return "".join(out), fields


def _escaped(text: str) -> str:
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


def _anchor(message: str) -> str:
    """The longest stretch of the message that does not vary."""
    stretches = [s.strip(" :,.;") for s in _VARYING.sub("\0", message).split("\0")]
    return max(stretches, key=len)[:80] or message[:40]


def _near_miss(message: str) -> str:
    """A line with the message's first words and another end."""
    words = message.split()
    return " ".join(words[: max(1, len(words) // 3)]) + " … (a similar line that is harmless)"


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar."""
    import json

    return json.dumps(text, ensure_ascii=False)
