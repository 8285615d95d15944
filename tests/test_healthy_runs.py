"""Runs in which all went well, with the alarming words that their programs print all the same.

They are composed from what the programs print: the runs of ``data/healthy`` must not be called failed, nor unclear.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from triage import Engine

RUNS = sorted((Path(__file__).parent / "data" / "healthy").glob("*.log"))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_a_run_that_went_well_is_healthy(engine: Engine, path: Path) -> None:
    found = engine.diagnose(path)
    assert (found.verdict, found.root_cause) == ("healthy", None)


BOOT = [
    "[    9.911201] nvidia: module verification failed: signature and/or required key missing - tainting kernel",
    "[   10.501201] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.124.06",
    "[   12.101201] mlx5_core 0000:18:00.0: firmware version: 28.42.1000",
    "[   12.401201] mlx5_core 0000:18:00.0: Port module event: module 0, Cable unplugged",
    "[   12.901201] frobnicator: probe of ABCD0101:00 failed with error -16",
]


def test_a_kernel_log_with_unknown_complaints_is_judged_as_itself(engine: Engine) -> None:
    assert engine.diagnose("\n".join(BOOT).encode()).verdict == "healthy"
    # the same complaint at the end of a program's log leaves it open
    job = "\n".join(["starting frobnicator", "reading settings", BOOT[-1][17:]])
    assert engine.diagnose(job.encode()).verdict != "healthy"


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("[ 9001.101201] NVRM: Xid (PCI:0000:1b:00): 79, pid=811, GPU has fallen off the bus.", "gpu.xid-79"),
        (
            "[ 9001.101201] mlx5_core 0000:29:00.0: Port module event: module 0, Cable unplugged",
            "fabric.cable",
        ),
    ],
)
def test_a_fault_after_the_boot_is_found(engine: Engine, line: str, rule: str) -> None:
    found = engine.diagnose("\n".join([*BOOT, line]).encode())
    assert found.verdict == "failed" and found.root_cause is not None
    assert found.root_cause.rule_id.startswith(rule.partition("-79")[0])


def test_triton_that_stops_for_want_of_a_model_has_no_good_end(engine: Engine) -> None:
    log = (
        "E0305 10:00:09.001231 1 model_lifecycle.cc:642] \"failed to load 'm' version 1: Internal: no such file\"\n"
        'I0305 10:00:10.304231 1 server.cc:347] "Timeout 30: Found 0 live models and 0 in-flight requests"\n'
        "error: creating server: Internal - failed to load all models\n"
    )
    assert engine.diagnose(log.encode()).verdict == "failed"


def test_the_store_that_leaves_after_the_end_is_no_failure_and_before_it_is(engine: Engine) -> None:
    lost = (
        "[rank1]:[W301 10:32:55.101234567 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=44, "
        "addr=[localhost]:50122, remote=[localhost]:29500): Failed to recv, got 0 bytes\n"
    )
    steps = "step 10 loss 2.1 lr 1e-4\nstep 11 loss 2.1 lr 1e-4\n"
    assert engine.diagnose((steps + "Training finished.\n" + lost).encode()).verdict == "healthy"
    assert engine.diagnose((steps + lost).encode()).verdict == "failed"


def test_the_launchers_line_that_gives_the_rank_is_shown(engine: Engine) -> None:
    log = (
        "[gpu-41:02211] *** Process received signal ***\n"
        "[gpu-41:02211] Signal: Segmentation fault (11)\n"
        "[gpu-41:02211] Signal code: Address not mapped (1)\n"
        "--------------------------------------------------------------------------\n"
        "mpirun noticed that process rank 5 with PID 2211 on node gpu-41 exited on signal 11 (Segmentation fault).\n"
        "--------------------------------------------------------------------------\n"
    )
    found = engine.diagnose(log.encode()).root_cause
    assert found is not None and found.origin.rank == 5
    assert "process rank 5 with PID 2211" in " ".join(e.text for e in found.evidence)


@pytest.mark.parametrize(
    ("line", "rule", "elapsed"),
    [
        (
            "Tokenizing (num_proc=8):  61%|██████    | 61000/100000 [21:40<13:51, 46.9 examples/s]",
            "data-bar",
            1300,
        ),
        (" 41%|####      | 1.21G/2.95G [10:01<14:14, 2.01MB/s]", "data-bar", 601),
        ("Loading checkpoint shards:  43%|████▎     | 13/30 [04:11<05:22, 19.01s/it]", "load-bar", 251),
        ("Writing model shards:  25%|██▌       | 2/8 [00:41<02:05, 20.91s/it]", "write-bar", 41),
        ("DeepGEMM warmup:  41%|████      | 1411/3411 [02:11<03:06, 10.71it/s]", "tuning-start", 131),
    ],
)
def test_a_bar_tells_for_how_long_an_activity_has_run(
    engine: Engine, line: str, rule: str, elapsed: float
) -> None:
    glued = (
        f"{line}[W110 10:11:12.131415161 socket.cpp:464] [c10d] waitForInput: poll for socket returned 0\n"
    )
    groups = {g.rule_id: g for g in engine.diagnose(glued.encode()).findings}
    shown = groups[f"progress.{rule}"].evidence[0]
    assert shown.fields["elapsed"] == elapsed


AMD_BOOT = [
    "[   22.101201] amdgpu 0000:c5:00.0: amdgpu: RAS: optional ras ta ucode is not available",
    "[   22.201201] amdgpu 0000:c5:00.0: amdgpu: SMU is initialized successfully!",
    "[   22.301201] amdgpu 0000:c5:00.0: amdgpu: 2 correctable hardware errors detected in umc block",
    "[   22.401201] amdgpu 0000:c5:00.0: amdgpu: SMU driver if version not matched",
]


def test_the_kernel_log_of_a_node_with_amd_gpus_is_judged_as_itself(engine: Engine) -> None:
    assert engine.diagnose("\n".join(AMD_BOOT).encode()).verdict == "healthy"
    broken = AMD_BOOT[2].replace("2 correctable", "2 uncorrectable")
    found = engine.diagnose("\n".join([*AMD_BOOT, broken]).encode()).root_cause
    assert found is not None
    assert (found.rule_id, found.origin.pci_bus_id) == ("gpu.amd-uncorrectable", "0000:c5:00.0")
