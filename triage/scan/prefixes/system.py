"""What the kernel, syslog and Slurm's daemons put before a line."""

from __future__ import annotations

from triage.model import Level
from triage.scan import clock
from triage.scan.lazy import Lazy
from triage.scan.prefixes.draft import LEVEL_WORD, TIME, Draft

_SYSLOG = Lazy(
    r"([A-Z][a-z]{2}) +(\d{1,2}) "
    + TIME
    + r" ([\w.:%-]{1,255}) ([\w./@()-]{1,80})(?:\[(\d{1,10})\])?:(?: |$)"
)
_CLOCK = Lazy(r"([A-Z][a-z]{2}) +(\d{1,2}) " + TIME + r"(?: |$)")
_RSYSLOG = Lazy(r"([A-Za-z0-9][\w.-]{0,254}) ([\w./@-]{1,80})(?:\[(\d{1,10})\])?:(?: |$)")
_DMESG = Lazy(r"\[ *(\d{1,10}\.\d{6})\](?: \[ *[TC]\d+\])?(?: |$)")
_DMESG_DATE = Lazy(
    r"\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})\](?: \[ *[TC]\d+\])?(?: |$)"
)
_DMESG_LEVEL = Lazy(
    r"(?:kern|user|mail|daemon|auth|syslog) *:(emerg|alert|crit|err|warn|notice|info|debug) *: ",
    needs=("kern", "user", "mail", "daemon", "auth", "syslog"),
)
_KMSG = Lazy(r"(\d{1,3}),\d+,(\d{1,10}),[^;\s]{1,40};")
_PRIORITY = Lazy(r"<(\d{1,3})>(?=[\[A-Z0-9])")
_UCX = Lazy(r"\[([\w.-]+):(\d{1,10}):\d+\] +")
_SLURM = Lazy(
    r"\[(\d{4}-\d\d-\d\d)T" + TIME + r"([+-]\d\d:\d\d)?\] (?:\[\d+(?:\.\w+){0,2}\] )?"
    r"(?:(error|fatal|warning|info|verbose|debug)\d?: +)?"
)
_FABRIC_MANAGER = Lazy(
    r"\[([A-Z][a-z]{2}) +(\d{1,2}) (\d{4}) " + TIME + r"\] (?:\[(" + LEVEL_WORD + r")\] )?(?:\[tid \d+\] )?"
)
_SPEAKER = Lazy(
    r"(srun|salloc|sbatch|slurmstepd(?:-[\w.-]+)?|slurmctld|slurmd): "
    r"(?:(error|fatal|warning|info|verbose|debug)\d?: )?"
)

_PRIORITIES: tuple[Level, ...] = ("fatal", "fatal", "fatal", "error", "warning", "info", "info", "debug")


def syslog(text: str, at: int, draft: Draft) -> int:
    """``Nov 04 12:34:56 host prog[pid]: ``: syslog and journald, which stamp every line; ``ts`` writes the time alone."""
    found = _SYSLOG.match(text, at)
    if found is None:
        return _clock(text, at, draft)
    month, day, time, fraction, host, program, pid = found.groups()
    moment = clock.named(month, day, None, time, fraction)
    if moment is None:
        return at
    draft.stamp(moment, collected=True)
    written_by(draft, host, program, pid)
    return found.end()


def _clock(text: str, at: int, draft: Draft) -> int:
    found = _CLOCK.match(text, at) if draft.time is None else None
    moment = clock.named(found[1], found[2], None, found[3], found[4]) if found else None
    if found is None or moment is None:
        return at
    draft.stamp(moment)
    return found.end()


def rsyslog(text: str, at: int, draft: Draft) -> int:
    """``host prog[pid]: `` after an RFC 3339 stamp."""
    if draft.time is None or draft.logged or draft.host is not None:
        return at
    found = _RSYSLOG.match(text, at)
    if found is None:
        return at
    host, program, pid = found.groups()
    # two words and a colon may be anything: insist on a pid or a well-known program
    if pid is None and program not in {"kernel", "systemd", "slurmd", "slurmctld", "slurmstepd"}:
        return at
    written_by(draft, host, program, pid)
    return found.end()


