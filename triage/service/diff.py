"""Two receipts compared: what changed, and which change is likely to matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from triage.receipts import masked
from triage.text import safe

Weight = Literal["high", "medium", "low"]

_ORDER: Mapping[str, int] = {"high": 0, "medium": 1, "low": 2}
_IGNORED = re.compile(
    r"(?:triage|preflight\.(?:seconds|checks)|collected_at|preflight\.schema_version)(?:\.|$)"
)
_CHANGING = 0.1
"""Relative change of a measured figure that is worth telling."""

_WEIGHTS: tuple[tuple[str, Weight, str], ...] = (
    (r"rules\.", "high", "a condition that is known to cause failures or slowness"),
    (r"preflight\.result$", "high", "the node passed before"),
    (r"preflight\.failed$", "high", "checks that failed on one of the nodes only"),
    (r"launch\.(?:world_size|tp|pp|nproc_per_node|nodes)$", "high", "another layout runs other collectives"),
    (r"topology$", "high", "other paths between GPUs or adapters"),
    (r"versions\.(?:torch|nccl|driver|cuda|driver_cuda)$", "high", "another version of what moves the data"),
    (r"versions\.", "medium", "another version of the stack"),
    (r"source_revision$", "high", "other code"),
    (r"machine_class$", "high", "other hardware"),
    (r"env\.(?:NCCL|TORCH_NCCL|NVSHMEM|GLOO|UCX|FI)_", "high", "a setting of communication"),
    (
        r"env\.(?:CUDA_VISIBLE_DEVICES|CUDA_DEVICE_MAX_CONNECTIONS|CUDA_LAUNCH_BLOCKING|PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF"
        r"|TORCH_DISTRIBUTED_DEBUG|LD_PRELOAD|LD_LIBRARY_PATH)$",
        "high",
        "a setting of devices, memory or libraries",
    ),
    (r"step_window", "high", "the speed itself"),
    (r"memory\.", "medium", "memory in use"),
    (r"preflight\.facts\.all_reduce_gb_s$", "high", "bandwidth between GPUs"),
    (r"preflight\.facts\.", "medium", "the state of the node"),
    (r"(?:gpu_nic_affinity|paths|durations|lane)(?:\.|$)", "medium", "placement and storage"),
    (r"launch\.timeout_s$", "medium", "how long ranks wait for each other"),
    (r"launch\.argv$", "medium", "the command line"),
    (
        r"env\.(?:CUDA|TORCH|PYTORCH|TRITON|VLLM|SGLANG|SGL|OMP|DEEPSPEED|MEGATRON|FSDP|ACCELERATE|FLASHINFER)",
        "medium",
        "a setting of the stack",
    ),
    (r"env\.", "low", "a variable of the environment"),
    (r"(?:slurm|host|run_id|preflight\.host)(?:\.|$)", "low", "another job or host"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. ``before`` and ``after`` are None where the receipt says nothing."""

    path: str
    weight: Weight
    why: str
    before: str | None
    after: str | None

    def to_dict(self) -> dict[str, Any]:
        """The change as plain values."""
        return asdict(self)


def compare(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Change]:
    """What differs from ``one`` to ``other``, what matters most first.

    Secrets are masked before anything is compared: two different secrets look alike.
    """
    before, after = _flat(masked(one)), _flat(masked(other))
    before.update(_rules(one))
    after.update(_rules(other))
    changes: list[Change] = []
    for path in sorted({*before, *after}):
        a, b = before.get(path), after.get(path)
        if a == b or _IGNORED.match(path) or _close(path, a, b):
            continue
        weight, why = _weight(path)
        changes.append(Change(path, weight, why, _shown(a), _shown(b)))
    return sorted(changes, key=lambda change: (_ORDER[change.weight], _rank(change.path), change.path))


def _flat(receipt: Mapping[str, Any]) -> dict[str, Any]:
    flat = dict(_walk("", receipt))
    checks = flat.pop("preflight.checks", None)
    if isinstance(checks, list):
        failed = [str(c.get("name")) for c in checks if isinstance(c, Mapping) and c.get("status") == "fail"]
        if failed:
            flat["preflight.failed"] = ", ".join(failed)
    topology = flat.pop("topology", None)
    if isinstance(topology, str):
        # the legend and the spacing of a matrix are not the topology
        rows = [line.split() for line in topology.splitlines() if re.match(r"\s*(?:GPU|NIC|mlx)\d", line)]
        flat["topology"] = " / ".join(" ".join(row) for row in rows) or " ".join(topology.split())
    memory = flat.pop("memory", None)
    if isinstance(memory, list) and memory and isinstance(memory[-1], Mapping):
        for name in ("allocated_bytes", "reserved_bytes", "peak_allocated_bytes"):
            values = [
                m[name] for m in memory if isinstance(m, Mapping) and isinstance(m.get(name), int | float)
            ]
            if values:
                flat[f"memory.most_{name}"] = max(values)
    return flat


def _walk(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and prefix != "topology":
        for key, member in value.items():
            yield from _walk(f"{prefix}.{key}" if prefix else str(key), member)
    elif value is not None:
        yield prefix, _topology(value) if prefix == "topology" else value


def _topology(value: Any) -> str:
    from triage.receipts.topology import topology_text

    return topology_text(value)


def _rules(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """The receipt rules that hold, by their sentences: a change that makes one hold matters."""
    from triage.diagnosis import Run, diagnose
    from triage.readers.topology import TopologyReader
    from triage.receipts.evidence import sources_of
    from triage.rules.loader import load_rules

    sources = sources_of(receipt)
    findings = [
        finding
        for i, source in enumerate(sources)
        for finding in TopologyReader().read(source.data or b"", source, i).findings
    ]
    run = Run(rules=load_rules(), sources=sources, findings=findings, reports=(), receipt=receipt)
    diagnosis = diagnose(run)
    return {f"rules.{w.rule_id}": w.title for w in diagnosis.warnings}


def _close(path: str, a: Any, b: Any) -> bool:
    """Measured figures are never the same twice."""
    measured = path.startswith(("memory.", "durations.", "step_window.mean")) or path.endswith(
        ("free_bytes", "_gb_s")
    )
    if not measured or not isinstance(a, int | float) or not isinstance(b, int | float):
        return False
    return abs(a - b) <= _CHANGING * max(abs(a), abs(b))


def _weight(path: str) -> tuple[Weight, str]:
    found = _rank(path)
    return _WEIGHTS[found][1:] if found < len(_WEIGHTS) else ("low", "not known to matter")


def _rank(path: str) -> int:
    return next((i for i, (pattern, _, _) in enumerate(_WEIGHTS) if re.match(pattern, path)), len(_WEIGHTS))


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, list | tuple):
        value = " ".join(str(part) for part in value)
    text = " ".join(safe(str(value)).split())
    return text if len(text) <= 300 else text[:299] + "…"


def render(changes: Sequence[Change], one: str, other: str) -> str:
    """The changes as text, grouped by weight."""
    if not changes:
        return f"{safe(one)} and {safe(other)} say the same.\n"
    words = {"high": "likely to matter", "medium": "may matter", "low": "rarely matters"}
    lines = [f"from {safe(one)} to {safe(other)}: {len(changes)} change(s)"]
    for weight in _ORDER:
        group = [change for change in changes if change.weight == weight]
        if group:
            lines += ["", f"{words[weight]}:"]
        for change in group:
            lines += [
                f"  {safe(change.path)}: {change.why}",
                f"    - {change.before if change.before is not None else '(not stated)'}",
                f"    + {change.after if change.after is not None else '(not stated)'}",
            ]
    return "\n".join(lines) + "\n"
