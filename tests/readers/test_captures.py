"""What holds for all readers of captured command output."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Source
from triage.readers import READERS, recognise
from triage.readers.capture import clean, command_of, lines_of
from triage.readers.embedded import findings_in
from triage.rules.loader import load_rules
from triage.rules.schema import Rule

DATA = Path(__file__).parent / "data"
FOLDERS = {
    "topology": "topology",
    "p2p": "p2p",
    "nvlink": "nvlink",
    "nvidia_smi": "nvidia-smi",
    "dmon": "dmon",
    "dcgm": "dcgm",
    "infiniband": "ibstat",
    "nccl_tests": "nccl-tests",
    "host": "host",
    "kubernetes": "kubernetes",
    "ray_status": "ray-status",
    "pyspy": "pyspy",
    "environment": "environment",
}
CAPTURES = sorted((path, kind) for folder, kind in FOLDERS.items() for path in (DATA / folder).iterdir())
CAPTURES += [
    (p, "scontrol" if p.name.startswith("show") else "sacct") for p in sorted((DATA / "slurm_text").iterdir())
]
OURS = [entry for entry in READERS if entry.kind in {kind for _, kind in CAPTURES}]
RULES = load_rules([Path(__file__).parents[2] / "rules"], builtin=False)
LOG = "".join(
    f"2025-11-04 12:{i // 60:02d}:{i % 60:02d},001 INFO train.py:88 step {i} loss 2.51 lr 1e-4\n"
    for i in range(900)
)


@pytest.mark.parametrize(("path", "kind"), CAPTURES, ids=lambda value: getattr(value, "name", value))
def test_each_capture_is_recognised_as_what_it_is(path: Path, kind: str) -> None:
    data = path.read_bytes()
    reader = recognise("snapshot", data[:65536])
    assert reader is not None
    assert reader.kind == kind
    reading = reader.read(data, Source("snapshot"), 0)
    assert reading.kind == kind
    assert reading.findings


@pytest.mark.parametrize(("path", "kind"), CAPTURES, ids=lambda value: getattr(value, "name", value))
def test_findings_name_rules_and_declared_fields(path: Path, kind: str) -> None:
    data = path.read_bytes()
    reader = recognise("snapshot", data[:65536])
    assert reader is not None
    for finding in reader.read(data, Source("snapshot"), 0).findings:
        rule = RULES[finding.rule_id]
        assert rule.signature is not None
        declared = set(rule.signature.fields) | set(_captured(rule))
        assert set(finding.fields) <= declared, finding.rule_id
        assert finding.evidence[0].text, finding.rule_id
        assert finding.evidence[0].line is not None


def _captured(rule: Rule) -> list[str]:
    from triage.rules.lint import field_names

    return list(field_names(rule))


@pytest.mark.parametrize(("path", "kind"), CAPTURES, ids=lambda value: getattr(value, "name", value))
def test_a_log_with_a_capture_in_it_stays_a_log(path: Path, kind: str) -> None:
    data = LOG.encode() + path.read_bytes() + LOG.encode()
    assert recognise("job.log", data[:65536]) is None
    assert recognise("job.log", LOG.encode()) is None


def test_a_plain_log_gives_nothing() -> None:
    assert findings_in(LOG.encode(), Source("x"), 0) == ()


def test_a_report_of_several_commands() -> None:
    parts = [
        "nvidia_smi/table-a40-err.txt",
        "topology/hgx-h100-8-gpu5-isolated.txt",
        "infiniband/ibstat-no-sm.txt",
    ]
    report = LOG + "".join(f"$ command\n{(DATA / part).read_text()}\n" for part in parts)
    found = {f.rule_id: f for f in findings_in(report.encode(), Source("x"), 0, line=1, offset=0)}
    assert {"gpu.smi-lost", "topology.gpu-isolated", "fabric.ib-no-subnet-manager"} <= found.keys()
    line = found["topology.gpu-isolated"].evidence[0].line
    assert line is not None
    assert "GPU0" in report.splitlines()[line - 1]
    offset = found["topology.gpu-isolated"].offset
    assert report.encode()[offset:].split(b"\n")[0].strip().startswith(b"GPU0")


def test_neighbours_in_a_recognised_capture_are_read() -> None:
    text = (DATA / "nvidia_smi/q-h200.txt").read_text() + (
        DATA / "topology/hgx-h100-8-gpu2-degraded.txt"
    ).read_text()
    reader = recognise("x", text.encode())
    assert reader is not None and reader.kind == "nvidia-smi"
    rules = {f.rule_id for f in reader.read(text.encode(), Source("x"), 0).findings}
    assert "topology.nvlink-degraded" in rules


def test_messages_beside_a_table() -> None:
    text = (
        "Unable to determine the device handle for GPU 0000:5F:00.0: Unknown Error\n"
        + (DATA / "nvidia_smi/table-h200.txt").read_text()
        + "WARNING: infoROM is corrupted at gpu 0000:18:00.0\n"
    )
    reader = recognise("x", text.encode())
    assert reader is not None
    found = {f.rule_id: f.fields for f in reader.read(text.encode(), Source("x"), 0).findings}
    assert found["gpu.smi-no-handle"]["pci"] == "0000:5f:00.0"
    assert found["gpu.smi-inforom"]["pci"] == "0000:18:00.0"


def test_messages_are_those_of_the_text_rules() -> None:
    from triage.readers.smi_messages import message_of

    for rule_id in (r for r in RULES if RULES[r].path and "nvidia_smi_messages" in str(RULES[r].path)):
        for example in RULES[rule_id].positive:
            message = message_of(example.log.splitlines()[0])
            assert message is not None and message[0] == rule_id, example.log
        for negative in RULES[rule_id].negative:
            found = message_of(negative)
            assert found is None or found[0] != rule_id, negative


def test_lines_keep_numbers_and_offsets() -> None:
    data = b"a\r\n\x1b[31mred\x1b[0m\nlast"
    assert [(x.number, x.offset, x.text) for x in lines_of(data)] == [
        (1, 0, "a"),
        (2, 3, "red"),
        (3, 16, "last"),
    ]
    assert clean("10%\r20%\r") == "20%"
    assert clean("[4mGPU0[0m") == "GPU0"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("$ nvidia-smi topo -m", "nvidia-smi topo -m"),
        ("root@gpu-17:~# ibstat", "ibstat"),
        ("(base) [alice@node3 run]$ df -h", "df -h"),
        ("+ nvidia-smi", "nvidia-smi"),
        ("GPU0\tX\tNV18", None),
        ("INFO step 3 of 9", None),
    ],
)
def test_shell_prompts(text: str, command: str | None) -> None:
    assert command_of(text) == command


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=3000))
def test_any_bytes(data: bytes) -> None:
    for entry in OURS:
        reader = entry.load()
        reader.recognise("x", data)
        reader.read(data, Source("x"), 0)
    findings_in(data, Source("x"), 0)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CAPTURES), st.randoms(use_true_random=False))
def test_damaged_captures(capture: tuple[Path, str], rng: random.Random) -> None:
    """Cut, shuffled, prefixed, with more columns: a reading comes out, whatever it says."""
    lines = capture[0].read_text().splitlines()[:200]
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(lines))
        cut = rng.randint(0, len(lines[at]))
        lines[at] = rng.choice(
            [lines[at][:cut], lines[at][cut:], lines[at] + " | extra, 99 {", "\x00" + lines[at], "%"]
        )
    if rng.random() < 0.3:
        rng.shuffle(lines)
    if rng.random() < 0.3:
        lines = [f"[1,{i}]<stdout>: {line}" for i, line in enumerate(lines)]
    data = rng.choice(["\n", "\r\n"]).join(lines).encode()[: rng.randint(1, 20000)]
    entry = next(e for e in OURS if e.kind == capture[1])
    module = import_module(entry.module)
    reading = entry.load().read(data, Source("x"), 0)
    assert all(f.evidence for f in reading.findings)
    module.findings_in(data, Source("x"), 0)
