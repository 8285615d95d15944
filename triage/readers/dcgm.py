"""``dcgmi diag`` and ``dcgmi health``, as tables or JSON, and ``dcgmi nvlink -s``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of, mostly, parsed_json, prompt_host
from triage.readers.dcgm_table import TITLE, Result, results, status_of
from triage.readers.embedded import with_neighbours
from triage.text import safe

KIND = "dcgm"
MAX_JSON = 16 << 20
"""Bytes of JSON that are parsed; a full diagnostic of 16 GPUs has some 200 KB."""

_SOFTWARE = re.compile(
    r"denylist|blacklist|nvml|cuda|permission|environment|graphics process|software|library|inforom|context",
    re.I,
)
_PERSISTENCE = re.compile(r"persistence", re.IGNORECASE)
_MEMORY = re.compile(r"page retirement|row remap", re.IGNORECASE)
_LINKS = re.compile(r"\s*gpuId (\d{1,3}):\s*$")
_STATES = re.compile(r"\s*(?:[UDX_]\s+){1,72}[UDX_]?\s*$")
_RAN = "Successfully ran diagnostic"


class DcgmReader:
    """Reads captures of ``dcgmi``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source the output of ``dcgmi``?"""
        if head.lstrip()[:1] == b"{":
            return b'"DCGM ' in head and b'"test_categories"' in head
        return mostly(head, _begins, _belongs)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say which tests failed on which GPUs."""
        return with_neighbours(_read(data, lines_of(data), source, index), data, source, index)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for ``dcgmi`` tables in a piece of a source."""
    lines = lines_of(text, line, offset)
    return _read(b"", lines, source, index).findings if any(_begins(x.text) for x in lines) else ()


def _begins(text: str) -> bool:
    return bool(TITLE.search(text) or _RAN in text or "NvLink Link Status" in text or _LINKS.match(text))


def _belongs(text: str) -> bool:
    plain = text.strip()
    known = ("|", "+-", "+=", "GPUs:", "NvSwitches:", "Key: Up", "No NvSwitches")
    return plain.startswith(known) or _begins(text) or _STATES.match(text) is not None


def _read(data: bytes, lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    outcomes: list[Result] = []
    if data.lstrip()[:1] == b"{":
        outcomes = _from_json(data, lines, found)
    else:
        outcomes = results(lines)
    if outcomes:
        tally = {s: sum(1 for r in outcomes if r.status == s) for s in ("pass", "fail", "warn", "skip")}
        facts: dict[str, Value] = {
            f"{status}ed" if status != "skip" else "skipped": n for status, n in tally.items()
        }
        found.add("gpu.dcgm-result", outcomes[0].lines[:1], facts)
    for outcome in outcomes:
        if outcome.status in {"fail", "warn"} and outcome.test.lower() != "overall health":
            _report(found, outcome)
    down = list(_links_down(lines))
    for gpu, count, evidence in down:
        fields: dict[str, Value] = {"gpu": gpu, "down": count}
        found.add("gpu.dcgm-nvlink-down", evidence, fields, gpu=gpu)
    if not outcomes and not down and not any(_LINKS.match(line.text) for line in lines):
        found.note("no result of a DCGM diagnostic could be read")
        found.complete = False
    return found.reading()


def _report(found: Findings, outcome: Result) -> None:
    message = safe(" ".join(" ".join(outcome.messages).split()), 1024) or None
    gpus = tuple(outcome.gpus)
    fields: dict[str, Value] = {
        "test": outcome.test,
        "category": outcome.category,
        "gpus": gpus or None,
        "gpu": gpus[0] if len(gpus) == 1 else None,
        "gpu_names": ", ".join(f"GPU {gpu}" for gpu in gpus) or None,
        "message": message,
    }
    found.add(_rule(outcome), outcome.lines, fields, gpu=gpus[0] if len(gpus) == 1 else None)


def _rule(outcome: Result) -> str:
    if outcome.status == "warn":
        return "gpu.dcgm-warning"
    if _PERSISTENCE.search(outcome.test):
        return "gpu.dcgm-warning"
    if _PERSISTENCE.search(" ".join(outcome.messages)) and _SOFTWARE.search(outcome.test):
        return "gpu.dcgm-warning"
    if _SOFTWARE.search(outcome.test) and not _MEMORY.search(outcome.test):
        return "gpu.dcgm-software-failed"
    return "gpu.dcgm-failed"


def _links_down(lines: Sequence[Line]) -> Iterator[tuple[int, int, list[Line]]]:
    """GPUs of ``dcgmi nvlink -s`` with links in state D (down); X (disabled) is a setting."""
    gpu: tuple[int, Line] | None = None
    for line in lines:
        heading = _LINKS.match(line.text)
        if heading:
            gpu = (int(heading[1]), line)
        elif gpu is not None and _STATES.match(line.text + " "):
            count = line.text.split().count("D")
            if count:
                yield gpu[0], count, [gpu[1], line]
            gpu = None


def _from_json(data: bytes, lines: Sequence[Line], found: Findings) -> list[Result]:
    document, problem = parsed_json(data, MAX_JSON)
    if problem is not None:
        found.note(problem)
        found.complete = False
        return []
    top = next((v for k, v in _mapping(document).items() if str(k).startswith("DCGM ")), None)
    outcomes: list[Result] = []
    for category in _list(_mapping(top).get("test_categories")):
        for test in _list(_mapping(category).get("tests")):
            outcomes.extend(_of_test(_mapping(category), _mapping(test), lines))
    return outcomes


def _of_test(category: Mapping[str, Any], test: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[Result]:
    name = str(test.get("name", "?"))
    evidence = [line for line in lines if f'"{name}"' in line.text][:1] or list(lines[:1])
    worst = Result(name, "skip", list(evidence), str(category.get("category") or "") or None)
    order = ("skip", "pass", "warn", "fail")
    for entry in (*_list(test.get("results")), test.get("test_summary")):
        result = _mapping(entry)
        status = status_of(str(result.get("status", "")))
        if status is None:
            continue
        if order.index(status) > order.index(worst.status):
            worst.status = status
        if status in {"fail", "warn"}:
            _blame(worst, result)
    yield worst


def _blame(outcome: Result, result: Mapping[str, Any]) -> None:
    ids = result.get("gpu_ids", result.get("gpu_id"))
    if ids is None and str(result.get("entity_group", "")).upper() == "GPU":
        ids = result.get("entity_id")
    for number in re.findall(r"\d{1,3}", str(ids) if ids is not None else "")[:64]:
        if int(number) not in outcome.gpus:
            outcome.gpus.append(int(number))
    for key in ("warnings", "warning", "info", "errors", "error"):
        for message in _list(result.get(key)) or [result.get(key)]:
            text = _mapping(message).get("warning") or _mapping(message).get("error_msg") or message
            if isinstance(text, str) and text and len(outcome.messages) < 16:
                outcome.messages.append(text[:2000])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value[:10_000] if isinstance(value, list) else []
