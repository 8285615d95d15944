"""The last words of a source: lines near its end that state an error in so many words."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from triage.model import Block, Evidence
from triage.scan.closing.framed import closing_frame
from triage.scan.closing.harmless import harmless
from triage.scan.closing.outcome import tells_of_failure
from triage.scan.closing.wordings import (
    ALARMS,
    ANNOUNCES,
    ENDS_THE_JOB,
    GAVE_BACK,
    IS_AN_EXCEPTION,
    NAMES_AN_EXCEPTION,
    NAMES_TROUBLE,
    NONE_OF,
    REFUSES,
    REPORTS_AN_END,
    STATES_AN_ERROR,
    WARNED_OF_ITS_END,
    stands,
)
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
FINAL_LINES = 3
"""Lines at the very end in which an exception's name anywhere counts."""
_GOODBYE = deferred(
    r"(?:.{0,4}wandb\S{0,6}: )?(?:\W{0,3}View (?:run|project|\S+ at)|Find logs at: |You can sync this run|wandb sync "
    r"|Synced \d|\s*$)"
)
"""What Weights & Biases says when a process leaves, however it does."""
_NO_WORDS = deferred(r"\W*|\s*(?:[Cc]ommand (?:error|output)|std(?:err|out)):\s*")
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
NATIVE_FRAME = deferred(
    r"\s*frame #\d+: |Exception raised from \w+ at |(?:[^\n]{0,60}\.cc:\d+: )?\s*(?:PC: )?@ +0x[0-9a-f]{6,16} "
)
"""The stacks that torch prints below an error of its own, and signal handlers of C++."""
_TWO_WORDS = deferred(r"(?<![^\W\d_])[^\W\d_]{2,}[^\w\n]{1,8}(?:[\d.]{1,20}[^\w\n]{1,8})?\w{2}")


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
_SPEAKS = deferred(r"(?i)\s*(?:user|assistant|human)(?: ?\d+)? ?: *\S")
"""A line of a conversation: who speaks it is no part of the program, and what he says may be several lines long."""
_TURNS = 3
"""Lines that make a conversation."""
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
    own = _last_of_its_own(rows)
    alarming = (
        p.search(NONE_OF.sub("", _PLACES.sub("", text)))
        for number, text, _ in rows
        if number not in texts
        and not _RECORD.match(text)
        and not _HEADS_COLUMNS.fullmatch(text)
        and not (number < own and _OF_TRACKERS.match(text))
        and not harmless(text)
        and split_line(text)[0].level not in _SMALL_TALK
        for p in (ALARMS, STATES_AN_ERROR)
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


_ANNOUNCED_BY_NCCL = "Last error:"
"""What torch prints above NCCL's last warning, whether or not there was one."""


PYTHON_FRAME = deferred(r'(?:\[rank\d+\]: ?)?\s*File "[^"]+", line \d+')
"""Where in a program a traceback has come to; the line below it quotes the program's text."""


def alarms(block: Block, name: str, taken: Container[int]) -> Iterator[Evidence]:
    """Lines near the end with alarming words that no rule knows: reason not to call a log healthy."""
    lines = list(_last_lines(block))
    shown, leads = _texts(lines), leads_of(block)
    if lines and stands(lines[-1][1]):
        yield Evidence(name, lines[-1][0], safe(lines[-1][1]))
    frame, own = -1, _last_of_its_own(lines)
    for line, text, final in lines:
        prefix, message = split(leads, text)
        if PYTHON_FRAME.match(message):
            frame = line
        if line in taken or line in shown or _RECORD.match(text) or _HEADS_COLUMNS.fullmatch(text):
            continue
        if line < own and _OF_TRACKERS.match(text):
            continue
        if line == frame + 1 and message[:1] == " ":
            continue  # the program's text, quoted by a traceback
        if final and prefix.level not in {"info", "debug"} and GAVE_BACK.search(message):
            yield Evidence(name, line, safe(text))
            continue
        bare = _PLACES.sub("", text)
        if not ALARMS.search(NONE_OF.sub("", bare)) or harmless(bare):
            continue
        quiet = {"info", "debug"} if final else {"info", "debug", "warning"}
        if NATIVE_FRAME.match(message) or message.strip() == _ANNOUNCED_BY_NCCL:
            continue
        said = _QUOTED.sub('""', NONE_OF.sub("", message))
        if prefix.level not in quiet and ALARMS.search(said) and not message.rstrip().endswith(f"{HEADER}:"):
            yield Evidence(name, line, safe(text))


def _texts(lines: list[tuple[int, str, bool]]) -> set[int]:
    """Where a program shows a text, and where that goes on below it until the next line with a time of its own."""
    found: set[int] = _spoken(lines)
    below: list[int] = []
    within = False
    for number, text, _ in lines:
        asked = _ASKS.match(split_line(text)[1]) is not None
        if (asked or _QUOTES.match(text)) and not STATES_AN_ERROR.search(text):
            found.add(number)
        if _STAMPED.match(text):
            # what nothing stamped follows may be what ended the program
            found.update(below)
            below = []
            within = _SHOWS.match(split_line(text)[1]) is not None
        elif within:
            below.append(number)
    return found


def _spoken(lines: Sequence[tuple[int, str, bool]]) -> set[int]:
    """What is said in a conversation that a program shows, until something else is: a ruler, a time, an error."""
    if sum(_SPEAKS.match(text) is not None for _, text, _ in lines) < _TURNS:
        return set()
    found: set[int] = set()
    within = True  # of what was said above the lines that are looked at, somebody says the rest
    for number, text, _ in lines:
        within = _SPEAKS.match(text) is not None or (
            within
            and _WORDS.search(text) is not None
            and not _STAMPED.match(text)
            and not STATES_AN_ERROR.search(text)
        )
        if within:
            found.add(number)
    return found


_LEFT_OUT = deferred(r"(?:SKIPPED \[\d+\]|XFAIL|XPASS) \S")
"""Why a test was left out, or is known to fail."""


_OF_SERVICES = deferred(r".{0,60}\bsystemd\[\d+\]: (?:Start|Stopp|Reached|Finish|Listen|Mount|Creat)")
"""What the system's manager says of each service that it starts or stops, whatever becomes of it."""


def closing(block: Block, name: str, taken: Container[int]) -> Iterator[Evidence]:
    """The lines of a log as short as what people paste, whatever they say, that no rule knows."""
    if block.offset + len(block.data) > PASTED:
        return
    for line, text, _ in _last_lines(block):
        told = _LEFT_OUT.match(text) or _OF_SERVICES.match(text)
        if line not in taken and _TWO_WORDS.search(text) and not told:
            yield Evidence(name, line, safe(text))


def last_words(block: Block, name: str, taken: Container[int]) -> Iterator[Evidence]:
    """Lines near the end that state an error; ``taken`` holds the numbers of lines that a rule knows.

    A line that only announces an error says it on the next, and a text in a frame is read as one.
    """
    lines = list(_last_lines(block))
    reasons, shown = _reasons(lines), _texts(lines)
    frame = closing_frame(lines, taken)
    if frame is not None:
        begin, end = frame
        text = "\n".join(text for _, text, _ in lines[begin : end + 1])
        yield Evidence(name, lines[begin][0], safe(text))
        lines = lines[: begin - 1]
    named = max((i for i, (_, text, _) in enumerate(lines) if _is_named(text)), default=-1)
    own = _last_of_its_own(lines)
    for position, (line, text, final) in enumerate(lines):
        if line in taken or (line < own and _OF_TRACKERS.match(text)):
            continue
        prefix, message = split_line(text)
        if position < named and message[:1] == " " and position and _is_frame(lines[position - 1][1]):
            continue  # the program's text, quoted by a traceback that names its exception below
        message = message.strip()
        if (
            _RECORD.match(text)
            or line in shown
            or (IS_AN_EXCEPTION.match(message) is None and harmless(text))
        ):
            continue  # what an exception says may speak of a warning
        if message.endswith(f"{HEADER}:") or NATIVE_FRAME.match(message):
            continue  # what was raised is not said here
        loud = (
            prefix.level in {"error", "fatal"}
            or STATES_AN_ERROR.search(message) is not None
            or WARNED_OF_ITS_END.search(text) is not None
            or (prefix.level not in _QUIET and NAMES_TROUBLE.search(message) is not None)
            or (final and (NAMES_AN_EXCEPTION.search(message) is not None or tells_of_failure(message)))
            or position in reasons
        )
        if loud and message:
            following = lines[position + 1] if position + 1 < len(lines) else None
            if following is not None and following[0] not in taken and ANNOUNCES.fullmatch(message):
                text += "\n" + following[1]
            yield Evidence(name, line, safe(text))


def _last_of_its_own(lines: Sequence[tuple[int, str, bool]]) -> int:
    """The number of the last line that a program wrote, and not its tracker: whatever that lost, the program went on without."""
    return max((number for number, text, _ in lines if _OF_TRACKERS.match(text) is None), default=0)


_OF_TRACKERS = deferred(r"\s*(?:wandb|mlflow|comet(?:_ml)?|neptune|swanlab|clearml): ", re.IGNORECASE)
_PLACES = deferred(r"(?<![\w:])~?/(?:[\w.@+-]+/)+[\w@+-]+\.\w{1,5}\b")
"""Files, whose names say nothing of what befell anybody."""


_HEADS_COLUMNS = deferred(r"\s*\|(?:[^|\d\n]{1,40}\|){2,}\s*")


def _is_named(text: str) -> bool:
    """Whether a line names an exception, as the last one of a traceback does."""
    return IS_AN_EXCEPTION.match(split_line(text)[1]) is not None


def _is_frame(text: str) -> bool:
    """Whether a line tells where in a program a traceback has come to."""
    return PYTHON_FRAME.match(split_line(text)[1]) is not None


def _reasons(lines: list[tuple[int, str, bool]]) -> set[int]:
    """Where the last thing stands that was said before somebody had MPI end the job, or an end was reported, if it refuses something."""
    found = set()
    reported = next((at for at, (_, text, _) in enumerate(lines) if REPORTS_AN_END.search(text)), -1)
    for position, (_, text, _) in enumerate(lines):
        if position != reported and ENDS_THE_JOB.search(text) is None:
            continue
        before = position - 1
        while before >= 0 and _NO_WORDS.fullmatch(lines[before][1]):
            before -= 1
        if before >= 0 and REFUSES.search(lines[before][1]):
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


def last_rows(block: Block, size: int) -> list[tuple[int, bytes]]:
    """Number and bytes of the lines in the last ``size`` bytes of a block that are not blank."""
    return [(number, raw) for number, _, raw in rows_at_the_end(block, size) if raw.strip()]


def rows_at_the_end(block: Block, size: int) -> list[tuple[int, int, bytes]]:
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
