"""The ranks in pods, where a list, an event or a description names the pod or its node only."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Origin

STEPS = "".join(f"2026-03-04 10:11:1{n} INFO step {100 + n} loss 2.{300 - n}\n" for n in range(4))
LOST = (
    "[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, "
    "remote process exited or there was a network error, NCCL version 2.20.5\n"
)
XID = "Mar  4 10:01:50 {node} kernel: NVRM: Xid (PCI:0000:52:00): 79, pid='<unknown>', GPU has fallen off the bus.\n"
NODES = ("cn1", "cn2", "cn3", "cn4")


def listing(statuses: tuple[str, ...], *, wide: bool = True, job: str = "bert") -> str:
    """``kubectl get pods`` of a master and its workers."""
    rows = ["NAME             READY   STATUS             RESTARTS   AGE" + ("   IP           NODE" * wide)]
    for at, status in enumerate(statuses):
        name = f"{job}-worker-{at - 1}" if at else f"{job}-master-0"
        ready = "1/1" if status == "Running" else "0/1"
        place = f"   10.244.0.{at}   {NODES[at]}" if status != "Pending" else "   <none>   <none>"
        rows.append(f"{name}   {ready}   {status}   {at} (5m ago)   41m" + place * wide)
    return "\n".join(rows) + "\n"


def waits(joined: int, expected: int = 4) -> dict[str, str]:
    """The log of rank 0, which waits for all others."""
    said = f"Timed out after 301 seconds waiting for clients. {joined}/{expected} clients joined."
    return {"bert-master-0.log": f"[rank0]: torch.distributed.DistStoreError: {said}\n"}


def bereft(*ranks: int) -> dict[str, str]:
    """The logs of ranks that lost another."""
    return {
        f"bert-{'master-0' if rank == 0 else f'worker-{rank - 1}'}.log": STEPS + LOST.format(rank=rank)
        for rank in ranks
    }


def origin(engine: Engine, logs: dict[str, str]) -> Origin:
    """Where the failure of a job with these logs began."""
    found = engine.diagnose([Source(name=n, path=n, data=text.encode()) for n, text in logs.items()])
    assert found.root_cause is not None
    return found.root_cause.origin


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("status", ["Pending", "ImagePullBackOff", "CrashLoopBackOff", "ContainerCreating"])
def test_who_never_came_is_the_rank_of_the_pod_that_does_not_run(
    engine: Engine, status: str, wide: bool
) -> None:
    pods = listing(("Running", "Running", "Running", status), wide=wide)
    assert origin(engine, {**waits(3), "pods.txt": pods}).ranks == (3,)


def test_several_that_never_came_are_named_together(engine: Engine) -> None:
    pods = listing(("Running", "Pending", "Running", "Pending"))
    assert origin(engine, {**waits(2), "pods.txt": pods}).ranks == (1, 3)


@pytest.mark.parametrize(
    ("joined", "pods"),
    [
        (1, listing(("Pending",) * 4)),  # nobody came
        (3, listing(("Running", "Running", "Pending"))),  # of another number of pods
        (3, listing(("Running", "Running", "Running", "Pending"), job="other").replace("master", "launcher")),
    ],
)
def test_no_rank_is_named_where_pods_do_not_fit(engine: Engine, joined: int, pods: str) -> None:
    assert origin(engine, {**waits(joined), "pods.txt": pods}).rank != 3


def test_a_fault_of_a_node_is_that_of_the_pod_on_it(engine: Engine) -> None:
    logs = {
        **bereft(0, 1, 3),
        "pods.txt": listing(("Running",) * 4),
        "dmesg-cn3.txt": XID.format(node="cn3"),
    }
    assert origin(engine, logs).ranks == (2,)


def test_another_jobs_node_names_nobody(engine: Engine) -> None:
    logs = {
        **bereft(0, 1, 3),
        "pods.txt": listing(("Running",) * 4),
        "dmesg-cn9.txt": XID.format(node="cn9"),
    }
    assert origin(engine, logs).ranks == ()


@pytest.mark.parametrize(
    "event",
    [
        "3m          Warning   Evicted        pod/bert-worker-1   The node was low on resource: memory. Container main was using 9Gi.",
        "3m          Normal    NodeNotReady   node/cn3            Node cn3 status is now: NodeNotReady",
    ],
)
def test_events_name_the_pod_or_its_node(engine: Engine, event: str) -> None:
    events = f"LAST SEEN   TYPE      REASON         OBJECT              MESSAGE\n{event}\n"
    logs = {**bereft(0, 1, 3), "events.txt": events, "pods.txt": listing(("Running",) * 4)}
    assert origin(engine, logs).ranks == (2,)


def test_pods_of_several_ranks_each(engine: Engine) -> None:
    logs = {
        "bert-worker-0.log": STEPS + "".join(LOST.format(rank=rank) for rank in range(4)),
        "bert-worker-1.log": STEPS + "".join(LOST.format(rank=rank) for rank in range(4, 8)),
        "events.txt": "LAST SEEN   TYPE      REASON    OBJECT              MESSAGE\n"
        "3m          Warning   Evicted   pod/bert-worker-2   The node was low on resource: memory. Container main was using 9Gi.\n",
    }
    assert origin(engine, logs).ranks == (8, 9, 10, 11)


def test_a_node_that_is_listed_as_not_ready_is_that_of_the_pod_on_it(engine: Engine) -> None:
    rows = "".join(
        f"{node}   {'NotReady' if node == 'cn3' else 'Ready'}   <none>   112d   v1.29.6\n" for node in NODES
    )
    nodes = f"NAME   STATUS   ROLES   AGE   VERSION\n{rows}"
    logs = {**bereft(0, 1, 3), "nodes.txt": nodes, "pods.txt": listing(("Running",) * 4)}
    assert origin(engine, logs).ranks == (2,)
    well = {"train.log": STEPS + "INFO Training completed\n", "nodes.txt": nodes}
    found = engine.diagnose([Source(name=n, path=n, data=text.encode()) for n, text in well.items()])
    assert found.verdict == "healthy"


PREEMPTED = (
    '2026-07-12T03:02:36Z pod/{pod} conditions: [{{"type":"DisruptionTarget","status":"True",'
    '"reason":"PreemptionByScheduler","message":"default-scheduler: preempting to accommodate a higher priority pod"}}]\n'
)
SHARED_FATE = (
    "2026-07-12T03:03:19Z {writer} | F0712 03:03:19.110204     812 client.h:77] Terminating process because the JAX "
    "distributed service detected fatal errors. This most likely indicates that another task died; see the other task "
    "logs for more details.\n"
)


def events(pod: str, *numbers: int, kind: str = "task", more: str = "") -> dict[str, str]:
    """One log in which a pod's event stands beside numbered writers, of whom some lost a peer; the others write no more."""
    *bereft, last = numbers
    work = "".join(
        f"2026-07-12T03:01:1{n}Z {kind}-{last} | I trainer] step {n} loss=2.3{n}\n" for n in range(5)
    )
    lost = "".join(SHARED_FATE.format(writer=f"{kind}-{number}") for number in bereft)
    return {"job.log": work + PREEMPTED.format(pod=pod) + more + lost}


