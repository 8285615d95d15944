"""What somebody says that he sets out to do: to write a checkpoint, to get data, to build code.

Only what is begun or goes on counts: who says that he saved, loaded or compiled something is through with it.
"""

from __future__ import annotations

from typing import Literal

from triage.scan.lazy import compiled

Undertaking = Literal["checkpoint", "data-loading", "compile-or-graph-capture"]

_SAVED = r"(?:checkpoint|ckpt|snapshot)\w*|state[_ ]?dicts?"
_PART = r"(?:model|optimi[sz]er|training|trainer|full|sharded|ema|adapter)[ _-](?:states?|weights|shards?|param(?:eter)?s)"
_DATA = (
    r"(?:data|train(?:ing)?|val(?:idation)?|eval|input|text|token|next|batch|sample)[ _-]?(?:shards?|sets?|loaders?|files?|records?)"
    r"|data|batch(?:es)?|samples?|documents?|records?|examples|corpus|corpora|manifests?|clips?|videos?|images?|shards?|prefetch\w*"
    r"|[^\s,;]{1,200}\.(?:tar|parquet|jsonl|arrow|mds|lmdb|tfrecords?|npz|zarr|h5|hdf5)\b"
)
_CODE = r"(?:cuda )?graphs?|kernels?|model|extensions?|triton|inductor|engines?|ops?|modules?|step|functions?|code"
_OF = r"\b[^.;\n]{0,40}?(?<![\w-])"
"""What may stand between what is done and what it is done to."""
_CHECKPOINT = (
    r"(?:sav|writ|dump|flush|upload|seriali[sz]|persist|stag|stor|gather|consolidat|export|push|commit|merg)ing"
    rf"{_OF}(?:{_SAVED}|{_PART})(?!\w)"
    rf"|(?:re)?(?:load|read|stor|shard)ing{_OF}(?:{_SAVED})(?!\w)"
    r"|checkpointing\b|torch\.save\b|save_(?:checkpoint|state|model)\w*|flushing (?:\w+ )?(?:optimi[sz]er|model|shards?)\b"
    r"|(?:start|begin|enter|about to|going to|will now)\w*\b[^.;\n]{0,20}\b(?:sav(?:e|ing)|writ(?:e|ing)|checkpoint|snapshot)\b"
)
_LOADING = (
    r"(?:(?:load|read|fetch|open|decod|download|pull|prefetch|pre-?process|shuffl|index|scann|pars|stream|refill|cach|collat|prepar)ing"
    rf"|waiting (?:for|on)|slow(?:ly)?){_OF}(?:{_DATA})(?!\w)"
    r"|tokeni[sz]ing\b|slow (?:data|batch|sample|shard)?[ -]?(?:read|load|fetch)"
    r"|(?:data ?)?(?:loader|prefetch\w*) (?:queue |buffer )?(?:is )?(?:empty|stalled|starved|slow|waiting)"
    r"|stalled in (?:the )?(?:data ?)?loader"
    r"|(?:re)?building (?:the |an? )?(?:indices of a |index of an? )?(?:data ?set|sample|document|shuffle|data)\b"
)
_BUILDING = rf"(?:(?:re)?(?:compil|captur|trac|build)|jitt|autotun)ing{_OF}(?:{_CODE})(?!\w)|recompiling\b|torch\.compile\b|autotuning\b"
_KINDS: tuple[tuple[Undertaking, str], ...] = (
    ("checkpoint", _CHECKPOINT),
    ("data-loading", _LOADING),
    ("compile-or-graph-capture", _BUILDING),
)
_AT_WORK = (
    r"(?i)^\W{0,4}(?:(?:rank|worker|process|proc)[ :=#]?\d+\W{1,3})?(?:now |still |start(?:ing|ed) (?:to )?)?"
    r"(?:writ|dump|sav|upload|export|flush|stor|read|fetch|download|copy|sync|synchroni[sz]|evaluat|validat|render|plott|profil|compress"
    r"|wait|sleep|pars|scann|index|clean|collect|tokeni[sz]|build|compil|load|archiv|zipp|generat|sampl|publish|send)ing\b"
)
_OVER = (
    r"(?i)\b(?:done|finished|complete[d]?|succe\w+|ready|resum\w+|saved|loaded|read in|written|wrote|compiled|captured|took"
    r"|skip\w*|disabled|failed|error)\b"
)


def undertaking(words: str) -> Undertaking | None:
    """The kind of work that ``words`` say is under way, None where they speak of none or of its end."""
    if is_over(words):
        return None
    return next((k for k, pattern in _KINDS if compiled(rf"(?i)(?<![\w-])(?:{pattern})").search(words)), None)


def is_over(words: str) -> bool:
    """Whether ``words`` say that something is through, however it came out."""
    return compiled(_OVER).search(words) is not None


def at_work(words: str) -> bool:
    """Whether ``words`` begin with what somebody does now, of whatever kind, and do not say that it is through."""
    return compiled(_AT_WORK).match(words) is not None and not is_over(words)
