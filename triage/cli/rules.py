"""``triage rules list|show|lint|test``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from triage.errors import InputError, RuleError
from triage.rules.lint import lint
from triage.rules.loader import RuleSet, load_rules
from triage.rules.parsing import parse_rule_files
from triage.rules.schema import Rule
from triage.rules.templates import plain
from triage.sources.missing import either


def list_rules(stack: str | None, directories: Sequence[Path]) -> int:
    """Print one line per rule."""
    rules = load_rules(directories)
    shown = [r for r in rules.values() if stack is None or r.stack == stack]
    if not shown:
        raise InputError(
            f"no rules of stack {stack!r}; stacks: {', '.join(sorted({r.stack for r in rules.values()}))}"
        )
    width = max(len(r.id) for r in shown)
    for rule in sorted(shown, key=lambda r: r.id):
        print(f"{rule.id:<{width}}  {rule.role:<8} {rule.category or '-':<24} {plain(rule.title)}")
    _notes(rules)
    return 0


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def show_rule(rule_id: str, directories: Sequence[Path]) -> int:
    """Print one rule in full."""
    rules = load_rules(directories)
    if rule_id not in rules:
        import difflib

        near = difflib.get_close_matches(rule_id, list(rules), n=3)
        hint = f"; did you mean {either(near)}?" if near else "; see `triage rules list`"
        raise InputError(f"no rule {rule_id!r}{hint}")
    print("\n".join(_lines(rules[rule_id], rules)))
    _notes(rules)
    return 0


def _lines(rule: Rule, rules: RuleSet) -> list[str]:
    lines = [
        f"{rule.id}: {rule.title}",
        f"  role {rule.role}, category {rule.category or '-'}, owner {rule.owner}, retry {rule.retry}",
        f"  from {rules.origin(rule.id)}",
    ]
    if rule.summary:
        lines.append(f"  {rule.summary}")
    if rule.signature is not None:
        lines += [f"  anchor   {a}" for a in rule.signature.anchors]
        lines += [f"  pattern  {p}" for p in rule.signature.patterns]
        if rule.signature.reader:
            lines.append(f"  reader   {rule.signature.reader}")
        if rule.signature.where:
            lines.append(f"  where    {rule.signature.where.text}")
    if rule.when:
        lines.append(f"  when     {rule.when.text}")
    if rule.explains:
        lines.append(f"  explains {', '.join(rule.explains)}")
    for number, step in enumerate(rule.remediation, 1):
        lines.append(f"  {number}. {step.do}")
        lines += [f"       {line}" for line in (step.run or "").splitlines()]
        if step.verify:
            lines.append(f"     verify: {step.verify}")
    lines += [f"  does not help: {a.do} ({a.why})" for a in rule.does_not_help]
    if rule.versions:
        lines.append(f"  versions {rule.versions}")
    lines += [f"  see      {reference}" for reference in rule.references]
    return lines


def lint_rules(paths: Sequence[Path]) -> int:
    """Print every problem; 1 when there are any."""
    rules, only = _selected(paths)
    problems = [p for p in lint(rules) if only is None or p.rule_id in only]
    for problem in problems:
        print(problem)
    count = len(only) if only is not None else len(rules)
    print(f"{_many(count, 'rule')}, {_many(len(problems), 'problem')}", file=sys.stderr)
    return 1 if problems else 0


def test_rules(paths: Sequence[Path]) -> int:
    """Run the examples; 1 when any fails."""
    from triage.ruletests import run_examples

    rules, only = _selected(paths)
    tally = run_examples(rules, only)
    for failure in tally.failures:
        print(failure)
    print(f"{_many(tally.examples, 'example')}, {_many(len(tally.failures), 'failure')}", file=sys.stderr)
    return 1 if tally.failures else 0


def _selected(paths: Sequence[Path]) -> tuple[RuleSet, set[str] | None]:
    """The rules to check against, and the ids that were asked for (None for all)."""
    if not paths:
        return load_rules(), None
    builtin = load_rules()
    only: set[str] = set()
    extra: list[Path] = []
    for path in paths:
        if not path.exists():
            raise RuleError("no such file or directory", str(path))
        ids = {raw["id"] for raw in parse_rule_files(path)}
        if not ids:
            raise RuleError("holds no rules", str(path))
        only |= ids
        if not ids <= set(builtin):
            extra.append(path)
    return (load_rules(extra) if extra else builtin), only


def _notes(rules: RuleSet) -> None:
    for note in rules.notes:
        print(f"note: {note}", file=sys.stderr)
