"""Which files belong to which job, by Slurm job ids in names, directories and stems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from posixpath import basename, commonpath, dirname

from triage.model import Source
from triage.sources.constants import words
from triage.sources.labels import Labels, labelled, labels_of

_LARGEST_ID = 67_108_863
"""Slurm job ids are 26 bits wide."""

_SLURM = r"(?i)(?:^|[._-])slurm[._-]?(\d{1,10}(?:_\d+)?)(?![0-9a-z])"
_JOB = r"(?i)(?:^|[._-])job[._-]?(?:id)?[._=-]?([1-9]\d{2,9})(?![0-9a-z])(?!-\d\d-\d\d)"
_BATCH = r"\.[oe](\d{3,10})(?:\.\d+)?$"
_OUTPUT = r"(?i)[._-](\d{5,8})(?:_\d{1,6})?(?:\.(?:out|err|stdout|stderr))+(?:\.(?:gz|bz2|xz|zst))?$"
_DATE = r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_NUMBERED_BY_PID = r"(?i)(?:nccl|core|worker|python-core|raylet|gcs_server|io_worker)(?![a-z])"
_GENERIC = words(
    "log logs stdout stderr out output err error errors trace traces dump dumps nccl_trace flight_recorder "
    "dmesg sacct"
)
_ENDINGS = words("out err log txt json stdout stderr gz bz2 xz zst")


def job_id_of(name: str) -> str | None:
    """The batch job id that a file name states, array index included (``123_4``), else None.

    It is recognised in ``slurm-123.out`` and ``slurm-123_4.out``, after ``job`` (``job-12345.err``),
    as ``script.o12345``, and as the last long number of an ``.out`` or ``.err`` (``train-123456.out``)
    unless that is a date or a process id.
    """
    name = basename(name)
    match = re.search(_SLURM, name)
    if match:
        return match[1]
    match = re.search(_JOB, name) or re.search(_BATCH, name)
    if match:
        return None if re.fullmatch(_DATE, match[1]) else match[1]
    match = re.search(_OUTPUT, name)
    if match is None or re.match(_NUMBERED_BY_PID, name) or re.fullmatch(_DATE, match[1]):
        return None
    return match[1] if int(match[1]) <= _LARGEST_ID else None


def group_jobs(sources: Sequence[Source]) -> list[list[Source]]:
    """Split the files of many jobs: a list of sources per job, in order of first appearance.

    Files go together that state the same job id; else those below the same sub-directory of what
    all have in common (directories of attempts, ranks and hosts, and ones called ``logs``, don't
    count); else, when any file left is one rank's or host's, all that are left; else ``x.out`` and
    ``x.err`` but no others.
    """
    root = _root(source.path for source in sources if source.path is not None)
    keys = [_key(source, root) for source in sources]
    shaped = any(
        key is None and source.path is not None and (dirname(source.path) != root or _is_labelled(source))
        for source, key in zip(labelled(sources), keys, strict=True)
    )
    groups: dict[tuple[str, str], list[Source]] = {}
    for source, key in zip(sources, keys, strict=True):
        if key is None:
            key = ("shared", "") if shaped and source.path is not None else ("stem", _stem(source))
        groups.setdefault(key, []).append(source)
    return list(groups.values())


def _root(paths: Iterable[str]) -> str:
    folders = {dirname(path) for path in paths}
    if not folders or len({folder.startswith("/") for folder in folders}) > 1:
        return ""
    return commonpath(folders)


def _key(source: Source, root: str) -> tuple[str, str] | None:
    """What tells the job of ``source`` from others; None when only its stem could."""
    job = job_id_of(source.path if source.path is not None else source.name)
    if job is not None:
        return "id", job
    if source.path is None:
        return None
    folder = dirname(source.path)
    below = folder[len(root) :].strip("/") if folder != root else ""
    first = below.split("/", 1)[0]
    if not first or first.lower() in _GENERIC or (first.isdigit() and len(first) < 4):
        return None
    return None if labels_of(first) != Labels() or _is_member(first) else ("folder", first)


def _is_labelled(source: Source) -> bool:
    labels = (source.rank, source.local_rank, source.host, source.attempt)
    return any(label is not None for label in labels)


def _is_member(folder: str) -> bool:
    """True for the directory of one rank or host of a job, by a name that is no label by itself."""
    return (
        re.fullmatch(r"(?:worker|task|proc|process|trainer|node|gpu|host)[._-]?\d+", folder, re.I) is not None
    )


def _stem(source: Source) -> str:
    parts = basename(source.path if source.path is not None else source.name).split(".")
    while len(parts) > 1 and (parts[-1].lower() in _ENDINGS or parts[-1].isdigit()):
        parts.pop()
    return ".".join(parts)
