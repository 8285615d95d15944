"""The rank of what was raised without a name, by the file that it was about: each rank writes one that bears its number.

``[Torch] Saving …/zero_pp_rank_1_mp_rank_00_optim_states.pt...`` right above a failed write is rank 1's, where no other
such file was begun and not finished.
"""

from __future__ import annotations

from collections.abc import Iterable

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.nameless import given, surroundings
from triage.model import Origin
from triage.scan.around import Around
from triage.scan.lazy import deferred

_OF_RANK = deferred(
    # deepspeed engine.py _get_zero_ckpt_name; torch distributed/checkpoint/filesystem.py; accelerate checkpointing.py;
    # transformers trainer.py _save_rng_state; composer checkpoint names
    r"zero_pp_rank_(?P<dp>\d+)_mp_rank_(?P<mp>\d+)_\w+\.pt"
    r"|(?<![\w.])__(?P<dcp>\d+)_\d+\.distcp|random_states_(?P<states>\d+)\.pkl|rng_state_(?P<rng>\d+)\.pth"
    r"|(?:(?<=/)|(?<![a-z])(?<!mp[_-])(?<!tp[_-])(?<!pp[_-])(?<!dp[_-])(?<!cp[_-])(?<!ep[_-])(?<!sp[_-])(?<!local[_-])(?<!node[_-]))"
    r"rank[_-]?(?P<rank>\d+)(?=[\w-]*\.(?:pt|pth|bin|ckpt|pkl|npz?|npy|safetensors|tmp|json|state|tar)\b)"
)
_DONE = deferred(r"(?i)\b(?:saved|wrote|written|finished|done|complete[ds]?|loaded|flushed)\b")
_NEAR = 12
"""Lines above a traceback among which the file is named that it is about."""


def by_own_file(
    origin: Origin, raised: Item | None, lead: Item, job: Job, around: Around | None, identities: Identities
) -> Origin:
    """``origin`` with the one rank whose file the trace names, or else was begun above it and is not finished."""
    told = surroundings(origin, raised, lead, job, around)
    if told is None:
        return origin
    whose = _owners(line.text for line in told.trace)
    if not whose:
        begun: dict[int | None, None] = {}
        for line in told.above[-_NEAR:]:
            owners = _owners([line.text])
            if _DONE.search(line.text) is not None:
                begun = {rank: None for rank in begun if rank not in owners}
            else:
                begun.update(dict.fromkeys(owners))
        whose = set(begun)
    rank = whose.pop() if len(whose) == 1 else None
    return origin if rank is None else given(origin, rank, identities)


def _owners(lines: Iterable[str]) -> set[int | None]:
    """The ranks whose files are named; None for one of which the name does not tell the rank."""
    return {_owner(found.groupdict()) for line in lines for found in _OF_RANK.finditer(line)}


def _owner(found: dict[str, str | None]) -> int | None:
    if found["dp"] is not None:
        # a number among replicas is that of the rank where a model is not split
        return int(found["dp"]) if int(found["mp"] or 0) == 0 else None
    return next(int(number) for number in found.values() if number is not None)
