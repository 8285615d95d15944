"""``nvidia-smi topo -p2p``: which GPU pairs may access each other's memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, command_of, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.readers.matrix import Matrix, header_of, matrices

KIND = "p2p"

_CELL = re.compile(r"(?:OK|CNS|GNS|TNS|NS|U|X|DR)(?![A-Za-z0-9])")
_LEGEND = re.compile(r"\s*(?:Legend:|(?:X|OK|CNS|GNS|TNS|NS|U|DR)\s*=)")
_WHICH = re.compile(r"-p2p\s+([rwnap])\b")
_CAPABILITY = {"r": "read", "w": "write", "n": "NVLink", "a": "atomics", "p": "PCIe"}
MEANING = {
    "CNS": "chipset not supported",
    "GNS": "GPU not supported",
    "TNS": "topology not supported",
    "NS": "not supported",
    "U": "unknown",
    "DR": "disabled by a registry key",
}
"""What the states other than OK stand for."""


class P2pReader:
    """Reads captures of ``nvidia-smi topo -p2p``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a peer-to-peer matrix?"""
        return b"GPU" in head and mostly(head, _begins, _belongs) and bool(_matrices(lines_of(head[:65536])))

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say which pairs have no peer access, and which GPU is excluded."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for peer-to-peer matrices in a piece of a source."""
    lines = lines_of(text, line, offset)
    return _read(lines, source, index).findings if _matrices(lines) else ()


def _begins(text: str) -> bool:
    return "GPU" in text and header_of(text) is not None


def _belongs(text: str) -> bool:
    if _LEGEND.match(text) or header_of(text) is not None:
        return True
    words = text.split(None, 2)
    return len(words) > 1 and words[0].startswith("GPU") and bool(_CELL.match(words[1]))


def _matrices(lines: Sequence[Line]) -> list[Matrix]:
    """Matrices with a state besides X, so that a topology matrix cut to its diagonal is none."""
    return [m for m in matrices(lines, _CELL) if any(cell != "X" for cell in m.cells.values())]


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    tables = _matrices(lines)
    if not tables:
        found.note("no peer-to-peer matrix could be read")
        found.complete = False
    for matrix in tables:
        for note in matrix.notes:
            found.note(f"peer-to-peer matrix: {note}")
        _judge(found, matrix, _capability(lines, matrix))
    return found.reading()


def _capability(lines: Sequence[Line], matrix: Matrix) -> str | None:
    at = matrix.lines[0].number - lines[0].number
    for line in reversed(lines[max(0, at - 3) : at]):
        command = command_of(line.text) or line.text
        which = _WHICH.search(command)
        if which:
            return _CAPABILITY[which[1]]
    return None


def _judge(found: Findings, matrix: Matrix, capability: str | None) -> None:
    gpus = matrix.gpus
    states: dict[tuple[str, str], str] = {}
    for a, b in combinations(gpus, 2):
        pair = {matrix.cells.get((a, b)), matrix.cells.get((b, a))} - {None, "X"}
        if pair:
            states[a, b] = next(iter(sorted(s for s in pair if s and s != "OK")), "OK")
    blocked = {pair: state for pair, state in states.items() if state != "OK"}
    shown = ", ".join(f"{a}-{b} {state}" for (a, b), state in list(blocked.items())[:12])
    kinds = sorted(set(blocked.values()))
    fields: dict[str, Value] = {
        "gpus": len(gpus),
        "pairs": len(states),
        "blocked": len(blocked),
        "states": ", ".join(f"{kind} ({MEANING.get(kind, kind)})" for kind in kinds) or None,
        "capability": capability,
        "detail": shown if len(blocked) <= 12 else f"{shown} and {len(blocked) - 12} more",
    }
    found.add("topology.p2p-matrix", matrix.lines, fields)
    excluded = _excluded(gpus, states)
    if excluded:
        number = int(excluded[3:])
        evidence = [matrix.lines[0], *(line for name, line in matrix.row_lines.items() if name == excluded)]
        found.add("topology.p2p-excluded", evidence, {**fields, "gpu": number}, gpu=number)


def _excluded(gpus: Sequence[str], states: dict[tuple[str, str], str]) -> str | None:
    """The one GPU that no other reaches, where all the others reach each other."""
    if len(gpus) < 4:
        return None
    for gpu in gpus:
        own = [state for pair, state in states.items() if gpu in pair]
        rest = [state for pair, state in states.items() if gpu not in pair]
        if own and "OK" not in own and rest and set(rest) == {"OK"}:
            return gpu
    return None
