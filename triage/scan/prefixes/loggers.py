"""What programs' own loggers put before a line: Python's logging in its many layouts, and the like."""

from __future__ import annotations

from triage.scan import clock
from triage.scan.lazy import Lazy, compiled
from triage.scan.prefixes.draft import LEVEL_WORD, LEVELS, LEVELS_NEED, TIME, Draft
from triage.scan.prefixes.glog import COMPILE_ID
from triage.scan.prefixes.launchers import MAX_LOCAL, add_labels, sglang_rank

_FILE = r"[\w./<>+-]+:\d+"


_BRACKET = Lazy(r"\[(\d{4}-\d\d-\d\d)(?:, |[ T])" + TIME + r"([^\]\n]{0,80})\] ?")
_AIRFLOW = Lazy(r"(?:\{{1,2}([\w./-]{1,80}:\d+)\}{1,2} )?(" + LEVEL_WORD + r") - ")
_ISO = Lazy(r"(\d{4}[-/]\d\d[-/]\d\d) " + TIME + r"( ?(?:Z|UTC|[+-]\d\d:?\d\d)(?![\w:]))?(?=[\s:|]|$)")
_US_DATE = Lazy(r"(\[?)(\d\d/\d\d/(?:\d{4}|\d\d)) " + TIME + r"(\]?)(?= |$)")
_MONTH_DAY = Lazy(r"(\d\d)/(\d\d) " + TIME + r"(?= - \S)")
_LLAMA = Lazy(r"\d{1,5}\.\d\d\.\d{3}\.\d{3} ([DIWE]) ")
_DAYTIME = Lazy(TIME + r"(?=[ ]|$)")

_VLLM = Lazy("(" + LEVEL_WORD + r") (\d\d)-(\d\d) " + TIME + r" \[?([^\s\]]+:\d+)\](?: |$)", LEVELS_NEED)
_LEVEL_STAMP = Lazy("(" + LEVEL_WORD + r")[ :|]+(?=(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d)", LEVELS_NEED)
_ROOT = Lazy("(" + LEVEL_WORD + r"):([A-Za-z_][\w.]*):(?!:)", LEVELS_NEED)
_TRANSFORMERS = Lazy(
    r"\[(" + LEVEL_WORD + r")\|([^\]\n]{1,120})\] (\d{4}-\d\d-\d\d) " + TIME + r" >> ?", needs=(">>",)
)
_LLAMAFACTORY = Lazy(
    r"\[(" + LEVEL_WORD + r")\|(\d{4}-\d\d-\d\d) " + TIME + r"\] ([A-Za-z_][\w.]{0,120}:\d+) >> ?",
    needs=(">>",),
)
_NEMO = Lazy(
    r"\[NeMo ([IWEDFC]) (\d{4}-\d\d-\d\d) " + TIME + r"(?: rank:(\d{1,10}))? ([^\]\n]{1,120})\](?: |$)",
    needs=("[NeMo ",),
)
_TENSORRT = Lazy(
    r"(?:\[(\d\d/\d\d/\d{4})-(\d\d:\d\d:\d\d)\] )?\[TRT(?:-LLM)?\] "
    r"(?:\[(?:RANK|MPI_Rank) (\d{1,10})\] )?\[([FEWIVD])\](?: \[(\d{1,10})\])?"
    r"(?: \[[a-z][\w.]{0,40}\]\[(?:RANK|MPI_Rank) (\d{1,10})\])?(?: |$)",
    needs=("[TRT",),
)
_TENSORRT_CPP = Lazy(
    r"\[TensorRT-LLM\]\[(TRACE|DEBUG|INFO|WARNING|ERROR)\](?:(?:\[| \[(?=[A-Za-z]))(?:RANK |M[Pp][Ii]_?Rank )?(\d{1,10})\])?(?: |$)",
    needs=("[TensorRT-LLM]",),
)
_LOGFMT = Lazy(
    r'time="?(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?"? level=(\w+) '
    r'(?:[a-z_]{1,20}=[^\s"]{1,120} ){0,4}msg="?',
    needs=("level=",),
)
_NAMED = Lazy(
    r"\[[A-Za-z][\w.-]{0,30}\](?:\[(?:RANK|[Rr]ank)[ :=]?(\d{1,6})\])?\[(\d{4}-\d\d-\d\d)[ T]"
    + TIME
    + r"\](?=\[| |$)"
)
_TITAN = Lazy(r"\[titan\] (?=\d{4}-)")

