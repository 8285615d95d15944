"""Which network adapter each GPU was given, and whether the topology has a nearer one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from triage.model import Value

_NEAR = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4, "SOC": 4}
"""Paths from a GPU to an adapter, nearest first."""

Claim = tuple[str, Mapping[str, Value], str]


def adapter_findings(receipt: Mapping[str, Any]) -> Iterator[Claim]:
    """GPUs whose adapter is farther away than another one that the topology shows."""
    given = receipt.get("gpu_nic_affinity")
    if not isinstance(given, Mapping) or not given:
        return
    distances = _distances(receipt)
    far: list[str] = []
    gpus: list[int] = []
    for key, value in sorted(given.items(), key=lambda item: str(item[0])):
        number = re.search(r"\d+$", str(key))
        names = [str(v) for v in value] if isinstance(value, list | tuple) else [str(value)]
        if number is None or not names:
            continue
        gpu = int(number[0])
        known = distances.get(gpu, {})
        used = [(known[n], n) for n in names if n in known]
        if not used or not known:
            continue
        nearest = min((_NEAR.get(path, 9), path, name) for name, path in known.items())
        worst = max((_NEAR.get(path, 9), path, name) for path, name in used)
        if worst[0] > nearest[0] and worst[0] >= _NEAR["NODE"] > nearest[0]:
            gpus.append(gpu)
            far.append(f"GPU {gpu} uses {worst[2]} over {worst[1]}, {nearest[2]} is at {nearest[1]}")
    if far:
        detail = "; ".join(far[:8])
        fields: dict[str, Value] = {"gpus": tuple(gpus), "detail": detail}
        yield "receipt.adapter-far", fields, f"gpu_nic_affinity: {detail}"


def _distances(receipt: Mapping[str, Any]) -> dict[int, dict[str, str]]:
    """Per GPU, the path to each adapter under every name that it goes by."""
    from triage.readers.topology_model import parse_matrix
    from triage.receipts.topology import topology_text

    topology = parse_matrix(topology_text(receipt.get("topology")))
    found: dict[int, dict[str, str]] = {}
    if topology is None:
        return found
    for (gpu, adapter), path in topology.adapters.items():
        of_gpu = found.setdefault(gpu, {})
        of_gpu[adapter] = path
        alias = topology.aliases.get(adapter)
        if alias:
            of_gpu[alias] = path
    return found
