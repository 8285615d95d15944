"""Exceptions that no rule knows: which kind of failure their name, words and stack speak of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from triage.diagnosis.causes.kinds import (
    KINDS,
    MISSING,
    OF_LOOKUPS,
    OUTER,
    SLIPS,
    UNPACKING,
    Place,
    kind_of,
)
from triage.diagnosis.causes.sequels import comes_of, of_a_sequel
from triage.diagnosis.causes.torn import SpareEnds
from triage.diagnosis.heeded import INTERRUPTED, but_trackers, by_source, inside, while_handling
from triage.diagnosis.job import TROUBLE, Item, Job, compare
from triage.diagnosis.words.asserted import kind_of_assertion
from triage.diagnosis.words.departed import tells_of_a_departure
from triage.diagnosis.words.hearsay import heard
from triage.diagnosis.words.readers import of_text
from triage.diagnosis.words.services import of_service
from triage.diagnosis.words.trouble import category_of
from triage.diagnosis.words.wording import of_objects
from triage.scan.lazy import compiled

BUILTIN_ERRORS = frozenset(
    [
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "FileNotFoundError",
        "IndexError",
        "KeyError",
        "LookupError",
        "NotADirectoryError",
        "NotImplementedError",
        "TypeError",
        "UnicodeDecodeError",
        "ValueError",
        "ZeroDivisionError",
    ]
)
_DONE = frozenset(["checkpoint"])
"""What torch itself does, with code enough to slip in."""
_OF_SETTINGS = r"\b(?:\w*conf(?:ig)?s?|cfgs?|args|opts?|options|settings|h?params|hyper\w*)(?:\.\w+|\[[^\[\]]+\])*\[(['\"])"
"""Where a program looks a setting up by its name."""
_BY_SETTING = (
    r"\w\[(?:self\.)?(?:\w*conf(?:ig)?s?|cfgs?|args|opts?|options|settings|h?params)"
    r"(?:\.(?!get)\w+|\[['\"]\w+['\"]\]|\.get\([^()]*\))+\]"
)
"""Where it looks up what a setting names."""
_GIVEN = r"\b(?:os\.environ\b|(?:os\.)?getenv\(|environ(?:\.get\(|\[)|sys\.argv\b)"
"""Where a program reads what it was started with."""
_MAKES_OF = (
    r"\b(?:int|float|bool|eval|getattr|datetime|timedelta|torch\.device)\((?:[\w.]+, ?)?(?:self\.)?"
    r"(?:FLAGS|\w*conf(?:ig)?s?|cfgs?|args|opts?|options|settings|h?params)(?:\.(?!get\()\w+|\[['\"]\w+['\"]\]|\.get\([^()]*\))+\s*[,)]"
)
"""Where it makes a number, a type or a device of a setting."""
_OF_SAVED = r"(?i)\b\w*(?:ckpt|checkpoint|state_?dict|snapshot|saved_state)\w*(?:\[['\"]\w+['\"]\])*\[(['\"])"
"""Where a program takes a part of what was saved."""
_FINITE = r"assert\b.*\bis_?(?:finite|nan|inf)\("
"""Where it takes for granted that numbers are numbers."""
_OF_VALUES = frozenset(["JSONDecodeError", "ParserError", "ScannerError", "TypeError", "ValueError"])
"""What is raised of a value that cannot be read as a number, as JSON, as YAML."""
_GUESSED = frozenset([None, "data-loading", "user-code"])
"""Kinds that the place where a program reads its settings knows better."""
_CHILDS_STATUS = (
    r"(?is)(?:Command\b.{1,4000}?'|[^\n.:;]{0,80}?)\s*\b(?:exited|failed|ended|returned|finished) (?:with )?(?:a )?non-?zero"
    r" (?:exit |return )?(?:status|code)\b"
    r"|Command\b.{1,4000}? died with <Signals\.\w+: \d+>"
)
"""What is raised of a child that ended badly."""
_LACKS = r"module '[\w.]+' has no attribute '"
"""What Python says where code asks a module for what is not in it."""
_UNFIT_CALL = (
    r"[\w.<>]+\(\) (?:got (?:an unexpected keyword|multiple values for)|takes (?:from )?\d+|missing \d+ required)\b"
    r"|[\w.:]+\(\) (?:expected at most \d+ argument\(s\) but received|is missing value for argument) "
    r"|Unknown keyword argument '\w+' for operator "
)
"""What Python, and torch of operators, say where who calls and who is called are not of a mind about the arguments."""
_OF_DEPARTURES = frozenset(["AssertionError", "Exception", "RuntimeError"])
"""What is raised where nothing but a check tells that another process is there no more."""
_REMOTE_CALL = r"(?:\x1b?\[36m)?ray::[\w.<>:-]+\(\)[^\n]*"
"""All that is left of what Ray passes on, where the remote traceback below it was left out."""
_OF_VALUES_GIVEN = frozenset(["AssertionError", "ValueError"])
_OF_CALLS = _OF_VALUES_GIVEN | {"NotImplementedError", "RuntimeError"}
"""What is raised of values that were given, and where Python's own library is called at the wrong time."""
_IMPORT = r"(?:from [\w.]+ )?import \w"
"""A line by which a program loads a library."""


