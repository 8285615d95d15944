"""PCIe links that are narrower than they could be."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.readers.lspci import findings_in

ADAPTER = "9a:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]"
GPU = "3b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)"
DEVICE = """{head}
\tSubsystem: Some Vendor Device 0041
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\t\tClockPM- Surprise- LLActRep- BwNot- ASPMOptComp+
\t\tLnkSta:\tSpeed {speed}, Width {width}
"""


def rules(text: str) -> list[str]:
    return [f.rule_id for f in findings_in(text, Source("lspci.txt"), 0)]


@pytest.mark.parametrize(
    ("head", "rule"), [(ADAPTER, "topology.pcie-adapter-narrow"), (GPU, "topology.pcie-gpu-narrow")]
)
@pytest.mark.parametrize("width", ["x2 (downgraded)", "x8, TrErr- Train-"])
def test_a_narrow_link(head: str, rule: str, width: str) -> None:
    (found,) = findings_in(
        DEVICE.format(head=head, speed="8GT/s (downgraded)", width=width), Source("lspci.txt"), 0
    )
    assert (found.rule_id, found.fields["pci"], found.fields["full"]) == (rule, f"0000:{head[:7]}", 16)


@pytest.mark.parametrize(
    ("head", "speed", "width"),
    [
        (GPU, "2.5GT/s (downgraded)", "x16 (ok)"),  # at rest
        (ADAPTER, "16GT/s (downgraded)", "x16 (ok)"),  # in an older slot
        (ADAPTER, "2.5GT/s (downgraded)", "x0 (downgraded)"),  # switched off
        ("00:01.0 PCI bridge: Intel Corporation Device 352a", "8GT/s (downgraded)", "x2 (downgraded)"),
        ("02:00.0 Ethernet controller: Intel Corporation I210", "2.5GT/s", "x1 (downgraded)"),
    ],
)
def test_other_links_tell_nothing(head: str, speed: str, width: str) -> None:
    assert rules(DEVICE.format(head=head, speed=speed, width=width)) == []


def test_beside_a_run_that_ended_well_it_is_a_warning(engine: Engine) -> None:
    narrow = DEVICE.format(head=ADAPTER, speed="8GT/s (downgraded)", width="x2 (downgraded)").encode()
    log = "".join(f"2026-03-04 10:11:1{n} INFO step {n} loss 2.{300 - n}\n" for n in range(8))
    sources = [
        Source("lspci.txt", data=narrow),
        Source("train.log", data=f"{log}INFO Training completed\n".encode()),
    ]
    found = engine.diagnose(sources)
    assert (found.verdict, [w.category for w in found.warnings]) == ("healthy", ["topology"])
    alone = engine.diagnose(sources[:1])
    assert alone.root_cause is not None
    assert alone.root_cause.category == "topology"
