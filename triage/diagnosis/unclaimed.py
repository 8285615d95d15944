"""Exceptions that no rule knows: which kind of failure their name, words and stack speak of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from triage.diagnosis.job import Item, Job
from triage.diagnosis.speakers import speaker
from triage.scan.lazy import compiled

NEAR_FRAMES = 3
"""A library that complains so few frames below the user's call complains about what it was given."""
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
_SLIPS = frozenset(
    [
        "AttributeError",
        "ImportError",
        "ModuleNotFoundError",
        "NameError",
        "SyntaxError",
        "TypeError",
        "UnboundLocalError",
    ]
)
"""Errors in what a program says, whatever it was doing."""
_OF_PEERS = frozenset(
    [
        "BrokenPipeError",
        "ConnectionAbortedError",
        "ConnectionError",
        "ConnectionRefusedError",
        "ConnectionResetError",
    ]
)
"""What a process meets whose peer is gone or not there yet."""
_OF_FILES = frozenset(
    ["BlockingIOError", "FileExistsError", "IOError", "IsADirectoryError", "OSError", "PermissionError"]
)
_MISSING = frozenset(["FileNotFoundError", "NotADirectoryError"])
"""What a library did not find that the user's own call did not name."""
_OF_SETTINGS = frozenset(["AssertionError", "NotImplementedError", "RuntimeError", "ValueError"])
"""What libraries raise on settings that they do not accept."""
_SETTINGS_FILE = r"(?i)\.(?:ya?ml|toml|ini|cfg|conf)'"
_NAMES = {
    "auth-or-hub": [
        "EntryNotFoundError", "FileMetadataError", "GatedRepoError", "HFValidationError", "HfHubHTTPError",
        "LocalEntryNotFoundError", "LocalTokenNotFoundError", "OfflineModeIsEnabled", "RemoteEntryNotFoundError",
        "RepositoryNotFoundError", "RevisionNotFoundError",
    ],
    "checkpoint": ["CheckpointException", "CheckpointingException", "SafetensorError", "UnpicklingError"],
    "compile-or-graph-capture": [
        "BackendCompilerFailed", "CompilationError", "CppCompileError", "InductorError", "LoweringException",
        "NoValidChoicesError", "PTXASError", "SubprocException", "TorchDynamoException", "TorchRuntimeError",
    ],
    "config": ["ArgumentError", "ConfigAttributeError", "ConfigCompositionException", "ConfigError", "ConfigKeyError",
               "InterpolationKeyError", "MisconfigurationException", "MissingMandatoryValue", "ValidationError"],
    "data-loading": ["DatasetGenerationError", "DatasetNotFoundError", "DataFilesNotFoundError", "NonMatchingSplitsSizesError",
                     "ShufflerException", "UnidentifiedImageError"],
    "driver-or-version": ["DistributionNotFound", "PackageNotFoundError", "VersionConflict"],
    "gpu-oom": ["OutOfMemoryError"],
    "host-oom": ["MemoryError"],
    "numerics": ["FloatingPointError"],
}  # fmt: skip
"""Kinds of failure that an exception's name alone tells."""
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names}
_NOT_FINITE = (
    r"(?i)\b(?:loss|grad(?:ient)?s?|norm|logits?|weights?|activations?|outputs?|values?|tensors?)\b.{0,60}"
    r"\b(?:nan|not[ -]finite|non-?finite|infinite|diverg\w+|exploded)\b|\b(?:nan|non-?finite) (?:loss|grad)"
    r"|\b(?:found|detected|unexpected result|contains?|encountered) (?:an? )?nan\b"
)
_OUTER = r"\((?:[\w.]*\.)?(\w+)\)$"
"""Ray names what a task raised within its own exception's name."""


def kind_of(name: str | None, message: str | None, doing: str | None = None) -> str | None:
    """The category that an exception's name, words and surroundings tell; None where they tell none.

    Args:
        doing: what was being done, by the calls on the stack.
    """
    whole = name or ""
    inner = compiled(_OUTER).search(whole)
    short = inner[1] if inner else whole.rpartition(".")[2]
    if short == "OutOfMemoryError" and whole.startswith("ray."):
        return "gpu-oom" if inner else "host-oom"  # Ray's own is about the node's memory
    if short in _KINDS:
        return _KINDS[short]
    if compiled(_NOT_FINITE).search(message or ""):
        return "numerics"
    if doing is not None and short not in _SLIPS:
        return doing
    if short in _OF_PEERS:
        return "network-config"
    if short in _OF_FILES:
        return "storage"
    return None


def exceptions(job: Job) -> Iterator[list[Item]]:
    """Exceptions that no rule knows, grouped by type and place; the user's own are user-code."""
    grouped: dict[tuple[object, ...], list[Item]] = defaultdict(list)
    claimed = [
        i for i in job.items
        if i.finding.raised and i.rule.fact != "exception" and i.rule.role in {"cause", "symptom", "benign"}
    ]  # fmt: skip
    told: set[tuple[object, ...]] = set()
    left: list[Item] = []
    for item in job.of_fact("exception"):
        known = next((known for known in claimed if inside(known, item)), None)
        if known is None:
            left.append(item)
        elif known.rule.role == "symptom":
            told.add(_site(item))
    for item in left:
        if item.text("type") is None and item.text("file") is not None and _site(item) in told:
            continue  # the log breaks off while one more says the same
        key = (item.fields.get("type"), item.fields.get("raised_in"), item.fields.get("raised_function"))
        grouped[key].append(item)
    for items in grouped.values():
        rule = job.rules[_rule(items[0])]
        yield [Item(item.finding, rule) for item in items]


def _site(item: Item) -> tuple[object, ...]:
    return tuple(item.fields.get(name) for name in ("file", "line", "function"))


def _rule(item: Item) -> str:
    """The rule that speaks for an exception."""
    name = item.text("type")
    if name is None and item.text("raised_in") is None:
        return "unknown.begun"
    kind = kind_of(name, item.text("message"), item.text("doing"))
    if kind is not None:
        return f"unknown.{kind}"
    if name == "FileNotFoundError" and compiled(_SETTINGS_FILE).search(item.text("message") or ""):
        return "unknown.config"
    if name == "ZeroDivisionError" and item.text("raised_kind") == "library":
        return "unknown.config"  # a library divides by a number of steps, samples or ranks that it was given
    if item.text("raised_kind") == "library" and (name or "").rpartition(".")[2] in _OF_SETTINGS:
        depth = item.number("_depth")
        if (depth is None or depth > NEAR_FRAMES) and speaker(item.text("message") or "") == "settings":
            return "unknown.config"
    # torch and the standard library complain about what the user's own frame gave them
    raised = item.text("raised_kind")
    depth = item.number("_depth")
    near = depth is not None and depth <= NEAR_FRAMES and name in BUILTIN_ERRORS
    users = raised == "user" or near or (raised in {"torch", "stdlib", "frozen"} and depth is not None)
    if users:
        return "unknown.user-code"
    return "unknown.storage" if name in _MISSING else "unknown.exception"


def inside(known: Item, exception: Item) -> bool:
    """Whether a rule's finding lies in the traceback of an exception."""
    one, two = known.finding, exception.finding
    begin, end = exception.number("_begin"), exception.number("_end")
    if one.source != two.source or begin is None or end is None:
        return False
    # equal symptoms are folded: of those, the first and the last place are known
    last = one.last_offset if known.rule.role == "symptom" else None
    places = {one.offset, one.offset if last is None else last}
    return any(begin <= at <= end for at in places) and (
        one.stream == two.stream or not one.stream or not two.stream
    )
