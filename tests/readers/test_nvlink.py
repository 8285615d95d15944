from __future__ import annotations

from pathlib import Path

from triage.model import Finding, Source
from triage.readers.nvlink import NvlinkReader, find_links, findings_in

DATA = Path(__file__).parent / "data" / "nvlink"
READER = NvlinkReader()


def problems(text: str) -> list[Finding]:
    assert READER.recognise("x", text.encode())
    found = READER.read(text.encode(), Source("x"), 0).findings
    return [f for f in found if f.rule_id.startswith("gpu.nvlink-") and f.rule_id != "gpu.nvlink-status"]


def load(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


def test_all_links_up() -> None:
    assert problems(load("h100-8")) == []
    assert [len(gpu.active) for gpu in find_links(load("h100-8"))] == [18] * 8


def test_inactive_links_name_gpu_and_link() -> None:
    (finding,) = problems(load("h100-gpu3-down"))
    assert finding.rule_id == "gpu.nvlink-down"
    assert finding.gpu == 3
    assert finding.fields["links"] == "7, 12"
    assert (finding.fields["active"], finding.fields["expected"]) == (16, 18)
    assert "Link 12: <inactive>" in finding.evidence[0].text


def test_cards_without_bridge_are_fine_and_modules_are_not() -> None:
    assert problems(load("a100-pcie-none")) == []
    (finding,) = problems(load("h200-none"))
    assert (finding.rule_id, finding.fields["expected"]) == ("gpu.nvlink-down", 18)


def test_bridged_cards_are_compared_with_each_other() -> None:
    card = "GPU {}: NVIDIA RTX A6000 (UUID: GPU-1)\n" + "".join(
        f"\t Link {k}: 14.062 GB/s\n" for k in range(4)
    )
    text = card.format(0) + card.format(1)
    assert problems(text) == []
    (finding,) = problems(
        card.format(0) + card.format(1) + card.format(2).replace("Link 3: 14.062 GB/s", "Link 3: <inactive>")
    )
    assert (finding.gpu, finding.fields["links"]) == (2, "3")


def test_slow_link() -> None:
    (finding,) = problems(load("h100-8").replace("Link 5: 26.562", "Link 5: 12.500", 1))
    assert finding.rule_id == "gpu.nvlink-slow"
    assert finding.gpu == 0


def test_error_counters() -> None:
    assert problems(load("errors-h200-none")) == []
    found = {f.rule_id: f for f in problems(load("errors-hopper"))}
    assert set(found) == {"gpu.nvlink-recovery-errors", "gpu.nvlink-errors"}
    assert found["gpu.nvlink-recovery-errors"].fields["links"] == "9"
    assert found["gpu.nvlink-errors"].fields["errors"] == 12
    (failed,) = problems(load("errors-blackwell"))
    assert (failed.rule_id, failed.gpu, failed.fields["links"]) == ("gpu.nvlink-recovery-errors", 2, "1")


def test_inside_a_log() -> None:
    log = "step 1\n" * 50
    text = log + load("h100-gpu3-down") + log
    assert not READER.recognise("x", text.encode())
    assert findings_in(text, Source("x"), 0)[1].evidence[0].line == 50 + 3 * 19 + 1
    assert findings_in(log, Source("x"), 0) == ()
