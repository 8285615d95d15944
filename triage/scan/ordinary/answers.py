"""Whether a server answers nothing but errors to the end of its log: it is up, and what did its work is not.

Its access log calls each of them an ordinary line. One that closes refuses what still comes, and one that is too busy
refuses some of many: neither has failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines

ANSWERS = "unknown.answers-with-errors"
FEWEST = 8
"""Requests, one after the other to the end, that were answered with an error."""
_ANSWER = deferred(
    r"\"(?P<call>GET|POST|PUT|PATCH|DELETE|HEAD) (?P<path>/[^\s\"?]*)[^\"\n]*\"[ :]{1,3}(?:status[= :]{0,3})?(?P<code>[1-5]\d\d)\b"
)
"""How web servers log a request and the status of its answer."""
_ASIDE = deferred(
    r"/(?:|(?:[\w.-]+/)*(?:health\w*|ping|metrics|ready\w*|live(?:z|ness)?|startup\w*|status)|version|docs|favicon\.ico|v1/models"
    r"|get_model_info)/?\Z"
)
"""What is asked of a server beside its work, and answered by others than those who do that."""
_CLOSES = deferred(
    r"(?i)\b(?:shut(?:ting)? ?down|drain\w*|lame[- ]?duck\w*|quiesc\w+|no (?:new|more) requests|SIG(?:TERM|INT)|stopping"
    r"|handling signal)\b"
)
_OPENS = deferred(
    r"(?i)^(?!.*\b(?:not|never|no|fail\w*|waiting|until|un\w+)\b)"
    r".*\b(?:warm-?(?:ed)?[ -]?up (?:is |has |now )*(?:done|finish\w*|complete\w*|over)"
    r"|(?:accepting|ready (?:for|to (?:accept|serve|take|answer))) (?:\w+ )?(?:requests|traffic|connections)|startup complete"
    r"|(?:server|model|engine|backend|weights|application) (?:\S{1,40} )?(?:is |has |are |now )*(?:ready|loaded|warm|started))\b"
)
"""How it is said that a start is over, whose requests could not be answered yet."""
_OF_CLIENTS, _OF_SERVERS = 400, 500
"""Codes from which on a client is at fault, and the server itself."""


def only_errors(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The first and the last of the answers that are errors, to the end of a log, where there are many and none is another."""
    for index, block in sorted(tails.items()):
        if b'" 50' not in block.data and b'"status' not in block.data and b'": 50' not in block.data:
            continue
        run: list[tuple[Said, str]] = []
        closes = False
        for line in whole_lines(block, sources[index], index):
            found = _ANSWER.search(line.text)
            if found is None:
                closes |= _CLOSES.search(line.message) is not None
                if _OPENS.search(line.message) is not None:
                    run, closes = [], False
                continue
            if _ASIDE.match(found["path"]):
                continue
            code = int(found["code"])
            if code >= _OF_SERVERS:
                if not closes:
                    run.append((line, found["code"]))
            elif code < _OF_CLIENTS:
                run, closes = [], False
        if len(run) >= FEWEST:
            first, last = run[0][0], run[-1][0]
            fields = {"times": len(run), "code": int(run[-1][1])}
            return finding_of(ANSWERS, first, sources, fields, last=last)
    return None
