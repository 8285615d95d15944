"""The ranks that a distributed checkpoint's exception lists, and the rank on the GPU of which it is spoken."""

from __future__ import annotations

import pytest

from triage import Engine, Source

FAILED = """\
[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/srv/train.py", line 12, in <module>
[rank{rank}]:     dcp.load(state, checkpoint_id=path)
[rank{rank}]: torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([{ranks}])
"""
INNER = """\
[rank{rank}]: Traceback (most recent call last): (RANK {whose})
[rank{rank}]:   File "/opt/venv/lib/python3.12/site-packages/torch/distributed/checkpoint/utils.py", line 193, in all_reduce
[rank{rank}]:     local_data = map_fun()
[rank{rank}]: RuntimeError: Missing key in checkpoint state_dict: dataloader.dp_rank_{whose}.
"""
KILLED = "".join(f"Killing subprocess {400 + number}\n" for number in range(4))
GPU = """\
Traceback (most recent call last):
  File "/srv/train.py", line 60, in <module>
    out = model(batch)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:{gpu} and cpu!
"""


def origin(engine: Engine, text: str) -> tuple[int | None, tuple[int, ...]]:
    found = engine.diagnose([Source("train.log", data=text.encode())])
    assert found.root_cause is not None
    return found.root_cause.origin.rank, tuple(found.root_cause.origin.ranks)


@pytest.mark.parametrize(
    ("failed", "expected"),
    [((2, 3), (2, (2, 3))), ((1,), (1, (1,))), ((0, 1, 2, 3), (None, ()))],
)
def test_ranks_that_the_exception_lists(
    engine: Engine, failed: tuple[int, ...], expected: tuple[int | None, tuple[int, ...]]
) -> None:
    listing = ", ".join(map(str, failed))
    log = "".join(
        FAILED.format(rank=rank, ranks=listing)
        + "".join(INNER.format(rank=rank, whose=whose) for whose in failed)
        for rank in range(4)
    )
    assert origin(engine, log) == expected


@pytest.mark.parametrize(("failed", "expected"), [((0, 1, 2, 3), None), ((0,), 0), ((0, 2), 0)])
def test_one_of_those_listed_is_shown(engine: Engine, failed: tuple[int, ...], expected: int | None) -> None:
    listing = ", ".join(map(str, failed))
    log = "".join(f"[rank{rank}]: loading the checkpoint\n" for rank in range(4))
    log += FAILED.format(rank=0, ranks=listing) + INNER.format(rank=0, whose=0)
    assert origin(engine, log)[0] == expected


@pytest.mark.parametrize(
    ("log", "rank"),
    [
        (GPU.format(gpu=2) + KILLED, 2),
        (GPU.format(gpu=0) + KILLED, None),
        (GPU.format(gpu=5) + KILLED, None),
        (GPU.format(gpu=2), None),
        (GPU.format(gpu=1) + GPU.format(gpu=2) + KILLED, None),
    ],
)
def test_the_rank_on_the_gpu_that_is_named(engine: Engine, log: str, rank: int | None) -> None:
    assert origin(engine, log)[0] == rank
