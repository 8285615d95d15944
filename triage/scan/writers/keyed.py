"""Values that a structured logger gives with every line, behind the words too: ``… worker=2 level=info``, ``node=b3 local_rank=1``.

By one line ``rank=3`` may be anybody's; a logger that binds it to its process writes it on nearly all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from triage.scan.lazy import deferred
from triage.scan.writers.seated import on_hosts

FEWEST = 8
"""Lines by which it can be told."""
MOST = 0.6
"""Part of the lines that have it."""
_NUMBER = r"[\"']?[=:] ?[\"']?(\d{1,5})(?![\w.]*\d)"
_WORD = r"[\"']?[=:] ?[\"']?([\w.-]{1,120})"
_RANK = deferred(r"(?<![\w.-])((?:global_|world_|mpi_|dist_)?rank|rk)" + _NUMBER)
_PROCESS = deferred(
    r"(?<![\w.-])(worker(?:_id|_index)?|proc(?:ess)?(?:_id|_index|_rank)?|replica(?:_id)?|trainer|member|pe)"
    + _NUMBER
)
_LOCAL = deferred(
    r"(?<![\w.-])(local_?(?:rank|id|index|process)|local|slot|gpu(?:_id|_index)?|device(?:_id|_index)?)"
    + _NUMBER
)
_PID = deferred(r"(?i)(?<![\w.-])(pid)[\"']?[ =:]{1,2}[\"']?(\d{2,8})(?!\w)")
_LOGGED = deferred(r"[^\n\[]{0,40}?(?<![\w./-])[a-z][\w.-]{0,60}\[(\d{2,8})\](?::| )")
"""``host[pid]``, as system loggers write it."""
_HOST = deferred(
    r"(?<![\w.-])(host(?:_?name)?|node(?:_?name|_rank|_id)?|group_rank|machine(?:_rank)?|server)" + _WORD
)
_RANK_WORDS = ("rank", "rk")
_PROCESS_WORDS = ("worker", "proc", "replica", "trainer", "member", "pe")
_LOCAL_WORDS = ("local", "slot", "gpu", "device")
_HOST_WORDS = ("host", "node", "group_rank", "machine", "server")
_LEAP = r"[^\n]{0,400}?(?<![\w.-])"


def keyed(lines: Sequence[str]) -> re.Pattern[str] | None:
    """What matches a line up to its process' number, its last group, where it stands under a name; of two the first is its host."""
    if len(lines) < FEWEST:
        return None
    for names, words in ((_RANK, _RANK_WORDS), (_PROCESS, _PROCESS_WORDS)):
        name, values = _usual(names, lines, words)
        if name is not None and (_come_again(values) if names is _RANK else _all_of_them(values)):
            return re.compile(f"{_LEAP}{re.escape(name)}{_NUMBER}")
    name, _ = _usual(_LOCAL, lines, _LOCAL_WORDS)
    host, hosts = (None, []) if name is None else _usual(_HOST, lines, _HOST_WORDS)
    if name is None or host is None:
        return None
    seats = [
        (of.group(2), int(number.group(2)))
        for line in lines
        if (of := _HOST.search(line)) is not None and (number := _LOCAL.search(line)) is not None
    ]
    if not seats or not (on_hosts(seats) or len(set(hosts)) == 1):
        return None
    return re.compile(f"(?={_LEAP}{re.escape(host)}{_WORD}){_LEAP}{re.escape(name)}{_NUMBER}")


def pids(lines: Sequence[str]) -> re.Pattern[str] | None:
    """What matches a line up to the pid of its process, which nearly all of them give."""
    if len(lines) < FEWEST:
        return None
    logged = [found[1] for found in _in_most(_LOGGED.match, lines, ("]:", "] "))]
    if len(logged) >= MOST * len(lines) and len(set(logged)) > 1 and _come_again(logged):
        return re.compile(_LOGGED.pattern)
    name, values = _usual(_PID, lines, ("pid", "PID", "Pid"))
    if name is None or len(set(values)) < 2 or 2 * len(set(values)) > len(values) + 1:
        return None
    return re.compile(f"{_LEAP}{name}" + r"[\"']?[ =:]{1,2}[\"']?(\d{2,8})(?!\w)")


def _usual(
    names: re.Pattern[str], lines: Sequence[str], words: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The name of those that most lines have, and its values; each has one of the ``words`` in it."""
    found = _in_most(names.search, lines, words)
    if not found:
        return None, []
    ((name, times), *_) = Counter(match[1] for match in found).most_common()
    return (
        (name, [match[2] for match in found if match[1] == name])
        if times >= MOST * len(lines)
        else (None, [])
    )


def _in_most(
    look: Callable[[str], re.Match[str] | None], lines: Sequence[str], words: Sequence[str]
) -> list[re.Match[str]]:
    """What is found in lines, if it is in most of them; nothing as soon as it can't be.

    It is not looked for in lines without any of the ``words``: to search for a pattern takes long.
    """
    maybe = [line for line in lines if any(word in line for word in words)]
    found: list[re.Match[str]] = []
    least = MOST * len(lines)
    for tried, line in enumerate(maybe):
        if len(found) + len(maybe) - tried < least:
            return []
        match = look(line)
        if match is not None:
            found.append(match)
    return found if len(found) >= least else []


def _all_of_them(values: Sequence[str]) -> bool:
    """Whether they number processes from 0 on, each of which comes again."""
    known = {int(value) for value in values}
    return len(known) > 1 and known == set(range(len(known))) and _come_again(values)


def _come_again(values: Sequence[str]) -> bool:
    """Whether processes speak more than once; a table names each of them once."""
    return 2 * len(values) >= 3 * len(set(values))
