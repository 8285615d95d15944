"""Receipts at the start of a job, and two of them compared."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from triage.cli.main import main
from triage.service.collect import collect, launch_of
from triage.service.diff import compare, render

DATA = Path(__file__).parent / "data"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/receipt.schema.json").read_text())
SECRET = "hf" + "_" + "aB3dE6gH9jK2" * 3


def test_launch_environment_and_versions_are_recorded_without_secrets() -> None:
    environment = {
        "NCCL_DEBUG": "INFO", "HF_TOKEN": SECRET, "NCCL_NOTE": f"x {SECRET}", "SLURM_JOB_ID": "17",
        "MY_OWN_THING": "kept out", "WANDB_API_KEY": "0123456789abcdef",
    }  # fmt: skip
    command = ["torchrun", "--nproc-per-node=4", "--nnodes", "2", "train.py", "--tp", "8", "--token", SECRET]
    receipt = collect(command, environment=environment, seconds=0.0)
    jsonschema.validate(receipt, SCHEMA)
    text = json.dumps(receipt)
    assert SECRET not in text
    assert "0123456789abcdef" not in text
    assert receipt["env"]["NCCL_DEBUG"] == "INFO"
    assert "MY_OWN_THING" not in receipt["env"]
    assert receipt["slurm"] == {"job_id": "17"}
    launch = receipt["launch"]
    assert (launch["nproc_per_node"], launch["nodes"], launch["world_size"], launch["tp"]) == (4, 2, 8, 8)


def test_what_the_command_line_does_not_say_comes_from_the_environment_or_stays_unknown() -> None:
    assert launch_of([], {"WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}) == {
        "nproc_per_node": 8,
        "world_size": 16,
    }
    assert launch_of([], {"SLURM_NTASKS": "4"}) == {"world_size": 4}
    assert launch_of(["torchrun", "--nproc-per-node=gpu", "--nnodes=1:4"], {}) == {
        "argv": ["torchrun", "--nproc-per-node=gpu", "--nnodes=1:4"]
    }
    assert launch_of(["vllm", "serve", "--tensor_parallel_size"], {}) == {
        "argv": ["vllm", "serve", "--tensor_parallel_size"]
    }


def test_changes_come_in_order_of_what_they_matter() -> None:
    one = json.loads((DATA / "gpu4.json").read_text())
    other = json.loads((DATA / "gpu4.json").read_text())
    other["host"] = "gpu-node-02"
    other["env"] |= {"NCCL_MNNVL_ENABLE": "1", "EDITOR": "vi"}
    other["versions"]["nccl"] = "2.30.1"
    other["launch"] = {"tp": 2}
    other["preflight"]["facts"]["all_reduce_gb_s"] = 28.2
    changes = compare(one, other)
    paths = [change.path for change in changes]
    weights = [change.weight for change in changes]
    assert paths[:2] == ["rules.receipt.mnnvl-forced", "rules.receipt.tp-part-of-switched-node"]
    assert weights == sorted(weights, key=["high", "medium", "low"].index)
    assert {"launch.tp", "versions.nccl", "env.NCCL_MNNVL_ENABLE", "preflight.facts.all_reduce_gb_s"} <= set(
        paths[: weights.count("high")]
    )
    assert set(paths[-2:]) == {"env.EDITOR", "host"}
    text = render(changes, "a", "b")
    assert text.index("likely to matter") < text.index("rarely matters")


def test_figures_that_are_never_the_same_twice_are_no_change() -> None:
    one = {"memory": [{"allocated_bytes": 100, "reserved_bytes": 200}], "step_window": {"mean_s": 1.0}}
    other = {"memory": [{"allocated_bytes": 104, "reserved_bytes": 201}], "step_window": {"mean_s": 1.05}}
    assert compare(one, other) == []
    assert [c.path for c in compare(one, {**other, "step_window": {"mean_s": 1.5}})] == ["step_window.mean_s"]
    assert compare(one, one) == []


def test_a_topology_is_compared_without_its_legend() -> None:
    matrix = "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n"
    legend = matrix.replace("\t", "      ") + "\nLegend:\n  X = Self\n"
    assert compare({"topology": matrix}, {"topology": legend}) == []
    assert compare({"topology": matrix}, {"topology": [["X", "SYS"], ["SYS", "X"]]})[0].weight == "high"


def test_secrets_do_not_show_in_a_comparison() -> None:
    changes = compare({"env": {"HF_TOKEN": SECRET}}, {"env": {"HF_TOKEN": "other" + SECRET, "X": SECRET}})
    assert SECRET not in render(changes, "a", "b")


def test_the_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_NOTE", SECRET)
    out = tmp_path / "a.json"
    assert main(["receipt", "collect", "--out", str(out), "--", "python", "train.py", "--tp", "4"]) == 0
    assert json.loads(out.read_text())["launch"]["argv"] == ["python", "train.py", "--tp", "4"]
    assert SECRET not in out.read_text()
    assert main(["receipt", "collect"]) == 0
    assert SECRET not in capsys.readouterr().out
    assert main(["receipt", "diff", str(out), str(out)]) == 0
    assert "say the same" in capsys.readouterr().out
    assert main(["receipt", "diff", str(out), str(DATA / "gpu4.json"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["changes"]
    assert main(["receipt", "diff", str(out), str(tmp_path / "none.json")]) == 2
