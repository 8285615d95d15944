"""The beginning of a log line: who wrote it and when.

A line of a real job may carry the prefixes of a container runtime, of srun, of torchrun and of a
logger at once. :func:`split_line` takes them off from the outside in and returns what they said.
"""

from __future__ import annotations

from functools import lru_cache

from triage.model import Prefix
from triage.scan.lazy import Lazy, compiled
from triage.scan.prefixes import containers, glog, headed, launchers, loggers, nccl, system
from triage.scan.prefixes.draft import LEVEL_WORD, LEVELS_NEED, Draft, Parser

MAX_LAYERS = 8
_NOTHING = Prefix()

# terminal escapes, and the colours that are left where something swallowed the escape character
_ESCAPES = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[@-Z\\^_]?)"
    r"|(?:\^\[|#033|\\x1b|\\u001b|\\033)\[[0-9;]{0,12}m"
)
_LOST_COLOUR = r"(?<![A-Za-z0-9_\])])\[(?:[0-9]|[1-4][0-9]|9[0-7])(?:;[0-9]{1,3}){0,4}m|\[(?:0|39|0;0)m"
_REPEATED = r" ?\[repeated \d+x across (?:cluster|all nodes)\][^\n]{0,300}\Z"
_LEVEL = Lazy(
    r"(?:(" + LEVEL_WORD + r"):(?=\s|$)|\[(" + LEVEL_WORD + r"|[Ww]arn(?:ing)?|[Ss]kip(?:ped|ping)?)\])",
    needs=(*LEVELS_NEED, "warn", "Warn", "skip", "Skip"),
)
_SAID = Lazy(
    r"(?:[Rr]ank |RANK |ERROR on proc |amrex::[A-Z]\w{1,20}::)(\d{1,5}):(?: (?=\S)|:)"
    r"|MPICH ERROR \[Rank (\d{1,6})\]|"
    r"(?:[DIWEFC] )?(?:[Rr]ank|RANK)(?:[ =_#-]\[?|\[)(\d{1,5})(?:/\d{1,5})?\]?(?::|>| \||\)| -(?= )) {1,4}(?=\S)"
    r"|(?:[DIWEFC] )?(?:[Rr]ank|RANK)(\d{1,5})(?:>| \|) {1,4}(?=\S)"
    r"|rank=(\d{1,5}),? (?!(?:\w*alpha|lora\w*|\w*dropout)=)(?=\w{1,40}=)"
    r"|[(<](?:[Rr]ank|RANK)[ :=_#-]{0,2}(\d{1,5})(?:/\d{1,5})?[)>]:? {1,4}(?=\S)"
    r"|(?:\["
    + LEVEL_WORD
    + r"\] {0,4}|(?:"
    + LEVEL_WORD
    + r":?) {1,4})(?:\[(?:[Rr]ank|RANK)[ :=]{0,2}(\d{1,5})(?:/\d{1,5})?\]|[Rr]ank (\d{1,5}): )",
    needs=("rank", "Rank", "RANK", "ERROR on proc ", "amrex::"),
)
_BAR = r"\d{1,3}%\|[^\n]{0,400}?\](?: {2,120})?(?=\[(?:default|rank)\d{1,6}\]:)"
"""A progress bar that was not ended before somebody else wrote on its line."""
_ONCE = r"rank\d+|own .+|(?:[A-Z_]+\d+ ?)+"
"""Parts of a stream that loggers write before the first line of a record only."""

_RELAYS = frozenset({"stderr", "stdout", "STDERR", "STDOUT"})
"""Loggers that pass on what a program prints, all of it at one level."""

