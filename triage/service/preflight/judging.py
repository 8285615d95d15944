"""From what a reader found to checks: the rules say what is wrong, how bad it is and what to do."""

from __future__ import annotations

from collections.abc import Mapping

from triage.diagnosis.templates import fill, kinds_of
from triage.model import Finding, Reading, Step
from triage.rules.schema import Rule
from triage.service.preflight.model import Node


def judge(node: Node, name: str, reading: Reading, rules: Mapping[str, Rule], good: str) -> None:
    """One check for each thing that ``reading`` says is wrong, or one that passes with ``good``.

    A rule tagged ``advisory`` warns, any other cause fails.
    """
    wrong = False
    for finding in reading.findings:
        rule = rules.get(finding.rule_id)
        if rule is None or rule.role != "cause":
            continue
        wrong = True
        status = "warn" if "advisory" in rule.tags else "fail"
        kinds = kinds_of(rule)
        values = _values(finding)
        detail = fill(rule.summary or rule.title, values, kinds)
        node.add(name, "warn" if status == "warn" else "fail", detail, *steps_of(rule, values))
    if not wrong:
        node.add(name, "pass", good)


def _values(finding: Finding) -> dict[str, object]:
    return {"gpu": finding.gpu, "host": finding.host, **finding.fields}


def steps_of(rule: Rule, values: Mapping[str, object]) -> tuple[Step, ...]:
    """The remediation of ``rule``, filled in."""
    kinds = kinds_of(rule)

    def text(template: str | None, *, command: bool = False) -> str | None:
        return fill(template, values, kinds, command=command) if template else None

    return tuple(
        Step(text(r.do) or r.do, text(r.run, command=True), text(r.verify), r.owner or rule.owner)
        for r in rule.remediation
        if r.condition is None or r.condition.holds(values, {})
    )


def rule_steps(rules: Mapping[str, Rule], rule_id: str, **values: object) -> tuple[Step, ...]:
    """The remediation of a rule by id, nothing when a pack has taken it out."""
    rule = rules.get(rule_id)
    return () if rule is None else steps_of(rule, values)
