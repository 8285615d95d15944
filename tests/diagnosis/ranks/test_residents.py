"""Which ranks run on a host or in a pod, where the line that decides names the host or the pod only."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Origin

HOSTS = tuple(f"gpu-node-0{n}" for n in range(2, 6))
BUSES = ("1b000", "43000", "52000", "9d000")
STEPS = "".join(f"2026-03-04 10:11:1{n} INFO step {100 + n} loss 2.{300 - n}\n" for n in range(4))
LINK = (
    "[Tue Mar  4 10:01:50 2026] mlx5_core 0000:5e:00.0 ib0: Link down\n"
    "[Tue Mar  4 10:01:51 2026] mlx5_core 0000:5e:00.0: mlx5_cmd_check:810:(pid 0): poll_health: "
    "device's health compromised - reached miss count\n"
)
XID = "[Tue Mar  4 10:01:50 2026] NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.\n"
NODE_FAILED = "srun: error: Node failure on gpu-node-05\nsrun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
REMOTE = (
    "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, remote "
    "process exited or there was a network error, NCCL version 2.20.5\n"
)


def came_up(hosts: tuple[str, ...] = HOSTS, each: int = 4, size: int | None = None) -> str:
    """What NCCL prints of every rank once its communicator is there."""
    return "".join(
        f"{host}:{4100 + own}:{4100 + own} [{own}] NCCL INFO ncclCommInitRank comm 0x55d0c2a0{at}{own} rank {at * each + own} "
        f"nranks {size or len(hosts) * each} cudaDev {own} nvmlDev {own} busId {BUSES[own]} commId 0x8f2 - Init COMPLETE\n"
        for at, host in enumerate(hosts)
        for own in range(each)
    )


def waited(ranks: range) -> str:
    """What torch's watchdog prints of ranks that waited in vain."""
    return "".join(
        f"[rank{r}]:[E304 10:12:44.{r:03d} ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=1044, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600042 milliseconds "
        "before timing out.\n"
        for r in ranks
    )


def origin(engine: Engine, logs: dict[str, str]) -> Origin:
    """Where the failure of a job with these logs began."""
    found = engine.diagnose([Source(name=n, path=n, data=text.encode()) for n, text in logs.items()])
    assert found.root_cause is not None
    return found.root_cause.origin


def where(found: Origin) -> tuple[int | None, tuple[int, ...], str | None]:
    """Rank, ranks and host."""
    return found.rank, found.ranks, found.host


def test_a_fault_of_a_node_is_told_of_all_ranks_on_it(engine: Engine) -> None:
    logs = {"job.log": came_up() + STEPS + waited(range(16)), "dmesg-gpu-node-05.txt": LINK}
    assert where(origin(engine, logs)) == (None, (12, 13, 14, 15), "gpu-node-05")


def test_the_only_rank_of_a_node_is_named(engine: Engine) -> None:
    logs = {"job.log": came_up(each=1) + STEPS + waited(range(4)), "dmesg-gpu-node-05.txt": LINK}
    assert where(origin(engine, logs)) == (3, (3,), "gpu-node-05")


@pytest.mark.parametrize("hosts", [(), tuple(f"cn{n}" for n in range(4))])
def test_no_rank_is_named_where_nothing_says_who_runs_there(engine: Engine, hosts: tuple[str, ...]) -> None:
    logs = {"job.log": came_up(hosts) + STEPS + waited(range(16)), "dmesg-gpu-node-05.txt": LINK}
    assert where(origin(engine, logs)) == (None, (), "gpu-node-05")


def test_the_gpu_of_the_kernel_log_tells_which_of_the_silent_ranks_it_was(engine: Engine) -> None:
    logs = {"job.log": came_up() + STEPS + waited(range(12)), "dmesg-gpu-node-05.txt": XID}
    assert where(origin(engine, logs)) == (14, (14,), "gpu-node-05")


@pytest.mark.parametrize(
    ("layout", "ranks"),
    [
        (came_up(), (12, 13, 14, 15)),
        (came_up(HOSTS[:3], size=16), (12, 13, 14, 15)),  # what all other hosts leave
        (came_up(HOSTS[:2], size=16), ()),
        ("SLURM_JOB_NODELIST=gpu-node-[02-05]\nSLURM_TASKS_PER_NODE=4(x4)\n", (12, 13, 14, 15)),
        ("SLURM_JOB_NODELIST=gpu-node-[02-05]\nSLURM_TASKS_PER_NODE=1(x4)\n", ()),  # launchers, perhaps
        ("SLURM_JOB_NODELIST=gpu-node-[02-05]\nSLURM_TASKS_PER_NODE=4(x3),2\n", ()),
        ("", ()),
    ],
)
def test_a_failed_node_of_slurm(engine: Engine, layout: str, ranks: tuple[int, ...]) -> None:
    found = origin(engine, {"job.out": layout + STEPS, "job.err": NODE_FAILED})
    assert where(found) == (None, ranks, "gpu-node-05")


