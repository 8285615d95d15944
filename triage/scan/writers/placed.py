"""What a line says whose writer is named by a place that all lines have, or by a host and a number on it."""

from __future__ import annotations

from triage.model import Leads, Level, Prefix, Slot
from triage.scan.lazy import deferred
from triage.scan.prefix import prefix_length, split_line
from triage.scan.prefixes.draft import LEVELS
from triage.scan.prefixes.headed import level_in
from triage.scan.writers.seated import seat_of
from triage.scan.writers.slots import named_by

_STAMPED = deferred(r"\[?\d{1,4}[-/:]")


def level_before(line: str, end: int) -> Level | None:
    """The level that a logger put before the message at ``end`` of a line, in a layout of its own."""
    word = level_in(line[:end] + "-", 0, stamped=_STAMPED.match(line) is not None)
    if word is None and (letter := _LETTER_BEFORE.search(line, 0, end)) is not None:
        word = (letter[1] or letter[2]).upper()
    return LEVELS.get(word) if word is not None else None


_LETTER_BEFORE = deferred(r"(?:(?<=[\d\] |]) ?([DIWEF]) (?=[\[(<{])|(?:\A|[\s\[(|])([DIWEFdiwef])(?=[\])|]))")
"""A level by its first letter, between a time and the name of a writer."""


def sat(inner: Prefix, host: str, number: int) -> Prefix:
    """``inner`` of a process that is given by its host, or the number of it, and its own number there."""
    stream = f"seat {host}:{number}"
    return inner._replace(
        host=inner.host or (None if host.isdecimal() else host),
        labels=(("NODE", int(host)), ("LOCAL", number)) if host.isdecimal() else inner.labels,
        local_rank=number if inner.local_rank is None else inner.local_rank,
        stream=f"{stream}/{inner.stream}" if inner.stream else stream,
    )


def in_slot(leads: Leads, slot: Slot, line: str) -> tuple[Prefix, str]:
    """The prefix with the name that stands at the place where all lines have one, and what is said behind it."""
    outer, message = split_line(line)
    own = named_by(slot, line)
    if own is None or outer.rank is not None:
        return outer, message
    name, end = own
    inner = Prefix()
    if slot.first >= 0 and line[:1] != "{" and not slot.key:
        end += len(line) - end - len(line[end:].lstrip(_CLOSES))
        inner, message = split_line(line[end:])
        letter = _LETTER.match(message) if slot.lettered else None
        if letter is not None and inner.level is None:
            inner, message = inner._replace(level=LEVELS[letter[1]]), message[letter.end() :]
    elif slot.first < 0:
        # what stands behind the words is none of them
        before = line[: end - len(name)].rstrip()
        around = next((text for text in slot.before if text and before.endswith(text)), "")
        message = before.removesuffix(around).rstrip(" ([{<|@#-")[outer.length :]
    level = outer.level or level_before(line, end) or inner.level
    found = outer._replace(level=level, time=outer.time or inner.time, length=prefix_length(line, message), stamped=True, recorded=True,
        logger=outer.logger or inner.logger,
    )  # fmt: skip
    seat = seat_of(name) if leads.seated else None
    if seat is not None:
        return sat(found, *seat), message
    pid = _LAST_NUMBER.search(name) if slot.processes else None
    if pid is not None and outer.pid is None:
        found = found._replace(pid=int(pid[0]))
    writer = "own " + name.replace("/", ":")
    around = outer.stream if outer.stream != name and not outer.stream.startswith("pid ") else ""
    return found._replace(stream=f"{writer}/{around}" if around else writer), message


_CLOSES = "]})>|:;,\"' \t"
"""What may stand between a name and what is said."""
_LETTER = deferred(r"([DIWEF]) (?=\S)")
_LAST_NUMBER = deferred(r"\d+\Z")
