"""A preflight: is this node fit for a job? ``docs/preflight.md`` lists what is looked at.

``run`` never raises for what a node is like; a check that can't be made says so.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from pathlib import Path

from triage.rules.schema import Rule
from triage.service.preflight.model import Check, Node, Report

__all__ = ["Check", "Report", "run"]

BUDGET = 60.0
"""Seconds that a preflight takes at most, when nothing else is asked for."""


def run(
    budget: float = BUDGET, *, rules: Mapping[str, Rule] | None = None, root: Path | None = None
) -> Report:
    """Look at this node for at most ``budget`` seconds.

    Args:
        budget: seconds. Commands that don't answer are ended; what no time is left for is skipped.
        rules: where remediation comes from; the built-in rules by default.
        root: where ``/proc``, ``/sys`` and ``/dev`` are; for tests.
    """
    from triage.rules.loader import load_rules
    from triage.service.preflight.adapters import check_adapters
    from triage.service.preflight.bandwidth import check_bandwidth
    from triage.service.preflight.gpus import check_gpus
    from triage.service.preflight.host import check_host

    known: Mapping[str, Rule] = load_rules() if rules is None else rules
    node = Node(budget, root or Path("/"))
    gpus, query = check_gpus(node, known)
    adapters = check_adapters(node, known)
    check_host(node, known)
    if gpus:
        check_bandwidth(node, query)
    return Report(
        host=socket.gethostname(),
        checks=tuple(node.checks),
        facts=node.facts,
        topology=node.topology,
        seconds=time.monotonic() - node.began,
        found=gpus or adapters,
    )
