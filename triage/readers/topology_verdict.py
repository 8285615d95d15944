"""Is a topology what the machine should have? Tells a broken NVLink fabric from a design without one.

Three designs exist. *Switched*: every GPU reaches every other over all its links, so all cells are
alike. *Direct*: bridges join cards in pairs or quads, or modules form a mesh; there the pattern is
regular and no GPU uses more links than it has. *PCIe*: no NVLink at all. A pattern that fits none of
them lost something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from triage.model import Value
from triage.readers.gpu_models import GpuModel
from triage.readers.topology_model import Topology

MOST_LINKS = 18
"""NVLinks of the GPU that has most; bonded sets that add up to more go through a switch."""
SWITCHED_COUNTS = frozenset({6, 8, 12, 18})
"""Links per GPU of the products that are built with switches."""
MESH_LINKS = 3
"""Most links between two GPUs of a mesh; such designs are irregular where only a part is visible."""
_MANY = 4
"""Fewer GPUs than this without NVLinks are an everyday workstation; no doubt is raised."""
_QUAD = 4
"""Workstations with four joined GPUs have a fifth for the display."""
CLOSE = ("PIX", "PXB")
_FAR = ("NODE", "SYS", "SOC")
_SHOWN_PAIRS = 12


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a topology: the rule that says so, whom it concerns, what it captures."""

    rule_id: str
    gpus: tuple[int, ...]
    fields: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``design`` is switched, direct, mesh, pcie, single, broken or unknown."""

    design: str
    problems: tuple[Problem, ...] = ()

    @property
    def healthy(self) -> bool:
        """True when nothing at all is wrong or doubtful."""
        return not self.problems


def judge(topology: Topology) -> Verdict:
    """What design the matrix shows and what is wrong with it."""
    verdict = _nvlinks(topology)
    extra = [*_asymmetry(topology), *_adapters(topology)]
    return Verdict(verdict.design, (*verdict.problems, *extra))


def _nvlinks(topology: Topology) -> Verdict:
    if len(topology.gpus) < 2 or not topology.kinds:
        return Verdict("single" if len(topology.gpus) == 1 else "unknown")
    counts = {pair: topology.links(*pair) for pair in topology.kinds}
    known = {pair: count for pair, count in counts.items() if count is not None}
    if not known:
        return Verdict("unknown")
    if not any(known.values()):
        return _without(topology)
    graph = _Graph(topology, known)
    if all(known.values()):
        return _complete(graph)
    return _switched(graph) if graph.switched else _direct(graph)


@dataclass(frozen=True, slots=True)
class _Graph:
    """GPUs joined by NVLinks; ``counts`` are bonded links per known pair, 0 for other paths."""

    topology: Topology
    counts: Mapping[tuple[int, int], int]

    def peers(self, gpu: int) -> dict[int, int]:
        """GPUs that ``gpu`` reaches over NVLink, with the number of links."""
        return {(j if i == gpu else i): n for (i, j), n in self.counts.items() if n and gpu in (i, j)}

    def others(self, gpu: int) -> set[int]:
        """GPUs whose path to ``gpu`` is known."""
        return {(j if i == gpu else i) for i, j in self.counts if gpu in (i, j)}

    @property
    def most(self) -> int:
        """The most links between any two GPUs."""
        return max(self.counts.values())

    @property
    def usual(self) -> int:
        """The number of links that most NVLink pairs have; of equally frequent ones the larger."""
        tally = Counter(n for n in self.counts.values() if n)
        return max(tally, key=lambda n: (tally[n], n), default=0)

    @property
    def switched(self) -> bool:
        """Do GPUs use more links than they have, as only a switch makes possible?"""
        limit = max((m.links or MOST_LINKS for m in self.topology.models), default=MOST_LINKS)
        return self.topology.switch or any(sum(self.peers(g).values()) > limit for g in self.topology.gpus)

    def islands(self) -> list[tuple[int, ...]]:
        """Sets of GPUs that reach each other over NVLink, largest first; isolated GPUs included."""
        left = list(self.topology.gpus)
        found: list[tuple[int, ...]] = []
        while left:
            island, frontier = {left[0]}, [left[0]]
            while frontier:
                for peer in self.peers(frontier.pop()):
                    if peer not in island:
                        island.add(peer)
                        frontier.append(peer)
            found.append(tuple(g for g in self.topology.gpus if g in island))
            left = [g for g in left if g not in island]
        return sorted(found, key=lambda island: (-len(island), island))

    def alone(self, islands: list[tuple[int, ...]]) -> tuple[int, ...]:
        """GPUs that are an island of their own; those whose paths are not shown don't count."""
        return tuple(sorted(i[0] for i in islands if len(i) == 1 and self.others(i[0])))

    def missing(self, island: tuple[int, ...]) -> list[tuple[int, int]]:
        """Known pairs of an island without a direct NVLink path."""
        return [p for p, n in self.counts.items() if not n and p[0] in island and p[1] in island]

    def problem(self, rule_id: str, gpus: tuple[int, ...], **fields: Value) -> Problem:
        """A problem with the fields that all of them share."""
        bad = [p for p, n in sorted(self.counts.items()) if (p[0] in gpus or p[1] in gpus) and n < self.usual]
        shared: dict[str, Value] = {
            "gpus": gpus,
            "gpu": gpus[0] if len(gpus) == 1 else None,
            "gpu_names": _names(gpus),
            "expected": f"NV{self.usual}",
            "found": _found(self.topology, bad),
            "pairs": _shown(self.topology, bad),
            "total": len(self.topology.gpus),
            "model": self.topology.models[0].name if self.topology.models else None,
        }
        return Problem(rule_id, gpus, {**shared, **fields})


