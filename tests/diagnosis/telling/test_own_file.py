"""Whose a failed write without a name is: each rank writes a file that bears its number."""

from __future__ import annotations

import pytest

from triage import Engine, Source

SAVING = (
    "[2026-03-02 10:00:0{second},442] [INFO] [torch_checkpoint_engine.py:21:save] [Torch] Saving {path}...\n"
)
SAVED = "[2026-03-02 10:00:0{second},442] [INFO] [torch_checkpoint_engine.py:23:save] [Torch] Saved {path}.\n"
SHARD = "/ckpt/global_step50/zero_pp_rank_{dp}_mp_rank_{mp:02d}_optim_states.pt"
FAILED = """\
Traceback (most recent call last):
  File "/env/lib/python3.11/site-packages/torch/serialization.py", line 850, in save
    _save(obj, opened_zipfile, pickle_module, pickle_protocol)
RuntimeError: [enforce fail at inline_container.cc:471] . PytorchStreamWriter failed writing file data/3: file write failed
"""


def rank_of(engine: Engine, text: str) -> int | None:
    """The rank at which the failure of one log began."""
    root = engine.diagnose([Source("job.log", data=text.encode())]).root_cause
    assert root is not None
    return root.origin.rank


def saving(dp: int, mp: int = 0) -> str:
    """The line that announces a shard."""
    return SAVING.format(second=1, path=SHARD.format(dp=dp, mp=mp))


@pytest.mark.parametrize(
    ("above", "rank"),
    [
        (saving(1), 1),
        (saving(0) + SAVED.format(second=2, path=SHARD.format(dp=0, mp=0)) + saving(3), 3),
        (saving(0) + saving(3), None),  # both are being written
        (saving(1, mp=1), None),  # a split model: the number among replicas is not the rank
        (SAVING.format(second=1, path="/ckpt/global_step50/mp_rank_01_model_states.pt"), None),
    ],
)
def test_the_shard_that_was_begun_and_not_finished_tells_its_writer(
    engine: Engine, above: str, rank: int | None
) -> None:
    assert rank_of(engine, above + FAILED) == rank


def test_a_file_of_a_rank_in_the_trace_itself_tells_it(engine: Engine) -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/srv/train.py", line 88, in save\n    torch.save(state, path)\n'
        "OSError: [Errno 28] No space left on device: '/ckpt/step-40/optimizer_rank2.pt'\n"
    )
    assert rank_of(engine, text) == 2
    assert rank_of(engine, text.replace("_rank2", "_tp_rank2")) is None
    assert rank_of(engine, text + text.replace("_rank2", "_rank1")) is None
