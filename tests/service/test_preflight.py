"""The preflight on made-up nodes: files under a folder, an nvidia-smi that replays real output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from triage.cli.main import main
from triage.rules.loader import RuleSet, load_rules
from triage.service.preflight import Report, run
from triage.service.preflight.bandwidth import expected, visible
from triage.service.preflight.host import count_of
from triage.service.preflight.model import Check, Node
from triage.service.preflight.table import render

READERS = Path(__file__).parents[1] / "readers/data"
DATA = Path(__file__).parent / "data"
H200 = {
    "-q": READERS / "nvidia_smi/q-h200.txt",
    "topo -m": READERS / "topology/hgx-h100-8.txt",
    "nvlink --status": READERS / "nvlink/h100-8.txt",
    "nvlink -e": DATA / "nvlink-e.txt",
}


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    return load_rules()


def smi(folder: Path, monkeypatch: pytest.MonkeyPatch, outputs: dict[str, Path], script: str = "") -> None:
    """An nvidia-smi that prints files."""
    cases = "\n".join(f'"{arguments}") cat "{path}";;' for arguments, path in outputs.items())
    program = folder / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n{script}\ncase "$*" in\n{cases}\n*) exit 9;; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/usr/bin:/bin")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # the GPUs are made up: nothing to measure


def node_of(folder: Path, files: dict[str, str]) -> Path:
    root = folder / "node"
    (root / "dev/shm").mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def outcome(report: Report) -> dict[str, str]:
    worst = {"fail": 3, "warn": 2, "pass": 1, "skip": 0}
    found: dict[str, str] = {}
    for check in report.checks:
        if worst[check.status] >= worst.get(found.get(check.name, "skip"), 0):
            found[check.name] = check.status
    return found


def port(
    device: str, layer: str, state: str = "4: ACTIVE", gids: dict[str, str] | None = None
) -> dict[str, str]:
    base = f"sys/class/infiniband/{device}/ports/1"
    files = {
        f"{base}/state": state,
        f"{base}/phys_state": "5: LinkUp" if "ACTIVE" in state else "2: Polling",
        f"{base}/rate": "400 Gb/sec (4X NDR)",
        f"{base}/link_layer": layer,
    }
    for index, gid in (gids or {}).items():
        files[f"{base}/gids/{index}"] = gid
        files[f"{base}/gid_attrs/types/{index}"] = "RoCE v2"
    return files


def test_a_healthy_node_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet) -> None:
    smi(tmp_path, monkeypatch, H200)
    root = node_of(
        tmp_path, {"proc/sys/kernel/numa_balancing": "0\n", "sys/devices/system/node/online": "0-1\n"}
    )
    report = run(20, rules=rules, root=root)
    shown = outcome(report)
    assert not {"warn", "fail"} & {shown[k] for k in ("gpus", "topology", "nvlink", "numa-balancing")}, (
        render(report)
    )
    assert shown["gpus"] == shown["topology"] == shown["nvlink"] == "pass"
    assert shown["rdma"] == "skip"
    assert report.facts["topology_design"] == "switched"
    assert report.found


def test_what_is_broken_fails_with_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet
) -> None:
    broken = {
        **H200,
        "topo -m": READERS / "topology/hgx-h100-8-gpu5-isolated.txt",
        "nvlink --status": READERS / "nvlink/h100-gpu3-down.txt",
    }
    smi(tmp_path, monkeypatch, broken)
    report = run(20, rules=rules, root=node_of(tmp_path, {}))
    shown = outcome(report)
    assert shown["topology"] == shown["nvlink"] == "fail"
    assert report.exit_code == 1
    failed = [check for check in report.checks if check.status == "fail"]
    assert all(check.steps and check.steps[0].do for check in failed)
    text = render(report)
    assert "not fit for a job" in text
    assert "  1. " in text


def test_adapters_and_their_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    address = {"3": "0000:0000:0000:0000:0000:ffff:0a00:0411"}
    good = {**port("mlx5_0", "InfiniBand"), **port("mlx5_1", "Ethernet", gids=address)}
    report = run(5, rules=rules, root=node_of(tmp_path, good))
    shown = outcome(report)
    assert (shown["rdma"], shown["gids"]) == ("pass", "pass"), render(report)
    assert report.found
    (tmp_path / "other").mkdir()
    link_local = {"0": "fe80:0000:0000:0000:bace:f6ff:fe1e:2a00"}
    bad = {**port("mlx5_0", "InfiniBand", "1: DOWN"), **port("mlx5_1", "Ethernet", gids=link_local)}
    shown = outcome(run(5, rules=rules, root=node_of(tmp_path / "other", bad)))
    assert shown["rdma"] in {"warn", "fail"}
    assert shown["gids"] == "warn"


def test_locked_memory_matters_where_there_are_adapters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet
) -> None:
    import resource

    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(resource, "getrlimit", lambda what: (65536, 65536))
    root = node_of(tmp_path, port("mlx5_0", "InfiniBand"))
    assert outcome(run(5, rules=rules, root=root))["memlock"] == "fail"
    (tmp_path / "other").mkdir()
    assert outcome(run(5, rules=rules, root=node_of(tmp_path / "other", {})))["memlock"] == "pass"


@pytest.mark.parametrize(
    ("balancing", "nodes", "status"),
    [("1", "0-1", "warn"), ("1", "0", "pass"), ("0", "0-7", "pass"), ("?", "0", "skip")],
)
def test_numa_balancing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet, balancing: str, nodes: str, status: str
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    files = {"proc/sys/kernel/numa_balancing": balancing, "sys/devices/system/node/online": nodes}
    assert outcome(run(5, rules=rules, root=node_of(tmp_path, files)))["numa-balancing"] == status


def test_a_node_without_gpus_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    report = run(5, rules=rules, root=node_of(tmp_path, {}))
    assert outcome(report)["gpus"] == "skip"
    assert not report.found
    if report.count("fail") == 0:
        assert report.exit_code == 3
        assert "nothing to check" in render(report)


def test_a_driver_that_fails_or_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet
) -> None:
    says = "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18"
    smi(tmp_path, monkeypatch, {}, says)
    report = run(20, rules=rules, root=node_of(tmp_path, {}))
    assert outcome(report)["gpus"] == "fail"
    assert "version mismatch" in report.checks[0].detail
    (tmp_path / "other").mkdir()
    smi(tmp_path / "other", monkeypatch, {}, "exec sleep 600")
    report = run(0.2, rules=rules, root=node_of(tmp_path / "other", {}))
    assert outcome(report)["gpus"] == "fail"
    assert "did not answer" in report.checks[0].detail


def test_gpus_without_their_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: RuleSet) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    report = run(5, rules=rules, root=node_of(tmp_path, {"dev/nvidia0": "", "dev/nvidiactl": ""}))
    assert outcome(report)["gpus"] == "warn"


def test_visible_gpus_are_counted_as_cuda_does() -> None:
    assert visible(4, None) == ["0", "1", "2", "3"]
    assert visible(4, "2,3") == ["2", "3"]
    assert visible(4, "0,-1,2") == ["0"]
    assert visible(4, "0,9,1") == ["0"]
    assert visible(4, "") == []
    assert visible(None, None) == []
    assert count_of("0-3,8") == 5
    assert count_of("nonsense") == 0


def test_what_a_fabric_should_reach(tmp_path: Path) -> None:
    node = Node(10.0, topology=H200["topo -m"].read_text(), facts={"nvlink_gb_s": 26.562})
    reach = expected(node, ["0", "1"], "")
    assert reach is not None
    assert 180 < reach[0] < 260
    cards = Node(10.0, topology=(READERS / "topology/l40s-8-pcie.txt").read_text())
    reach = expected(cards, ["0", "1"], H200["-q"].read_text())
    assert reach is not None
    assert reach[0] < 15
    assert expected(cards, ["GPU-1234", "1"], "") is None
    assert expected(Node(10.0), ["0", "1"], "") is None


def test_what_a_real_node_printed_passes_without_a_warning() -> None:
    for name in ("gpu4", "gpu2", "gpu1"):
        report = json.loads((DATA / f"{name}.json").read_text())["preflight"]
        assert report["result"] == "ok"
        assert {check["status"] for check in report["checks"]} == {"pass", "skip"}
        checks = tuple(Check(c["name"], c["status"], c["detail"]) for c in report["checks"])
        shown = render(Report(report["host"], checks, report["facts"], seconds=report["seconds"]))
        assert shown == (DATA / f"{name}.txt").read_text()


def test_the_command_writes_a_receipt_and_exits_by_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "hf" + "_" + "aB3dE6gH9jK2" * 3
    monkeypatch.setenv("HF_TOKEN", secret)
    monkeypatch.setenv("NCCL_NOTE", secret)
    smi(tmp_path, monkeypatch, H200)
    out = tmp_path / "receipt.json"
    code = main(["preflight", "--budget", "20", "--format", "json", "--receipt", str(out)])
    report = json.loads(capsys.readouterr().out)
    assert code == {"ok": 0, "problems": 1}[report["result"]]
    receipt = json.loads(out.read_text())
    assert receipt["preflight"]["result"] == report["result"]
    assert "GPU0" in receipt["topology"]
    assert secret not in out.read_text()
    assert main(["--receipt", str(out)]) in {0, 1}
    assert main(["preflight", "--budget", "0"]) == 2
    assert main(["preflight", "--receipt", str(tmp_path / "no/such/place"), "--budget", "5"]) == 2
