"""What glog and loggers that print like it put before a line: c10, klog, absl, torch's Python side."""

from __future__ import annotations

from triage.scan import clock
from triage.scan.lazy import Lazy
from triage.scan.prefixes.draft import TIME, Draft

_C10 = Lazy(r"\[([EWIFVD])(?:(\d{3,4}) (\d\d:\d\d:\d\d)(?:\.\d+)?)? ([\w./+-]+:\d+)\] ?")
_GLOG = Lazy(r"([EWIFVDC])(\d{4}|\d{8}) " + TIME + r"(?: +(-?\d{1,20}))? ([^\s\]]{1,200})\](?: |$)")
_UNDATED_GLOG = Lazy(r"([EWIF])0000 00:00:(\d{10}\.\d{1,9}) +\d+ ([^\s\]]{1,200})\](?: |$)")
_SHORT_GLOG = Lazy(r"([EWIFVD]) (\d\d:\d\d:\d\d) ([\w.]+)\](?: |$)")
COMPILE_ID = Lazy(r"\[(?:!?\d+/)?\d+/\d+(?:_\d+)?\](?: |$)")
"""The compilation that a line of torch.compile is about."""
_PID_DIGITS = 7
"""Digits that the number of a process has at most."""


def c10(text: str, at: int, draft: Draft) -> int:
    """``[E1104 18:38:34.697891902 ProcessGroupNCCL.cpp:744] ``; torch 2.2 and 2.3 without the time.

    The digits after the point are a monotonic clock's and mean nothing beside the seconds.
    """
    found = _C10.match(text, at)
    if found is None:
        return at
    level, date, time, logger = found.groups()
    if date is not None:
        draft.stamp(clock.glog(date, time))
    draft.severity(level)
    draft.logger = logger
    return found.end()


def glog(text: str, at: int, draft: Draft) -> int:
    """``E1120 18:16:12.703000 22836 torch/distributed/run.py:1002] ``: glog, klog, absl, torch's Python."""
    found = _GLOG.match(text, at)
    if found is None:
        return _undated_glog(text, at, draft)
    level, date, time, fraction, pid, logger = found.groups()
    moment = clock.glog(date, time, fraction)
    if moment is None:
        return at
    draft.stamp(moment)
    draft.severity(level)
    draft.logger = logger
    end = found.end()
    if ".py:" in logger:
        # C++ programs print the thread there, and so does absl, whose numbers of threads are addresses
        draft.pid = int(pid) if pid and pid.isdigit() and len(pid) <= _PID_DIGITS else draft.pid
        compiled = COMPILE_ID.match(text, end)
        end = compiled.end() if compiled else end
    return end


def _undated_glog(text: str, at: int, draft: Draft) -> int:
    """``I0000 00:00:1732700000.123456   12345 service.cc:148] ``: absl before it knows the time zone."""
    found = _UNDATED_GLOG.match(text, at)
    if found is None:
        return at
    draft.stamp(clock.number(found[2]))
    draft.severity(found[1])
    draft.logger = found[3]
    return found.end()


def short_glog(text: str, at: int, draft: Draft) -> int:
    """``I 03:01:14 package.module] ``."""
    found = _SHORT_GLOG.match(text, at)
    if found is None:
        return at
    draft.stamp(clock.daytime(found[2]))
    draft.severity(found[1])
    draft.logger = found[3]
    return found.end()
