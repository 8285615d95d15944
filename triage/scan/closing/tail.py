"""The last words of a source: lines near its end that state an error in so many words."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from triage.model import Block, Evidence, Finding, Prefix, Source
from triage.scan.closing import abroad
from triage.scan.closing.outcome import tells_of_failure
from triage.scan.lazy import deferred
from triage.scan.prefix import split_line
from triage.scan.tracebacks.lines import HEADER
from triage.scan.writers.leads import leads_of, split
from triage.text import safe

TAIL = 16 * 1024
"""Bytes at the end of a log in which its last words are looked for."""
PASTED = 4 * 1024
"""Bytes of a log up to which somebody may have chosen its lines."""
MAX_LINES = 40
MAX_SIGNS = 300
ALIVE_RULE = "progress.alive"
FINAL_LINES = 3
"""Lines at the very end in which an exception's name anywhere counts."""
_STATES_AN_ERROR = deferred(
    r"^Exception in thread \"|^(?:[\w./-]+: ){0,3}(?:fatal|error|critical|panic)\b|"
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)\b(?:\([\w.]+\))?(?::|$)|^Exception: |"
    r"^(?-i:(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\((?:(?:\d+, )?['\"].*)?\)\s*$)|"
    r"\braise (?:\w+\.)*[A-Z]\w*(?:Error|Exception)\(|"
    r"\bTarget -?\d+ is out of bounds\b|"
    r"\(core dumped\)|: (?:command not found|Permission denied|No such file or directory|cannot execute)|"
    r"\b(?:FATAL|CRITICAL|PANIC)\b|^Aborted\b|^Killed\b|terminate called|"
    r"\b(?:exited|failed|terminated) with (?:exit |non-zero |error )*(?:code|status)\s*:?\s*[1-9-]|"
    + abroad.ENDED
    + "|"
    + abroad.ERROR,
    re.IGNORECASE,
)
_NAMES_TROUBLE = deferred(
    r"^.{0,100}?(?:\bERROR\b|\[(?:[Ee]rror|E|[Ff]atal)\])|^.{0,60}?\b(?:[Aa]bort|ABORT)(?:ed|ing)?\b|\bpanicked at\b"
    r"|\b[Aa]ssert(?:ion)?\b.{1,300}\bfailed\b|\b[Cc]heck failed: |\bforrtl: severe\b|\bSIG(?:ABRT|SEGV|BUS|ILL|FPE)\b|\bsignal \(?(?:4"
    r"|6|7|8|11)\b"
    r"|^.{0,60}?\b(?i:client|server|connection|socket|rpc|library|import|load(?:ing)?|read(?:ing)?|writ(?:e|ing)|pars(?:e|ing)|input"
    r"|file|i/?o) "
    r"[Ee]rror: \D|\b(?i:cuda|cudnn|cublas|nccl) failure \d+: |\b(?i:port \d+ is (?:already )?in use)\b(?!.*\b(?:using|trying|instead"
    r"|next)\b)"
    r"|\b[Jj]ob\b.{0,80}\b(?:[Kk]illed|[Tt]erminated|[Cc]ancell?ed)\b.{0,60}\b(?i:wall[- ]?time|wall[- ]?clock|run[- ]?time|time) ?"
    r"(?i:limit|of|exceeded)\b"
    r"|\b[Jj]ob\b.{0,60}\bexceeded\b.{0,30}\b(?i:wall[- ]?time|wall[- ]?clock|run[- ]?time|time) ?(?i:limit)?\b.{0,40}"
    r"\b(?:killed|terminated|cancell?ed)\b"
    r"|\b(?i:failed to modify QP|licen[cs]e checkout failed|(?:access|permission) denied)\b"
    r"|\bOpenCV(?:\(\d[\d.]*\) .{0,300}?\b[Ee]rror: | Error: )"
    r"|(?i:\b(?:segmentation fault|illegal instruction|bus error(?!@)|out[ _]of[ _]memory|cannot allocate memory|illegal (?:memory access"
    r"|address)"
    r"|launch failure|uncorrectable ECC error encountered|GPU is lost|undefined symbol|symbol lookup error"
    r"|cannot open shared object file|no space left|disk quota exceeded"
    r"|address already in use|(?:internal|runtime|unrecoverable|mpi|cuda|hip|nccl|nvml|opencl|gpu|driver|device|license) error))\b"
    r"|\b(?!\w*Count returned \d\b)(?:cu[A-Z]|cuda[A-Z]|hip[A-Z]|nccl[A-Z]|nvml[A-Z]|ibv_|fi_|uc[pst]_|shm_"
    r"|MPI_)\w+(?:\(.{0,200}?\))?:? (?:has )?(?:failed"
    r"|returned)\b"
)
"""Words that nobody uses of a run that is well, wherever they stand in a line."""
_GOODBYE = deferred(
    r"(?:.{0,4}wandb\S{0,6}: )?(?:\W{0,3}View (?:run|project|\S+ at)|Find logs at: |You can sync this run|wandb sync "
    r"|Synced \d|\s*$)"
)
"""What Weights & Biases says when a process leaves, however it does."""
_NAMES_AN_EXCEPTION = deferred(r"\b(?:[A-Z]\w*(?:Error|Exception)|socket\.(?:gai|h)?error): \S")
_IS_AN_EXCEPTION = deferred(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\([\w.]+\))?: \S")
_ALARMS = deferred(
    r"\w(?:Error|Exception)(?=[:()]|\s*$)|"
    r"\b(?:errors?|fail(?:ed|ure|ing)?|fatal|exception|tim(?:ed|e) ?out|timeouts?|stall(?:ed)?|hang(?:s|ing)?|hung|stuck|"
    r"abort(?:ed|ing)?|kill(?:ed|ing)|panic|refused|denied|unreachable|deadlock(?:ed)?|crash(?:ed)?|cannot|can't|"
    r"could not|couldn't|unable|corrupt(?:ed)?|shut down|lost"
    r"|giv(?:e|es|ing) up(?! on)|gave up(?! on)|no \w+ (?:is|are) left)\b",
    re.IGNORECASE,
)
_STEMS = (
    "error", "exception", "fail", "fatal", "critical", "panic", "interrupt", "raise ", "out of bounds", "core dumped",
    "command not found", "permission denied", "no such file", "cannot", "abort", "kill", "terminate", "exited with",
    "timed out", "timedout", "time out", "timeout", "stall", "hang", "hung", "stuck", "refused", "denied", "unreachable",
    "deadlock", "crash", "can't", "could not", "couldn't", "unable", "corrupt", "shut down", "lost", " up", " left",
)  # fmt: skip
"""In lower case, what a line has one of that ``_STATES_AN_ERROR`` or ``_ALARMS`` finds, if it is all ASCII."""
_GAVE_BACK = deferred(
    r"\b(?:returned|exited|rc|(?:exit|return) (?:code|status))[ =:]{1,3}(?:with )?(?:(?:code|status)[ :=]{1,2})?-?[1-9]\d{0,2}"
    r"(?=\s*$|[,.;)]+(?:\s*$|.*\b(?:not|skip\w*|stop\w*|abandon\w*|giv\w+ up|abort\w*|exit\w*|quit\w*)\b))",
    re.IGNORECASE,
)
"""A status that something gave back which was started, and that nothing more is done."""
_WARNED_OF_ITS_END = deferred(
    r"\bNCCL WARN (?!.{0,200}\b(?:deprecated|ignored|ignoring|retry|retrying|fall(?:ing)? ?back|default)\b).{0,200}"
    r"\b(?:fail(?:ed|ure)?|errors?|couldn't|could not|cannot|unable|invalid|refused|unexpected\w*|bad)\b",
    re.IGNORECASE,
)
"""NCCL calls what ends it a warning."""
_ENDS_THE_JOB = deferred(r"\bMPI_ABORT was invoked on rank\b|\bapplication called MPI_Abort\(")
_NO_WORDS = deferred(r"\W*|\s*(?:[Cc]ommand (?:error|output)|std(?:err|out)):\s*")
_REFUSES = deferred(
    r"\b(?:must|needs? to|should|requires?|needs? (?:at|\d)|or more|only|at least|at most|too (?:many|few|large|small|big)|exceeds?"
    r"|cannot|can't|could not|unable"
    r"|not (?:found|supported|enough|allowed|known|exist)|does not|did not|invalid|illegal|unknown|missing|wrong|bad|no such)\b",
    re.IGNORECASE,
)
_SAYS_GOODBYE = deferred(
    r"(?i)^(?!(?:INFO: +)?(?:Shutting down$|Waiting for application shutdown|Application shutdown complete)|.*\bsuccessfully\b)"
    r".*?\b(?:kill(?:ing|ed)|shutting down|shut ?down|terminat(?:ing|ed)|stopping|(?:is|was|been) stopped|tear(?:ing)? down"
    r"|cleaning up before exit|aborting)\b"
    r"|^(?!.*\b(?:successfully|normally|cleanly|gracefully|drained|done|complete\w*|finish\w*|(?:code|status|with) 0)\b)"
    r".*\b(?:exiting|quitting)\b"
)
"""What is said in an ordinary tone on the way out: no sign that an error was survived. Web servers that are asked to end do so too."""
_HANDS_OVER = deferred(
    r"(?i)^(?!.*\b(?:emergency|error|traceback|crash|dump|core|interrupt\w*|abort\w*|fail\w*)\b).*?"
    r"(?:\b(?:report|results?|summary|metrics|predictions?|evaluations?|figures?|plots?|table)\b.{0,60}?\b(?:written|saved|stored|exported)\b"
    # the name of a file too: wrote results_2.json
    r"|\b(?:saved|wrote|written)\b.{0,40}?\b(?:report|results?|summary|metrics|predictions?|evaluations?|figures?|plots?|table)(?![a-z])"
    # so many of what it makes: wrote 16200 pages to crawl.jsonl
    r"|\b(?:saved|wrote|written|exported)\b \d[\d,.]* (?:\w+ ){1,3}(?:in)?to [\w./-]+\.\w+|"
    + abroad.DONE
    + ")"
)
"""How programs say that what they were started for is done and lies there."""
_ANSWERS_WITH_AN_ERROR = deferred(r'HTTP/[\d.]+" 5\d\d\b')
_ANNOUNCES = deferred(r"(?i)\W*(?:(?:fatal|internal|runtime|input|unrecoverable) )?(?:error|exception)\W*")
NONE_OF = deferred(
    r"\b[a-z_]+(?: [a-z_]+)?[\"']?\s*[=:]\s*0(?=\s*(?:$|[,;|)\]}]|[\"']?[a-z_]+(?: [a-z_]+)?[\"']?\s*[=:]))"
    r"|\b0 [a-z]+(?=\s*(?:$|[,;|)\]}]))"
    r"|\b(?:errors?|failures?|timeouts?|aborts?|crashes|restarts|retries|kills?) 0(?=\s*(?:$|[,;|)\]}]|  ))",
    re.IGNORECASE,
)
"""What a report says that there is none of: ``failed=0 skipped=2``, ``timeouts: 0``, ``2 passed, 0 failed``."""
_QUOTED = deferred(r'"[^"\n]*\s[^"\n]*\s[^"\n]*\s[^"\n]*"')
"""Words that a line passes on as somebody else's."""
_NOT_A_NUMBER = deferred(r"(?i)(?<![\w-])-?(?:nan|inf)(?![\w-])")
_WORDS = deferred(r"(?<![^\W\d_])[^\W\d_]{2,}[\W\d_](?:.*?(?<![^\W\d_]))?[^\W\d_]{2}")
_DIGITS = str.maketrans("", "", "0123456789")
_LOSS = deferred(r"(?i)\b(?:loss|grad\w*|perplexity|ppl|energy)\b")
NUMBERS = 2
"""Lines at the very end that say whether a program still has numbers."""
MIN_WORDS = 3
"""Lines with words that make an end ordinary."""
MIN_FIGURES = 8
"""Lines that do so without words, where they are of few shapes."""
_QUIET = frozenset(["info", "debug", "warning"])
_SMALL_TALK = frozenset(["info", "debug"])
_FRAME = deferred(r"\s*frame #\d+: |Exception raised from \w+ at ")
"""The stack that torch prints below an error of its own."""
_STANDS = deferred(r' *File "[^"\n]{1,4096}", line \d{1,9} in \S{1,500} *\r?')
"""A frame as ``faulthandler`` prints it: where somebody was when he was asked or stopped, and that is the last of him."""
_TWO_WORDS = deferred(r"(?<![^\W\d_])[^\W\d_]{2,}[^\w\n]{1,8}(?:[\d.]{1,20}[^\w\n]{1,8})?\w{2}")
_HARMLESS = deferred(
    r"(?<![\w.])(?:0|no|without)(?: \w+)? (?:errors?|fail\w*)\b|errors?[=:] ?0\b(?!\.\d)|\berrors?[ =:]{1,3}[-+]?\d+\.\d+(?:e[-+]?\d+)?\b"
    r"|--- Logging error ---"
    # a tally: so many of this, so many of that
    r"|\b\d+ [a-z]+(?: [a-z]+)?, (?:.{0,80}, )?\d+ (?:[a-z]+ ){0,2}"
    r"(?:lost|stalled|refused|denied|unreachable|could not be \w+)\b(?!.*\bgiving up\b)"
    # of what is tried out, some may fail
    r"|\b[1-9]\d*(?:/\d+)? (?:trials?|configs?|configurations?|combinations?|candidates?|settings) (?:succeeded|worked|completed|ok),"
    r" \d+ (?:[a-z]+ )?failed\b"
    # the name of a stream and where it goes
    r"|\bstandard error: ?/"
    # Python's own warnings
    r"|\.py:\d+: [A-Z]\w*Warning: "
    # a table of events calls all that failed a warning
    r"|(?<!NCCL )\bwarn(?!ing(?:\t| {2,})+\w+(?:\t| {2,}|$))"
    # parts of a report, and what is measured
    r"|\berrors? (?:cases?|types?|rates?|analysis|preview|breakdown|counts?|distributions?|bars?|metrics?|statistics"
    r"|samples?)\b(?!.{0,80}: \S)"
    r"|\b(?:mean|squared|absolute|root|relative|percentage|reconstruction|word|character|phone|sentence|insertion|deletion"
    r"|substitution|rms|quanti[sz]ation|classification|standard|max|min|avg|average|l[12]|test|train(?:ing)?|val|top-?[15])"
    r"[ _-](?:\w+[ _-])?errors?\b(?: rates?)?\W{1,4}[-+]?\d",
    re.IGNORECASE,
)


