"""What the formats for people say alike: who acts, whether to requeue, where it began."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triage.model import Attempt, Diagnosis, FindingGroup, Hypothesis, Origin
from triage.scan.lazy import deferred

NOT_LOCALISED = "can't be localised: the logs single out no rank, node or GPU"

_SURE_OF_A_NODE = 0.75
"""Confidence below which a node is looked at before it is taken out."""
_MAX_RANGES = 8
_MAX_NODES = 6
_MAX_NAME = 60
_RANKS_NAMED = deferred(r"\b[Rr]ank(?:s|\(s\))? \d")

_USER = {
    "user-code": "fix the program; leave the nodes alone",
    "unknown": "read the evidence first; nothing points at a node",
    "straggler-or-hang": "find out what the late rank was doing; no node is proven bad",
    "rank-crash": "find out what ended the process; no node is proven bad",
    "port-conflict": "free the port or choose another one; leave the nodes alone",
    "auth-or-hub": "get access or the files; leave the nodes alone",
    "storage": "make room or change the path; leave the nodes alone",
    "scheduler": "change what the job asks for; leave the nodes alone",
    "driver-or-version": "change what is installed; leave the nodes alone",
}
_SETTINGS = frozenset(("config", "network-config", "watchdog-too-short", "rendezvous", "shm", "topology"))
_OPERATOR = {
    "gpu-hardware": "find the node of the faulty GPU and drain it; the workload is fine",
    "network-fabric": "check the links and ports involved; the workload is fine",
    "scheduler": "look at the scheduler's side; the workload is fine",
    "storage": "look at the file system; the workload is fine",
    "unknown": "read the evidence first",
}


def shortened(items: Sequence[str], limit: int = _MAX_NODES) -> str:
    """``items`` with commas, the ones beyond ``limit`` as a number."""
    shown = ", ".join(short(item) for item in items[:limit])
    return f"{shown} and {len(items) - limit} more" if len(items) > limit else shown


def numbers(values: Iterable[int]) -> str:
    """Rank numbers as ranges, ``0-2, 5``; very scattered ones end in how many there are."""
    ordered = sorted(set(values))
    ranges: list[list[int]] = []
    for value in ordered:
        if ranges and value == ranges[-1][1] + 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    shown = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}-{b}" for a, b in ranges]
    if len(shown) > _MAX_RANGES:
        return f"{', '.join(shown[: _MAX_RANGES - 1])} … ({len(ordered)} in all)"
    return ", ".join(shown)


def ranks(values: Iterable[int]) -> str:
    """``rank 2`` or ``ranks 0-2, 5``; empty when there are none."""
    known = sorted(set(values))
    if not known:
        return ""
    return f"rank {known[0]}" if len(known) == 1 else f"ranks {numbers(known)}"


def place(origin: Origin) -> str:
    """Where it began, for a sentence: ``rank 2 (gpu-node-01, GPU 2)``; empty when unknown."""
    parts = [part for part in (ranks(_origin_ranks(origin)), short(origin.host), _gpu(origin)) if part]
    return f"{parts[0]} ({', '.join(parts[1:])})" if len(parts) > 1 else "".join(parts)


def origin_details(origin: Origin) -> str:
    """Everything known of where and when it began, with commas; ``NOT_LOCALISED`` when nothing is."""
    known = _origin_ranks(origin)
    parts = [
        ranks(known),
        f"local rank {origin.local_rank}" if origin.local_rank is not None else "",
        short(origin.host),
        f"GPU {origin.gpu}" if origin.gpu is not None else "",
        f"PCI {short(origin.pci_bus_id)}" if origin.pci_bus_id else "",
        short(origin.gpu_uuid),
    ]
    shown = ", ".join(part for part in parts if part)
    if origin.host and not known and origin.gpu is None and not origin.pci_bus_id:
        shown += " (the node, no single rank)"
    when = time(origin.time)
    return ", ".join(part for part in (shown or NOT_LOCALISED, when) if part)


def time(text: str | None) -> str:
    """An ISO 8601 time with a space in place of its T."""
    if not text:
        return ""
    return short(f"{text[:10]} {text[11:]}" if text[10:11] == "T" else text)


def period(attempt: Attempt) -> str:
    """From when to when, with a comma in front; empty when neither is known."""
    began, ended = time(attempt.began), time(attempt.ended)
    if began and ended[:11] == began[:11] and began[10:11] == " ":
        ended = ended[11:]
    return f", {began or '?'} to {ended or '?'}" if began or ended else ""


def short(text: str | None) -> str:
    """A name on one line; one that no sane system would use is cut."""
    text = " ".join((text or "").split())
    return text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…"


def who_acts(h: Hypothesis) -> str:
    """One line: whose move it is and what that is in a few words."""
    nodes = shortened(h.nodes_to_avoid)
    if h.owner == "operator":
        doing = _OPERATOR.get(h.category)
        if nodes:
            sure = h.confidence >= _SURE_OF_A_NODE
            doing = f"drain {nodes}; the workload is fine" if sure else f"test {nodes}, and drain what fails"
        return f"operator: {doing or 'repair the node or its settings; the workload is fine'}"
    if h.owner == "vendor":
        if nodes:
            return f"vendor: open a case; operator: drain {nodes} meanwhile"
        return "vendor: report the fault; work round it meanwhile"
    if h.category in _SETTINGS:
        doing = "change the launch settings; leave the nodes alone"
    else:
        doing = _USER.get(h.category, "the workload needs a change; leave the nodes alone")
    if nodes:
        doing = f"{doing.partition(';')[0]}; keep off {nodes} meanwhile"
    return f"user: {doing}"


def requeue(h: Hypothesis) -> str:
    """Whether the job may be requeued, in words that complete ``Requeue …``."""
    nodes = shortened(h.nodes_to_avoid)
    return {
        "as-is": "as is",
        "other-nodes": f"on other nodes, avoid {nodes}" if nodes else "on other nodes",
        "after-fix": "not before the fix",
        "never": "no, it would fail the same way",
        "unknown": "can't say",
    }[h.retry]


def confidence(value: float) -> str:
    """``0.94 (high)``."""
    word = "high" if value >= 0.85 else "fair" if value >= 0.6 else "low"
    return f"{value:.2f} ({word})"


def headline(diagnosis: Diagnosis) -> str:
    """The verdict in one sentence, without the verdict's own word."""
    root = diagnosis.root_cause
    if root is not None:
        where = place(root.origin)
        return f"{root.category}{' on ' + where if where else ''}: {root.summary or root.title}"
    if diagnosis.verdict == "failed":
        return "the job failed, and nothing says why"
    if diagnosis.verdict == "inconclusive":
        return "can't tell what happened"
    if diagnosis.completed:
        return "the job ran to its end"
    return "nothing failed" + (
        "; the end was not seen" if diagnosis.completed is None else ", but it did not end"
    )


