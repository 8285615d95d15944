from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Source
from triage.readers.p2p import P2pReader, findings_in
from triage.readers.topology import TopologyReader

DATA = Path(__file__).parent / "data"
READER = P2pReader()


@pytest.mark.parametrize(
    ("name", "rules", "blocked"),
    [
        ("all-ok", ["topology.p2p-matrix"], 0),
        ("pcie-of-nvlinked-h200", ["topology.p2p-matrix"], 1),
        ("two-sockets", ["topology.p2p-matrix"], 16),
        ("gpu2-excluded", ["topology.p2p-matrix", "topology.p2p-excluded"], 7),
    ],
)
def test_matrices(name: str, rules: list[str], blocked: int) -> None:
    data = (DATA / "p2p" / f"{name}.txt").read_bytes()
    assert READER.recognise("x", data)
    assert not TopologyReader().recognise("x", data)
    findings = READER.read(data, Source("x"), 0).findings
    assert [f.rule_id for f in findings] == rules
    assert findings[0].fields["blocked"] == blocked


def test_the_excluded_gpu_and_the_capability() -> None:
    findings = READER.read((DATA / "p2p" / "gpu2-excluded.txt").read_bytes(), Source("x"), 0).findings
    assert findings[1].gpu == 2
    assert findings[1].fields["capability"] == "NVLink"
    assert "topology not supported" in str(findings[1].fields["states"])


def test_a_topology_matrix_is_not_one() -> None:
    text = (DATA / "topology" / "hgx-h100-8.txt").read_bytes()
    assert not READER.recognise("x", text)
    assert findings_in(text, Source("x"), 0) == ()
