"""Rank, local rank, host and attempt as far as the name of a file states them.

A wrong label is worse than none: it would blame an innocent rank or drain a healthy node. So a
number counts as a rank only where the name calls it one, a GPU index and a Slurm array index never
do, and where two readings are possible there is no label.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from posixpath import basename, dirname

from triage.model import Source
from triage.sources.constants import words

_DEPTH = 4
"""Directories above a file whose names may label it."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What a name says; None where it says nothing."""

    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    attempt: int | None = None


# rank_3 rank3 rank-003 rank.0, and not the beginning of a range (rank_0-7) or a pair (rank_0_7)
_RANK = re.compile(
    r"(?P<lead>[a-z]*)(?P<gap>[._-]?)rank[._-]?(?P<index>\d{1,6})(?![0-9a-z])(?![_-]\d{1,4}(?!\d))", re.I
)
_RANK_PREFIXES = frozenset({"", "local", "global", "world"})
_OTHER_RANKS = words(
    "node machine group role dp tp pp ep cp sp mp data tensor pipeline model expert parallel context "
    "sequence replica shard host"
)
_ATTEMPT = re.compile(r"(?:^|[._-])attempt[_-]?(\d{1,4})(?![0-9a-z])", re.I)
_TORCHRUN_FILE = re.compile(r"(?:stdout|stderr|error)\.(?:log|json)(?:\.\w+)?", re.I)
_INDEXED = re.compile(
    r"(?P<lead>(?:[\w.-]*[._-])?)(?P<word>worker|task|proc|process|trainer)(?P<gap>[_-]?)(?P<index>\d{1,5})"
    r"(?P<tail>(?:\.[a-z]+\d?)*)",
    re.I,
)
_LEADER = re.compile(r"(?:^|[._-])(?:master|head|launcher|chief|driver|leader)(?:[._-]|$)", re.I)
_POD = re.compile(r"([a-z0-9][a-z0-9-]*-(?:worker|master|launcher|head|ps|chief)-\d{1,5})(?:\.\w+)*", re.I)

_NCCL_FILE = re.compile(
    r"nccl(?:[_-]?(?:debug|log|info|out))?[._-](?P<host>[a-z0-9][a-z0-9.-]*)[._-](?P<pid>\d{2,8})(?:\.[a-z]+)*",
    re.I,
)
_PRIVATE_ADDRESS = re.compile(
    r"(?:^|(?<=[_-]))((?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3})(?![0-9])(?!\.\d)"
)
_AMAZON_HOST = re.compile(r"(?:^|(?<=[._]))(ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})(?![0-9-])", re.I)
_HOST_WORD = re.compile(r"(?:(?:gpu|compute|cpu|login)?node|nid|host|dgx|hgx|compute)(\d{0,9})", re.I)
_HARDWARE = words(
    "gpu cpu gh gb a100 a800 h100 h200 h800 b200 b300 gh200 gb200 gb300 l40s v100 mi250x mi300x mi325x dgx "
    "hgx compute hpc slurm k8s permanent preemptible spot"
)
_NOT_HOST = words(
    "slurm job jobid log logs err out output error stderr stdout train training run nccl dmesg journal kern "
    "kernel syslog messages topo topology smi nvidia sacct debug info trace of on from"
)


def labels_of(path: str, siblings: Collection[str] = ()) -> Labels:
    """What ``path`` says about who wrote the file.

    Args:
        path: as the user gave it or as it was found; only its last directories are looked at.
        siblings: base names of the files next to it. An index after ``worker`` or ``task`` counts
            as a rank only where siblings are numbered the same way.
    """
    name = basename(path)
    folders = [part for part in dirname(path).split("/") if part][-_DEPTH:]
    rank, local_rank = _ranks(name)
    for folder in reversed(folders):
        if rank is None and local_rank is None:
            rank, local_rank = _ranks(folder)
    torchrun = len(folders) > 1 and _ATTEMPT.fullmatch(folders[-2]) is not None
    if torchrun and folders[-1].isdigit() and _TORCHRUN_FILE.fullmatch(name):
        rank, local_rank = None, int(folders[-1])
    host = _host(name)
    if rank is None and local_rank is None:
        rank = _index_among(name, siblings)
    if host is None and rank is None and local_rank is None:
        pod = _POD.fullmatch(name)
        host = pod.group(1) if pod else None
    for folder in reversed(folders[-2:]):
        host = host or _host_in(folder.partition(".")[0])
    return Labels(rank, local_rank, host, _attempt(name, folders))


