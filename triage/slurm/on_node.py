"""``python3 -I -m triage.slurm.on_node``: what the node epilog starts on a job's first node.

It runs as the job's user already, with the hook's environment and the node's kernel log on standard
input, and is killed when the epilog's budget is used up; the worker then does what it could not.
"""

from __future__ import annotations

import os
import sys

LIMIT = 512 << 20
MAX_EVIDENCE = 4 << 20


def main() -> int:
    """Judge the job and write its report next to its log; always 0."""
    if os.geteuid() == 0:
        return 0  # never with root's rights
    from triage.engine import Engine
    from triage.model import Source
    from triage.slurm import hookenv
    from triage.slurm.facts import guessed
    from triage.slurm.identity import User, become
    from triage.slurm.postmortem import examine
    from triage.slurm.snapshots import since
    from triage.slurm.writing import write_report

    job = hookenv.parse(os.environ)
    if job is None:
        return 0
    node = os.environ.get("SLURMD_NODENAME")
    # ids are changed already; this takes the rest: capabilities, new privileges, the environment
    become(User(os.getuid(), os.getgid()))
    kernel = sys.stdin.buffer.read(MAX_EVIDENCE)
    # without a start nobody knows which of these lines are the job's; the worker asks accounting
    kernel = since(kernel, job.start) if job.start is not None else b""
    evidence = [Source(f"kernel log of {node}", data=kernel, host=node)] if kernel else []
    result = examine(Engine(), guessed(job), evidence=evidence, uid=os.geteuid(), limit=LIMIT)
    if result.diagnosis.verdict == "failed" and result.log is not None:
        folder = result.log.rpartition("/")[0] or "/"
        write_report([folder], f"triage-{job.display_id}", ".md", result.diagnosis.to_markdown().encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