_QUOTES = deferred(
    r"(?i)\s*(?!.{0,30}(?:\b(?:reason|std(?:err|out)|detail|cause|message|msg|warn\w*|fail\w*|fatal|critical|panic|abort\w*)\b"
    r"|error|exception))(?:[\w .-]{1,24}(?:\[\d+\])? ?: *[\"“']|[\"“])(?=[^\"”]{16})"
)
"""A line that shows a text under its name: what the text speaks of is not the job's."""
_ASKS = deferred(r"(?i)\s*(?:\S{1,12} +)?(?:prompt|question|q)(?: ?\d+)? ?: *\S")
"""A line that shows a question."""
_SHOWS = deferred(
    r"(?i)(?!.*\b(?:errors?|exception|fail\w*)\b.{0,40}:)(?:.{0,60}[\s\W])?"
    r"(?:generated(?: text)?|response|completion|answer|reply|prediction|prompt|question)s?(?: \d+)? ?:[ \t]*\S"
)
"""A line below which a text goes on."""
_STAMPED = deferred(r"\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d?/\d\d?/\d{2,4}|\d\d:\d\d:\d\d)[ T,]")
_RECORD = deferred(
    r"\{\"\w+\": ?(?=.*?\"\w+\": .*?\"\w+\": )"
    r"(?!.*\"(?:error|errors|exception|traceback|stack|level|levelname|severity|msg|message|log|failed|failure)\": ?"
    r"(?! |null|false|\"\"|\[\]|\{|0\b))"
)
"""A line of data that a program puts out, a JSON object that reports no error: what its texts speak of is not the job's."""


