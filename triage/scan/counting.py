"""Work that one writer counted on through while others gave up waiting: shard after shard, file after file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from triage.model import Block, Evidence, Finding, Prefix, Source
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line
from triage.text import safe

WORK = "progress.work"
WINDOW = 48 << 10
"""Bytes that are looked at on each side of the first sign of trouble."""
FEWEST = 3
"""Lines by which a count is known for one."""
_COUNT = (
    r"(?i)(?![^\n]{0,200}\b(?:step|iter\w*|epoch|batch\w*|rank|world|process\w*|workers?|nodes?|attempt|try|retry\w*|channel)\b)"
    r"[^\n]{0,160}?(?<![\w./:-])(\d{1,9}) {0,3}(?:/|of|out of) {0,4}(\d{1,9})(?![\w/:.-]*\d)"
)
"""``wrote shard 18 of 48``; not the steps of the training, of which all ranks have their part."""
_NUMBERS = r"[-+]?\d[\d.,:e+-]*"


@dataclass(slots=True, eq=False, repr=False)
class _Count:
    """One state of a count."""

    done: int
    at: int
    number: int
    text: str
    prefix: Prefix


def counted_on(
    tails: Mapping[int, Block], sources: Sequence[Source], until: Mapping[int, int]
) -> list[Finding]:
    """The counts that went up both before and after trouble began at ``until``, each at its last state."""
    found: list[Finding] = []
    for index, block in sorted(tails.items()):
        trouble = until.get(index)
        if trouble is None or not block.offset <= trouble < block.offset + len(block.data):
            continue
        for (words, total), states in sorted(_counts(block, trouble - block.offset).items()):
            before = [s for s in states if s.at < trouble]
            after = [s for s in states if s.at > trouble]
            rising = all(one.done <= two.done for one, two in pairwise(states))
            if not before or not after or len(states) < FEWEST or not rising:
                continue
            if before[-1].done < after[-1].done:
                found.append(_finding(sources[index], index, words, total, before[-1], after[-1]))
    return found


def _counts(block: Block, trouble: int) -> dict[tuple[str, int], list[_Count]]:
    start = max(0, trouble - WINDOW)
    start = block.data.find(b"\n", start, trouble) + 1 if start else 0
    number = block.line + block.data.count(b"\n", 0, start)
    counts: dict[tuple[str, int], list[_Count]] = defaultdict(list)
    for raw in block.data[start : trouble + WINDOW].split(b"\n"):
        if b" of " in raw[:400] or b"/" in raw[:400]:
            text = raw[:600].decode("utf-8", "replace")
            prefix, message = split_line(text)
            told = compiled(_COUNT).match(message)
            if told is not None and int(told[1]) <= int(told[2]) and int(told[2]) >= FEWEST:
                words = " ".join([prefix.stream, *compiled(_NUMBERS).sub("#", message).split()])
                state = _Count(int(told[1]), block.offset + start, number, text, prefix)
                counts[words, int(told[2])].append(state)
        start += len(raw) + 1
        number += 1
    return counts


def _finding(source: Source, index: int, words: str, total: int, before: _Count, after: _Count) -> Finding:
    prefix = after.prefix
    said = " ".join(before.text[before.prefix.length :].split())[:120]
    return Finding(
        rule_id=WORK, fields={"words": said, "step": after.done, "total": total, "began": before.done},
        evidence=tuple(Evidence(source.name, s.number, safe(s.text)) for s in (before, after)),
        source=index, offset=before.at, last_offset=after.at,
        rank=prefix.rank if prefix.rank is not None else source.rank,
        local_rank=prefix.local_rank if prefix.local_rank is not None else source.local_rank,
        host=prefix.host or source.host, pid=prefix.pid, time=before.prefix.time, level=prefix.level,
        stream=prefix.stream,
    )  # fmt: skip
