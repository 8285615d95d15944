"""The lines that are shown with a cause: its own, those of the rank at fault, and what it explains best."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.ledger.oddities import SILENT
from triage.diagnosis.telling.beside import Beside
from triage.model import Evidence, Origin
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import is_head, tells, without_digits
from triage.scan.prefix import split_line

MAX_EVIDENCE = 8


_WITH_WORDS = frozenset({"collective-desync", "straggler-or-hang"})
"""Categories in which what a rank said before it was missed is shown with the line that tells of it."""
_OF_ITS_DOING = frozenset(
    {"collective-desync", "straggler-or-hang", "watchdog-too-short", "rank-crash", "rendezvous"}
)
"""Categories in which lines of others show whose fault it is, and its own what it did."""


def own_words(job: Job, candidate: Candidate, origin: Origin) -> list[Item]:
    """What the rank at fault said for itself, and last; of two that may be, what each said last."""
    if candidate.lead.rule.category == "numerics":
        return [i for i in job.of_fact("not-finite") if i.rank == origin.rank]
    of_its_doing = candidate.lead.rule.category in _OF_ITS_DOING or candidate.of_ledger
    if not of_its_doing or not _shown_by_others(candidate):
        # what it had set otherwise than all others is why they all raised the same
        return [i for i in _said(job, "deviant") if origin.rank is not None and i.rank == origin.rank]
    if origin.rank is not None:
        own = [i for i in _said(job, "own-words", "deviant") if i.rank == origin.rank]
        said = [*own, *(i for i in _said(job, "oddity", "last-line") if i.rank == origin.rank)]
        odd = [i for i in _said(job, "oddity") if i.rank is None]
        if not own and len(odd) == 1:
            said += odd  # what one alone said is that of who is to blame
        last = max(said, key=_place, default=None)
        told = {_place(i): i for i in [*own, *([] if last is None else [last])]}
        return [item for _, item in sorted(told.items())] or _nameless(job, candidate)
    for facts in (("own-words",), ("deviant",), ("own-words", "last-line")):
        ends = {i.rank: i for i in sorted(_said(job, *facts), key=_place) if i.rank is not None}
        if 0 < len(ends) <= 2:
            return list(ends.values())
    return [i for f in ("oddity", "last-line") if len(said := _said(job, f)) == 1 for i in said]


def _said(job: Job, *facts: str) -> list[Item]:
    """Lines that ranks said of their work, by these facts."""
    return [i for fact in facts for i in job.of_fact(fact) if _tells(i.finding.evidence[0].text)]


def _tells(text: str) -> bool:
    return tells(text, *split_line(text))


def _place(item: Item) -> tuple[int, int]:
    return item.finding.source, item.finding.offset


def _nameless(job: Job, candidate: Candidate) -> list[Item]:
    """What was said last before all others gave up waiting, where lines bear no names and the others say nothing.

    They wait, so it was the one that they wait for who went on to print.
    """
    last = job.of_fact("last-line")
    if candidate.rule_id not in SILENT or any(item.rank is not None for item in last):
        return []
    lead = candidate.lead.finding
    here = [i for i in last if i.finding.source == lead.source and i.finding.offset < lead.offset]
    return here[-1:]


def _shown_by_others(candidate: Candidate) -> bool:
    lead = candidate.lead
    return (
        candidate.of_ledger
        or lead.reader is not None
        or not set(TROUBLE).isdisjoint(lead.rule.tags)
        or lead.rule.category in {"collective-desync", "straggler-or-hang"}
    )


def evidence(
    job: Job,
    candidate: Candidate,
    own: Sequence[Item],
    rank: int | None,
    near: Beside | None = None,
    kin: Sequence[Item] = (),
) -> tuple[Evidence, ...]:
    """The lead's lines, those of the rank at fault and of others that say the same, then what it explains best.

    ``rank`` is the rank at fault, ``near`` what stands around the lead, ``kin`` what leads to the like elsewhere.
    """
    found: list[Evidence] = []

    def add(piece: Evidence) -> None:
        for position, known in enumerate(found):
            if _shows(known, piece):
                # one line that two rules know is shown once, with what decides marked
                if known.span is None and piece.span is not None and _shows(piece, known):
                    found[position] = piece
                return
        found.append(piece)

    def take(items: Sequence[Item], most: int) -> None:
        for item in items:
            if len(found) >= most:
                return
            for piece in item.finding.evidence[:1]:
                add(piece)

    concluded = candidate.of_ledger or candidate.lead.rule.signature is None
    # what does not fit is shown with what one rank said before
    concluded = concluded or candidate.lead.rule.category in _WITH_WORDS
    first, *more = candidate.lead.finding.evidence[: 4 if concluded else 1]
    add(first if near is None else near.lead)
    work = () if near is None else near.doing
    # how far somebody came tells more than what he said before
    at_work = bool(work) and candidate.lead.rule.category != "collective-desync"
    for piece in work if at_work else ():
        add(piece)
    take([i for i in candidate.items[1:] if rank is not None and i.rank == rank], len(found) + 1)
    take(own, max(MAX_EVIDENCE - 3, len(found) + 2))
    for piece in () if at_work else work:
        add(piece)
    take([i for i in job.of_fact("lagging") if rank is not None and rank in i.ranks("ranks")], len(found) + 1)
    for piece in more:
        if not is_head(piece.text):
            add(piece)
    for piece in () if near is None else (*near.before, *near.announced):
        add(piece)
    for piece in _root(job, candidate.lead):
        add(piece)
    take(_raised_before(job, candidate), len(found) + 1)
    for piece in () if near is None else near.after:
        add(piece)
    take(kin, len(found) + 1)
    take([sign.lead for sign in candidate.foretold_by], len(found) + 1)
    wordings = {_wording(item): item for item in reversed(candidate.items)}
    unlike = [i for i in candidate.items[1:] if wordings[_wording(i)] is i]
    take(unlike, MAX_EVIDENCE - 3)
    take([i for i in candidate.items[1:] if i not in unlike], min(len(found) + 3, MAX_EVIDENCE - 3))
    category = candidate.lead.rule.category
    # another witness of the same thing tells more than what came of it, first of all the rank that met it
    effects = sorted(candidate.led_to, key=lambda e: (e.lead.rule.category != category, e.lead.rank is None))
    take([effect.lead for effect in effects], len(found) + 2)
    take([i for i in candidate.explains if "collective-timeout" in i.rule.tags], len(found) + 1)
    losses = [i for i in candidate.explains if "peer-loss" in i.rule.tags]
    least = len(found) + 1
    if category == "rank-crash":  # that others lost it is all that is known of it
        take(list({_wording(i): i for i in reversed(losses)}.values())[::-1], least + 2)
    take(losses, least)
    take([i for i in candidate.explains if "carrier" in i.rule.tags], len(found) + 1)
    ends = [i for i in candidate.explains if _end_of(candidate.lead, i)]
    take(sorted(ends, key=lambda i: i.number("rank") != rank or rank is None), len(found) + 1)
    return tuple(_copies_last(found[:MAX_EVIDENCE], 2 if concluded else 1))


def _copies_last(pieces: Sequence[Evidence], most: int) -> list[Evidence]:
    """``pieces`` with those at the end that say only what ``most`` before them had said, of somebody else or once more."""
    seen: dict[str, int] = {}
    fresh: list[Evidence] = []
    copies: list[Evidence] = []
    for piece in pieces:
        said = compiled(_NAMES).sub("", split_line(piece.text.partition("\n")[0])[1])
        seen[said] = seen.get(said, 0) + 1
        (fresh if seen[said] <= most else copies).append(piece)
    return [*fresh, *copies]


_NAMES = r"\S*[\d/]\S*"
"""What may differ where two say the same: numbers, paths, and names made up of them."""


def _raised_before(job: Job, candidate: Candidate) -> list[Item]:
    """What was raised last before an end of which only the exit code is known, though it only speaks of others."""
    lead = candidate.lead.finding
    if candidate.rule_id != "ledger.exited":
        return []
    raised = [
        i for i in job.items
        if i.finding.raised and i.rule.role == "symptom" and i.finding.source == lead.source and i.finding.offset < lead.offset
        and (i.rank is None or i.rank in candidate.ranks)
    ]  # fmt: skip
    return raised[-1:]


def _wording(item: Item) -> str:
    return without_digits(item.finding.evidence[0].text) if item.finding.evidence else ""


def _end_of(lead: Item, item: Item) -> bool:
    """Whether ``item`` is somebody's word on the end of the process that ``lead`` is of."""
    ended = "rank-exit" in item.rule.tags or item.rule.id in _ENDS
    if item.rule.id == _TOLD_TO_STOP:
        return lead.rule.category == "scheduler"
    if item.number("exit_code") in _BY_LAUNCHERS and lead.rule.category not in {"scheduler", "rank-crash"}:
        return False  # its launcher ended it, as it does all others once one has failed
    return ended and (lead.rank is None or item.rank is None or lead.rank == item.rank)


_ENDS = frozenset({"ledger.exited", "ledger.killed"})
_TOLD_TO_STOP = "torch.signal-exception"
_BY_LAUNCHERS = frozenset({-15, 143})


def _root(job: Job, lead: Item) -> tuple[Evidence, ...]:
    """The exception that another one, by which the cause is known, only passed on."""
    here = lead.finding
    for item in job.of_fact("exception"):
        one, begin, end = item.finding, item.number("_begin"), item.number("_end")
        within = begin is not None and end is not None and begin <= here.offset <= end
        if here.raised and within and one.source == here.source and one.stream == here.stream:
            return one.evidence[:1] if one.offset < here.offset else ()
    return ()


def _shows(one: Evidence, other: Evidence) -> bool:
    """Whether all lines of ``other`` are among those of ``one``."""
    if one.path != other.path or one.line is None or other.line is None:
        return one == other
    below = other.line - one.line
    return 0 <= below <= one.text.count("\n") - other.text.count("\n") and other.text in one.text
