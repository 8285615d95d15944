"""Opening a job's output as its user would: no symlink, no FIFO, no device, nobody else's file.

Whoever calls this has become the job's user before, so the kernel's own checks hold as well; these
checks keep a hostile path from blocking the reader or from having it read something that is no log.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
HEAD = 4 << 20
"""Bytes read of the beginning of a file that is too large to be read whole."""


class RefusedError(Exception):
    """A file that is not read, and why."""


@dataclass(slots=True)
class LogFile:
    """An open log as a byte stream, up to its size when it was opened.

    Of a file larger than ``limit`` bytes, the beginning and the end are read; ``skipped`` says how much is not.
    """

    path: str
    descriptor: int
    size: int
    modified: float
    limit: int
    skipped: int = 0
    _at: int = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; empty at the end, also when the file became shorter meanwhile."""
        if self.skipped and HEAD <= self._at < HEAD + self.skipped:
            self._at = HEAD + self.skipped
        stop = HEAD if self.skipped and self._at < HEAD else self.size
        wanted = min(size if size >= 0 else 1 << 20, stop - self._at)
        data = os.pread(self.descriptor, wanted, self._at) if wanted > 0 else b""
        self._at += len(data)
        return data

    def tail(self, size: int = 1 << 16) -> bytes:
        """The last bytes, without moving on."""
        return os.pread(self.descriptor, size, max(0, self.size - size))

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


def open_log(path: str, uid: int | None, *, limit: int, follow: bool = False) -> LogFile:
    """Open ``path`` for reading, if it is a regular file of the user ``uid`` (None: anybody's).

    ``follow`` allows a symlink as last component: for people who read their own files.

    Raises:
        RefusedError: with the reason, for a person.
    """
    try:
        descriptor = os.open(path, _FLAGS | (0 if follow else os.O_NOFOLLOW))
    except OSError as error:
        raise RefusedError(_reason(error, path)) from None
    try:
        # of the open file, so that swapping the path changes nothing any more
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError(f"{_kind(status.st_mode)}, not a regular file")
        if uid is not None and status.st_uid != uid:
            raise RefusedError(f"it belongs to user id {status.st_uid}, not to the job's user {uid}")
    except BaseException:
        os.close(descriptor)
        raise
    size = status.st_size
    limit = max(limit, 2 * HEAD)
    return LogFile(path, descriptor, size, status.st_mtime, limit, skipped=max(0, size - limit))


def _kind(mode: int) -> str:
    for test, name in (
        (stat.S_ISFIFO, "a FIFO"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
        (stat.S_ISDIR, "a directory"), (stat.S_ISSOCK, "a socket"),
    ):  # fmt: skip
        if test(mode):
            return name
    return "something else"


def _reason(error: OSError, path: str) -> str:
    import errno

    if error.errno == errno.ELOOP:
        return "a symbolic link"
    if error.errno == errno.ENXIO:
        return "a socket or a FIFO"
    return (
        (error.strerror or "it can't be opened").lower() if path.startswith("/") else "not an absolute path"
    )
