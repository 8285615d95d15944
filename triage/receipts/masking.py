"""Receipts without secrets: environments and command lines say which value belongs to which name."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from triage.text import MASK, is_secret_name, mask

_MAX_VALUE = 4096
_MAX_DEPTH = 64


def mask_environment(environment: Mapping[str, Any]) -> dict[str, Any]:
    """``environment`` with the values of secret names, and secrets within other values, masked."""
    return {str(name): _masked_value(str(name), value) for name, value in environment.items()}


def _masked_value(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return MASK if is_secret_name(name) and value is not None and _telling(value) else value
    if not value:
        return value
    assigned = mask(f"{name}={value}")
    if assigned == f"{name}={MASK}":
        return MASK
    shown = mask(value)
    if is_secret_name(name) and shown == value and not value.isdigit() and not value.startswith(("/", "~")):
        return MASK
    rest = assigned.partition("=")[2]
    # the stricter of both views: with its name, and on its own
    return (rest if rest != value else shown)[:_MAX_VALUE]


def _telling(value: Any) -> bool:
    return not isinstance(value, bool | Mapping | list | tuple)


def mask_argv(argv: Sequence[str]) -> list[str]:
    """A command line with its secrets masked, its words still apart."""
    words = list(argv)
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        if (
            word.startswith("-")
            and "=" not in word
            and is_secret_name(word)
            and following[:1] not in ("", "-")
        ):
            words[i + 1] = MASK
    words = [mask(word) for word in words]
    # shapes that need their neighbours: curl -u name:password, sshpass -p password
    shown = mask(shlex.join(words))
    try:
        parts = shlex.split(shown)
    except ValueError:
        return words
    return parts if len(parts) == len(words) else words


def masked(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``receipt`` that may leave the machine: secrets masked wherever they stand."""
    return {str(key): _masked(str(key), value, 0) for key, value in receipt.items()}


def _masked(key: str, value: Any, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return MASK
    if isinstance(value, Mapping):
        return {str(k): _masked(str(k), v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        if all(isinstance(v, str) for v in value):
            return mask_argv(value)
        return [_masked(key, v, depth + 1) for v in value]
    if isinstance(value, str):
        # topology and other long texts are kept whole
        return mask(value) if "\n" in value else _masked_value(key, value)
    return value
