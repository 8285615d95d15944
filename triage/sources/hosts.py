"""The host that the name of a file or directory states.

Cluster names are free, so only what is unmistakably a host counts: ``gpu-node-05``, ``nid001234``,
``dgx-a100-03``, ``ip-10-0-1-23``, private addresses, and the host in the files that NCCL and
Kubernetes name. ``gpu3`` is a device, ``nodes-4`` a number of nodes, ``train-node05`` could be either.
"""

from __future__ import annotations

import re

from triage.sources.constants import words

POD = r"(?i)([a-z0-9][a-z0-9-]*-(?:worker|master|launcher|head|ps|chief)-\d{1,5})(?:\.\w+)*"
"""A pod of a training job: ``<job>-worker-<index>``, which is its host name as well."""

# NCCL_DEBUG_FILE=nccl_%h_%p.log and the like
_NCCL_FILE = (
    r"(?i)nccl(?:[_-]?(?:debug|log|info|out))?[._-](?P<host>[a-z0-9][a-z0-9.-]*)[._-](?P<pid>\d{2,8})"
    r"(?:\.[a-z]+)*"
)
_PRIVATE_ADDRESS = (
    r"(?:^|(?<=[_-]))((?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3})(?![0-9])(?!\.\d)"
)
_AMAZON_HOST = (
    r"(?i)(?:^|(?<=[._])|(?<=dmesg-)|(?<=journal-)|(?<=kern-)|(?<=syslog-)|(?<=smi-))"
    r"(ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})(?![0-9-])"
)
_HOST_WORD = r"(?i)(?:(?:gpu|compute|cpu|login)?node|nid|host|dgx|hgx|compute)(\d{0,9})"
_NUMBER = r"\d{1,6}(?:-\d{1,3})?"
_HARDWARE = words(
    "gpu cpu gh gb a100 a800 h100 h200 h800 b200 b300 gh200 gb200 gb300 l40s v100 mi250x mi300x mi325x dgx "
    "hgx compute hpc slurm k8s permanent preemptible spot"
)
_NOT_HOST = words(
    "slurm job jobid log logs err out output error stderr stdout nccl dmesg journal kern "
    "kernel syslog messages topo topology smi nvidia sacct debug info trace of on from"
)


def host_in_file_name(name: str) -> str | None:
    """The host that the base name of a file states, else None."""
    # what no name says need not be compiled: most names have no number
    numbered = any(map(str.isdecimal, name))
    match = re.fullmatch(_NCCL_FILE, name) if numbered else None
    if match and re.search(r"[a-z].*\d", match["host"], re.I) and "rank" not in name.lower():
        return match["host"]
    for pattern in (_PRIVATE_ADDRESS, _AMAZON_HOST, POD) if numbered else ():
        found = re.search(pattern, name) if pattern != POD else re.fullmatch(POD, name)
        if found:
            return found[1]
    hosts = {host for piece in re.split(r"[._]", name) if (host := _host_in(piece))}
    return hosts.pop() if len(hosts) == 1 else None


def host_in_folder_name(name: str) -> str | None:
    """The host that a directory is named after, else None."""
    return _host_in(name.partition(".")[0])


def _host_in(piece: str) -> str | None:
    """The host name that ``piece`` consists of, but for words such as ``slurm-123-`` around it."""
    parts = piece.split("-")
    while parts and (parts[0].lower() in _NOT_HOST or parts[0].isdigit()):
        del parts[0]
    while parts and parts[-1].lower() in _NOT_HOST:
        del parts[-1]
    for at, part in enumerate(parts):
        match = re.fullmatch(_HOST_WORD, part)
        if match is None:
            if part.lower() in _HARDWARE:
                continue
            return None
        rest = parts[at + 1 :]
        if match[1]:
            return "-".join(parts) if not rest else None
        while rest and (rest[0].lower() in _HARDWARE or rest[0].lower() == "node"):
            del rest[0]
        return "-".join(parts) if re.fullmatch(_NUMBER, "-".join(rest)) else None
    return None
