"""Where rules only suppose a kind of failure, the words of the message are asked: whose words are they otherwise?

How far the lexicon must be ahead to overrule a supposition was measured: with a tenth of the rules left out of
both the rules and the lexicon, the examples of those rules say which of the two is right more often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from triage.diagnosis.job import Item, Job
from triage.diagnosis.prose import statement
from triage.diagnosis.words.lexicon import LEAST_WORDS, Likeness, likeness
from triage.diagnosis.words.readers import OF_TEXT, reads_files
from triage.diagnosis.words.services import of_a_door, of_service
from triage.diagnosis.words.wording import (
    of_objects,
    of_settings,
    refuses,
    unmistakable,
    where_settings_are_checked,
)
from triage.model import Evidence, Finding, Value
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

_SLIPS = frozenset(
    ["AttributeError", "IndexError", "KeyError", "NameError", "SyntaxError", "TypeError", "UnboundLocalError"]
)
"""What Python raises on a slip of the pen."""
LITTLE = 0.1
"""The margin from which on a category is said where nothing else is known."""
MUCH = 0.6
"""The margin from which on the next category is no longer worth a word."""
CLEAR = 0.15
"""The margin from which on a line that states no error is taken to be of one kind."""
_ENOUGH = 5
"""Known words that such a line must have."""
PLAIN = 0.0
"""How far ahead of ordinary words a message must be to be taken for a failure on its words alone."""
_ANY_CHECK = ("deepep.assertion", "lmdeploy.assertion", "serving.flashinfer-refused")
"""Rules that know how a program words each of its checks, not which of them failed."""
_SUPPOSED = {
    "unknown.last-words": LITTLE,
    "unknown.exception": LITTLE,
    "unknown.stated": 0.2,
    "unknown.said-by-settings": LITTLE,
    "unknown.said-by-network": LITTLE,
    "unknown.network-config": 0.4,
    "unknown.said-of-network": 0.4,
    "nccl.warning": 0.6,
    "unknown.said-of-crash": 0.6,
    "unknown.said-of-kernel": 0.6,
    "unknown.cuda-kernel": 0.6,
    "unknown.storage": 0.6,
    **dict.fromkeys(_ANY_CHECK, 0.4),
}
"""The margin that it takes to overrule what these rules suppose; all others know more than words tell."""
_RATHER = {
    "unknown.engine-refused": 0.2,
    "unknown.straggler-or-hang": 0.2,
    "unknown.config": 0.3,
    "unknown.refused-call": 0.3,
    "unknown.user-code": 0.4,
    "unknown.checkpoint": 0.5,
    "unknown.data-loading": 0.5,
    "unknown.auth-or-hub": 0.6,
}
"""How far ahead of the kind that an exception's name, words and place speak of another must be to overrule it."""
_FRAME = r"\s*(?:File \"[^\"]+\", line \d+, in |Traceback \(most recent call last\))"
"""A line of a stack says where somebody was, not what went wrong."""
_ASKS_FOR_A_FLAG = (
    r"(?i)\b(?:pass|use|set|add|give|specify|provide|choose|try)\b[^\n]{0,40}?[\s`'\"(]--[a-z][\w-]{2,}"
)
_SPOKEN = r"(?<![\w./-])[A-Za-z]{2,}(?![\w/-])"
"""A word that is no part of a path or a name."""
_OF_SLIPS = 0.8
"""The margin that overrules a slip: it is seldom anything else, whatever it names."""
_OF_PLAIN = 0.9
"""The margin that makes of plain words about settings, or about objects, something else."""
_PLAIN_SLIPS = frozenset(["IndentationError", "NameError", "SyntaxError", "UnboundLocalError"])
_OF_PYTHON = (
    r"(?:(?:partially initialized )?module|type object|'[\w.]+' object|'[\w.]+') '?[\w.]*'? ?has no attribute "
    r"|could not convert string to \w+: |invalid literal for int\(\) with base |unsupported operand type"
    r"|list indices must be |string indices must be "
)
"""What Python itself says of a slip, whatever the program was about."""
_HEADED = r"ray::[^\s(]{1,200}\(\)(?: \(pid=|$)"
"""How Ray heads what a task has raised: what that says stands below, or nowhere."""
_GIVEN = frozenset(["frozen", "stdlib", "torch"])
"""Whose complaints are mostly about what the user's own code gave them."""
_OF_OWN = 1.2
"""The margin that makes of what the user's own code raises something else: a full disk is one whoever says so."""
_OF_REFUSALS = 0.7
"""The margin that does so where that code says in words of its own what it refuses: it is no slip then."""
_OF_OBJECTS = 0.35
"""The margin that makes a demand one about objects and not about settings: of both it is said in the same words."""
_OF_ANY = frozenset(["unknown.exception", "unknown.last-words", "unknown.stated"])
"""Rules that suppose no kind of failure."""
_OF_DEMANDS = 0.3
"""The margin that makes a slip that is spoken of like a setting one about an object, or whatever else its words say."""
_SURE = ((0.6, 0.62), (0.4, 0.54), (0.2, 0.45), (0.0, 0.32))
"""How sure a category can be that is told by words alone, by the margin from which on."""


