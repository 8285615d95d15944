"""What a program catches, by what it says of it and how often."""

from __future__ import annotations

import pytest

from triage import Engine, text_source

REFUSED = (
    "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4294967296 bytes."
    " Error code 12 (Cannot allocate memory)"
)
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/srv/app/fit.py", line 11, in <module>\n    probe(b)\n'
    f"RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. {REFUSED}\n"
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def verdict(engine: Engine, log: str) -> str:
    return engine.diagnose_sources([text_source(log, name="job.log")]).verdict


def test_who_says_in_its_own_words_what_was_raised_has_caught_it(engine: Engine) -> None:
    said = f"probe: batch 4096: RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. {REFUSED}\n"
    work = "".join(f"ep {n} loss 0.{90 - n} rss 2271 MiB\n" for n in range(8))
    log = f"probe: looking for the largest batch\n{said}{TRACEBACK}probe: trying 2048\nprobe: using 2048\n{work}"
    assert verdict(engine, log) == "healthy"
    assert verdict(engine, f"probe: looking for the largest batch\n{said}{TRACEBACK}") == "failed"


def test_who_prints_many_tracebacks_and_goes_on_after_each_catches_them(engine: Engine) -> None:
    def tried(name: str) -> str:
        return (
            f'{name} bf16 64x64 error NotImplementedError: "{name}_cpu" not implemented\n'
            "Traceback (most recent call last):\n"
            '  File "/srv/app/bench.py", line 8, in <module>\n    op(a)\n'
            f'NotImplementedError: "{name}_cpu" not implemented\n'
            f"{name} fp32 64x64 28.6\n{name} fp32 256x256 92.6\n"
        )

    log = "".join(tried(name) for name in ("qr", "fft", "svd", "lu"))
    assert verdict(engine, f"{log}baseline has 48 entries\n") == "healthy"
    assert verdict(engine, f"{log}3 ops have no result: refusing to write a baseline\n") == "failed"
