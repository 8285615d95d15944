"""Running Slurm's commands: arguments as a list, a clean environment, a time limit, bounded output."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence

from triage.errors import TriageError

TIMEOUT = 30.0
MAX_OUTPUT = 256 << 20
_KEEP = (
    "SLURM_CONF",
    "SLURM_CONF_SERVER",
    "SLURM_CLUSTERS",
    "SLURM_JWT",
    "LD_LIBRARY_PATH",
    "HOME",
    "USER",
    "TZ",
)
_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/opt/slurm/bin:/usr/local/slurm/bin"

Runner = Callable[[Sequence[str]], str]
"""Runs one command and gives its standard output; raises :class:`SlurmError`."""


class SlurmError(TriageError):
    """A Slurm command is missing, failed, or took too long."""


def run(arguments: Sequence[str], *, timeout: float = TIMEOUT) -> str:
    """Standard output of one command.

    Raises:
        SlurmError: with the command's own words.
    """
    environment = {name: os.environ[name] for name in _KEEP if name in os.environ}
    # times as Unix seconds: no zone to guess
    environment.update(
        PATH=f"{os.environ.get('PATH', '')}:{_PATH}".lstrip(":"), LC_ALL="C.UTF-8", SLURM_TIME_FORMAT="%s"
    )
    try:
        done = subprocess.run(  # noqa: S603 - a list, no shell
            list(arguments), stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, env=environment,
            check=False, cwd="/",
        )  # fmt: skip
    except FileNotFoundError:
        raise SlurmError(
            f"{arguments[0]} is not installed here; run this where Slurm's commands are"
        ) from None
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{arguments[0]} did not answer within {timeout:.0f} s") from None
    except OSError as error:
        raise SlurmError(f"{arguments[0]}: {error.strerror}") from None
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SlurmError(f"{arguments[0]}: {words[0] if words else f'exit code {done.returncode}'}")
    return done.stdout[:MAX_OUTPUT].decode("utf-8", "replace")
