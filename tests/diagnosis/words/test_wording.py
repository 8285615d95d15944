"""Exceptions that no rule knows: their words, and the place that raises them, tell what kind of failure they are."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Hypothesis

SITE = "/opt/venv/lib/python3.12/site-packages/somelib"


def root(engine: Engine, ends: str, raised: tuple[str, str], depth: int = 4) -> Hypothesis:
    """The root cause of a log that ends with an exception raised ``depth`` calls below the user's own."""
    frames = [
        ("/work/run.py", "main"),
        *((f"{SITE}/engine.py", f"step_{i}") for i in range(depth - 1)),
        raised,
    ]
    lines = ["Traceback (most recent call last):"]
    for path, function in frames:
        lines += [f'  File "{path}", line 41, in {function}', "    pass"]
    log = "".join(f"[rank3]: {line}\n" for line in [*lines, ends])
    found = engine.diagnose(Source(name="job.err", data=log.encode())).root_cause
    assert found is not None
    assert found.origin.rank == 3 or found.origin.ranks == (3,)
    return found


TRAINER = (f"{SITE}/trainer.py", "fit")
FORWARD = (f"{SITE}/layers/attention.py", "forward")
BUILT = (f"{SITE}/pipeline.py", "__init__")
ARGUMENTS = (f"{SITE}/arguments.py", "validate_args")
OWN = ("/work/model.py", "forward")


@pytest.mark.parametrize("depth", [1, 5])
@pytest.mark.parametrize(
    ("ends", "raised", "category"),
    [
        # settings: what goes with what, and which values there are
        ("ValueError: zero offload cannot be used together with frozen embeddings", TRAINER, "config"),
        ("AssertionError: num_frobs (12) is not supported with a pipeline-parallel size of 5", BUILT, "config"),
        ("AssertionError: frob groups are only meant for large runs", ARGUMENTS, "config"),
        ("RuntimeError: --frob-size and --frob-count are mutually exclusive", TRAINER, "config"),
        ("ValueError: Unknown frob schedule 'cosign'. Supported values are cosine, linear", TRAINER, "config"),
        ("NotImplementedError: MegaModel does not support pipeline parallelism", FORWARD, "config"),
        ("ValueError: FROB_CACHE_DIR must be an absolute path", TRAINER, "config"),
        ("RuntimeError: frob template file not found: /data/frob.txt", TRAINER, "config"),
        # packages and what they run on
        ("AssertionError: fused frobs require frobkit >= 2.3.0", ARGUMENTS, "driver-or-version"),
        ("RuntimeError: frob kernels need compute capability 9.0", FORWARD, "driver-or-version"),
        ("RuntimeError: libfrob.so.3: cannot open shared object file", TRAINER, "driver-or-version"),
        # who may have it
        ("RuntimeError: frob/large is a gated repo; run hf auth login", TRAINER, "auth-or-hub"),
        ("FrobError: Error code: 402 - the balance must be positive", TRAINER, "auth-or-hub"),
        # what is read and written
        ("RuntimeError: checkpoint of step 300 lacks its index: expected 8 parts", TRAINER, "checkpoint"),
        ("ValueError: shard 17 is truncated", TRAINER, "data-loading"),
        ("frobs.FrameError: part_01.tar: member 7.jpg ends after 12 of 48113 bytes", TRAINER, "data-loading"),
        ("RuntimeError: images/0042.png: bad header", FORWARD, "data-loading"),
        # others
        ("RuntimeError: cuMemFrob failed: 700", TRAINER, "cuda-kernel"),
        ("RuntimeError: cudaMallocAsync failed: 2", TRAINER, "gpu-oom"),
        ("RuntimeError: frob server: Connection refused (os error 111)", TRAINER, "network-config"),
        ("RuntimeError: timed out after 600 s waiting for frobs", TRAINER, "straggler-or-hang"),
        ("AssertionError: bad header, cannot read: /data/frobs_07.idx", OWN, "data-loading"),
        ("FrobError: a frob's coordinate is NaN", TRAINER, "numerics"),
        # loaders refuse settings, too
        ("ValueError: Frob checkpoints only support the formats frob and bork", (f"{SITE}/io.py", "load_checkpoint"), "checkpoint"),
        ("ValueError: --frob-format cannot be used with offloading", (f"{SITE}/io.py", "load_checkpoint"), "config"),
        # what a call was given
        ("ValueError: expected a 3-D tensor, got 2-D", FORWARD, "user-code"),
        ("TypeError: frob() must be called before step()", TRAINER, "user-code"),
        ("AssertionError: query and key must have the same dtype", FORWARD, "user-code"),
    ],
)  # fmt: skip
def test_words_and_place_tell_the_kind(
    engine: Engine, ends: str, raised: tuple[str, str], category: str, depth: int
) -> None:
    found = root(engine, ends, raised, depth)
    assert found.category == category
    assert found.confidence <= 0.76