def intelligible(block: Block) -> bool:
    """Whether a block holds text that a person could read: a line with two words."""
    text = _legible(block)
    return text is not None and _TWO_WORDS.search(text) is not None


def _legible(block: Block) -> str | None:
    """The beginning of a block, if that is text."""
    sample = block.data[:65536]
    text = sample.decode("utf-8", "replace")
    return None if b"\0" in sample[:4096] or text.count("\ufffd") * 10 > len(text) else text


def ordinary(block: Block, taken: Container[int] = ()) -> bool:
    """Whether the end of a log reads like that of a program at work: several lines of words or figures, none of them alarming.

    Lines whose numbers are in ``taken`` are known to a rule, which judges them.
    """
    if _legible(block) is None:
        return False
    rows = [row for row in _last_lines(block) if row[0] not in taken]
    texts = _texts(rows)
    lines = [_QUOTED.sub('""', NONE_OF.sub("", text)) for _, text, _ in rows]
    shapes = {text.translate(_DIGITS).strip() for text in lines}
    figures = len(lines) >= MIN_FIGURES and len(shapes) * 4 <= len(lines)
    words = sum(_WORDS.search(text) is not None for text in lines) >= MIN_WORDS and intelligible(block)
    alarming = (
        p.search(NONE_OF.sub("", text))
        for number, text, _ in rows
        if number not in texts
        and not _RECORD.match(text)
        and not _HARMLESS.search(text)
        and split_line(text)[0].level not in _SMALL_TALK
        for p in (_ALARMS, _STATES_AN_ERROR)
    )  # fmt: skip
    # who works on with numbers has got over what is none
    lost = any(
        _NOT_A_NUMBER.search(text) for text in lines[-NUMBERS:] + [t for t in lines if _LOSS.search(t)]
    )
    return (figures or words) and not lost and not any(alarming)


