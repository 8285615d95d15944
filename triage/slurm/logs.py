"""Which files hold a job's output: the named ones, per-rank and per-node ones, and those that carry its id."""

from __future__ import annotations

import glob
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from triage.model import Source
from triage.slurm.patterns import Expanded, default_name, expand
from triage.slurm.reading import LogFile, RefusedError, open_log
from triage.slurm.record import JobRecord

MAX_FILES = 512
MAX_LISTED = 20_000
DEFAULT_LIMIT = 8 << 30
_LOG = re.compile(r"(?i)\.(?:out|err|log|txt|stdout|stderr|json|jsonl|o|e)(?:[._-]?\d{1,6})?$|\.(?:o|e)\d+$")
_OWN_REPORT = re.compile(r"triage-[\w+.-]+\.(?:md|json)$")


@dataclass(slots=True)
class Logs:
    """The open logs of one job, and a note for everything that was named and not read."""

    files: list[LogFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    primary: str | None = None
    """The job's standard error, else its standard output: where a person looks first."""

    def sources(self) -> tuple[Source, ...]:
        """The logs for the engine, labelled by their names."""
        from triage.sources.labels import labels_of

        names = [posixpath.basename(f.path) for f in self.files]
        found: list[Source] = []
        for file in self.files:
            labels = labels_of(file.path, names)
            found.append(
                Source(file.path, stream=file, rank=labels.rank, local_rank=labels.local_rank, host=labels.host,
                       attempt=labels.attempt)
            )  # fmt: skip
        return tuple(found)

    def close(self) -> None:
        """Close all files."""
        for file in self.files:
            file.close()


def open_logs(job: JobRecord, *, uid: int | None, limit: int = DEFAULT_LIMIT, follow: bool = False) -> Logs:
    """Open everything that the job's user may read of its output. The caller has become that user."""
    logs = Logs()
    left = limit
    seen: set[str] = set()
    for path, named in islice(_paths(job, logs), MAX_FILES):
        if path in seen:
            continue
        seen.add(path)
        try:
            file = open_log(path, uid, limit=max(left, 0), follow=follow)
        except RefusedError as reason:
            if named:
                logs.notes.append(f"{path} was not read: {reason}")
            continue
        left -= min(file.size, left)
        if file.skipped:
            logs.notes.append(
                f"{path}: {file.skipped} bytes in its middle were not read; line numbers after them are too small"
            )
        logs.files.append(file)
        if named and logs.primary is None:
            logs.primary = path
    return logs


def named_outputs(job: JobRecord) -> tuple[Expanded, ...]:
    """The output files that Slurm was told about, standard error first; one when both go to one file."""
    patterns: list[tuple[str | None, str | None]] = [(job.stderr, "batch"), (job.stdout, "batch")]
    if not job.stdout and not job.stderr:
        patterns += [(p, "batch") for p in _from_command_line(job.submit_line)] or [
            (default_name(job), "batch")
        ]
    for step in job.steps:
        patterns += [(step.stderr, step.id), (step.stdout, step.id)]
    found: dict[Expanded, None] = {}
    for pattern, step_id in patterns:
        where = expand(pattern, job, step_id)
        if where is not None:
            found[where] = None
    return tuple(found)


def _paths(job: JobRecord, logs: Logs) -> Iterator[tuple[str, bool]]:
    """Candidate files and whether Slurm named them."""
    folders: dict[str, None] = {}
    for output in named_outputs(job):
        folders[posixpath.dirname(output.path)] = None
        if not output.wild:
            yield output.path, True
            continue
        matches = sorted(islice(glob.iglob(output.path), MAX_FILES))
        if not matches:
            logs.notes.append(f"no file matches {output.path}")
        for path in matches:
            yield path, True
    if job.work_dir and job.work_dir.startswith("/"):
        folders[job.work_dir] = None
        folders[posixpath.join(job.work_dir, "logs")] = None
    for folder in folders:
        for path in _with_id(folder, job):
            yield path, False


def _with_id(folder: str, job: JobRecord) -> Sequence[str]:
    """Logs in a folder whose names carry the job's id; of an array task both of its numbers."""
    if re.search(r"[*?\[]", folder):
        return ()
    ids = {str(job.job_id)}
    if job.array_job_id and job.array_task_id is not None:
        ids = {
            str(job.job_id),
            f"{job.array_job_id}_{job.array_task_id}",
            f"{job.array_job_id}-{job.array_task_id}",
        }
        if job.job_id == job.array_job_id:
            ids.discard(str(job.job_id))  # the last task has the array's own id
    pattern = re.compile(rf"(?<!\d)(?:{'|'.join(sorted(ids))})(?!\d)")
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MAX_LISTED):
                name = entry.name
                if pattern.search(name) and _LOG.search(name) and not _OWN_REPORT.match(name):
                    found.append(posixpath.join(folder, name))
    except OSError:
        return ()
    return sorted(found)[:MAX_FILES]


def _from_command_line(line: str | None) -> list[str]:
    """``--output`` and ``--error`` of an ``sbatch`` line, for releases that record no paths."""
    words = (line or "").split()
    found: list[str] = []
    for at, word in enumerate(words):
        match = re.match(r"--(?:output|error)=(.+)", word) or re.match(r"-[oe](\S+)", word)
        if match:
            found.append(match[1])
        elif word.startswith("--wrap"):
            break  # a command line of its own
        elif word in {"-o", "-e", "--output", "--error"} and at + 1 < len(words):
            found.append(words[at + 1])
        elif (
            at
            and not word.startswith("-")
            and words[0].endswith("sbatch")
            and not words[at - 1].startswith("-")
        ):
            break  # the script: what follows are its own arguments
    return found
