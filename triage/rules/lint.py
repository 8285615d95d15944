"""What a rule must be beyond well-formed: findable, bounded, connected and useful."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triage.rules.expressions import PURE_FUNCTIONS, Expression
from triage.rules.loader import RuleSet
from triage.rules.patterns import MIN_ANCHOR, compile_pattern, infer_anchors
from triage.rules.schema import Rule
from triage.rules.templates import template_names
from triage.text.masking import mask

_GLUED = re.compile(r"[A-Za-z]\{[a-z_]+\|[^{}]*\}")
_SET_FOR_NOTHING = re.compile(r"python3? -c (?P<mark>['\"])(?:(?!print|assert|(?P=mark)).)*(?P=mark)\s*#")
"""A command that neither prints nor checks anything, with a remark that tells what was meant."""
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\.[a-z0-9]+(?:-[a-z0-9]+)*$")
STANDARD_NAMES = frozenset(
    [
        "rank",
        "ranks",
        "local_rank",
        "host",
        "gpu",
        "pci",
        "uuid",
        "time",
        "world_size",
        "nodes",
        "line_rank",
        "line_level",
        "line_host",
        "line_logger",
        "phase",
        "place",
        "job_id",
        "log",
        "count",
    ]
)
"""Names that templates and conditions may use besides the rule's own fields."""
JOB_FUNCTIONS = frozenset(
    [
        "seen",
        "absent",
        "count",
        "ranks_with",
        "same_rank",
        "same_host",
        "works_on",
        "near",
        "before",
        "after",
        "differs",
        "same",
        "env",
        "version",
        "slurm",
        "receipt",
        "fact",
        "context",
        "uses",
        "stack",
        "longest",
        "listed",
    ]
)
"""Functions of ``when``; what they mean is in ``docs/rules.md``."""
FACT_TAGS = "tag:"
SHORTEST = 6
"""Bytes of an anchor that is looked for everywhere."""
_NESTED = re.compile(r"\((?:\?:)?[^()]*[+*]\)[+*]|\((?:\?:)?[^()]*[+*][^()]*\)[+*]\s*[+*]")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a rule. ``str()`` gives ``path:line: rule: message``."""

    rule_id: str
    message: str
    path: str | None
    line: int | None

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return f"{where}: {self.rule_id}: {self.message}" if where else f"{self.rule_id}: {self.message}"


def lint(rules: RuleSet) -> list[Problem]:
    """Every problem of every rule, in order of file and line."""
    tags = {tag for rule in rules.values() for tag in rule.tags}
    problems = [
        Problem(rule.id, message, rule.path, rule.line)
        for rule in rules.values()
        for message in _problems(rule, rules, tags)
    ]
    problems.extend(_cycles(rules))
    problems.extend(_duplicates(rules))
    return sorted(problems, key=lambda p: (p.path or "", p.line or 0, p.rule_id, p.message))


def _problems(rule: Rule, rules: Mapping[str, Rule], tags: set[str]) -> Iterator[str]:
    if not ID.match(rule.id):
        yield "id must be <stack>.<name> in lower case with hyphens, e.g. torch.oom"
    yield from _signature(rule)
    yield from _references(rule, rules, tags)
    yield from _advice(rule)
    yield from _templates(rule)


def _signature(rule: Rule) -> Iterator[str]:
    signature = rule.signature
    if signature is None:
        if rule.when is None:
            yield "needs a signature, or a 'when' condition on other findings"
        return
    if signature.reader is not None:
        if signature.anchors or signature.patterns:
            yield "a reader's rule has no anchor or patterns"
        return
    anchors = infer_anchors(signature.patterns, signature.anchors)
    if not anchors:
        yield "text signature without an anchor: none is given and none can be inferred"
    for anchor in anchors:
        least = MIN_ANCHOR if signature.frequent else SHORTEST
        if len(anchor.strip().encode()) < least:  # the scan looks for bytes; a sign of a bar's is three
            yield f"anchor {anchor!r} is shorter than {least} bytes: it hits too many lines and slows every scan"
    captured: set[str] = set()
    for pattern in signature.patterns:
        try:
            captured |= set(compile_pattern(pattern).groupindex)
        except Exception as error:
            yield f"pattern {pattern!r} is not valid: {error}"
            continue
        if _NESTED.search(pattern):
            yield f"pattern {pattern!r} has nested quantifiers: it can take exponential time"
    known = captured | set(signature.derive)
    for name in sorted(set(signature.fields) - known):
        yield f"field {name!r} is typed but no pattern captures it"
    if signature.where is not None:
        yield from _expression(signature.where, known, "where", frozenset())
    if not rule.positive:
        yield "needs at least one example under examples.match"
    if not rule.negative:
        yield "needs at least one near miss under examples.no_match"


def _expression(
    expression: Expression, fields: set[str], what: str, functions: frozenset[str]
) -> Iterator[str]:
    for name in sorted(expression.names - fields - STANDARD_NAMES):
        yield f"{what}: unknown name {name!r}"
    for name, _ in sorted(expression.calls):
        if name not in PURE_FUNCTIONS | functions:
            yield f"{what}: unknown function {name!r}"


def _references(rule: Rule, rules: Mapping[str, Rule], tags: set[str]) -> Iterator[str]:
    for target in (*rule.explains, *rule.refines):
        if target == rule.id:
            yield "explains itself"
        elif target.startswith(FACT_TAGS):
            if target[len(FACT_TAGS) :] not in tags:
                yield f"explains {target!r}, which no rule carries"
        elif target not in rules:
            yield f"explains {target!r}, which does not exist"
    if rule.when is not None:
        fields = set(field_names(rule))
        yield from _expression(rule.when, fields, "when", JOB_FUNCTIONS)
        for function, arguments in sorted(rule.when.calls):
            if function in {"seen", "absent", "count", "ranks_with", "same_rank", "same_host", "near",
                            "before", "after"}:  # fmt: skip
                for target in arguments:
                    if target.startswith(FACT_TAGS):
                        if target[len(FACT_TAGS) :] not in tags:
                            yield f"when: {target!r} is a tag that no rule carries"
                    elif target not in rules:
                        yield f"when: {function}({target!r}) names a rule that does not exist"


def _advice(rule: Rule) -> Iterator[str]:
    if rule.role == "benign":
        if rule.remediation:
            yield "a benign rule needs no remediation"
        return
    if rule.role != "cause":
        return
    if rule.category is None:
        yield "a cause needs a category"
    if not rule.remediation:
        yield "a cause needs remediation with a first step"
    elif rule.remediation[0].condition is not None and all(r.condition for r in rule.remediation):
        yield "every remediation step has an 'if': at least one must always apply"
    for i, step in enumerate(rule.remediation):
        if step.run and mask(step.run) != step.run:
            yield f"remediation[{i}].run: looks as if it held a secret, and is shown as {mask(step.run)!r}"
        if step.run and _SET_FOR_NOTHING.search(step.run):
            yield f"remediation[{i}].run: what python -c sets or imports is gone when it ends; write '# in the program: ...'"
    if not rule.summary:
        yield "a cause needs a summary: one sentence that a tired person understands"
    if not rule.references and rule.signature is not None and rule.signature.reader is None:
        yield "a cause needs references: the source file and versions that the message was read from"


def _templates(rule: Rule) -> Iterator[str]:
    known = set(field_names(rule)) | STANDARD_NAMES
    if rule.signature is not None and rule.signature.reader is not None:
        return  # its reader decides which fields there are
    texts = [("title", rule.title), ("summary", rule.summary)]
    for i, step in enumerate(rule.remediation):
        texts += [(f"remediation[{i}].{k}", getattr(step, k) or "") for k in ("do", "run", "verify")]
        if step.condition is not None:
            yield from _expression(step.condition, known, f"remediation[{i}].if", JOB_FUNCTIONS)
    for i, advice in enumerate(rule.does_not_help):
        texts += [(f"does_not_help[{i}].do", advice.do), (f"does_not_help[{i}].why", advice.why)]
    for where, text in texts:
        if not where.endswith("run") and _GLUED.search(text):
            yield f"{where}: a placeholder touches the word before it; put a space between them, which an empty text takes along"
        for name in template_names(text):
            if name not in known:
                yield f"{where}: placeholder {{{name}}} is not a field; known: {', '.join(sorted(known))}"


def field_names(rule: Rule) -> Iterator[str]:
    """Names of the fields that a rule's findings carry."""
    signature = rule.signature
    if signature is None:
        # what a condition reads of the environment and the receipt can be shown
        for function, arguments in rule.when.calls if rule.when is not None else ():
            if function in {"env", "receipt"} and arguments:
                yield arguments[0].rpartition(".")[2].lower()
            elif function in {"fact", "context"} and len(arguments) > 1:
                yield arguments[1]
        return
    yield from signature.fields
    yield from signature.derive
    for pattern in signature.patterns:
        try:
            yield from compile_pattern(pattern).groupindex
        except Exception:  # noqa: S112  reported by _signature
            continue


