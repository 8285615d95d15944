"""``nvidia-smi nvlink --status`` and ``-e``: which NVLinks are up, and what errors they counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.readers.gpu_models import model_of

KIND = "nvlink"
MAX_LINKS = 72
"""Links of one GPU; the product with most has 18."""

_GPU = re.compile(
    r"(?:^|[\s:])GPU (?P<index>\d{1,3}): (?P<name>[^()]{2,80}?)(?: \(UUID: (?P<uuid>[\w-]+)\))?\s*$"
)
_LINK = re.compile(
    r"(?:^|\s)Link (?P<link>\d{1,2}): (?P<state>[\d.]+ GB/s|<?inactive>?|[A-Z(][\w ()]{2,30})\s*$"
)
_COUNTER = re.compile(
    r"(?:^|\s)Link (?P<link>\d{1,2}): (?P<what>[A-Z][A-Za-z ]{3,40}?)\s*:\s*(?P<count>\d{1,20})\b"
)
_NONE = re.compile(r"Unable to retrieve NVLink information as all links are in[Aa]ctive|NVLink is disabled")
_SPEED = re.compile(r"([\d.]+) GB/s")
_SERIOUS = frozenset({"link recovery failed events", "recovery errors"})
"""Counters that stay at zero on a sound link: retraining was needed, or did not help."""
_NOISE = frozenset(
    {"replay errors", "crc errors", "link recovery successful events", "rx errors", "rx remote errors",
     "rx general errors", "local link integrity errors", "malformed packet errors", "buffer overrun errors",
     "effective errors", "symbol errors", "tx discards"}
)  # fmt: skip
"""Counters of errors that were corrected or repeated: worth a warning."""


@dataclass(slots=True)
class GpuLinks:
    """The links of one GPU: speeds in GB/s (0 when inactive) and error counters by link."""

    number: int
    name: str
    line: Line
    uuid: str | None = None
    speeds: dict[int, float] = field(default_factory=dict)
    lines: dict[int, Line] = field(default_factory=dict)
    counters: dict[tuple[int, str], tuple[int, Line]] = field(default_factory=dict)
    none: Line | None = None
    """The line that says that no link is active."""

    @property
    def active(self) -> tuple[int, ...]:
        """Links that are up."""
        return tuple(link for link, speed in self.speeds.items() if speed > 0)

    @property
    def inactive(self) -> tuple[int, ...]:
        """Links that are listed and down."""
        return tuple(link for link, speed in self.speeds.items() if speed == 0)

    @property
    def listed(self) -> bool:
        """Does the text tell the state of the links, rather than their counters only?"""
        return bool(self.speeds) or self.none is not None


class NvlinkReader:
    """Reads captures of ``nvidia-smi nvlink``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a list of NVLinks?"""
        return b"Link " in head and mostly(head, _begins, _belongs)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Count links and errors, and say which GPU has fewer than it should."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def find_links(text: str | bytes) -> list[GpuLinks]:
    """The GPUs whose links ``text`` lists."""
    return _gpus(lines_of(text))


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for NVLink lists in a piece of a source that begins at ``line`` and ``offset``."""
    lines = lines_of(text, line, offset)
    return _read(lines, source, index).findings if _gpus(lines) else ()


def _begins(text: str) -> bool:
    return bool(_LINK.search(text) or _COUNTER.search(text) or _NONE.search(text))


def _belongs(text: str) -> bool:
    return _begins(text) or _GPU.search(text) is not None or text.strip().startswith("Link ")


