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


_LOST_NODE = (
    "(raylet) The node with node id: 0f21 and address: 10.0.0.51 and node name: 10.0.0.51 has been marked dead "
    "because the detector has missed too many heartbeats from it.\n"
    "(raylet) Raylet is terminated. Termination is unexpected. Last 20 lines of the Raylet logs:\n"
)
_ITS_WORDS = (
    "    [2024-05-08 14:23:11,610 C 211 211] (raylet) node_manager.cc:1068: [Timeout] Exiting because this node "
    "manager has mistakenly been marked as dead by the GCS: GCS failed to check the health of this node for 5 times.\n"
)
_TOO_FEW = (
    "ValueError: The number of required GPUs exceeds the total number of available GPUs in the cluster.\n"
)
_RING = "slurmstepd: error:  mpi/pmix_v3: pmixp_coll_ring_{}: gpu-a001 [0]: pmixp_coll_ring.c:{}\n"
_TIMED_OUT = _RING.format("reset_if_to", "742: 0x14ce0c02cb20: collective timeout seq=0")


@pytest.mark.parametrize(
    ("log", "rule"),
    [
        (_LOST_NODE + _ITS_WORDS + _TOO_FEW, "ray.marked-dead"),
        (_LOST_NODE + _TOO_FEW, "ray.node-dead"),
        (_TIMED_OUT + _RING.format("log", "827: \t wait contrib: gpu-a002"), "slurm.pmix-awaited"),
        (_TIMED_OUT + _RING.format("log", "827: \t wait contrib: -"), "slurm.pmix-no-response"),
    ],
)
def test_what_a_report_tells_further_down(engine: Engine, log: str, rule: str) -> None:
    found = engine.diagnose(Source("job.log", data=log.encode())).root_cause
    assert found is not None
    assert found.rule_id == rule


_STUCK = (
    "2024-07-29 17:14:59.920189: E external/xla/xla/service/rendezvous.cc:38] This thread has been waiting for `initialize "
    "clique for rank 6; clique=devices=[0,1,2,3]; stream=0; run_id=7` for 10 seconds and may be stuck. Expected 8 threads "
    "to join the rendezvous, but not all of them arrived on time.\n"
)
_FREED = "2024-07-29 17:15:01.9: E external/xla/xla/service/rendezvous.cc:43] Thread is unstuck! Warning above was a false-positive.\n"


@pytest.mark.parametrize(("below", "verdict"), [("", "failed"), (_FREED, "healthy")])
def test_what_is_harmless_unless_the_log_ends_with_it(engine: Engine, below: str, verdict: str) -> None:
    steps = "".join(f"step {n} took 1.2 s, loss is 3.{n}\n" for n in range(1, 6))
    log = steps + _STUCK + below
    assert engine.diagnose([Source("job.log", data=log.encode())]).verdict == verdict


_ABORTED = "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n"
_LOST_CLIENT = "[cn007.24154] PMIX ERROR: UNREACHABLE in file server/pmix_server.c at line 2147\n"


def test_clients_that_are_lost_after_an_abort_are_no_cause(engine: Engine) -> None:
    found = engine.diagnose([Source("job.log", data=(_ABORTED + _LOST_CLIENT).encode())])
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.category == "unknown"