def _cycles(rules: RuleSet) -> Iterator[Problem]:
    """Causes that explain each other: neither could ever be the root."""
    by_tag: dict[str, list[str]] = {}
    for rule in rules.values():
        for tag in rule.tags:
            by_tag.setdefault(FACT_TAGS + tag, []).append(rule.id)
    edges: dict[str, list[str]] = {}
    for rule in rules.values():
        targets = [t for e in rule.explains for t in by_tag.get(e, [e])]
        edges[rule.id] = [t for t in targets if t in rules and t != rule.id]
    state: dict[str, int] = {}

    def visit(node: str, trail: list[str]) -> list[str] | None:
        state[node] = 1
        for target in edges[node]:
            if state.get(target) == 1:
                return [*trail[trail.index(target) :], target] if target in trail else [node, target]
            if target not in state:
                cycle = visit(target, [*trail, target])
                if cycle:
                    return cycle
        state[node] = 2
        return None

    for rule_id in edges:
        if rule_id not in state:
            cycle = visit(rule_id, [rule_id])
            if cycle:
                rule = rules[cycle[0]]
                yield Problem(rule.id, f"causal cycle: {' explains '.join(cycle)}", rule.path, rule.line)
                return


def _duplicates(rules: RuleSet) -> Iterator[Problem]:
    """Two rules with the same patterns and conditions: one of them is dead."""
    seen: dict[tuple[object, ...], Rule] = {}
    for rule in rules.values():
        signature = rule.signature
        if signature is None or signature.reader is not None:
            continue
        key = (
            signature.patterns or tuple(a.lower() for a in signature.anchors),
            signature.where.text if signature.where else None,
            rule.when.text if rule.when else None,
        )
        if key in seen:
            yield Problem(rule.id, f"has the same signature as {seen[key].id}", rule.path, rule.line)
        else:
            seen[key] = rule
