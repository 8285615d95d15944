"""The queue between hooks and worker: one small file per job, claimed by renaming, deleted when done.

::

    <spool>/queue/new/     hooks create entries here (group-writable for SlurmUser)
    <spool>/queue/work/    the worker's; an entry is claimed by being renamed into it
    <spool>/queue/bad/     entries that could not be read or failed too often
    <spool>/decisions/     requeue decisions, one JSON file per job
    <spool>/reports/<uid>/ reports that could not be written next to the logs
    <spool>/nodes/         what the node epilogs collected
    <spool>/state/         groups reported so far, commands run

An entry is the hook's environment, NUL-separated, so that no job name can forge a field.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triage.errors import UsageError

DEFAULT = "/var/spool/triage"
MAX_ENTRY = 64 << 10
OVERFLOW = "overflow"
"""The entry that a hook leaves instead of a job's when the queue is full."""
_NAME = re.compile(r"(?:job|node)-[\w.-]{1,200}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One claimed entry of the queue."""

    name: str
    environment: dict[str, str]
    queued: float
    """When the hook wrote it, Unix seconds."""


class Spool:
    """The directories below one spool, and the operations on them."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        self.new = self.root / "queue" / "new"
        self.work = self.root / "queue" / "work"
        self.bad = self.root / "queue" / "bad"
        self.decisions = self.root / "decisions"
        self.reports = self.root / "reports"
        self.nodes = self.root / "nodes"
        self.state = self.root / "state"

    def prepare(self) -> None:
        """Create what is the worker's own.

        Raises:
            UsageError: when the spool can't be used.
        """
        try:
            for path, mode in (
                (self.root, 0o755), (self.root / "queue", 0o755), (self.new, 0o2770), (self.work, 0o700),
                (self.bad, 0o700), (self.decisions, 0o755), (self.reports, 0o711), (self.nodes, 0o700),
                (self.state, 0o700),
            ):  # fmt: skip
                if not path.is_dir():
                    path.mkdir(parents=True, exist_ok=True)
                    path.chmod(mode)
        except OSError as error:
            raise UsageError(f"{self.root}: {error.strerror}; name another spool with --spool") from None

    def reclaim(self) -> int:
        """Put entries of a worker that died back into the queue; returns their number."""
        count = 0
        for name in sorted(p.name for p in self.work.iterdir()):
            with contextlib.suppress(OSError):
                (self.work / name).rename(self.new / name)
                count += 1
        return count

    def waiting(self) -> list[tuple[str, float]]:
        """Names of the entries in the queue and when they were written, oldest first."""
        found: list[tuple[str, float]] = []
        with os.scandir(self.new) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    with contextlib.suppress(OSError):
                        found.append((entry.name, entry.stat(follow_symlinks=False).st_mtime))
        return sorted(found, key=lambda item: (item[1], item[0]))

    def claim(self, name: str) -> Entry | None:
        """Take one entry; None when somebody else has, or when it is no entry (then it is set aside)."""
        try:
            (self.new / name).rename(self.work / name)
        except OSError:
            return None
        try:
            return Entry(name, *self._read(name))
        except (OSError, ValueError):
            self.set_aside(name)
            return None

    def _read(self, name: str) -> tuple[dict[str, str], float]:
        if not _NAME.fullmatch(name) and name != OVERFLOW:
            raise ValueError("not a name that hooks give")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(self.work / name, flags)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("not a file")
            data = os.read(file, MAX_ENTRY)
        finally:
            os.close(file)
        pairs = (
            piece.partition("=") for piece in data.decode("utf-8", "replace").split("\0") if "=" in piece
        )
        return {name: value for name, _, value in pairs}, status.st_mtime

    def give_back(self, name: str) -> None:
        """Return an entry to the queue, to be tried again later."""
        with contextlib.suppress(OSError):
            (self.work / name).rename(self.new / name)

    def done(self, name: str) -> None:
        """Delete an entry whose job is dealt with."""
        with contextlib.suppress(FileNotFoundError):
            (self.work / name).unlink()

    def set_aside(self, name: str) -> None:
        """Keep an entry that can't be dealt with, for a person."""
        with contextlib.suppress(OSError):
            (self.work / name).rename(self.bad / name)

    def report_folder(self, uid: int) -> str | None:
        """The user's own folder for reports that can't be written next to the logs."""
        path = self.reports / str(uid)
        try:
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
                if os.geteuid() == 0:
                    os.chown(path, uid, -1, follow_symlinks=False)
            status = path.lstat()
        except OSError:
            return None
        return str(path) if stat.S_ISDIR(status.st_mode) and status.st_uid == uid else None

    def prune(self, days: float = 30.0) -> int:
        """Delete decisions, state and node evidence older than ``days``; returns how many files."""
        count = 0
        for path in _older(time.time() - days * 86400, self.decisions, self.state, self.nodes):
            with contextlib.suppress(OSError):
                path.unlink()
                count += 1
        return count


def _older(limit: float, *folders: Path) -> Iterator[Path]:
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if (
                    entry.is_file(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_mtime < limit
                ):
                    yield Path(entry.path)
