from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.infiniband import InfinibandReader, find_ports, findings_in

DATA = Path(__file__).parent / "data" / "infiniband"
READER = InfinibandReader()
CONTEXT = {"fabric.ib-ports", "fabric.gid-table"}


def findings(text: str) -> list[Finding]:
    assert READER.recognise("x", text.encode())
    return list(READER.read(text.encode(), Source("x"), 0).findings)


def problems(text: str) -> list[tuple[str, object]]:
    return [(f.rule_id, f.fields["ports"]) for f in findings(text) if f.rule_id not in CONTEXT]


def load(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ibstat-healthy", []),
        ("ibstat-one-down", [("fabric.ib-port-down", "mlx5_5/1")]),
        ("ibstat-slow", [("fabric.ib-rate-degraded", "mlx5_2/1")]),
        ("ibstatus", [("fabric.ib-port-unused", "mlx5_1/1")]),
        ("ibv_devinfo", [("fabric.ib-no-subnet-manager", "mlx5_1/1")]),
        ("rdma-link", [("fabric.ib-port-disabled", "mlx5_1/1")]),
        ("perfquery", [("fabric.ib-link-errors", "lid 1719/1")]),
        ("sysfs", [("fabric.ib-transport-errors", "mlx5_0/1")]),
        ("show_gids", []),
    ],
)
def test_ports(name: str, expected: list[tuple[str, str]]) -> None:
    assert problems(load(name)) == expected


def test_all_ports_without_subnet_manager_are_one_finding() -> None:
    (finding,) = [f for f in findings(load("ibstat-no-sm")) if f.rule_id not in CONTEXT]
    assert finding.rule_id == "fabric.ib-no-subnet-manager"
    assert finding.fields["count"] == 8
    assert "State: Initializing" in finding.evidence[0].text


def test_all_ports_down() -> None:
    text = load("ibstat-healthy").replace("State: Active", "State: Down").replace("LinkUp", "Polling")
    assert {rule for rule, _ in problems(text)} == {"fabric.ib-all-ports-down"}


def test_second_port_of_an_active_adapter_is_unused() -> None:
    text = load("ibstat-healthy") + "\tPort 2:\n\t\tState: Down\n\t\tPhysical state: Polling\n\t\tRate: 10\n"
    assert problems(text) == [("fabric.ib-port-unused", "mlx5_9/2")]


def test_link_training_and_one_lane() -> None:
    text = load("ibstat-one-down").replace("Physical state: Polling", "Physical state: LinkErrorRecovery")
    assert problems(text) == [("fabric.ib-link-training", "mlx5_5/1")]
    lane = load("ibstatus").replace("400 Gb/sec (4X NDR)", "100 Gb/sec (1X NDR)")
    assert ("fabric.ib-rate-degraded", "mlx5_0/1") in problems(lane)


def test_gid_index_of_roce_v2() -> None:
    table = next(f for f in findings(load("show_gids")) if f.rule_id == "fabric.gid-table")
    assert (table.fields["roce_v2"], table.fields["ip"]) == (3, "10.0.4.17")


def test_lost_indentation_and_netdev_table() -> None:
    flat = "\n".join(line.strip() for line in load("ibstat-one-down").splitlines())
    assert problems(flat) == [("fabric.ib-port-down", "mlx5_5/1")]
    (port,) = find_ports("mlx5_0 port 1 ==> ib0 (Up)\n")
    assert port.netdev == "ib0"


def test_inside_a_log() -> None:
    log = "".join(f"[1,0]<stdout>:step {i}: loss=2.1 lr=1e-4 grad_norm=0.3 and so on\n" for i in range(80))
    text = log + load("ibstat-one-down") + log
    assert not READER.recognise("x", text.encode())
    assert "fabric.ib-port-down" in {f.rule_id for f in findings_in(text, Source("x"), 0)}
    assert findings_in(log, Source("x"), 0) == ()
