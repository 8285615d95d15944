"""Whose a traceback without a name is: who alone was about to do that, who alone runs that code, who alone fell silent."""

from __future__ import annotations

import pytest

from triage import Engine, Source

UP = "".join(f"[rank {rank}] up on gpu-01\n" for rank in range(4))
WAITING = "".join(f"[rank {rank}] waiting at the barrier\n" for rank in range(4) if rank != 2)
SHARD = """\
Traceback (most recent call last):
  File "/srv/train.py", line 88, in <module>
    ds = load_shard(path)
  File "/srv/data.py", line 41, in load_shard
    return table[name]
KeyError: 'tokens'
"""
INLINE = """\
Traceback (most recent call last):
  File "/srv/train.py", line 250, in <module>
    {code}
  File "/srv/train.py", line 140, in report
    writer.add_scalar('bleu', scores['bleu'], step)
KeyError: 'bleu'
"""
WRAPPED = """\
Traceback (most recent call last):
  File "/srv/train.py", line 121, in <module>
    runner.train()
  File "/opt/venv/lib/python3.10/site-packages/{path}", line 401, in {function}
    return func(*args, **kwargs)
  File "/srv/hooks.py", line 33, in report
    writer.add_scalar('bleu', scores['bleu'], step)
KeyError: 'bleu'
"""
LOADS = "[rank 2] loading shard 17\n"


def rank_of(engine: Engine, text: str) -> int | None:
    found = engine.diagnose([Source("train.log", data=text.encode())])
    assert found.root_cause is not None
    return found.root_cause.origin.rank


@pytest.mark.parametrize(
    ("log", "rank"),
    [
        (UP + LOADS + SHARD, 2),
        (UP + "".join(f"[rank {r}] loading shard {r + 5}\n" for r in (1, 3, 0, 2)) + SHARD, None),
        (UP + LOADS + SHARD + "[rank 2] took 300 samples\n", None),
        (UP + LOADS + SHARD * 2, None),
        (UP + "[rank 0] loading shard 17\n" + SHARD, None),
        (UP + "[rank 0] main process: loading shard 17\n" + SHARD, 0),
        (UP + WAITING.replace("[rank 0]", "[rank 2]") + "[rank 0] loading shard 17\n" + SHARD, 0),
        ("[rank 0] up on gpu-01\n[rank 0] main process: loading shard 17\n" + SHARD, None),
        (UP + "[rank 2] shard 17, loss 2.31\n" + SHARD, None),
    ],
)
def test_who_alone_was_about_to_do_it(engine: Engine, log: str, rank: int | None) -> None:
    assert rank_of(engine, log) == rank


def test_of_all_ranks_the_one_that_speaks_no_more(engine: Engine) -> None:
    shards = "".join(f"[rank {rank}] loading shard {rank}\n" for rank in range(4))
    assert rank_of(engine, UP + shards + SHARD + WAITING) == 2
    assert rank_of(engine, UP + shards + SHARD + "[rank 0] waiting at the barrier\n") is None
    assert rank_of(engine, UP + shards + SHARD + WAITING + "[rank 2] waiting at the barrier\n") is None


@pytest.mark.parametrize(
    ("code", "rank"),
    [
        ("if rank == 0: report(writer, scores)", 0),
        ("if dist.get_rank() == 0 and step % 10 == 0: report(writer, scores)", 0),
        ("if is_main_process(): report(writer, scores)", 0),
        ("if rank != 0: report(writer, scores)", None),
        ("if not is_main_process(): report(writer, scores)", None),
        ("with main_process_first(): report(writer, scores)", None),
        ("if report(writer, scores) and rank == 0: stop()", None),
        ("report(writer, scores)", None),
    ],
)
def test_a_condition_on_the_line_of_the_call(engine: Engine, code: str, rank: int | None) -> None:
    log = INLINE.format(code=code)
    assert rank_of(engine, f"step 3 loss 2.1\n{log}") == rank
    assert rank_of(engine, f"step 3 loss 2.1\n{log}{log}") is None


@pytest.mark.parametrize(
    ("path", "function", "rank"),
    [
        ("mmengine/dist/utils.py", "wrapper", 0),
        ("mmcv/runner/dist_utils.py", "wrapper", 0),
        ("lightning_utilities/core/rank_zero.py", "wrapped_fn", 0),
        ("torch/utils/_contextlib.py", "decorate_context", None),
    ],
)
def test_what_libraries_call_on_the_main_process_alone(
    engine: Engine, path: str, function: str, rank: int | None
) -> None:
    assert rank_of(engine, "step 3 loss 2.1\n" + WRAPPED.format(path=path, function=function)) == rank
