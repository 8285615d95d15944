"""Whose GPU it is that the kernel names by its place on the bus.

The nodes of a cluster are built alike, so the same place comes again on each of them: the host, the process that the line
names, or who alone of those at that place does not complain of others tells which it is.
"""

from __future__ import annotations

from collections.abc import Collection

from triage.diagnosis.ranks.nodes import short
from triage.diagnosis.ranks.seats import Identities


def owner(
    identities: Identities, pci: str, host: str | None, pid: int | None, bereft: Collection[int]
) -> int | None:
    """The rank whose GPU sits at ``pci``.

    Args:
        identities: who is where.
        pci: the place on the bus.
        host: on which node, if that is known.
        pid: the process beside which the line names the GPU.
        bereft: ranks that complain of having lost others, or of waiting for them.
    """
    at = [
        seat.rank
        for seat in identities.seats.values()
        if seat.pci == pci and (host is None or seat.host is None or short(seat.host) == short(host))
    ]
    if len(at) > 1 and (named := identities.rank_of_pid(pid, host)) in at:
        return named
    if len(at) > 1 and host is None:
        at = [rank for rank in at if rank not in bereft] if bereft else []
    return at[0] if len(at) == 1 else None


def elsewhere(identities: Identities, rank: int, pci: str) -> bool:
    """Whether the GPU of ``rank`` is known to sit at another place than ``pci``, and somebody else's at that one."""
    own = identities.seat(rank).pci
    return own is not None and own != pci and any(seat.pci == pci for seat in identities.seats.values())
