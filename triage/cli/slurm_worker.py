"""``triage slurm worker``: take the queue that the hooks fill."""

from __future__ import annotations

import argparse
import os
import shlex
import sys


def work(options: argparse.Namespace) -> int:
    """Work until told to stop, or once; returns the exit code."""
    from triage.engine import Engine
    from triage.slurm.command import run
    from triage.slurm.judging import Judges
    from triage.slurm.notify import Comments
    from triage.slurm.query import Slurm
    from triage.slurm.spool import DEFAULT, Spool
    from triage.slurm.trust import require_trusted
    from triage.slurm.warm import warm
    from triage.slurm.worker import Pass, Settings, Worker

    for directory in options.rules:
        require_trusted(directory)
    settings = Settings(
        settle=options.settle,
        comments_per_minute=options.comments,
        command=tuple(shlex.split(options.command)) if options.command else (),
        command_user=options.run_as,
    )
    comments = Comments(run, options.comments) if options.comments else None
    # one thread: children are forked from this process
    engine = Engine(options.rules, threads=1)
    warm(engine)
    spool = Spool(options.spool or DEFAULT)
    judges = Judges(engine, spool.nodes, at_once=options.at_once, least_uid=options.min_uid)
    worker = Worker(spool, judges, Slurm(), settings, comments)

    def report(done: Pass) -> None:
        print(
            f"triage: {done.judged} jobs judged, {len(done.reports)} reports, {done.waiting} wait for accounting",
            file=sys.stderr, flush=True,
        )  # fmt: skip
        for problem in done.problems:
            print(f"triage: {problem}", file=sys.stderr, flush=True)

    if os.geteuid() != 0:
        print("triage: not root: jobs of other users are judged from accounting alone", file=sys.stderr)
    try:
        if options.once:
            report(worker.once())
        else:
            worker.forever(report=report)
    finally:
        worker.close()
    return 0
