"""Error files of torchelastic: the exception that ended one rank, as ``@record`` wrote it down.

``{"message": {"message": "RuntimeError: …", "extraInfo": {"py_callstack": …, "timestamp": "…"}}}``; the
launcher's copy may add ``errorCode``, and handlers of other kinds write ``{"message": "…"}`` alone. A rank
that is killed while writing leaves half a file, so what is no valid JSON is read as far as it goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from triage.model import Moment, Reading, Source, Value
from triage.readers.base import finding
from triage.scan.exceptions import exception_fields
from triage.scan.traceback import parse_traceback

__all__ = ["ElasticErrorReader", "ElasticErrorReading", "traceback_text"]

KIND = "elastic-error"
RULE = "torch.elastic-error-file"
MAX_BYTES = 4 << 20
SHOWN_LINES = 12

_BEGIN = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"message"\s*:\s*(?P<nested>\{\s*"(?:message|errorCode|extraInfo)"\s*:)?'
)
_PLACE = re.compile(
    r"(?:attempt_(?P<attempt>\d{1,4})[/\\])?(?P<local>\d{1,4})[/\\][^/\\]*error[^/\\]*\.json$"
)
_MESSAGE = re.compile(r'"message"\s*:\s*\{\s*"message"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
_STACK = re.compile(r'"py_callstack"\s*:\s*"(.*)', re.DOTALL)
_STACK_END = re.compile(r'(?:\\n)?"\s*,\s*"timestamp"\s*:|(?:\\n)?"\s*\}\s*\}\s*\}?\s*$')
_NUMBER = r'"{}"\s*:\s*"?(-?\d{{1,18}})'
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_RAISED = re.compile(
    r"(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Timeout\w*)): ?(?P<message>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ElasticErrorReading(Reading):
    """A reading that keeps the traceback as text, so that a scan can look for known messages in it."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class _Error:
    message: str
    callstack: str
    timestamp: int | None
    code: int | None
    whole: bool = True


class ElasticErrorReader:
    """Reads the error file of one rank."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """One object, with a message in a message, or with a plain one in a file called after errors."""
        begin = _BEGIN.match(head)
        if begin is None:
            return False
        if begin["nested"] is not None:
            return True
        lines = head.strip().split(b"\n", 2)
        alone = len(lines) == 1 or not lines[1].lstrip().startswith(b"{")
        return alone and re.search(r"error[^/\\]*\.json$", name) is not None

    def read(self, data: bytes, source: Source, index: int) -> ElasticErrorReading:
        """The exception that ``data`` records."""
        error = _parse(data[:MAX_BYTES].decode("utf-8-sig", "replace"))
        if error is None:
            return ElasticErrorReading(KIND, notes=("not an error file of torchelastic",), complete=False)
        fields = _fields(error)
        made = finding(
            RULE,
            fields,
            source,
            index,
            _shown(error),
            time=_moment(error.timestamp),
            level="error",
            raised=True,
        )
        place = _PLACE.search(source.path or source.name)
        if place is not None and made.rank is None and made.local_rank is None:
            made = replace(made, local_rank=int(place["local"]))
        notes = () if error.whole else ("not valid JSON; read as far as it goes",)
        return ElasticErrorReading(KIND, (made,), notes, error.whole, error.callstack or error.message)


def traceback_text(data: bytes) -> str | None:
    """The traceback, or else the message, of an error file; None when it is none."""
    error = _parse(data[:MAX_BYTES].decode("utf-8-sig", "replace"))
    return None if error is None else error.callstack or error.message


def _parse(text: str) -> _Error | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _salvage(text)
    if not isinstance(value, dict):
        return None
    inner = value.get("message")
    if isinstance(inner, dict):
        extra = inner.get("extraInfo")
        extra = extra if isinstance(extra, dict) else {}
        return _error(
            inner.get("message"), extra.get("py_callstack"), extra.get("timestamp"), inner.get("errorCode")
        )
    if isinstance(inner, str):
        return _error(inner, None, value.get("timestamp"), value.get("errorCode"))
    return None


def _error(message: object, callstack: object, timestamp: object, code: object) -> _Error:
    return _Error(
        message if isinstance(message, str) else "", callstack if isinstance(callstack, str) else "",
        _int(timestamp), _int(code),
    )  # fmt: skip


def _salvage(text: str) -> _Error | None:
    """What can be had of half a file, or of one in which quotes were not escaped."""
    message = _MESSAGE.search(text)
    if message is None:
        return None
    stack = ""
    found = _STACK.search(text)
    if found is not None:
        end = _STACK_END.search(found[1])
        stack = _unescape(found[1][: end.start()] if end else found[1])
    numbers = {name: re.search(_NUMBER.format(name), text) for name in ("timestamp", "errorCode")}
    timestamp, code = (_int(match[1]) if match else None for match in numbers.values())
    return _Error(_unescape(message[1]), stack, timestamp, code, whole=False)


def _unescape(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if code[0] == "u" else _PLAIN.get(code, code)

    # halves of surrogate pairs can't be shown or encoded
    return _ESCAPE.sub(plain, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fields(error: _Error) -> Mapping[str, Value]:
    fields: dict[str, Value] = {}
    lines = error.callstack.splitlines()
    start = next((i for i, line in enumerate(lines[:50]) if "Traceback (most recent call last)" in line), 0)
    traceback = parse_traceback(lines, start) if lines else None
    if traceback is not None:
        fields.update(exception_fields(traceback))
    stated = _RAISED.match(error.message)
    if fields.get("type") is None and stated is not None:
        fields.update(type=stated["type"], message=stated["message"][:500])
    if not fields.get("message"):
        fields["message"] = error.message[:500]
    where = fields.get("file")
    if isinstance(where, str):
        fields["where"] = f"{fields.get('function') or '?'} ({where}:{fields.get('line')})"
    fields.update(timestamp=error.timestamp, error_code=error.code)
    return fields


def _shown(error: _Error) -> str:
    lines = [line for line in error.callstack.splitlines() if line.strip()]
    if len(lines) > SHOWN_LINES:
        lines = [lines[0], "  …", *lines[2 - SHOWN_LINES :]]
    return "\n".join(lines) or error.message or "an error without a message"


def _moment(timestamp: int | None) -> Moment | None:
    if timestamp is None or not 0 < timestamp < 1 << 40:
        return None
    return Moment(float(timestamp), "wall", zoned=True)


def _int(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value == value and abs(value) < 1 << 53:
        return int(value)
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else None
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}(?:\.[0-9]{1,9})?", value):
        return int(value.partition(".")[0])
    return None