def test_slurms_record_tells_how_many_tasks_a_node_holds(engine: Engine) -> None:
    record = (
        "JobId=88121 JobName=train\n   UserId=u(1000) GroupId=g(1000) MCS_label=N/A\n"
        "   JobState=NODE_FAIL Reason=NodeDown Dependency=(null)\n   NodeList=gpu-node-[02-05]\n"
        "   BatchHost=gpu-node-02\n   NumNodes=4 NumCPUs=128 NumTasks=16 CPUs/Task=8\n"
    )
    found = origin(engine, {"job.out": STEPS, "job.err": NODE_FAILED, "scontrol.txt": record})
    assert found.ranks == (12, 13, 14, 15)


def test_the_deepspeed_launcher_tells_where_ranks_are(engine: Engine) -> None:
    log = (
        "worker-1: [2026-03-04 10:00:00,000] [INFO] [launch.py:146:main] WORLD INFO DICT: {'worker-1': [0, 1], 'worker-2': [0, 1]}\n"
        "worker-2: ssh: connect to host worker-2 port 22: Connection refused\n"
        "pdsh@worker-1: worker-2: ssh exited with exit code 255\n"
    )
    assert where(origin(engine, {"job.log": log})) == (None, (2, 3), "worker-2")


RAY = "".join(
    f"(TorchTrainer pid=3990, ip=10.128.0.101) - (node_id=5e6f0{n}, ip=10.128.0.10{n + 1}, pid=40{n}1) "
    f"world_rank={n}, local_rank=0, node_rank={n}\n"
    for n in range(4)
)
GONE = (
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: RayTrainWorker\n"
    "\tactor_id: 5b1f\n\tpid: 4021\n\tnamespace: 6d6e\n\tip: 10.128.0.103\n"
    "The actor died because its node has died. Node Id: 5e6f02\n"
)


@pytest.mark.parametrize(
    "logs",
    [
        {"driver.log": RAY + GONE},
        {"driver.log": RAY + GONE + "\tthe actor's node was preempted: spot reclaim\n"},
        {
            "driver.log": RAY + GONE.partition("\n")[0] + "\n",
            "handler.log": "2026/03/04 10:12:08 INF Requesting instance drain event-id=spot-itn-12 instance-id=i-0b6 "
            "kind=SPOT_ITN node-name=ip-10-128-0-103.ec2.internal provider-id=aws:///us-east-1a/i-0b6\n",
        },
    ],
)
def test_a_node_that_ray_lost_held_the_rank_that_it_placed_there(
    engine: Engine, logs: dict[str, str]
) -> None:
    found = origin(engine, logs)
    assert (found.rank, found.ranks) == (2, (2,))


def events(pod: str) -> str:
    """What kubectl prints of a pod that had to make room."""
    return (
        "LAST SEEN   TYPE      REASON      OBJECT                 MESSAGE\n"
        f"2m1s        Normal    Preempted   pod/{pod}   Preempted by pod 6f3c1d0a on node ip-10-0-4-21.ec2.internal\n"
    )


def test_pods_are_numbered_beside_the_events_of_the_cluster(engine: Engine) -> None:
    logs = {f"llama-ft-worker-{n}.log": STEPS + REMOTE * (n != 1) for n in range(3)}
    assert origin(engine, logs | {"events.txt": events("llama-ft-worker-1")}).ranks == (1,)


def test_a_master_comes_before_the_workers_beside_the_events_of_the_cluster(engine: Engine) -> None:
    logs = {
        f"llama-ft-{pod}.log": STEPS + REMOTE * (pod != "worker-1")
        for pod in ("master-0", "worker-0", "worker-1")
    }
    assert origin(engine, logs | {"events.txt": events("llama-ft-worker-1")}).ranks == (2,)


def test_a_pod_of_several_ranks(engine: Engine) -> None:
    logs = {
        f"gpt-worker-{n}.log": "".join(
            f"[rank{2 * n + own}]: {line}\n" for own in range(2) for line in STEPS.splitlines()
        )
        + "".join(f"[rank{2 * n + own}]: {REMOTE}" for own in range(2) if n == 0)
        for n in range(2)
    }
    found = origin(engine, logs | {"events.txt": events("gpt-worker-1")})
    assert (found.rank, found.ranks) == (None, (2, 3))


def without_module(ranks: range) -> str:
    """What tasks print that lack a module."""
    lines = (
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 4, in <module>',
        "    import flash_attn",
        "ModuleNotFoundError: No module named 'flash_attn'",
    )
    return "".join(f"{rank}: {line}\n" for rank in ranks for line in lines)


@pytest.mark.parametrize(
    ("ranks", "ends", "expected"),
    [
        (range(12, 16), ("gpu-node-05: tasks 12-15",), (None, (12, 13, 14, 15), "gpu-node-05")),
        (
            range(16),
            tuple(f"{host}: tasks {4 * n}-{4 * n + 3}" for n, host in enumerate(HOSTS)),
            (None, (), None),
        ),
        (range(4), ("gpu-node-02: tasks 0-3",), (None, (), None)),  # the others may have come later
    ],
)
def test_what_all_ranks_of_one_node_met_alone(
    engine: Engine,
    ranks: range,
    ends: tuple[str, ...],
    expected: tuple[int | None, tuple[int, ...], str | None],
) -> None:
    log = without_module(ranks) + "".join(f"srun: error: {end}: Exited with exit code 1\n" for end in ends)
    assert where(origin(engine, {"job.out": log})) == expected
