"""Rank, local rank, host and attempt as far as the name of a file states them.

A wrong label is worse than none: it would blame an innocent rank or drain a healthy node. So a
number counts as a rank only where the name calls it one, a GPU index and a Slurm array index never
do, and where two readings are possible there is no label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from posixpath import basename, dirname

from triage.model import Source
from triage.sources.constants import words
from triage.sources.grids import seats
from triage.sources.hosts import POD, host_in_file_name, host_in_folder_name

_DEPTH = 4
"""Directories above a file whose names may label it."""


def stem(path: str) -> str:
    """The name of a file up to its first dot."""
    return basename(path.rstrip("/")).partition(".")[0]


@dataclass(slots=True, repr=False)
class Labels:
    """What a name says; None where it says nothing."""

    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    attempt: int | None = None


# rank_3 rank3 rank-003 rank.0 "global rank 3", and not the beginning of a range (rank_0-7) or a pair (rank_0_7)
_RANK = r"(?i)(?P<lead>[a-z]*)(?P<gap>[._ -]?)rank[._ -]?(?P<index>\d{1,6})(?![0-9a-z])(?![_-]\d{1,4}(?!\d))"
_RANK_PREFIXES = frozenset({"", "local", "global", "world", "mpi"})
_OTHER_RANKS = words(
    "node machine group role dp tp pp ep cp sp mp data tensor pipeline model expert parallel context "
    "sequence replica shard host"
)
_ATTEMPT = r"(?i)(?:^|[._-])attempt[_-]?(\d{1,4})(?![0-9a-z])"
_TORCHRUN_FILE = r"(?i)(?:stdout|stderr|error)\.(?:log|json)(?:\.\w+)?"
_PADDLE_FILE = r"workerlog\.(\d{1,4})"
"""How Paddle's launcher calls what the trainers of a node write."""
_INDEXED = (
    r"(?i)(?P<lead>(?:[\w.-]*[._-])?)(?P<word>worker|task|proc|process|trainer)(?P<gap>[_-]?)(?P<index>\d{1,5})"
    r"(?P<tail>(?:\.[a-z]+\d?)*)"
)
_LEADER = r"(?i)(?:^|[._-])(?:master|head|launcher|chief|driver|leader)(?:[._-]|$)"

_Shape = tuple[str, ...]


def labels_of(path: str, siblings: Iterable[str] = ()) -> Labels:
    """What ``path`` says about who wrote the file.

    Args:
        path: as the user gave it or as it was found; only its last directories are looked at.
        siblings: base names of the files next to it. An index after ``worker`` or ``task`` counts
            as a rank only where siblings are numbered the same way.
    """
    return _labels(path, _Family(siblings))


def labelled(sources: Iterable[Source]) -> tuple[Source, ...]:
    """``sources`` with the labels that their paths state and they don't have yet.

    A rank that the files of two hosts name alike is counted on each of them: it is a local rank.
    """
    found = tuple(sources)
    names: dict[str, list[str]] = {}
    for source in found:
        if source.path is not None:
            names.setdefault(dirname(source.path), []).append(basename(source.path))
    families = {folder: _Family(members) for folder, members in names.items()}
    labels = [
        Labels() if source.path is None else _labels(source.path, families[dirname(source.path)])
        for source in found
    ]
    hosts: dict[tuple[int, int | None], set[str]] = {}
    for one in labels:
        if one.host is not None and one.rank is not None:
            hosts.setdefault((one.rank, one.attempt), set()).add(one.host)
    if any(len(names) > 1 for names in hosts.values()):
        labels = [_on_its_host(one) for one in labels]
    labels = _within_nodes(labels, [source.path or "" for source in found])
    return tuple(_with(source, one) for source, one in zip(found, labels, strict=True))


def _on_its_host(labels: Labels) -> Labels:
    if labels.host is None or labels.rank is None or labels.local_rank is not None:
        return labels
    return replace(labels, rank=None, local_rank=labels.rank)


def _within_nodes(labels: list[Labels], paths: Sequence[str]) -> list[Labels]:
    """``labels`` with local ranks for ranks that come again on every node, as ``node_1_rank_2.log`` counts them."""
    ranked = [index for index, one in enumerate(labels) if one.rank is not None]
    placed = seats([paths[index] for index in ranked])
    if len(placed) < len(ranked) or any(own != labels[ranked[at]].rank for at, (_, own, _) in placed.items()):
        return labels
    return [replace(one, rank=None, local_rank=one.rank) if one.rank is not None else one for one in labels]


