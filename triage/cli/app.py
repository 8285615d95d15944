"""The commands and their options. What a command does is imported when it runs.

The standard library's parser is used because it starts in a few milliseconds; completions come from
shtab, which reads the same parser.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from triage.cli.main import COMMANDS
from triage.errors import UsageError

FORMATS = ("text", "json", "md", "oneline")
_EXIT_CODES = "Exit codes: 0 healthy, 1 failed, 2 could not do the job, 3 inconclusive"
_SHELLS = ("bash", "zsh", "tcsh")


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are triage's own: one line, and the way out."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(f"{message}; see `{self.prog} --help`")


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """The command line: all of it, or as much as ``command`` needs, which takes a fraction of the time."""
    root = _Parser(
        prog="triage",
        description="Name the root cause of a failed distributed GPU job, and what to do about it, in order.",
        epilog=f"`triage PATH…` is short for `triage diagnose PATH…`. {_EXIT_CODES}.",
    )
    root.add_argument("--version", action="store_true", help="print the version")
    root.add_argument(
        "--print-completion",
        choices=_SHELLS,
        metavar="SHELL",
        help=f"print a completion script ({', '.join(_SHELLS)})",
    )
    commands = root.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, add in _ADD.items():
        if command in {name, None}:
            add(commands)
    return root


def _add_diagnose(commands: argparse._SubParsersAction[_Parser]) -> None:
    command = commands.add_parser(
        "diagnose",
        help="say what broke first, where, why, and what to do (the default)",
        description="Say what broke first, where, why, and what to do. All paths are one job.",
        epilog=f"{_EXIT_CODES}.",
    )
    paths = command.add_argument(
        "paths", nargs="*", metavar="PATH", help="logs, dumps, directories, globs; - is standard input"
    )
    paths.complete = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}  # type: ignore[attr-defined]
    command.add_argument(
        "-f", "--format", choices=FORMATS, default="text", help="how to print it (default: text)"
    )
    _add_rules_option(command)
    command.add_argument("--receipt", type=Path, metavar="FILE", help="the run's receipt (JSON), as context")
    command.add_argument(
        "--per-job", action="store_true", help="take the paths apart into jobs instead of reading them as one"
    )
    command.add_argument(
        "--explain", action="store_true", help="show the ledger, the argument and why the runner-up lost"
    )
    command.add_argument(
        "-v", "--verbose", action="store_true", help="show all findings, benign ones too, and the sources"
    )
    command.add_argument("--no-color", action="store_true", help="never colour the output")
    command.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 whatever the verdict; for hooks"
    )


def _add_rules(commands: argparse._SubParsersAction[_Parser]) -> None:
    rules = commands.add_parser(
        "rules",
        help="list, show, check, test and draft rules",
        description="Look at the rules that triage judges by, check those that you wrote, and draft new ones.",
    )
    actions = rules.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=_Parser)
    listing = actions.add_parser("list", help="list rules: id, role, category, title, origin")
    listing.add_argument("stack", nargs="?", help="only rules of this stack")
    _add_rules_option(listing)
    show = actions.add_parser("show", help="show one rule: what it means, what to do, where it came from")
    show.add_argument("id", metavar="ID", help="the rule's id, e.g. torch.oom")
    _add_rules_option(show)
    for name, what in (
        ("lint", "check rules for everything that would make them useless or dangerous"),
        ("test", "run the examples of rules, each against all rules"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument(
            "paths", nargs="*", type=Path, metavar="PATH", help="rule files or directories; all rules if none"
        )
    drafting = actions.add_parser(
        "draft",
        help="propose a rule for the failure in a log",
        description="Print a rule, as YAML, for the line that decides in LOG. Correct it, then lint and test it.",
        epilog="Example: triage rules draft job.err > my-rules.yaml; triage --rules my-rules.yaml job.err",
    )
    drafting.add_argument("log", metavar="LOG", help="a log whose failure no rule knows")


def _add_receipt(commands: argparse._SubParsersAction[_Parser]) -> None:
    receipt = commands.add_parser(
        "receipt", help="record a job's launch, environment and topology; compare two records"
    )
    actions = receipt.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=_Parser)
    collecting = actions.add_parser(
        "collect",
        help="write a receipt at the start of a job, in under a second",
        description="Write a receipt of this node, environment (secrets masked) and command. The command is not run.",
    )
    collecting.add_argument(
        "--out", type=Path, metavar="FILE", help="where to write it (default: standard output)"
    )
    collecting.add_argument(
        "launch", nargs=argparse.REMAINDER, metavar="-- COMMAND…", help="the job's command line"
    )
    diff = actions.add_parser("diff", help="say what changed between two receipts, what matters first")
    diff.add_argument("one", type=Path, metavar="A", help="the receipt of the run that went well")
    diff.add_argument("other", type=Path, metavar="B", help="that of the run that did not")
    diff.add_argument(
        "-f", "--format", choices=("text", "json"), default="text", help="how to print it (default: text)"
    )


def _add_preflight(commands: argparse._SubParsersAction[_Parser]) -> None:
    command = commands.add_parser(
        "preflight",
        help="check whether this node is fit for a job",
        description="Check GPUs, links, host, adapters and, with torch, the bandwidth between the visible GPUs.",
        epilog="Exit codes: 0 nothing failed, 1 something failed, 2 could not do the job, 3 nothing to check here.",
    )
    command.add_argument("--receipt", type=Path, metavar="FILE", help="write a receipt with the outcome")
    command.add_argument(
        "--budget", type=float, default=60.0, metavar="SECONDS", help="time to take at most (default: 60)"
    )
    command.add_argument(
        "-f", "--format", choices=("text", "json"), default="text", help="how to print it (default: text)"
    )


def _add_slurm(commands: argparse._SubParsersAction[_Parser]) -> None:
    command = commands.add_parser(
        "slurm",
        help="post-mortem of a Slurm job, of the queue that hooks fill, or of a period",
        description="`triage slurm JOBID` explains one job; `worker` takes the hooks' queue; `sweep` a period.",
        epilog=f"{_EXIT_CODES}.",
    )
    command.add_argument(
        "what", metavar="JOBID|worker|sweep", help="1234, 1234_7, 1234+1; or worker; or sweep"
    )
    command.add_argument(
        "-f", "--format", choices=FORMATS, default="text", help="how to print it (default: text)"
    )
    _add_rules_option(command)
    command.add_argument("--explain", action="store_true", help="show the argument")
    command.add_argument("-v", "--verbose", action="store_true", help="show all findings")
    command.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 whatever the verdict; for hooks"
    )
    command.add_argument(
        "--spool", metavar="DIR", help="the queue and its results (default: /var/spool/triage)"
    )
    worker = command.add_argument_group("worker")
    for name, options in {
        "--once": {"action": "store_true", "help": "take what is in the queue now and exit"},
        "--settle": {
            "type": float,
            "default": 5.0,
            "metavar": "S",
            "help": "wait for S quiet seconds (default: 5)",
        },
        "--at-once": {
            "type": int,
            "default": 2,
            "metavar": "N",
            "help": "processes that read at a time (default: 2)",
        },
        "--min-uid": {
            "type": int,
            "default": 1000,
            "metavar": "UID",
            "help": "no files of users below (default: 1000)",
        },
        "--comments": {
            "type": int,
            "default": 0,
            "metavar": "N",
            "help": "AdminComments a minute (default: none)",
        },
        "--run": {
            "metavar": "CMD",
            "help": "run it for each group; {job} {user} {category} are filled in, JSON on stdin",
        },
        "--run-as": {
            "default": "nobody",
            "metavar": "USER",
            "help": "who runs it, when this is root (default: nobody)",
        },
    }.items():
        worker.add_argument(name, **options)  # type: ignore[arg-type]
    sweep = command.add_argument_group("sweep")
    sweep.add_argument(
        "--since", default="24h", metavar="PERIOD", help="how far back: 90m, 24h, 7d (default: 24h)"
    )
    sweep.add_argument("--user", metavar="NAME", help="only jobs of this user")
    sweep.add_argument(
        "--enqueue", action="store_true", help="put failed jobs that nobody reported into the worker's queue"
    )


_ADD = {
    "diagnose": _add_diagnose,
    "rules": _add_rules,
    "slurm": _add_slurm,
    "receipt": _add_receipt,
    "preflight": _add_preflight,
}
"""What adds each command to the parser."""


def _add_rules_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rules", action="append", type=Path, default=[], metavar="PATH",
        help="add rules, a file or a directory; they win over built-in ones by id",
    )  # fmt: skip


def execute(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code."""
    given = list(arguments)
    if given and given[0] not in COMMANDS and not _is_root_option(given[0]):
        given.insert(0, "diagnose")
    root = parser(given[0] if given and given[0] in COMMANDS else None)
    options = root.parse_args(given)
    if options.version:
        from triage import __version__

        print(f"triage {__version__}")
        return 0
    if options.print_completion:
        return _completion(root, options.print_completion)
    if options.command == "diagnose":
        return _diagnose(options)
    if options.command == "rules":
        return _rules(options)
    if options.command == "slurm":
        from triage.cli.slurm import execute as slurm

        return slurm(options)
    if options.command == "receipt":
        return _receipt(options)
    if options.command == "preflight":
        from triage.cli import preflight

        return preflight.execute(options.receipt, options.budget, options.format)
    root.print_help()
    return 2 if not given else 0


