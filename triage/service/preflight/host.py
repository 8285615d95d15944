"""The host: NUMA balancing, locked memory, shared memory, disks, versions of libraries."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from triage.model import Step
from triage.rules.schema import Rule
from triage.service.preflight.judging import rule_steps
from triage.service.preflight.model import Node
from triage.service.versions import library_versions

LOW_MEMLOCK = 1 << 30
"""Bytes of locked memory that are too few to register buffers with an RDMA adapter."""
SMALL_SHM = 1 << 30
"""Bytes of /dev/shm that are too few for collectives and data loaders."""
LOW_DISK = 5 << 30
"""Free bytes below which the next checkpoint or compile cache may not fit."""
FULL = 0.01
"""Share of a file system (bytes or inodes) that must be free."""
_CACHES = ("HF_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "XDG_CACHE_HOME")


def check_host(node: Node, rules: Mapping[str, Rule]) -> None:
    """Look at everything about the host that needs no GPU."""
    _numa(node, rules)
    _memlock(node, rules)
    _shared_memory(node, rules)
    _disks(node, rules)
    _versions(node)


def _numa(node: Node, rules: Mapping[str, Rule]) -> None:
    value = node.read("/proc/sys/kernel/numa_balancing")
    nodes = count_of(node.read("/sys/devices/system/node/online") or "0")
    node.facts["numa_nodes"] = nodes
    if value is None or not value.isdigit():
        node.add("numa-balancing", "skip", "this kernel has no automatic NUMA balancing")
        return
    node.facts["numa_balancing"] = int(value)
    if value == "0":
        node.add("numa-balancing", "pass", "off")
    elif nodes < 2:
        node.add("numa-balancing", "pass", "on, without effect on a single NUMA node")
    else:
        steps = rule_steps(rules, "receipt.numa-balancing")
        node.add(
            "numa-balancing", "warn", f"on, with {nodes} NUMA nodes: pages move and ranks jitter", *steps
        )


def count_of(ranges: str) -> int:
    """How many numbers a kernel list such as ``0-3,8`` holds."""
    total = 0
    for part in ranges.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)
        if match:
            total += max(0, int(match[2] or match[1]) - int(match[1]) + 1)
    return total


def _memlock(node: Node, rules: Mapping[str, Rule]) -> None:
    import resource

    soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    unlimited = soft == resource.RLIM_INFINITY
    node.facts["memlock_bytes"] = -1 if unlimited else soft
    shown = "unlimited" if unlimited else size(soft)
    if unlimited or soft >= LOW_MEMLOCK:
        node.add("memlock", "pass", shown)
    elif not node.listed("/sys/class/infiniband"):
        node.add("memlock", "pass", f"{shown}; no RDMA adapter here needs more")
    else:
        steps = rule_steps(rules, "host.memlock-low")
        node.add("memlock", "fail", f"{shown}: RDMA adapters can't register their buffers", *steps)


def _shared_memory(node: Node, rules: Mapping[str, Rule]) -> None:
    usage = _usage(node.root / "dev/shm")
    if usage is None:
        node.add("shm", "skip", "there is no /dev/shm")
        return
    total, free, _ = usage
    node.facts["shm_bytes"], node.facts["shm_free_bytes"] = total, free
    shown = f"{size(free)} of {size(total)} free"
    if total > 0 and free < FULL * total:
        node.add("shm", "fail", shown, *rule_steps(rules, "host.shm-exhausted"))
    elif total < SMALL_SHM:
        node.add("shm", "warn", f"{shown}: too small for data loaders", *rule_steps(rules, "host.shm-small"))
    else:
        node.add("shm", "pass", shown)


def _disks(node: Node, rules: Mapping[str, Rule]) -> None:
    least: tuple[int, str] | None = None
    wrong = False
    for what, path in _places():
        usage = _usage(path)
        if usage is None:
            continue
        total, free, inodes = usage
        least = min(least or (free, what), (free, what))
        shown = f"{what} ({path}): {size(free)} of {size(total)} free"
        if total and free < FULL * total and free < LOW_DISK:
            wrong = True
            node.add("disk", "fail", shown, *rule_steps(rules, "host.file-system-full", mount=str(path)))
        elif inodes is not None and inodes < FULL:
            wrong = True
            node.add(
                "disk",
                "fail",
                f"{what} ({path}): no inodes left",
                *rule_steps(rules, "host.inodes-exhausted", mount=str(path)),
            )
        elif free < LOW_DISK:
            wrong = True
            step = Step(
                "Make room, or put caches and checkpoints elsewhere",
                f"df -h {path}",
                f"{size(LOW_DISK)} or more are free",
            )
            node.add("disk", "warn", shown, step)
    if least is None:
        node.add("disk", "skip", "no directory of this user could be looked at")
    else:
        node.facts["disk_free_bytes"] = least[0]
        if not wrong:
            node.add("disk", "pass", f"at least {size(least[0])} free ({least[1]})")


def _places() -> Iterator[tuple[str, Path]]:
    """What a job writes to, each file system once."""
    named = [("temporary files", Path(tempfile.gettempdir())), ("working directory", Path.cwd())]
    named += [(name, Path(value)) for name in _CACHES if (value := os.environ.get(name))]
    named.append(("home", Path("~").expanduser()))
    seen: set[int] = set()
    for what, path in named:
        try:
            device = path.stat().st_dev
        except (OSError, ValueError):
            continue
        if device not in seen:
            seen.add(device)
            yield what, path


def _usage(path: Path) -> tuple[int, int, float | None] | None:
    """Bytes in total and free for this user, and the share of inodes that is free."""
    try:
        found = os.statvfs(path)
    except (OSError, ValueError):
        return None
    inodes = found.f_favail / found.f_files if found.f_files else None
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize, inodes


def size(count: int) -> str:
    """Bytes in words."""
    for unit, scale in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} B"


def _versions(node: Node) -> None:
    found = library_versions()
    driver, cuda = node.facts.get("driver_version"), node.facts.get("cuda_version")
    versions = {**({"driver": driver} if driver else {}), **({"driver_cuda": cuda} if cuda else {}), **found}
    node.facts["versions"] = versions
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    if not shown:
        node.add("versions", "skip", "neither a driver nor torch is installed here")
        return
    wanted, offered = _major(found.get("cuda")), _major(cuda)
    if wanted and offered and wanted > offered:
        node.add(
            "versions",
            "fail",
            f"{shown}: torch was built for CUDA {found['cuda']}, the driver offers {cuda}",
            Step(
                "Install a torch built for the driver's CUDA, or a newer driver",
                f"pip install torch --index-url https://download.pytorch.org/whl/cu{offered}x",
                "python -c 'import torch; torch.zeros(1).cuda()' works",
            ),
        )
    else:
        node.add("versions", "pass", shown)


def _major(version: object) -> int | None:
    match = re.match(r"\d+", str(version)) if version else None
    return int(match[0]) if match else None
