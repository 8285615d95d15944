"""Whether a directory of rules may be used with root's rights: only root can have written it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from triage.errors import UsageError


def require_trusted(directory: str | os.PathLike[str]) -> None:
    """Refuse a directory that somebody other than root could have changed, when this process is root.

    Every parent and everything in it must belong to root and be writable for nobody else; no links.

    Raises:
        UsageError: naming what is wrong.
    """
    if os.geteuid() != 0:
        return
    path = Path(directory).absolute()
    for part in [*reversed(path.parents), path]:
        # a sticky directory such as /tmp lets others add entries, but not replace root's
        _check(part, sticky=part != path)
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            _check(Path(folder) / name)


def _check(path: Path, *, sticky: bool = False) -> None:
    try:
        status = path.lstat()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if stat.S_ISLNK(status.st_mode):
        raise UsageError(f"{path} is a symbolic link; rules for root must be real files")
    if status.st_uid != 0:
        raise UsageError(f"{path} belongs to user id {status.st_uid}; rules for root must belong to root")
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if writable and not (sticky and status.st_mode & stat.S_ISVTX):
        raise UsageError(f"{path} can be changed by others; rules for root must be writable for root only")
