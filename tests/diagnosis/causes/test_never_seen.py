"""What libraries raise that no rule knows: who refuses what, and what is not there, by the calls that found it so."""

from __future__ import annotations

import pytest

from triage import Engine, Source

SITE = "/opt/venv/lib/python3.12/site-packages/somelib"


def category(engine: Engine, ends: str, function: str, code: str = "raise ValueError(") -> str:
    """The category of a log that ends with what ``function`` of a library raises below the user's call."""
    log = (
        "Traceback (most recent call last):\n"
        '  File "/work/run.py", line 41, in main\n'
        "    out = somelib.run(x)\n"
        f'  File "{SITE}/parts.py", line 12, in {function}\n'
        f"    {code}\n"
        f"{ends}\n"
    )
    root = engine.diagnose(Source(name="job.err", data=log.encode())).root_cause
    assert root is not None
    return root.category


@pytest.mark.parametrize(
    "ends",
    [
        "ValueError: wicks burn no longer than 3 hours, got 12",
        "ValueError: a wick of 3 fits no lamp of 5",
    ],
)
def test_what_a_constructor_refuses_is_a_setting(engine: Engine, ends: str) -> None:
    assert category(engine, ends, "__init__") == "config"
    assert category(engine, ends, "gather") == "user-code", "elsewhere it is what the call was given"


def test_of_an_object_a_constructor_complains_to_the_caller(engine: Engine) -> None:
    ends = "ValueError: the lamp must be an instance of Lantern"
    assert category(engine, ends, "__init__") == "user-code"


@pytest.mark.parametrize(
    ("ends", "function", "wanted"),
    [
        ("FileNotFoundError: ckpt /scratch/run7/out not found", "load", "checkpoint"),
        ("FileNotFoundError: Nothing lies at /scratch/run7/out", "get_model_state_file", "checkpoint"),
        ("FileNotFoundError: Image not found: /scratch/run7/out", "load", "data-loading"),
        ("FileNotFoundError: Provided key (/scratch/run7/out) lies nowhere", "connect", "config"),
    ],
)
def test_a_library_says_what_it_does_not_find(engine: Engine, ends: str, function: str, wanted: str) -> None:
    assert category(engine, ends, function, "raise FileNotFoundError(") == wanted


@pytest.mark.parametrize("function", ["read_records", "_parse_mmcif", "load_structure"])
def test_who_reads_records_fails_on_data(engine: Engine, function: str) -> None:
    ends = "RuntimeError: The end token is none"
    assert category(engine, ends, function, "raise RuntimeError(") == "data-loading"
    assert category(engine, ends, "write_records", "raise RuntimeError(") != "data-loading"


@pytest.mark.parametrize(
    ("ends", "wanted"),
    [
        ("RuntimeError: Triton is needed for the lantern but it is not available!", "driver-or-version"),
        ("RuntimeError: No CUDA devices found", "driver-or-version"),
        ("RuntimeError: No compatible lantern binary at /scratch/run7/out", "driver-or-version"),
        ("somelib.errors.LanternCredentialsError: no oil", "auth-or-hub"),
        ("RuntimeError: A write_token is required to light it", "auth-or-hub"),
        ("RuntimeError: The folder [/scratch/run7] is not writable", "storage"),
    ],
)
def test_words_that_all_libraries_share(engine: Engine, ends: str, wanted: str) -> None:
    assert category(engine, ends, "light", "raise RuntimeError(") == wanted
