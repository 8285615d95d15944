"""Output file names as Slurm forms them: ``%j`` and its relatives filled in, or left as a glob.

What differs between nodes and tasks (``%N %n %t``) and what the accounting does not tell becomes a
wildcard; so does ``%s`` of steps that are unknown. Verified against Slurm 22.05: ``%A`` of a job
without an array is the job id, ``%a`` is 4294967294, ``%J`` of the batch script is the job id alone,
``%s`` is ``batch``, and ``%N`` is the host's short name, which need not be Slurm's name of the node.
"""

from __future__ import annotations

import os.path
import re
from dataclasses import dataclass

from triage.slurm.record import UNSET, JobRecord

_SPECIFIER = r"%(\d{0,3})([%AabJjNnstuxWw])"
_MAX_PADDING = 10
_MAX_LENGTH = 4096


@dataclass(frozen=True, slots=True)
class Expanded:
    """An output file name: ``path``, a glob when ``wild``, else literal."""

    path: str
    wild: bool


def expand(pattern: str | None, job: JobRecord, step: str | None = "batch") -> Expanded | None:
    """The file that ``pattern`` names for ``job``, made absolute; None when there is no file.

    ``step`` is ``batch``, a step's number, or None for any step.
    """
    if not pattern or pattern == "/dev/null" or "\0" in pattern or len(pattern) > _MAX_LENGTH:
        return None
    path, wild = (
        # a backslash anywhere switches the replacement off
        (pattern.replace("\\", ""), False) if "\\" in pattern else _filled(pattern, job, step)
    )
    if not path.startswith("/"):
        if not job.work_dir or not job.work_dir.startswith("/"):
            return None
        base = _literal(job.work_dir) if wild else job.work_dir
        path = f"{base}/{path}"
    return Expanded(os.path.normpath(path), wild)


def default_name(job: JobRecord) -> str:
    """What ``sbatch`` uses when no output is named."""
    return "slurm-%A_%a.out" if job.array_job_id else "slurm-%j.out"


def _filled(pattern: str, job: JobRecord, step: str | None) -> tuple[str, bool]:
    pieces: list[tuple[str, bool]] = []
    at = 0
    for match in re.finditer(_SPECIFIER, pattern):
        pieces.append((pattern[at : match.start()], False))
        pieces.append(_value(match[2], min(int(match[1] or 0), _MAX_PADDING), match[0], job, step))
        at = match.end()
    pieces.append((pattern[at:], False))
    wild = any(is_glob for _, is_glob in pieces)
    return "".join(text if is_glob or not wild else _literal(text) for text, is_glob in pieces), wild


def _value(letter: str, width: int, raw: str, job: JobRecord, step: str | None) -> tuple[str, bool]:
    """The text for one token and whether it is a wildcard."""
    batch = step == "batch"
    task = UNSET if job.array_task_id is None else job.array_task_id
    master = job.array_job_id or job.job_id
    match letter:
        case "%":
            return "%", False
        case "j":
            return f"{job.job_id:0{width}d}", False
        case "A":
            return f"{master:0{width}d}", False
        case "a":
            return f"{task:0{width}d}", False
        case "b":
            # releases before 23.11 leave it as it is
            return (f"{task % 10:0{width}d}", False) if job.array_job_id else ("*", True)
        case "J":
            return (str(job.job_id), False) if batch else (f"{job.job_id}.{step or '*'}", step is None)
        case "s":
            return (step, False) if step else ("*", True)
        case "n" | "t" if batch:
            return f"{0:0{width}d}", False
        case "u" if job.user:
            return job.user, False
        case "x" if job.name:
            return job.name.replace("/", "_"), False
        case "W" | "w":
            return raw, False
    return "*", True


def _literal(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)
