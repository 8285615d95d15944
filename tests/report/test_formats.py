"""The door to all formats, and what it costs to open it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from triage.errors import UsageError
from triage.model import Diagnosis
from triage.report import FORMATS, render


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name", ["oom", "hardware", "large", "healthy", "inconclusive", "hostile"])
def test_every_format_renders_everything_the_same_way_twice(
    fmt: str, name: str, request: pytest.FixtureRequest
) -> None:
    diagnosis: Diagnosis = request.getfixturevalue(name)
    text = render(diagnosis, fmt)
    assert text == render(diagnosis, fmt)
    assert text
    assert not text.endswith("\n")
    text.encode()


def test_options_reach_the_format(oom: Diagnosis) -> None:
    assert "Timeline" in render(oom, "text", explain=True)
    assert "### Sources" in render(oom, "md", verbose=True)


def test_an_unknown_format_is_a_usage_error(oom: Diagnosis) -> None:
    with pytest.raises(UsageError, match=r"pdf.*known: text, json"):
        render(oom, "pdf")


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_format_imports_nothing_heavy_and_no_other_format(fmt: str) -> None:
    program = (
        "import sys\n"
        "from triage.model import Diagnosis\n"
        "from triage.report import render\n"
        f"render(Diagnosis('healthy', True, None), {fmt!r})\n"
        "print(*sys.modules)"
    )
    command = [sys.executable, "-c", program]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert not loaded & {"rich", "yaml", "typer", "regex", "hyperscan", "asyncio"}
    modules = {"text": "terminal", "json": "json", "md": "markdown", "oneline": "oneline"}
    others = {f"triage.report.{module}" for name, module in modules.items() if name != fmt}
    assert not loaded & others
