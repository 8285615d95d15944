"""Where in the program each rank waited in vain: one that called from another place than all others left their path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Evidence, Value
from triage.scan.lazy import compiled
from triage.text import safe

MISMATCH = "torch.gloo-size-mismatch"
FEWEST = 4
"""Ranks that must be known to tell the odd one."""
_PAIRWISE = r"(?i)^_?(?:batch_)?i?(?:send|recv)(?:_|$)|p2p|pipeline|schedule"
"""Calls of two ranks, which each makes from a place of its own."""
_OF_ALL = r"_?all_|barrier"
"""Calls without a root, which all ranks make at one place of a program."""

Site = tuple[str, str, int | None]


def odd_site(job: Job, waits: Sequence[Wait], bereft: Mapping[int, Item]) -> Item | None:
    """The verdict on the one rank whose own code called from elsewhere, where all others called from one place.

    Who lost a peer in a call was in it, like those that gave it up. The root of a scatter or gather has a line of its
    own in the program, not a function: rank 0 is only taken for the odd one where the functions differ, or where
    what it alone calls, or what all others call, has no root. Three ranks tell the odd one among them where its call is another one.
    """
    within = {**bereft, **{wait.rank: wait.item for wait in waits}}
    sites: dict[int, Site] = {}
    calls: dict[int, str | None] = {}
    for rank, item in within.items():
        site = _site(job, item, paired=True)
        if site is None:
            return None
        sites[rank], calls[rank] = site, _call(job, item)
    (usual, votes), *_ = Counter(sites.values()).most_common(1)
    odd = [rank for rank, site in sites.items() if site != usual]
    if votes < len(sites) - 1 or len(odd) != 1:
        return None
    rank = odd[0]
    others = {calls[r] for r in sites if r != rank}
    rootless = calls[rank] not in others and (_of_all(calls[rank]) or all(map(_of_all, others)))
    if rank == 0 and sites[0][:2] == usual[:2] and not rootless:
        return None
    if {i.rank for i in job.of_fact("behind")} - {None, rank}:
        return None  # another one did not do what all others did, as this one: who calls alone is on the way with them
    if _is_paired(calls[rank]) or (len(sites) < FEWEST and any(map(_is_paired, others))):
        return None  # each makes such a call from a place of its own
    if len(sites) < FEWEST and (votes < 2 or len(others) != 1 or calls[rank] in {None, *others}):
        return None
    if any(compiled(_PAIRWISE).search(site[1]) for site in (usual, sites[rank])):
        return None
    rest = next(item for r, item in sorted(within.items()) if r != rank)
    fields: dict[str, Value] = {"ranks": (rank,), "site_odd": _told(sites[rank]), "site_rest": _told(usual)}
    return _shown(
        job, verdict(job, "ledger.other-call", fields, [within[rank], rest], rank=rank), within[rank]
    )


def crossed(job: Job, waits: Sequence[Wait], absent: Sequence[int]) -> Item | None:
    """The verdict on the one rank that did not come because it waited for those who wait for it, in another group."""
    waiting = {wait.rank for wait in waits}
    items = [i for i in job.of_fact("awaited") if i.rank in absent and i.number("awaited") in waiting]
    if len(absent) != 1 or not items:
        return None
    site = _site(job, items[0])
    first = waits[0]
    fields: dict[str, Value] = {
        "ranks": tuple(absent),
        "site_odd": "a collective of another group" if site is None else _told(site),
        "site_rest": f"{first.op or 'a collective'} (sequence {first.seq})",
    }
    return verdict(job, "ledger.other-call", fields, [items[0], *(w.item for w in waits[:3])], rank=absent[0])


def same_site(job: Job, one: Item, other: Item) -> bool:
    """Whether two ranks made the same call at the same place of the program."""
    site = _site(job, one)
    return site is not None and site == _site(job, other) and _call(job, one) == _call(job, other)


def _call(job: Job, wait: Item) -> str | None:
    """The operation on whose behalf the innermost frame waited."""
    raised = next((r for r in job.of_fact("exception") if r.rank == wait.rank and inside(wait, r)), None)
    return None if raised is None else raised.text("raised_function")


def mismatched(job: Job, ledger: Ledger) -> Iterator[Item]:
    """The odd rank where gloo met a message of another size: some rank called from elsewhere, and all others are known."""
    items = list(job.of_rule(MISMATCH))
    if not items:
        return
    sites: dict[int, Site] = {}
    witnesses: dict[int, Item] = {}
    for item in (*items, *job.of_tag("peer-loss"), *job.of_tag("collective-timeout")):
        site = _site(job, item) if item.rank is not None and item.rank not in sites else None
        if item.rank is not None and site is not None:
            sites[item.rank], witnesses[item.rank] = site, item
    spoken = set(sites) | {i.rank for i in items if i.rank is not None}
    unheard = set(ledger.members) - spoken
    if len(unheard) == 1 and any(i.rank is None for i in items):
        spoken |= unheard  # its process ended where C++ names no rank
    if not sites or len(spoken) < FEWEST or spoken != set(ledger.members):
        return  # processes that C++ ended show no calls
    (usual, votes), *_ = Counter(sites.values()).most_common(1)
    odd = [rank for rank in spoken if sites.get(rank) != usual]
    if len(odd) != 1 or votes < len(spoken) - 1:
        return
    (rank,) = odd
    if rank not in sites and {i.rank for i in job.of_fact("deviant")} - {None, rank}:
        return  # who breaks off got what another one sent, whose own numbers are not those of all others
    own = next((i for i in items if i.rank == rank), witnesses.get(rank, items[0]))
    rest = next(i for r, i in sorted(witnesses.items()) if r != rank)
    told = _told(sites[rank]) if rank in sites else "another call"
    fields: dict[str, Value] = {"ranks": (rank,), "site_odd": told, "site_rest": _told(usual)}
    yield _shown(job, verdict(job, "ledger.other-call", fields, [own, *items, rest], rank=rank), own)


def _shown(job: Job, found: Item, wait: Item) -> Item:
    """A verdict on a call together with the line of the program that made it, which follows the first of its evidence."""
    raised = next((r for r in job.of_fact("exception") if r.rank == wait.rank and inside(wait, r)), None)
    text = None if raised is None else raised.text("_call")
    if raised is None or text is None:
        return found
    path = raised.finding.evidence[0].path
    first, *others = found.finding.evidence
    call = Evidence(path, raised.number("_call_line"), safe(text))
    return Item(replace(found.finding, evidence=(first, call, *others)), found.rule)


def _site(job: Job, wait: Item, *, paired: bool = False) -> Site | None:
    """The innermost call of the program's own on the stack of what a rank raised, of two ranks only where asked."""
    for raised in job.of_fact("exception"):
        if raised.rank == wait.rank and inside(wait, raised):
            path, function = raised.text("file"), raised.text("function")
            if path is None or function is None:
                return None
            if not paired and _is_paired(raised.text("raised_function")):
                return None
            return path, function, raised.number("line")
    return None


def _of_all(call: str | None) -> bool:
    return compiled(_OF_ALL).match(call or "") is not None


def _is_paired(call: str | None) -> bool:
    return compiled(_PAIRWISE).search(call or "") is not None


def _told(site: Site) -> str:
    path, function, line = site
    return f"{function} at {path}:{line}" if line is not None else f"{function} in {path}"