_DIGIT: tuple[Parser, ...] = (
    containers.rfc3339,
    launchers.task_label,
    loggers.iso_stamp,
    loggers.us_stamp,
    loggers.month_day_stamp,
    loggers.daytime_stamp,
    loggers.llama_stamp,
    containers.kaggle,
    nccl.nccl,
    launchers.host_label,
    system.kmsg,
)
_LOWER: tuple[Parser, ...] = (
    nccl.nccl,
    loggers.logfmt,
    launchers.host_label,
    containers.compose,
    system.rsyslog,
    system.dmesg_level,
    containers.milabench,
    launchers.bare_tag,
    launchers.replica,
)
_UPPER: tuple[Parser, ...] = (
    glog.glog,
    loggers.level_stamp,
    loggers.python_root,
    loggers.short_level,
    system.syslog,
    nccl.nccl,
    containers.compose,
    glog.short_glog,
    system.rsyslog,
    launchers.mpi_timed,
    containers.milabench,
    launchers.replica,
)
_BRACKET_DIGIT: tuple[Parser, ...] = (
    loggers.bracket_stamp,
    launchers.line_number,
    launchers.mpi,
    launchers.mpich,
    system.dmesg,
    loggers.tensorrt,
    loggers.us_stamp,
    launchers.open_mpi,
)
_BRACKET_UPPER: tuple[Parser, ...] = (
    glog.c10,
    loggers.tensorrt,
    loggers.transformers,
    loggers.nemo,
    loggers.named,
    launchers.rank_tag,
    system.dmesg_date,
    system.fabric_manager,
    launchers.mpi,
    launchers.mpi_timed,
    launchers.open_mpi,
)
_BRACKET_LOWER: tuple[Parser, ...] = (
    launchers.rank_tag,
    launchers.host_rank,
    launchers.tee,
    containers.pod,
    loggers.titan,
    launchers.mpi,
    launchers.open_mpi,
)
_LOWER_CASE = "abcdefghijklmnopqrstuvwxyz"
_PARSERS: dict[str, tuple[Parser, ...]] = {
    **dict.fromkeys("0123456789", _DIGIT),
    **dict.fromkeys(_LOWER_CASE, _LOWER),
    **dict.fromkeys(_LOWER_CASE.upper(), _UPPER),
    **{"[" + c: _BRACKET_DIGIT for c in "0123456789"},
    **{"[" + c: _BRACKET_LOWER for c in _LOWER_CASE},
    **{"[" + c: _BRACKET_UPPER for c in _LOWER_CASE.upper()},
    "[2": (containers.determined, system.slurm_daemon, *_BRACKET_DIGIT),
    "[ ": (system.dmesg,),
    "[{": (containers.listed,),
    ",": (containers.listed,),
    "(": (launchers.process, loggers.round_level),
    "<": (system.priority,),
    "|": (containers.viewed,),
    " ": (
        containers.viewed,
        launchers.padded_task_label,
        loggers.indented_stamp,
        loggers.rich_again,
        launchers.margin,
    ),
    "\t": (launchers.margin,),
    ">": (launchers.margin,),
}
_SPEAKERS = frozenset("aMsDINWECFTrR[(<")


def split_line(line: str) -> tuple[Prefix, str]:
    """What the prefixes of ``line`` say, and the message after them.

    Terminal escapes are removed, and of a progress bar that was redrawn with carriage returns only
    the last state counts. Prefixes of collectors that stamp every line (container runtimes, kubectl,
    journald) give the time and leave ``stamped`` False; dmesg's and loggers' set it. Words by which
    messages are known stay: ``NCCL WARN``, ``srun: error:``, ``slurmstepd: error:``, ``ERROR:``.

    ``stream`` names the writers from the outside in, joined by ``/``: ``host``, ``task 3`` (srun,
    mpirun), ``default3`` (torchrun), ``pid 901@10.0.0.6`` (Ray, vLLM), ``rank3``, ``TP3``.

    ``rank`` is the global rank, from the innermost prefix that tells it: a ``[rank3]:`` tag or a
    logger's rank; else a launcher's task number unless the task is a launcher of several ranks; else
    what the printed coordinates tell, as far as they determine it (``TP3 EP3``). ``local_rank`` is
    torchrun's ``[default3]:``, ``[gpu-12:3]:`` and what OLMo calls ``rank``. All coordinates are in
    ``labels``.

    Never raises, whatever the text.
    """
    return _split(line) if len(line) > _LONG else _split_once(line)


_LONG = 2048
"""Characters of lines that are not kept: few are read twice."""


def _split(line: str) -> tuple[Prefix, str]:
    text = clean(line)
    draft = Draft()
    at = 0
    layers = 0
    while at < len(text) and layers < MAX_LAYERS:
        layers += 1
        first = text[at]
        if first == "{":
            message = containers.unwrap_json(text, at, draft)
            if message is not None:
                text, at = clean(message), 0
                continue
            glued = launchers.foreign(text, at) if draft.rank is None else at
            if glued == at:
                break
            at = glued
            continue
        key = text[at : at + 2] if first == "[" else first
        before = draft.marks
        for parse in _PARSERS.get(key, ()):
            end = parse(text, at, draft)
            if end > at:
                at = end
                draft.layered(before)
                break
        else:
            redrawn = _last_drawing(text, at)
            if redrawn == at and draft.rank is None:
                redrawn = launchers.foreign(text, at)
            if redrawn == at:
                break
            at = redrawn
    if draft.logger in _RELAYS:
        draft.level = None
    elif draft.level is None:
        before = draft.marks
        draft.severity(headed.level_in(text, at, stamped=draft.time is not None))
        draft.layered(before)
    if at < len(text) and text[at] in _SPEAKERS:
        before = draft.marks
        _note_speaker(text, at, draft)
        draft.layered(before)
    message = text[at:]
    if draft.deduplicated and message.endswith(("]", ")")):
        message = compiled(_REPEATED).sub("", message)
    if message == line:
        return (draft.finish(0) if draft.stamped or draft.rank is not None else _NOTHING), message
    return draft.finish(prefix_length(line, message)), message


