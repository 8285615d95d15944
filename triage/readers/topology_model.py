"""A topology matrix as a value: GPUs, the paths between them, and how to find one in text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from triage.readers.capture import Line, lines_of
from triage.readers.gpu_models import GpuModel, has_switch, models_in
from triage.readers.matrix import Matrix, matrices

CELL = re.compile(r"NV\d{1,2}|NODE|C2C|PIX|PXB|PHB|SYS|SOC|X(?![A-Za-z0-9])|N/A|ERR!?")
"""What stands in a cell of ``nvidia-smi topo -m``."""
LINKS = re.compile(r"NV(\d{1,2})$")


@dataclass(frozen=True, slots=True)
class Topology:
    """A topology matrix.

    ``kinds[(i, j)]`` with i < j is the path between GPUs i and j as printed (``NV18``, ``SYS`` …);
    pairs that the text doesn't show are missing. ``adapters[(i, name)]`` is the path to a network
    adapter. ``models`` are the GPU products that the surrounding text names.
    """

    gpus: tuple[int, ...]
    kinds: Mapping[tuple[int, int], str]
    asymmetric: tuple[tuple[int, int], ...]
    adapters: Mapping[tuple[int, str], str]
    aliases: Mapping[str, str]
    affinity: Mapping[int, str]
    models: tuple[GpuModel, ...]
    switch: bool
    """True when the text lists an NVSwitch."""
    matrix: Matrix

    @property
    def complete(self) -> bool:
        """Is every pair of GPUs known?"""
        return len(self.kinds) == len(self.gpus) * (len(self.gpus) - 1) // 2

    def links(self, i: int, j: int) -> int | None:
        """Bonded NVLinks between two GPUs: 0 for another path, None when unknown."""
        kind = self.kinds.get((min(i, j), max(i, j)))
        match = LINKS.match(kind) if kind else None
        if match:
            return int(match[1])
        return None if kind is None or kind.startswith(("N/A", "ERR")) else 0


def find_matrices(text: str | bytes) -> list[Topology]:
    """All topology matrices in ``text``, whatever stands around them."""
    return topologies(lines_of(text))


def parse_matrix(text: str | bytes) -> Topology | None:
    """The first topology matrix in ``text``, or None when there is none."""
    found = find_matrices(text)
    return found[0] if found else None


def topologies(lines: Sequence[Line]) -> list[Topology]:
    """All topology matrices in ``lines``."""
    found = [m for m in matrices(lines, CELL) if _tells(m)]
    if not found:
        return []
    texts = [line.text for line in lines]
    models, switch = models_in(texts), has_switch(texts)
    return [_topology(matrix, models, switch) for matrix in found]


def _tells(matrix: Matrix) -> bool:
    """Does a matrix show a path, or for a single GPU its affinity? Other matrices share the diagonal."""
    if len(matrix.gpus) > 1:
        return any(cell != "X" for cell in matrix.cells.values())
    return len(matrix.gpus) == 1 and ("Affinity" in matrix.lines[0].text or len(matrix.cells) > 1)


def _topology(matrix: Matrix, models: tuple[GpuModel, ...], switch: bool) -> Topology:
    numbers = {name: int(name[3:]) for name in matrix.gpus}
    kinds: dict[tuple[int, int], str] = {}
    asymmetric: list[tuple[int, int]] = []
    for a, b in combinations(matrix.gpus, 2):
        forth, back = matrix.cells.get((a, b)), matrix.cells.get((b, a))
        kind = _worse(forth, back)
        if kind is not None and kind != "X":
            kinds[(numbers[a], numbers[b])] = kind
            if forth and back and forth != back:
                asymmetric.append((numbers[a], numbers[b]))
    adapters = {
        (numbers[gpu], adapter): path
        for gpu in matrix.gpus
        for adapter in matrix.adapters
        if (path := matrix.cells.get((gpu, adapter)) or matrix.cells.get((adapter, gpu)))
    }
    affinity = {numbers[gpu]: tail for gpu in matrix.gpus if (tail := matrix.tails.get(gpu))}
    return Topology(
        gpus=tuple(numbers.values()),
        kinds=kinds,
        asymmetric=tuple(asymmetric),
        adapters=adapters,
        aliases=matrix.aliases,
        affinity=affinity,
        models=models,
        switch=switch,
        matrix=matrix,
    )


def _worse(forth: str | None, back: str | None) -> str | None:
    """Of two readings of one pair the one without, or with fewer, NVLinks."""
    if forth is None or back is None or forth == back:
        return forth or back
    links = [int(m[1]) if (m := LINKS.match(kind)) else 0 for kind in (forth, back)]
    return forth if links[0] <= links[1] else back
