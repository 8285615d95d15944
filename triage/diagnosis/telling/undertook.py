"""The rank of what was raised without a name, by what only one rank was about: it said so, or nobody else runs that code.

``[rank 2] loading shard 17`` above a traceback that speaks of shards is rank 2's where no other rank said that it loads
one. Rank 0 often announces what all do: what it says tells of itself alone where that is the main process's, or where
the others say that they wait.
"""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.nameless import given, nameless, surroundings
from triage.diagnosis.words.undertaking import at_work, is_over, undertaking
from triage.model import Origin
from triage.scan.around import Around
from triage.scan.closing.wordings import speaks_of_trouble
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import Said, tells, without_digits

_SETS_OUT = (
    r"(?i)(?<![a-z])(?:start|begin|enter|launch|initiali[sz]|init|creat|open|connect|prepar|preprocess|load|read|sav|writ|export|upload"
    r"|download|fetch|tokeni[sz]|build|compil|validat|evaluat|pars|index|register|log)(?:e|es|s|ing)?(?![a-z])"
)
"""What begins."""
_FIGURES = r"(?i)\b(?:loss|lr|ppl|acc\w*|grad\w*|tok\w*/s|it/s)\b\W{0,3}[\d.]"
_OF_MAIN = (
    r"(?i)\b(?:root|main|master|chief|primary|lead)[ _-](?:worker|process|rank|node)\b|\bfor all ranks\b|\bbefore the others\b"
    r"|wandb|mlflow|tensorboard|comet|neptune|clearml|swanlab|tracking|(?:sav|writ|upload)\w* (?:\w+ )?(?:checkpoint|ckpt|snapshot)"
)
"""What the main process does alone."""
_SAVED_BY_ALL = r"distributed/(?:checkpoint|fsdp)|deepspeed|megatron|dist_checkpointing|save_sharded"
_WAITS = r"(?i)\bwait|\bbarrier\b"
_LEAVES = r"(?i)\b(?:exit|abort|shut|clean|destroy|terminat|tear|bye|leav|kill)"
_WORD = r"[a-z]{4,}"
_ENDING = r"(?:ing|ed|es|e|s)\Z"
_COMMON = (
    r"rank|worker|process|file|line|main|train|trainer|step|model|data|python|start|world|siz|cuda|devic|sit|packag|local|global|self|config"
    r"|error|with|from|this|that|return|import|lib|nod|host|torch|init|work|workspac|begin|root|other|epoch|loop|call|last|most|recent"
    r"|traceback|rais|valu|none|true|runtim|typ|nam|path|item|batch|home|user|open|conda"
)
"""Words, without their endings, that traces and statements have in common by chance."""
_NEAR = 12
"""Lines above a traceback among which it is announced."""


def only_on_main(origin: Origin, raised: Item | None, lead: Item, job: Job, identities: Identities) -> Origin:
    """``origin`` with rank 0, where it was raised once, by nobody whom a line names, in what the main process does alone."""
    if raised is None or not nameless(origin, raised, lead, job):
        return origin
    whose = raised.text("_main_process")
    if whose is None or (whose == "node" and not identities.single_node):
        return origin
    return given(origin, 0, identities)


def undertaken_by_one(
    origin: Origin, raised: Item | None, lead: Item, job: Job, around: Around | None, identities: Identities
) -> Origin:
    """``origin`` with the one rank that said it was about to do what raised the lead."""
    told = surroundings(origin, raised, lead, job, around)
    if told is None:
        return origin
    above = [line for line in told.above if _stated(line)]
    trace = "\n".join(line.text for line in told.trace)
    words = _words(trace)
    about = [line for line in above if not words.isdisjoint(_words(line.message))]
    said = [line for line in about if line in above[-_NEAR:] and _sets_out(line)]
    if not said:
        return origin
    own = said[-1]
    if any(line.writer != own.writer for line in about):
        return origin
    if sum(without_digits(line.message) == without_digits(own.message) for line in about) > 1:
        return origin  # it says so again and again, and came through
    others = {line.writer for line in above} - {own.writer}
    below = [line for line in told.below if _stated(line)]
    if not others or any(line.writer == own.writer and not _is_last(line) for line in below):
        return origin
    if own.writer == "0" and not _alone([*above, *below], own, trace):
        return origin
    return given(origin, int(own.writer or 0), identities)


def silent_since(
    origin: Origin, raised: Item | None, lead: Item, job: Job, around: Around | None, identities: Identities
) -> Origin:
    """``origin`` with the one of all ranks that says nothing any more below what it raised: who speaks on lives."""
    told = surroundings(origin, raised, lead, job, around)
    if told is None:
        return origin
    above = {int(line.writer) for line in told.above if _stated(line) and line.writer}
    below = {int(line.writer) for line in told.below if line.writer and line.writer.isdecimal()}
    ranks = range(identities.world_size or max(above, default=0) + 1)
    left = set(ranks) - below
    return (
        given(origin, left.pop(), identities) if above == set(ranks) and below and len(left) == 1 else origin
    )


def raised_with(job: Job, lead: Item) -> Item | None:
    """The exception that ``lead`` is, or stands in."""
    return next((i for i in job.of_fact("exception") if inside(i, lead) or inside(lead, i)), None)


def _stated(line: Said) -> bool:
    return (
        line.writer is not None
        and line.writer.isdecimal()
        and tells(line.text, line.prefix, line.message.lstrip(" |"))
    )


def _sets_out(line: Said) -> bool:
    """Whether somebody says that he begins something, not how far he is."""
    words = line.message
    if compiled(_FIGURES).search(words) is not None or is_over(words) or speaks_of_trouble(words):
        return False
    return undertaking(words) is not None or at_work(words) or compiled(_SETS_OUT).search(words) is not None


def _is_last(line: Said) -> bool:
    return speaks_of_trouble(line.message) or compiled(_LEAVES).search(line.message) is not None


def _alone(lines: Sequence[Said], own: Said, trace: str) -> bool:
    """Whether what rank 0 announces is done by it alone."""
    if compiled(_OF_MAIN).search(own.message) is not None:
        return compiled(_SAVED_BY_ALL).search(trace) is None
    return any(
        line.writer != own.writer and compiled(_WAITS).search(line.message) is not None for line in lines
    )


def _words(text: str) -> set[str]:
    found = {compiled(_ENDING).sub("", word) for word in compiled(_WORD).findall(text.lower())}
    return {word for word in found if len(word) > 2 and not compiled(_COMMON).fullmatch(word)}
