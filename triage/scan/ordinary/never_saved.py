"""Whether what writes a run's checkpoints beside its work is gone, so that none is written any more.

The work goes on, and each checkpoint is begun as before; nobody says of one that it is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines

NEVER_SAVED = "unknown.checkpoints-no-more"
_WRITES = (
    r"(?:async\w*|background|asynchronous|check-?point\w*|ckpt\w*|snapshot\w*|saver|writer|uploader|flush\w*)"
)
_GONE = deferred(
    rf"(?i)\b{_WRITES}\b[^\n]{{0,80}}?\b(?:died|is dead|dead|crashed|is gone|(?:has )?exited|terminated|stopped)\b"
)
"""How it is said that it is gone."""
_FAILED = deferred(rf"(?i)\b{_WRITES}\b[^\n]{{0,80}}?\b(?:failed|raised|lost)\b")
"""How it is said that it did not work once: worth something where it is said of others that they are there."""
_IN_ORDER = deferred(
    r"(?i)\b(?:(?:died|is dead|dead|crashed|is gone|exited|terminated|stopped)\b[^\n]{0,20}?"
    r"\b(?:after (?:finali[sz]|writ|commit|sav|flush|drain|upload|finish|complet)\w*|cleanly|gracefully|normally|in order"
    r"|(?:code|status|rc)[ =:]{1,3}0\b)|as (?:requested|intended|planned|expected)\b)"
)
"""How it is said that it ended because it had done what it had to."""
_READS = deferred(
    r"(?i)\b(?:load\w*|restor\w*|resum\w*|read\w*|scratch|found|import\w*|old(?:er|est)?|prun\w*|using|corrupt\w*|incomplete)\b"
)
"""What is done with those that are there."""
_OF_CHECKPOINTS = deferred(
    r"(?i)\b(?:check-?point\w*|ckpt\w*|snapshot\w*|saver|model state|state[_ ]dict|step[_-]\d+)\b"
)
_BEGUN = deferred(
    r"(?i)^(?=.*\b(?:check-?point\w*|ckpt\w*|snapshot\w*)\b).*\b(?:queued|enqueued|scheduled|start\w*|begin\w*|saving|staging|staged"
    r"|submitted|launched|async\w*|in (?:the )?background|handed (?:over|to))\b"
)
"""How it is said that one is begun."""
_THERE = deferred(
    r"(?i)^(?=.*\b(?:check-?point\w*|ckpt\w*|snapshot\w*|step[_-]?\d+)\b)(?!.*\b(?:not|no|never|could|cannot|fail\w*|unable|queued|shard)\b)"
    r".*\b(?:saved|written|wrote|committed|complete[d]?|finished|finali[sz]ed|done|stored|persisted|uploaded|durable)\b"
)
"""How it is said that one is there."""
_MAY_BE = re.compile(
    rb"(?i)(?:check-?point|ckpt|snapshot|saver)[^\n]{0,200}?(?:died|dead|crash|gone|exited|terminated|stopped|failed|raised|lost)"
    rb"|(?:died|dead|crash|gone|exited|terminated|stopped|failed|raised|lost)[^\n]{0,200}?(?:check-?point|ckpt|snapshot|saver)"
)
"""What the bytes of such a line have: few logs are read for it."""
_AGAIN = deferred(
    r"(?i)\b(?:re-?tr(?:y|ies|ying|ied)|again|re-?start\w*|attempt|re-?spawn\w*|synchronous(?:ly)?"
    r"|instead|fall\w* back|fell back|next time)\b"
)


def never_saved(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The line in which it is said, where checkpoints are begun below it and nobody says of one that it came there."""
    for index, block in sorted(tails.items()):
        told = _MAY_BE.search(block.data)
        if told is None:
            continue
        begin = block.data.rfind(b"\n", 0, told.start()) + 1
        # a line that the size cuts is left out
        lines = list(whole_lines(block, sources[index], index, len(block.data) - begin + 1))
        for at, line in enumerate(lines):
            if not _is_gone(line) or not (
                _GONE.search(line.message) or any(_THERE.search(o.message) for o in lines)
            ):
                continue
            below = [other for other in lines[at + 1 :] if other.writer == line.writer]
            if any(_AGAIN.search(other.message) and _OF_CHECKPOINTS.search(other.message) for other in below):
                continue
            begun = [other for other in below if _BEGUN.search(other.message)]
            if begun and not any(_THERE.search(other.message) for other in below):
                fields = {"words": " ".join(line.message.split())[:160]}
                return finding_of(NEVER_SAVED, line, sources, fields, last=begun[-1])
    return None


def _is_gone(line: Said) -> bool:
    """Whether a line says that what writes checkpoints is gone, and not what is done about it."""
    said = line.message
    return (
        any(pattern.search(said) for pattern in (_GONE, _FAILED))
        and _OF_CHECKPOINTS.search(said) is not None
        and not any(pattern.search(said) for pattern in (_AGAIN, _READS, _IN_ORDER))
    )
