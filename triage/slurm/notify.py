"""Telling others: an administrator's command for each group of failures, and AdminComments, rate-limited."""

from __future__ import annotations

import json
import os
import pwd
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triage.slurm.command import Runner, SlurmError

COMMAND_TIMEOUT = 30.0
_PLACEHOLDERS = ("job", "job_id", "user", "category", "retry", "rule_id", "count", "report", "fingerprint")


def arguments(command: Sequence[str], message: Mapping[str, Any]) -> list[str]:
    """The command's words with ``{job}``, ``{user}``, ``{category}`` … filled in, each within its own word.

    No shell sees them. A value can't become an option: one that begins with ``-`` gets a space before it.
    """

    def value(match: re.Match[str]) -> str:
        text = "" if (v := message.get(match[1])) is None else str(v)
        return "".join(c if c.isprintable() else "?" for c in text)[:1000]

    pattern = rf"\{{({'|'.join(_PLACEHOLDERS)})\}}"
    words = list(command[:1])
    for word in command[1:]:
        filled = re.sub(pattern, value, word)
        words.append(f" {filled}" if filled.startswith("-") and not word.startswith("-") else filled)
    return words


def run_command(command: Sequence[str], message: Mapping[str, Any], user: str | None) -> str | None:
    """Run an administrator's command with the message as JSON on its standard input; returns what went wrong.

    When this process is root, the command runs as ``user``.
    """
    options: dict[str, Any] = {}
    if os.geteuid() == 0 and user is not None:
        try:
            entry = pwd.getpwnam(user)
        except KeyError:
            return f"the user {user} for the command does not exist"
        options = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    try:
        done = subprocess.run(  # noqa: S603 - words, no shell
            arguments(command, message), input=json.dumps(message).encode(), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=COMMAND_TIMEOUT, check=False, cwd="/",
            env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}, **options,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command[0]}: {error}"
    return f"{command[0]}: exit code {done.returncode}" if done.returncode else None


class Comments:
    """Sets AdminComments through ``sacctmgr``, at most ``per_minute`` of them."""

    def __init__(self, runner: Runner, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = runner
        self._rate = per_minute
        self._clock = clock
        self._tokens = float(per_minute)
        self._filled = clock()

    def allowed(self) -> bool:
        """Whether one more may be sent now; takes it from the allowance."""
        now = self._clock()
        self._tokens = min(float(self._rate), self._tokens + (now - self._filled) * self._rate / 60)
        self._filled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def send(self, job_id: int, text: str) -> str | None:
        """Set the comment of one job; returns what went wrong."""
        try:
            self._run(
                [
                    "sacctmgr",
                    "--immediate",
                    "modify",
                    "job",
                    "where",
                    f"jobid={job_id}",
                    "set",
                    f"AdminComment={text}",
                ]
            )
        except SlurmError as error:
            return str(error)
        return None
