"""What a program says at its end that it could not put where it belongs, whatever it says of having finished.

One that tries several times says so each time; what counts is that nothing tells of its having come there at last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines

UNWRITTEN = "unknown.unwritten"
_END = 8 << 10
"""Bytes at an end in which it is looked for."""
_PUT = r"(?:sav|stor|writ|upload|export|publish|push|copy|copi|sync|transfer|deliver|commit|register)"
_LOST = deferred(
    rf"(?i)\b(?:could not|couldn't|cannot|can't|was not able to|unable to|failed to|fail to) (?:be )?(?:\w+ )?{_PUT}\w*\b"
    rf"|\b(?:was|were|is|are) not (?:\w+ )?(?:saved|stored|written|uploaded|exported|published|pushed|copied|synced|delivered"
    rf"|in the (?:bucket|store|registry))\b"
    rf"|\b(?:upload|export|save|sync|push|publish\w*|transfer|copy) (?:of \S+ )?(?:has )?failed\b"
)
"""How it is said that something did not come where it belongs."""
_PRODUCT = deferred(
    r"(?i)\b(?:model|weights|checkpoint|ckpt|adapter|artifacts?|artefacts?|results?|outputs?|predictions?|submission|dataset|index|report|summary|embeddings"
    r"|bundle|archive|shards?|files?|tables?)\b|\.(?:safetensors|pt|pth|bin|npz|npy|json|jsonl|csv|parquet|h5|tar|gz|zip|onnx|gguf|nc|ckpt|msgpack)\b"
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
        lines = [line for line in whole_lines(block, sources[index], index, _END) if line.message.strip()]
        for at, line in enumerate(lines):
            if _is_lost(line) and not any(_came(line, other) for other in lines[at + 1 :]):
                return finding_of(UNWRITTEN, line, sources, {"words": " ".join(line.message.split())[:160]})
    return None


def _is_lost(line: Said) -> bool:
    if line.prefix.level not in _GRAVE and _SAYS_ERROR.match(line.message) is None:
        return False
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
