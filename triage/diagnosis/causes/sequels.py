"""Exceptions that were raised from others, or while others were handled: which of a chain a rule knows."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.heeded import inside, while_handling
from triage.diagnosis.job import Item

OF_PEERS = frozenset(
    [
        "BrokenPipeError",
        "ChannelClosed",
        "ClientConnectorError",
        "ClientOSError",
        "ClosedResourceError",
        "CommClosedError",
        "ConnectError",
        "ConnectionAbortedError",
        "ConnectionClosedError",
        "ConnectionError",
        "ConnectionRefusedError",
        "ConnectionResetError",
        "MaxRetryError",
        "NewConnectionError",
        "RemoteDisconnected",
        "ServerDisconnectedError",
        "StreamClosedError",
    ]
)
"""What a process meets whose peer is gone or not there yet."""


def of_a_sequel(known: Item, item: Item, exceptions: Sequence[Item]) -> bool:
    """Whether a rule knows only what was raised while ``item`` was handled: that somebody else is gone by then.

    What ends a program also closes its connections, and telling others of it fails.
    """
    if "peer-loss" not in known.rule.tags or _short(item) in OF_PEERS or item.text("outer_type") is None:
        return False
    sequels = [
        begin for e in exceptions
        if while_handling(e, item) and (begin := e.number("_begin")) is not None and begin > item.finding.offset
    ]  # fmt: skip
    return bool(sequels) and known.finding.offset >= min(sequels)


def _short(item: Item) -> str:
    return (item.text("type") or "").rpartition(".")[2]


def comes_of(item: Item, claimed: Sequence[Item], exceptions: Sequence[Item]) -> bool:
    """Whether an exception was raised from, or while handling, one of which a rule knows that it only follows.

    A program that waits for workers raises on its own what it heard of them.
    """
    begin = item.number("_begin")
    return any(
        while_handling(item, first)
        and any(
            known.rule.role == "symptom"
            and inside(known, first)
            and begin is not None
            and known.finding.offset < begin
            for known in claimed
        )
        for first in exceptions
        if first.text("outer_type") == item.text("type") and first.text("type") != item.text("type")
    )
