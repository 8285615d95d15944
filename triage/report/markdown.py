"""The report as Markdown for tickets and chats. Nothing that a log says is taken for markup.

Text from outside is escaped; words that a forge would turn into a link, a mention or a reference
become code. Evidence and commands stand in fences longer than any that they contain.
"""

from __future__ import annotations

import re

from triage.model import Diagnosis, Evidence, Hypothesis
from triage.report import ledger, words
from triage.report.cleaning import clean
from triage.report.layout import cells

_EVIDENCE = 3
_EVIDENCE_LINES = 30
_CASCADES = 10
_TABLE_WIDTH = 110

_SPECIAL = re.compile(r"[\\`*\[\]~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITY = re.compile(r"&(?=#|\w+;)")
_LINE_START = re.compile(r"^[-+>#=]+(?=[\s>-]|$)|^>")
_ENUMERATION = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_LINKED = re.compile(r"@\w|://|\bwww\.|#\d|\bGH-\d|\bmailto:|:[a-z]\w*:", re.IGNORECASE)
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[A-Za-z0-9./_~%?&=#+,;:-]*)?")


def render(diagnosis: Diagnosis, verbose: bool = False) -> str:
    """``diagnosis`` as Markdown; ``verbose`` adds the rank ledger, all findings and the sources."""
    diagnosis = clean(diagnosis)
    root = diagnosis.root_cause
    blocks = [f"## {diagnosis.verdict.upper()}: {_title(diagnosis)}"]
    if root is not None:
        blocks += [escape(root.summary or root.title), _facts(root)]
        blocks += _evidence(root.evidence if verbose else root.evidence[:_EVIDENCE])
        blocks += _advice(root)
    blocks += _attempts(diagnosis)
    blocks += _explained(diagnosis)
    blocks += _others("Less likely", diagnosis.alternatives)
    blocks += _others("Warnings", diagnosis.warnings, confidence=False)
    blocks += _section("Notes", [*diagnosis.notes, *words.unread(diagnosis)])
    if verbose:
        blocks += _details(diagnosis)
    blocks += _footer(diagnosis)
    return "\n\n".join(blocks)


def escape(text: str) -> str:
    """``text`` on one line, so that Markdown shows it as it is."""
    pieces = []
    for word in text.split():
        if _LINKED.search(word):
            pieces.append(code(word))
        else:
            escaped = _SPECIAL.sub(r"\\\g<0>", _ENTITY.sub("&amp;", word))
            pieces.append(escaped.replace("<", "&lt;"))
    return _ENUMERATION.sub(r"\1\\\2", _LINE_START.sub(r"\\\g<0>", " ".join(pieces)))


def code(text: str) -> str:
    """``text`` on one line as a code span."""
    text = " ".join(text.split())
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def fenced(text: str, language: str = "text", indent: int = 0) -> str:
    """``text`` as a code block; ``indent`` columns put it into a list item."""
    fence = "`" * max(3, _longest_run(text) + 1)
    margin = " " * indent
    lines = (f"{fence}{language}", *text.split("\n"), fence)
    return "\n".join((margin + line).rstrip() for line in lines)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _title(diagnosis: Diagnosis) -> str:
    root = diagnosis.root_cause
    if root is None:
        return escape(words.headline(diagnosis))
    where = words.place(root.origin)
    return escape(f"{root.category} on {where}" if where else root.category)


def _facts(root: Hypothesis) -> str:
    rows = [
        ("Who acts", words.who_acts(root)),
        ("Requeue", words.requeue(root)),
        ("Origin", words.origin_details(root.origin)),
        ("Phase", root.phase or ""),
        ("Confidence", words.confidence(root.confidence)),
    ]
    return "\n".join(f"- **{label}:** {escape(text)}" for label, text in rows if text)


def _evidence(pieces: tuple[Evidence, ...]) -> list[str]:
    blocks = ["### Evidence"] if pieces else []
    for piece in pieces:
        line = "" if piece.line is None else f":{piece.line}"
        blocks.append(code(f"{piece.path}{line}"))
        lines = piece.text.rstrip("\n").split("\n")
        if len(lines) > _EVIDENCE_LINES:
            half = _EVIDENCE_LINES // 2
            lines = [*lines[:half], f"… {len(lines) - 2 * half} more lines", *lines[-half:]]
        blocks.append(fenced("\n".join(lines)))
    return blocks


def _advice(root: Hypothesis) -> list[str]:
    steps = []
    for number, step in enumerate(root.remediation, 1):
        actor = f"**{step.owner}:** " if step.owner and step.owner != root.owner else ""
        indent = len(f"{number}. ")
        parts = [f"{number}. {actor}{escape(step.do)}"]
        if step.run:
            parts.append(fenced(step.run, "bash", indent))
        if step.verify:
            parts.append(f"{' ' * indent}Verify: {escape(step.verify)}")
        steps.append("\n\n".join(parts))
    blocks = ["### What to do", "\n\n".join(steps)] if steps else []
    useless = [f"{advice.do}: {advice.why}" if advice.why else advice.do for advice in root.does_not_help]
    return blocks + _section("What does not help", useless)


def _attempts(diagnosis: Diagnosis) -> list[str]:
    if len(diagnosis.attempts) < 2:
        return []
    rows = []
    for attempt in diagnosis.attempts:
        what = f": {_claim(attempt.root_cause)}" if attempt.root_cause else ""
        rows.append(f"attempt {attempt.number}: {attempt.verdict}{what}{words.period(attempt)}")
    return _section("Attempts", rows)


def _explained(diagnosis: Diagnosis) -> list[str]:
    groups = words.cascades(diagnosis)
    rows = []
    for group in groups[:_CASCADES]:
        rows.append(f"{words.times(group)} {words.told(group)}")
    if len(groups) > _CASCADES:
        rows.append(f"{len(groups) - _CASCADES} more kinds of message")
    return _section("What it explains", rows)


def _claim(h: Hypothesis) -> str:
    where = words.place(h.origin)
    return f"{h.category} on {where}" if where else h.category


def _others(heading: str, others: tuple[Hypothesis, ...], confidence: bool = True) -> list[str]:
    return _section(
        heading,
        [
            f"{_claim(h)}: {h.summary or h.title}"
            + (f" (confidence {h.confidence:.2f})" if confidence else "")
            for h in others
        ],
    )


def _section(heading: str, rows: list[str]) -> list[str]:
    return [f"### {heading}", "\n".join(f"- {escape(row)}" for row in rows)] if rows else []


def _details(diagnosis: Diagnosis) -> list[str]:
    blocks = []
    if diagnosis.ranks:
        rows, right = ledger.table(diagnosis.ranks, _TABLE_WIDTH)
        blocks += ["### Ranks", fenced(_aligned(rows, right))]
    if diagnosis.findings:
        table = [["count", "role", "rule", "ranks"]]
        for group in diagnosis.findings:
            count = f"{group.count}{'+' if group.sampled else ''}"
            table.append([count, group.role, group.rule_id, words.numbers(group.ranks)])
        blocks += ["### Findings", fenced(_aligned(table, [0]))]
    blocks += _section("Sources", [f"{s.name}: {s.kind}, {s.bytes_read:,} bytes" for s in diagnosis.sources])
    references = diagnosis.root_cause.references if diagnosis.root_cause else ()
    if references:
        links = (f"<{text}>" if _URL.fullmatch(text) else escape(text) for text in references)
        blocks += ["### References", "\n".join(f"- {link}" for link in links)]
    return blocks


def _aligned(rows: list[list[str]], right: list[int]) -> str:
    widths = [max(cells(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        padded = [
            " " * (width - cells(cell)) + cell if i in right else cell + " " * (width - cells(cell))
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _footer(diagnosis: Diagnosis) -> list[str]:
    root = diagnosis.root_cause
    parts = [f"rule {code(root.rule_id)}"] if root else []
    if diagnosis.fingerprint:
        parts.append(f"fingerprint {code(diagnosis.fingerprint)}")
    return [", ".join(parts)] if parts else []
