"""Exceptions that Python really raised, formatted, interleaved and read back."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.scan.prefix import Continuation, split_line
from triage.scan.traceback import Traceback, parse_faulthandler, parse_traceback

WORDS = st.text(alphabet="abcdefgh ", min_size=1, max_size=12).map(lambda t: f"w{t.strip()}")
MESSAGES = st.lists(WORDS, min_size=1, max_size=3).map("\n".join)
TYPES: list[type[Exception]] = [ValueError, RuntimeError, OSError, ConnectionError]
RAISES = st.lists(st.tuples(st.sampled_from(TYPES), MESSAGES, st.booleans()), min_size=1, max_size=4)


def raise_all(steps: list[tuple[type[Exception], str, bool]]) -> None:
    """Raise the last of ``steps`` while handling the one before it, or because of it."""
    kind, message, explicit = steps[-1]
    try:
        if len(steps) > 1:
            raise_all(steps[:-1])
    except Exception as earlier:
        if explicit:
            raise kind(message) from earlier
        raise kind(message)  # noqa: B904 - the implicit chain is what is wanted
    raise kind(message)


def formatted(work: Callable[[], None]) -> tuple[list[str], BaseException]:
    try:
        work()
    except BaseException as error:
        return traceback.format_exc().rstrip("\n").split("\n"), error
    raise AssertionError("nothing was raised")


def check_chain(found: Traceback | None, error: BaseException, end: int) -> None:
    assert found is not None
    assert found.end == end
    raised: BaseException | None = error
    for part in reversed((*found.chain, found)):
        assert raised is not None
        assert (part.exception_type, part.message) == (type(raised).__name__, str(raised))
        calls = traceback.extract_tb(raised.__traceback__)
        assert [(f.path, f.line, f.function) for f in part.frames] == [
            (c.filename, c.lineno, c.name) for c in calls
        ]
        raised = raised.__cause__ or raised.__context__
    assert raised is None


@settings(max_examples=50, deadline=None)
@given(RAISES, st.integers(0, 3))
def test_what_python_raises_is_read_back(steps: list[tuple[type[Exception], str, bool]], indent: int) -> None:
    lines, error = formatted(lambda: raise_all(steps))
    check_chain(parse_traceback(lines, 0), error, len(lines))
    shifted = [("  " * indent + line) if line else "" for line in lines]
    check_chain(parse_traceback(shifted, 0), error, len(lines))


@settings(max_examples=40, deadline=None)
@given(RAISES, RAISES, st.randoms(use_true_random=False))
def test_tracebacks_of_two_ranks_interleave(
    steps: list[tuple[type[Exception], str, bool]],
    others: list[tuple[type[Exception], str, bool]],
    random: object,
) -> None:
    raised = [formatted(lambda: raise_all(steps)), formatted(lambda: raise_all(others))]
    # torch's exception hook leaves blank lines without the tag
    queues = [[f"[rank{rank}]: {t}" if t else "" for t in lines] for rank, (lines, _) in enumerate(raised)]
    merged: list[str] = []
    while any(queues):
        queue = random.choice([q for q in queues if q])  # type: ignore[attr-defined]
        merged.append(queue.pop(0))
    split = [split_line(line) for line in merged]
    for rank, (_, error) in enumerate(raised):
        start = next(i for i, (prefix, _) in enumerate(split) if prefix.rank == rank)
        record = Continuation(split[start][0])
        messages = [split[start][1]]
        messages += [message for prefix, message in split[start + 1 :] if record.takes(prefix)]
        found = parse_traceback(messages, 0)
        assert found is not None
        assert found.exception_type == type(error).__name__
        assert found.message == str(error)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups are new in Python 3.11")
@settings(max_examples=30, deadline=None)
@given(
    st.recursive(st.tuples(st.sampled_from(TYPES), MESSAGES), lambda c: st.lists(c, min_size=1, max_size=3))
)
def test_exception_groups_are_read_back(plan: object) -> None:
    def build(part: object) -> Exception:
        if isinstance(part, list):
            return ExceptionGroup("several", [build(p) for p in part])  # noqa: F821
        kind, message = part  # type: ignore[misc]
        try:
            raise kind(message)
        except Exception as error:
            return error

    def check(found: Traceback, error: BaseException) -> None:
        assert (found.exception_type, found.message) == (type(error).__name__, str(error))
        inner = getattr(error, "exceptions", ())
        assert len(found.members) == len(inner)
        for member, expected in zip(found.members, inner, strict=True):
            check(member, expected)

    def work() -> None:
        raise build([plan])

    lines, error = formatted(work)
    found = parse_traceback(lines, 0)
    assert found is not None
    assert found.end == len(lines)
    check(found, error)
    first = error
    while getattr(first, "exceptions", ()):
        first = first.exceptions[0]  # type: ignore[attr-defined]
    assert found.root.message == str(first)


LAYOUTS = """Traceback (most recent call last):
  File "a.py", line 1, in f
    code()
    ^^^^
ValueError: x

During handling of the above exception, another exception occurred:
  + Exception Group Traceback (most recent call last):
  | ExceptionGroup: x (2 sub-exceptions)
  +-+---------------- 1 ----------------
    +---------------- 2 ----------------
    | ValueError: 1
    +------------------------------------
Original Traceback (most recent call last):
-- Process 0 terminated with the following error:
Traceback (most recent call last): (RANK 0)
ray.exceptions.RayTaskError(V): ray::f() (pid=1)
╭──── Traceback (most recent call last) ────╮
│ /a/b.py:1 in f                            │
╰───────────────────────────────────────────╯
x.ChildFailedError:
====================
Fatal Python error: Aborted
Current thread 0x00 (most recent call first):
  File "a", line 1 in f"""


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(LAYOUTS.split("\n")), st.text(max_size=20)), max_size=30))
def test_any_lines_are_read_without_an_error(lines: list[str]) -> None:
    for start in range(len(lines)):
        found = parse_traceback(lines, start)
        if found is not None:
            assert start < found.end <= len(lines)
            assert found.root is not None
        fault = parse_faulthandler(lines, start)
        assert fault is None or start < fault.end <= len(lines)
