"""What is shown beside the lines of a cause: how it was announced, where in the program, what its writer had said before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.model import Evidence, Origin, Prefix
from triage.scan.around import Around
from triage.scan.lazy import compiled

_NOT_FROM_CODE = frozenset({"scheduler", "host-oom", "network-fabric", "rendezvous"})
"""Categories of which the place in the program that met them says nothing."""
_OF_WORK = frozenset(
    {"watchdog-too-short", "straggler-or-hang", "checkpoint", "data-loading", "compile-or-graph-capture"}
)
"""Categories in which what a rank was at, and how far it came, tells whether it was late or stuck."""
_OPEN = r"[\s\S]*:\s*\Z"
"""A message that announces more."""


@dataclass(slots=True)
class Beside:
    """Lines to be shown with a cause."""

    lead: Evidence
    """The lead's own, with the rest of its message."""
    announced: list[Evidence] = field(default_factory=list)
    """With what words, and where in the program."""
    before: list[Evidence] = field(default_factory=list)
    """What its writer had complained of shortly before."""
    doing: list[Evidence] = field(default_factory=list)
    """What the rank at fault was at when the others gave up, and how far it came."""


def beside(job: Job, identities: Identities, candidate: Candidate, origin: Origin, around: Around) -> Beside:
    """What stands around the lead of a cause and belongs to it."""
    lead = candidate.lead
    finding = lead.finding
    found = Beside(_whole(lead, around))
    raised = _raised(job, lead)
    if raised is not None:
        begin, end = raised.number("_begin"), raised.number("_end")
        assert begin is not None and end is not None
        heading = around.heading(finding.source, begin, finding.offset)
        if heading is not None:
            found.announced.append(heading)
        path, line = raised.text("file"), raised.number("line")
        if path is not None and line is not None and lead.rule.category not in _NOT_FROM_CODE:
            frame = around.frame(finding.source, begin, end, path, line)
            if frame is not None:
                found.announced.append(frame)
    if not candidate.of_ledger:
        at = finding.offset if raised is None else raised.number("_begin") or 0
        complaint = around.complaint(finding.source, at, lambda prefix: _of(lead, origin, prefix))
        if complaint is not None:
            found.before.append(complaint)
    found.before += _settings(lead, around)
    if lead.rule.category == "numerics":
        first = around.not_finite(finding.source, finding.offset, lambda prefix: _of(lead, origin, prefix))
        found.before += [first] if first is not None else []
    if candidate.of_ledger and lead.rule.category in _OF_WORK and origin.rank is not None:
        found.doing.extend(_work(job, identities, origin.rank, around))
    return found


def _settings(lead: Item, around: Around) -> list[Evidence]:
    """Where what is refused was set, and the variables that the rule speaks of."""
    if lead.rule.category not in _OF_SETTINGS:
        return []
    finding = lead.finding
    texts = (lead.rule.title, lead.rule.summary, *(step.do for step in lead.rule.remediation))
    names = dict.fromkeys(n for text in texts for n in compiled(_VARIABLE).findall(text or ""))
    values = [v for v in finding.fields.values() if isinstance(v, str) and compiled(_VALUE).fullmatch(v)]
    found = [around.set_to(finding.source, finding.offset, value) for value in values]
    found += [
        around.variable(finding.source, finding.offset, name)
        for name in names
        if compiled(_OF_LOOKING).search(name) is None
    ]
    return [e for e in found if e is not None][:_SETTINGS]


_OF_SETTINGS = frozenset({"config", "network-config", "rendezvous", "driver-or-version", "auth-or-hub"})
_SETTINGS = 2
_VARIABLE = r"(?<![\w{])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w}])"
_VALUE = r"(?=.*[A-Za-z])[\w./:@+-]{4,100}"
_OF_LOOKING = r"DEBUG|LOG|TRACE|BLOCKING|VERBOSE|DSA"
"""Variables that change nothing but what is printed."""