def aside(block: Block) -> bool:
    """Whether all that a short log holds is the goodbye of a tracker, which says the same after every end.

    Where standard output and standard error are kept apart, it may be all of the one while the work is told in the other.
    """
    texts = [NONE_OF.sub("", split_line(text)[1]) for _, text, _ in _last_lines(block)]
    return 0 < len(texts) < MAX_LINES and all(_GOODBYE.match(text) for text in texts)


def last_signs_of_life(block: Block, source: Source, index: int) -> Iterator[Finding]:
    """For each writer near the end of a source, its last line of level info or debug.

    Who still logs in an ordinary way after an error has got over it; who does so after others timed
    out was working all the while.
    """
    seen: dict[str, tuple[int, int, str, Prefix]] = {}
    leads = leads_of(block)
    for number, offset, raw in reversed(_lines(block, 4 * TAIL)[-MAX_SIGNS:]):
        saves = b"aved" in raw or b"ritten" in raw or b"rote" in raw or not raw.isascii()
        if (
            not saves
            and b"nfo" not in raw
            and b"NFO" not in raw
            and b"EBUG" not in raw
            and b"I" not in raw[:40]
        ):
            continue
        text = raw.decode("utf-8", "replace")[:2000]
        prefix, message = split(leads, text)
        if prefix.stream in seen:
            continue
        plain = prefix.level in {"info", "debug"} or (saves and _HANDS_OVER.search(message) is not None)
        if not plain or not message.strip() or message.startswith("NCCL INFO"):
            continue
        if not any(
            p.search(message) for p in (_SAYS_GOODBYE, _ANSWERS_WITH_AN_ERROR)
        ) and not tells_of_failure(message):
            seen[prefix.stream] = (number, offset, text, prefix)
    for number, offset, text, prefix in sorted(seen.values(), key=lambda sign: sign[1]):
        yield Finding(
            rule_id=ALIVE_RULE, fields={}, evidence=(Evidence(source.name, number, safe(text)),),
            source=index, offset=offset,
            rank=prefix.rank if prefix.rank is not None else source.rank,
            local_rank=prefix.local_rank if prefix.local_rank is not None else source.local_rank,
            host=prefix.host or source.host, pid=prefix.pid, time=prefix.time, level=prefix.level,
            stream=prefix.stream,
        )  # fmt: skip


