"""Everything found, one group for each rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from typing import Any

from triage.diagnosis.job import Item
from triage.diagnosis.templates import fill, kinds_of
from triage.model import FindingGroup
from triage.rules.fields import show
from triage.rules.templates import PLACEHOLDER, template_names
from triage.scan.lazy import deferred

_CONTEXT_ONLY = frozenset({"exception"})
_SEVERAL = 3
"""Different values that a title names one by one."""
_LONGEST = 24
"""Characters of one of them."""
_RANK = deferred(r"\{rank(?=[|}])")
_ASIDE = deferred(r"\s*\([^()]*\{[^()]*\)")
"""Parentheses of a title that hold a placeholder."""


def groups(items: Sequence[Item], root: str | None) -> tuple[FindingGroup, ...]:
    """One group for each rule that found anything; symptoms are explained by the rule ``root``."""
    by_rule: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.rule.fact not in _CONTEXT_ONLY:
            by_rule[item.rule.id].append(item)
    groups: list[FindingGroup] = []
    for rule_id, members in by_rule.items():
        rule = members[0].rule
        ranks = sorted({i.rank for i in members if i.rank is not None})
        groups.append(
            FindingGroup(
                rule_id=rule_id,
                title=_title(members),
                role=rule.role,
                category=rule.category,
                count=sum(i.finding.count for i in members),
                ranks=tuple(ranks),
                evidence=members[0].finding.evidence[:1],
                sampled=any(i.finding.sampled for i in members),
                explained_by=root if root and rule.role == "symptom" else None,
            )
        )
    return tuple(groups)


def _title(members: Sequence[Item]) -> str:
    """The title of the rule for all of its findings: with what they have in common, and without where they differ."""
    rule = members[0].rule
    names = set(template_names(rule.title))
    if not names:
        return rule.title
    told: dict[str, Any] = {}
    for name in names:
        values = dict.fromkeys(v for i in members if (v := _value(i, name)) is not None)
        if name in {"rank", "ranks"} and all(isinstance(v, int | tuple) for v in values):
            numbers = {n for v in values for n in (v if isinstance(v, tuple) else (v,)) if isinstance(n, int)}
            told[name] = told["ranks"] = tuple(sorted(numbers))
        elif len(values) == 1:
            told[name] = next(iter(values))
        elif 1 < len(values) <= _SEVERAL and all(_short(v) for v in values):
            kinds = kinds_of(rule)
            told[name] = " or ".join(show(v, kinds.get(name, "str")) for v in values)
    text = _RANK.sub("{ranks", rule.title) if told.get("ranks") else rule.title
    known = {name for name, value in told.items() if value not in (None, ())}
    # what differs is left out with the parentheses that it stands in
    text = _ASIDE.sub(lambda aside: aside[0] if _tells(aside[0], known) else "", text)
    text = PLACEHOLDER.sub(lambda one: one[0] if one[1] in known or one[2] is not None else "…", text)
    return fill(text, told, kinds_of(rule))


def _tells(aside: str, known: Set[str]) -> bool:
    """Whether all that words in parentheses tell is known, each by itself or by what stands in for it."""
    return all(
        one[1] in known or (bool(names := set(template_names(one[2] or ""))) and names <= known)
        for one in PLACEHOLDER.finditer(aside)
    )


def _value(item: Item, name: str) -> Any:
    known = item.fields.get(name)
    return item.rank if known is None and name == "rank" else known


def _short(value: Any) -> bool:
    return len(str(value)) <= _LONGEST
