"""What the ends of logs tell of work that nobody says has failed, and that never came to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.ordinary.answers import only_errors
from triage.scan.ordinary.never_saved import never_saved
from triage.scan.ordinary.silenced import silenced
from triage.scan.ordinary.unready import silent_at_start

_KINDS = (only_errors, silent_at_start, never_saved, silenced)


def unfinished(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The first of a server that answers with errors alone, a start that one never comes through, checkpoints that never are there,

    one who is never heard again.
    """
    return next((found for kind in _KINDS if (found := kind(tails, sources)) is not None), None)