def heard(job: Job, item: Item) -> Item:
    """``item``, or the same finding as one of the rule for the kind of failure that its words speak of."""
    rather = item.rule.id in _RATHER
    if not rather and item.rule.id not in _SUPPOSED:
        return item
    if rather and not _worded(item):
        return item
    words, like = _told_by(item.finding)
    if like is None or like.category == item.rule.category or not like.words:
        return item
    if rather and unmistakable(item.text("message") or "") == item.rule.category:
        return item
    if like.margin < (CLEAR if rather else LITTLE):
        return item
    ahead = like.over(str(item.rule.category)) if rather else like.margin
    return told(job, item, like, words) if ahead >= _needed(item, like, words) else item


def _needed(item: Item, like: Likeness, words: str) -> float:
    """How far ahead another kind must be to overrule what ``item`` supposes."""
    supposed, kind = item.rule.id, item.text("raised_kind")
    least = _RATHER.get(supposed, _SUPPOSED.get(supposed, inf))
    slip, rather = item.text("type") in _SLIPS, supposed in _RATHER
    if supposed == "unknown.config" and (item.text("type") or "").rpartition(".")[2] in OF_TEXT:
        return inf  # readers say the same of every file, and whose it is is known
    if _by_its_place(item):
        return inf
    if supposed == "unknown.config" and of_settings(item.text("message") or ""):
        return _OF_PLAIN
    if (
        supposed == "unknown.refused-call"
        and like.category == "config"
        and of_objects(item.text("message") or "")
    ):
        return _OF_PLAIN
    if supposed in _OF_ANY and item.text("type") and not _worded(item):
        return MUCH  # a key, a number or an unknown word tells nothing, whatever stands beside it
    if supposed == "unknown.said-by-settings" and compiled(_ASKS_FOR_A_FLAG).search(words):
        return MUCH  # what is spoken of beside it is what the flag is about
    if rather and kind == "user":
        least = _OF_REFUSALS if refuses(item.text("code") or "") else _OF_OWN
    elif slip and supposed == "unknown.config":
        least = (
            _OF_DEMANDS  # who demands a type or a key speaks of choices and of flags too, but of an object
        )
    elif slip or (rather and kind in _GIVEN):
        least = max(least, _OF_SLIPS)
    if like.category != "user-code" or supposed == "unknown.exception":
        return least
    if supposed == "unknown.data-loading" and reads_files(
        item.text("raised_in") or "", item.text("raised_function") or ""
    ):
        return inf  # what reads files speaks of arrays too
    if (item.text("doing") is not None and kind == "library") or (slip and supposed != "unknown.config"):
        return inf  # of a sample or a file of weights that is not as it should be it is said in words about arrays
    return max(least, _OF_OBJECTS)


def _by_its_place(item: Item) -> bool:
    """Whether who raised it tells its kind, whatever the words: a client of a service, who asks to be let in, what checks settings."""
    name, message, path = item.text("type") or "", item.text("message") or "", item.text("raised_in") or ""
    if item.rule.id == "unknown.auth-or-hub":
        return of_a_door(message, path)
    if item.rule.id != "unknown.config":
        return False
    checked = item.text("raised_kind") == "library" and name not in _SLIPS
    checked = checked and where_settings_are_checked(path, item.text("raised_function") or "")
    return checked or of_service(name, message, path) == "config"


