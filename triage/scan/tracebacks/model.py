"""What a traceback is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FrameKind = Literal["user", "library", "torch", "stdlib", "frozen"]
Link = Literal["", "cause", "context", "quoted", "sibling"]

# looked up, missed and handled: inside a library these are the way things are tried
_PROBES = frozenset(
    ("KeyError", "AttributeError", "ImportError", "ModuleNotFoundError", "StopIteration", "Empty")
)
_LOOKUPS = frozenset(("KeyError", "AttributeError", "StopIteration", "Empty"))
"""Those of them that say nothing but what was looked up."""


@dataclass(slots=True, eq=False, repr=False)
class Frame:
    """One call on the stack. ``code`` is the source line where it was printed."""

    path: str
    line: int | None
    function: str
    code: str | None
    kind: FrameKind


@dataclass(slots=True, eq=False, repr=False)
class Traceback:
    """An exception that was raised, with the lines ``[start, end)`` that tell of it.

    ``frames`` go from the outermost call to the one that raised. ``exception_type`` is None when
    the text ends before the exception is named.
    """

    frames: tuple[Frame, ...]
    exception_type: str | None
    message: str
    start: int
    end: int
    message_line: int | None = None
    """Index of the line that names the exception."""
    chain: tuple[Traceback, ...] = ()
    """The exceptions that came before this one, oldest first; their own ``chain`` is empty."""
    link: Link = ""
    """How this exception came of the last one in its chain: ``cause`` (raise … from), ``context``
    (raised while handling it), ``quoted`` (it reports what another process or worker raised), or
    ``sibling`` (quoted beside it)."""
    members: tuple[Traceback, ...] = ()
    """What an exception group holds."""

    @property
    def raising_frame(self) -> Frame | None:
        """The innermost frame."""
        return self.frames[-1] if self.frames else None

    @property
    def user_frame(self) -> Frame | None:
        """The innermost frame in the user's own code."""
        return next((frame for frame in reversed(self.frames) if frame.kind == "user"), None)

    @property
    def depth(self) -> int | None:
        """How many frames the exception was raised below the innermost one of the user's."""
        return next(
            (below for below, frame in enumerate(reversed(self.frames)) if frame.kind == "user"), None
        )

    @property
    def root(self) -> Traceback:
        """The exception that began it all, as far as the text tells.

        That is the oldest of the chain: what ``raise … from`` names, what a worker's quoted
        traceback shows, and also what was being handled when the next exception was raised. The last
        of these is passed over when it is a mere miss inside a library (``KeyError``,
        ``AttributeError`` … outside the user's code) of which the next exception says nothing, or that
        the function which looked something up says in its own words. Of a group, its first member
        counts.
        """
        origin, *later = (*self.chain, self)
        for exception in later:
            if origin.exception_type is None or (
                exception.link == "context" and _is_probe(origin, exception)
            ):
                origin = exception
        return origin.members[0].root if origin.members else origin


@dataclass(slots=True, eq=False, repr=False)
class Fault:
    """What ``faulthandler`` printed when the interpreter died, in lines ``[start, end)``.

    ``frames`` are those of the thread that died and, as printed, go from the innermost call out.
    """

    reason: str
    frames: tuple[Frame, ...]
    start: int
    end: int

    @property
    def user_frame(self) -> Frame | None:
        """The innermost frame in the user's own code."""
        return next((frame for frame in self.frames if frame.kind == "user"), None)


def _is_probe(earlier: Traceback, later: Traceback) -> bool:
    name = (earlier.exception_type or "").rpartition(".")[2]
    frame = earlier.raising_frame
    if name not in _PROBES or (frame is not None and frame.kind == "user"):
        return False
    said = earlier.message.strip("'\" ")
    return (
        not said
        or said not in later.message
        or (name in _LOOKUPS and _translated(frame, later.raising_frame))
    )


def _translated(missed: Frame | None, raised: Frame | None) -> bool:
    """Whether the function that looked something up says in its own words that it is not there."""
    return (
        missed is not None
        and raised is not None
        and (missed.path, missed.function) == (raised.path, raised.function)
    )
