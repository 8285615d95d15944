"""``triage PATH…``: read, judge, print, and say it in the exit code."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triage.engine import Engine
from triage.model import Diagnosis, Source
from triage.reading.cores import cores
from triage.report import render
from triage.sources import discover
from triage.sources.discovery import Discovery

if TYPE_CHECKING:
    from pathlib import Path

EXIT_CODES = {"healthy": 0, "failed": 1, "inconclusive": 3}
_SILENT_SECONDS = 0.8
MAX_PROCESSES = 8
"""Processes that read large inputs: each takes some 25 MB of its own, and the memory of all is to stay below 500 MB."""
_COLLECT_AFTER = 20_000
"""New objects between two collections."""


@dataclass(slots=True, eq=False, repr=False)
class Options:
    """What the command line asked for. ``color`` None means: as the terminal allows."""

    format: str = "text"
    rules: tuple[Path, ...] = ()
    receipt: Path | None = None
    per_job: bool = False
    explain: bool = False
    verbose: bool = False
    color: bool | None = None
    exit_zero: bool = False


def execute(paths: Sequence[str], options: Options) -> int:
    """Diagnose ``paths`` and print the report; returns the exit code."""
    receipt = None
    if options.receipt is not None:
        from triage.receipts import load_receipt

        receipt = load_receipt(options.receipt)
    engine = Engine(options.rules, processes=min(cores(), MAX_PROCESSES))
    # what is loaded by now stays until the end: collecting looks at what reading makes alone, and not often
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    gc.enable()
    discovery = discover(paths) if paths else Discovery(())
    jobs: list[list[Source]] = [list(discovery.sources)]
    if options.per_job:
        from triage.sources import group_jobs

        jobs = [list(job) for job in group_jobs(discovery.sources)]
    progress = _Progress(sum(_size(s) for job in jobs for s in job))
    verdicts: list[str] = []
    reports: list[Any] = []
    for job in jobs:
        diagnosis = engine.diagnose_sources(job, receipt=receipt, notes=discovery.notes, progress=progress)
        verdicts.append(diagnosis.verdict)
        progress.clear()
        if options.per_job and options.format == "json":
            reports.append(json.loads(_render(diagnosis, options)))
            continue
        if options.per_job and options.format != "oneline":
            _write(_heading(job, first=len(verdicts) == 1))
        _write(_render(diagnosis, options))
    if options.per_job and options.format == "json":
        _write(json.dumps(reports, indent=2, ensure_ascii=False) + "\n")
    if options.exit_zero:
        return 0
    worst = next((v for v in ("failed", "inconclusive") if v in verdicts), "healthy")
    return EXIT_CODES[worst]


def _render(diagnosis: Diagnosis, options: Options) -> str:
    if options.format == "text":
        width = max(40, min(_columns(), 120))
        color = _color() if options.color is None else options.color
        return render(
            diagnosis, "text", width=width, color=color, verbose=options.verbose, explain=options.explain
        )
    if options.format == "md":
        return render(diagnosis, "md", verbose=options.verbose)
    return render(diagnosis, options.format)


def _columns() -> int:
    """As many as ``COLUMNS`` says, or the terminal has; 80 where neither is known."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (OSError, ValueError):
        return 80


def _color() -> bool:
    """Colour on a terminal that can, and the conventions NO_COLOR and FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _write(text: str) -> None:
    """Print without ever failing on a terminal that can't show a character."""
    if not text.endswith("\n"):
        text += "\n"
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _heading(job: Sequence[Source], *, first: bool) -> str:
    names = ", ".join(s.name for s in job[:3]) + (f" and {len(job) - 3} more" if len(job) > 3 else "")
    return f"{'' if first else chr(10)}== {names}\n"


def _size(source: Source) -> int:
    try:
        return os.stat(source.path).st_size if source.path else len(source.data or b"")
    except OSError:
        return 0


class _Progress:
    """How much has been read, on standard error, only on a terminal and only when it takes long."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._shown = 0.0
        self._active = sys.stderr.isatty()

    def __call__(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if self._active and now - self._began > _SILENT_SECONDS and now - self._shown > 0.1:
            self._shown = now
            gigabytes = self._done / 1e9
            of = f" of {self._total / 1e9:.1f}" if self._total >= self._done else ""
            print(f"\rtriage: {gigabytes:.1f}{of} GB read", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away before the report is printed."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = 0.0
