"""``nvidia-smi`` in all its formats: the table, ``-q``, ``-L`` and the CSV queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.model import Finding, Reading, Source, Value
from triage.readers import smi_csv, smi_query, smi_table
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.readers.gpu_models import model_of
from triage.readers.smi_device import Cell, Device, merged
from triage.readers.smi_messages import messages
from triage.readers.smi_verdict import Problem, problems
from triage.rules.fields import to_version

KIND = "nvidia-smi"
HELD = 1 << 30
"""Bytes in use from which a GPU's memory is worth a fact."""
_MAX_EVIDENCE = 24


class NvidiaSmiReader:
    """Reads captures of ``nvidia-smi``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source the output of ``nvidia-smi``, rather than a log with some in it?"""
        return mostly(head, _begins, _belongs)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """List the GPUs and what is wrong with them."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def find_devices(text: str | bytes) -> list[Device]:
    """The GPUs that ``text`` describes in any of the formats, each once."""
    return _devices(lines_of(text))[0]


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for ``nvidia-smi`` output in a piece of a source that begins at ``line`` and ``offset``."""
    return _read(lines_of(text, line, offset), source, index).findings


def _begins(text: str) -> bool:
    return bool(
        smi_table.BANNER.search(text)
        or smi_query.BANNER.search(text)
        or smi_table.LISTED.match(text)
        or smi_csv.header_of(text.strip())
        or smi_query.HEADING.match(text)
    )


def _belongs(text: str) -> bool:
    plain = text.strip()
    if plain.startswith(("|", "+--", "+==")) or _begins(text):
        return True
    if text.startswith("    ") and (" : " in text or plain.endswith(":") or ":" not in plain):
        return True
    return "," in plain and any(word in plain for word in ("MiB", "GPU-", "NVIDIA", "%", "N/A", "Active"))


def _devices(lines: Sequence[Line]) -> tuple[list[Device], dict[str, Cell]]:
    queried, head = smi_query.devices(lines) if _has_query(lines) else ([], {})
    return merged([*queried, *smi_table.devices(lines), *smi_csv.devices(lines)]), head


def _has_query(lines: Sequence[Line]) -> bool:
    return any(smi_query.HEADING.match(line.text.strip()) for line in lines if "GPU " in line.text)


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    devices, head = _devices(lines)
    messages(found, lines)
    if not devices and not found.items and not any(smi_csv.header_of(line.text.strip()) for line in lines):
        found.note("no GPU could be read from this nvidia-smi output")
        found.complete = False
    _versions(found, lines, head)
    for device in devices:
        found.add("gpu.smi-device", device.lines[:1], device.identity(), gpu=device.number)
        _held(found, device)
    _inventory(found, devices, head)
    by_rule: dict[str, list[Problem]] = defaultdict(list)
    for problem in problems(devices):
        by_rule[problem.rule_id].append(problem)
    for rule_id, group in by_rule.items():
        _report(found, rule_id, group, len(devices))
    return found.reading()


def _versions(found: Findings, lines: Sequence[Line], head: dict[str, Cell]) -> None:
    driver, cuda, line = smi_table.versions(lines)
    if "driver version" in head:
        driver, line = driver or head["driver version"].value, line or head["driver version"].line
    if "cuda version" in head:
        cuda = cuda or head["cuda version"].value
    if line is not None:
        found.add("gpu.smi-version", [line], {"driver": _version(driver), "cuda": _version(cuda)})


def _version(text: str | None) -> Value:
    try:
        return to_version(text) if text else None
    except ValueError:
        return None


def _held(found: Findings, device: Device) -> None:
    if device.used is None or device.used < HELD:
        return
    holders = ", ".join(f"{p.pid} {p.name}".strip() for p in device.processes[:8])
    fields: dict[str, Value] = {
        **device.identity(),
        "used": device.used,
        "total": device.total,
        "pids": tuple(p.pid for p in device.processes[:64]),
        "processes": holders or None,
    }
    found.add("gpu.smi-memory-held", device.lines[:2], fields, gpu=device.number)


def _inventory(found: Findings, devices: Sequence[Device], head: dict[str, Cell]) -> None:
    if not devices:
        return
    lines = [line for device in devices for line in device.lines[:1]][:_MAX_EVIDENCE]
    names = tuple(dict.fromkeys(d.name for d in devices if d.name))
    sizes = [d.total for d in devices if d.total]
    model = model_of(names[0]) if names else None
    migs = sum(1 for d in devices for path in ("table/mig", "mig mode/current", "mig.mode.current")
               if (cell := d.values.get(path)) and cell.value.lower() == "enabled")  # fmt: skip
    fields: dict[str, Value] = {
        "gpus": len(devices),
        "models": ", ".join(names) or None,
        "form": model.form if model else None,
        "memory_least": min(sizes, default=None),
        "memory_most": max(sizes, default=None),
        "mig": migs > 0,
        "modes": ", ".join(sorted(_modes(devices))) or None,
    }
    found.add("gpu.smi-inventory", lines, fields)
    if len(names) > 1 or (sizes and min(sizes) < 0.95 * max(sizes)):
        shown = "; ".join(
            f"GPU {d.number} {d.name or 'unknown'}" + (f" {d.total >> 20} MiB" if d.total else "")
            for d in devices[:16]
        )
        found.add("gpu.smi-mixed", lines, {**fields, "detail": shown})
    attached = head.get("attached gpus")
    if attached is not None and attached.number is not None and int(attached.number) > len(devices):
        missing: dict[str, Value] = {"attached": int(attached.number), "shown": len(devices)}
        found.note(f"{missing['attached']} GPUs are attached, {missing['shown']} are described")
    if model is not None and model.form == "sxm" and len(devices) in {7, 15}:
        found.add("gpu.smi-one-missing", lines, {**fields, "expected": len(devices) + 1})


def _modes(devices: Sequence[Device]) -> set[str]:
    """Compute modes other than the shared default, e.g. ``Exclusive_Process``."""
    cells = [d.values.get(p) for d in devices for p in ("compute mode", "compute_mode", "table/mode")]
    return {cell.value for cell in cells if cell is not None and cell.known and cell.value != "Default"}


def _report(found: Findings, rule_id: str, group: Sequence[Problem], total: int) -> None:
    """One finding for all GPUs with the same trouble."""
    gpus = tuple(dict.fromkeys(problem.device.number for problem in group))
    one = group[0].device if len(gpus) == 1 else None
    lines: dict[int, Line] = {}
    for problem in group:
        for line in (problem.device.lines[0], problem.cell.line):
            lines.setdefault(line.number, line)
    detail = "; ".join(f"{p.device.label}: {p.detail}" for p in group[:8])
    fields: dict[str, Value] = {
        "gpus": gpus,
        "gpu_names": ", ".join(f"GPU {n}" for n in gpus),
        "detail": detail if len(group) <= 8 else f"{detail} and {len(group) - 8} more",
        "value": group[0].cell.value,
        "total": total,
        "all": len(gpus) == total,
    }
    if one is not None:
        fields.update(one.identity())
    evidence = sorted(lines.values(), key=lambda line: line.number)[:_MAX_EVIDENCE]
    found.add(rule_id, evidence, fields, gpu=one.number if one else None)
