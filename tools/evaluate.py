"""How well labelled failures are diagnosed: one figure each for category, rank, decisive line and quiet.

usage: python tools/evaluate.py [--quiet] DIR [DIR ...]

Every folder below a DIR that holds ``case.yaml`` (or ``expected.yaml``, as the fixtures do) is one job: all
other files in it are read together. The label names ``category`` (accepted ones, best first; ``none`` for a
healthy run), ``origin_rank`` (null where the log does not tell it; of a list, one or all of them are right) and
``key_line`` (a part of the line that decides). ``--quiet`` prints the figures alone, so that a set of cases can
stay unseen by whoever writes rules.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import triage

LABELS = ("case.yaml", "expected.yaml")
NOT_LOGS = {*LABELS, "README.md"}


@dataclass
class Score:
    """How many of how many were right."""

    right: int = 0
    total: int = 0
    wrong: list[str] = field(default_factory=list)

    def count(self, right: bool, words: str) -> None:
        """Add one observation; ``words`` describe it should it be wrong."""
        self.total += 1
        self.right += right
        if not right:
            self.wrong.append(words)


def cases(directories: list[str]) -> list[Path]:
    """The labels below ``directories``, in order."""
    return sorted(p for d in directories for name in LABELS for p in Path(d).rglob(name))


def normalised(text: str) -> str:
    """Text as it is compared: white space folded."""
    return " ".join(text.split())


def evaluate(label: Path, engine: triage.Engine, scores: dict[str, Score]) -> None:
    """Diagnose the job beside ``label`` and count what was right."""
    expected: dict[str, Any] = yaml.safe_load(label.read_text(encoding="utf-8"))
    files = [label.parent / f for f in expected.get("files", ())] or sorted(
        p for p in label.parent.rglob("*") if p.is_file() and p.name not in NOT_LOGS
    )
    found = engine.diagnose(files)
    accepted = expected.get("category") or ["none"]
    accepted = [accepted] if isinstance(accepted, str) else accepted
    name = str(label.parent)
    root = found.root_cause
    said = f"{name}: {found.verdict}: " + (f"{root.rule_id} [{root.category}]" if root else "-")
    if found.verdict != "failed":
        if "none" in accepted:
            scores["healthy runs kept quiet"].count(found.verdict == "healthy", said)
        else:
            scores["category"].count(False, f"{said}, wanted {accepted[0]}")
            scores["category in the top three"].count(False, said)
            scores["failures not called healthy"].count(found.verdict != "healthy", said)
        return
    assert root is not None
    if "none" in accepted:
        scores["healthy runs kept quiet"].count(False, said)
        return
    scores["failures not called healthy"].count(True, said)
    scores["category"].count(root.category in accepted, f"{said}, wanted {accepted[0]}")
    three = [root, *found.alternatives][:3]
    scores["category in the top three"].count(any(h.category in accepted for h in three), said)
    wanted = expected.get("origin_rank")
    if wanted is not None:
        ranks = wanted if isinstance(wanted, list) else [wanted]
        scores["origin rank"].count(
            root.origin.rank in ranks or set(root.origin.ranks) == set(ranks),
            f"{said} rank {root.origin.rank} of {list(root.origin.ranks)}, wanted {wanted}",
        )
    elif root.origin.rank is not None:
        scores["rank named though the label has none"].count(True, said)
    line = expected.get("key_line")
    if line:
        shown = normalised(" ".join(e.text for e in root.evidence))
        scores["decisive line shown"].count(normalised(str(line)) in shown, f"{said}: {line}")


def main(arguments: list[str]) -> int:
    """Print the figures of all cases below the directories given."""
    quiet = "--quiet" in arguments
    directories = [a for a in arguments if not a.startswith("-")]
    if not directories:
        print(__doc__, file=sys.stderr)
        return 2
    names = (
        "category",
        "category in the top three",
        "origin rank",
        "decisive line shown",
        "healthy runs kept quiet",
        "failures not called healthy",
        "rank named though the label has none",
    )
    scores = {name: Score() for name in names}
    engine = triage.Engine()
    for label in cases(directories):
        evaluate(label, engine, scores)
    for name, score in scores.items():
        if score.total:
            print(f"{name:40} {score.right}/{score.total}")
        for words in () if quiet else score.wrong:
            print(f"    {words}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
