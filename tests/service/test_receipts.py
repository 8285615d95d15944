"""Receipts: shape, masking, what they say alone, and what they say beside a log."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import triage
from triage.receipts import load_receipt, mask_argv, mask_environment, masked, validate
from triage.receipts.evidence import findings_of
from triage.receipts.topology import topology_text

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
SCHEMA = json.loads((ROOT / "docs/schema/receipt.schema.json").read_text())
SWITCHED = (Path(__file__).parents[1] / "readers/data/topology/hgx-h100-8.txt").read_text()
GIB = 1 << 30


def readings(*pairs: tuple[float, float], **more: Any) -> list[dict[str, Any]]:
    return [
        {"allocated_bytes": int(a * GIB), "reserved_bytes": int(r * GIB), "step": i, **more}
        for i, (a, r) in enumerate(pairs)
    ]


FRAGMENTING = readings((40, 44), (40, 50), (40, 58), (41, 66))
GROWING = readings((40, 44), (46, 50), (52, 56), (60, 64))
WARNED: list[tuple[str, dict[str, Any]]] = [
    (
        "receipt.max-connections-with-fsdp",
        {"env": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, "launch": {"argv": ["torchrun", "train.py", "--fsdp"]}},
    ),
    (
        "receipt.max-connections-with-fsdp",
        {"env": {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "ACCELERATE_USE_FSDP": "true"}, "launch": {"argv": ["x"]}},
    ),
    ("receipt.high-priority-streams", {"env": {"TORCH_NCCL_HIGH_PRIORITY": "1"}}),
    ("receipt.mnnvl-forced", {"env": {"NCCL_MNNVL_ENABLE": "1"}}),
    (
        "receipt.alloc-conf-twice",
        {"env": {"PYTORCH_ALLOC_CONF": "a:1", "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}},
    ),
    ("receipt.one-visible-device", {"env": {"CUDA_VISIBLE_DEVICES": "3"}, "launch": {"nproc_per_node": 8}}),
    ("receipt.devices-renumbered", {"env": {"CUDA_VISIBLE_DEVICES": "4,5,6,7"}}),
    (
        "receipt.fewer-devices-than-processes",
        {"env": {"CUDA_VISIBLE_DEVICES": "0,1"}, "launch": {"nproc_per_node": 4}},
    ),
    (
        "receipt.heartbeat-too-short",
        {"env": {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "120"}, "durations": {"compile_s": 300}},
    ),
    ("receipt.timeout-too-short", {"launch": {"timeout_s": 600}, "durations": {"checkpoint_s": 900.5}}),
    ("receipt.tp-part-of-switched-node", {"launch": {"tp": 4}, "topology": SWITCHED}),
    ("receipt.tp-not-power-of-two", {"launch": {"tp": 6}}),
    ("receipt.tp-across-nodes", {"launch": {"tp": 16, "nproc_per_node": 8}}),
    ("receipt.numa-balancing", {"preflight": {"facts": {"numa_balancing": 1, "numa_nodes": 2}}}),
    ("receipt.one-path", {"paths": {"cache": "/lustre/u", "data": "/lustre/u/data", "checkpoint": "/lustre/u/ck"}}),
    (
        "receipt.one-path",
        {
            "env": {"HF_HOME": "/scratch/u"},
            "launch": {"argv": ["train.py", "--data-path", "/scratch/u/data", "--save=/scratch/u/ckpt"]},
        },
    ),
    ("receipt.memory-fragmenting", {"memory": FRAGMENTING}),
    ("receipt.memory-growing", {"memory": GROWING}),
    (
        "receipt.step-slowdown",
        {"step_window": [{"first": 0, "last": 99, "mean_s": 1.0}, {"first": 900, "last": 999, "mean_s": 1.6}]},
    ),
    (
        "receipt.preflight-failed",
        {"preflight": {"checks": [{"name": "memlock", "status": "fail", "detail": "64 KiB"}]}},
    ),
    (
        "receipt.adapter-far",
        {
            "topology": "\tGPU0\tNIC0\tNIC1\nGPU0\t X \tPIX\tSYS\nNIC0\tPIX\t X \tSYS\nNIC1\tSYS\tSYS\t X \n\n"
            "NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n",
            "gpu_nic_affinity": {"GPU0": "mlx5_1"},
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rule_id", "receipt"), WARNED, ids=[rule_id for rule_id, _ in WARNED])
def test_a_receipt_alone_is_healthy_with_a_warning(
    engine: triage.Engine, rule_id: str, receipt: dict[str, Any]
) -> None:
    jsonschema.validate(receipt, SCHEMA)
    diagnosis = engine.diagnose([], receipt=receipt)
    assert diagnosis.verdict == "healthy"
    warning = next((w for w in diagnosis.warnings if w.rule_id == rule_id), None)
    assert warning is not None, [w.rule_id for w in diagnosis.warnings]
    assert warning.remediation
    assert "unknown" not in warning.summary
    assert warning.evidence[0].path.startswith("receipt")


QUIET: list[dict[str, Any]] = [
    {},
    {"env": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, "launch": {"argv": ["pretrain_gpt.py", "--tp", "8"]}},
    {"env": {"CUDA_DEVICE_MAX_CONNECTIONS": "32"}, "launch": {"argv": ["train.py", "--fsdp"]}},
    {"env": {"NCCL_MNNVL_ENABLE": "2", "TORCH_NCCL_HIGH_PRIORITY": "0"}},
    {"env": {"PYTORCH_ALLOC_CONF": "a:1", "PYTORCH_CUDA_ALLOC_CONF": "a:1"}},
    {"env": {"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, "launch": {"nproc_per_node": 4, "tp": 4}},
    {"env": {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "1800"}, "durations": {"compile_s": 300}},
    {"launch": {"tp": 8, "nproc_per_node": 8}, "topology": SWITCHED},
    {"preflight": {"facts": {"numa_balancing": 1, "numa_nodes": 1}}},
    {"paths": {"cache": "/local/cache", "data": "/lustre/data", "checkpoint": "/lustre/ckpt"}},
    {"memory": readings((40, 44), (41, 44), (40, 45))},
    {"memory": FRAGMENTING[:2]},
    {"memory": [*readings((40, 44), sequence_length=1), *readings((80, 84), (81, 85), sequence_length=2)]},
    {"step_window": {"first": 1, "last": 9, "mean_s": 1.0}},
]


@pytest.mark.parametrize("receipt", QUIET, ids=range(len(QUIET)))
def test_a_sound_receipt_says_nothing(engine: triage.Engine, receipt: dict[str, Any]) -> None:
    diagnosis = engine.diagnose([], receipt=receipt)
    assert (diagnosis.verdict, diagnosis.warnings) == ("healthy", ())


def test_receipts_of_a_real_node_say_nothing(engine: triage.Engine) -> None:
    for name in ("gpu4", "gpu2", "gpu1"):
        receipt = load_receipt(DATA / f"{name}.json")
        jsonschema.validate(receipt, SCHEMA)
        diagnosis = engine.diagnose([], receipt=receipt)
        assert (diagnosis.verdict, diagnosis.warnings) == ("healthy", ()), name


OOM = (
    "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
    "79.10 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of "
    "the allocated memory 77.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n"
)
MNNVL = (
    "node1:12:40 [1] mnnvl.cc:60 NCCL WARN MNNVL is not supported on this system\n"
    "[rank1]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, unhandled system error "
    "(run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9\n"
)


def test_a_forced_setting_explains_the_failure_that_it_leads_to(engine: triage.Engine) -> None:
    receipt = {"env": {"NCCL_MNNVL_ENABLE": "1"}}
    diagnosis = engine.diagnose(triage.text_source(MNNVL), receipt=receipt)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.rule_id == "receipt.mnnvl-forced"
    assert "nccl.mnnvl" in [h.rule_id for h in diagnosis.alternatives]
    unrelated = engine.diagnose(triage.text_source(OOM), receipt=receipt)
    assert unrelated.root_cause is not None
    assert unrelated.root_cause.category == "gpu-oom"
    assert "receipt.mnnvl-forced" in [w.rule_id for w in unrelated.warnings]


def test_read_backs_tell_fragmentation_from_demand(engine: triage.Engine) -> None:
    source = triage.text_source(OOM)
    pieces = engine.diagnose(source, receipt={"memory": FRAGMENTING}).root_cause
    demand = engine.diagnose(source, receipt={"memory": GROWING})
    assert pieces is not None
    assert demand.root_cause is not None
    assert pieces.category == "gpu-oom-fragmentation"
    assert demand.root_cause.category == "gpu-oom"
    assert "receipt.memory-growing" in [h.rule_id for h in demand.alternatives]


def test_a_partial_node_stands_beside_a_desync(engine: triage.Engine) -> None:
    folder = ROOT / "fixtures/captured/desync-detail"
    receipt = {"launch": {"tp": 4}, "topology": SWITCHED}
    without = engine.diagnose(folder)
    diagnosis = engine.diagnose(folder, receipt=receipt)
    assert without.root_cause is not None
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.rule_id == without.root_cause.rule_id
    assert diagnosis.root_cause.origin == without.root_cause.origin
    assert "receipt.tp-part-of-switched-node" in [h.rule_id for h in diagnosis.alternatives]


def test_the_allocator_setting_that_took_effect_goes_by_the_version_of_torch(engine: triage.Engine) -> None:
    env = {"PYTORCH_ALLOC_CONF": "a:1", "PYTORCH_CUDA_ALLOC_CONF": "b:2"}
    for version, taken in (
        ("2.9.0", "took PYTORCH_ALLOC_CONF=a:1"),
        ("2.8.1+cu128", "took PYTORCH_CUDA_ALLOC_CONF=b:2"),
    ):
        diagnosis = engine.diagnose([], receipt={"env": env, "versions": {"torch": version}})
        assert taken in diagnosis.warnings[0].remediation[0].do


def test_nvlink_that_nccl_did_not_use(engine: triage.Engine) -> None:
    log = (
        "node1:77:99 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
        "[rank0]:[E1120 18:09:26.1 ProcessGroupNCCL.cpp:688] [Rank 0] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600010 "
        "milliseconds before timing out.\n"
    )
    diagnosis = engine.diagnose(triage.text_source(log), receipt={"topology": SWITCHED})
    shown = [h.rule_id for h in (diagnosis.root_cause, *diagnosis.alternatives) if h is not None]
    assert diagnosis.verdict == "failed"
    assert "receipt.nvlink-unused" in shown


def test_a_broken_topology_in_a_receipt_is_read_like_any_other(engine: triage.Engine) -> None:
    text = (Path(__file__).parents[1] / "readers/data/topology/hgx-h100-8-gpu5-isolated.txt").read_text()
    assert engine.diagnose([], receipt={"topology": text}).verdict == "failed"


@dataclass
class Launch:
    tp: int = 3


@dataclass
class Record:
    run_id: str = "r"
    launch: Launch = field(default_factory=Launch)


class Model:
    def model_dump(self) -> dict[str, Any]:
        return {"run_id": "r", "launch": {"tp": 3}}


def test_mappings_paths_and_objects_are_receipts(engine: triage.Engine, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_text('{"run_id": "r", "launch": {"tp": 3}}')
    given: list[Any] = [{"run_id": "r", "launch": {"tp": 3}}, path, str(path), Record(), Model()]
    answers = {engine.diagnose([], receipt=one).to_json() for one in given}
    assert len(answers) == 1
    diagnosis = engine.diagnose([], receipt=path)
    assert diagnosis.attach_to(path)["triage"] == diagnosis.to_dict()


@pytest.mark.parametrize(
    ("receipt", "named"),
    [
        ({"launch": {"tp": "8"}}, "launch.tp"),
        ({"launch": []}, "launch"),
        ({"env": {"A": []}}, "env"),
        ({"memory": [1]}, "memory[0]"),
        ({"memory": [{"reserved_bytes": "1"}]}, "memory[0].reserved_bytes"),
        ({"step_window": [{"mean_s": "1"}]}, "step_window[0].mean_s"),
        ({"topology": 3}, "topology"),
        (7, "mapping"),
    ],
)
def test_what_is_no_receipt_is_refused_by_name(engine: triage.Engine, receipt: Any, named: str) -> None:
    with pytest.raises(triage.ReceiptError, match=named.replace("[", r"\[")):
        engine.diagnose([], receipt=receipt)
    if isinstance(receipt, dict):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(receipt, SCHEMA)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000])
def test_files_that_hold_no_receipt(tmp_path: Path, text: str) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(text)
    with pytest.raises(triage.ReceiptError, match="receipt"):
        load_receipt(path)
    with pytest.raises(triage.ReceiptError, match="can't read"):
        load_receipt(tmp_path / "missing.json")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
KEYS = sorted(SCHEMA["properties"])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
def test_any_receipt_is_refused_or_read(engine: triage.Engine, receipt: dict[str, Any]) -> None:
    try:
        validate(receipt)
    except triage.ReceiptError:
        return
    findings_of(receipt)
    masked(receipt)
    assert isinstance(topology_text(receipt.get("topology")), str)
    assert engine.diagnose([], receipt=receipt).verdict in {"healthy", "failed"}


def corpus() -> ModuleType:
    path = ROOT / "tests/text/test_masking.py"
    spec = importlib.util.spec_from_file_location("masking_corpus", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


CORPUS = corpus()


@pytest.mark.parametrize(("secret", "shown"), CORPUS.TOKENS, ids=[shown for _, shown in CORPUS.TOKENS])
def test_tokens_never_leave_in_receipts(engine: triage.Engine, secret: str, shown: str) -> None:
    receipt = {
        "env": {"NCCL_NOTE": secret, "HF_TOKEN": secret, "TORCH_X": f"a,{secret}"},
        "launch": {"argv": ["train.py", secret, "--password", "hunter2", f"--x={secret}"], "tp": 3},
        "slurm": {"comment": secret},
    }
    safe = json.dumps(masked(receipt))
    assert secret not in safe
    assert "hunter2" not in safe
    diagnosis = engine.diagnose(
        [], receipt={**receipt, "env": {**receipt["env"], "CUDA_VISIBLE_DEVICES": f"1,{secret}"}}
    )
    assert secret not in json.dumps(diagnosis.attach_to(receipt))
    assert secret not in diagnosis.to_json() + diagnosis.to_markdown() + diagnosis.to_text()


def test_names_of_secrets_mask_their_values_and_other_settings_stay() -> None:
    env = {
        "HF_TOKEN": "abc", "WANDB_API_KEY": "x" * 8, "MYSQL_PWD": "hunter2", "AWS_SECRET_ACCESS_KEY": "a/b+c",
        "NCCL_DEBUG": "INFO", "NCCL_IB_PKEY": "0", "TOKENIZERS_PARALLELISM": "false", "PATH": "/usr/bin:/bin",
        "PROXY": "http://bob:hunter2@proxy:3128",
    }  # fmt: skip
    shown = mask_environment(env)
    assert [shown[k] for k in ("HF_TOKEN", "WANDB_API_KEY", "MYSQL_PWD", "AWS_SECRET_ACCESS_KEY")] == [
        "***"
    ] * 4
    assert {k: shown[k] for k in ("NCCL_DEBUG", "NCCL_IB_PKEY", "TOKENIZERS_PARALLELISM", "PATH")} == {
        k: env[k] for k in ("NCCL_DEBUG", "NCCL_IB_PKEY", "TOKENIZERS_PARALLELISM", "PATH")
    }
    assert "hunter2" not in shown["PROXY"]
    words = ["curl", "-u", "bob:hunter2", "--api-key", "abcdef", "--tp", "8", "--hf-token=abc", "a b"]
    told = mask_argv(words)
    assert len(told) == len(words)
    assert not {"hunter2", "abcdef"} & set(" ".join(told).replace(":", " ").split())
    assert told[-1] == "a b"
    assert told[5:7] == ["--tp", "8"]
