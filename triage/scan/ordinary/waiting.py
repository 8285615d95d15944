"""Whether the end of a log tells again and again that somebody waits, or a count that no longer moves.

A server without requests waits too, and who beats a heart counts nothing: what is awaited must be of the work itself.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from triage.model import Block, Finding, Source, Value
from triage.scan.counting import numbers_of, shape_of, without_stamps
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines, window_of

WAITS = "unknown.waits-to-the-end"
FEWEST_OTHERS = 2
"""Logs that end in waiting where one does not."""
NO_ROW = "nccl.tests-without-a-row"
_HEADER = re.compile(rb"\n#\s+\(B\)\s+\(elements\)[^\n]*\n(?:[^\n]*NCCL INFO[^\n]*\n|\s*\n)*\Z")
"""The head of the table of nccl-tests, with nothing but what NCCL says of itself below."""
FEWEST = 10
"""Lines of one wording, to the end of a log, in which nothing has changed."""
_WAITS = deferred(
    r"(?i)\b(?:wait(?:s|ing|ed)\b(?!\W{0,3}\d)(?! (?:for|on) (?:an? |the |more |in-?flight )?"
    r"(?:incoming |client |user |http |in-?flight |pending )?"
    r"(?:requests?|connections?|jobs?|tasks?|work\b|input|new|next|clients?|messages?|events?|commands?|quer(?:y|ies)|prompts?"
    r"|application|triggers?|users?|files? to|\w+ to (?:finish|complete|exit|drain|terminate)))"
    r"|not (?:yet )?(?:ready|joined|arrived|scheduled|registered|available|connected|present|reported|in the group)\b"
    r"|cannot be scheduled\b|unschedulable\b"
    r"|no (?:progress|batch(?:es)?|answer|response|reply|heartbeat|new step)\b|stuck\b|stalled\b|blocked (?:on|in|for)\b)"
    r"|\bpending[=: ]{1,2}[1-9]|\bbarrier\b.{0,60}\b\d+ (?:of|/) \d+"
    r"|等待(?!新|请求|任务|连接|输入)|尚未(?:就绪|加入|连接)|待機中|대기 중|\bожида\w+"
)
"""What somebody says who waits for what the work needs."""
_IDLE_ENGINE = deferred(
    r"(?i)\b(?:gen(?:eration)? throughput)\b[^\n]{0,20}\b0\.0+\b[^\n]{0,40}\brunning\b[^\n\d]{0,8}[1-9]"
)
"""How an engine says that it makes nothing of the requests that it has."""
_HEALTH = deferred(r"\"GET /(?:health\w*|ping)\b[^\n]*\" 200\b")
_BUSY = deferred(
    r"(?i)#?running(?:-req)?s?\b[^\n\d]{0,8}[1-9]\d*\b[^\n]{0,200}\bthroughput\b"
    r"|\bthroughput\b[^\n]{0,120}\brunning\b[^\n\d]{0,8}[1-9]"
)
"""How an engine says that it is at work on requests."""
FEWEST_ASKED = 12
"""Times that its health is asked for while it says nothing any more."""
_BEATS = deferred(
    r"(?i)\b(?:alive|heart-?beat\w*|monitor\w*|status|watch\w*|progress|still (?:at|on|in|running))\b.*?"
    r"\b(?:steps?|iter(?:ation)?s?|it|batch(?:es)?|epoch|done|processed|completed|seen)\b[\"']?[ :=#]{0,3}\d"
)
"""How somebody says from time to time how far the work has come."""
_COUNTS = deferred(
    r"(?i)\b(?:global_?)?(?:steps?|iter(?:ation)?s?|rounds?|updates?|batch(?:es)?)[\"']?[ :=#]{0,3}\d"
    r"|(?<![\d/.:-])(\d+) ?(?:/|of|out of) ?(\d+)\b(?![/:.-]| +\d\d:\d\d)"
    r"(?![^\n]{0,20}\b(?:busy|slots?|in use|used|active|idle|free|requests?|running)\b)"
    r"|\b(?:still|empty, sleeping)\b"
)
"""A count of work, or how much of it is done."""
_CLOCK = re.compile(r"(?<!\d)\d\d:\d\d:\d\d(?!\d)|\(?\b\d+ ?(?:s|sec|min|h)\b")
FEWEST_TIMES = 8
"""Different times at which the same is said: several processes say it together, too."""
_ASIDE = deferred(
    r"\W*$|.*\"(?:GET|HEAD) /(?:health\w*|ping|metrics|ready|live\w*|v1/models)\b"
    r"|(?i:.*\b(?:util\w*|temp\w*|power)\b[^\n]{0,20}\d+ ?(?:%|C\b|W\b))"
)
"""What is also written where nothing moves."""
_LASTED = deferred(
    r"(?i)\b(?:for|after|since|elapsed|waited)?[ :=(+]{0,3}\d[\d.]* ?(?:s|secs?|seconds?|m|min\w*|h|hours?|ms)\b|\+?\d+m\d+s|\battempt \d+"
)
_ENDED = deferred(r"(?i)\b(?:done|finished|completed|exiting|shut(?:ting)? ?down|cancel\w*|interrupt\w*)\b")


@dataclass(slots=True, eq=False, repr=False)
class _Run:
    """The lines at the end of one log of which none tells of anything new."""

    lines: list[Said]
    above: list[Said]


def waiting(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last of the lines in which somebody waits to the end of a log, from the first of them on.

    Where all logs but one end so, that one is told.
    """
    found: dict[int, Finding] = {}
    for index, block in sorted(tails.items()):
        told = _waiting(block, sources[index], index, sources, window_of(len(tails)))
        if told is not None:
            found[index] = told
    if not found:
        return None
    first = found[min(found)]
    others = set(tails) - set(found)
    if len(others) != 1 or len(found) < FEWEST_OTHERS:
        return first
    odd = others.pop()
    return replace(first, rank=sources[odd].rank)