def exceptions(job: Job) -> Iterator[list[Item]]:
    """Exceptions that no rule knows, grouped by type and place; the user's own are user-code."""
    grouped: dict[tuple[object, ...], list[Item]] = defaultdict(list)
    claimed = [
        i for i in job.items
        if i.finding.raised and i.rule.fact != "exception" and i.rule.role in {"cause", "symptom", "benign"}
        and not (OF_A_REQUEST in i.rule.tags and _ends_a_rank(i))
    ]  # fmt: skip
    found = but_trackers(list(job.of_fact("exception")))
    claimed = [i for i in claimed if not (i.rule.role == "benign" and _ends_a_program(i, found))]
    # equal findings are folded and stand where the first was: what is said alike in between is known too
    folded = by_source(i for i in claimed if i.finding.count > 1)
    echoes = {
        (item.rank, *_words(item)) for item in found for known in folded[item.finding.source]
        if inside(known, item) and not _aside(known, item) and (known.rule.role == "benign" or known.rank is None)
    }  # fmt: skip
    claimed_in, found_in = by_source(claimed), by_source(found)
    sites: set[tuple[object, ...]] = set()
    left: list[Item] = []
    losses = by_source(_losses(job, found))
    for item in found:
        claims, raised = claimed_in[item.finding.source], found_in[item.finding.source]
        known = next(
            (
                k
                for k in claims
                if inside(k, item) and not _aside(k, item) and not of_a_sequel(k, item, raised)
            ),
            None,
        )
        if known is not None and known.rule.role == "symptom":
            sites.add(_site(item))
        if known is None and (item.rank, *_words(item)) not in echoes and not comes_of(item, claims, raised):
            left.append(item)
    ends = SpareEnds(job, [i for i in claimed if i.rule.role == "symptom"], found)
    others = any(i.rule.role in {"cause", "symptom"} for i in job.items)
    interrupted = {item.text("type") for item in found} - {None} == {INTERRUPTED}
    named = any(item.text("type") not in {None, INTERRUPTED} for item in left)
    felled = [i for i in job.of_fact("rank-exit") if (i.number("exit_code") or 0) < 0]
    for item in left:
        if any(
            while_handling(item, stop)
            for stop in found_in[item.finding.source]
            if stop.text("type") == INTERRUPTED
        ):
            continue
        if others and (_is_status(item) or _is_call(item) or _is_cancelled(item)):
            continue  # who ends with it, waits for one that did, or was told to stop waiting, says nothing of why
        if item.text("type") is None and (
            interrupted
            or named
            or (item.text("file") is not None and _site(item) in sites)
            or any(compare(end.finding, item.finding) == -1 for end in felled)
        ):
            continue  # the log breaks off, or others write into it, while one more says the same, or what a kill led to
        if any(_made_of(item, loss) for loss in losses[item.finding.source]):
            continue  # the program says in words of its own that it lost others, or waited in vain
        if ends.take(item):
            continue  # others' lines stand between its head and its end, which is known
        key = (item.fields.get("type"), item.fields.get("raised_in"), item.fields.get("raised_function"))
        grouped[key].append(item)
    for items in grouped.values():
        # a traceback whose head is cut off shows less of who called
        told = next((i for i in items if i.number("_depth") is not None), items[0])
        rule = job.rules[_rule(told)]
        alike = [Item(item.finding, rule) for item in items]
        yield alike if _is_status(told) else [heard(job, item) for item in alike]