_ANNOUNCED_BY_NCCL = "Last error:"
"""What torch prints above NCCL's last warning, whether or not there was one."""


_PYTHON_FRAME = deferred(r'(?:\[rank\d+\]: ?)?\s*File "[^"]+", line \d+')
"""Where in a program a traceback has come to; the line below it quotes the program's text."""


def alarms(block: Block, name: str, taken: Container[int]) -> Iterator[Evidence]:
    """Lines near the end with alarming words that no rule knows: reason not to call a log healthy."""
    lines = list(_last_lines(block))
    shown, leads = _texts(lines), leads_of(block)
    if lines and stands(lines[-1][1]):
        yield Evidence(name, lines[-1][0], safe(lines[-1][1]))
    frame = -1
    for line, text, final in lines:
        prefix, message = split(leads, text)
        if _PYTHON_FRAME.match(message):
            frame = line
        if line in taken or line in shown or _RECORD.match(text):
            continue
        if line == frame + 1 and message[:1] == " ":
            continue  # the program's text, quoted by a traceback
        if final and prefix.level not in {"info", "debug"} and _GAVE_BACK.search(message):
            yield Evidence(name, line, safe(text))
            continue
        if not _ALARMS.search(NONE_OF.sub("", text)) or _HARMLESS.search(text):
            continue
        quiet = {"info", "debug"} if final else {"info", "debug", "warning"}
        if _FRAME.match(message) or message.strip() == _ANNOUNCED_BY_NCCL:
            continue
        said = _QUOTED.sub('""', NONE_OF.sub("", message))
        if prefix.level not in quiet and _ALARMS.search(said) and not message.rstrip().endswith(f"{HEADER}:"):
            yield Evidence(name, line, safe(text))


