"""What a program says at its end that it could not put where it belongs, whatever it says of having finished.

One that tries several times says so each time; what counts is that nothing tells of its having come there at last.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import attrgetter

from triage.model import Block, Finding, Source, Value
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines, without_digits

UNWRITTEN = "unknown.unwritten"
FEWEST = 2
"""Times that something was not written where that is only warned of."""
_END = 8 << 10
"""Bytes at an end in which it is looked for."""
_PUT = r"(?:sav|stor|writ|upload|export|publish|push|copy|copi|sync|transfer|deliver|commit|register)"
_LOST = deferred(
    rf"(?i)\b(?:could not|couldn't|cannot|can't|was not able to|unable to|failed to|fail to) (?:be )?(?:\w+ )?{_PUT}\w*\b"
    r"|[\w/.-] not (?:\w+ )?(?:saved|stored|written|uploaded|exported|published|pushed|copied|synced|delivered)\b"
    rf"|\b(?:was|were|is|are) not (?:\w+ )?(?:saved|stored|written|uploaded|exported|published|pushed|copied|synced|delivered"
    rf"|in the (?:bucket|store|registry))\b"
    rf"|\b(?:upload|export|save|sync|push|publish\w*|transfer|copy) (?:of \S+ )?(?:has )?failed\b"
)
"""How it is said that something did not come where it belongs."""
_PRODUCT = deferred(
    r"(?i)\b(?:model|weights|checkpoint|ckpt|adapter|artifacts?|artefacts?|results?|outputs?|predictions?|submission|dataset|index|report|summary|embeddings"
    r"|bundle|archive|shards?|files?|tables?|step[-_]\d+)\b|\.(?:safetensors|pt|pth|bin|npz|npy|json|jsonl|csv|parquet|h5|tar|gz|zip|onnx|gguf|nc|ckpt|msgpack)\b"
)
"""What a run is there for."""
_OPTIONAL = deferred(
    r"(?i)\b(?:metrics?|telemetry|wandb|w&b|tensorboard|mlflow|events?|plots?|figures?|previews?|thumbnails?|caches?|cached|locks?"
    r"|logs?|logfile|log file"
    r"|notifications?|slack|e-?mail|heartbeats?|traces?|profil\w+|history|progress"
    r"|symlink|link|optional|retry\w*|attempt|try|again|later|instead|fall\w* back)\b"
)
"""What programs do without, and what is not said for good."""
_THERE = deferred(
    r"(?i)^(?!.*\b(?:not|never|cannot|could|couldn't|failed|unable)\b).*\b(?:saved?|stored|wrote|written|uploaded|exported|published|pushed|copied|synced"
    r"|delivered|committed|registered|instead)\b"
)
"""How it is said that it came there."""
_NAME = deferred(r"[\w./:-]*\w\.\w{2,12}\b|[\w-]+/[\w./-]+")
_GRAVE = frozenset(["error", "fatal"])
_SAYS_ERROR = deferred(r"(?i)\W{0,3}(?:error|fatal|critical)\b(?! \d)")


def unwritten(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The first line at the end of a log in which it is said of what a run is for, None where it came there later."""
    for index, block in sorted(tails.items()):
        lines = [line for line in whole_lines(block, sources[index], index) if line.message.strip()]
        if (told := _never(lines)) is not None:
            return finding_of(UNWRITTEN, told[0], sources, _words(told[0]), last=told[1])
        final = bisect_left(lines, block.offset + len(block.data) - _END, key=attrgetter("offset"))
        for at, line in enumerate(lines[final:], final):
            if _is_grave(line) and _is_lost(line) and not any(_came(line, o) for o in lines[at + 1 :]):
                return finding_of(UNWRITTEN, line, sources, _words(line))
    return None


def _words(line: Said) -> dict[str, Value]:
    return {"words": " ".join(line.message.split())[:160]}


def _never(lines: Sequence[Said]) -> tuple[Said, Said] | None:
    """The first and the last of the lines, only warnings maybe, that tell that something was not written any time that it was due."""
    lost = [line for line in lines if _is_lost(line)]
    for line in lost:
        wording = _wording(line)
        same = [other for other in lost if _wording(other) == wording]
        if len(same) >= FEWEST and not any(
            _THERE.search(other.message) and _PRODUCT.search(other.message)
            for other in lines if other.offset > same[0].offset
        ):  # fmt: skip
            return same[0], same[-1]
    return None


def _wording(line: Said) -> str:
    """What a line says, whatever number the thing has that it speaks of."""
    return without_digits(line.message)


def _is_grave(line: Said) -> bool:
    return line.prefix.level in _GRAVE or _SAYS_ERROR.match(line.message) is not None


def _is_lost(line: Said) -> bool:
    said = line.message
    return (
        _LOST.search(said) is not None
        and _PRODUCT.search(said) is not None
        and _OPTIONAL.search(said) is None
    )


def _came(lost: Said, other: Said) -> bool:
    """Whether a line says that the same, or what it does not name, came there."""
    if _THERE.search(other.message) is None:
        return False
    names, told = set(_NAME.findall(lost.message)), set(_NAME.findall(other.message))
    return not names or not told or bool(names & told)
