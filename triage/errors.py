"""The exceptions that misuse of triage raises. Bad *logs* never raise: they become notes."""

from __future__ import annotations


class TriageError(Exception):
    """Base of everything that triage raises on purpose. ``str()`` is fit for a user."""


class InputError(TriageError):
    """Nothing readable was given: a missing path, an unreadable file, an empty directory."""


class RuleError(TriageError):
    """A rule file is wrong. The message names the file, the line and what is wrong with it."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.line = line
        self.reason = message


class ExpressionError(RuleError):
    """A ``where``, ``when`` or ``derive`` expression can't be parsed or uses what isn't allowed."""


class ReceiptError(TriageError):
    """A run receipt is not what the receipt schema says."""


class UsageError(TriageError):
    """The command line or the call makes no sense; the message says what would."""
