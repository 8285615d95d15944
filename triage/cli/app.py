"""The commands and their options, as typer sees them. Implementations are imported when they run."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

app = typer.Typer(
    name="triage",
    help="Name the root cause of a failed distributed GPU job, and what to do about it, in order.\n\n"
    "[PATH]... may be given without a command: `triage job.err` is `triage diagnose job.err`.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
rules_app = typer.Typer(
    help="List, show, check and test rules.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(rules_app, name="rules")


class Format(str, Enum):
    """Output formats."""

    text = "text"
    json = "json"
    md = "md"
    oneline = "oneline"


RulesOption = Annotated[
    Optional[list[Path]],  # noqa: UP045  typer reads the annotation at run time
    typer.Option("--rules", metavar="DIR", help="Add a directory of rules; they win over built-in ones."),
]


def _version(show: bool) -> None:
    if show:
        from triage import __version__

        typer.echo(f"triage {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of triage itself."""


@app.command()
def diagnose(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Logs, dumps, directories, globs; - is standard input."),
    ],
    format: Annotated[Format, typer.Option("--format", "-f", help="How to print it.")] = Format.text,
    rules: RulesOption = None,
    receipt: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--receipt", metavar="FILE", help="The run's receipt (JSON), as context."),
    ] = None,
    per_job: Annotated[
        bool, typer.Option("--per-job", help="Take the paths apart into jobs instead of reading them as one.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the ledger, the argument and why the runner-up lost.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show all findings, benign ones too, and the sources.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Never colour the output.")] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 whatever the verdict; for hooks.")
    ] = False,
) -> int:
    """Say what broke first, where, why, and what to do. All paths are one job.

    Exit codes: 0 healthy, 1 failed, 2 could not do the job, 3 inconclusive.
    """
    from triage.cli.diagnose import Options, execute

    options = Options(
        format=format.value, rules=tuple(rules or ()), receipt=receipt, per_job=per_job,
        explain=explain, verbose=verbose, color=False if no_color else None, exit_zero=exit_zero,
    )  # fmt: skip
    return execute(paths, options)


@rules_app.command("list")
def rules_list(
    stack: Annotated[Optional[str], typer.Argument(help="Only rules of this stack.")] = None,  # noqa: UP045
    rules: RulesOption = None,
) -> int:
    """List rules: id, role, category, title."""
    from triage.cli.rules import list_rules

    return list_rules(stack, tuple(rules or ()))


@rules_app.command("show")
def rules_show(
    rule_id: Annotated[str, typer.Argument(metavar="ID", help="The rule's id, e.g. torch.oom.")],
    rules: RulesOption = None,
) -> int:
    """Show one rule: what it means, what to do, where it came from."""
    from triage.cli.rules import show_rule

    return show_rule(rule_id, tuple(rules or ()))


@rules_app.command("lint")
def rules_lint(
    paths: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Argument(metavar="[PATH]...", help="Rule files or directories; the built-in rules if none."),
    ] = None,
) -> int:
    """Check rules for everything that would make them useless or dangerous."""
    from triage.cli.rules import lint_rules

    return lint_rules(tuple(paths or ()))


@rules_app.command("test")
def rules_test(
    paths: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Argument(metavar="[PATH]...", help="Rule files or directories; the built-in rules if none."),
    ] = None,
) -> int:
    """Run the examples of rules, each against all rules."""
    from triage.cli.rules import test_rules

    return test_rules(tuple(paths or ()))


@rules_app.command("draft")
def rules_draft(
    path: Annotated[str, typer.Argument(metavar="LOG", help="A log whose failure no rule knows.")],
) -> int:
    """Propose a rule for the failure in a log, with anchor, pattern and examples filled in."""
    from triage.cli.draft import draft_rule

    return draft_rule(path)
