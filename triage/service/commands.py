"""Running a command of the node under a time limit, without ever raising."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

MAX_OUTPUT = 8 << 20
"""Bytes of a command's output that are kept."""


@dataclass(frozen=True, slots=True)
class Output:
    """What came of a command: its text, or why there is none.

    ``problem`` is None when it ended with code 0. ``missing`` says that there is no such program,
    ``late`` that it did not answer in time.
    """

    text: str = ""
    problem: str | None = None
    missing: bool = False
    late: bool = False


def start(command: Sequence[str]) -> subprocess.Popen[bytes] | Output:
    """Start ``command`` in the background, in the C locale, with no input."""
    if shutil.which(command[0]) is None:
        return Output(problem=f"{command[0]} is not installed", missing=True)
    try:
        return subprocess.Popen(  # noqa: S603 (fixed commands of the node)
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    except OSError as error:
        return Output(problem=f"{command[0]}: {error.strerror}", missing=True)


def finish(process: subprocess.Popen[bytes] | Output, seconds: float) -> Output:
    """Wait for at most ``seconds``; what has not ended by then is killed."""
    if isinstance(process, Output):
        return process
    name = str(process.args[0]) if isinstance(process.args, list) else "command"
    try:
        data, _ = process.communicate(timeout=max(0.01, seconds))
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel: it can't be helped
            process.communicate(timeout=1.0)
        return Output(problem=f"{name} did not answer within {seconds:.1f} s", late=True)
    text = data[:MAX_OUTPUT].decode("utf-8", "replace")
    if process.returncode:
        first = next((line.strip() for line in text.splitlines() if line.strip()), "no output")
        return Output(text, f"{name} ended with code {process.returncode}: {first[:200]}")
    return Output(text)


def run(command: Sequence[str], seconds: float) -> Output:
    """Run ``command`` for at most ``seconds``."""
    return finish(start(command), seconds)