def _is_root_option(word: str) -> bool:
    return word in {"-h", "--help", "--version"} or word.startswith("--print-completion")


def _diagnose(options: argparse.Namespace) -> int:
    if not options.paths and options.receipt is None:
        raise UsageError(
            "give logs, dumps or directories to read, or a receipt; see `triage diagnose --help`"
        )
    from triage.cli.diagnose import Options
    from triage.cli.diagnose import execute as diagnose

    return diagnose(
        options.paths,
        Options(
            format=options.format,
            rules=tuple(options.rules),
            receipt=options.receipt,
            per_job=options.per_job,
            explain=options.explain,
            verbose=options.verbose,
            color=False if options.no_color else None,
            exit_zero=options.exit_zero,
        ),
    )


def _rules(options: argparse.Namespace) -> int:
    from triage.cli import rules

    if options.action == "list":
        return rules.list_rules(options.stack, options.rules)
    if options.action == "show":
        return rules.show_rule(options.id, options.rules)
    if options.action == "lint":
        return rules.lint_rules(options.paths)
    if options.action == "test":
        return rules.test_rules(options.paths)
    from triage.cli.draft import draft_rule

    return draft_rule(options.log)


def _receipt(options: argparse.Namespace) -> int:
    from triage.cli import receipt

    if options.action == "collect":
        return receipt.collect_receipt(options.out, options.launch)
    return receipt.diff_receipts(options.one, options.other, options.format)


def _completion(root: argparse.ArgumentParser, shell: str) -> int:
    try:
        import shtab
    except ImportError:
        raise UsageError("completion scripts need shtab: pip install shtab") from None
    sys.stdout.write(shtab.complete(root, shell=shell) + "\n")
    return 0