def _without(topology: Topology) -> Verdict:
    """No NVLink anywhere: a PCIe machine, unless the product has NVLinks by construction."""
    graph = _Graph(topology, dict.fromkeys(topology.kinds, 0))
    module = _module(topology)
    pairs = sorted(topology.kinds)
    fields: dict[str, Value] = {"found": _found(topology, pairs), "pairs": _shown(topology, pairs)}
    if module is not None or topology.switch:
        named: dict[str, Value] = {"expected": "NV#", "model": module.name if module else "an NVSwitch board"}
        lost = graph.problem("topology.nvlink-all-missing", topology.gpus, **fields, **named)
        return Verdict("broken", (lost,))
    if topology.models or len(topology.gpus) < _MANY:
        return Verdict("pcie")
    doubt = graph.problem("topology.nvlink-absent", topology.gpus, **{**fields, "expected": "NV#"})
    return Verdict("pcie", (doubt,))


def _complete(graph: _Graph) -> Verdict:
    """Every pair has NVLinks: are all equally many, and as many as the product has?"""
    design = "switched" if graph.switched else "direct"
    gpus = graph.topology.gpus
    if len(set(graph.counts.values())) > 1:
        if not graph.switched and graph.most <= MESH_LINKS:
            return Verdict("mesh")
        weak = tuple(g for g in gpus if max(graph.peers(g).values(), default=0) < graph.most)
        if not weak:
            weak = _involved([p for p, n in graph.counts.items() if n < graph.usual])
        return Verdict("broken", (_degraded(graph, weak, graph.most),))
    module = _module(graph.topology)
    if design == "switched":
        nominal = module.links if module and module.links else None
        if nominal is None and graph.most not in SWITCHED_COUNTS:
            nominal = min((n for n in SWITCHED_COUNTS if n > graph.most), default=None)
        if nominal is not None and graph.most < nominal:
            return Verdict("broken", (_degraded(graph, gpus, nominal),))
    return Verdict(design)