def _texts(lines: list[tuple[int, str, bool]]) -> set[int]:
    """Where a program shows a text, and where that goes on below it until the next line with a time of its own."""
    found: set[int] = set()
    below: list[int] = []
    within = False
    for number, text, _ in lines:
        asked = _ASKS.match(split_line(text)[1]) is not None
        if (asked or _QUOTES.match(text)) and not _STATES_AN_ERROR.search(text):
            found.add(number)
        if _STAMPED.match(text):
            # what nothing stamped follows may be what ended the program
            found.update(below)
            below = []
            within = _SHOWS.match(split_line(text)[1]) is not None
        elif within:
            below.append(number)
    return found


def closing(block: Block, name: str, taken: Container[int]) -> Iterator[Evidence]:
    """The lines of a log as short as what people paste, whatever they say, that no rule knows."""
    if block.offset + len(block.data) > PASTED:
        return
    for line, text, _ in _last_lines(block):
        if line not in taken and _TWO_WORDS.search(text):
            yield Evidence(name, line, safe(text))


def last_words(block: Block, name: str, taken: Container[int]) -> Iterator[Evidence]:
    """Lines near the end that state an error; ``taken`` holds the numbers of lines that a rule knows.

    A line that only announces an error says it on the next.
    """
    lines = list(_last_lines(block))
    reasons, shown = _reasons(lines), _texts(lines)
    named = max((i for i, (_, text, _) in enumerate(lines) if _is_named(text)), default=-1)
    for position, (line, text, final) in enumerate(lines):
        if line in taken:
            continue
        prefix, message = split_line(text)
        if position < named and message[:1] == " " and position and _is_frame(lines[position - 1][1]):
            continue  # the program's text, quoted by a traceback that names its exception below
        message = message.strip()
        if (
            _RECORD.match(text)
            or line in shown
            or (_HARMLESS.search(text) and not _IS_AN_EXCEPTION.match(message))
        ):
            continue  # what an exception says may speak of a warning
        if message.endswith(f"{HEADER}:"):
            continue  # what was raised is not said here
        loud = (
            prefix.level in {"error", "fatal"}
            or _STATES_AN_ERROR.search(message) is not None
            or _WARNED_OF_ITS_END.search(text) is not None
            or (prefix.level not in _QUIET and _NAMES_TROUBLE.search(message) is not None)
            or (final and (_NAMES_AN_EXCEPTION.search(message) is not None or tells_of_failure(message)))
            or position in reasons
        )
        if loud and message:
            following = lines[position + 1] if position + 1 < len(lines) else None
            if following is not None and following[0] not in taken and _ANNOUNCES.fullmatch(message):
                text += "\n" + following[1]
            yield Evidence(name, line, safe(text))