def dmesg(text: str, at: int, draft: Draft) -> int:
    """``[12345.678901] `` with or without ``[ T1946] ``; UCX prints Unix times the same way."""
    found = _DMESG.match(text, at)
    if found is None:
        return at
    moment = clock.number(found[1])
    draft.stamp(moment)
    if moment.clock == "uptime":
        draft.logger = "kernel"
        return found.end()
    process = _UCX.match(text, found.end())
    if process is None:
        return found.end()
    draft.host, draft.pid = process[1], int(process[2])
    return process.end()


def dmesg_date(text: str, at: int, draft: Draft) -> int:
    """``[Sun Jan  5 18:28:55 2025] ``: ``dmesg -T``."""
    found = _DMESG_DATE.match(text, at)
    if found is None:
        return at
    moment = clock.named(found[1], found[2], found[4], found[3])
    if moment is None:
        return at
    draft.stamp(moment)
    draft.logger = "kernel"
    return found.end()


def dmesg_level(text: str, at: int, draft: Draft) -> int:
    """``kern  :err   : ``: ``dmesg -x``."""
    found = _DMESG_LEVEL.match(text, at)
    if found is None:
        return at
    draft.severity(found[1])
    draft.logger = "kernel"
    return found.end()


def kmsg(text: str, at: int, draft: Draft) -> int:
    """``6,1234,98765432,-;``: /dev/kmsg."""
    found = _KMSG.match(text, at)
    if found is None or len(found[2]) > 17:
        return at
    draft.stamp(clock.uptime(str(int(found[2]) / 1e6)))
    draft.level = _PRIORITIES[int(found[1]) & 7]
    draft.logger = "kernel"
    return found.end()


def priority(text: str, at: int, draft: Draft) -> int:
    """``<6>``: a syslog priority."""
    found = _PRIORITY.match(text, at)
    if found is None:
        return at
    draft.level = _PRIORITIES[int(found[1]) & 7]
    return found.end()


def slurm_daemon(text: str, at: int, draft: Draft) -> int:
    """``[2025-11-04T12:34:56.789] [123.0] error: ``: slurmctld, slurmd and slurmstepd's log files."""
    found = _SLURM.match(text, at)
    if found is None:
        return at
    date, time, fraction, zone, level = found.groups()
    moment = clock.wall(date, time, fraction, zone)
    if moment is None:
        return at
    draft.stamp(moment)
    draft.severity(level)
    return found.end()


def fabric_manager(text: str, at: int, draft: Draft) -> int:
    """``[Jul 23 2024 07:53:55] [ERROR] [tid 841] ``."""
    found = _FABRIC_MANAGER.match(text, at)
    if found is None:
        return at
    month, day, year, time, fraction, level = found.groups()
    moment = clock.named(month, day, year, time, fraction)
    if moment is None:
        return at
    draft.stamp(moment)
    draft.severity(level)
    return found.end()


def note_speaker(text: str, at: int, draft: Draft) -> None:
    """Note who speaks in ``slurmstepd: error: …``; the words stay, rules recognise messages by them."""
    found = _SPEAKER.match(text, at)
    if found is not None:
        draft.logger = found[1]
        draft.stamped = True
        draft.severity(found[2])


def written_by(draft: Draft, host: str, program: str, pid: str | None) -> None:
    """Note the program that a log of the system names, and where it ran."""
    draft.host = host
    draft.logger = program
    if pid is not None:
        draft.pid = int(pid)
    if program == "kernel":
        draft.stamped = True
        draft.writer(host)
    else:
        draft.writer(f"{program}[{pid}]@{host}" if pid else f"{program}@{host}")