@pytest.mark.parametrize(
    "ends",
    [
        "KeyError: 'hidden_size'",
        "AssertionError: unsupported activation 'gelo'",
        "IndexError: list index out of range",
        "RuntimeError: the checkpoint index is wrong",
        "ValueError: sample 88 has no tokens, expected 2048",
    ],
)
def test_the_users_own_exceptions_stay_the_users(engine: Engine, ends: str) -> None:
    assert root(engine, ends, OWN).rule_id == "unknown.user-code"


def test_the_users_own_check_of_arguments_is_about_settings(engine: Engine) -> None:
    found = root(
        engine, "ValueError: --frob-size must be a multiple of 8", ("/work/arguments.py", "validate_args")
    )
    assert found.category == "config"


@pytest.mark.parametrize("ends", ["RuntimeError: frob 7 is odd", "FrobError: no frob"])
def test_words_that_tell_nothing(engine: Engine, ends: str) -> None:
    assert root(engine, ends, TRAINER, depth=5).category == "unknown"


@pytest.mark.parametrize("ends", ["ValueError: frob 7 is odd", "AssertionError: frob"])
def test_a_value_that_a_library_refuses_is_one_that_it_was_given(engine: Engine, ends: str) -> None:
    assert root(engine, ends, TRAINER, depth=5).rule_id == "unknown.refused-call"


@pytest.mark.parametrize("ends", ["KeyError: 'frob'", "IndexError: list index out of range"])
def test_what_a_library_does_not_find_in_what_it_was_given(engine: Engine, ends: str) -> None:
    assert root(engine, ends, TRAINER, depth=5).rule_id == "unknown.refused-call"


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("frobkit is not installed", "driver-or-version"),
        ("frob stream: CUDA error 719 in frob.cu", "cuda-kernel"),
        ("frobs: stale file handle", "storage"),
        ("checkpoint of step 300 is incomplete", "checkpoint"),
        ("the manifest has no samples for this shard: corrupt", "data-loading"),
        ("access to frob/large was denied: run hf auth login", "auth-or-hub"),
        ("ValueError: --frob-size cannot be combined with --frob-count", "config"),
    ],
)
def test_last_words_tell_their_kind_but_less_surely(engine: Engine, words: str, category: str) -> None:
    log = f"INFO trainer: step 12 loss 2.1\nFATAL: {words}\n"
    if words.startswith("ValueError"):
        log = log.replace("FATAL: ", "")
    found = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert found is not None
    assert found.category == category
    assert found.confidence <= 0.5


def stack(*frames: tuple[str, str], ends: str) -> str:
    lines = [f'  File "{path}", line 41, in {function}\n    go()\n' for path, function in frames]
    return f"Traceback (most recent call last):\n{''.join(lines)}{ends}\n"


@pytest.mark.parametrize(
    ("frames", "ends", "category"),
    [
        # the model's own work, whoever called for it
        (
            [("/work/run.py", "main"), (f"{SITE}/nn/output_checkpoint.py", "backward"), (f"{SITE}/kernels/frob.py", "backward"),
             (f"{SITE}/kernels/quant.py", "scales")],
            "ValueError: Expected scales of rank 2, got (4, 128)",
            "user-code",
        ),
        # what is checked while something is built
        (
            [("/work/run.py", "main"), (f"{SITE}/trainer.py", "build"),
             (f"{SITE}/callbacks/checkpointer.py", "__post_init__")],
            "ValueError: 'frob_interval' must be at least 1",
            "config",
        ),
        (
            [("/work/run.py", "main"), (f"{SITE}/recompute.py", "apply_activation_checkpointing"),
             (f"{SITE}/recompute.py", "wrap")],
            "NotImplementedError: Unknown wrapping policy 'frob'. Supported policies are full, none",
            "config",
        ),
        (
            [("/work/run.py", "main"), (f"{SITE}/checkpoint.py", "load_checkpoint"), (f"{SITE}/checkpoint.py", "read")],
            "ValueError: Expected scales of rank 2, got (4, 128)",
            "checkpoint",
        ),
    ],
)  # fmt: skip
def test_what_was_being_done_when_it_was_raised(
    engine: Engine, frames: list[tuple[str, str]], ends: str, category: str
) -> None:
    found = engine.diagnose(Source("job.err", data=stack(*frames, ends=ends).encode())).root_cause
    assert found is not None
    assert found.category == category


@pytest.mark.parametrize(
    "ends",
    [
        "ValueError: For FP8 MoE layers, only per-tensor scales are supported. Found strategy='token' symmetric=True",
        "RuntimeError: initialization failed: Invalid --2a886_worker_addresses specified. Expected 4, got 1",
    ],
)
def test_granularities_and_numbered_flags_are_settings(engine: Engine, ends: str) -> None:
    assert root(engine, ends, (f"{SITE}/layers/moe.py", "__init__")).category == "config"
