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
CATEGORY = "category"
TOP_THREE = "category in the top three"
RANK = "origin rank"
LINE = "decisive line shown"
QUIET = "healthy runs kept quiet"
NOT_HEALTHY = "failures not called healthy"
RANK_NAMED = "rank named though the label has none"
FIGURES = (CATEGORY, TOP_THREE, RANK, LINE, QUIET, NOT_HEALTHY, RANK_NAMED)


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


@dataclass(frozen=True)
class Answer:
    """What triage says of one job, and which of the figures in ``FIGURES`` that is right or wrong for."""

    said: str
    rank: int | None
    marks: dict[str, tuple[bool, str]]
    """By figure: whether it is right, and what was wanted."""
    shown: str = ""
    """The evidence of the root cause."""


def logs_of(label: Path, expected: dict[str, Any]) -> list[Path]:
    """The files of the job that ``label`` is the label of."""
    return [label.parent / f for f in expected.get("files", ())] or sorted(
        p for p in label.parent.rglob("*") if p.is_file() and p.name not in NOT_LOGS
    )


def answer(expected: dict[str, Any], files: list[Path], engine: triage.Engine) -> Answer:
    """Diagnose ``files`` and hold that against the label."""
    found = engine.diagnose(files)
    accepted = expected.get("category") or ["none"]
    accepted = [accepted] if isinstance(accepted, str) else accepted
    root = found.root_cause
    said = f"{found.verdict}: " + (f"{root.rule_id} [{root.category}]" if root else "-")
    marks: dict[str, tuple[bool, str]] = {}
    if "none" in accepted:
        marks[QUIET] = (found.verdict == "healthy", "")
        return Answer(said, root.origin.rank if root else None, marks)
    marks[NOT_HEALTHY] = (found.verdict != "healthy", "")
    if root is None:
        marks[CATEGORY] = marks[TOP_THREE] = (False, f", wanted {accepted[0]}")
        return Answer(said, None, marks)
    marks[CATEGORY] = (root.category in accepted, f", wanted {accepted[0]}")
    marks[TOP_THREE] = (any(h.category in accepted for h in [root, *found.alternatives][:3]), "")
    wanted = expected.get("origin_rank")
    if wanted is not None:
        ranks = wanted if isinstance(wanted, list) else [wanted]
        right = root.origin.rank in ranks or set(root.origin.ranks) == set(ranks)
        marks[RANK] = (right, f" rank {root.origin.rank} of {list(root.origin.ranks)}, wanted {wanted}")
    elif root.origin.rank is not None:
        marks[RANK_NAMED] = (True, "")
    shown = normalised(" ".join(e.text for e in root.evidence))
    line = expected.get("key_line")
    if line:
        marks[LINE] = (normalised(str(line)) in shown, f": {line}")
    return Answer(said, root.origin.rank, marks, shown)


def main(arguments: list[str]) -> int:
    """Print the figures of all cases below the directories given."""
    quiet = "--quiet" in arguments
    directories = [a for a in arguments if not a.startswith("-")]
    if not directories:
        print(__doc__, file=sys.stderr)
        return 2
    scores = {name: Score() for name in FIGURES}
    engine = triage.Engine()
    for label in cases(directories):
        expected = yaml.safe_load(label.read_text(encoding="utf-8"))
        told = answer(expected, logs_of(label, expected), engine)
        for name, (right, wanted) in told.marks.items():
            scores[name].count(right, f"{label.parent}: {told.said}{wanted}")
    for name, score in scores.items():
        if score.total:
            print(f"{name:40} {score.right}/{score.total}")
        for words in () if quiet else score.wrong:
            print(f"    {words}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
