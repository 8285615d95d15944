"""``nvidia-smi topo -m``: which way GPUs and network adapters reach each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, command_of, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.readers.matrix import header_of
from triage.readers.topology_model import CELL, LINKS, Topology, find_matrices, parse_matrix, topologies
from triage.readers.topology_verdict import Verdict, judge

__all__ = ["TopologyReader", "find_matrices", "findings_in", "parse_matrix"]

KIND = "topology"
FACT_RULE = "topology.matrix"

_LEGEND = re.compile(
    r"\s*(?:(?:NIC )?Legend:|(?:X|SYS|SOC|NODE|PHB|PXB|PIX|NV#|C2C)\s*=|NIC\d+\s*:)|\s*(?:NUMA|CPU) Affinity"
)
MAX_PAIRS = 512
"""GPU pairs that the context fact lists one by one."""


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for the matrices in a piece of a source that begins at ``line`` and ``offset``."""
    return _read(lines_of(text, line, offset), source, index).findings


class TopologyReader:
    """Reads captures of ``nvidia-smi topo -m``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a topology matrix, rather than a log with one in it?"""
        return b"GPU" in head and mostly(head, _begins, _belongs) and bool(find_matrices(head[:65536]))

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Judge every matrix of ``data``."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def _begins(text: str) -> bool:
    return "GPU" in text and header_of(text) is not None


def _belongs(text: str) -> bool:
    if _LEGEND.match(text) or header_of(text) is not None:
        return True
    words = text.split(None, 2)
    return len(words) > 1 and re.match(r"[A-Za-z]\w*\d", words[0]) is not None and bool(CELL.match(words[1]))


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    matrices = topologies(lines)
    if not matrices:
        found.note("no GPU topology matrix could be read")
        found.complete = False
    for topology in matrices:
        for note in topology.matrix.notes:
            found.note(f"topology matrix: {note}")
        found.complete = found.complete and topology.complete
        host = _host_before(lines, topology) or found.host
        verdict = judge(topology)
        found.add(FACT_RULE, topology.matrix.lines, _facts(topology, verdict), host=host)
        for problem in verdict.problems:
            rows = [topology.matrix.row_lines[name] for name in _rows(topology, problem.gpus)]
            evidence = [topology.matrix.lines[0], *rows]
            gpu = problem.gpus[0] if len(problem.gpus) == 1 else None
            found.add(problem.rule_id, evidence, problem.fields, gpu=gpu, host=host)
    return found.reading()


def _rows(topology: Topology, gpus: Sequence[int]) -> Iterator[str]:
    for gpu in gpus[:16]:
        if f"GPU{gpu}" in topology.matrix.row_lines:
            yield f"GPU{gpu}"


def _host_before(lines: Sequence[Line], topology: Topology) -> str | None:
    """The host of the shell prompt nearest above a matrix, for captures of several nodes."""
    at = topology.matrix.lines[0].number - lines[0].number
    above = [line for line in lines[max(0, at - 5) : at] if command_of(line.text) is not None]
    return prompt_host(reversed(above))


def _facts(topology: Topology, verdict: Verdict) -> Mapping[str, Value]:
    kinds = sorted(set(topology.kinds.values()))
    pairs = tuple((i, j, kind) for (i, j), kind in sorted(topology.kinds.items()))
    return {
        "gpus": len(topology.gpus),
        "gpu_numbers": topology.gpus,
        "kinds": tuple(kinds),
        "nvlink": any(LINKS.match(kind) for kind in kinds),
        "design": verdict.design,
        "pairs": pairs[:MAX_PAIRS],
        "adapters": len(topology.matrix.adapters),
        "model": topology.models[0].name if topology.models else None,
        "healthy": verdict.healthy,
    }
