"""Processes that a program on each node starts by itself, and actors that a program has numbered."""

from __future__ import annotations

import pytest

from triage import Engine, Source

NODE = """\
Initializing distributed: GLOBAL_RANK: {1}, MEMBER: {1}/4
Initializing distributed: GLOBAL_RANK: {0}, MEMBER: {0}/4
Epoch 0: 10/20 train_loss=1.7
Traceback (most recent call last):
  File "/srv/node.py", line 14, in <module>
    mp.spawn(main, nprocs=2)
torch.multiprocessing.spawn.ProcessRaisedException:

-- Process {2} terminated with the following error:
Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/torch/multiprocessing/spawn.py", line 87, in _wrap
    fn(i, *args)
  File "/srv/node.py", line 12, in main
    {3}
{4}
"""
LOST = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:4931"


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("local", [0, 1])
def test_a_process_of_the_second_node(engine: Engine, local: int, both: bool) -> None:
    second = NODE.format(2, 3, local, "emb(torch.tensor([100]))", "IndexError: index out of range in self")
    logs = {"b.out": second, "a.out": NODE.format(0, 1, 1, "dist.all_reduce(x)", LOST)}
    found = engine.diagnose(
        [Source(n, path=n, data=t.encode()) for n, t in logs.items() if both or n == "b.out"]
    )
    assert found.root_cause is not None
    assert found.root_cause.origin.rank == 2 + local


RAY = """\
(Member pid=7508) member1 spun up
(Member pid=7598) member{0} spun up
(Member pid=7508) member1 day 0
(Member pid=7598) member{0} day 0
Traceback (most recent call last):
  File "/srv/ens.py", line 14, in <module>
    ray.get([m.advance.remote(day, obs) for m in ms])
  File "/venv/lib/python3.11/site-packages/ray/_private/worker.py", line 1053, in get_objects
    raise value.as_instanceof_cause()
ray.exceptions.RayTaskError(TypeError): ray::Member.advance() (pid={1}, ip=10.0.0.2, actor_id=a629ca4b, repr={2})
  File "/srv/ens.py", line 8, in advance
    return obs[self.k] * 2
TypeError: unsupported operand type(s) for *: 'dict' and 'int'
"""


@pytest.mark.parametrize(
    ("pid", "shown", "rank"),
    [
        (7598, "<ens.Member object at 0x7fb0>", 4),  # it says so itself
        (7701, "Member(2)", 2),
        (7701, "Member(k=2)", 2),
        (7701, "Member[rank=2]", 2),
        (7701, "member-2", 2),
        (7701, "<ens.Member object at 0x7fb0>", None),
    ],
)
def test_an_actor_is_the_number_that_it_has(engine: Engine, pid: int, shown: str, rank: int | None) -> None:
    found = engine.diagnose([Source("d.log", data=RAY.format(4, pid, shown).encode())])
    assert found.root_cause is not None
    assert found.root_cause.origin.rank == rank