_BRACKETS = Lazy(
    r"\[(?:("
    + LEVEL_WORD
    + r")|PID:(\d{1,10})|(?:rank|RANK)[ :=]?(\d{1,6})|("
    + _FILE
    + r"(?::[\w<>.]+)?)|Rank (-?\d{1,9})|([a-z_][\w.]*))\](?: |$|(?=\[))"
)
_ELASTIC = Lazy(r"([A-Za-z_][\w.]*): \[(" + LEVEL_WORD + r")\](?: |$)")
_RAY_NATIVE = Lazy(r"(?:\((\w+)\) )?([\w./-]+:\d+): ")
_DASHES = Lazy(
    r" - (?:[Rr]ank[ _=:-]?(\d{1,5}) - )?(?:([^\s]{1,120}) - )?("
    + LEVEL_WORD
    + r")(?: {1,8}- |: )(?:([A-Za-z_][\w.]*) - +)?"
)
_BARS = Lazy(r" \| (" + LEVEL_WORD + r") *\| ([^|\n]{1,160}?) (?:-|\|) ")
_BARS_BARE = Lazy(r" \| (" + LEVEL_WORD + r") *\| (\b)")
_RANK_WORD = Lazy(r"(?:[Rr]ank|RANK)[ _=:-]{0,2}(\d{1,5})$")
_TENSORFLOW = Lazy(r": ([EWIFV]) (" + _FILE + r")\](?: |$)")
_WORDS = Lazy(
    r"[ \t]{1,8}(" + LEVEL_WORD + r"|SUCC(?= )|ERR(?= ))(?:  *|: +|\t)(?:(" + _FILE + r"):? (?:-- )?)?"
)
_BARE_LEVEL = Lazy(
    r"(" + LEVEL_WORD + r") +(?!\d\d-\d\d |\d{4}-\d\d)(?:(" + _FILE + r"):? +(?:- )?|(?=[^\s:|]))"
)
_SHORT_LEVEL = Lazy(r"(TRC|DBG|INF|WRN|ERR|FTL) ")
_DASHED_LEVEL = Lazy(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) - ")
_ROUND_LEVEL = Lazy(r"\((" + LEVEL_WORD + r")\)\[(" + _FILE + r")\] +")
_COMPOSER = Lazy(
    r": rank(\d{1,6})\[(\d{1,10})\]\[[^\]\n]{1,80}\]: (" + LEVEL_WORD + r"): (?:([A-Za-z_][\w.]*): )?"
)
_DETERMINED = Lazy(r":[\w.-]{1,80}: \[rank=(\d{1,6})\] (" + LEVEL_WORD + r"): ")
_OLMO = Lazy(r"\t([A-Za-z0-9][\w.-]{0,254}):(\d{1,4})\t([\w.<>-]{1,120}:\d+)\t(" + LEVEL_WORD + r")(?:\t|$)")
_RICH_AGAIN = Lazy(r" {11,24}(?=[A-Z ]{9}\S)(" + LEVEL_WORD + r") +", LEVELS_NEED)
_OLMO_RICH = Lazy(r"(" + LEVEL_WORD + r") +\[([\w.]{1,120}(?::\d+)?), rank=(\d{1,4})\](?: |$)")
_NANOTRON = Lazy(
    r" \[(" + LEVEL_WORD + r")((?:\|(?:DP|PP|TP|EXP|CP)=\d{1,5}){1,5})(?:\|([A-Za-z0-9][\w.-]{0,254}))?\]: ?"
)
_PLACE = Lazy(r"([\w./]+:\d+): ")
_NATIVE_TAIL = Lazy(r" ([DIWEFC]) (\d{1,10}) \d+$")


def bracket_stamp(text: str, at: int, draft: Draft) -> int:
    """``[2025-11-04 12:34:56,101] `` and what follows it; SGLang puts ``DP0 TP3`` inside.

    Airflow 2 goes on with ``{x.py:93} INFO - ``, Airflow 1 with ``{{x.py:93}} INFO - ``, Airflow 3 with ``INFO - ``.
    """
    found = _BRACKET.match(text, at)
    if found is None:
        return at
    date, time, fraction, inside = found.groups()
    moment = clock.wall(date, time, fraction, inside.strip())
    if moment is None:
        return at
    draft.stamp(moment)
    end = found.end()
    airflow = _AIRFLOW.match(text, end)
    if airflow is not None:
        draft.logger = airflow[1] or draft.logger
        draft.severity(airflow[2])
        return airflow.end()
    native = _NATIVE_TAIL.match(inside, 0) if inside else None
    if native is not None:
        draft.severity(native[1])
        draft.pid = int(native[2])
        where = _RAY_NATIVE.match(text, end)
        if where is not None:
            draft.logger = where[2]
            end = where.end()
        return end
    if inside:
        _labels_inside(inside, draft)
    return _after_bracket(text, end, draft)


