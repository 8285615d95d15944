"""``triage slurm sweep --since 24h``: the failures of a period as tables; or into the worker's queue."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.errors import UsageError

if TYPE_CHECKING:
    from triage.slurm.record import JobRecord
    from triage.slurm.spool import Spool


def sweep(options: argparse.Namespace) -> int:
    """Judge what failed and print the tables; returns the exit code."""
    from triage.slurm.query import Slurm
    from triage.slurm.spool import DEFAULT, Spool
    from triage.slurm.sweep import is_failure, summarise, table
    from triage.slurm.trust import require_trusted

    since = time.time() - period(options.since)
    runs = [j for j in Slurm().ended_since(since) if not options.user or j.user == options.user]
    failures = [j for j in runs if is_failure(j)]
    spool = Spool(options.spool or DEFAULT)
    if options.enqueue:
        count = enqueue(spool, failures)
        print(
            f"triage: {count} of {len(failures)} failed jobs were unknown to the worker and are queued",
            file=sys.stderr,
        )
        return 0
    from triage.engine import Engine
    from triage.slurm.judging import Judges
    from triage.slurm.warm import warm

    for directory in options.rules:
        require_trusted(directory)
    engine = Engine(options.rules, threads=1)
    if os.geteuid() == 0:
        warm(engine)
    judges = Judges(engine, spool.nodes, at_once=options.at_once, least_uid=options.min_uid)
    results, problems = judges.judge(failures)
    summary = summarise(runs, results)
    if options.format == "json":
        print(json.dumps(summary.to_dict(), indent=2))
    else:
        print(table(summary), end="")
    for problem in problems:
        print(f"triage: {problem}", file=sys.stderr)
    return 0 if options.exit_zero or not summary.failed else 1


def enqueue(spool: Spool, jobs: Sequence[JobRecord]) -> int:
    """Queue the jobs that have no decision yet, as a hook would have; returns how many."""
    from triage.slurm.writing import replace_file

    count = 0
    for job in jobs:
        if (spool.decisions / f"{job.job_id}.json").exists():
            continue
        facts = {
            "JOBID": job.job_id, "JOBSTATE": job.state, "UID": job.uid, "GID": job.gid, "USERNAME": job.user,
            "JOBNAME": job.name, "EXITCODE": f"{job.exit_code or 0}:{job.signal or 0}", "NODES": ",".join(job.nodes),
            "START": int(job.start or 0), "END": int(job.end or 0), "WORK_DIR": job.work_dir,
            "ARRAYJOBID": job.array_job_id or 0, "ARRAYTASKID": job.array_task_id,
        }  # fmt: skip
        data = b"\0".join(f"{k}={v}".encode() for k, v in facts.items() if v is not None)
        try:
            replace_file(str(spool.new), f"job-{job.job_id}-{int(job.start or 0)}-sweep", data, 0o640)
        except OSError as error:
            raise UsageError(f"{spool.new}: {error.strerror}") from None
        count += 1
    return count


def period(text: str) -> float:
    """``24h``, ``90m``, ``7d`` as seconds.

    Raises:
        UsageError: when it is not a period.
    """
    match = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no period; examples: 90m, 24h, 7d")
    return float(int(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}[match[2]])
