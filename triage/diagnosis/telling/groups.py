"""Everything found, one group for each rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.diagnosis.job import Item
from triage.model import FindingGroup

_CONTEXT_ONLY = frozenset({"exception"})


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
                title=_plain(rule.title),
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


def _plain(title: str) -> str:
    """A title without its placeholders, for a group of findings that differ in them."""
    import re

    text = re.sub(r"\s*\([^()]*\{[^()]*\)", "", title)
    text = re.sub(r"\{[a-z_0-9]+\|([^{}]*)\}", r"\1", text)
    return " ".join(re.sub(r"\{[a-z_0-9]+\}", "…", text).split())