def cascades(diagnosis: Diagnosis) -> list[FindingGroup]:
    """The findings that the root cause explains, directly or not, most frequent first."""
    root = diagnosis.root_cause
    if root is None:
        return []
    explained = {root.rule_id, *root.explains}
    known = 0
    while known < len(explained):
        known = len(explained)
        explained |= {group.rule_id for group in diagnosis.findings if group.explained_by in explained}
    groups = [
        group
        for group in diagnosis.findings
        if group.rule_id in explained
        and group.rule_id != root.rule_id
        and group.role not in ("benign", "context")
    ]
    return sorted(groups, key=lambda group: (-group.count, group.rule_id))


def told(group: FindingGroup) -> str:
    """What a group of findings says, and on which ranks where its title does not name any itself."""
    where = "" if _RANKS_NAMED.search(group.title) else ranks(group.ranks)
    return f"{group.title} on {where}" if where else group.title


def times(group: FindingGroup) -> str:
    """How often a finding occurred: ``14 ×``, with a plus when only samples were counted."""
    return f"{group.count}{'+' if group.sampled else ''} ×"


def short_names(diagnosis: Diagnosis) -> dict[str, str]:
    """For each source name, the part of it that tells it from the others: no common directories."""
    names = [source.name for source in diagnosis.sources]
    common = names[0].split("/")[:-1] if names else []
    for name in names[1:]:
        parts = name.split("/")[:-1]
        while common != parts[: len(common)]:
            common = common[:-1]
    prefix = "/".join(common) + "/" if common else ""
    return {name: name[len(prefix) :] for name in names}


def unread(diagnosis: Diagnosis) -> list[str]:
    """One line per source that was not read whole or has something to say about it."""
    return [
        f"{source.name}: {source.note or 'cut, not read to its end'}"
        for source in diagnosis.sources
        if source.note or not source.complete
    ]


def _origin_ranks(origin: Origin) -> tuple[int, ...]:
    if origin.ranks:
        return origin.ranks
    return () if origin.rank is None else (origin.rank,)


def _gpu(origin: Origin) -> str:
    if origin.gpu is not None:
        return f"GPU {origin.gpu}"
    return f"GPU {short(origin.pci_bus_id)}" if origin.pci_bus_id else ""
