"""How well answers stand when logs change in ways that must not change them.

usage: python tools/perturb.py [--kind NAME]... [--sample N] [--seed N] [--keep DIR] DIR...

Every labelled job below a DIR (see ``tools/evaluate.py``) is diagnosed as it is and, changed by one kind of
perturbation (``tools/perturbations``), once more. For each kind the number of answers is printed that were right
before and are wrong now, by figure, and which they are. A kind that has nothing to change in a job leaves it out;
``--sample`` takes that many jobs for each kind, chosen by ``--seed``, which also seeds the changes themselves.
``--keep`` leaves the changed copies there, below the name of the kind.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evaluate import CATEGORY, LINE, NOT_HEALTHY, QUIET, RANK, Answer, answer, cases
from perturbations import KINDS, Job, folded, load

import triage

FIGURES = (CATEGORY, RANK, LINE, QUIET, NOT_HEALTHY)


@dataclass
class Loss:
    """What one kind of perturbation cost."""

    tried: int = 0
    wrong: dict[str, list[str]] = field(default_factory=lambda: {figure: [] for figure in FIGURES})
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FIGURES, 0))


class Comparison:
    """Diagnoses jobs and their changed copies; each unchanged one once."""

    def __init__(self, keep: Path | None) -> None:
        self._engine = triage.Engine()
        self._before: dict[Path, Answer] = {}
        self._keep = keep

    def before(self, job: Job) -> Answer:
        """The answer to the job as it is."""
        if job.label not in self._before:
            with tempfile.TemporaryDirectory() as folder:
                self._before[job.label] = answer(job.expected, job.write(Path(folder)), self._engine)
        return self._before[job.label]

    def after(self, job: Job, name: str) -> Answer:
        """The answer to a changed copy."""
        with tempfile.TemporaryDirectory() as folder:
            at = self._keep / name / job.name if self._keep else Path(folder)
            return answer(job.expected, job.write(at), self._engine)

    def count(self, job: Job, changed: Job, name: str, loss: Loss) -> None:
        """Add what became wrong to ``loss``."""
        before, after = self.before(job), self.after(changed, name)
        loss.tried += 1
        for figure in FIGURES:
            if not before.marks.get(figure, (False,))[0]:
                continue
            loss.right[figure] += 1
            right, wanted = after.marks.get(figure, (False, ""))
            if not right and not excused(changed, figure, after):
                loss.wrong[figure].append(f"{job.name}: {after.said}{wanted} (before: {before.said})")


def excused(job: Job, figure: str, after: Answer) -> bool:
    """Whether the changed copy may be answered so."""
    if figure == RANK:
        return job.rank_may_be_lost and after.rank is None
    if figure == LINE:
        return folded(str(job.expected["key_line"])) in folded(after.shown)
    return figure == QUIET and job.verdict_may_be_lost and not after.said.startswith("failed")


def chosen(labels: list[Path], name: str, sample: int, seed: int) -> Iterator[tuple[Job, Job]]:
    """Jobs that the kind ``name`` can change, each with its changed copy."""
    order = labels[:]
    random.Random(f"{seed} {name}").shuffle(order)
    taken = 0
    for label in order:
        if taken == sample:
            return
        job = load(label)
        changed = KINDS[name](job, random.Random(f"{seed} {name} {label.parent.name}"))
        if changed is not None:
            taken += 1
            yield job, changed


def main(arguments: list[str]) -> int:
    """Print, kind by kind, what became wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), default=[])
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("directories", nargs="+", metavar="DIR")
    given = parser.parse_args(arguments)
    comparison, labels = Comparison(given.keep), cases(given.directories)
    for name in given.kind or KINDS:
        loss = Loss()
        for job, changed in chosen(labels, name, given.sample, given.seed):
            comparison.count(job, changed, name, loss)
        figures = "  ".join(f"{f}: {len(loss.wrong[f])}/{loss.right[f]}" for f in FIGURES)
        print(f"{name:20} {loss.tried:4} jobs  {figures}")
        for figure, words in loss.wrong.items():
            for said in words:
                print(f"    {figure}: {said}")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
