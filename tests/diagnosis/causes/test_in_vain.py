"""Jobs that nobody says have failed, and that came to nothing."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source


def diagnosed(engine: Engine, *logs: str) -> Diagnosis:
    """The diagnosis of a job with one log for each of ``logs``."""
    return engine.diagnose([Source(f"actor-{n}.log", data=text.encode()) for n, text in enumerate(logs)])


def steps(first: int, last: int, loss: str) -> str:
    """Lines of a training loop, ``loss`` in each."""
    return "".join(f"step {n}/200 loss: {loss.format(3 / (n + 1))} lr 0.001\n" for n in range(first, last))


def test_a_loss_that_is_nan_to_the_end_is_a_failure_though_the_program_is_content(engine: Engine) -> None:
    found = diagnosed(
        engine, steps(0, 30, "{:.4f}") + steps(30, 60, "nan") + "saved model.pt\nTraining finished\n"
    )
    assert found.root_cause is not None
    assert found.root_cause.category == "numerics"
    assert "step 30/200 loss: nan" in found.root_cause.evidence[0].text


@pytest.mark.parametrize(("first", "category"), [(4100, "numerics"), (0, None)])
def test_two_reports_without_a_number_are_enough_where_many_steps_came_before(
    engine: Engine, first: int, category: str | None
) -> None:
    log = "".join(f"Epoch 2 | step {n} | loss nan | lr 3.0e-04\n" for n in (first, first + 100))
    root = diagnosed(engine, log).root_cause
    assert (root.category if root else None) == category


def test_a_loss_that_becomes_a_number_again_is_none(engine: Engine) -> None:
    log = steps(0, 30, "{:.4f}") + steps(30, 40, "nan") + steps(40, 80, "{:.4f}") + "Training finished\n"
    assert diagnosed(engine, log).verdict == "healthy"


def test_a_part_of_the_loss_that_is_nan_is_none(engine: Engine) -> None:
    log = (
        "".join(f"step {n} loss: {3 / (n + 1):.4f} aux_loss: nan\n" for n in range(40))
        + "Training finished\n"
    )
    assert diagnosed(engine, log).verdict == "healthy"


def test_a_gradient_that_is_never_a_number_beside_a_loss_of_zero_is_lost(engine: Engine) -> None:
    log = "".join(
        f"{{'loss': {'0.0' if n > 3 else '2.1'}, 'grad_norm': {'nan' if n > 3 else '1.2'}, 'epoch': 0.{n:02d}}}\n"
        for n in range(20)
    )
    found = diagnosed(engine, log + "{'train_runtime': 31.2, 'train_loss': 0.42, 'epoch': 1.0}\n")
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "numerics.never-finite-again"


def test_a_search_for_a_scale_is_no_loss(engine: Engine) -> None:
    log = "".join(f"step {n}: overflow, step skipped, scale {2.0 ** (16 - n)}\n" for n in range(12))
    assert diagnosed(engine, log + steps(12, 30, "{:.4f}")).verdict == "healthy"


def test_steps_that_are_all_skipped_below_a_scale_of_one_are_lost(engine: Engine) -> None:
    log = steps(0, 10, "{:.4f}") + "".join(
        f"step {n}: non-finite gradients, update skipped, scale {2.0 ** (10 - n)}\n" for n in range(10, 40)
    )
    found = diagnosed(engine, log + "finished 40 steps\n")
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "numerics.every-step-skipped"


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ("{at} 6 of 8 workers joined, waiting for 3, 6", "rendezvous"),
        ("{at} no batch in the queue, waiting (step 37)", "data-loading"),
        ("{at} placement group of 8 GPUs is not yet scheduled", "scheduler"),
        ("{at} [monitor] alive, step 41", "straggler-or-hang"),
        ("{at} step=37 tokens=2.1e9 waiting_on=rank6", "straggler-or-hang"),
        ("{at} still compiling graph 4 of 9", "compile-or-graph-capture"),
        ("{at} all but one are here, checkpoint 3/4 written", "checkpoint"),
        ("{at} replay queue is empty, sleeping 20s", "data-loading"),
    ],
)
def test_who_waits_to_the_end_of_the_log_tells_for_what(engine: Engine, line: str, category: str) -> None:
    log = steps(0, 37, "{:.4f}") + "".join(line.format(at=f"12:{n:02d}:00") + "\n" for n in range(20))
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    assert found.root_cause.category == category


def test_a_wait_that_ends_is_none(engine: Engine) -> None:
    log = "".join(f"12:{n:02d}:00 6 of 8 workers joined, waiting for 3, 6\n" for n in range(20))
    assert (
        diagnosed(engine, log + "12:30:00 8 of 8 workers joined\n" + steps(0, 37, "{:.4f}")).verdict
        == "healthy"
    )


@pytest.mark.parametrize(
    "line",
    [
        "11/21 {at} heartbeat ok, node idle",
        "{at} stats: 0/8 slots busy, kv 0.0%",
        "{at} Waiting for new checkpoint at /ckpt",
    ],
)
def test_who_is_idle_waits_for_nothing_that_the_work_needs(engine: Engine, line: str) -> None:
    log = steps(0, 37, "{:.4f}") + "".join(line.format(at=f"12:{n:02d}:00") + "\n" for n in range(30))
    assert diagnosed(engine, log).verdict == "healthy"


def test_none_of_many_that_failed_is_no_tally_of_nothing(engine: Engine) -> None:
    assert (
        diagnosed(engine, steps(0, 37, "{:.4f}") + "0 of 40 samples failed\nmean score 0.71\n").verdict
        == "healthy"
    )


def test_a_count_that_moves_is_at_work(engine: Engine) -> None:
    log = "".join(f"12:{n:02d}:00 [monitor] alive, step {n}\n" for n in range(30))
    assert diagnosed(engine, log).verdict == "healthy"


def test_an_engine_that_makes_nothing_of_its_requests_is_stuck(engine: Engine) -> None:
    line = "INFO 11-20 10:{0:02d}:00 [loggers.py:122] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
    busy = "".join(
        f"{line.format(n)}{410.2 + n} tokens/s, Running: 9 reqs, Waiting: 0 reqs\n" for n in range(9)
    )
    stuck = "".join(
        f"{line.format(n)}0.0 tokens/s, Running: 9 reqs, Waiting: {n} reqs\n" for n in range(10, 30)
    )
    idle = "".join(f"{line.format(n)}0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs\n" for n in range(10, 30))
    root = diagnosed(engine, busy + stuck).root_cause
    assert root is not None
    assert root.category == "straggler-or-hang"
    assert diagnosed(engine, busy + idle).verdict == "healthy"


def test_an_engine_of_which_nothing_is_heard_but_that_it_lives_has_fallen_silent(engine: Engine) -> None:
    at_work = "".join(
        f"[2026-11-20 09:{n:02d}:00 TP0] Decode batch. #running-req: {{}}, #token: {n * 70}, gen throughput (token/s): 411.2\n"
        for n in range(12)
    )
    health = "".join(
        f'[2026-11-20 09:{n:02d}:30] INFO:     10.1.1.4:41{n:03d} - "GET /health HTTP/1.1" 200 OK\n'
        for n in range(12, 50)
    )
    root = diagnosed(engine, at_work.replace("{}", "7") + health).root_cause
    assert root is not None
    assert root.category == "straggler-or-hang"


def test_several_that_say_the_same_at_once_do_not_wait(engine: Engine) -> None:
    log = "".join(f"10:00:{s:02d} step {s}/30 is over\n" * 16 for s in range(28))
    assert diagnosed(engine, log).verdict == "healthy"


def test_a_server_waits_for_requests(engine: Engine) -> None:
    log = "12:00:00 INFO model loaded, listening on port 8000\n" + "".join(
        f"12:{n:02d}:01 INFO waiting for requests (queue 0)\n" for n in range(30)
    )
    assert diagnosed(engine, log).verdict != "failed"


def test_what_nothing_came_of_is_told_by_its_complaints(engine: Engine) -> None:
    log = "".join(
        f"12:00:{n:02d} WARNING sample {n}: request failed: HTTP Error 401: Unauthorized\n" for n in range(40)
    )
    found = diagnosed(engine, log + "12:01:00 INFO evaluation complete: 0/40 answered\n")
    assert found.root_cause is not None
    assert found.root_cause.category == "auth-or-hub"


def test_what_something_came_of_is_none(engine: Engine) -> None:
    log = "".join(
        f"12:00:{n:02d} WARNING sample {n}: request failed: HTTP Error 503, tried again\n" for n in range(9)
    )
    assert diagnosed(engine, log + "12:01:00 INFO evaluation complete: 37/40 answered\n").verdict == "healthy"


def test_the_one_that_breaks_off_while_all_others_end_is_named(engine: Engine) -> None:
    logs = [
        "".join(f"episode {n} return {n + 10.5}\n" for n in range(0, 12 if rank == 2 else 60, 2))
        + ("" if rank == 2 else "60 episodes done\n")
        for rank in range(5)
    ]
    found = diagnosed(engine, *logs)
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "unknown.left-out-of-the-end"
    assert found.root_cause.origin.rank == 2


def test_the_one_with_a_part_of_its_own_is_not(engine: Engine) -> None:
    logs = [
        "".join(f"episode {n} return {n + 10.5}\n" for n in range(0, 60, 2))
        + ("summary of all in scores.csv\n" if rank == 0 else "60 episodes done\n")
        for rank in range(5)
    ]
    assert diagnosed(engine, *logs).verdict == "healthy"


STORED = "".join(f"[2026-01-05 10:00:0{n},211] INFO ep {n} loss=1.{n}\n" for n in range(8))
LOST = (
    "[2026-01-05 10:01:00,211] WARNING attempt 3 of 3 for model-1.safetensors failed: 503 Slow Down\n"
    "[2026-01-05 10:01:00,311] ERROR could not store model-1.safetensors\n"
)
DONE = (
    "[2026-01-05 10:02:00,211] INFO removing the scratch directory\n"
    "[2026-01-05 10:02:01,211] INFO Done in 412 s\n"
)


def test_a_model_that_came_nowhere_is_a_failure_though_the_program_is_done(engine: Engine) -> None:
    found = diagnosed(engine, STORED + LOST + "[2026-01-05 10:01:01,211] INFO stored config.json\n" + DONE)
    assert found.root_cause is not None
    assert "could not store model-1.safetensors" in found.root_cause.evidence[0].text


def test_a_model_that_came_there_at_last_is_none(engine: Engine) -> None:
    log = STORED + LOST + "[2026-01-05 10:01:09,211] INFO stored model-1.safetensors\n" + DONE
    assert diagnosed(engine, log).verdict == "healthy"


def test_what_programs_do_without_is_no_product(engine: Engine) -> None:
    log = STORED + "[2026-01-05 10:01:00,311] ERROR could not upload metrics.json to the tracker\n" + DONE
    assert diagnosed(engine, log).verdict == "healthy"


@pytest.mark.parametrize(
    "tally",
    [
        '{"samples": 0, "left_out": 2000, "accuracy": NaN}',
        "samples: 0  skipped: 2000",
    ],
)
def test_an_evaluation_of_nothing_is_a_failure(engine: Engine, tally: str) -> None:
    log = "Loading model\n" + "".join(
        f"warning: record {n}: cannot parse field 'answer' (KeyError: 'answer'), left out\n" for n in range(8)
    )
    found = diagnosed(engine, log + tally + "\nEvaluation finished, results are in eval.json\n")
    assert found.verdict == "failed"


def test_a_loss_that_never_was_a_number_is_lost_though_the_best_weights_are_restored(engine: Engine) -> None:
    log = (
        "".join(f"{{'epoch': {n}, 'val_loss': nan}}\n" for n in range(10))
        + "Restoring the best weights\nTraining finished.\n"
    )
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "numerics.never-finite-again"


def test_few_losses_without_a_number_are_enough_where_they_are_all(engine: Engine) -> None:
    log = "".join(f"step 0000{n} ({n * 20}.00%) | loss: nan | dt: 28{n}.1ms\n" for n in range(1, 6))
    found = diagnosed(engine, log + "Saved model parameters to: /m/model_5.pt\n")
    assert found.root_cause is not None
    assert found.root_cause.category == "numerics"
