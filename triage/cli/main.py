"""The command line: which command it is, and that no traceback reaches a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from triage.errors import TriageError

COMMANDS = frozenset({"diagnose", "rules"})
"""Sub-commands; any other first word is something to diagnose."""
_OWN_OPTIONS = frozenset({"--help", "-h", "--version", "--install-completion", "--show-completion"})
INTERRUPTED = 130


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 healthy, 1 failed, 2 could not do the job, 3 inconclusive."""
    raise SystemExit(main(list(sys.argv[1:] if arguments is None else arguments)))


def main(arguments: list[str]) -> int:
    """As :func:`run`, but returns the exit code."""
    try:
        return _dispatch(arguments)
    except TriageError as error:
        print(f"triage: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of our output went away, e.g. `triage x | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RecursionError:
        print("triage: the input is nested too deeply to be read", file=sys.stderr)
        return 2
    except MemoryError:
        print("triage: out of memory; give it fewer inputs at once", file=sys.stderr)
        return 2


def _dispatch(arguments: list[str]) -> int:
    from triage.cli.app import app

    if arguments and arguments[0] not in COMMANDS and arguments[0] not in _OWN_OPTIONS:
        arguments = ["diagnose", *arguments]
    outcome = app(args=arguments or ["--help"], prog_name="triage", standalone_mode=False)
    return outcome if isinstance(outcome, int) else 0
