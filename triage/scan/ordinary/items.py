"""Whether every one of the things that a program works through one by one went wrong, or all of them from one on.

A program that catches what each of them raises comes to its end in any case, and says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from triage.scan.closing.wordings import complains
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.said import Said, without_digits

FEWEST, FEWEST_IN_A_ROW = 3, 8
"""Things of a kind that all went wrong; and those that did so one after the other to the end, where some had gone well."""
_KIND = (
    r"task|trial|chunk|shard|batch|file|document|doc|fold|prompt|request|sample|job|config|configuration|experiment|data ?set"
    r"|image|video|clip|episode|part|partition|query|question|benchmark|suite|scene|item|record|candidate|split|page|seed|subject"
    r"|tile|segment|package|notebook|table|bucket|variant|checkpoint|ckpt|model|run|case|sequence|rollout|stage|window|block"
)
_ITEM = deferred(
    rf"(?i)(?<![\w/.])({_KIND})[ _#:=/-]{{1,2}}[\"'`(]?"
    r"(?!(?:failed|failure|error\w*|skipp\w+|has|have|is|was|were|are|not|of|for|in|on|to|from|with|and|or|the|a|an|id|it|this|that"
    r"|finished|done|completed?|start\w*|size|count|list|directory|dir|name|path|type|could|cannot|can|took|ended|timed|abort\w*"
    r"|exit\w*|returned|queue|loader|task|at|by|after|before|because|since|will|no|all|each|every|only|but|as|if|processing)\b)"
    r"([\w./-]*\w)"
)
"""One of the things that a program works through, by its kind and its name."""
_LEFT = deferred(
    r"(?i)\b(?:skipp(?:ed|ing)|dropp(?:ed|ing)|discard(?:ed|ing))\b|(?<![\w./-])0/[1-9]\d*(?![\w/])|\berrored\b|\bunreadable\b"
    r"|\bexited unexpectedly\b|\bdied\b|\bno (?:answers?|results?|outputs?|predictions?)\b"
)
"""How it is said, beside words of trouble, that one of them came to nothing."""
_STATUS = deferred(
    r"(?i)^(?:[\w ./-]{0,30}[ :])?(?:exit(?:ed)?|rc|status|returned|exit ?code)(?: with)?(?: code| status)?"
    r"[ =:]{1,3}(-?\d{1,3})\b(?!\.\d|[%/])"
)
"""How it is said of one after the other how it ended."""
_BEGINS = deferred(
    r"(?i)\b(?:start(?:s|ed|ing)?|launch(?:es|ed|ing)?|begin(?:s|ning)?|began|submitted|queued|pending)\b"
)
"""How it is said that one of them is begun, whatever comes of it."""
_NO_LOSS = deferred(
    r"(?i)\b(?:retr(?:y|ies|ying|ied)|again|re-?queu\w*|re-?start\w*|resum\w*|re-?schedul\w*|recover\w*|fall\w* back|fell back|instead"
    r"|already|exists?|cached|done|finished|up to date|unchanged|expect\w*|intended|injected|xfail\w*|attempt|download\w*|fetching"
    r"|creating|building|default\w*|re-?sum\w*|replac\w*|next port|optional)\b"
)
"""What takes that back: it is done otherwise, was done before, or was meant to fail."""


@dataclass(slots=True)
class _Fate:
    line: Said
    bad: bool


def all_went_wrong(lines: Sequence[Said], others: Iterable[Said] = ()) -> tuple[Said, Said] | None:
    """The first and the last line that tell of one that went wrong, where none went well, or none since.

    What is only told of where it goes wrong, while work goes on beside it, is not all that there was.

    Args:
        others: the lines of the job's other logs, where its work may be told.
    """
    kinds: dict[str, dict[str, _Fate]] = defaultdict(dict)
    first: dict[tuple[str, str], Said] = {}
    for line in lines:
        for kind, name in {(found[1].lower(), found[2]) for found in _ITEM.finditer(line.text)}:
            bad = _is_lost(line)
            kinds[kind].pop(name, None)
            kinds[kind][name] = _Fate(line, bad)
            if bad:
                first.setdefault((kind, name), line)
    if (ends := _all_ended_badly(lines)) is not None:
        return ends
    for kind, fates in kinds.items():
        names = _lost(fates)
        if not names:
            continue
        begin = min((first[kind, name] for name in names), key=lambda line: line.offset)
        end = fates[names[-1]].line
        below = [line for line in lines if line.offset > begin.offset]
        came_through = any(_some_of(kind, line) for line in below if line.offset > end.offset)
        if not came_through and not _work_is_told(chain(below, others), set(names)):
            return begin, end
    return None


def _all_ended_badly(lines: Sequence[Said]) -> tuple[Said, Said] | None:
    """The first and the last of the lines of one wording that state a status, where none of several is zero."""
    told: dict[str, list[tuple[Said, int]]] = defaultdict(list)
    names: set[str] = set()
    for above, line in pairwise([*lines[:1], *lines]):
        status = _STATUS.search(line.message)
        if status is not None:
            told[without_digits(line.message)].append((line, int(status[1])))
            names.update(found[2] for said in (above, line) for found in _ITEM.finditer(said.text))
    for same in told.values():
        first, last = same[0][0], same[-1][0]
        if len(same) < FEWEST or not all(status for _, status in same):
            continue
        if not _work_is_told((line for line in lines if line.offset > first.offset), names):
            return first, last
    return None


def _some_of(kind: str, line: Said) -> bool:
    """Whether a line counts things of the kind that came through."""
    counted = compiled(rf"(?i)(?<![\w./-])[1-9][\d,]* (?:\w+ )?{kind}s?\b").search(line.message)
    said = "" if counted is None else line.message[: counted.end()]
    return bool(said) and _LEFT.search(said) is None and not complains(said)


def _is_lost(line: Said) -> bool:
    """Whether a line tells that something came to nothing, and not that it is done otherwise."""
    if _NO_LOSS.search(line.message) is not None:
        return False
    return (
        line.prefix.level in {"error", "fatal"}
        or _LEFT.search(line.message) is not None
        or complains(line.message)
    )


def _lost(fates: dict[str, _Fate]) -> list[str]:
    """The names of those that went wrong, in the order in which it was told, if it is all of them or all since one of them."""
    names = list(fates)
    went_well = [at for at, name in enumerate(names) if not fates[name].bad]
    if not went_well:
        return names if len(names) >= FEWEST else []
    since = names[went_well[-1] + 1 :]
    return since if len(since) >= max(FEWEST_IN_A_ROW, len(names) // 2) else []


def _work_is_told(lines: Iterable[Said], names: set[str]) -> bool:
    """Whether something else is counted, or told again and again, than those of these names."""
    told: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        if not line.message[:1].strip() or _is_lost(line):
            continue
        named = {found[2] for found in _ITEM.finditer(line.text)}
        if named & names or (named and _BEGINS.search(line.message) is not None):
            continue
        if not complains(line.message):
            told[without_digits(line.message)].add(line.message)
    return any(len(different) >= FEWEST for different in told.values())