def iso_stamp(text: str, at: int, draft: Draft) -> int:
    """``2025-11-04 12:34:56,789 - name - ERROR - `` and its relatives."""
    found = _ISO.match(text, at)
    if found is None:
        return at
    date, time, fraction, zone = found.groups()
    moment = clock.wall(date, time, fraction, zone.strip() if zone else None)
    if moment is None:
        return at
    draft.stamp(moment)
    return _after_stamp(text, found.end(), draft)


def us_stamp(text: str, at: int, draft: Draft) -> int:
    """``11/04/2025 12:34:56 - INFO - name - `` and rich's ``[11/04/25 12:34:56] INFO     ``."""
    found = _US_DATE.match(text, at)
    if found is None or bool(found[1]) != bool(found[5]):
        return at
    moment = clock.wall_us(found[2], found[3], found[4])
    if moment is None:
        return at
    draft.stamp(moment)
    return _after_stamp(text, found.end(), draft)


def month_day_stamp(text: str, at: int, draft: Draft) -> int:
    """``11/28 10:20:30 - mmengine - INFO - `` of MMEngine."""
    found = _MONTH_DAY.match(text, at)
    moment = clock.yearless(*found.groups()) if found else None
    if found is None or moment is None:
        return at
    draft.stamp(moment)
    return _after_stamp(text, found.end(), draft)


def daytime_stamp(text: str, at: int, draft: Draft) -> int:
    """``12:34:56 ``."""
    found = _DAYTIME.match(text, at)
    moment = clock.daytime(found[1], found[2]) if found else None
    if found is None or moment is None:
        return at
    draft.stamp(moment)
    return _after_stamp(text, found.end(), draft)


def llama_stamp(text: str, at: int, draft: Draft) -> int:
    """``3.02.199.202 E `` of llama.cpp: the time since its start, and a level."""
    found = _LLAMA.match(text, at)
    if found is None:
        return at
    draft.severity(found[1])
    return found.end()


def level_stamp(text: str, at: int, draft: Draft) -> int:
    """``INFO 11-04 12:34:56 [x.py:1] `` of vLLM, ``INFO 2025-05-02 14:20:22,410 x:290: `` and ``INFO 14:20:22 ``."""
    found = _VLLM.match(text, at)
    if found is not None:
        level, month, day, time, fraction, logger = found.groups()
        moment = clock.yearless(month, day, time, fraction)
        if moment is None:
            return at
        draft.stamp(moment)
        draft.severity(level)
        draft.logger = logger
        return found.end()
    found = _LEVEL_STAMP.match(text, at)
    if found is None:
        return at
    end = iso_stamp(text, found.end(), draft)
    if end == found.end():
        end = daytime_stamp(text, found.end(), draft)
    if end == found.end():
        return at
    draft.severity(found[1])
    return _named_place(text, end, draft)


def python_root(text: str, at: int, draft: Draft) -> int:
    """``WARNING:root:`` and ``ERROR:torch.distributed.elastic.multiprocessing.api:``."""
    found = _ROOT.match(text, at)
    if found is None:
        return at
    draft.severity(found[1])
    draft.logger = found[2]
    return found.end()


def short_level(text: str, at: int, draft: Draft) -> int:
    """``INF `` after a stamp, as zerolog and Serilog write it, and ``INFO - `` that stands alone."""
    found = _SHORT_LEVEL.match(text, at) if draft.time is not None and draft.level is None else None
    if found is None and at == 0:
        found = _DASHED_LEVEL.match(text, at)
    if found is None:
        return at
    draft.severity(found[1])
    return found.end()


def round_level(text: str, at: int, draft: Draft) -> int:
    """``(WARNING)[x.py:471]  ``."""
    found = _ROUND_LEVEL.match(text, at) if at == 0 else None
    if found is None:
        return at
    draft.severity(found[1])
    draft.logger = found[2]
    return found.end()


