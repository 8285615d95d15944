"""Walking directories and expanding globs: in a stable order, bounded, and never in circles."""

# Paths stay the strings that the user gave: reports show them, and pathlib would rewrite them.

from __future__ import annotations

import fnmatch
import io
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from triage.sources.constants import MAX_ENTRIES, SNIFF_SIZE, words
from triage.sources.inflate import DecoderMissingError, Inflater, compression_of
from triage.sources.sniff import ARCHIVES, NOT_LOGS, Reason, refusal_by_content, refusal_by_name

HIDDEN = Reason("hidden file or directory", "hidden files or directories")
TOOLS = Reason("directory of a tool", "directories of tools")
SPECIAL = Reason("socket, pipe or device", "sockets, pipes or devices")
UNREADABLE = Reason(
    "unreadable file or directory (no permission)", "unreadable files or directories (no permission)"
)
BROKEN = Reason("broken link", "broken links")
REASONS = (NOT_LOGS, ARCHIVES, HIDDEN, TOOLS, SPECIAL, BROKEN, UNREADABLE)

_TOOL_FOLDERS = words("__pycache__ node_modules site-packages dist-packages venv virtualenv CVS")
_WILD = re.compile(r"[*?[]")
_EXAMPLES = 5
"""Names that a note about skipped files gives."""


class Entry(NamedTuple):
    """One directory entry, links followed."""

    name: str
    path: str
    mode: int
    is_link: bool
    identity: tuple[int, int]


def natural(path: str) -> list[list[tuple[int, int, str]]]:
    """Sort key that puts ``rank_2`` before ``rank_10`` and keeps directories together."""
    return [
        [
            (0, int(piece), piece) if piece.isdecimal() else (1, 0, piece)
            for piece in re.findall(r"\d+|\D+", part)
        ]
        for part in path.split("/")
    ]


def is_glob(path: str) -> bool:
    """True when ``path`` has a wildcard in it."""
    return _WILD.search(path) is not None


def shown(path: str) -> str:
    """``path`` fit for a report: control characters and undecodable bytes as escapes."""
    text = path.removeprefix("./") or path
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """What is equal for two names of the same file."""
    return status.st_dev, status.st_ino


