"""The command line as a user meets it: what it prints, where, and the exit code."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from triage.cli import app
from triage.cli.diagnose import Options
from triage.cli.main import COMMANDS, main

FAILURE = '[rank1]: Traceback (most recent call last):\n[rank1]:   File "/w/t.py", line 3, in f\n[rank1]:     g()\n[rank1]: KeyError: 3\n'


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.err"
    path.write_text(FAILURE)
    return path


def test_exit_codes(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    healthy, empty = tmp_path / "ok.log", tmp_path / "empty.log"
    healthy.write_text("step 1 loss=0.5\nTraining complete.\n")
    empty.write_text("")
    assert main([str(job)]) == 1
    assert main([str(healthy)]) == 0
    assert main([str(empty)]) == 3
    assert main([str(tmp_path / "none")]) == 2
    assert main(["--exit-zero", str(job)]) == 0
    assert "no such file" in capsys.readouterr().err


def test_paths_alone_mean_what_the_parser_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], dict[str, object]]] = []

    def execute(paths: list[str], options: Options) -> int:
        asked.append((paths, dataclasses.asdict(options)))
        return 0

    monkeypatch.setattr("triage.cli.diagnose.execute", execute)
    for command in (["a", "b"], ["diagnose", "a", "b"]):
        assert main(command) == 0
    assert asked[0] == asked[1]
    assert set(app._ADD) == COMMANDS


def test_a_plain_start_imports_little(job: Path) -> None:
    """What reading a small log does without, and should go on doing without: each takes a while to be imported."""
    code = "import sys; from triage.cli.main import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, str(job)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("FAILED")
    too_much = {"argparse", "pathlib", "shutil", "html", "yaml", "hyperscan", "logging", "importlib.metadata"}
    assert not set(done.stderr.split()) & too_much


def test_usage_errors_say_the_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["x", "--frmat", "json"]) == 2
    assert main(["x", "--format", "pdf"]) == 2
    assert main([]) == 2
    error = capsys.readouterr().err
    assert "--help" in error
    assert "Traceback" not in error


def test_formats(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(job), "--format", "json"])
    assert json.loads(capsys.readouterr().out)["root_cause"]["origin"]["rank"] == 1
    main([str(job), "--format", "oneline"])
    assert capsys.readouterr().out.startswith("FAILED user-code rank=1")
    main([str(job), "--format", "md"])
    assert capsys.readouterr().out.startswith("## FAILED")
    main([str(job), "--explain", "--verbose"])
    assert "Why" in capsys.readouterr().out


def test_a_fault_of_its_own_is_one_clear_message(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError("\x1b[31mboom")

    monkeypatch.delenv("TRIAGE_DEBUG", raising=False)
    monkeypatch.setattr("triage.cli.diagnose.execute", fail)
    assert main([str(job)]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert "ZeroDivisionError" in said.err and "TRIAGE_DEBUG=1" in said.err
    assert "Traceback" not in said.err and "\x1b" not in said.err
    monkeypatch.setenv("TRIAGE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main([str(job)])


def test_per_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "slurm-11.err").write_text(FAILURE)
    (tmp_path / "slurm-12.err").write_text("step 1 loss=0.5\nTraining complete.\n")
    assert main(["--per-job", "--format", "json", str(tmp_path)]) == 1
    verdicts = sorted(d["verdict"] for d in json.loads(capsys.readouterr().out))
    assert verdicts == ["failed", "healthy"]


def test_own_rules_are_used_and_broken_ones_named(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    assert main(["rules", "draft", str(job)]) == 0
    (rules / "mine.yaml").write_text(capsys.readouterr().out)
    assert main(["--rules", str(rules), "--format", "oneline", str(job)]) == 1
    assert "rule=local.key-error" in capsys.readouterr().out
    (rules / "mine.yaml").write_text("rules: [\n")
    assert main(["--rules", str(rules), str(job)]) == 2
    assert "mine.yaml" in capsys.readouterr().err


def test_rules_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", "torch"]) == 0
    assert "torch.oom" in capsys.readouterr().out
    assert main(["rules", "show", "torch.oom"]) == 0
    assert "anchor" in capsys.readouterr().out
    assert main(["rules", "show", "torch.oomm"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_a_drafted_rule_passes_its_own_examples(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["rules", "draft", str(job)])
    draft = tmp_path / "draft.yaml"
    draft.write_text(capsys.readouterr().out)
    assert main(["rules", "test", str(draft)]) == 0


def test_a_bad_receipt_is_named(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--receipt", str(job), str(job)]) == 2
    assert "not a receipt" in capsys.readouterr().err


def run(arguments: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, "-m", "triage", *arguments], capture_output=True, env=environment, **options
    )  # type: ignore[call-overload,no-any-return]


def test_standard_input_and_a_closed_pipe(job: Path) -> None:
    assert run(["-", "--format", "oneline"], input=FAILURE.encode()).stdout.startswith(
        b"FAILED user-code rank=1"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    closed = subprocess.run(
        f"{sys.executable} -m triage --verbose --explain {job} | true",
        shell=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    assert b"Traceback" not in closed.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has the full device")
def test_an_answer_that_can_not_be_written_is_said(job: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    for arguments in ("rules list", str(job)):
        full = subprocess.run(
            f"{sys.executable} -m triage {arguments} > /dev/full",
            shell=True, capture_output=True, env=environment, check=False,
        )  # fmt: skip
        assert full.returncode == 2
        assert full.stderr == b"triage: could not write the answer: No space left on device\n"


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_were_closed_before_it_began(job: Path, closing: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        f"{sys.executable} -m triage {job} {closing}",
        shell=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert not done.stderr


def test_a_terminal_that_knows_only_ascii(job: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "triage", str(job)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 1
    assert not done.stderr


def test_starting_imports_nothing_heavy() -> None:
    code = "import sys, triage.cli.diagnose; print([m for m in ('rich','typer','yaml','polars','logging') if m in sys.modules])"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env={**os.environ, "PYTHONPATH": str(root)}
    )
    assert done.stdout.strip() == b"[]"


def test_completion_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-completion", "bash"]) == 0
    assert "triage" in capsys.readouterr().out