def _degraded(graph: _Graph, gpus: tuple[int, ...], expected: int) -> Problem:
    bad = [p for p, n in sorted(graph.counts.items()) if 0 < n < expected and (p[0] in gpus or p[1] in gpus)]
    return graph.problem(
        "topology.nvlink-degraded",
        gpus,
        expected=f"NV{expected}",
        found=_found(graph.topology, bad),
        pairs=_shown(graph.topology, bad),
        lost=expected - min((graph.counts[p] for p in bad), default=expected),
    )


def _switched(graph: _Graph) -> Verdict:
    """Behind a switch every GPU reaches every other: whatever does not is broken."""
    islands = graph.islands()
    alone = graph.alone(islands)
    groups = [island for island in islands if len(island) > 1]
    problems: list[Problem] = []
    if alone:
        problems.append(graph.problem("topology.gpu-isolated", alone, peers=len(groups[0])))
    if len(groups) > 1:
        shown = " | ".join(_names(group) for group in groups)
        smaller = () if len({len(g) for g in groups}) == 1 else tuple(x for g in groups[1:] for x in g)
        problems.append(
            graph.problem("topology.nvswitch-islands", smaller or graph.topology.gpus, islands=shown)
        )
    lost = [pair for group in groups for pair in graph.missing(group)]
    if lost:
        suspects = _cover(lost)
        problems.append(
            graph.problem(
                "topology.nvlink-pairs-missing",
                suspects,
                found=_found(graph.topology, lost),
                pairs=_shown(graph.topology, lost),
            )
        )
    weak = tuple(
        g
        for g in graph.topology.gpus
        if g not in alone and max(graph.peers(g).values(), default=graph.most) < graph.most
    )
    if weak:
        problems.append(_degraded(graph, weak, graph.most))
    return Verdict("broken", tuple(problems))


def _direct(graph: _Graph) -> Verdict:
    """Some pairs are joined, and no switch is proven: is the pattern one that somebody would build?"""
    islands = graph.islands()
    groups = [island for island in islands if len(island) > 1]
    alone = graph.alone(islands)
    module = _module(graph.topology)
    if graph.most <= MESH_LINKS and (module is None or module.mesh) and any(len(g) > 3 for g in groups):
        return _mesh(graph, alone)
    if module is not None and not module.mesh and all(len(group) < 4 for group in groups):
        shown = " | ".join(_names(island) for island in islands)
        suspects = alone if len(groups) == 1 else graph.topology.gpus
        rule = "topology.gpu-isolated" if suspects is alone else "topology.nvswitch-islands"
        return Verdict("broken", (graph.problem(rule, suspects, islands=shown, peers=len(groups[0])),))
    lost = [pair for group in groups for pair in graph.missing(group)]
    if lost:
        fields: dict[str, Value] = {
            "found": _found(graph.topology, lost),
            "pairs": _shown(graph.topology, lost),
        }
        return Verdict("broken", (graph.problem("topology.nvlink-pairs-missing", _cover(lost), **fields),))
    weak = tuple(
        g
        for g in graph.topology.gpus
        if g not in alone and max(graph.peers(g).values(), default=graph.most) < graph.most
    )
    problems: list[Problem] = []
    if weak:
        problems.append(_degraded(graph, weak, graph.most))
    spare = len(alone) == 1 and len(groups) == 1 and len(groups[0]) == _QUAD
    if alone and len(groups[0]) > 2 and not spare:
        problems.append(graph.problem("topology.gpu-isolated", alone, peers=len(groups[0])))
    elif alone or len({len(group) for group in groups}) > 1:
        # cards may be bridged in part only; nothing in a matrix tells a missing bridge from a dead one
        suspects = alone or tuple(g for group in groups[1:] for g in group)
        problems.append(graph.problem("topology.bridge-missing", suspects))
    elif len(groups) > 1 and len(groups[0]) == 2 and graph.most == MOST_LINKS and not graph.topology.models:
        shown = " | ".join(_names(group) for group in groups)
        problems.append(graph.problem("topology.islands-unless-bridged", graph.topology.gpus, islands=shown))
    return Verdict("broken" if weak else "direct", tuple(problems))