def _worded(item: Item) -> bool:
    """Whether an exception says something in a program's own words, not in Python's or the system's."""
    name, message = item.text("type"), item.text("message")
    if not name or not message or name in _PLAIN_SLIPS or message.startswith("[Errno "):
        return False
    if compiled(_OF_PYTHON).match(message) is not None or compiled(_HEADED).match(message) is not None:
        return False
    return len(compiled(_SPOKEN).findall(message)) >= LEAST_WORDS


def also(job: Job, item: Item) -> list[Item]:
    """What a supposition may be instead, by its words: the two likeliest kinds of failure besides its own."""
    if not item.rule.id.startswith("unknown.") and item.rule.id not in _SUPPOSED:
        return []
    words, like = _told_by(item.finding)
    if like is None:
        return []
    second = replace(like, category=like.next, margin=0.0, words=())
    nearest = [like, second] if like.margin < MUCH else [like]
    return [told(job, item, each, words) for each in nearest if each.category != item.rule.category]


def told(job: Job, item: Item, like: Likeness, words: str) -> Item:
    """The finding of ``item`` under the rule for messages that are ``like`` it."""
    rule = job.rules[f"unknown.like-{like.category}"]
    sure = next(confidence for margin, confidence in _SURE if like.margin >= margin)
    if item.rule.id in _RATHER:
        # what was raised was raised, whatever its kind
        sure = min(max(sure, item.rule.confidence), _SURE[0][1])
    if not item.rule.id.startswith("unknown."):
        sure = min(sure, item.rule.confidence)  # it goes on to give way to whatever knows more
    rule = replace(
        rule, confidence=sure, explains=item.rule.explains, origin=item.rule.origin,
        origin_fields=item.rule.origin_fields,
    )  # fmt: skip
    fields: dict[str, Value] = {
        **item.finding.fields,
        "words": " ".join(statement(words).split())[:300],
        "telling": ", ".join(f"“{word}”" for word in like.words) or "all of them",
    }
    return Item(replace(item.finding, rule_id=rule.id, fields=fields), rule)


def loudest(lines: Sequence[tuple[int, Evidence]]) -> tuple[int, Evidence, Likeness] | None:
    """That of ``lines`` whose words are furthest from ordinary ones and clearly of one kind, if there is one."""
    best: tuple[int, Evidence, Likeness] | None = None
    for index, shown in lines:
        words = split_line(shown.text)[1]
        like = None if compiled(_FRAME).match(words) else _of_line(words, _ENOUGH)
        if like is None or like.ahead < PLAIN or like.margin < CLEAR:
            continue
        if like.category == "numerics":
            continue  # a number that is not finite is a warning, unless something failed of it
        if best is None or like.ahead > best[2].ahead:
            best = (index, shown, like)
    return best


def _told_by(finding: Finding) -> tuple[str, Likeness | None]:
    """The first words of a finding that tell a kind of failure, and which."""
    for words in _words(finding):
        like = _of_line(words) if finding.fields.get("type") is None else likeness(words)
        if like is not None:
            return words, like
    return "", None


def _of_line(words: str, least: int = LEAST_WORDS) -> Likeness | None:
    """What kind of failure a line speaks of that is only printed: it is seldom about objects given to a call."""
    like = likeness(words, least)
    if like is not None and like.category == "user-code" and like.margin >= MUCH:
        return like
    return likeness(words, least, without="user-code")


def _words(finding: Finding) -> Iterator[str]:
    """What a finding says: an exception's name and message, then all lines that are shown, without prefixes."""
    name, message = finding.fields.get("type"), finding.fields.get("message")
    what = finding.fields.get("what")
    if finding.rule_id in _ANY_CHECK and isinstance(what, str):
        yield what
    if isinstance(name, str) or isinstance(message, str):
        yield f"{name or ''}: {message or ''}".strip(" :")
    lines = (split_line(line)[1] for shown in finding.evidence for line in shown.text.split("\n"))
    yield "\n".join(line for line in lines if not compiled(_FRAME).match(line))
