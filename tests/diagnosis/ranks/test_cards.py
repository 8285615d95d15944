"""GPUs that the kernel names by their place on the bus, and logs that are called after the host they are of."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Origin

HOSTS = ("trn-a01", "trn-a02")
PER_HOST = 4
BUS = ("18", "3a", "9a", "db")


def host(rank: int) -> str:
    """Where ``rank`` runs."""
    return HOSTS[rank // PER_HOST]


def begun() -> str:
    """What NCCL says of every rank when its communicator is ready."""
    return "".join(
        f"{rank}: {host(rank)}:{4100 + rank}:{4100 + rank} [{rank % PER_HOST}] NCCL INFO comm 0x55d1f0a0 rank {rank} "
        f"nranks 8 cudaDev {rank % PER_HOST} nvmlDev {rank % PER_HOST} busId {BUS[rank % PER_HOST]}000 "
        "commId 0x8f21 - Init COMPLETE\n"
        for rank in range(8)
    )


def lost(rank: int, peer: int) -> str:
    """What ``rank`` says that has lost ``peer``."""
    return (
        f"{rank}: {host(rank)}:{4100 + rank}:{4500 + rank} [{rank % PER_HOST}] misc/socket.cc:50 NCCL WARN "
        f"socketProgress: Connection closed by remote peer {host(peer)}<39001>\n"
        f"{rank}: [rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        "ProcessGroupNCCL.cpp:3384, remote process exited or there was a network error, NCCL version 2.21.5\n"
        f"{rank}: [rank{rank}]: ncclRemoteError: A call failed possibly due to a network error or a remote process "
        "exiting prematurely.\n"
    )


def aborted(rank: int) -> str:
    """What srun says of a process that ended itself because it had lost another."""
    return f"srun: error: {host(rank)}: task {rank}: Aborted (core dumped)\n"


def xid(bus: str, pid: str = "'<unknown>'") -> str:
    """What the kernel says of a GPU that it cannot reach."""
    return (
        f"[1290331.120331] NVRM: Xid (PCI:0000:{bus}:00): 79, pid={pid}, name=<unknown>, "
        "GPU has fallen off the bus.\n"
    )


def diagnosed(engine: Engine, texts: dict[str, str]) -> Origin:
    """Whom the files blame."""
    sources = [Source(n.rpartition("/")[2], path=n, data=t.encode()) for n, t in texts.items()]
    root = engine.diagnose(sources).root_cause
    assert root is not None and root.category == "gpu-hardware"
    return root.origin


def job(broken: int, launcher_saw: int) -> str:
    """The job's log: all but one rank complain, and of one of them srun tells its end."""
    losses = "".join(lost(rank, broken) for rank in range(8) if rank != broken)
    return begun() + losses + aborted(launcher_saw)


@pytest.mark.parametrize(
    "name",
    ["dmesg-{}.txt", "{}.kern.log", "dmesg_{}.txt", "dmesg.{}.cluster.example.txt", "{}/dmesg"],
)
@pytest.mark.parametrize("broken", [1, 5])
def test_a_kernel_log_is_of_the_host_that_it_is_called_after(engine: Engine, name: str, broken: int) -> None:
    """The same place on the bus comes again on each node: the name of the file tells on which it was."""
    origin = diagnosed(
        engine, {"job.log": begun() + aborted(0), name.format(host(broken)): xid(BUS[broken % PER_HOST])}
    )
    assert (origin.rank, origin.host) == (broken, host(broken))


@pytest.mark.parametrize(("broken", "seen"), [(1, 7), (6, 0), (5, 2)])
def test_who_complains_of_others_does_not_sit_at_the_broken_gpu(
    engine: Engine, broken: int, seen: int
) -> None:
    """Nothing names the host; of those at that place one complains, so it is the other, whomever srun saw end."""
    origin = diagnosed(engine, {"job.log": job(broken, seen), "dmesg.txt": xid(BUS[broken % PER_HOST])})
    assert origin.rank == broken


def test_the_process_tells_which_of_two_gpus_at_the_same_place(engine: Engine) -> None:
    """The line names a process beside the GPU."""
    origin = diagnosed(engine, {"job.log": begun() + aborted(0), "dmesg.txt": xid(BUS[2], pid=str(4100 + 6))})
    assert origin.rank == 6


def test_nobody_is_named_where_nothing_tells_the_host(engine: Engine) -> None:
    """Both ranks at that place are silent, and who ended sits elsewhere."""
    origin = diagnosed(engine, {"job.log": begun() + aborted(0), "dmesg.txt": xid(BUS[2])})
    assert origin.rank is None


def test_a_log_in_which_ranks_speak_is_not_of_the_host_in_its_name(engine: Engine) -> None:
    """The job's log is kept by its first node and called after it; its lines are of all nodes."""
    told = {f"job-{HOSTS[0]}.out": job(5, 0), f"dmesg-{HOSTS[1]}.txt": xid(BUS[1])}
    origin = diagnosed(engine, told)
    assert (origin.rank, origin.host) == (5, HOSTS[1])
