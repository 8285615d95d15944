"""Kernel logs: which lines of a source are the kernel's and the node's own, with no program's among them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.model import Finding, Source
from triage.readers.capture import Findings, Line, lines_of

KIND = "kernel-log"
SHARE = 0.9
"""Part of the lines that must carry a kernel's stamp; wrapped messages have none."""
FEWEST = 3
"""Lines below which nothing is said."""

_DAEMONS = (
    r"kernel|systemd(?:-\w+)?|udevd|dracut[\w-]*|nvidia-\w+|nv-\w+|nvsm\w*|sshd|chronyd|ntpd|cron|CRON|dbus[\w-]*|NetworkManager"
    r"|dhclient|networkd[\w-]*|rsyslogd|audit\w*|irqbalance|multipathd|smartd|mcelog|rasdaemon|ipmi\w*|slurmd|munged"
    r"|containerd|dockerd|kubelet|lvm|mdadm|openibd|opensm|rngd|tuned|polkitd|snapd|cloud-init|apparmor\w*"
)
_STAMP = re.compile(
    r"(?:kern\s*:\w+\s*: )?(?:<\d{1,3}>)?\[ {0,8}\d{1,8}\.\d{6}\](?:\[\s*[TC]\d+\])? "
    r"|(?:(?:kern|daemon|user|syslog|auth)\s*:\w+\s*: )?\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] "
    r"|(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,14}) \S{1,255} "
    rf"(?:{_DAEMONS})(?:\[\d+\])?: "
)
_KERNEL = re.compile(
    r"\bkernel: |NVRM: |\bmlx5_|\bACPI\b|Linux version |Command line: |\bpci(?:eport)? [\da-f]{4}:|\bnvme\d? |\bnvidia[-\w]*: |\bamdgpu\b"
    r"|\bsystemd\[1\]: |\busb \d|\bEXT4-fs|\baudit: |\bmicrocode|\bEDAC\b|taints? kernel|\bperf: interrupt|\bLNet: |\bCPU: \d"
)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """One finding that names the first and the last line, when all of ``text`` is a kernel's log."""
    lines = [entry for entry in lines_of(text, line, offset) if entry.text.strip()]
    if not _pure(lines):
        return ()
    found = Findings(source, index, KIND)
    found.add("host.kernel-log", lines[:1], {"first": lines[0].number, "last": lines[-1].number})
    return tuple(found.items)


def _pure(lines: Sequence[Line]) -> bool:
    if len(lines) < FEWEST:
        return False
    stamped = sum(1 for entry in lines if _STAMP.match(entry.text))
    return stamped >= SHARE * len(lines) and any(_KERNEL.search(entry.text) for entry in lines)
