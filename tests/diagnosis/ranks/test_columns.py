"""Numbers that tell logs apart whose names differ in more than that: the host, a pid."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Origin

OOM = (
    "Traceback (most recent call last):\n"
    '  File "/app/train.py", line 161, in main\n    loss.backward()\n'
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 0; 79.15 GiB total capacity; "
    "75.60 GiB already allocated; 1.21 GiB free; 76.62 GiB reserved in total by PyTorch)\n"
)
HOSTS = ("cn462a", "cn107b", "cn993c")


def waits(tag: int) -> str:
    """What the watchdog prints in torch 2.1, with a number that may count within a group."""
    return (
        f"[E ProcessGroupNCCL.cpp:474] [Rank {tag}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=96, "
        "OpType=ALLREDUCE, NumelIn=2048, NumelOut=2048, Timeout(ms)=600000) ran for 600071 milliseconds before timing out.\n"
    )


def blamed(engine: Engine, texts: dict[str, str]) -> Origin:
    """Whom the files blame."""
    found = engine.diagnose([Source(n, path=None, data=t.encode()) for n, t in texts.items()])
    assert found.root_cause is not None
    return found.root_cause.origin


@pytest.mark.parametrize("name", ["{host}.{rank}.log", "812345-{host}-{rank}.err", "{rank}_{host}.txt"])
def test_a_number_that_counts_on_across_hosts_is_a_rank(engine: Engine, name: str) -> None:
    texts = {
        name.format(host=HOSTS[rank // 2], rank=rank): OOM if rank == 3 else waits(rank) for rank in range(6)
    }
    assert blamed(engine, texts).rank == 3


def test_a_number_that_comes_again_on_every_host_is_none(engine: Engine) -> None:
    lost = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:42123\n"
    texts = {f"{host}.{n}.log": lost for host in HOSTS for n in range(2)}
    texts["cn107b.1.log"] = OOM
    assert blamed(engine, texts).rank is None


def test_what_others_of_a_node_say_places_its_numbers(engine: Engine) -> None:
    texts = {f"cn984a-gpu{n}.txt": waits(n) for n in range(4)}
    texts |= {f"cn917b-gpu{n}.txt": OOM if n == 2 else waits(4 + n) for n in range(4)}
    assert blamed(engine, texts).rank == 6


def test_the_kernels_log_is_no_process_beside_numbered_ones(engine: Engine) -> None:
    lost = (
        "Traceback (most recent call last):\n"
        '  File "/app/train.py", line 161, in main\n    dist.barrier()\n'
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:42123\n"
    )
    failed = [*lost.splitlines(keepends=True)[:-1], "RuntimeError: CUDA error: unspecified launch failure\n"]
    texts = {f"stderr.{n}": "".join(failed) if n == 6 else lost for n in range(8)}
    texts["dmesg.txt"] = (
        "[83290.112233] NVRM: Xid (PCI:0000:7b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    )
    assert blamed(engine, texts).rank == 6
