"""What a GPU's product name says about its NVLinks: how many it has, and whether it can be without.

Names are those of ``nvidia-smi`` (``NVIDIA H100 80GB HBM3``) and ``lspci`` (``GH100 [H100 SXM5 80GB]``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Form = Literal["sxm", "card", "superchip"]


@dataclass(frozen=True, slots=True)
class GpuModel:
    """A product: its name, how it is built in, and its number of NVLinks (None: unknown).

    ``sxm``: a module that always has NVLinks to its neighbours. ``card``: PCIe, NVLinks only over
    bridges that a site may or may not have bought. ``superchip``: beside a Grace CPU; NVLinks to
    other GPUs depend on the machine.
    """

    name: str
    form: Form
    links: int | None = None
    mesh: bool = False
    """True for modules that are wired to each other in a mesh, without switches."""


_PRODUCTS: tuple[tuple[str, Form, int | None, bool], ...] = (
    (r"GB[123]00\b", "sxm", 18, False),
    (r"GH200\b", "superchip", 18, False),
    (r"(?:H100|H200|H800)[ -]NVL\b", "card", None, False),
    (r"(?:A100|A800|H100|H800|V100S?|P100|A30)(?:[ -]\d+GB)?[ -]PCI[eE]\b", "card", None, False),
    (r"B[123]00\b", "sxm", 18, False),
    (r"H200\b", "sxm", 18, False),
    (r"H20\b", "sxm", 18, False),
    (r"H800\b", "sxm", 8, False),
    (r"H100(?: SXM5?|(?: \d+GB)? HBM[23]e?\b)", "sxm", 18, False),
    (r"A100[ -](?:SXM|PG509)", "sxm", 12, False),
    (r"A800[ -]SXM", "sxm", 8, False),
    (r"V100[ -]SXM3", "sxm", 6, False),
    (r"V100[ -]SXM2", "sxm", 6, True),
    (r"P100[ -]SXM2", "sxm", 4, True),
    (r"(?:GeForce |Quadro )?(?:RTX|GTX|TITAN)(?: PRO)?[ -]?A?\d*\b", "card", None, False),
    (r"(?:L40S?|L20|L4|L2|A40|A30|A16|A10G?|A2|T4G?|P40|P4|M60|M40|K80)\b", "card", None, False),
)
_MODEL = re.compile(
    r"(?<![A-Za-z0-9])(?:" + "|".join(f"(?P<m{i}>{row[0]})" for i, row in enumerate(_PRODUCTS)) + ")"
)
_SHIPPED = re.compile(
    r"NVIDIA|Tesla|GeForce|Quadro|\b(?:GH100|GA100|GB100|GB102|GV100(?:GL)?|GP100(?:GL)?)\b"
)
"""A line that names a product: model numbers alone ("H100 cluster") prove nothing."""
_SWITCH = re.compile(
    r"NVIDIA Corporation\b.{0,60}\bNVSwitch|Bridge: NVIDIA Corporation .{0,40}\[.{0,30}NVSwitch"
)


def model_of(name: str) -> GpuModel | None:
    """The model that a product name or a line with one tells; None when it tells none."""
    match = _MODEL.search(name)
    if match is None or match.lastgroup is None:
        return None
    _, form, links, mesh = _PRODUCTS[int(match.lastgroup[1:])]
    return GpuModel(_printed(name, match), form, links, mesh)


def models_in(texts: Iterable[str]) -> tuple[GpuModel, ...]:
    """The different models that lines of tool output name, in order of appearance."""
    models: dict[str, GpuModel] = {}
    for text in texts:
        if _SHIPPED.search(text) and "NVSwitch" not in text:
            model = model_of(text)
            if model is not None:
                models.setdefault(model.name, model)
        if len(models) >= 16:
            break
    return tuple(models.values())


def has_switch(texts: Iterable[str]) -> bool:
    """Does a line of ``lspci`` list an NVSwitch?"""
    return any("NVSwitch" in text and _SWITCH.search(text) for text in texts)


def _printed(line: str, match: re.Match[str]) -> str:
    """The product name round the model number, as the line prints it."""
    begin = match.start()
    for maker in ("NVIDIA GeForce ", "NVIDIA ", "Tesla ", "Quadro ", "GeForce "):
        if line.endswith(maker, 0, begin):
            begin -= len(maker)
            break
    tail = re.match(
        r"[\w-]*(?: (?:\d+GB|HBM\de?|SXM\d?|PCIe|NVL|Ti|SUPER|Ada|Generation|\d{3,4}))*", line[match.end() :]
    )
    return line[begin : match.end() + (tail.end() if tail else 0)].strip()
