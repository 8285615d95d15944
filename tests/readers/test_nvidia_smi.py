from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Finding, Reading, Source
from triage.readers.nvidia_smi import NvidiaSmiReader, find_devices, findings_in

DATA = Path(__file__).parent / "data" / "nvidia_smi"
READER = NvidiaSmiReader()
CONTEXT = {"gpu.smi-device", "gpu.smi-version", "gpu.smi-inventory", "gpu.smi-memory-held"}


def load(name: str) -> str:
    return (DATA / name).read_text()


def read(text: str) -> Reading:
    return READER.read(text.encode(), Source("smi.txt"), 0)


def problems(reading: Reading) -> dict[str, Finding]:
    return {f.rule_id: f for f in reading.findings if f.rule_id not in CONTEXT}


def changed(key: str, old: str, new: str) -> Reading:
    """The ``-q`` capture with the first such value of its last GPU changed."""
    first, gpu0, gpu1 = load("q-h200.txt").partition("GPU 00000000:00:07.0")
    pattern = re.compile(rf"^(\s+{re.escape(key)}\s+: ){re.escape(old)}$", re.MULTILINE)
    assert pattern.search(gpu1), key
    return read(first + gpu0 + pattern.sub(rf"\g<1>{new}", gpu1, count=1))


@pytest.mark.parametrize("name", ["table-h200.txt", "q-h200.txt"])
def test_healthy_output_gives_facts_only(name: str) -> None:
    text = load(name)
    assert READER.recognise("x", text.encode())
    reading = read(text)
    assert problems(reading) == {}
    version = next(f for f in reading.findings if f.rule_id == "gpu.smi-version")
    assert version.fields == {"driver": (580, 159, 4), "cuda": (13, 0)}
    devices = [f for f in reading.findings if f.rule_id == "gpu.smi-device"]
    assert devices[0].fields["pci"] == "0000:00:06.0"
    assert devices[1].fields["model"] == "NVIDIA H200"
    assert [d.gpu for d in devices] == list(range(len(devices)))


def test_uuid_and_bus_id_are_joined() -> None:
    second = find_devices(load("q-h200.txt"))[1]
    assert (second.number, second.pci, second.uuid) == (
        1,
        "0000:00:07.0",
        "GPU-4497e145-7ee3-4c4e-8227-a824fc72d9a6",
    )
    assert second.total == 143771 << 20


def test_outputs_of_one_capture_are_merged() -> None:
    devices = find_devices(load("table-h200.txt") + load("q-h200.txt"))
    assert len(devices) == 4
    assert devices[0].uuid is not None


def test_a_gpu_that_does_not_answer() -> None:
    reading = read(load("table-a40-err.txt"))
    found = problems(reading)
    assert set(found) == {"gpu.smi-lost", "gpu.smi-ecc-uncorrectable"}
    lost = found["gpu.smi-lost"]
    assert lost.gpu == 4
    assert lost.fields["pci"] == "0000:83:00.0"
    assert "ERR!" in lost.evidence[0].text
    assert found["gpu.smi-ecc-uncorrectable"].gpu == 5
    held = next(f for f in reading.findings if f.rule_id == "gpu.smi-memory-held")
    assert held.fields["pids"] == (12806,)
    assert held.fields["used"] == 44031 << 20
    inventory = next(f for f in reading.findings if f.rule_id == "gpu.smi-inventory")
    assert inventory.fields["modes"] == "E. Process"


def test_a_silent_sensor_is_not_a_lost_gpu() -> None:
    assert set(problems(read(load("table-rtx4090-fan.txt")))) == {"gpu.smi-sensor-error"}


@pytest.mark.parametrize(
    ("key", "old", "new", "rule"),
    [
        ("DRAM Uncorrectable", "0", "12", "gpu.smi-ecc-uncorrectable"),
        ("SRAM Threshold Exceeded", "No", "Yes", "gpu.smi-sram-threshold"),
        ("Remapping Failure Occurred", "No", "Yes", "gpu.smi-remap-failed"),
        ("Channel Repair Pending", "No", "Yes", "gpu.smi-memory-repair-pending"),
        ("Pending", "No", "Yes", "gpu.smi-memory-repair-pending"),
        ("Unrepairable Memory", "No", "Yes", "gpu.smi-unrepairable"),
        ("GPU Recovery Action", "None", "Reset", "gpu.smi-recovery-action"),
        ("State", "Completed", "In Progress", "gpu.smi-fabric-not-ready"),
        ("Status", "Success", "Failure", "gpu.smi-fabric-failed"),
        ("Summary", "N/A", "Unhealthy", "gpu.smi-fabric-unhealthy"),
        ("Bandwidth", "N/A", "Degraded", "gpu.smi-fabric-unhealthy"),
        ("HW Slowdown", "Not Active", "Active", "gpu.smi-slowdown"),
        ("HW Thermal Slowdown", "Not Active", "Active", "gpu.smi-slowdown"),
        ("Current", "16x", "8x", "gpu.smi-pcie-link"),
        ("Product Name", "NVIDIA H200", "Unknown Error", "gpu.smi-lost"),
    ],
)
def test_state_of_one_gpu(key: str, old: str, new: str, rule: str) -> None:
    reading = changed(key, old, new)
    found = problems(reading)
    assert set(found) == {rule}
    finding = found[rule]
    assert finding.gpu == 1
    assert finding.fields["pci"] == "0000:00:07.0"
    assert key in finding.evidence[0].text