def transformers(text: str, at: int, draft: Draft) -> int:
    """``[INFO|trainer.py:1812] 2023-05-30 11:02:40,551 >> ``, ``[INFO|2024-12-14 13:49:23] llamafactory.cli:157 >> ``."""
    found = _TRANSFORMERS.match(text, at)
    if found is None:
        found = _LLAMAFACTORY.match(text, at)
        if found is None:
            return at
        level, date, time, fraction, logger = found.groups()
    else:
        level, logger, date, time, fraction = found.groups()
    draft.stamp(clock.wall(date, time, fraction))
    draft.severity(level)
    draft.logger = logger
    return found.end()


def nemo(text: str, at: int, draft: Draft) -> int:
    """``[NeMo W 2025-11-04 12:34:56 module:123] ``."""
    found = _NEMO.match(text, at)
    if found is None:
        return at
    level, date, time, fraction, rank, logger = found.groups()
    draft.stamp(clock.wall(date, time, fraction))
    draft.severity(level)
    draft.logger = logger
    if rank is not None:
        draft.rank = int(rank)
    return found.end()


def named(text: str, at: int, draft: Draft) -> int:
    """``[XTuner][RANK 3][2025-08-29 09:17:51][INFO] ``: a project's name, the rank and the time, each in brackets."""
    found = _NAMED.match(text, at)
    if found is None:
        return at
    rank, date, time, fraction = found.groups()
    moment = clock.wall(date, time, fraction)
    if moment is None:
        return at
    draft.stamp(moment)
    if rank is not None:
        draft.rank = int(rank)
        draft.writer(f"rank{rank}")
    return _after_bracket(text, found.end(), draft) if text.startswith("[", found.end()) else found.end()


def tensorrt(text: str, at: int, draft: Draft) -> int:
    """``[11/18/2025-09:33:30] [TRT-LLM] [RANK 0] [E] ``, ``… [E] [executor][RANK 1] `` and ``[TensorRT-LLM][ERROR] ``."""
    found = _TENSORRT.match(text, at)
    if found is not None:
        date, time, rank, level, native_rank, module_rank = found.groups()
        rank = rank or native_rank or module_rank
        if date is not None:
            draft.stamp(clock.wall_us(date, time))
    else:
        found = _TENSORRT_CPP.match(text, at)
        if found is None:
            return at
        level, rank = found.groups()
    draft.severity(level)
    if rank is not None:
        draft.rank = int(rank)
        draft.writer(f"rank{draft.rank}")
    return found.end()


def logfmt(text: str, at: int, draft: Draft) -> int:
    """``time="2021-11-29T03:20:01Z" level=info msg="…``, as container runtimes and Kubernetes operators log."""
    found = _LOGFMT.match(text, at)
    if found is None:
        return at
    draft.stamp(clock.wall(found[1], found[2], found[3], found[4]))
    draft.severity(found[5])
    own = compiled(r"(?<![\w.])(?:global_)?rank=(\d{1,5}) ").search(found[0])
    if own is not None and draft.rank is None:
        draft.rank = int(own[1])
    return found.end()


def titan(text: str, at: int, draft: Draft) -> int:
    """``[titan] `` before torchtitan's stamp.

    torchtitan is launched with the role ``rank``, so a lone ``[rank3]:`` before it is a local rank.
    """
    found = _TITAN.match(text, at)
    if found is None:
        return at
    if draft.rank_tag and draft.local_rank is None:
        draft.local_rank, draft.rank = draft.rank, None
    return found.end()


def indented_stamp(text: str, at: int, draft: Draft) -> int:
    """Megatron indents ``[2025-11-04 12:34:56] iteration …`` by one space."""
    return bracket_stamp(text, at + 1, draft) if text.startswith(" [2", at) else at


def rich_again(text: str, at: int, draft: Draft) -> int:
    """``                    INFO     ``: rich leaves out a time that is the one of the record before."""
    found = _RICH_AGAIN.match(text, at)
    if found is None:
        return at
    draft.severity(found[1])
    return found.end()


def _composer(text: str, at: int, draft: Draft) -> int:
    """``: rank0[822018][MainThread]: INFO: name: `` after the stamp: Composer, LLM Foundry."""
    found = _COMPOSER.match(text, at)
    if found is None:
        found = _DETERMINED.match(text, at)
        if found is None:
            return at
        draft.rank = int(found[1])
        draft.severity(found[2])
    else:
        draft.rank, draft.pid = int(found[1]), int(found[2])
        draft.severity(found[3])
        draft.logger = found[4] or draft.logger
    draft.writer(f"rank{draft.rank}")
    return found.end()