def _is_named(text: str) -> bool:
    """Whether a line names an exception, as the last one of a traceback does."""
    return _IS_AN_EXCEPTION.match(split_line(text)[1]) is not None


def _is_frame(text: str) -> bool:
    """Whether a line tells where in a program a traceback has come to."""
    return _PYTHON_FRAME.match(split_line(text)[1]) is not None


def _reasons(lines: list[tuple[int, str, bool]]) -> set[int]:
    """Where the last thing stands that was said before somebody had MPI end the job, if it refuses something."""
    found = set()
    for position, (_, text, _) in enumerate(lines):
        if _ENDS_THE_JOB.search(text) is None:
            continue
        before = position - 1
        while before >= 0 and _NO_WORDS.fullmatch(lines[before][1]):
            before -= 1
        if before >= 0 and _REFUSES.search(lines[before][1]):
            found.add(before)
    return found


def _last_lines(block: Block) -> Iterator[tuple[int, str, bool]]:
    """Number and text of the last lines that are not blank, and whether they are the very last ones.

    Words that stand before all lines of the source are left out: they hide how a line begins.
    """
    lines = last_rows(block, TAIL)[-MAX_LINES:]
    same = leads_of(block).same
    for position, (number, raw) in enumerate(lines):
        text = raw[:2000].decode("utf-8", "replace").removeprefix(same)
        yield number, text, position >= len(lines) - FINAL_LINES


def stands(text: str) -> bool:
    """Whether a line only shows where somebody was, in a stack that no exception ends."""
    return _STANDS.fullmatch(split_line(text)[1]) is not None


def says_goodbye(message: str) -> bool:
    """Whether something ordinary is said on the way out."""
    return _SAYS_GOODBYE.search(message) is not None


def speaks_of_trouble(text: str) -> bool:
    """Whether a line states an error or is alarming."""
    if not _may_speak_of_trouble(text):
        return False
    message = split_line(text)[1]
    if _HARMLESS.search(text) and not _IS_AN_EXCEPTION.match(message):
        return False
    return bool(_STATES_AN_ERROR.search(message) or _ALARMS.search(NONE_OF.sub("", message)))


def _may_speak_of_trouble(text: str) -> bool:
    """Whether patterns with many alternatives are worth asking: finding none of some words takes a hundredth of the time."""
    if not text.isascii():
        return True
    folded = text.lower()
    return any(stem in folded for stem in _STEMS)


def last_rows(block: Block, size: int) -> list[tuple[int, bytes]]:
    """Number and bytes of the lines in the last ``size`` bytes of a block that are not blank."""
    return [(number, raw) for number, _, raw in _lines(block, size) if raw.strip()]


def _lines(block: Block, size: int) -> list[tuple[int, int, bytes]]:
    """Number, offset in the source and bytes of the whole lines in the last ``size`` bytes of a block."""
    data = block.data
    start = max(0, len(data) - size)
    start = data.find(b"\n", start) + 1 if start else 0
    number = block.line + data.count(b"\n", 0, start)
    offset = block.offset + start
    found = []
    for raw in data[start:].split(b"\n"):
        found.append((number, offset, raw))
        number += 1
        offset += len(raw) + 1
    return found
