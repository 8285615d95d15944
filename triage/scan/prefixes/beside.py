"""Numbers that a structured logger keeps beside a message that has none: ``step`` with ``"step": 37, "loss": NaN``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_BRIEF = 60
"""Characters of what names a kind of record, whose values stand beside it."""
_MOST = 8
_OF_RECORDS = frozenset(
    [
        "pid",
        "process_id",
        "os_pid",
        "tid",
        "time",
        "timestamp",
        "@timestamp",
        "ts",
        "asctime",
        "date",
        "level",
    ]
)
"""What loggers number of any record."""


def with_values(message: str, told: Mapping[str, object], aside: Collection[str]) -> str:
    """``message`` with the values beside it, as ``key=value``, unless it has numbers of its own.

    Args:
        told: all that the record holds.
        aside: keys that say who writes, and not what.
    """
    if len(message) > _BRIEF or any(map(str.isdigit, message)):
        return message
    values = [
        f"{key}={value}" for key, value in told.items()
        if type(value) in {int, float} and key not in aside and key not in _OF_RECORDS
    ]  # fmt: skip
    return " ".join([message, *values[:_MOST]])
