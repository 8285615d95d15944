"""Macro-F1 on the labelled logs that come with GPUAlert's evaluation (arXiv 2607.01409).

usage: python benchmarks/gpualert.py CORPUS

CORPUS is a copy of that evaluation: ``corpus/labels.jsonl`` in it names 474 logs and which of 15 classes each is of.
Most classes are types of Python exceptions rather than causes, so that they are read from what a diagnosis shows:
its category where that is such a class by itself, else the type in its first line of evidence.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import triage

OF_RULES = {
    "python.memory-error": "ram_oom",
    "torch.host-bad-alloc": "ram_oom",
    "torch.device-mismatch": "device_mismatch",
    "host.permission": "permission",
}
OF_CATEGORIES = {
    "gpu-oom": "cuda_oom",
    "gpu-oom-fragmentation": "cuda_oom",
    "host-oom": "oom_killer",
    "rank-crash": "segfault",
    "cuda-kernel": "cuda_runtime",
    "numerics": "nan_loss",
    "watchdog-too-short": "nccl",
    "straggler-or-hang": "nccl",
    "rendezvous": "nccl",
    "network-config": "nccl",
    "network-fabric": "nccl",
    "collective-desync": "nccl",
}
OF_TYPES = {
    "FileNotFoundError": "file_not_found",
    "ZeroDivisionError": "div_zero",
    "AssertionError": "assertion",
    "ModuleNotFoundError": "missing_module",
    "ImportError": "missing_module",
    "RuntimeError": "runtime_error",
}
_RAISED = re.compile(r"^(?:\w+\.)*([A-Z]\w+)\b", re.MULTILINE)


def classed(found: triage.Diagnosis) -> str:
    """The class of a diagnosis; what no class is of is ``none``, which is always wrong."""
    root = found.root_cause
    if root is None:
        return "none"
    known = OF_RULES.get(root.rule_id) or OF_CATEGORIES.get(root.category)
    if known is not None:
        return known
    raised: list[str] = [name for line in root.evidence for name in _RAISED.findall(line.text)]
    return next((OF_TYPES[name] for name in raised if name in OF_TYPES), "traceback")


def main(corpus: Path) -> None:
    """Print precision, recall and F1 of each class, the macro-F1, and the logs that went wrong."""
    engine = triage.Engine()
    labels = [json.loads(line) for line in (corpus / "corpus/labels.jsonl").read_text().splitlines()]
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    wanted: Counter[str] = Counter(label["mode"] for label in labels)
    wrong: list[str] = []
    for label in labels:
        answer = classed(engine.diagnose([corpus / label["log_path"]]))
        said[answer] += 1
        right[answer] += answer == label["mode"]
        if answer != label["mode"]:
            wrong.append(f"{label['log_path']}: {answer}, wanted {label['mode']}")
    scores = []
    for name in sorted(wanted):
        precision, recall = right[name] / max(1, said[name]), right[name] / wanted[name]
        scores.append(2 * precision * recall / max(1e-9, precision + recall))
        print(f"{name:16} precision {precision:.3f}  recall {recall:.3f}  F1 {scores[-1]:.3f}")
    print(f"{'macro-F1':16} {sum(scores) / len(scores):.4f} on {len(labels)} logs")
    print("\n".join(wrong))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit((__doc__ or "").strip())
    main(Path(sys.argv[1]))
