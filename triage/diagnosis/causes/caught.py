"""What a program catches where it has caught before, whatever it is named where lines were lost."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import Item
from triage.diagnosis.survival.going_on import LOGGED
from triage.model import Value


def caught_alike(candidates: Sequence[Candidate]) -> None:
    """What is logged from where the program catches exceptions is caught too, whatever it is named where lines were lost."""
    caught = {_site(i): c.survived for c in candidates if c.caught for i in c.items if any(_site(i))}
    for candidate in candidates:
        proof = caught.get(_site(candidate.lead))
        if candidate.survived is None and proof is not None and candidate.rule_id.startswith("unknown."):
            logged = all(i.finding.level in LOGGED and _site(i) in caught for i in candidate.items)
            if logged:
                candidate.survived, candidate.caught = proof, True


def _site(item: Item) -> tuple[str | None, str | None, Value]:
    return item.text("raised_in"), item.text("raised_function"), item.fields.get("line")
