"""Readers of structured inputs, one module per kind, imported only when an input may need it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from triage.readers.base import Reader

__all__ = ["READERS", "Entry", "recognise"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind of input: where its reader is, and a cheap look that rules out most other inputs."""

    kind: str
    module: str
    reader: str
    """Name of the reader's class in ``module``."""
    may_be: Callable[[str, bytes], bool]
    """From a source's name and first bytes, without importing anything: is it worth a closer look?"""

    def load(self) -> Reader:
        """The reader itself."""
        return cast("Reader", getattr(import_module(self.module), self.reader)())


def _begins_json(head: bytes) -> bool:
    return re.match(rb"(?:\xef\xbb\xbf)?\s*[{\[]", head) is not None


def _may_be_flight_recorder(name: str, head: bytes) -> bool:
    if _begins_json(head):
        return b'"profiling_name"' in head or b'"pg_config"' in head
    # a pickle begins with its protocol; without one (protocol 0), only the name makes it worth a look
    return head[:1] == b"\x80" or re.search(r"trace_rank_?\d+$|_dump_\d+$", name) is not None


def _may_be_elastic_error(name: str, head: bytes) -> bool:
    return re.match(rb'\s*\{\s*"message"\s*:', head) is not None


READERS: tuple[Entry, ...] = (
    Entry(
        "flight-recorder", "triage.readers.flight_recorder", "FlightRecorderReader", _may_be_flight_recorder
    ),
    Entry("elastic-error", "triage.readers.elastic_error", "ElasticErrorReader", _may_be_elastic_error),
    Entry("topology", "triage.readers.topology", "TopologyReader", lambda name, head: b"GPU" in head),
)
"""Every kind, in the order in which they are tried."""


def recognise(name: str, head: bytes) -> Reader | None:
    """The reader for a source called ``name`` that begins with ``head``; None when it is a log."""
    for entry in READERS:
        if entry.may_be(name, head):
            reader = entry.load()
            if reader.recognise(name, head):
                return reader
    return None