OF_A_REQUEST = "of-a-request"
"""Tag of what is harmless in a server, which refuses a request and goes on."""


def _is_status(item: Item) -> bool:
    """Whether an exception says a mere status: a program's own, or that of one which it has started."""
    said = item.text("message") or ""
    if item.text("type") == "SystemExit":
        return not said or said.isdigit()
    return compiled(_CHILDS_STATUS).match(said) is not None


def _is_cancelled(item: Item) -> bool:
    """Whether an exception only tells that somebody cancelled a task."""
    return (item.text("type") or "").rpartition(".")[2] == "CancelledError"


def _is_call(item: Item) -> bool:
    """Whether an exception names the remote call that raised another one, and nothing that tells of what kind that is."""
    inner = compiled(OUTER).search(item.text("type") or "")
    told = inner is not None and inner[1] in KINDS
    return not told and compiled(_REMOTE_CALL).fullmatch((item.text("message") or "").rstrip()) is not None


def _ends_a_rank(item: Item) -> bool:
    """Whether torch's hook printed an exception, which it does for those that end a process."""
    return item.finding.level is None and item.finding.stream.endswith(f"rank{item.rank}")


def _ends_a_program(item: Item, exceptions: Sequence[Item]) -> bool:
    """Whether what is harmless elsewhere was raised through all of a program, from its first line, and nobody logged it."""
    return any(
        e.fields.get("_main") is True
        and e.finding.level is None
        and e.text("type") not in {INTERRUPTED, "SystemExit"}
        and inside(item, e)
        for e in exceptions
    )


def _losses(job: Job, exceptions: Sequence[Item]) -> list[Item]:
    """The exceptions that are the loss of others, or a wait for them, and nothing else."""
    troubles = by_source(i for tag in TROUBLE for i in job.of_tag(tag) if i.rule.role == "symptom")
    told = [
        item for item in exceptions if any(inside(trouble, item) for trouble in troubles[item.finding.source])
    ]
    # of equal ones only the first and the last place are known
    words = {_words(item) for item in told}
    return [item for item in exceptions if _words(item) in words]


def _made_of(item: Item, loss: Item) -> bool:
    """Whether an exception was raised from, or while handling, the first one of the same chain."""
    return item is not loss and item.text("type") is not None and while_handling(item, loss)


def _aside(known: Item, exception: Item) -> bool:
    """Whether a rule knows only what stands around an exception's message, and that says nothing of the exception.

    Something harmless that it adds, a launcher's word that its process has ended, or whose process raised it, on the
    line on which its traceback begins.
    """
    tags = known.rule.tags
    if "announces" in tags and known.finding.offset == exception.number("_begin"):
        return True
    apart = known.rule.role == "benign" or known.rule.fact == "rank-exit" or "launcher-report" in tags
    return apart and known.finding.offset > exception.finding.offset


def _words(item: Item) -> tuple[str | None, str]:
    """What an exception says, whatever numbers it says it of."""
    return item.text("type"), compiled(r"\d+").sub("0", item.text("message") or f"{item.finding.offset}:")


def _refuses_a_value(name: str | None, message: str, place: Place) -> bool:
    """Whether a library says in words what value it does not take, and not of which object."""
    refused = name in _OF_VALUES_GIVEN or name == "NotImplementedError"
    return refused and place.worded and place.knows_settings and not of_objects(message)


def _site(item: Item) -> tuple[object, ...]:
    return tuple(item.fields.get(name) for name in ("file", "line", "function"))


