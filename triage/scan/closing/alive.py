"""Signs of life near the end of a log: who still logs in an ordinary way."""

from __future__ import annotations

from collections.abc import Iterator

from triage.model import Block, Evidence, Finding, Prefix, Source
from triage.scan.closing.outcome import tells_of_failure
from triage.scan.closing.tail import NATIVE_FRAME, PYTHON_FRAME, TAIL, rows_at_the_end
from triage.scan.closing.wordings import ANSWERS_WITH_AN_ERROR, HANDS_OVER, SAYS_GOODBYE
from triage.scan.lazy import deferred
from triage.scan.writers.leads import leads_of, split
from triage.text import safe

MAX_SIGNS = 300
_OF_NCCL = "NCCL INFO"
"""What the threads of a communicator say, when it comes to its end too; not what the program does."""
_LEAD = 100
"""Characters within which they begin."""
ALIVE_RULE = "progress.alive"
_BYE = deferred(r"(?i)\W*(?:good ?)?bye\W*")


def last_signs_of_life(block: Block, source: Source, index: int) -> Iterator[Finding]:
    """For each writer near the end of a source, its last line of level info or debug.

    Who still logs in an ordinary way after an error has got over it; who does so after others timed
    out was working all the while.
    """
    seen: dict[str, tuple[int, int, str, Prefix]] = {}
    byes: set[str] = set()
    leads = leads_of(block)
    for number, offset, raw in reversed(rows_at_the_end(block, 4 * TAIL)[-MAX_SIGNS:]):
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
        if prefix.stream in seen and prefix.stream not in byes:
            continue
        plain = prefix.level in {"info", "debug"} or (saves and HANDS_OVER.search(message) is not None)
        if not plain or not message.strip() or _OF_NCCL in text[: _LEAD + len(_OF_NCCL)]:
            continue
        if any(p.match(message) for p in (PYTHON_FRAME, NATIVE_FRAME, _OF_A_CRASH, _IS_FATAL)):
            continue  # a collector of lines calls each of a crash's report an ordinary one
        leaves = SAYS_GOODBYE.search(message) is not None
        if prefix.stream in byes:
            byes.remove(prefix.stream)
            if leaves:  # above its last word it says what it leaves for
                del seen[prefix.stream]
        elif not leaves and not ANSWERS_WITH_AN_ERROR.search(message) and not tells_of_failure(message):
            seen[prefix.stream] = (number, offset, text, prefix)
            if _BYE.fullmatch(message):
                byes.add(prefix.stream)
    for number, offset, text, prefix in sorted(seen.values(), key=lambda sign: sign[1]):
        yield Finding(
            rule_id=ALIVE_RULE, fields={}, evidence=(Evidence(source.name, number, safe(text)),),
            source=index, offset=offset,
            rank=prefix.rank if prefix.rank is not None else source.rank,
            local_rank=prefix.local_rank if prefix.local_rank is not None else source.local_rank,
            host=prefix.host or source.host, pid=prefix.pid, time=prefix.time, level=prefix.level,
            stream=prefix.stream,
        )  # fmt: skip


_OF_A_CRASH = deferred(
    r"(?:Current )?[Tt]hread 0x[0-9a-f]+ .{0,60}\(most recent call first\)|Extension modules: |Fatal Python error: "
)
"""What the interpreter prints of itself when it dies of a signal."""
_IS_FATAL = deferred(r"(?i)\W{0,3}(?:[\w./-]{1,30}: )?(?:fatal(?: error)?|panic|unrecoverable error) ?:\s")
"""How programs begin the last thing that they say, whatever a collector calls its lines."""
