"""Who a process is by the channels over which it sends, where no communicator's line tells."""

from __future__ import annotations

import pytest

from triage import Engine, Source

LOG = """\
pod-7:118:635 [{gpu}] NCCL INFO Channel 00 : {rank}[{device}] -> 3[3] via SHM/direct/direct
pod-7:118:635 [{gpu}] misc/shmutils.cc:88 NCCL WARN Error: failed to extend /dev/shm/nccl-h to 96 bytes, error: No space left on device (28)
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
"""


@pytest.mark.parametrize(
    ("rank", "device", "expected"),
    [(1, 1, 1), (1, 5, None)],  # the second counts in a group: its GPU has another number
)
def test_a_sender_whose_gpu_has_its_number_is_that_rank(
    engine: Engine, rank: int, device: int, expected: int | None
) -> None:
    text = LOG.format(gpu=device, rank=rank, device=device)
    root = engine.diagnose([Source("job.log", data=text.encode())]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("shm", expected)
