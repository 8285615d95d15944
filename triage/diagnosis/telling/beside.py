"""What is shown beside the lines of a cause: how it was announced, where in the program, what its writer had said before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.at_work import at_work, called_from, ended
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
    after: list[Evidence] = field(default_factory=list)
    """What ended its process in the end, where that was something else."""


def beside(job: Job, identities: Identities, candidate: Candidate, origin: Origin, around: Around) -> Beside:
    """What stands around the lead of a cause and belongs to it."""
    lead = candidate.lead
    finding = lead.finding
    found = Beside(_whole(lead, around))
    raised = _raised(job, lead, origin.rank if candidate.of_ledger else None)
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
        supposed = lead.rule.id.startswith("unknown.") and raised is None
        found.before += around.complaints(
            finding.source, at, lambda prefix: supposed or _of(lead, origin, prefix)
        )
    found.before += _settings(lead, around)
    if lead.rule.category == "numerics":
        first = around.not_finite(
            finding.source, finding.offset, lambda prefix: prefix.rank in {None, lead.rank, origin.rank}
        )
        found.before += [first] if first is not None else []
    if candidate.of_ledger and lead.rule.category in _OF_WORK and origin.rank is not None:
        found.doing += at_work(job, identities, origin.rank, around)
    if lead.rule.category == "collective-desync" and origin.rank is not None:
        found.doing += _otherwise(job, origin.rank, around)
        found.doing += called_from(job, origin.rank)
    if lead.rule.category == "rank-crash" and origin.rank is not None:
        found.doing += ended(job, identities, origin.rank, around)
    if lead.rule.category in {"rendezvous", "network-config"}:
        unknown = (around.unresolved(source) for source in range(min(len(job.sources), _LOGS)))
        found.before += [e for e in unknown if e is not None][:1]
    if not candidate.of_ledger:
        found.after += _died_of(job, lead, raised, origin)
    return found


def _otherwise(job: Job, rank: int, around: Around) -> list[Evidence]:
    """What another said where the rank at fault said the same with other numbers."""
    told = [i for fact in ("deviant", "own-words") for i in job.of_fact(fact)]
    own = [i.finding.evidence[0].text for i in told if i.rank == rank]
    found = (around.counterpart(s, text) for text in own[:2] for s in range(min(len(job.sources), _LOGS)))
    return [e for e in found if e is not None][:1]


def _died_of(job: Job, lead: Item, raised: Item | None, origin: Origin) -> list[Evidence]:
    """The exception that ended the process in which that of the lead had been caught."""
    if raised is None or lead.finding.level in {"fatal"}:
        return []
    begin, end = raised.number("_begin") or 0, raised.number("_end") or 0
    later = [
        i
        for i in job.of_fact("exception")
        if i.finding.source == lead.finding.source
        and i.finding.offset > end
        and i.fields.get("_main") is True
        and i.rank is not None
        and i.rank in {lead.rank, origin.rank}
    ]
    known = [s for s in job.items if s.finding.raised and s.rule.role == "symptom"]
    own = [i for i in later if not any(inside(symptom, i) for symptom in known)]
    return [e for i in own[-1:] if begin <= lead.finding.offset for e in i.finding.evidence[:1]]


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
_LOGS = 8
"""Logs in which a name that is not known may be told."""
_VARIABLE = r"(?<![\w{])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w}])"
_VALUE = r"(?=.*[A-Za-z])[\w./:@+-]{4,100}"
_OF_LOOKING = r"DEBUG|LOG|TRACE|BLOCKING|VERBOSE|DSA"
"""Variables that change nothing but what is printed."""


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


def _raised(job: Job, lead: Item, rank: int | None) -> Item | None:
    """The traceback that the lead stands in; that of a verdict on ``rank``, if it is its own."""
    if lead.number("_begin") is not None:
        return lead
    if not lead.finding.raised and rank is None:
        return None
    return next(
        (
            i
            for i in job.of_fact("exception")
            if inside(lead, i) and i.number("_begin") is not None and (lead.finding.raised or i.rank == rank)
        ),
        None,
    )


def _of(lead: Item, origin: Origin, prefix: Prefix) -> bool:
    """Whether a line is of the writer of the lead."""
    stream = lead.finding.stream
    if stream:
        own = prefix.rank is not None and prefix.rank in {lead.rank, origin.rank}
        # what a launcher calls a process stands before what torch's hook does
        return own or (bool(prefix.stream) and f"{stream}/".startswith(f"{prefix.stream}/"))
    return prefix.rank in {None, lead.rank, origin.rank}
