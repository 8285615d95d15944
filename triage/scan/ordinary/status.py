"""The exit status with which a script that ran the job closes its log: ``rc=0``, ``train.py exited with 1``, ``all done``.

A zero is worth little right below an error: the pipe of a shell hides the status of all but its last command.
What a script adds below its status, the time and where its files are, takes nothing from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triage.model import Block, Evidence, Finding, Source
from triage.scan.closing.outcome import tells_of_failure
from triage.scan.closing.wordings import speaks_of_trouble
from triage.scan.lazy import deferred
from triage.scan.ordinary.errors_above import unanswered_above
from triage.scan.ordinary.said import without_digits
from triage.scan.prefix import clean, split_line
from triage.text import safe
from triage.text.signals import SIGNALS

WELL, BADLY = "progress.status-zero", "host.exit-status"
_LONGEST = 400
_STATUS = deferred(
    r"(?!.*\b(?:errors?|fail\w*|warn\w*)\b)(?:\[[\w.-]{1,20}\]:? +|[=#*+>-]{1,8} +)?"
    # as date prints it, in C and in other locales
    r"(?:(?:[A-Z][a-z]{2},? +){1,2}\d{1,2} (?:(?:[A-Z][a-z]{2} )?\d{4} )?\d\d:\d\d:\d\d(?: [AP]M)?(?: [A-Z]{2,5})?(?: \d{4})?[:,]? +)?"
    r"\W{0,3}(?:'?[\w./+-]{1,40}'?:?[ ]){0,4}?"
    r"(?:rc|ret|(?:exit|return)[ _]?(?:code|status|value)|exit(?:ed|s)?|returned|status"
    r"|(?:finished|ended|terminated|completed|done)[ ](?=with\b)"
    r"|(?:mpirun|mpiexec|srun|torchrun|deepspeed|[\w-]{1,40}\.(?:py|sh))(?=:? *\d))"
    r"(?:[ ]?(?:with|code|status|value|rc))*[ ]?[:=]?[ ]*(?P<status>-?\d{1,10})"
    r"(?: \((?:0x[0-9A-Fa-f]{8}|interrupted by signal \d+(?:: ?\w+)?)\))?\W?",
    re.IGNORECASE,
    needs=(
        "rc", "ret", "exit", "return", "status", "finished ", "ended ", "terminated ", "completed ", "done ",
        "mpirun", "mpiexec", "srun", "deepspeed", ".py", ".sh",
    ),
)  # fmt: skip
_EVENT = deferred(
    r"\{(?=.*\"(?:event|type|kind|msg|message|phase|stage)\": ?\"[^\"]*(?:end|exit|finish|done|stop|complet|final)[^\"]*\")"
    r"(?:(?=.*\"(?:exit_?code|return_?code|rc)\": ?(?P<status>-?\d{1,3})\b)|(?=.*\"(?:status|state|outcome|result)\": ?"
    r"\"(?:failed|failure|error|crashed|killed|aborted)\")).*\}",
    re.IGNORECASE,
    needs=("{",),
)
"""The last of the events that a program writes as JSON, where it tells how all ended."""
_WORDS = deferred(
    r"(?!.*\b(?:errors?|fail\w*|warn\w*|abort\w*|kill\w*|not|but|worker|child|actor|shard|task)\b)(?:[^\n]{0,60}[\s|\]:])?"
    r"(?:(?:all|everything|training|finetuning|pretraining|run|job|evaluation|eval|benchmark|bench|sweep|work|script|experiment"
    r"|program|inference)(?: run)? (?:is |are |was |has |have )?(?:now )?(?:completed?|finished|done|succeeded)"
    r"(?:, exiting|[,;:] (?:the )?(?:results?|outputs?|metrics|scores?|model|checkpoint|weights|report|logs?)\b[^\n]{0,60}[\w/])?"
    r"|(?:reached|hit) max[_ ]?(?:steps|epochs|iter\w*),? (?:finishing|stopping|exiting|done)"
    r"|max[_ ]?(?:steps|epochs|iter\w*) reached,? (?:finishing|stopping|exiting|done)"
    r"|(?:done|finished),? (?:exit|status|rc)[ =:]{0,2}(?:code )?0|finished all (?:steps|epochs|batches|work)"
    r"|shutting down cleanly|# All processes entering MPI_Finalize)[.!]{0,3}",
    re.IGNORECASE,
    needs=("complete", "finish", "done", "succeeded", "stopping", "exiting", "cleanly", "mpi_finalize"),
)
"""How programs say last of all that they have done what they were to do."""
_PRODUCT = deferred(
    r"(?!.*\b(?:errors?|fail\w*|warn\w*|abort\w*|kill\w*|cannot|could not|couldn't|without|partial\w*|incomplete|interrupt\w*|emergency)\b)"
    # what is written every so often is the work, not its end
    r"(?!(?!.*\b(?:final|finished|complete[d]?|best|all)\b).*\b(?:checkpoint|ckpt|step|epoch|iter\w*|part|chunk|block|batch|round|snapshot|rank)\b)"
    r"(?:[^\n]{0,200}[\s;,:|])?(?:[\w./-]{1,80}\.(?:json|jsonl|csv|tsv|npz|npy|pt|pth|bin|safetensors|parquet|html|md|txt|yaml|yml|h5|pkl|gz|zip|tar|onnx|gguf|png|pdf)"
    r"|model|weights|reports?|results?|index|summary|metrics|predictions|submission|tally|outputs?|adapter|params|parameters|scores)"
    r" (?:was |were |is |are |has been |have been )?(?:written|saved|exported|uploaded|stored|published)"
    r"(?: (?:to|as|in|at|under|into) [\w./:-]{1,120})?(?:[,;] (?:all )?(?:done|bye|exiting|closing))?[.!]{0,3}",
    re.IGNORECASE,
    needs=("written", "saved", "exported", "uploaded", "stored", "published"),
)
"""How programs say last of all where that is which all was done for."""
_IN_ORDER = deferred(
    r"(?!.*\b(?:errors?|fail\w*|fatal|lost|timed? out|not)\b)"
    r"(?:[^\n]{0,120}[\s\"=:])?(?:(?:all [\w -]{2,40} )?(?:stopped|closed|drained|shut down) (?:in order|cleanly|gracefully|in time)"
    r"|drain complete[d]?(?: in time)?)(?:, (?:bye|good ?bye|exiting))?[.!\"]{0,3}",
    re.IGNORECASE,
    needs=("in order", "cleanly", "gracefully", "in time", "drain complete"),
)
"""How a service says last of all that it was closed as was intended."""
_TALLY = deferred(r"\{[^\n]*\"(?:\w+_)?(?:errors?|failures?|failed)\": ?0\b[^\n]*\}", needs=("{",))
"""The last line of a program whose tally has no errors of its own."""
_FOOTER = deferred(
    r"[\W_]*|(?:\[[\w.-]{1,20}\]:? +)?(?:[=#*_-]{3,}|(?:end|finish(?:ed)?|stop(?:ped)?|complet(?:ed|ion)|elapsed|duration|wall|real|user"
    r"|sys|run ?time|total|time|date)\b[ \w()]{0,20}[:=\t ] ?.*\d.*|[\w ]{2,30}: */\S*|(?:log|output)(?: \w+)?:"
    r"|(?:[A-Z][a-z]{2},? +){1,2}\d{1,2} .{0,8}\d\d:\d\d:\d\d.{0,16})",
    re.IGNORECASE,
)
"""What is said below a status: rulers, times, the places of files."""
_MOST_FOOTERS = 10
_MOST = 255
_MOST_SIGNALS = 64
_ABNORMAL = range(3 << 30, (3 << 30) + (1 << 20))
"""Statuses that Windows gives to what it ended, 0xC0000000 and above; many programs print them signed."""
_UNSIGNED = 1 << 32
_KILLED = 128
"""What shells add to the number of the signal that a program died of."""


def closing_status(block: Block, source: Source, index: int) -> Iterator[Finding]:
    """The status that the last line of a log states, in a number or in words, where it is nothing else than that."""
    data = block.data.rstrip()
    end = len(data)
    for _ in range(_MOST_FOOTERS):
        start = data.rfind(b"\n", 0, end) + 1
        if not data or end - start > _LONGEST:
            return
        text = data[start:end].decode("utf-8", "replace").rstrip()
        prefix, message = split_line(text)
        found = _STATUS.fullmatch(message.strip()) or _EVENT.fullmatch(text.strip())
        words = _in_words(text) if found is None else None
        if found is not None or words is not None:
            break
        if not start or not _FOOTER.fullmatch(message.strip()):
            return
        end = start - 1
    else:
        return
    status = 0 if found is None else int(found["status"] or 1)
    if not -_MOST_SIGNALS <= status <= _MOST and status % _UNSIGNED not in _ABNORMAL:
        return
    if not status and _another_ended_badly(data[:start], text):
        return
    rows = data[max(0, start - _SIBLINGS) : start].decode("utf-8", "replace").splitlines()
    rows = [row for row in rows if row.strip()]
    unanswered = unanswered_above(rows)
    if words is not None and unanswered is not None:
        return
    above = rows[-1].rstrip() if rows else ""
    number, offset = block.line + data.count(b"\n", 0, start), block.offset + start
    harmless = _in_passing(above) or WANTED.search(above) is not None
    direct = speaks_of_trouble(above) and not harmless
    error = above if direct else unanswered
    trouble = None if error is None else without_digits(error.rstrip())
    rank = prefix.rank if prefix.rank is not None else source.rank
    signal = SIGNALS.get(-status if status < 0 else status - _KILLED)
    yield Finding(
        rule_id=BADLY if status else WELL,
        fields={"exit_code": status, "signal": signal} if status else {"_below": trouble, "_direct": direct, "_words": words is not None},
        evidence=(Evidence(source.name, number, safe(text)),), source=index, offset=offset,
        rank=rank, host=prefix.host or source.host, time=prefix.time, stream=prefix.stream,
    )  # fmt: skip


WANTED = deferred(r"(?i)\b(?:as )?(?:expected|intended|planned|requested|asked|wanted)\)?\W*$")
"""What is said of an end that was meant."""


def _in_passing(text: str) -> bool:
    """Whether a logger says something at a level that is not that of errors: a tally of what failed is none."""
    prefix, message = split_line(text)
    quiet = prefix.level in {"info", "debug"} or _QUIET_RECORD.match(text) is not None
    return prefix.level == "warning" or (quiet and not tells_of_failure(message))


_QUIET_RECORD = deferred(
    r"\{(?=.*\"(?:level|levelname|severity|lvl)\": ?\"(?:info|debug|warn(?:ing)?)\").*\}\s*$", re.IGNORECASE
)


def _in_words(text: str) -> re.Match[str] | None:
    """The words by which a line says that all has come to a good end, None without."""
    said = clean(text).strip()
    found = (pattern.fullmatch(said) for pattern in (_WORDS, _PRODUCT, _IN_ORDER, _TALLY))
    return next((match for match in found if match is not None), None)


def _another_ended_badly(data: bytes, text: str) -> bool:
    """Whether a line above says of another child of the same parent what ``text`` says of one, and that it did not end well.

    ``run.sh: part 6 exit 1``, and below it ``run.sh: part 7 exit 0``.
    """
    wording, numbers = without_digits(text), _NUMBERS.findall(text)
    if len(numbers) < _CHILD_AND_STATUS:
        return False
    return any(
        without_digits(line) == wording and int((_NUMBERS.findall(line) or ["0"])[-1])
        for line in data[-_SIBLINGS:].decode("utf-8", "replace").splitlines()
    )


_NUMBERS = deferred(r"\d+")
_CHILD_AND_STATUS = 2
_SIBLINGS = 16 << 10
"""Bytes above a status in which others of its kind are looked for."""
