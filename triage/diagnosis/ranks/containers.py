"""Containers and pods that are numbered from 0 on, one process each: their numbers are ranks, though nothing says so.

Compose writes ``trainer-2  | `` before a line, kubectl ``[pod/bert-worker-2/pytorch] ``, a collector keeps the pod's
name beside it. Where a master writes beside workers, it is rank 0 and comes before ``worker-0``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from triage.scan.lazy import compiled

_NAME = (
    r"(?i)(?!(?:pid|task|seat|rank|local_?rank|default|lead|own|log)[ \d\0])"
    r"[a-z](?:[\w.-]*[a-z._-])?\0(?:[-_]1)?(?::[a-z][\w.-]*)?"
)
"""A name without its number; Compose may add which of the like ones it is, and that of a pod's container follows."""
_OF_PLACES = r"(?i)(?:^|[^a-z])(?:node|host|machine|server|rack|gpu|cn|vm|box|pod|ip|nid|dgx|hgx)s?[._-]?\0"
_POD = r"(?P<job>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)-(?P<number>\d{1,5})"
_OF_A_TRY = r"(?<=\d)-[bcdfghjklmnpqrstvwxz2456789]{5}(?=[.: ]|\Z)"
"""What Kubernetes puts behind the number of an indexed job's pod; its letters make no words."""
_WORKERS = r"(?i)(?:^|[^a-z])workers?[._-]?\0"
_MASTER = r"(?i)(?:.*[^a-z])?(?:master|chief|leader|head|launcher)(?:[._-]?0)?(?:[-_]1)?(?::[a-z][\w.-]*)?"
_SERVICES = (
    r"(?i)(?:.*[^a-z])?(?:redis|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|db|database|etcd|minio|zookeeper|kafka|rabbitmq|nats|memcached"
    r"|tensorboard|mlflow|wandb|aim|prometheus|grafana|loki|fluent(?:d|-?bit)|otel\w*|exporter|\w+[-_]exporter|nginx|traefik|caddy"
    r"|jupyter\w*|adminer)(?:[-_]\d+)*"
)
"""What is started beside a program, and is none of its processes."""
_OF_RANKS = (
    r"(?i)(?!.*(?:^|[^a-z])(?:ui|web|api|serv\w*|gateway|proxy|embed\w*|infer\w*|predict\w*)(?![a-z]))"
    r".*(?:train|finetun|fine-tun|torch|ddp|fsdp|mpi|nccl|rank|learner|deepspeed|megatron)"
)
"""What is called so works together; others do where several of them are in trouble."""
FEWEST = 2
"""Containers that must show that each holds several processes, or that what happens to one happens to others."""


def may_be_process(name: str) -> bool:
    """Whether a container may be called so, without the number, in which one process runs."""
    return compiled(_NAME).fullmatch(name) is not None and compiled(_OF_PLACES).search(name) is None


def number_of_pod(name: str) -> tuple[str, int] | None:
    """A pod's job and the number by which it is told from the job's other pods, None where it has none."""
    match = compiled(_POD).fullmatch(without_suffix(name))
    return None if match is None else (match["job"], int(match["number"]))


def numbers_of_pods(names: Iterable[str]) -> frozenset[int]:
    """The numbers of pods; none where these are of several jobs, or not all have a number."""
    numbered = [number_of_pod(name) for name in names]
    found = {number for number in numbered if number is not None}
    one = None not in numbered and len({job for job, _ in found}) == 1
    return frozenset(number for _, number in found) if one else frozenset()


def without_suffix(name: str) -> str:
    """A pod's name without what is drawn anew for each try: ``train-2-x7k2p`` is number 2 of ``train``."""
    return compiled(_OF_A_TRY).sub("", name)


def shift_of_containers(
    name: str, numbers: Iterable[int], others: Collection[str], size: int | None, pods: Collection[int] = ()
) -> int | None:
    """What makes ranks of the numbers of containers, None where they may count something else.

    Args:
        name: what they are called, without the number.
        others: who else writes in the same log.
        size: how many ranks there are, if that is known.
        pods: the numbers of the pods of the job of which events tell; where these are among the numbers of those who
            write, whoever is not among these only kept silent.
    """
    counted = sorted(numbers)
    if not may_be_process(name):
        return None
    if counted != list(range(len(counted))):
        silent = counted[0] == 0 and pods and set(pods) <= set(counted)
        first = 0 if silent and not [o for o in others if compiled(_SERVICES).fullmatch(o) is None] else None
        return first if size is None or counted[-1] < size else None
    others = [other for other in others if compiled(_SERVICES).fullmatch(other) is None]
    led = [other for other in others if compiled(_MASTER).fullmatch(other) is not None]
    first = 1 if len(led) == 1 and compiled(_WORKERS).search(name) is not None else 0
    if len(others) > first or (size is not None and size != len(counted) + first):
        return None
    return first


def work_together(name: str, in_trouble: int, size: int | None) -> bool:
    """Whether containers are the processes of one job, and not servers or tasks beside each other.

    Args:
        name: what they are called, without the number.
        in_trouble: in how many of them something went wrong.
        size: how many ranks there are, if that is known.
    """
    return size is not None or in_trouble >= FEWEST or compiled(_OF_RANKS).match(name) is not None


def hold_several(raised: Iterable[Mapping[str, int]]) -> bool:
    """Whether containers hold several processes each, by how often each of them raised the same."""
    return sum(max(kinds.values(), default=0) > 1 for kinds in raised) >= FEWEST