def _olmo(text: str, at: int, draft: Draft) -> int:
    """``<tab>host:3<tab>olmo.train:1205<tab>ERROR<tab>`` after the stamp: the number is the local rank."""
    found = _OLMO.match(text, at)
    if found is None:
        return at
    draft.host = found[1]
    draft.local_rank = int(found[2]) if int(found[2]) < MAX_LOCAL else draft.local_rank
    draft.writer(f"{found[1]}")
    draft.writer(f"local_rank{found[2]}")
    draft.logger = found[3]
    draft.severity(found[4])
    return found.end()


def _olmo_rich(text: str, at: int, draft: Draft) -> int:
    """``ERROR    [olmo.train:1205, rank=3] `` after the stamp: OLMo's handler, and it means the local rank."""
    found = _OLMO_RICH.match(text, at)
    if found is None:
        return at
    draft.local_rank = int(found[3]) if int(found[3]) < MAX_LOCAL else draft.local_rank
    draft.writer(f"local_rank{found[3]}")
    draft.logger = found[2]
    draft.severity(found[1])
    return found.end()


def _nanotron(text: str, at: int, draft: Draft) -> int:
    """`` [INFO|DP=0|PP=1|TP=3|host]: `` after the stamp: nanotron's coordinates, which tell no rank by themselves."""
    found = _NANOTRON.match(text, at)
    if found is None:
        return at
    draft.severity(found[1])
    for part in found[2].split("|")[1:]:
        name, _, number = part.partition("=")
        draft.labels += ((name, int(number)),)
    draft.host = found[3] or draft.host
    return found.end()


def _labels_inside(inside: str, draft: Draft) -> None:
    words = inside.split()
    if add_labels(inside, draft):
        draft.writer(" ".join(f"{name}{number}" for name, number in draft.labels))
        if draft.rank is None:
            draft.coordinate = sglang_rank(dict(draft.labels))
    elif len(words) == 1 and words[0] in LEVELS:
        draft.severity(words[0])


def _after_bracket(text: str, at: int, draft: Draft) -> int:
    """Levels, places and ranks in further brackets, or ``name: [ERROR] ``."""
    end = _olmo_rich(text, at, draft)
    if end > at:
        return end
    for count in range(4):
        found = _BRACKETS.match(text, at)
        if found is None:
            break
        level, pid, tag, place, rank, name = found.groups()
        if pid is not None:
            draft.pid = int(pid)
        elif rank is not None:
            if count == 0:
                # right after a bare stamp it may be a rank inside a process group
                break
            draft.rank = int(rank) if int(rank) >= 0 else None
        elif tag is not None:
            draft.rank = int(tag)
            draft.writer(f"rank{draft.rank}")
        elif name is not None:
            if not text.startswith("[", found.end()):
                break
            draft.logger = name
        elif level is not None:
            draft.severity(level)
        else:
            draft.logger = place
        at = found.end()
        if text.startswith("- ", at) and level is not None:
            at += 2
    compiled = COMPILE_ID.match(text, at)
    found = _ELASTIC.match(text, compiled.end() if compiled else at)
    if found is not None:
        draft.logger = found[1]
        draft.severity(found[2])
        return found.end()
    bare = _BARE_LEVEL.match(text, at) if draft.level is None else None
    if bare is not None:
        draft.severity(bare[1])
        draft.logger = bare[2] or draft.logger
        at = bare.end()
    return at


def _after_stamp(text: str, at: int, draft: Draft) -> int:
    """Level and logger after an unbracketed stamp, in any of the usual layouts."""
    for parse in (_composer, _olmo, _nanotron):
        end = parse(text, at, draft)
        if end > at:
            return end
    for layout in (_DASHES, _BARS, _BARS_BARE, _TENSORFLOW, _WORDS):
        found = layout.match(text, at)
        if found is None:
            continue
        if layout is _DASHES:
            draft.severity(found[3])
            draft.logger = found[2] or found[4] or draft.logger
            if found[1] is not None:
                draft.rank = int(found[1])
        else:
            draft.severity(found[1])
            said = (found[2] or "").strip()
            own = _RANK_WORD.match(said, 0)
            if own is not None and draft.rank is None:
                draft.rank = int(own[1])
            else:
                draft.logger = said or draft.logger
        return found.end()
    if text.startswith(" [", at):
        return _after_bracket(text, at + 1, draft)
    return at + 1 if text[at : at + 1] in {" ", "\t"} else at


def _named_place(text: str, at: int, draft: Draft) -> int:
    """``package.module:290: `` after a stamp."""
    found = _PLACE.match(text, at)
    if found is None:
        return at
    draft.logger = found[1]
    return found.end()
