"""From what a caller calls a receipt (a mapping, a path, an object) to a checked mapping.

The shape is published as ``docs/schema/receipt.schema.json``. Keys that are not known are kept and
ignored, so that a service may add its own.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.errors import ReceiptError

ReceiptInput = Mapping[str, Any] | str | os.PathLike[str] | object
"""A receipt: a mapping, the path of a JSON file, a dataclass, or an object with ``model_dump()`` or
``to_dict()``."""

MAX_BYTES = 16 << 20
"""Size of a receipt file beyond which it is none."""

_Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _texts(value: Any) -> bool:
    return _list(value) and all(isinstance(v, str) for v in value)


def _list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _scalars(value: Any) -> bool:
    return isinstance(value, Mapping) and all(v is None or _scalar(v) for v in value.values())


def _topology(value: Any) -> bool:
    return isinstance(value, str | Mapping) or _list(value)


_LAUNCH: Mapping[str, tuple[_Check, str]] = {
    "argv": (_texts, "a list of texts"),
    "world_size": (_count, "a whole number"),
    "tp": (_count, "a whole number"),
    "pp": (_count, "a whole number"),
    "nproc_per_node": (_count, "a whole number"),
    "nodes": (_count, "a whole number"),
    "timeout_s": (_number, "a number of seconds"),
}
_STEPS: Mapping[str, tuple[_Check, str]] = {
    "first": (_count, "a step number"),
    "last": (_count, "a step number"),
    "mean_s": (_number, "a number of seconds"),
}
_MEMORY: Mapping[str, tuple[_Check, str]] = {
    "allocated_bytes": (_number, "a number of bytes"),
    "reserved_bytes": (_number, "a number of bytes"),
    "peak_allocated_bytes": (_number, "a number of bytes"),
    "batch_shape": (lambda v: _list(v) or _scalar(v), "a list of sizes"),
    "sequence_length": (_number, "a number"),
    "step": (_count, "a step number"),
}
_TOP: Mapping[str, tuple[_Check, str]] = {
    "run_id": (_scalar, "text"),
    "source_revision": (_text, "text"),
    "machine_class": (_text, "text"),
    "lane": (_text, "text"),
    "host": (_text, "text"),
    "collected_at": (_text, "text"),
    "launch": (_mapping, "an object"),
    "env": (_scalars, "an object of texts"),
    "versions": (_scalars, "an object of texts"),
    "topology": (_topology, "text, or a matrix"),
    "gpu_nic_affinity": (_mapping, "an object of GPU to adapter"),
    "step_window": (lambda v: _mapping(v) or _list(v), "an object, or a list of them"),
    "memory": (_list, "a list of read-backs"),
    "durations": (_scalars, "an object of seconds"),
    "paths": (_mapping, "an object of use to path"),
    "preflight": (_mapping, "an object"),
    "slurm": (_mapping, "an object"),
    "triage": (_mapping, "an object"),
}


def load_receipt(given: ReceiptInput) -> dict[str, Any]:
    """The receipt that ``given`` is or names, checked.

    Raises:
        ReceiptError: when it can't be read, is not JSON, or a part has the wrong type.
    """
    name = None
    if isinstance(given, str | os.PathLike):
        name = os.fspath(given)
        given = _read(Path(given))
    if not isinstance(given, Mapping):
        given = _as_mapping(given)
    receipt = {str(key): value for key, value in given.items()}
    try:
        validate(receipt)
    except ReceiptError as error:
        raise ReceiptError(f"{name}: {error}") from None if name else error
    return receipt


def validate(receipt: Mapping[str, Any]) -> None:
    """Check the types of every known part. Unknown values are null, and null is allowed everywhere.

    Raises:
        ReceiptError: naming the first part that is wrong and what it should be.
    """
    _check(receipt, _TOP, "")
    if receipt.get("launch") is not None:
        _check(receipt["launch"], _LAUNCH, "launch.")
    windows = receipt.get("step_window")
    for i, window in enumerate([windows] if isinstance(windows, Mapping) else windows or ()):
        _member(window, _STEPS, f"step_window[{i}]")
    for i, entry in enumerate(receipt.get("memory") or ()):
        _member(entry, _MEMORY, f"memory[{i}]")


def _member(value: Any, shape: Mapping[str, tuple[_Check, str]], where: str) -> None:
    if not isinstance(value, Mapping):
        raise ReceiptError(f"{where} must be an object, not {_kind(value)}")
    _check(value, shape, f"{where}.")


def _check(part: Mapping[str, Any], shape: Mapping[str, tuple[_Check, str]], where: str) -> None:
    for key, (holds, wanted) in shape.items():
        value = part.get(key)
        if value is not None and not holds(value):
            raise ReceiptError(f"{where}{key} must be {wanted}, not {_kind(value)}")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), f"{value!r:.40}" if _number(value) else type(value).__name__)


def _read(path: Path) -> Any:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ReceiptError(f"{path}: can't read the receipt: {reason}") from None
    return parse(data, str(path))


def parse(data: bytes, name: str = "receipt") -> dict[str, Any]:
    """The JSON object in ``data``.

    Raises:
        ReceiptError: when it is too large, not JSON, or not an object.
    """
    if len(data) > MAX_BYTES:
        raise ReceiptError(f"{name}: larger than {MAX_BYTES >> 20} MiB, which no receipt is")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"{name}: not a receipt: not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise ReceiptError(f"{name}: not a receipt: a receipt is a JSON object")
    return value


def _as_mapping(given: object) -> Mapping[str, Any]:
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        return dataclasses.asdict(given)
    for name in ("model_dump", "to_dict"):
        method = getattr(given, name, None)
        if callable(method):
            value = method()
            if isinstance(value, Mapping):
                return value
    raise ReceiptError(
        "a receipt is a mapping, a path, a dataclass, or has model_dump() or to_dict(),"
        f" not {type(given).__name__}"
    )
