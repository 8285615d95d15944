"""When no cause is known: the best symptom, the last words, or an honest "can't tell"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.diagnosis.candidates import Candidate
from triage.diagnosis.job import Item, Job
from triage.diagnosis.judgement import verdict
from triage.diagnosis.ledger import Ledger
from triage.diagnosis.survival import Survival
from triage.model import Evidence, Finding

_EXCEPTION = re.compile(r"(?:^|[\s\].:])(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b: ")
PRIORITY = (
    "collective-timeout", "store-timeout", "oom-message", "cuda-error", "external-stop",
    "peer-loss", "wrapper", "rank-exit", "launcher-report",
)  # fmt: skip
"""Tags of symptoms that show a failure on their own, closest to a cause first. Shutdown noise does not."""


def promote(job: Job, ledger: Ledger) -> Candidate | None:
    """A candidate from symptoms alone, None when there are none or all were survived."""
    survival = Survival(job, ledger)
    symptoms = [i for i in job.items if i.rule.role == "symptom" and survival.proof(i) is None]
    telling = [i for i in symptoms if _tag(i)]
    if not telling:
        return None
    best = min(telling, key=_rank)
    tag = _tag(best)
    if tag == "peer-loss":
        fields = {"peer": best.fields.get("peer") or best.fields.get("host")}
        candidate = Candidate([verdict(job, "ledger.peer-vanished", fields, [best])], score=0.4)
    elif tag in {"wrapper", "launcher-report", "rank-exit"} or best.rule.category in {None, "unknown"}:
        fields = {"what": best.rule.summary.split("{", 1)[0].strip(" .") or best.rule.title}
        item = verdict(job, "unknown.reported", fields, [best], rank=best.rank, host=best.finding.host)
        candidate = Candidate([item], score=0.3)
    else:
        same = [i for i in symptoms if i.rule.id == best.rule.id]
        candidate = Candidate(same, score=min(best.rule.confidence, 0.45))
    candidate.reasons.append("nothing but symptoms was found; this one is closest to a cause")
    candidate.explains = symptoms
    return candidate


def _tag(item: Item) -> str:
    return next((t for t in PRIORITY if t in item.rule.tags), "")


def _rank(item: Item) -> tuple[int, int, int]:
    return (PRIORITY.index(_tag(item)), item.finding.source, item.finding.offset)


def last_words(job: Job, words: Sequence[tuple[int, Evidence]]) -> Candidate | None:
    """A candidate from the last lines that state an error nobody knows."""
    words = unanswered(job, words)
    if not words:
        return None
    # an exception's own line says more than what was shouted around it
    named = [entry for entry in words if _EXCEPTION.search(entry[1].text)]
    index, evidence = (named or list(words))[-1]
    rule = job.rules["unknown.last-words"]
    source = job.sources[index]
    finding = Finding(
        rule_id=rule.id, fields={"words": " ".join(evidence.text.split())[:300]},
        evidence=tuple(e for _, e in words[-3:]), source=index, offset=1 << 60,
        rank=source.rank, host=source.host,
    )  # fmt: skip
    return Candidate([Item(finding, rule)], score=rule.confidence, reasons=["no rule knows any line"])


def unanswered(job: Job, lines: Sequence[tuple[int, Evidence]]) -> list[tuple[int, Evidence]]:
    """Those of ``lines`` after which nothing ordinary follows in their source: no step, no line of level info."""
    moved: dict[str, int] = {}
    for fact in ("alive", "progress"):
        for item in job.of_fact(fact):
            for shown in item.finding.evidence:
                moved[shown.path] = max(moved.get(shown.path, 0), shown.line or 0)
    return [(i, e) for i, e in lines if (e.line or 0) > moved.get(e.path, 0)]