_split_once = lru_cache(maxsize=4096)(_split)
"""What learns the layout of a log and what looks at its end read the same lines, one after the other."""


class Continuation:
    """Decides, line after line, which lines go on with the record that one line began.

    Launchers prefix every line, loggers only the first line of a record: after
    ``[default3]:[rank3]:[E1104 …] …`` the record goes on as ``[default3]:…``, after SGLang's
    ``[2025-11-04 12:34:56 TP3] …`` without any prefix. When the lines of many ranks interleave, a
    line without the inner prefix belongs to the record that was begun last. Blank lines that torch's
    exception hook left its tag off are nobody's.

    A bare time may be a logger's, which begins records, or that of ``ts``, which stands before every
    line and begins none: it is taken for the latter as long as all lines of the record have one.
    """

    def __init__(self, head: Prefix) -> None:
        self._head = head
        self._clocked = head.clocked
        self._bases = (_base(head, head.stamped), _base(head, head.recorded))
        self._repeats: bool | None = None
        self._overtaken = False

    def takes(self, prefix: Prefix) -> bool | None:
        """Whether the next line of the source belongs: True, False (somebody else's), None (ended).

        A logger that repeats its prefix on every line, as vLLM's does, ends its record where another
        place in the program, another level or another second is named.
        """
        head = self._head
        clocked = self._clocked and prefix.clocked
        stamped = prefix.recorded if clocked else prefix.stamped
        base = self._bases[clocked]
        if prefix.stream == head.stream:
            if not stamped:
                self._clocked = clocked
                return not (self._overtaken and base == head.stream)
            if self._repeats is None:
                self._repeats = head.stamped and head.logger is not None
            same = (prefix.logger, prefix.level, prefix.time) == (head.logger, head.level, head.time)
            return True if self._repeats and same else None
        if stamped:
            self._overtaken = self._overtaken or _base(prefix, stamped) == base
            return False
        if prefix.stream != base or self._overtaken:
            return False
        self._clocked = clocked
        return True


def _base(prefix: Prefix, stamped: bool) -> str:
    """The part of the stream that lines of the same record carry after the first one."""
    parts = prefix.stream.split("/") if prefix.stream else []
    while stamped and parts and compiled(_ONCE).fullmatch(parts[-1]):
        parts.pop()
    return "/".join(parts)


def clean(line: str) -> str:
    """``line`` without terminal escapes, a byte order mark and the line's end."""
    if "\x1b" in line or "[0m" in line or "[39m" in line or "[0;" in line:
        line = compiled(_LOST_COLOUR).sub("", compiled(_ESCAPES).sub("", line))
    if line.startswith("\ufeff"):
        line = line[1:]
    return line.rstrip("\r\n")


def _last_drawing(text: str, at: int) -> int:
    """Index after the last carriage return that something visible follows, or after a bar that was cut off, or ``at``."""
    if text.find("%|", at, at + 400) >= 0:
        bar = compiled(_BAR).search(text, at, at + 1000)
        if bar is not None:
            return bar.end()
    return max(at, text.rfind("\r", at, len(text.rstrip())) + 1)


def _note_speaker(text: str, at: int, draft: Draft) -> None:
    """Note level and program where the message itself says them; both stay in the message."""
    if text[at] == "s":
        system.note_speaker(text, at, draft)
        return
    said = _SAID.match(text, at) if draft.rank is None else None
    if said is not None:
        draft.rank = int(next(number for number in said.groups() if number))
    if draft.level is None:
        found = _LEVEL.match(text, at)
        if found is not None:
            draft.severity(found[1] or found[2])


def native(prefix: Prefix) -> bool:
    """Whether a library below Python wrote a line, by the place in its source that stands before the words."""
    return compiled(_NATIVE).search(prefix.logger or "") is not None


_NATIVE = r"\.(?:cpp|cc|cu|hpp|h):\d+$"


def prefix_length(line: str, message: str) -> int:
    """Where ``message``, which was taken out of ``line``, begins in it."""
    if not message:
        return len(line)
    if line.endswith(message):
        return len(line) - len(message)
    return max(0, line.find(message))
