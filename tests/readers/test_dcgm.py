from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.dcgm import DcgmReader, findings_in

DATA = Path(__file__).parent / "data" / "dcgm"
READER = DcgmReader()


def problems(name: str) -> list[Finding]:
    data = (DATA / name).read_bytes()
    assert READER.recognise("x", data)
    return [f for f in READER.read(data, Source("x"), 0).findings if f.rule_id != "gpu.dcgm-result"]


def test_passed_diagnostic() -> None:
    assert problems("diag-3-pass.txt") == []
    (facts,) = READER.read((DATA / "diag-3-pass.txt").read_bytes(), Source("x"), 0).findings
    assert facts.fields == {"passed": 12, "failed": 0, "warned": 0, "skipped": 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "diag-3-fail.txt",
            [
                ("gpu.dcgm-warning", "Persistence Mode", (0,)),
                ("gpu.dcgm-failed", "PCIe", (5,)),
                ("gpu.dcgm-failed", "GPU Memory", (2, 3)),
            ],
        ),
        ("diag-4-fail.txt", [("gpu.dcgm-failed", "memory", (1,))]),
        ("diag-fail.json", [("gpu.dcgm-failed", "targeted_power", (6,))]),
        (
            "diag-3-fail.json",
            [("gpu.dcgm-software-failed", "NVML Library", None), ("gpu.dcgm-failed", "Diagnostic", (3,))],
        ),
        ("health.txt", [("gpu.dcgm-failed", "NVLink system", (4,))]),
    ],
)
def test_failed_tests_and_their_gpus(
    name: str, expected: list[tuple[str, str, tuple[int, ...] | None]]
) -> None:
    assert [(f.rule_id, f.fields["test"], f.fields.get("gpus")) for f in problems(name)] == expected


def test_wrapped_message_and_evidence() -> None:
    memory = problems("diag-3-fail.txt")[2]
    assert "uncorrectable memory errors and row remapping failed" in str(memory.fields["message"])
    assert memory.evidence[0].line == 16
    assert "thermal slowdown" in str(problems("diag-fail.json")[0].fields["message"])


def test_nvlink_states() -> None:
    (down,) = problems("nvlink-status.txt")
    assert (down.rule_id, down.gpu, down.fields["down"]) == ("gpu.dcgm-nvlink-down", 1, 2)


def test_cut_json_is_noted() -> None:
    data = (DATA / "diag-fail.json").read_bytes()[:400]
    reading = READER.read(data, Source("x"), 0)
    assert reading.notes and not reading.complete


def test_inside_a_log() -> None:
    log = "INFO training\n" * 60
    text = log + (DATA / "diag-4-fail.txt").read_text() + log
    assert not READER.recognise("x", text.encode())
    assert [f.rule_id for f in findings_in(text, Source("x"), 0)] == ["gpu.dcgm-result", "gpu.dcgm-failed"]
