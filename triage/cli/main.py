"""The command line: which command it is, and that no traceback reaches a user."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from triage.errors import TriageError

COMMANDS = frozenset({"diagnose", "rules", "slurm", "receipt", "preflight"})
INTERRUPTED = 130
DEBUG = "TRIAGE_DEBUG"
"""Set in the environment, it shows the tracebacks of triage's own faults."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 healthy, 1 failed, 2 could not do the job, 3 inconclusive."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us, as daemons do
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    code = main(list(sys.argv[1:] if arguments is None else arguments))
    # all is written: taking the modules apart one by one would cost a tenth of what answering took
    os._exit(code)


def main(arguments: list[str]) -> int:
    """As :func:`run`, but returns the exit code."""
    # nothing that starting up creates is garbage: collecting it would only take time
    gc.disable()
    try:
        code = _execute(arguments)
        sys.stdout.flush()
        return code
    except TriageError as error:
        print(f"triage: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of our output went away, e.g. `triage x | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # inputs that can't be read are notes or said by name where they are opened: what is left is output
        where = f" {error.filename}" if error.filename else " the answer"
        print(f"triage: could not write{where}: {error.strerror or error}", file=sys.stderr)
        return 2
    except RecursionError:
        print("triage: the input is nested too deeply to be read", file=sys.stderr)
        return 2
    except MemoryError:
        print("triage: out of memory; give it fewer inputs at once", file=sys.stderr)
        return 2
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        from triage.text import safe

        print(
            f"triage: this is a fault of triage itself: {type(error).__name__}: {safe(str(error))[:300]}\n"
            f"triage: please report it with what {DEBUG}=1 in the environment makes it print",
            file=sys.stderr,
        )
        return 2
    finally:
        gc.enable()


def _execute(arguments: list[str]) -> int:
    """What was asked for. Paths alone need no parser, which takes longer to build than a small log to be read."""
    if arguments and arguments[0] not in COMMANDS and not any(a[:1] in {"-", ""} for a in arguments):
        from triage.cli.diagnose import Options
        from triage.cli.diagnose import execute as diagnose

        return diagnose(arguments, Options())
    if arguments == ["--version"]:
        from triage import __version__

        print(f"triage {__version__}")
        return 0
    from triage.cli.app import execute

    return execute(arguments)
