"""Programs that catch what each of many things raises: all of them lost, or all from one on, against some."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from triage import Engine, Source


def verdict(engine: Engine, *lines: str) -> str:
    return engine.diagnose(Source("job.log", data="\n".join(lines).encode())).verdict


def evaluated(lost: Callable[[str], bool]) -> list[str]:
    told = ["INFO model=checkpoints/step_12000"]
    for task in ("arc_easy", "hellaswag", "gsm8k", "mmlu"):
        told.append(f"INFO task {task}: 1172 documents")
        told.append(
            f"WARNING task {task} skipped: KeyError('target')" if lost(task) else f"INFO task {task} acc=0.41"
        )
    return [*told, "INFO evaluation finished in 211.4 s"]


def test_no_task_that_could_be_scored_is_a_failure(engine: Engine) -> None:
    assert verdict(engine, *evaluated(lambda task: True)) == "failed"
    assert verdict(engine, *evaluated(lambda task: task == "gsm8k")) == "healthy"


@pytest.mark.parametrize(("since", "expected"), [(12, "failed"), (36, "healthy")])
def test_what_breaks_for_good_is_more_than_a_few(engine: Engine, since: int, expected: str) -> None:
    chunks = [f"infer: chunk {n}: {0 if n >= since else 64}/64 answers" for n in range(40)]
    assert verdict(engine, *chunks, "infer: written out/answers.jsonl") == expected


def test_work_that_goes_on_beside_what_is_skipped_is_work(engine: Engine) -> None:
    log = [
        line for n in range(12)
        for line in (f"WARNING record {n * 7} skipped: unexpected end", f"INFO step {n} loss {2 - n / 10:.2f}")
    ]  # fmt: skip
    assert verdict(engine, *log, "INFO training finished") == "healthy"


def test_work_in_another_log_counts_too(engine: Engine) -> None:
    err = "\n".join(f"WARNING record {n * 31} skipped: unterminated string" for n in range(5))
    out = "\n".join(f"step {n} loss {2 - n / 10:.2f}" for n in range(10))
    sources = [Source("job.err", data=err.encode()), Source("job.out", data=out.encode())]
    assert engine.diagnose(sources).verdict == "healthy"
    assert verdict(engine, *err.splitlines()) == "failed"


@pytest.mark.parametrize(("codes", "expected"), [((1, 1, 2, 1), "failed"), ((1, 0, 0, 0), "healthy")])
def test_a_sweep_whose_every_run_ended_badly(engine: Engine, codes: tuple[int, ...], expected: str) -> None:
    log = ["SWEEP 4 configs"]
    for number, code in enumerate(codes):
        log += [f"== config {number}: lr=0.{number}", f"   exit {code} after 12 s, log in c{number}.log"]
    assert verdict(engine, *log, "SWEEP over") == expected
