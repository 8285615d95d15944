from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.ray_status import RayStatusReader, findings_in

DATA = Path(__file__).parent / "data" / "ray_status"
READER = RayStatusReader()


def load(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


def findings(text: str) -> list[Finding]:
    assert READER.recognise("x", text.encode())
    return list(READER.read(text.encode(), Source("x"), 0).findings)


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("healthy", []),
        ("label-is-a-name", ["ray.node-label-is-a-name"]),
        ("label-unknown", ["ray.node-label-unknown"]),
        ("too-many", ["ray.demand-exceeds-cluster"]),
        ("busy", ["ray.cluster-busy", "ray.status-node-failure"]),
        ("pending", ["ray.demand-pending"]),
    ],
)
def test_demands(name: str, rules: list[str]) -> None:
    assert [f.rule_id for f in findings(load(name))[1:]] == rules


def test_facts_and_fields() -> None:
    status, label = findings(load("label-is-a-name"))
    assert (status.fields["nodes"], status.fields["gpus"], status.fields["gpus_used"]) == (2, 16.0, 0.0)
    assert label.fields["label"] == "gpu-a.cluster.example.org"
    assert label.fields["free"] == 16.0
    assert findings(load("too-many"))[1].fields["wanted"] == 24.0


def test_older_headings_and_the_last_of_several() -> None:
    old = load("busy").replace("Active:", "Healthy:")
    assert findings(old)[0].fields["nodes"] == 2
    assert [f.rule_id for f in findings(load("busy") + load("healthy"))] == ["ray.status"]


def test_inside_a_log() -> None:
    log = "(VllmWorker pid=3) INFO 02-03 03:41:16 step\n" * 100
    text = log + load("too-many") + log
    assert not READER.recognise("x", text.encode())
    assert [f.rule_id for f in findings_in(text, Source("x"), 0)] == [
        "ray.status",
        "ray.demand-exceeds-cluster",
    ]
    assert findings_in(log, Source("x"), 0) == ()
