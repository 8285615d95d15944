"""``triage slurm``: the post-mortem of a job, of a queue of them, of a period."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from triage.cli.diagnose import EXIT_CODES
from triage.errors import UsageError

if TYPE_CHECKING:
    from triage.engine import Engine
    from triage.slurm.record import JobRecord

_MAX_JOBS = 50
_READ_TIMEOUT = 600.0


def execute(options: argparse.Namespace) -> int:
    """Run one of the commands; returns the exit code."""
    if options.what == "worker":
        from triage.cli.slurm_worker import work

        return work(options)
    if options.what == "sweep":
        from triage.cli.slurm_sweep import sweep

        return sweep(options)
    return _job(options)


def _job(options: argparse.Namespace) -> int:
    """``triage slurm JOBID``: every array task and het component that did not complete, else all."""
    from triage.engine import Engine
    from triage.slurm.query import Slurm

    jobs = Slurm().job(options.what)
    if not jobs:
        raise UsageError(f"Slurm knows no job {options.what}")
    ended = [j for j in jobs if j.over or j.state in {"PENDING", None}]
    # a job asks about itself while it runs, from a trap of its script: then its logs so far are judged
    failed = [j for j in ended if j.state != "COMPLETED"] or ended or list(jobs)
    engine = Engine(options.rules)
    if os.geteuid() == 0:
        from triage.slurm.trust import require_trusted
        from triage.slurm.warm import warm

        for directory in options.rules:
            require_trusted(directory)
        warm(engine)
    answers = [_answer(engine, job, options) for job in failed[:_MAX_JOBS]]
    if options.format == "json":
        reports = [a["report"] for a in answers]
        print(json.dumps(reports[0] if len(reports) == 1 else reports, indent=2, ensure_ascii=False))
    else:
        for job, answer in zip(failed, answers, strict=False):
            if options.format != "oneline":
                print(f"== job {job.display_id}: {job.state}\n")
            print(answer["report"].rstrip("\n"))
            if options.format != "oneline":
                print(f"\nrequeue: {_requeue(answer['requeue'])}\n")
    for remark in _remarks(len(failed), len(jobs) - len(ended), len(jobs)):
        print(f"triage: {remark}", file=sys.stderr)
    if options.exit_zero:
        return 0
    verdicts = {a["verdict"] for a in answers}
    worst = next((v for v in ("failed", "inconclusive") if v in verdicts), "healthy")
    return EXIT_CODES[worst] if answers else EXIT_CODES["inconclusive"]


def _answer(engine: Engine, job: JobRecord, options: argparse.Namespace) -> dict[str, Any]:
    """Verdict, report and requeue decision for one job, read as the job's user when this is root."""
    width = max(40, min(shutil.get_terminal_size((80, 24)).columns, 120))
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    from triage.report import render
    from triage.slurm.postmortem import examine

    def look(uid: int | None, follow: bool) -> dict[str, Any]:
        result = examine(engine, job, uid=uid, follow=follow)
        if options.format == "json":
            report: Any = result.to_dict()
        elif options.format == "text":
            report = render(
                result.diagnosis,
                "text",
                width=width,
                color=color,
                verbose=options.verbose,
                explain=options.explain,
            )
        else:
            report = render(result.diagnosis, options.format)
        return {"verdict": result.diagnosis.verdict, "report": report, "requeue": result.requeue}

    if os.geteuid() == 0 and job.uid:
        # root's rights are never lent to a path that a user chose
        from triage.slurm.identity import as_user, look_up

        output = as_user(
            look_up(job.uid, job.gid), lambda: json.dumps(look(job.uid, False)).encode(), _READ_TIMEOUT
        )
        answer: dict[str, Any] = json.loads(output)
        return answer
    return look(None, True)


def _requeue(decision: dict[str, Any]) -> str:
    nodes = decision.get("exclude_nodes")
    where = f" without {','.join(nodes)}" if nodes else ""
    return f"{'yes' + where if decision.get('requeue') else 'no'} ({decision.get('why')})"


def _remarks(failed: int, running: int, total: int) -> Sequence[str]:
    remarks: list[str] = []
    if running:
        judged = "are judged from their logs so far" if running == total else "are not judged"
        remarks.append(f"{running} of {total} still run and {judged}")
    if failed > _MAX_JOBS:
        remarks.append(f"{_MAX_JOBS} of {failed} are shown; `triage slurm sweep` groups many")
    return remarks