def _waiting(
    block: Block, source: Source, index: int, sources: Sequence[Source], window: int
) -> Finding | None:
    if _HEADER.search(block.data[-window:]) is not None:
        return _without_a_row(block, source, index, sources)
    if not _may_wait(block):
        return None
    lines = [line for line in whole_lines(block, source, index, window) if line.text.strip()]
    standing = _fell_silent(lines) or next(_standing(_run(lines)), [])
    if not standing:
        return None
    silent = _HEALTH.search(standing[-1].text) is not None
    last = standing[0 if silent else -1]
    fields: dict[str, Value] = {"words": " ".join(last.message.split())[:160], "times": len(standing)}
    return finding_of(WAITS, standing[0], sources, fields, last=standing[-1])


def _without_a_row(block: Block, source: Source, index: int, sources: Sequence[Source]) -> Finding:
    """The last line of a benchmark that has written the head of its table and nothing below it."""
    lines = [line for line in whole_lines(block, source, index) if line.text.strip()]
    up = next((line for line in reversed(lines) if "Init COMPLETE" in line.text), lines[-1])
    return finding_of(NO_ROW, up, sources, {}, last=lines[-1])


def _fell_silent(lines: list[Said]) -> list[Said]:
    """The last state of an engine that had requests, and the answers about its health since, of which there are many."""
    at = len(lines)
    while at > 0 and _HEALTH.search(lines[at - 1].text) is not None:
        at -= 1
    if len(lines) - at < FEWEST_ASKED or not at or _BUSY.search(lines[at - 1].text) is None:
        return []
    return [lines[at - 1], lines[-1]]


def _may_wait(block: Block) -> bool:
    """Whether one of the very last lines is of the kind: most logs are told by them."""
    for raw in block.data[-2048:].split(b"\n")[-8:]:
        text = raw.decode("utf-8", "replace")
        if _kind(text) not in {"", "aside"} or _HEALTH.search(text) is not None:
            return True
    return False


def _kind(text: str) -> str:
    if _IDLE_ENGINE.search(text):
        return "engine"
    if _ASIDE.match(text):
        return "aside"
    if _ENDED.search(text):
        return ""
    if _WAITS.search(text):
        return "waits"
    if _BEATS.search(text):
        return "beats"
    return "counts" if "%|" not in text and _COUNTS.search(text) else ""


def _run(lines: list[Said]) -> _Run:
    at = len(lines)
    while at > 0 and _kind(lines[at - 1].text):
        at -= 1
    return _Run([line for line in lines[at:] if _kind(line.text) != "aside"], lines[:at])


def _standing(run: _Run) -> Iterator[list[Said]]:
    """The lines of each statement that is made to the end and tells of nothing new, the most telling first."""
    groups: dict[tuple[str | None, str], list[tuple[Said, list[float]]]] = defaultdict(list)
    for line in run.lines:
        # of a record, the event alone is no count
        said = _LASTED.sub("", without_stamps(line.text if line.text.startswith("{") else line.message))
        groups[line.writer, shape_of(said)].append((line, numbers_of(said)))
    for told in groups.values():
        last = told[-1][1]
        kind = _kind(told[-1][0].text)
        same = [line for line, numbers in told if numbers == last or kind == "engine"]
        tail = same if len(same) == len(told) else _from_the_last_change(told)
        if len(tail) < FEWEST or any(
            _moves(other, tail[0].offset) for other in groups.values() if other is not told
        ):
            continue
        alone = len(tail) == len(told) and not run.above and len(groups) == 1
        if kind in {"beats", "counts"} and alone:
            continue  # nothing had moved before
        if kind != "counts" or len({tuple(_CLOCK.findall(line.text)) for line in tail}) >= FEWEST_TIMES:
            yield tail


def _moves(told: list[tuple[Said, list[float]]], since: int) -> bool:
    """Whether somebody says the same with other numbers since: he is at work."""
    new = [numbers for line, numbers in told if line.offset > since]
    engine = bool(told) and _kind(told[-1][0].text) == "engine"
    return not engine and any(one != two for one, two in pairwise(new))


def _from_the_last_change(told: list[tuple[Said, list[float]]]) -> list[Said]:
    last = told[-1][1]
    at = len(told)
    while at > 0 and told[at - 1][1] == last:
        at -= 1
    return [line for line, _ in told[at:]]