def test_lower_link_generation_of_an_idle_gpu_is_normal() -> None:
    slow = load("q-h200.txt").replace(
        "                Current                                : 5\n", "                Current  : 1\n"
    )
    assert problems(read(slow)) == {}
    busy = re.sub(r"(Utilization\n\s+GPU\s+: )0 %", r"\g<1>97 %", slow)
    assert set(problems(read(busy))) == {"gpu.smi-pcie-link"}


def test_aggregate_errors_alone_are_history() -> None:
    text = load("q-h200.txt")
    before, aggregate, after = text.partition("        Aggregate\n")
    once = re.sub(r"(DRAM Uncorrectable\s+): 0", r"\1: 4", after, count=1)
    assert once != after
    assert problems(read(before + aggregate + once)) == {}


def test_same_trouble_of_all_gpus_is_one_finding() -> None:
    text = load("q-h200.txt").replace(": Completed", ": In Progress").replace(": Success", ": N/A")
    found = problems(read(text))
    assert set(found) == {"gpu.smi-fabric-not-ready"}
    finding = found["gpu.smi-fabric-not-ready"]
    assert finding.fields["gpus"] == (0, 1)
    assert finding.gpu is None
    assert finding.fields["all"] is True


def test_csv_query() -> None:
    text = load("query-mixed.csv")
    assert READER.recognise("x", text.encode())
    found = problems(read(text))
    assert {k: v.gpu for k, v in found.items()} == {
        "gpu.smi-ecc-uncorrectable": 1,
        "gpu.smi-slowdown": 1,
        "gpu.smi-pcie-link": 1,
        "gpu.smi-lost": 2,
        "gpu.smi-fabric-not-ready": 2,
    }
    assert "HW slowdown, HW thermal slowdown" in str(found["gpu.smi-slowdown"].fields["detail"])


def test_mixed_memory_sizes() -> None:
    text = (
        "$ nvidia-smi --query-gpu=index,name,memory.total,memory.used --format=csv\n"
        "index, name, memory.total [MiB], memory.used [MiB]\n"
        "0, NVIDIA GeForce RTX 3090, 24576 MiB, 14 MiB\n"
        "1, NVIDIA RTX A4000, 16376 MiB, 4 MiB\n"
        "$ nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv\n"
        "pid, process_name, used_gpu_memory [MiB]\n"
    )
    assert READER.recognise("x", text.encode())
    mixed = problems(read(text))["gpu.smi-mixed"]
    assert mixed.fields["memory_least"] == 16376 << 20
    assert "RTX A4000" in str(mixed.fields["detail"])


def test_processes_of_the_csv_query() -> None:
    text = (
        "index, uuid, memory.used [MiB], memory.total [MiB]\n"
        "0, GPU-11111111-2222-3333-4444-555555555550, 70000 MiB, 81559 MiB\n"
        "\n"
        "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
        "GPU-11111111-2222-3333-4444-555555555550, 4711, /usr/bin/python3, 69990 MiB\n"
    )
    held = next(f for f in read(text).findings if f.rule_id == "gpu.smi-memory-held")
    assert held.fields["processes"] == "4711 /usr/bin/python3"


def test_healthy_query_and_an_empty_list_of_processes() -> None:
    assert problems(read(load("query-h200.csv"))) == {}
    empty = "pid, process_name, used_gpu_memory [MiB], gpu_uuid\n"
    assert READER.recognise("x", empty.encode())
    reading = read(empty)
    assert reading.complete and not reading.findings


def test_seven_modules_are_one_too_few() -> None:
    text = "".join(
        f"GPU {i}: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-55555555555{i})\n"
        for i in range(7)
    )
    assert READER.recognise("x", text.encode())
    assert problems(read(text))["gpu.smi-one-missing"].fields["expected"] == 8


def test_a_job_log_with_a_table_is_a_job_log() -> None:
    log = "".join(f"2025-11-04 12:00:{i % 60:02d} INFO step {i} loss 2.5\n" for i in range(400))
    text = log + load("table-a40-err.txt") + log
    assert not READER.recognise("job.log", text.encode())
    found = findings_in(text, Source("job.log"), 2, line=11, offset=100)
    lost = next(f for f in found if f.rule_id == "gpu.smi-lost")
    assert lost.evidence[0].line == 423
    assert lost.source == 2


def test_prefixed_lines_and_line_ends() -> None:
    for text in (
        load("table-a40-err.txt").replace("\n", "\r\n"),
        "".join(f"node7: {line}\n" for line in load("table-a40-err.txt").splitlines()),
        load("table-a40-err.txt").replace("ERR!", "\x1b[31mERR!\x1b[0m"),
    ):
        assert problems(read(text))["gpu.smi-lost"].gpu == 4


def test_nothing_readable_is_said() -> None:
    reading = read("hello\n")
    assert reading.notes and not reading.complete


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    READER.recognise("x", data)
    READER.read(data, Source("x"), 0)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(DATA.iterdir())), st.randoms(use_true_random=False))
def test_damaged_captures(path: Path, rng: random.Random) -> None:
    lines = path.read_text().splitlines()[:150]
    for _ in range(3):
        at = rng.randrange(len(lines))
        cut = rng.randint(0, len(lines[at]))
        lines[at] = rng.choice([lines[at][:cut], lines[at][cut:], lines[at] + " | extra |", ", ,", "|||||"])
    if rng.random() < 0.3:
        rng.shuffle(lines)
    READER.read("\n".join(lines).encode(), Source("x"), 0)
