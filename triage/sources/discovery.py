"""From what the user named to the sources to read: files, directories, globs and standard input."""

# Paths stay the strings that the user gave: reports show them, and pathlib would rewrite them.

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from triage.errors import InputError
from triage.model import ByteStream, Source
from triage.sources.constants import MAX_ENTRIES, MAX_FILES
from triage.sources.jobs import job_id_of
from triage.sources.labels import labelled
from triage.sources.missing import why_missing, why_special, why_unmatched, why_unreadable
from triage.sources.walk import Entry, Walker, identity_of, is_glob, natural, shown

Argument: TypeAlias = "str | os.PathLike[str] | Source"

STDIN = "-"
STDIN_NAME = "<stdin>"
_JOBS_NAMED = 3


@dataclass(slots=True, eq=False, repr=False)
class Discovery:
    """What there is to read, in a stable order, and what was left out."""

    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


def discover(
    arguments: Argument | Iterable[Argument], *, stdin: ByteStream | None = None, one_job: bool = True
) -> Discovery:
    """The sources that ``arguments`` name.

    A file that is named is always taken, a pipe among them. In a directory, and for a bare ``*`` or
    ``**``, everything is taken that is not recognisably something else: weights, sources,
    archives, hidden files, the directories of tools. A file that is reached twice is read once.
    ``-`` is standard input. A :class:`~triage.model.Source` is passed on with the labels that its
    path states.

    Args:
        arguments: paths, globs that the shell left alone, sources; one of them or several.
        stdin: what ``-`` stands for; by default the process's standard input.
        one_job: the caller will read all of it as one job, so a note tells when names disagree.

    Returns:
        The sources, and a note for each argument that can't be read and each kind of thing skipped.

    Raises:
        InputError: when nothing can be read; it names every argument with the way out.
    """
    if isinstance(arguments, str | os.PathLike | Source):
        arguments = [arguments]
    finder = _Finder(stdin)
    for argument in arguments:
        finder.add(argument)
    return finder.result(one_job)


class _Finder:
    """Collects sources over the arguments of one call."""

    def __init__(self, stdin: ByteStream | None) -> None:
        self._stdin = stdin
        self._walker = Walker()
        self._sources: list[Source] = []
        self._seen: set[tuple[int, int]] = set()
        self._problems: list[str] = []
        self._full = False

    def add(self, argument: Argument) -> None:
        if isinstance(argument, Source):
            self._sources.append(argument)
            return
        path = os.fsdecode(argument)
        if path == STDIN:
            self._add_stdin()
            return
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            if is_glob(path):
                self._add_glob(path)
            else:
                self._problems.append(why_missing(path))
        except OSError as error:
            self._problems.append(why_unreadable(path, error))
        else:
            self._add_existing(path, status)

    def result(self, one_job: bool) -> Discovery:
        notes = self._walker.skipped.notes()
        if not self._sources:
            raise InputError(_nothing(self._problems))
        if self._full:
            notes.append(f"stopped looking after {MAX_FILES} files: name directories that hold fewer")
        if self._walker.exhausted:
            notes.append(
                f"stopped looking after {MAX_ENTRIES} directory entries: name directories that hold fewer"
            )
        if one_job:
            notes.extend(_conflicting_jobs(self._sources))
        return Discovery(labelled(self._sources), (*self._problems, *notes))

    def _add_stdin(self) -> None:
        stream = self._stdin
        if stream is None and sys.stdin is not None:
            stream = sys.stdin.buffer
        if stream is None:
            self._problems.append("-: there is no standard input")
        elif not any(source.stream is stream for source in self._sources):
            self._sources.append(Source(STDIN_NAME, stream=stream))

    def _add_existing(self, path: str, status: os.stat_result) -> None:
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            self._add_directory(path)
        elif stat.S_ISSOCK(mode) or (_is_device(mode) and status.st_rdev != os.stat(os.devnull).st_rdev):
            self._problems.append(why_special(path, mode))
        else:
            self._add_file(path, mode, identity_of(status))

    def _add_file(self, path: str, mode: int, identity: tuple[int, int]) -> None:
        if stat.S_ISREG(mode):
            try:
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
            except OSError as error:
                self._problems.append(why_unreadable(path, error))
                return
        self._take([(path, identity)])

    def _add_directory(self, path: str) -> None:
        before = sum(self._walker.skipped.counts.values())
        try:
            found = [(entry.path, entry.identity) for entry in self._walker.logs_below(path)]
        except OSError as error:
            self._problems.append(why_unreadable(path, error))
            return
        if not found:
            skipped = sum(self._walker.skipped.counts.values()) - before
            why = f"; {'; '.join(self._walker.skipped.notes())}; name a file to have it read all the same"
            self._problems.append(
                f"{shown(path)}: no logs in this directory{why if skipped else ': it is empty'}"
            )
        self._take(found)

    def _add_glob(self, pattern: str) -> None:
        # a bare * says nothing about the files, so they are judged as in a directory
        named = pattern.rpartition("/")[2].strip("*") != ""
        matches = sorted(self._walker.expand(pattern), key=lambda entry: natural(entry.path))
        for entry in matches:
            if stat.S_ISDIR(entry.mode):
                if named or "**" not in pattern:
                    self._add_matched_directory(entry)
            elif not stat.S_ISREG(entry.mode) or not named:
                if self._walker.is_log(entry):
                    self._add_file(entry.path, entry.mode, entry.identity)
            else:
                self._add_file(entry.path, entry.mode, entry.identity)
        if not matches:
            self._problems.append(why_unmatched(pattern))

    def _add_matched_directory(self, entry: Entry) -> None:
        try:
            self._take([(below.path, below.identity) for below in self._walker.logs_below(entry.path)])
        except OSError as error:
            self._problems.append(why_unreadable(entry.path, error))

    def _take(self, found: list[tuple[str, tuple[int, int]]]) -> None:
        fresh: list[str] = []
        for path, identity in found:
            if identity in self._seen:
                continue
            if len(self._seen) >= MAX_FILES:
                self._full = True
                break
            self._seen.add(identity)
            fresh.append(path)
        fresh.sort(key=natural)
        self._sources.extend(Source(shown(path), path=path) for path in fresh)


def _is_device(mode: int) -> bool:
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _nothing(problems: list[str]) -> str:
    if not problems:
        return "nothing to read: give files, directories, globs, or - for standard input"
    if len(problems) == 1:
        return problems[0]
    return "nothing could be read:\n" + "\n".join(f"  {problem}" for problem in problems)


def _conflicting_jobs(sources: list[Source]) -> list[str]:
    if len(sources) < 2:
        return []
    jobs = {job: None for source in sources if source.path is not None and (job := job_id_of(source.path))}
    if len(jobs) < 2:
        return []
    names = sorted(jobs, key=natural)
    more = ", …" if len(names) > _JOBS_NAMED else ""
    some = ", ".join(names[:_JOBS_NAMED]) + more
    return [f"the file names are of {len(names)} jobs ({some}), read as one: --per-job splits them"]