def _work(job: Job, identities: Identities, rank: int, around: Around) -> list[Evidence]:
    """What a rank said of its work last before the first of the others gave up, and last of all.

    Where lines name nobody, what was said there is that of the rank that did not wait.
    """
    waits = [
        i.finding
        for tag in ("collective-timeout", "store-timeout")
        for i in job.of_tag(tag)
        if i.rank != rank and i.rule.role == "symptom"
    ]
    own = [i.finding for i in job.items if i.rank == rank and i.finding.level not in {"error", "fatal"}]
    times = [f.time.seconds for f in waits if f.time is not None and f.time.clock == "wall"]
    told = _told(job, rank)
    streams = {(f.source, f.stream) for f in own if f.stream}
    spoken = Counter(f.source for f in own)

    def over(source: int, offset: int, prefix: Prefix) -> bool:
        here = [f.offset for f in waits if f.source == source]
        if here:
            return offset >= min(here)
        time = prefix.time
        return time is not None and bool(times) and 0 <= time.seconds - min(times) < _SOON

    def mine(source: int, prefix: Prefix, writer: str | None) -> bool:
        seated = identities.rank_of_local(prefix.local_rank, prefix.host) if prefix.rank is None else None
        return writer == str(rank) or seated == rank or (source, prefix.stream) in streams

    def nobodys(source: int, prefix: Prefix, writer: str | None) -> bool:
        return writer is None and not prefix.stream

    for source, _ in spoken.most_common(_FEW):
        found = [e for e in around.doing(source, mine, over) if e is not None]
        if found:
            return [*found, *told]
    found = [e for f in waits[:1] for e in around.doing(f.source, mine, over) if e is not None]
    found = found or [e for f in waits[:1] for e in around.doing(f.source, nobodys, over) if e is not None]
    return [*found, *told]


def _told(job: Job, rank: int) -> list[Evidence]:
    """Where a rank was when its stack was printed, and what it says to have been at for longer than the others waited."""
    stacks = [i for i in job.of_fact("stack") if i.rank == rank] or list(job.of_fact("stack"))
    told = [e for i in stacks if len(stacks) == 1 for e in i.finding.evidence[:1]]
    waits = job.of_tag("collective-timeout")
    patience = max((s for i in waits if (s := i.seconds("timeout")) is not None), default=None)
    for item in job.of_fact("took"):
        if patience is not None and item.rank == rank and (item.seconds("seconds") or 0.0) >= patience:
            told += item.finding.evidence[:1]
    return told


_FEW = 3
"""Logs of a rank that are looked at."""
_SOON = 600.0
"""Seconds within which what comes later is told from another clock."""


def _whole(lead: Item, around: Around) -> Evidence:
    """The lead's line with those that go on with its message, where it stands alone."""
    shown = lead.finding.evidence[0]
    if "\n" in shown.text or candidate_of_reader(lead):
        return shown
    if not lead.finding.raised and compiled(_OPEN).match(shown.text) is None:
        return shown
    rest = around.further(lead.finding.source, lead.finding.offset)
    return replace(shown, text="\n".join([shown.text, *rest])) if rest else shown


def candidate_of_reader(lead: Item) -> bool:
    """Whether a lead is no line of a log."""
    return lead.reader is not None or lead.finding.evidence[0].line is None


def _raised(job: Job, lead: Item) -> Item | None:
    """The traceback that the lead stands in."""
    if not lead.finding.raised:
        return None
    if lead.number("_begin") is not None:
        return lead
    return next(
        (i for i in job.of_fact("exception") if inside(lead, i) and i.number("_begin") is not None), None
    )


def _of(lead: Item, origin: Origin, prefix: Prefix) -> bool:
    """Whether a line is of the writer of the lead."""
    if lead.finding.stream:
        return prefix.stream == lead.finding.stream or (
            prefix.rank is not None and prefix.rank in {lead.rank, origin.rank}
        )
    return prefix.rank in {None, lead.rank, origin.rank}
