"""Numbers in names that may tell who writes: ``out.6.log``, ``attempt_0/6/stderr.log``, ``train-worker-6``.

The first of the pods that a LeaderWorkerSet holds together has the number of its group alone: ``vllm-0`` leads
``vllm-0-1``, ``vllm-0-2`` and so on, and is number 0 among them.
"""

from __future__ import annotations

from collections.abc import Iterator

from triage.scan.lazy import deferred

_NUMBER = deferred(r"\d{1,6}")
_DEPTH = 3
"""Last parts of a path in which a number may name the writer."""
_NOT_RANKS = deferred(
    r"(?i)(?:attempt|restart|try|epoch|step|iter|round|version|v|run|array|part|seed|fold)[._-]?$"
)
"""What stands before a number that counts something else."""
_OF_A_GROUP = deferred(
    r"(?P<group>(?:lead |own )?[a-z](?:[a-z0-9.-]*[a-z0-9])?-\d{1,4})-\0(?P<rest>(?:[./: ].*)?)"
)
"""A worker's name, its number left out; what follows is the ending of a file's name, or the name of a container."""
_CONTAINER = deferred(r"(?<=\d)[: ][a-z][a-z-]{1,40}\Z")
"""The leader's container may be called otherwise than those of its workers."""


def numbers_in(path: str) -> Iterator[tuple[str, str, int]]:
    """Folder, name without the number, and the number, for every number that may name the writer."""
    parts = path.split("/")
    first = max(0, len(parts) - _DEPTH)
    for at in range(first, len(parts)):
        part = parts[at]
        for match in _NUMBER.finditer(part):
            before, after = part[: match.start()], part[match.end() :]
            if before[-1:].isdigit() or after[:1].isdigit() or _NOT_RANKS.search(before):
                continue
            if at < len(parts) - 1 and before and not before[-1].isalnum() and after:
                continue
            folder = "/".join(parts[:at])
            yield folder, "/".join([f"{before}\0{after}", *parts[at + 1 :]]), int(match[0])


def leader_of(name: str) -> str | None:
    """The name of the pod that leads those called ``vllm-0-N``, as :func:`without_container` gives it."""
    found = _OF_A_GROUP.fullmatch(name)
    return without_container(found["group"] + found["rest"]) if found is not None else None


def without_container(name: str) -> str:
    """A pod's name, without that of the container in it."""
    return _CONTAINER.sub("", name)
