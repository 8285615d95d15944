"""One line, greppable, bounded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triage.model import Diagnosis, Origin
from triage.report.oneline import LIMIT, render

from .diagnoses import TOKEN


def test_a_failure(oom: Diagnosis) -> None:
    assert render(oom) == (
        "FAILED gpu-oom rank=2 host=gpu-node-01 gpu=2 retry=after-fix confidence=0.94 rule=torch.oom "
        '"rank 2 asked for 2.00 GiB with 1.31 GiB of 139.80 GiB free; the other ranks only waited." '
        "logs/job-4711.err:41 fp=5b7c0e91d2aa"
    )


def test_several_ranks_and_no_gpu_index(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    root = replace(oom.root_cause, origin=Origin(rank=0, ranks=(0, 1, 2, 7), pci_bus_id="0000:1b:00"))
    assert " ranks=0-2,7 pci=0000:1b:00 " in render(replace(oom, root_cause=root))


def test_no_failure(healthy: Diagnosis, inconclusive: Diagnosis) -> None:
    assert render(healthy) == (
        "HEALTHY completed=true warnings=numerics "
        '"the loss is NaN from step 4000 on, and the run went on regardless."'
    )
    assert render(inconclusive) == 'INCONCLUSIVE "The input ends in the middle of the bootstrap phase."'


@pytest.mark.parametrize("name", ["oom", "hardware", "large", "healthy", "inconclusive", "hostile"])
def test_one_short_safe_line(name: str, request: pytest.FixtureRequest) -> None:
    line = render(request.getfixturevalue(name))
    assert len(line) <= LIMIT
    assert line.isprintable()
    assert TOKEN[:12] not in line


def test_the_summary_gives_way(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    line = render(replace(oom, root_cause=replace(oom.root_cause, summary='so "long" ' * 100)))
    assert len(line) <= LIMIT
    assert line.endswith('…" logs/job-4711.err:41 fp=5b7c0e91d2aa')
    assert line.count('"') == 2
