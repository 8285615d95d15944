"""Running the examples of rules through the whole engine, and looking for thieves.

An example of a rule must match it with the fields it states; a near miss must not match. A cause's
example, read on its own, must give that rule as the root cause (an advisory one's at least a warning)
unless it says ``beaten_by``; a benign example must not give a failed verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from triage.engine import Engine
from triage.model import Diagnosis, Finding, Source, Value
from triage.rules.fields import CONVERTERS
from triage.rules.loader import RuleSet
from triage.rules.schema import Example, Rule


@dataclass(frozen=True, slots=True)
class Failure:
    """An example that did not behave. ``str()`` gives ``path:line: rule: what``."""

    rule_id: str
    what: str
    example: str
    path: str | None
    line: int | None

    def __str__(self) -> str:
        first = " ".join(self.example.split())
        return f"{self.path}:{self.line}: {self.rule_id}: {self.what}\n    {first[:160]}"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many examples ran, and which failed."""

    examples: int
    failures: tuple[Failure, ...]


def run_examples(rules: RuleSet, only: Collection[str] | None = None) -> Tally:
    """Run every example of the rules whose ids are in ``only`` (all when None)."""
    engine = Engine(rules, threads=1)
    failures: list[Failure] = []
    count = 0
    for rule_id, rule in rules.items():
        if only is not None and rule_id not in only:
            continue
        for example in rule.positive:
            count += 1
            failures += [
                Failure(rule.id, w, example.log, rule.path, rule.line)
                for w in _positive(engine, rule, example)
            ]
        for log in rule.negative:
            count += 1
            if _findings(engine, log, rule.id):
                failures.append(Failure(rule.id, "matches its near miss", log, rule.path, rule.line))
    return Tally(count, tuple(failures))


def _findings(engine: Engine, log: str, rule_id: str) -> list[Finding]:
    return [f for f in engine.findings(Source("example", data=log.encode())) if f.rule_id == rule_id]


def _positive(engine: Engine, rule: Rule, example: Example) -> Iterator[str]:
    found = _findings(engine, example.log, rule.id)
    if not found:
        yield "does not match its own example"
        return
    if not any(not list(_differences(rule, f, example)) for f in found):
        yield from _differences(rule, found[0], example)
    if rule.when is not None and example.beaten_by is None and rule.role != "cause":
        return
    diagnosis = engine.diagnose(Source("example", data=example.log.encode()))
    yield from _outcome(rule, example, diagnosis)


def _outcome(rule: Rule, example: Example, diagnosis: Diagnosis) -> Iterator[str]:
    root = diagnosis.root_cause
    if example.beaten_by is not None:
        if root is None or root.rule_id != example.beaten_by:
            yield f"is to be beaten by {example.beaten_by}, but the verdict is {_name(diagnosis)}"
    elif root is None and "advisory" in rule.tags and any(w.rule_id == rule.id for w in diagnosis.warnings):
        return
    elif rule.role == "cause" and (root is None or root.rule_id != rule.id):
        yield f"its example gives {_name(diagnosis)}: another rule took it, or it was not believed"
    elif rule.role == "benign" and diagnosis.verdict == "failed":
        yield f"is benign, but its example gives {_name(diagnosis)}"
    elif rule.role == "context" and diagnosis.verdict == "failed":
        yield f"is context, but its example gives {_name(diagnosis)} (say beaten_by if that is right)"


def _name(diagnosis: Diagnosis) -> str:
    return diagnosis.root_cause.rule_id if diagnosis.root_cause else f"verdict {diagnosis.verdict}"


def _differences(rule: Rule, finding: Finding, example: Example) -> Iterator[str]:
    kinds = rule.signature.fields if rule.signature else {}
    for name, stated in example.fields.items():
        wanted, got = _typed(stated, kinds.get(name, "str")), finding.fields.get(name)
        if got != wanted:
            yield f"field {name} is {got!r}, the example says {wanted!r}"


def _typed(stated: Any, kind: str) -> Value:
    if isinstance(stated, list):
        return tuple(stated)
    if isinstance(stated, str):
        try:
            return CONVERTERS["seconds" if kind == "ms" else kind](stated)
        except ValueError:
            return stated
    if kind == "version":
        return CONVERTERS[kind](str(stated))
    if kind in {"str", "host", "pci"} and stated is not None:
        return str(stated)
    return stated  # type: ignore[no-any-return]