class _Family:
    """How the files of one directory are numbered."""

    def __init__(self, names: Iterable[str]) -> None:
        self.led = False
        self.indices: dict[_Shape, set[int]] = {}
        for name in names:
            match = _indexed(name)
            if match:
                self.indices.setdefault(_shape(match), set()).add(int(match["index"]))
            self.led = self.led or re.search(_LEADER, name) is not None


def _labels(path: str, family: _Family) -> Labels:
    name = basename(path)
    folders = [part for part in dirname(path).split("/") if part][-_DEPTH:]
    rank, local_rank = _ranks(name)
    for folder in reversed(folders):
        if rank is None and local_rank is None:
            rank, local_rank = _ranks(folder, whole=True)
    if _is_torchrun(name, folders):
        rank, local_rank = None, int(folders[-1])
    of_paddle = re.fullmatch(_PADDLE_FILE, name)
    if of_paddle is not None:
        rank, local_rank = None, int(of_paddle[1])
    if rank is None and local_rank is None:
        rank = _index_among(name, family)
    host = host_in_file_name(name)
    # what torchrun itself calls its folders names no host, what it was told to write below may
    near = folders[:-3] if _is_torchrun(name, folders) else folders[-2:]
    for folder in reversed(near):
        host = host or host_in_folder_name(folder)
    return Labels(rank, local_rank, host, _attempt(name, folders))


def _is_torchrun(name: str, folders: list[str]) -> bool:
    """True for ``attempt_<attempt>/<local rank>/stderr.log``, as ``torchrun --log-dir`` lays it out."""
    if len(folders) < 2 or not folders[-1].isdecimal():
        return False
    return bool(re.fullmatch(_ATTEMPT, folders[-2]) and re.fullmatch(_TORCHRUN_FILE, name))


def _with(source: Source, labels: Labels) -> Source:
    known = source.rank is not None or source.local_rank is not None
    return replace(
        source,
        rank=source.rank if known else labels.rank,
        local_rank=source.local_rank if known else labels.local_rank,
        host=source.host if source.host is not None else labels.host,
        attempt=source.attempt if source.attempt is not None else labels.attempt,
    )


def _ranks(name: str, whole: bool = False) -> tuple[int | None, int | None]:
    """The global and the local rank that one path component names, or is named after as a ``whole``."""
    ranks: set[int] = set()
    local: set[int] = set()
    if "rank" not in name.lower() or "lora" in name.lower():
        return None, None  # or that of a matrix
    for match in re.finditer(_RANK, name):
        lead = match["lead"].lower()
        if lead in _OTHER_RANKS or (not match["gap"] and lead not in _RANK_PREFIXES):
            continue
        if whole and (match[0] != name or lead not in _RANK_PREFIXES):
            continue
        (local if lead == "local" else ranks).add(int(match["index"]))
    return (ranks.pop() if len(ranks) == 1 else None, local.pop() if len(local) == 1 else None)


def _attempt(name: str, folders: list[str]) -> int | None:
    folders = [folder for folder in folders if "attempt" in folder.lower()]
    inside = re.search(_ATTEMPT, name) if "attempt" in name.lower() else None
    matches = [inside, *(re.fullmatch(_ATTEMPT, folder) for folder in reversed(folders))]
    return next((int(match[1]) for match in matches if match), None)


def _index_among(name: str, family: _Family) -> int | None:
    """The index of ``worker_5.log`` among files of its kind, if it can be nothing but a rank."""
    match = _indexed(name)
    if match is None or re.fullmatch(POD, name):
        return None
    index = int(match["index"])
    if min(family.indices.get(_shape(match), {0})) >= _PIDS:
        return None
    # where there is a leader it is rank 0, and the workers count from another
    return None if family.led or not family.indices.get(_shape(match), set()) - {index} else index


_PIDS = 300
"""From where on numbers of which none is lower are those of processes."""


def _indexed(name: str) -> re.Match[str] | None:
    """What a name with a number says of whose file it is; most have none, and nothing is compiled for them."""
    return re.fullmatch(_INDEXED, name) if any(map(str.isdecimal, name)) else None


def _shape(match: re.Match[str]) -> _Shape:
    return match["lead"], match["word"], match["gap"], match["tail"]
