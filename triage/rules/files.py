"""Where rule files are, in which state they are, and what is kept of them in the user's cache."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

from triage.errors import RuleError

_SUFFIXES = (".yaml", ".yml")
MAX_KEPT = 8
"""Packs that a cache holds."""


def rule_files(root: str | os.PathLike[str]) -> Iterator[str]:
    """The rule files below a directory, in no order."""
    found = (os.path.join(at, name) for at, _, names in os.walk(root) for name in names)
    return (path for path in found if path.endswith(_SUFFIXES))


def stamp(root: str) -> str:
    """What tells one state of the rule files below ``root`` from another, without reading them all."""
    import hashlib

    stamped = hashlib.sha256()
    for path in sorted(rule_files(root)):
        try:
            status = os.stat(path)
        except OSError as error:
            raise RuleError(f"can't read it: {error.strerror}", path) from None
        stamped.update(f"{path}\0{status.st_ino} {status.st_size} {status.st_mtime_ns}\0".encode())
    return stamped.hexdigest()


def cache_directory() -> str:
    """Where parsed rules are kept: ``$XDG_CACHE_HOME/triage``, private to the user."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "triage")


def kept_as(what: str) -> str:
    """The name under which a pack is kept that is made of ``what``."""
    import hashlib

    return f"rules-{hashlib.sha256(what.encode()).hexdigest()[:40]}.json"


def read_kept(name: str) -> bytes | None:
    """What was kept as ``name``, None when it is missing, not ours, or not what was written."""
    try:
        with open(os.path.join(cache_directory(), name), "rb") as stream:
            if os.fstat(stream.fileno()).st_uid != os.getuid():
                return None
            checksum = stream.readline(16)
            body = stream.read()
    except OSError:
        return None
    return body if checksum == _checksum(body) else None


def keep(name: str, body: bytes) -> None:
    """Keep parsed rules as ``name``; a cache that can't be written only costs time."""
    from pathlib import Path

    path = Path(cache_directory(), name)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_checksum(body) + body)
        temporary.replace(path)
        for stale in sorted(path.parent.glob("rules-*.*"), key=lambda p: p.stat().st_mtime)[:-MAX_KEPT]:
            stale.unlink(missing_ok=True)
    except OSError:
        return


def _checksum(body: bytes) -> bytes:
    """A line that tells a damaged body; nobody is to be kept from writing it."""
    return b"%08x\n" % zlib.crc32(body)
