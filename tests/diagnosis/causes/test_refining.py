"""A rule that knows a line better gives way where its own condition does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage import Engine, Source

RULES = """
engine: 1
rules:
  - id: local.flux
    title: The flux failed
    role: cause
    category: config
    summary: The flux failed.
    signature: {anchor: flux capacitor failed}
    retry: after-fix
    remediation: [{do: Lower the flux}]
  - id: local.flux-lightning
    title: Lightning struck
    role: cause
    category: gpu-hardware
    summary: Lightning struck.
    signature: {anchor: flux capacitor failed}
    refines: [local.flux]
    when: seen('local.lightning')
    retry: other-nodes
    remediation: [{do: Wait for the storm}]
  - id: local.lightning
    title: Lightning
    role: context
    fact: weather
    signature: {anchor: lightning struck the clock}
"""


@pytest.mark.parametrize(
    ("log", "rule"),
    [
        ("flux capacitor failed\n", "local.flux"),
        ("lightning struck the clock\nflux capacitor failed\n", "local.flux-lightning"),
    ],
)
def test_the_better_rule_needs_its_condition(tmp_path: Path, log: str, rule: str) -> None:
    (tmp_path / "rules.yaml").write_text(RULES)
    found = Engine([tmp_path]).diagnose(Source("job.err", data=log.encode()))
    assert found.root_cause is not None
    assert found.root_cause.rule_id == rule
    assert [other.rule_id for other in found.alternatives] == []
