"""What the words of an error, and the place that raises it, say of its kind, whatever program it is from.

Several kinds of words may stand in one message. They are asked from the surest to the weakest: a version that is
wanted is never anything else, while "must be" may be said of a setting or of a tensor.
"""

from __future__ import annotations

from triage.diagnosis.words import phrases
from triage.scan.lazy import compiled

_REFUSES = r"(?:^|[\s:;])(?:raise\s+[\w.]+\(\s*(?:[fr]?[\"']|$)|assert\b[^\n]*,\s*[fr]?[\"'])"
"""A line that raises with a message."""


def refuses(code: str) -> bool:
    """Whether a program says in words of its own what it does not accept: what it raises there is no slip."""
    return compiled(_REFUSES).search(code) is not None


def kind_of_words(
    words: str,
    path: str = "",
    function: str = "",
    doing: str | None = None,
    *,
    settings: bool = True,
    users: bool = False,
) -> str | None:
    """The category that ``words``, raised by ``function`` in the file ``path``, speak of; None where they may be anything.

    Args:
        doing: what was being done, by the calls on the stack.
        settings: whether the program that raises it has settings; torch and the standard library have none.
        users: whether it is the user's own program that raises it.
    """
    kind = unmistakable(words)
    if kind is not None or not words:
        return kind or doing
    hub = _says(phrases.HUB, words)
    checks = compiled(phrases.PLACE_CALLS).search(function) is not None
    asked = checks or compiled(phrases.PLACE_FILES).search(path) is not None
    if users and doing is None and not hub and not asked:
        return None  # the long lists of words need not be compiled
    refused = phrases.SETTINGS.search(words) is not None
    tensors = _says(phrases.TENSORS, words)
    given = tensors or phrases.OBJECTS.search(words) is not None
    if hub and not (refused and given):
        return "auth-or-hub"
    if doing is not None and not _asked_wrongly(doing, words, refused, given):
        return doing
    if users:
        return "config" if asked and refused and not given else None
    if asked and (not given or (checks and refused and not tensors and settings)):
        return "config"
    if settings and not tensors and where_settings_are_checked(path, function):
        return "config"
    if _of_settings(words, refused, given):
        return "config"
    return _of_others(words, asked, given) or _by_place(function, path, refused, given, settings)


def where_settings_are_checked(path: str, function: str) -> bool:
    """Whether a function that checks something, in a file of nothing but settings, says it: it has met no other object."""
    return _says(phrases.PLACE_FILES, path) and compiled(phrases.PLACE_CALLS).search(function) is not None


def unmistakable(words: str) -> str | None:
    """What some words mean wherever they stand."""
    if phrases.PACKAGES.search(words) or _says(phrases.TWO_VERSIONS, words):
        return "driver-or-version"
    if _says(phrases.RUNS_OUT, words):
        return "gpu-oom"
    if compiled(phrases.DEVICE).search(words) or _says(phrases.NVML, words):
        if _says(phrases.DEVICE_FULL, words):
            return "gpu-oom"
        return "driver-or-version" if _says(phrases.DRIVER, words) else "cuda-kernel"
    if _says(phrases.TURNED_AWAY, words):
        return "auth-or-hub"
    if _says(phrases.NO_ROOM, words):
        return "storage"
    if _says(phrases.UNREADABLE, words):
        return "data-loading"
    return "network-config" if _says(phrases.NO_ANSWER, words) else None


def of_settings(words: str) -> bool:
    """Whether words about settings are plain: two that do not go together, a flag, a variable, a path that leads nowhere."""
    return (
        _says(phrases.TOGETHER, words) or _says(phrases.FLAG, words) or _says(phrases.ABSENT, words)
        or compiled(phrases.VARIABLE).match(words) is not None
    )  # fmt: skip


def of_objects(words: str) -> bool:
    """Whether words speak of tensors, or of the objects that a call was given."""
    return _says(phrases.TENSORS, words) or phrases.OBJECTS.search(words) is not None


def _asked_wrongly(doing: str, words: str, refused: bool, given: bool) -> bool:
    """Whether what loads or saves something complains of how it was told to, not of what it found."""
    if doing == "data-loading":
        return _says(phrases.ASKED_OF_DATA, words) and not _says(phrases.BROUGHT, words)
    if doing == "checkpoint":
        return refused and _of_settings(words, refused, given) and not _says(phrases.BROKEN, words)
    return doing == "auth-or-hub" and (refused or given)


def _of_settings(words: str, refused: bool, given: bool) -> bool:
    """Whether a message names what is set: a flag, a variable, a choice, two that do not go together, a feature."""
    return (
        _says(phrases.FLAG, words) or _says(phrases.CHOICES, words)
        or compiled(phrases.VARIABLE).match(words) is not None
        or (refused and not given and (_says(phrases.TOGETHER, words) or _says(phrases.FEATURES, words)))
    )  # fmt: skip


def _of_others(words: str, asked: bool, given: bool) -> str | None:
    """Somebody who does not answer, or what was read or written."""
    if not asked and not _says(phrases.ABOUT_TIMEOUTS, words):
        if _says(phrases.UNREACHED, words):
            return "network-config"
        if _says(phrases.LATE, words):
            return "straggler-or-hang"
    if not asked and _says(phrases.UNFIT, words):
        if _says(phrases.CHECKPOINT, words):
            return "checkpoint"
        if not given and _says(phrases.DATA, words):
            return "data-loading"
    return "config" if _says(phrases.ABSENT, words) else None


def _by_place(function: str, path: str, refused: bool, given: bool, settings: bool) -> str | None:
    """Demands may be about settings or about what a call was given: the work itself knows no settings."""
    low = _says(phrases.RUNNING, function) or _says(phrases.LOW, path)
    if refused and settings and not given and not low:
        return "config"
    return "user-code" if given or (refused and low) else None


def _says(pattern: str, words: str) -> bool:
    return compiled(f"(?i){pattern}").search(words) is not None