def _rule(item: Item) -> str:
    """The rule that speaks for an exception."""
    if item.text("type") == INTERRUPTED:
        # wherever it reached the program, it is nothing that the program did
        return "python.keyboard-interrupt"
    name, message = item.text("type"), item.text("message") or ""
    if name is None and item.text("raised_in") is None:
        return "unknown.begun"
    raised, depth = item.text("raised_kind"), item.number("_depth")
    place = Place(
        item.text("raised_in") or "",
        item.text("raised_function") or "",
        raised,
        depth,
        item.text("code") or "",
        item.fields.get("_in_words") is True,
    )
    if _is_status(item):
        return "unknown.exception"  # the words of the command that it quotes tell nothing
    if raised in {"library", "torch"} and name in _OF_DEPARTURES and tells_of_a_departure(message):
        return "unknown.process-gone"
    asserted = kind_of_assertion(item.text("_asserted") or "") if raised == "library" else None
    kind = asserted or kind_of(name, message, item.text("doing"), place)
    if name == "KeyError" and (
        _is_setting(message, place.code) or compiled(_BY_SETTING).search(place.code) is not None
    ):
        return "unknown.config"
    if name == "KeyError" and raised == "user" and _looked_up(message, _OF_SAVED, place.code):
        return "unknown.checkpoint"  # what was saved has no such part
    if name == "AssertionError" and raised == "user" and not message and compiled(_FINITE).match(place.code):
        return "unknown.numerics"
    if (
        raised != "library" and kind in _GUESSED
        and (
            ((name or "").rpartition(".")[2] in _OF_VALUES and compiled(_GIVEN).search(place.code))
            or (name in {"AttributeError", "RuntimeError", "TypeError", "ValueError"} and compiled(_MAKES_OF).search(place.code))
        )
    ):  # fmt: skip
        return "unknown.config"  # what the program was started with cannot be read as what it is to be
    if kind is None:
        kind = of_text(name or "", place.code, item.text("function") or "")
    if (
        raised in {"library", "torch"}
        and name == "AttributeError"
        and compiled(_LACKS).match(message) is not None
    ):
        return "unknown.driver-or-version"  # its own modules, or another library's, are of another version or build
    between = raised in {"library", "torch"} and not place.near and name in {"RuntimeError", "TypeError"}
    if between and compiled(_UNFIT_CALL).match(message) is not None:
        return "unknown.driver-or-version"  # libraries call one another, or what a service answers, in another version's way
    # torch and the standard library complain about what the user's own frame gave them
    near = place.near and name in BUILTIN_ERRORS
    users = raised == "user" or near or (raised in {"torch", "stdlib", "frozen"} and depth is not None)
    if kind == "user-code":
        return "unknown.user-code" if users else "unknown.refused-call"
    if kind == "network-config" and of_service(name or "", message, place.path) == kind:
        return "unknown.service-unanswered"
    if kind is not None:
        return f"unknown.{kind}"
    if name == "ZeroDivisionError" and raised == "library":
        return "unknown.config"  # a library divides by a number of steps, samples or ranks that it was given
    if raised == "library" and place.function == "<module>" and name in SLIPS:
        return "unknown.driver-or-version"  # a library that slips while it is imported does not fit what it runs on
    if (
        raised == "library"
        and place.function != "<module>"
        and compiled(_IMPORT).match(place.code) is not None
    ):
        return "unknown.driver-or-version"  # nor does one that raises while the program only imports it
    if name == "NotImplementedError" and raised == "library" and not message:
        return "unknown.config"  # a library was asked for a variant that it has not got
    if raised == "library" and place.function == "__init__" and _refuses_a_value(name, message, place):
        return "unknown.config"  # with what it is made is how it is to work
    if users:
        return "unknown.user-code"
    named = category_of(message)
    if named is not None:
        return f"unknown.{named}"
    if name in MISSING:
        return "unknown.storage"
    if place.near:
        return "unknown.refused-call"  # it complains of what it was given
    # a slip in code that is not the user's, while something was done for which nobody else is named: that failed
    if raised == "torch" and item.text("doing") in _DONE:
        return f"unknown.{item.text('doing')}"
    if (raised == "stdlib" and name in _OF_CALLS) or (raised == "library" and name in _OF_VALUES_GIVEN):
        return "unknown.refused-call"  # so says a library to whoever calls it wrongly, or Python's at the wrong time
    # what a library looks for in an object and does not find there is about that object, however deep it looks
    slip = name in SLIPS or name in OF_LOOKUPS or compiled(UNPACKING).match(message) is not None
    return "unknown.refused-call" if slip else "unknown.exception"


def _is_setting(key: str, code: str) -> bool:
    """Whether a program's own line looks up ``key`` among its settings."""
    return _looked_up(key, _OF_SETTINGS, code)


def _looked_up(key: str, holders: str, code: str) -> bool:
    """Whether a line looks up ``key`` in one of the ``holders``."""
    return any(
        code.startswith(f"{key.strip(chr(39) + chr(34))}{found[1]}]", found.end())
        for found in compiled(holders).finditer(code)
    )