def is_shaped(path: str, siblings: Collection[str] = ()) -> bool:
    """True when the name says that the file is one rank's, host's or attempt's part of a job."""
    return labels_of(path, siblings) != Labels()


def labelled(sources: Iterable[Source]) -> tuple[Source, ...]:
    """``sources`` with the labels that their paths state and they don't have yet."""
    found = tuple(sources)
    names: dict[str, set[str]] = {}
    for source in found:
        if source.path is not None:
            names.setdefault(dirname(source.path), set()).add(basename(source.path))
    return tuple(
        source if source.path is None else _with(source, labels_of(source.path, names[dirname(source.path)]))
        for source in found
    )


def _with(source: Source, labels: Labels) -> Source:
    known = source.rank is not None or source.local_rank is not None
    return replace(
        source,
        rank=source.rank if known else labels.rank,
        local_rank=source.local_rank if known else labels.local_rank,
        host=source.host if source.host is not None else labels.host,
        attempt=source.attempt if source.attempt is not None else labels.attempt,
    )


def _ranks(name: str) -> tuple[int | None, int | None]:
    """The global and the local rank that one path component names."""
    ranks: set[int] = set()
    local: set[int] = set()
    for match in _RANK.finditer(name):
        lead, index = match["lead"].lower(), int(match["index"])
        if lead in _OTHER_RANKS:
            continue
        if not match["gap"] and lead not in _RANK_PREFIXES:
            continue
        (local if lead == "local" else ranks).add(index)
    return (
        ranks.pop() if len(ranks) == 1 else None,
        local.pop() if len(local) == 1 else None,
    )


def _attempt(name: str, folders: list[str]) -> int | None:
    matches = [_ATTEMPT.search(name), *(_ATTEMPT.fullmatch(folder) for folder in reversed(folders))]
    return next((int(match[1]) for match in matches if match), None)


def _index_among(name: str, siblings: Collection[str]) -> int | None:
    """The index of ``worker_5.log`` among files of its kind, if it can be nothing but a rank."""
    match = _INDEXED.fullmatch(name)
    if match is None or _POD.fullmatch(name):
        return None
    if any(_LEADER.search(sibling) for sibling in siblings):
        return None  # the leader is rank 0 then, and the workers count from another
    for sibling in siblings:
        other = _INDEXED.fullmatch(sibling)
        if other and other["index"] != match["index"] and _shape(other) == _shape(match):
            return int(match["index"])
    return None


def _shape(match: re.Match[str]) -> tuple[str, ...]:
    return match["lead"], match["word"], match["gap"], match["tail"]


def _host(name: str) -> str | None:
    """The host that one path component names."""
    match = _NCCL_FILE.fullmatch(name)
    if (
        match
        and re.search(r"\d", match["host"])
        and not match["host"].isdigit()
        and "rank" not in name.lower()
    ):
        return match["host"]
    for pattern in (_PRIVATE_ADDRESS, _AMAZON_HOST):
        found = pattern.search(name)
        if found:
            return found[1]
    hosts = {host for piece in re.split(r"[._]", name) if (host := _host_in(piece))}
    return hosts.pop() if len(hosts) == 1 else None


def _host_in(piece: str) -> str | None:
    """The host name that ``piece``, a part of a name without dots and underscores, consists of."""
    words = piece.split("-")
    while words and (words[0].lower() in _NOT_HOST or words[0].isdigit()):
        del words[0]
    while words and words[-1].lower() in _NOT_HOST:
        del words[-1]
    for at, word in enumerate(words):
        match = _HOST_WORD.fullmatch(word)
        if match is None:
            if word.lower() in _HARDWARE:
                continue
            return None
        rest = words[at + 1 :]
        if match[1]:
            return "-".join(words) if not rest else None
        while rest and rest[0].lower() in _HARDWARE | {"node"}:
            del rest[0]
        numbered = re.fullmatch(r"\d{1,6}(?:-\d{1,3})?", "-".join(rest)) is not None
        return "-".join(words) if numbered else None
    return None
