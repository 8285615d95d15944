"""Writing reports: through a directory's descriptor, never over anything, never through a link, mode 0600."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
MODE = 0o600


def write_new(folder: str, name: str, data: bytes, mode: int = MODE) -> str:
    """Create ``folder/name`` with ``data``, whole or not at all; returns its path.

    Raises:
        FileExistsError: when there is anything of that name, a dangling link included.
        OSError: when it can't be written; nothing of it is left then.
    """
    if "/" in name or name in {"", ".", ".."}:
        raise ValueError(f"not a file name: {name!r}")
    directory = os.open(folder, _DIRECTORY)
    try:
        _create(directory, name, data, mode)
    finally:
        os.close(directory)
    return f"{folder.rstrip('/')}/{name}"


def _create(directory: int, name: str, data: bytes, mode: int) -> None:
    """Write beside the name and link it there: a process killed in between leaves no half report behind."""
    temporary = f".{name}.partial"
    with contextlib.suppress(OSError):
        status = os.stat(temporary, dir_fd=directory, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            os.unlink(temporary, dir_fd=directory)
    file = os.open(temporary, _NEW, mode, dir_fd=directory)
    try:
        os.fchmod(file, mode)
        _write_all(file, data)
        os.fsync(file)
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    finally:
        os.close(file)
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=directory)


def write_report(folders: Iterable[str], name: str, suffix: str, data: bytes) -> tuple[str | None, list[str]]:
    """Write a report into the first folder that takes it; returns its path (None: nowhere) and what went wrong.

    A report with the same content that is there already is the result of an earlier, interrupted try.
    """
    problems: list[str] = []
    for folder in folders:
        for number in range(10):
            full = f"{name}{f'.{number}' if number else ''}{suffix}"
            try:
                return write_new(folder, full, data), problems
            except FileExistsError:
                if _same(folder, full, data):
                    return f"{folder.rstrip('/')}/{full}", problems
            except OSError as error:
                problems.append(f"{folder}: {(error.strerror or 'not writable').lower()}")
                break
    return None, problems


def replace_file(folder: str, name: str, data: bytes, mode: int = MODE) -> None:
    """Put ``data`` at ``folder/name`` in one step; for folders that are nobody else's."""
    temporary = Path(folder) / f".{name}.{os.getpid()}"
    temporary.unlink(missing_ok=True)
    write_new(folder, temporary.name, data, mode)
    temporary.replace(Path(folder) / name)


def _same(folder: str, name: str, data: bytes) -> bool:
    try:
        directory = os.open(folder, _DIRECTORY)
    except OSError:
        return False
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return False
    finally:
        os.close(directory)
    try:
        status = os.fstat(file)
        return (
            status.st_uid == os.geteuid()
            and status.st_size == len(data)
            and os.read(file, len(data) + 1) == data
        )
    except OSError:
        return False
    finally:
        os.close(file)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
