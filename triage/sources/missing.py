"""What to say about an argument that can't be read: what is wrong with it, and the way out."""

# Paths stay the strings that the user gave: reports show them, and pathlib would rewrite them.

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable

from triage.sources.walk import is_glob, shown

_LISTED = 5_000
_NAMED = 3


def why_missing(path: str) -> str:
    """Why ``path``, which does not exist, can't be read, with similar names or the nearest directory."""
    parent, name = os.path.split(path.rstrip("/") or path)
    while parent and parent != "/" and not os.path.lexists(parent):
        parent, name = os.path.split(parent)
    text = f"{shown(path) or repr(path)}: no such file or directory"
    if os.path.lexists(path):
        return f"{text}: it is a link to {shown(_target(path))}, which does not exist"
    if parent and not os.path.isdir(parent):
        return f"{text}: {shown(parent)} is not a directory"
    similar = _similar(parent or ".", name)
    if similar:
        return f"{text}; did you mean {either(shown(os.path.join(parent, one)) for one in similar)}?"
    if parent and parent != os.path.dirname(path):
        return f"{text}: the nearest directory that exists is {shown(parent)}"
    return f"{text}: {shown(parent) if parent else 'the current directory'} {_holds(parent or '.')}"


def either(names: Iterable[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def why_unmatched(pattern: str) -> str:
    """Why a glob gives nothing, with the deepest directory of it that exists."""
    text = f"{shown(pattern)}: nothing matches"
    folder = "/" if pattern.startswith("/") else ""
    for part in pattern.split("/")[:-1]:
        inner = os.path.join(folder, part)
        if is_glob(part):
            break
        if part and not os.path.isdir(inner):
            return f"{text}: {shown(inner)} is not a directory"
        folder = inner
    return f"{text}: {shown(folder) if folder else 'the current directory'} {_holds(folder or '.')}"


def why_unreadable(path: str, error: OSError) -> str:
    """Why ``path``, which exists, can't be opened."""
    if not isinstance(error, PermissionError):
        return f"{shown(path)}: {error.strerror or error}"
    owner = _owner(path)
    who = f"as its owner ({owner})" if owner else "as its owner"
    flags = "rx" if os.path.isdir(path) else "r"
    return f"{shown(path)}: no permission to read it: run triage {who}, or have them chmod o+{flags} it"


def why_special(path: str, mode: int) -> str:
    """Why a device or socket is not read."""
    kind = "a socket" if stat.S_ISSOCK(mode) else "a device"
    return f"{shown(path)}: is {kind}, not a file: save what it says first, as in dmesg > dmesg.txt"


def _similar(folder: str, name: str) -> list[str]:
    from difflib import get_close_matches

    # an ending that all logs have makes no name alike
    stem, ending = os.path.splitext(name)
    stems: dict[str, str] = {}
    for other in _names(folder):
        stems.setdefault(os.path.splitext(other)[0], other)
        if other.endswith(ending):
            stems[os.path.splitext(other)[0]] = other
    return [stems[close] for close in get_close_matches(stem or ending, stems, _NAMED, 0.6)]


def _holds(folder: str) -> str:
    names = sorted(name for name in _names(folder) if not name.startswith("."))
    if not names:
        return "is empty"
    more = ", …" if len(names) > _NAMED else ""
    return f"has {', '.join(shown(name) for name in names[:_NAMED])}{more}"


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as listing:
            return [entry.name for entry in itertools.islice(listing, _LISTED)]
    except (OSError, ValueError):
        return []


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return "something"


def _owner(path: str) -> str | None:
    try:
        import pwd

        return pwd.getpwuid(os.stat(path).st_uid).pw_name
    except (OSError, ImportError, KeyError):
        return None
