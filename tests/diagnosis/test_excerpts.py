"""Short excerpts of serving logs: what is left when a page shows a few lines only."""

from __future__ import annotations

import json

import pytest

from triage import Diagnosis, Engine, Source

ERROR = "AssertionError: the model has no policy. Please provide one.\n"
STAMP = "[2026-03-02 10:01:05,010] [INFO] "


def diagnosed(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose(Source("job.err", data=log.encode()))


@pytest.mark.parametrize(
    "goodbye",
    [
        STAMP + "[launch.py:315:sigkill_handler] Killing subprocess 4711\n",
        "INFO 03-02 10:01:05 multiproc_worker_utils.py:123] Killing local vLLM worker processes\n",
        "2026-03-02T10:01:05.000000Z  INFO text_generation_launcher: Shutting down shards\n",
    ],
)
def test_what_is_said_on_the_way_out_is_no_sign_of_life(engine: Engine, goodbye: str) -> None:
    assert diagnosed(engine, ERROR + goodbye).verdict == "failed"


@pytest.mark.parametrize(
    "rest",
    [
        STAMP + "engine.py:10 - served request 18\n",
        "INFO:     Shutting down\nINFO:     Waiting for application shutdown.\nINFO:     Application shutdown complete.\n",
    ],
)
def test_ordinary_work_or_an_orderly_end_shows_survival(engine: Engine, rest: str) -> None:
    log = (
        "INFO:     Application startup complete.\n"
        "[2026-03-02 10:01:04,010] [ERROR] async_engine.py:640 - Truncate max_new_tokens to 512\n"
    )
    assert diagnosed(engine, log + rest).verdict == "healthy"


def test_an_exception_may_speak_of_a_warning(engine: Engine) -> None:
    said = "ValueError: PORT 'tcp://10.0.0.1:80' is no number, check the warning in the manual"
    log = f"    raise ValueError(\n{said}\nProcess SpawnProcess-1:\n"
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert root.evidence[0].line == 2


def test_a_second_traceback_that_is_cut_does_not_hide_the_first(engine: Engine) -> None:
    log = "ValueError: tensor_parallel_size is not supported here\nTraceback (most recent call last):\n"
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert (root.category, root.evidence[0].line) == ("config", 1)


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_traceback_inside_one_json_line(engine: Engine, gap: str) -> None:
    parts = [
        "Shard complete standard error output:",
        "Traceback (most recent call last):",
        '  File "/w/serve.py", line 8, in main\n    answer = table[key]',
        "KeyError: 'speaker_17'",
    ]
    record = {
        "timestamp": "2026-03-02T10:01:00.100000Z", "level": "ERROR", "message": gap.join(parts),
        "target": "text_generation_launcher", "span": {"rank": 3, "name": "shard-manager"},
    }  # fmt: skip
    root = diagnosed(engine, json.dumps(record) + "\n").root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 3)


def test_a_wrapper_alone_is_not_the_programs_own_error(engine: Engine) -> None:
    log = (
        '  File "/opt/venv/lib/python3.10/site-packages/mii/backend/server.py", line 62, in _wait_until_server_is_live\n'
        "    raise RuntimeError(\n"
        "RuntimeError: server crashed for some reason, unable to proceed\n"
    )
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert root.category != "user-code"


def test_a_key_that_names_a_parameter_is_about_the_weights(engine: Engine) -> None:
    root = diagnosed(engine, "KeyError: 'layers.3.mlp.w13.weight_scale_inv'\n").root_cause
    assert root is not None
    assert root.category == "checkpoint"


@pytest.mark.parametrize(
    ("line", "category", "rank"),
    [
        (
            "(EngineCore_DP0 pid=211) ERROR 03-02 10:05:11 [core.py:874] ValueError: No free slots\n",
            "config",
            None,
        ),
        (
            "(Worker_TP1 pid=211) ERROR 03-02 10:05:11 [x.py:874] AttributeError: no attribute 'bar'\n",
            "unknown",
            1,
        ),
        ("[2026-03-02 10:00:01 TP3] Scheduler hit an exception: ValueError: boom of sorts\n", "config", 3),
        ("ValueError: boom of sorts\n", "user-code", None),
    ],
)
def test_what_an_engine_states_is_not_its_users_code(
    engine: Engine, line: str, category: str, rank: int | None
) -> None:
    root = diagnosed(engine, line).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == (category, rank)