@dataclass(slots=True, eq=False, repr=False)
class Skipped:
    """What was passed over, by reason: how many, and the first few names."""

    counts: dict[Reason, int] = field(default_factory=dict)
    names: dict[Reason, list[str]] = field(default_factory=dict)

    def add(self, reason: Reason, path: str) -> None:
        """Count one thing that was skipped."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        names = self.names.setdefault(reason, [])
        if len(names) < _EXAMPLES:
            names.append(shown(os.path.basename(path) or path))

    def notes(self) -> list[str]:
        """A sentence for each reason."""
        return [f"skipped {self._part(reason)}" for reason in REASONS if reason in self.counts]

    def _part(self, reason: Reason) -> str:
        count, names = self.counts[reason], self.names[reason]
        more = ", …" if count > len(names) else ""
        return f"{count} {reason.one if count == 1 else reason.many}: {', '.join(names)}{more}"


class Walker:
    """Looks into directories, at no more than ``MAX_ENTRIES`` entries in all."""

    def __init__(self) -> None:
        self.skipped = Skipped()
        self.exhausted = False
        self._left = MAX_ENTRIES

    def logs_below(self, root: str) -> Iterator[Entry]:
        """The logs in ``root`` and below it; a directory that is reached twice is visited once.

        Raises:
            OSError: when ``root`` itself can't be listed.
        """
        visited: set[tuple[int, int]] = set()
        folders = [root]
        while folders:
            folder = folders.pop()
            try:
                identity = identity_of(os.stat(folder))
                if identity in visited:
                    continue
                visited.add(identity)
                entries = self._entries(folder)
            except OSError:
                if folder == root:
                    raise
                self.skipped.add(UNREADABLE, folder)
                continue
            below: list[str] = []
            for entry in entries:
                if entry.name.startswith("."):
                    self.skipped.add(HIDDEN, entry.path)
                elif stat.S_ISDIR(entry.mode):
                    if self._is_tools(entry):
                        self.skipped.add(TOOLS, entry.path)
                    else:
                        below.append(entry.path)
                elif self.is_log(entry):
                    yield entry
            folders.extend(reversed(below))

    def is_log(self, entry: Entry) -> bool:
        """Judge a file that nobody named; what is not taken is counted in ``skipped``."""
        reason = SPECIAL if not stat.S_ISREG(entry.mode) else refusal_by_name(entry.name)
        if reason is None:
            try:
                reason = refusal_by_content(entry.name, _beginning(entry.path))
            except OSError:
                reason = UNREADABLE
        if reason is not None:
            self.skipped.add(reason, entry.path)
        return reason is None

    def expand(self, pattern: str) -> Iterator[Entry]:
        """The files and directories that a glob matches, ``**`` included; hidden ones when it names them."""
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        parts = [part for at, part in enumerate(parts) if part != "**" or parts[at - 1 : at] != ["**"]]
        found: set[str] = set()
        for entry in self._matches("/" if pattern.startswith("/") else "", parts):
            if entry.path not in found:
                found.add(entry.path)
                yield entry

    def _matches(self, base: str, parts: list[str]) -> Iterator[Entry]:
        first, rest = parts[0], parts[1:]
        if first == "**":
            for folder in self._folders_below(base):
                yield from self._matches(folder, rest or ["*"])
            return
        if is_glob(first):
            try:
                entries = self._entries(base or ".")
            except OSError:
                return
            wanted = [
                entry
                for entry in entries
                if fnmatch.fnmatchcase(entry.name, first) and (first[0] == "." or entry.name[0] != ".")
            ]
        else:
            path = os.path.join(base, first)
            try:
                status = os.stat(path)
            except (OSError, ValueError):
                return
            wanted = [Entry(first, path, status.st_mode, False, identity_of(status))]
        for entry in wanted:
            path = os.path.join(base, entry.name)
            if not rest:
                yield entry._replace(path=path)
            elif stat.S_ISDIR(entry.mode):
                yield from self._matches(path, rest)

    def _folders_below(self, base: str) -> Iterator[str]:
        visited: set[tuple[int, int]] = set()
        folders = [base]
        while folders:
            folder = folders.pop()
            try:
                identity = identity_of(os.stat(folder or "."))
                entries = [] if identity in visited else self._entries(folder or ".")
            except OSError:
                continue
            if identity in visited:
                continue
            visited.add(identity)
            yield folder
            folders.extend(
                os.path.join(folder, entry.name)
                for entry in reversed(entries)
                if stat.S_ISDIR(entry.mode) and entry.name[0] != "." and not self._is_tools(entry)
            )

    def _entries(self, folder: str) -> list[Entry]:
        """What ``folder`` holds: real entries before links, numbers in names by their value."""
        entries: list[Entry] = []
        with os.scandir(folder) as listing:
            for item in listing:
                if self._left <= 0:
                    self.exhausted = True
                    break
                self._left -= 1
                try:
                    status = item.stat()
                except OSError:
                    self.skipped.add(BROKEN if item.is_symlink() else UNREADABLE, item.path)
                    continue
                link = item.is_symlink()
                entries.append(Entry(item.name, item.path, status.st_mode, link, identity_of(status)))
        return sorted(entries, key=lambda entry: (entry.is_link, natural(entry.name)))

    @staticmethod
    def _is_tools(entry: Entry) -> bool:
        return entry.name in _TOOL_FOLDERS or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))


def _beginning(path: str) -> bytes:
    """The first bytes of a regular file, decompressed; none of an archive that gives none so soon."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        data = os.read(descriptor, SNIFF_SIZE)
    finally:
        os.close(descriptor)
    kind = compression_of(data)
    if kind is None:
        return data
    try:
        return Inflater(io.BytesIO(data), kind).read(SNIFF_SIZE)
    except DecoderMissingError:
        return b""