@pytest.mark.parametrize("kind", ["task", "worker"])
def test_numbers_of_pods_and_of_writers_agree(engine: Engine, kind: str) -> None:
    assert origin(engine, events("moe-hero-5", 0, 2, 7, 5, kind=kind)).ranks == (5,)


@pytest.mark.parametrize(
    "logs",
    [
        events("moe-hero-5", 0, 1, 2, 4),  # nobody who writes has its number
        events("moe-hero-105", 101, 103, 107, 105),  # they do not count from 0
        events("moe-hero-7c9d8b6f4-x2k9q", 0, 2, 7, 5),
    ],
)
def test_a_pod_whose_ranks_are_not_known_is_named_as_a_host(engine: Engine, logs: dict[str, str]) -> None:
    found = origin(engine, logs)
    assert found.ranks == ()
    assert found.host is not None
    assert found.host.startswith("moe-hero-")


def test_pods_of_two_jobs_are_not_counted_together(engine: Engine) -> None:
    other = PREEMPTED.format(pod="eval-2")
    assert origin(engine, events("moe-hero-5", 0, 2, 7, 5, more=other)).ranks == ()


def test_a_pod_is_no_node_to_avoid(engine: Engine) -> None:
    evicted = "2026-07-12T03:02:36Z k8s-event Warning Evicted pod/{} The node was low on resource: ephemeral-storage.\n"
    log = "".join(f"2026-07-12T03:01:1{n}Z INFO step {n} loss=2.3{n}\n" for n in range(5))
    found = engine.diagnose(
        [Source(name="a.log", path="a.log", data=(log + evicted.format("moe-x2k9q")).encode())]
    )
    assert found.root_cause is not None
    assert found.root_cause.origin.host == "moe-x2k9q"
    assert found.root_cause.nodes_to_avoid == ()


def registration(*running: int) -> dict[str, str]:
    """The logs of JAX tasks of which the service of one says how many of four arrived."""
    said = (
        "E0712 03:05:10.204113     812 client.cc:96] DEADLINE_EXCEEDED: Barrier timed out. Id: "
        "[Init]Wait_for_all_tasks_to_register::0. This usually happens because a task triggered the barrier too early or "
        f"too slowly.\n# of tasks that reached the barrier: {len(running)}/4.\n"
    )
    return {f"jaxtrain-{rank}.log": said for rank in running}


def table(*statuses: str) -> str:
    """``kubectl get pods`` of a job whose pods count from 0."""
    rows = [f"jaxtrain-{n}   {int(s == 'Running')}/1   {s}   0   12m" for n, s in enumerate(statuses)]
    return "\n".join(["NAME   READY   STATUS   RESTARTS   AGE", *rows, ""])


@pytest.mark.parametrize("status", ["Pending", "ContainerCreating", "ImagePullBackOff"])
def test_who_did_not_register_is_the_rank_of_the_pod_that_does_not_run(engine: Engine, status: str) -> None:
    logs = {**registration(0, 1, 3), "pods.txt": table("Running", "Running", status, "Running")}
    assert origin(engine, logs).ranks == (2,)


@pytest.mark.parametrize(
    "statuses", [("Running",) * 4, ("Running", "Running", "Running", "Running", "Pending")]
)
def test_nobody_is_named_where_the_list_does_not_tell_who_did_not_register(
    engine: Engine, statuses: tuple[str, ...]
) -> None:
    assert origin(engine, {**registration(0, 1, 3), "pods.txt": table(*statuses)}).rank is None