def _gpus(lines: Sequence[Line]) -> list[GpuLinks]:
    found: list[GpuLinks] = []
    current: GpuLinks | None = None
    for line in lines:
        gpu = _GPU.search(line.text) if "GPU " in line.text else None
        if gpu:
            current = GpuLinks(int(gpu["index"]), gpu["name"].strip(), line, gpu["uuid"])
            found.append(current)
            continue
        if current is None:
            continue
        if _NONE.search(line.text):
            current.none = line
            continue
        link = _LINK.search(line.text) if "Link " in line.text else None
        if link and int(link["link"]) < MAX_LINKS:
            speed = _SPEED.match(link["state"])
            if speed or "inactive" in link["state"].lower():
                current.speeds[int(link["link"])] = _number(speed[1]) if speed else 0.0
                current.lines[int(link["link"])] = line
            continue
        counter = _COUNTER.search(line.text) if "Link " in line.text else None
        if counter and int(counter["link"]) < MAX_LINKS:
            key = (int(counter["link"]), counter["what"].strip().lower())
            current.counters[key] = (int(counter["count"]), line)
    return [gpu for gpu in found if gpu.listed or gpu.counters]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    gpus = _gpus(lines)
    if not gpus:
        found.note("no NVLink list could be read")
        found.complete = False
    listed = [gpu for gpu in gpus if gpu.listed]
    if listed:
        least, most = min(len(g.active) for g in listed), max(len(g.active) for g in listed)
        facts: dict[str, Value] = {"gpus": len(listed), "least": least, "most": most, "model": listed[0].name}
        found.add("gpu.nvlink-status", [g.line for g in listed[:16]], facts)
    for gpu, expected in _short(listed):
        _down(found, gpu, expected)
    for gpu in listed:
        _slow(found, gpu)
    for gpu in gpus:
        _errors(found, gpu)
    return found.reading()


def _short(gpus: Sequence[GpuLinks]) -> Iterator[tuple[GpuLinks, int]]:
    """GPUs with fewer links than their product has, or than their like have here."""
    usual = _usual(gpus)
    for gpu in gpus:
        model = model_of(gpu.name)
        if model is not None and model.form == "sxm" and model.links:
            expected = model.links
        elif len(gpus) > 1 and (gpu.active or model is None):
            expected = usual
        else:
            continue  # a card without a bridge: nothing says that it should have one
        if len(gpu.active) < expected:
            yield gpu, expected


def _usual(gpus: Sequence[GpuLinks]) -> int:
    """The number of active links that most GPUs have; of equally frequent ones the larger."""
    tally = Counter(len(gpu.active) for gpu in gpus)
    return max(tally, key=lambda n: (tally[n], n), default=0)


def _down(found: Findings, gpu: GpuLinks, expected: int) -> None:
    evidence = [gpu.line, *(gpu.lines[link] for link in gpu.inactive[:18])]
    if gpu.none is not None:
        evidence.append(gpu.none)
    shown = ", ".join(str(link) for link in gpu.inactive) or "all"
    fields: dict[str, Value] = {
        "gpu": gpu.number,
        "uuid": gpu.uuid,
        "model": gpu.name,
        "active": len(gpu.active),
        "expected": expected,
        "links": shown,
    }
    found.add("gpu.nvlink-down", evidence, fields, gpu=gpu.number)


def _slow(found: Findings, gpu: GpuLinks) -> None:
    """Links that trained at a lower speed than the GPU's other links."""
    best = max(gpu.speeds.values(), default=0.0)
    slow = [link for link in gpu.active if gpu.speeds[link] < 0.95 * best]
    if slow:
        shown = ", ".join(f"{link} at {gpu.speeds[link]:g} GB/s" for link in slow[:8])
        fields: dict[str, Value] = {
            "gpu": gpu.number, "uuid": gpu.uuid, "model": gpu.name, "links": shown, "best": best
        }  # fmt: skip
        found.add("gpu.nvlink-slow", [gpu.line, *(gpu.lines[k] for k in slow[:8])], fields, gpu=gpu.number)


def _errors(found: Findings, gpu: GpuLinks) -> None:
    for names, rule_id in ((_SERIOUS, "gpu.nvlink-recovery-errors"), (_NOISE, "gpu.nvlink-errors")):
        bad = [(k, v) for k, v in gpu.counters.items() if k[1] in names and v[0] > 0]
        if not bad:
            continue
        shown = ", ".join(f"link {link}: {count} {what}" for (link, what), (count, _) in bad[:8])
        fields: dict[str, Value] = {
            "gpu": gpu.number,
            "uuid": gpu.uuid,
            "model": gpu.name,
            "links": ", ".join(str(link) for link in sorted({k[0] for k, _ in bad})),
            "detail": shown if len(bad) <= 8 else f"{shown} and {len(bad) - 8} more",
            "errors": sum(count for _, (count, _) in bad),
        }
        found.add(rule_id, [gpu.line, *(line for _, (_, line) in bad[:8])], fields, gpu=gpu.number)
