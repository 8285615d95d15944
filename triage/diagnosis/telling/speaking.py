"""Who said the words of a cause, and whether a process broke down with them."""

from __future__ import annotations

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import Item
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

_THROWN = r"\s*(?:what\(\):|terminate called |(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): |(?:[a-z_]\w*\.)+[A-Z]\w+: )"
_ENOUGH_WORDS = 16
"""Letters of a message that two processes hardly have in common by chance."""


def speakers_of(candidate: Candidate) -> set[int | None]:
    """Who said it. What nobody in particular says and a rank repeats word for word was said by that rank.

    Both Python's own hook for exceptions and torch's, which names the rank, may print one. Where the lead was raised, a
    mere warning of the like says nothing of who raised it.
    """
    items = (
        [i for i in candidate.items if thrown_or_raised(i)]
        if thrown_or_raised(candidate.lead)
        else candidate.items
    )
    ranks = {item.rank for item in items}
    said = {_said(item) for item in items if item.rank is not None}
    if None in ranks and all(_repeated(_said(item), said) for item in items if item.rank is None):
        ranks.discard(None)
    quoted = _quoted(candidate) if ranks == {None} and len(items) == 1 else set()
    return quoted if len(quoted) == 1 else ranks


def _repeated(nameless: str, said: set[str]) -> bool:
    """Whether a line without a name says what one with a name says: the same, or the message of an exception in either."""
    own = _message(nameless)
    return nameless in said or any(
        (len(m := _message(words)) >= _ENOUGH_WORDS and m in nameless)
        or (len(own) >= _ENOUGH_WORDS and own in words)
        for words in said
    )


def _message(words: str) -> str:
    """What an exception says, without its name."""
    return compiled(_NAME).sub("", words, count=1)


_NAME = r"\A(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): "


def _quoted(candidate: Candidate) -> set[int | None]:
    """The ranks in whose name the words of the lead were logged: as what nobody caught, or before it was raised again."""
    lead = candidate.lead.finding
    words = _message(_said(candidate.lead))
    if lead.count > 1 or len(words) < _ENOUGH_WORDS:
        return set()
    return {
        item.rank for item in candidate.items
        if item.rank is not None and item.finding.source == lead.source and words in _said(item)
    }  # fmt: skip


def _said(item: Item) -> str:
    shown = item.finding.evidence[0].text.split("\n")[-1] if item.finding.evidence else ""
    return split_line(shown)[1].strip()


def _thrown(lead: Item) -> bool:
    """Whether the line is what an exception said that nobody caught: it ended its process."""
    said = (text for e in lead.finding.evidence[:1] for text in (e.text, split_line(e.text)[1]))
    return any(compiled(_THROWN).match(text) is not None for text in said)


def thrown_or_raised(lead: Item) -> bool:
    """Whether a process broke down with it, in Python or below."""
    return lead.finding.raised or _thrown(lead)
