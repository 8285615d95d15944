"""One labelled job as perturbations change it: its texts by name, its label, and what every kind asks of them."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evaluate import logs_of

from triage.readers import recognise

CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d{1,9}))?(?![\d:])")
"""A time of day as loggers print it near the beginning of a line."""
_NEAR = 90
_RUNNING = re.compile(r"(?:\d+%\|)|\[?(?:\d\d:\d\d)<")
_NUMBERED = re.compile(r"^(.*?)(\d+)(\D*)$")


@dataclass(frozen=True)
class Job:
    """A label and the files beside it; ``others`` are those that no text tool would touch."""

    label: Path
    expected: dict[str, Any]
    texts: dict[str, str]
    others: dict[str, bytes]
    packed: frozenset[str] = frozenset()
    """Names of texts that are written compressed."""
    rank_may_be_lost: bool = False
    """Whether an expert might say of the changed copy that the rank can't be told; a wrong one stays wrong."""
    verdict_may_be_lost: bool = False
    """Whether a run that ended well may look broken off in the changed copy, which is no failure."""

    @property
    def name(self) -> str:
        return self.label.parent.name

    @property
    def failed(self) -> bool:
        return bool(self.expected.get("category"))

    def changed(self, texts: dict[str, str], **more: Any) -> Job:
        """This job with other texts."""
        return replace(self, texts=texts, **more)

    def each(self, change: Callable[[str], str], **more: Any) -> Job:
        """This job with ``change`` applied to every text."""
        return self.changed({name: change(text) for name, text in self.texts.items()}, **more)

    def each_line(self, change: Callable[[str], str], **more: Any) -> Job:
        """This job with ``change`` applied to every line."""
        return self.each(lambda text: unlined([change(line) for line in lined(text)], text), **more)

    def decisive(self, lines: list[str]) -> int | None:
        """The index of the last line of ``lines`` that holds the decisive one; None where none does."""
        wanted = folded(str(self.expected.get("key_line") or ""))
        if not wanted:
            return None
        return max((i for i, line in enumerate(lines) if wanted in folded(line)), default=None)

    def ranked(self) -> dict[str, int] | None:
        """The rank of every text by the one number in which the names differ, 0, 1, 2 …; else None."""
        split = {name: _NUMBERED.match(Path(name).stem) for name in self.texts}
        numbers = {name: int(m[2]) for name, m in split.items() if m}
        if len(split) < 2 or self.others or sorted(numbers.values()) != list(range(len(split))):
            return None
        if len({(Path(n).parent, Path(n).suffix, m[1], m[3]) for n, m in split.items() if m}) != 1:
            return None
        if any(re.search(r"(?i)node|host|stage|attempt|slurm", Path(name).stem) for name in split):
            return None
        return numbers

    def write(self, folder: Path) -> list[Path]:
        """Write all files below ``folder``; their paths."""
        import gzip

        written = []
        for name, text in self.texts.items():
            data = text.encode("utf-8", errors="surrogateescape")
            at = folder / (f"{name}.gz" if name in self.packed else name)
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(gzip.compress(data, mtime=0) if name in self.packed else data)
            written.append(at)
        for name, data in self.others.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            written.append(folder / name)
        return sorted(written)


Perturbation = Callable[[Job, random.Random], "Job | None"]
"""A change that must not change the answer; None where the job has nothing that it could change."""


@dataclass
class Registry:
    """Perturbations by name."""

    kinds: dict[str, Perturbation] = field(default_factory=dict)

    def __call__(self, name: str) -> Callable[[Perturbation], Perturbation]:
        def add(function: Perturbation) -> Perturbation:
            self.kinds[name] = function
            return function

        return add


kind = Registry()


def load(label: Path) -> Job:
    """The job beside ``label``."""
    expected = yaml.safe_load(label.read_text(encoding="utf-8"))
    texts, others = {}, {}
    for path in logs_of(label, expected):
        data, name = path.read_bytes(), path.relative_to(label.parent).as_posix()
        if recognise(name, data[: 1 << 16]) is None and path.suffix != ".json" and b"\0" not in data:
            texts[name] = data.decode("utf-8", errors="surrogateescape")
        else:
            others[name] = data
    return Job(label, expected, texts, others)


def folded(text: str) -> str:
    """Text as it is compared where lines may have been wrapped or coloured: without white space."""
    return "".join(text.split())


def lined(text: str) -> list[str]:
    """The lines of ``text`` without their ends."""
    lines = text.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def unlined(lines: list[str], like: str = "\n") -> str:
    """``lines`` as one text, which ends as ``like`` does."""
    return "\n".join(lines) + ("\n" if like.endswith("\n") and lines else "")


def clock_of(line: str) -> float | None:
    """The time of day that ``line`` begins with, in seconds; what a bar says of time left is none."""
    found = CLOCK.search(line[:_NEAR])
    if found is None or _RUNNING.search(line[:_NEAR]):
        return None
    fraction = float(f"0.{found[4]}") if found[4] else 0.0
    return int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3]) + fraction


def moments(job: Job) -> dict[str, Iterator[float]] | None:
    """For each text when each of its lines was written, never going back; None where the order of files is unknown.

    A line without a time of its own was written when the one before it was. A job of one text that prints no times
    has its lines written a millisecond apart.
    """
    result: dict[str, Iterator[float]] = {}
    for name, text in job.texts.items():
        own = [clock_of(line) for line in lined(text)]
        told = [t for t in own if t is not None]
        if not told:
            if len(job.texts) > 1 or job.others:
                return None
            result[name] = (36_000 + i / 1000 for i in range(len(own)))
            continue
        if max(told) - min(told) > 12 * 3600:
            return None  # over midnight, or a time that is none
        now, all_of = told[0], []
        for moment in own:
            now = max(now, moment or 0.0)
            all_of.append(now)
        result[name] = iter(all_of)
    return result
