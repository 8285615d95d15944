"""Rules without a signature: conditions on other findings, the environment, the receipt."""

from __future__ import annotations

from collections.abc import Iterator

from triage.diagnosis.causes.conditions import functions_of, names_of
from triage.diagnosis.job import Item, Job
from triage.model import Evidence, Finding, Value
from triage.rules.schema import Rule
from triage.text import safe

RECEIPT = "receipt"
"""How reports call the receipt where they name the source of a piece of evidence."""
OUTSIDE = -1
"""Source index of what the receipt says: it has no place among the logs, so no order either."""
_NAMING = frozenset({"seen", "count", "ranks_with", "fact", "context"})


def stated(job: Job) -> list[Item]:
    """What the receipt says by itself, for rules with ``reader: receipt``."""
    if job.receipt is None:
        return []
    from triage.receipts.evidence import findings_of

    return [Item(f, job.rules[f.rule_id]) for f in findings_of(job.receipt) if f.rule_id in job.rules]


def derive(job: Job, world_size: int | None) -> list[Item]:
    """Findings of every derived rule whose condition holds, in order of rule id."""
    found: list[Item] = []
    names, functions = names_of(job, None, world_size, None), functions_of(job, None)
    for rule_id in job.rules.derived():
        rule = job.rules[rule_id]
        if rule.when is not None and rule.when.holds(names, functions):
            found.append(_item(job, rule))
    return found


def _item(job: Job, rule: Rule) -> Item:
    witnesses = list(_witnesses(job, rule))
    first = witnesses[0].finding if witnesses else None
    evidence: list[Evidence] = []
    for witness in witnesses[:4]:
        evidence.extend(e for e in witness.finding.evidence[:1] if e not in evidence)
    read = _read_values(job, rule)
    if read and job.receipt is not None:
        evidence.append(Evidence(RECEIPT, None, safe("\n".join(f"{k} = {v}" for k, v in read.items()))))
    fields: dict[str, Value] = {k.rpartition(".")[2].lower(): v for k, v in read.items()}
    fields.update({k: v for w in reversed(witnesses) for k, v in w.fields.items() if k[0] != "_"})
    finding = Finding(
        rule_id=rule.id, fields=fields, evidence=tuple(evidence),
        source=first.source if first else OUTSIDE, offset=first.offset if first else 0,
        time=first.time if first else None, host=first.host if first else None,
        rank=first.rank if first and rule.origin == "speaker" else None,
    )  # fmt: skip
    return Item(finding, rule)


def _read_values(job: Job, rule: Rule) -> dict[str, Value]:
    """The settings and receipt fields that the condition asks for, as far as they are known."""
    functions = functions_of(job, None)
    found: dict[str, Value] = {}
    for function, arguments in sorted(rule.when.calls if rule.when else ()):
        if function in {"env", "receipt"} and arguments:
            value = functions[function](arguments[0])
            if isinstance(value, str | int | float | bool):
                found[arguments[0]] = value
    return found


def _witnesses(job: Job, rule: Rule) -> Iterator[Item]:
    """The findings that the condition asks for, in the order in which it names them."""
    if rule.when is None:
        return
    for function, arguments in sorted(
        rule.when.calls, key=lambda c: (rule.when.text.find(c[1][0]) if rule.when and c[1] else 1 << 30, c)
    ):
        if function not in _NAMING or not arguments:
            continue
        named = job.of_fact(arguments[0]) if function in {"fact", "context"} else job.named(arguments[0])
        yield from list(named)[:1]
    for _, arguments in rule.when.calls:
        for name in arguments:
            yield from [i for i in job.of_fact("env") if i.text("name") == name][:1]
