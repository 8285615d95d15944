"""A bounded all-reduce over the visible GPUs, compared with what the fabric between them should give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import triage
from triage.model import Step
from triage.service.preflight.model import Node

LEAST_SECONDS = 10.0
"""Time that must be left to begin: importing torch and building communicators takes this long."""
SIZE = 256 << 20
"""Bytes that each rank reduces."""
NVLINK_SHARE = 0.4
"""Part of the NVLink rate of one GPU that a ring over all of them must reach: measured are 0.62 to 0.71."""
PCIE_SHARE = 0.15
"""Part of a PCIe slot's rate that must be reached, host memory in between included."""
_LANE_GB_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}


@dataclass(slots=True)
class _Rank:
    """A running rank: its process, where its output goes, what it has said."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)

    def listen(self) -> None:
        """Take in what it has printed so far."""
        for line in self.text().splitlines():
            if line.startswith("{"):
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                if isinstance(value, dict) and "stage" in value:
                    self.stages[str(value["stage"])] = value

    def text(self) -> str:
        """Everything that it has printed, at most 64 KiB."""
        with open(self.output.name, "rb") as stream:
            return stream.read(65536).decode("utf-8", "replace")


def check_bandwidth(node: Node, query: str) -> None:
    """Measure, when torch and at least two visible, idle GPUs are there.

    Args:
        node: the node under test; its facts name GPUs, links and design.
        query: what ``nvidia-smi -q`` printed, for the rate of PCIe slots.
    """
    gpus = visible(node.facts.get("gpus"), os.environ.get("CUDA_VISIBLE_DEVICES"))
    node.facts["visible_gpus"] = len(gpus)
    reason = _obstacle(node, gpus)
    if reason is not None:
        node.add("all-reduce", "skip", reason)
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="triage-preflight-") as folder:
        ranks = _start(len(gpus), folder, node.left)
        try:
            _wait(ranks, began + node.left - 1.0)
        finally:
            for rank in ranks:
                if rank.process.poll() is None:
                    rank.process.kill()
                rank.process.wait()
        for rank in ranks:
            rank.listen()
        _conclude(node, ranks, gpus, query, time.monotonic() - began)
        for rank in ranks:
            rank.output.close()


def visible(gpus: Any, setting: str | None) -> list[str]:
    """The GPUs that a job started here would see, as CUDA_VISIBLE_DEVICES names them."""
    count = gpus if isinstance(gpus, int) else 0
    if setting is None:
        return [str(i) for i in range(count)]
    found: list[str] = []
    for part in (p.strip() for p in setting.split(",")):
        if not part or part.startswith("-") or (part.isdigit() and int(part) >= count):
            break  # CUDA stops at the first entry that is none
        found.append(part)
    return found


def _obstacle(node: Node, gpus: Sequence[str]) -> str | None:
    if len(gpus) < 2:
        return f"{len(gpus)} GPU visible: nothing to reduce between"
    if any(check.name == "gpus" and check.status == "fail" for check in node.checks):
        return "not tried: the GPUs are not in order"
    held = node.facts.get("gpus_in_use") or []
    if any(str(gpu) in gpus for gpu in held):
        return f"not tried: GPU {', '.join(str(g) for g in held)} in use by other processes"
    try:
        installed = find_spec("torch") is not None
    except (ImportError, ValueError):
        installed = False
    if not installed:
        return "torch is not installed for this Python"
    if node.left < LEAST_SECONDS:
        return (
            f"{node.left:.0f} s left of the budget, {LEAST_SECONDS:.0f} are needed: give more with --budget"
        )
    return None


def _start(world: int, folder: str, seconds: float) -> list[_Rank]:
    root = str(Path(triage.__file__).parents[1])
    path = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH")) if p)
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        environment.pop(name, None)
    ranks: list[_Rank] = []
    for rank in range(world):
        output = open(f"{folder}/rank{rank}.txt", "wb")  # noqa: SIM115 (closed by the caller)
        command = [
            sys.executable,
            "-m",
            "triage.service.preflight.allreduce",
            str(rank),
            str(world),
            f"{folder}/store",
            f"{max(5.0, seconds - 5.0):.1f}",
            str(SIZE),
        ]
        process = subprocess.Popen(  # noqa: S603 (this very program)
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        ranks.append(_Rank(process, output))
    return ranks


def _wait(ranks: Sequence[_Rank], deadline: float) -> None:
    """Until all have ended, one has failed and the others had a moment, or the time is up."""
    failed_at: float | None = None
    while time.monotonic() < deadline:
        codes = [rank.process.poll() for rank in ranks]
        if all(code is not None for code in codes):
            return
        if any(codes) and failed_at is None:
            failed_at = time.monotonic()
        if failed_at is not None and time.monotonic() - failed_at > 2.0:
            return
        time.sleep(0.05)


def _conclude(node: Node, ranks: Sequence[_Rank], gpus: Sequence[str], query: str, took: float) -> None:
    imported = next((r.stages["imported"] for r in ranks if "imported" in r.stages), {})
    node.facts["torch_versions"] = {k: imported[k] for k in ("torch", "cuda", "nccl") if imported.get(k)}
    results = [rank.stages.get("result") for rank in ranks]
    if any(result is None for result in results):
        _unfinished(node, ranks, took)
        return
    measured = min(float(result["bus_gb_s"]) for result in results if result)
    node.facts["all_reduce_gb_s"] = measured
    shown = f"{len(ranks)} GPUs, {measured:g} GB/s bus bandwidth at {SIZE >> 20} MiB"
    if not all(result["right"] for result in results if result):
        node.add(
            "all-reduce",
            "fail",
            f"{shown}, and wrong sums",
            Step(
                "Take the node out of service: its GPUs or links corrupt data",
                "dcgmi diag -r 3; nvidia-smi nvlink -e",
                "the diagnosis passes",
                "operator",
            ),
        )
        return
    reach = expected(node, gpus, query)
    if reach is None:
        node.add("all-reduce", "pass", f"{shown}; what to expect of this fabric is not known")
        return
    least, what = reach
    node.facts["all_reduce_expected_gb_s"] = round(least, 1)
    if measured >= least:
        node.add("all-reduce", "pass", f"{shown}; at least {least:.0f} expected of {what}")
        return
    node.add(
        "all-reduce",
        "warn",
        f"{shown}; {what} should give {least:.0f} or more",
        Step(
            "See which way NCCL goes between the GPUs",
            "NCCL_DEBUG=INFO triage preflight; env | grep NCCL_",
            "channels go via P2P, and no NCCL_P2P_DISABLE or NCCL_ALGO is set",
        ),
        Step(
            "See whether something else uses the GPUs or their clocks are held down",
            "nvidia-smi; nvidia-smi -q -d PERFORMANCE",
            "no other process runs, no slowdown is active",
        ),
        Step(
            "Measure again with nccl-tests",
            "all_reduce_perf -b 256M -e 1G -f 2 -g " + str(len(ranks)),
            f"bus bandwidth reaches {least:.0f} GB/s",
        ),
    )


def _unfinished(node: Node, ranks: Sequence[_Rank], took: float) -> None:
    """Say how far it came: what failed by itself, what hung, what merely lacked time."""
    died = next((r for r in ranks if r.process.returncode and r.process.returncode > 0), None)
    if died is not None:
        lines = [
            line.strip() for line in died.text().splitlines() if line.strip() and not line.startswith("{")
        ]
        told = _last_error(lines)
        node.add(
            "all-reduce",
            "fail",
            f"rank {ranks.index(died)} failed: {told[:300]}",
            Step(
                "Run it again with NCCL's own words",
                "NCCL_DEBUG=INFO triage preflight --format json",
                "all ranks print a result",
            ),
        )
        return
    if not all("imported" in rank.stages for rank in ranks):
        node.add(
            "all-reduce", "skip", f"torch was not imported within {took:.0f} s: give more time with --budget"
        )
        return
    joined = all("joined" in rank.stages for rank in ranks)
    what = (
        "came back from a first sum, then no result"
        if joined
        else "the communicator or the first sum never came back"
    )
    node.add(
        "all-reduce",
        "fail",
        f"{what} within {took:.0f} s",
        Step(
            "See where the ranks wait, and whether the fabric is up",
            "nvidia-smi -q | grep -A4 Fabric; dmesg -T | grep -i nvrm | tail",
            "State Completed, Status Success, no Xid",
            "operator",
        ),
        Step(
            "Try without direct access between GPUs, to tell fabric from software",
            "NCCL_P2P_DISABLE=1 triage preflight",
            "if it passes so, the path between the GPUs is what hangs",
        ),
    )


def _last_error(lines: Sequence[str]) -> str:
    """The exception of a rank, with what NCCL adds to it on the next lines."""
    for i in range(len(lines) - 1, -1, -1):
        if lines[i].startswith("Last error:"):
            told = " ".join(lines[i : i + 2])
            return f"{told} ({next((line for line in lines if 'NCCL error' in line), lines[-1])})"
    return next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "no output")


def expected(node: Node, gpus: Sequence[str], query: str) -> tuple[float, str] | None:
    """The least bus bandwidth in GB/s that these GPUs should reach and over what; None when unknown."""
    from triage.readers.topology_model import parse_matrix

    topology = parse_matrix(node.topology)
    if topology is None or not all(gpu.isdigit() for gpu in gpus):
        return None
    numbers = [int(gpu) for gpu in gpus]
    links = [topology.links(i, j) for i in numbers for j in numbers if i < j]
    rate = node.facts.get("nvlink_gb_s")
    if links and all(links) and isinstance(rate, float):
        least = min(count for count in links if count)
        return NVLINK_SHARE * least * rate, f"NVLink (NV{least} at {rate:g} GB/s a link)"
    slot = _slot_rate(query)
    if slot is not None and links and None not in links:
        return PCIE_SHARE * slot, f"PCIe ({slot:.0f} GB/s a slot)"
    return None


def _slot_rate(query: str) -> float | None:
    """The slowest slot's rate in GB/s, by the most that GPU and slot can do."""
    from triage.readers.nvidia_smi import find_devices

    rates: list[float] = []
    for device in find_devices(query):
        generation = device.values.get("pci/gpu link info/pcie generation/max")
        width = device.values.get("pci/gpu link info/link width/max")
        if generation is None or width is None or generation.number is None or width.number is None:
            continue
        lane = _LANE_GB_S.get(int(generation.number))
        if lane is not None and 0 < width.number <= 32:
            rates.append(lane * width.number)
    return min(rates, default=None)
