"""What is shown beside the lines of a cause: how it was announced, where in the program, what its writer had said before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.at_work import at_work, called_elsewhere, called_from, ended
from triage.diagnosis.telling.introduced import at_odds
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


@dataclass(slots=True, eq=False, repr=False)
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
    category, rank = lead.rule.category, origin.rank
    raised = _raised(job, lead, rank if candidate.of_ledger else None)
    found = Beside(_whole(lead, around), announced=_announced(lead, raised, around))
    if not candidate.of_ledger:
        found.before += _complaints(lead, raised, origin, around)
        found.after += _died_of(job, lead, raised, rank)
    found.before += _settings(lead, around)
    if category == "numerics":
        own = {None, lead.rank, rank}
        lost = around.not_finite(lead.finding.source, lead.finding.offset, lambda prefix: prefix.rank in own)
        found.before += [lost] if lost is not None else []
    if category in {"rendezvous", "network-config"}:
        found.before += _first(around.unresolved(source) for source in _logs(job))
    if category == "rendezvous":
        found.doing += at_odds(job)
    if category == "straggler-or-hang" and candidate.of_ledger and raised is None:
        found.doing += called_elsewhere(job, around)
    if rank is None:
        return found
    if candidate.of_ledger and category in _OF_WORK:
        found.doing += at_work(job, identities, rank, around)
    if category == "collective-desync":
        found.doing += [*_otherwise(job, rank, around), *called_from(job, rank)]
    if category == "rank-crash":
        found.doing += ended(job, identities, rank, around)
    return found


def _logs(job: Job) -> range:
    return range(min(len(job.sources), _LOGS))


def _first(found: Iterable[Evidence | None]) -> list[Evidence]:
    return [e for e in found if e is not None][:1]


def _announced(lead: Item, raised: Item | None, around: Around) -> list[Evidence]:
    """With what words a traceback is announced, and the user's own frame in it."""
    begin, end = (None, None) if raised is None else (raised.number("_begin"), raised.number("_end"))
    if raised is None or begin is None or end is None:
        return []
    source = raised.finding.source
    heading = around.heading(source, begin, lead.finding.offset)
    path, line = raised.text("file"), raised.number("line")
    frame = None
    if path is not None and line is not None and lead.rule.category not in _NOT_FROM_CODE:
        frame = around.frame(source, begin, end, path, line)
    return [e for e in (heading, frame) if e is not None]


def _complaints(lead: Item, raised: Item | None, origin: Origin, around: Around) -> list[Evidence]:
    """What the writer of the lead had complained of; anybody, where nothing but words of the lead tell what it means."""
    begin = None if raised is None else raised.number("_begin")
    supposed = lead.rule.id.startswith("unknown.") and raised is None
    return around.complaints(
        lead.finding.source,
        lead.finding.offset if begin is None else begin,
        lambda prefix: supposed or _of(lead, origin, prefix),
        lead.finding.evidence[0].text,
    )


def _otherwise(job: Job, rank: int, around: Around) -> list[Evidence]:
    """What another said where the rank at fault said the same with other numbers."""
    told = [i for fact in ("deviant", "own-words") for i in job.of_fact(fact)]
    own = [i.finding.evidence[0].text for i in told if i.rank == rank]
    return _first(around.counterpart(s, text) for text in own[:2] for s in _logs(job))


def _died_of(job: Job, lead: Item, raised: Item | None, rank: int | None) -> list[Evidence]:
    """The exception that ended the process in which that of the lead had been caught."""
    end = None if raised is None else raised.number("_end")
    ranks = {lead.rank, rank} - {None}
    symptoms = [s for s in job.items if s.finding.raised and s.rule.role == "symptom"]
    later = [
        i
        for i in job.of_fact("exception")
        if end is not None
        and i.finding.source == lead.finding.source
        and i.finding.offset > end
        and i.fields.get("_main") is True
        and i.rank in ranks
        and not any(inside(symptom, i) for symptom in symptoms)
    ]
    return [e for i in later[-1:] for e in i.finding.evidence[:1]]


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
    if "\n" in shown.text or _of_reader(lead):
        return shown
    if not lead.finding.raised and compiled(_OPEN).match(shown.text) is None:
        return shown
    rest = around.further(lead.finding.source, lead.finding.offset)
    return replace(shown, text="\n".join([shown.text, *rest])) if rest else shown


def _of_reader(lead: Item) -> bool:
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
