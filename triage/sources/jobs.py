"""Which files belong to which job, by Slurm job ids in names, directories and stems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from posixpath import basename, commonpath, dirname

from triage.model import Source
from triage.sources.constants import words
from triage.sources.labels import is_shaped

_LARGEST_ID = 67_108_863
"""Slurm job ids are 26 bits wide."""

_SLURM = re.compile(r"(?:^|[._-])slurm[._-]?(\d{1,10}(?:_\d+)?)(?![0-9a-z])", re.I)
_JOB = re.compile(r"(?:^|[._-])job[._-]?(?:id)?[._=-]?([1-9]\d{2,9})(?![0-9a-z])(?!-\d\d-\d\d)", re.I)
_BATCH = re.compile(r"\.[oe](\d{3,10})(?:\.\d+)?$")
_OUTPUT = re.compile(
    r"[._-](\d{5,8})(?:_\d{1,6})?(?:\.(?:out|err|stdout|stderr))+(?:\.(?:gz|bz2|xz|zst))?$", re.I
)
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_NUMBERED_BY_PID = re.compile(r"(?:nccl|core|worker|python-core|raylet|gcs_server|io_worker)(?![a-z])", re.I)
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
    match = _SLURM.search(name)
    if match:
        return match[1]
    match = _JOB.search(name) or _BATCH.search(name)
    if match:
        return None if _DATE.fullmatch(match[1]) else match[1]
    match = _OUTPUT.search(name)
    if match is None or _NUMBERED_BY_PID.match(name) or _DATE.fullmatch(match[1]):
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
    names: dict[str, set[str]] = {}
    for source in sources:
        if source.path is not None:
            names.setdefault(dirname(source.path), set()).add(basename(source.path))
    keys: list[tuple[str, str] | None] = []
    shaped = False
    for source in sources:
        key = _key(source, root)
        keys.append(key)
        if key is None and source.path is not None:
            inside = dirname(source.path) != root
            shaped = shaped or inside or is_shaped(source.path, names[dirname(source.path)])
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
    return None if is_shaped(first) or _is_member(first) else ("folder", first)


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
