"""``py-spy dump``: where each process is, and which of them is elsewhere than the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from triage.model import Evidence, Finding, Reading, Source, Value
from triage.readers.capture import Findings, lines_of, mostly, prompt_host
from triage.readers.pyspy_stacks import (
    FRAME,
    PROCESS,
    THREAD,
    Process,
    activity,
    from_json,
    from_text,
    unwrapped,
    user_frame,
)
from triage.scan.prefixes.launchers import labels_in, titled_rank
from triage.text import safe

KIND = "pyspy"
FACT = "python.stack"

_ELSEWHERE = {
    "data-loading": "python.stack-in-data-loader",
    "checkpoint": "python.stack-in-checkpoint",
    "compile": "python.stack-in-compiler",
}


class PyspyReader:
    """Reads stack dumps of ``py-spy``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a stack dump?"""
        if head.lstrip()[:1] == b"[":
            return b'"thread_name"' in head and b'"frames"' in head
        return b"Thread " in head and mostly(head, _begins, _belongs)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Record where each process is; several processes of one dump are compared."""
        lines = lines_of(data)
        found = Findings(source, index, KIND, host=prompt_host(lines))
        if data.lstrip()[:1] == b"[":
            processes, problem = from_json(data, lines[0])
            if problem:
                found.note(problem)
                found.complete = False
        else:
            processes = from_text(lines)
        return _read(found, processes)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for stack dumps in a piece of a source that begins at ``line`` and ``offset``."""
    lines = lines_of(text, line, offset)
    processes = from_text(lines) or from_text(unwrapped(lines))
    return _read(Findings(source, index, KIND), processes).findings if processes else ()


def combine(readings: Sequence[Reading]) -> tuple[Finding, ...]:
    """Compare the processes of several dumps; nothing when they all came in one."""
    stacks = [[f for f in r.findings if f.rule_id == FACT] for r in readings if r.kind == KIND]
    if sum(1 for facts in stacks if facts) < 2:
        return ()
    return _compare([fact for facts in stacks for fact in facts])


def _begins(text: str) -> bool:
    return bool(PROCESS.search(text) or THREAD.search(text))


def _belongs(text: str) -> bool:
    return bool(_begins(text) or FRAME.match(text) or text.startswith(("Python v", "        ")))


def _read(found: Findings, processes: Sequence[Process]) -> Reading:
    if not processes:
        found.note("no stack could be read")
        found.complete = False
    for process in processes:
        _fact(found, process)
    found.items.extend(_compare([f for f in found.items if f.rule_id == FACT]))
    return found.reading()


def _fact(found: Findings, process: Process) -> None:
    main = process.main
    if main is None or not main.frames:
        return
    own = user_frame(main)
    fields: dict[str, Value] = {
        "pid": process.pid,
        "command": safe(process.command, 200) or None,
        "state": main.state,
        "activity": activity(main),
        "top": safe(str(main.frames[0]), 200),
        "function": own.function if own else None,
        "file": safe(own.file, 200) if own else None,
        "line": own.line if own else None,
        "threads": len(process.threads),
    }
    shown = [process.line, main.line, *main.lines[:12]]
    title = process.command
    found.add(FACT, shown, fields, pid=process.pid, rank=titled_rank(title), labels=labels_in(title))


def _compare(facts: Sequence[Finding]) -> tuple[Finding, ...]:
    """The processes that are not where most are, when most wait in a collective."""
    facts = list({(f.source, f.pid, f.rank): f for f in facts}.values())  # dumped twice: where it is now
    if len(facts) < 2:
        return ()
    inside = [f for f in facts if f.fields.get("activity") == "collective"]
    outside = [f for f in facts if f.fields.get("activity") != "collective"]
    if inside and outside and len(outside) <= len(inside):
        return tuple(_elsewhere(f, len(inside)) for f in outside)
    if len(inside) == len(facts) and len(facts) >= 3:
        return _split(inside)
    return ()


def _elsewhere(fact: Finding, waiting: int) -> Finding:
    rule_id = _ELSEWHERE.get(str(fact.fields.get("activity")), "python.stack-elsewhere")
    return _verdict(fact, rule_id, {"waiting": waiting})


def _split(inside: Sequence[Finding]) -> tuple[Finding, ...]:
    """All wait in a collective: does a minority wait in another one, by its place in the user's code?"""
    places = Counter((f.fields.get("file"), f.fields.get("line")) for f in inside)
    (place, votes), *others = places.most_common()
    if not others or votes <= len(inside) // 2 or place == (None, None):
        return ()
    odd = [
        f for f in inside if (f.fields.get("file"), f.fields.get("line")) != place and f.fields.get("file")
    ]
    usual = f"{place[0]}:{place[1]}"
    return tuple(
        _verdict(f, "python.stack-other-collective", {"waiting": votes, "usual": usual}) for f in odd
    )


def _verdict(fact: Finding, rule_id: str, more: dict[str, Value]) -> Finding:
    fields = {**fact.fields, "rank": fact.rank, **more}
    known = {name: value for name, value in fields.items() if value is not None}
    evidence = tuple(Evidence(e.path, e.line, e.text, known, e.span) for e in fact.evidence)
    return replace(fact, rule_id=rule_id, fields=known, evidence=evidence)