def _mesh(graph: _Graph, alone: tuple[int, ...]) -> Verdict:
    """Modules wired to each other: eight of them form a regular graph, a part of them need not."""
    gpus = graph.topology.gpus
    sums = {g: sum(graph.peers(g).values()) for g in gpus}
    if len(gpus) < 8 or len(set(sums.values())) == 1:
        return Verdict("mesh")
    weak = tuple(g for g in gpus if sums[g] < max(sums.values()))
    lacking = ", ".join(f"GPU{g} has {sums[g]}" for g in weak[:8])
    fields: dict[str, Value] = {"expected": f"{max(sums.values())} links", "found": f"{lacking} links"}
    rule = "topology.gpu-isolated" if weak == alone else "topology.mesh-irregular"
    return Verdict("broken", (graph.problem(rule, weak, peers=len(gpus) - len(weak), **fields),))


def _asymmetry(topology: Topology) -> list[Problem]:
    if not topology.asymmetric:
        return []
    gpus = _cover(list(topology.asymmetric))
    cells = topology.matrix.cells
    named = [(f"GPU{i}", f"GPU{j}") for i, j in topology.asymmetric[:_SHOWN_PAIRS]]
    shown = ", ".join(f"{a} to {b} {cells[a, b]} but {b} to {a} {cells[b, a]}" for a, b in named)
    return [Problem("topology.asymmetric", gpus, {"gpus": gpus, "gpu_names": _names(gpus), "pairs": shown})]


def _adapters(topology: Topology) -> list[Problem]:
    """GPUs without a near adapter on a machine where most GPUs have one."""
    best: dict[int, str] = {}
    order = (*CLOSE, "PHB", *_FAR)
    for (gpu, _), path in topology.adapters.items():
        if path in order and (gpu not in best or order.index(path) < order.index(best[gpu])):
            best[gpu] = path
    near = [gpu for gpu in best if best[gpu] in CLOSE]
    far = tuple(sorted(gpu for gpu in best if best[gpu] in _FAR))
    if not far or len(near) <= len(topology.gpus) // 2:
        return []
    kinds = ", ".join(sorted({best[gpu] for gpu in far}))
    return [
        Problem(
            "topology.adapter-far",
            far,
            {"gpus": far, "gpu_names": _names(far), "found": kinds, "near": _names(tuple(sorted(near)))},
        )
    ]


def _module(topology: Topology) -> GpuModel | None:
    """The product, when all that are named are modules that cannot be without NVLinks."""
    models = topology.models
    return models[0] if models and all(model.form == "sxm" for model in models) else None


def _cover(pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """The fewest GPUs that all ``pairs`` have in common, when one clearly is; else all involved.

    A GPU that lost its links is in every missing pair, its peers in one each.
    """
    left, suspects = list(pairs), []
    while left:
        tally = Counter(gpu for pair in left for gpu in pair)
        (gpu, count), *rest = sorted(tally.items(), key=lambda item: (-item[1], item[0]))
        if rest and rest[0][1] == count:
            return _involved(pairs)
        suspects.append(gpu)
        left = [pair for pair in left if gpu not in pair]
    return tuple(sorted(suspects))


def _involved(pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(sorted({gpu for pair in pairs for gpu in pair}))


def _names(gpus: tuple[int, ...]) -> str:
    return ", ".join(f"GPU{gpu}" for gpu in gpus)


def _found(topology: Topology, pairs: list[tuple[int, int]]) -> str:
    return ", ".join(sorted({topology.kinds[pair] for pair in pairs})) or "nothing"


def _shown(topology: Topology, pairs: list[tuple[int, int]]) -> str:
    shown = ", ".join(f"GPU{i}-GPU{j} {topology.kinds[i, j]}" for i, j in pairs[:_SHOWN_PAIRS])
    return f"{shown} and {len(pairs) - _SHOWN_PAIRS} more" if len(pairs) > _SHOWN_PAIRS else shown
