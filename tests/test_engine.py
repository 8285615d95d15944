"""The chain as callers see it: inputs of every kind, bad ones too, and the same answer every time."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import triage
from triage import Engine, InputError, Source

OOM = (
    "[rank2]: Traceback (most recent call last):\n"
    '[rank2]:   File "/workspace/train.py", line 3, in <module>\n'
    "[rank2]:     main()\n"
    "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of "
    "79.10 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of "
    "the allocated memory 77.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n"
)


def test_bytes_paths_and_sources_give_the_same_cause(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "job.err"
    path.write_text(OOM)
    with path.open("rb") as stream:
        answers = [
            engine.diagnose(OOM.encode()), engine.diagnose(path), engine.diagnose([str(path)]),
            engine.diagnose(Source("x", data=OOM.encode())), engine.diagnose(Source("s", stream=stream)),
            triage.diagnose(path),
        ]  # fmt: skip
    for diagnosis in answers:
        assert diagnosis.verdict == "failed"
        assert diagnosis.root_cause is not None
        assert diagnosis.root_cause.category == "gpu-oom"
        assert diagnosis.root_cause.origin.rank == 2
    assert len({d.fingerprint for d in answers}) == 1


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_logs(engine: Engine, tmp_path: Path, suffix: str, pack: object) -> None:
    path = tmp_path / f"job.err.{suffix}"
    path.write_bytes(pack(OOM.encode()))  # type: ignore[operator]
    assert engine.diagnose(path).root_cause is not None


@pytest.mark.parametrize("data", [b"", bytes(range(256)) * 40, b"a\0b\0c\0", b"x" * 300_000])
def test_empty_and_unintelligible_input_is_inconclusive(engine: Engine, data: bytes) -> None:
    diagnosis = engine.diagnose(Source("odd", data=data))
    assert diagnosis.verdict == "inconclusive"
    assert diagnosis.notes


STEPS = "".join(f"step {n} loss=0.{n}\n" for n in range(10, 20))
UNKNOWN_ALARM = "unit 3: the frobnicator refused the wumpus\n"


def test_text_in_which_nothing_is_recognised_is_inconclusive(engine: Engine) -> None:
    diagnosis = engine.diagnose(b"buy milk and eggs\ncall mother tonight\n")
    assert diagnosis.verdict == "inconclusive"
    assert any("Nothing in the input was recognised" in note for note in diagnosis.notes)


@pytest.mark.parametrize("before", ["", STEPS])
def test_alarming_last_words_that_nobody_knows_are_not_healthy(engine: Engine, before: str) -> None:
    diagnosis = engine.diagnose((before + UNKNOWN_ALARM + "could not go on\n").encode())
    assert diagnosis.verdict == "inconclusive"
    assert any("could not go on" in note for note in diagnosis.notes)


def test_who_says_last_that_it_gives_up_has_failed_whatever_the_reason(engine: Engine) -> None:
    diagnosis = engine.diagnose((STEPS + UNKNOWN_ALARM + "giving up, could not go on\n").encode())
    assert diagnosis.verdict == "failed"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "unknown"


@pytest.mark.parametrize("after", [STEPS, "training complete\n"])
def test_alarming_words_with_progress_or_a_good_end_after_them_are_healthy(
    engine: Engine, after: str
) -> None:
    assert engine.diagnose((STEPS + UNKNOWN_ALARM + after).encode()).verdict == "healthy"


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ("ValueError: bad thing", "user-code"),
        ("RuntimeError: no way", "user-code"),
        ("AssertionError", "user-code"),
        ("FrobError: no", "unknown"),
    ],
)
def test_an_exception_without_its_traceback_is_a_failure(engine: Engine, line: str, category: str) -> None:
    diagnosis = engine.diagnose(f"{STEPS}{line}\n".encode())
    assert diagnosis.verdict == "failed"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == category
    assert diagnosis.root_cause.evidence[0].text == line
    assert engine.diagnose(f"{STEPS}{line}\n{STEPS}".encode()).verdict == "healthy"


def test_a_loss_that_is_not_finite_warns_and_blames_only_a_bad_end(engine: Engine) -> None:
    log = STEPS + "step 20 loss=nan\nstep 21 loss=nan\n"
    for end in ("", "training complete\n"):
        healthy = engine.diagnose((log + end).encode())
        assert healthy.verdict == "healthy"
        assert [w.category for w in healthy.warnings] == ["numerics"]
    failed = engine.diagnose((log + "the run failed: numbers went bad\n").encode())
    assert failed.verdict == "failed"
    assert failed.root_cause is not None
    assert failed.root_cause.category == "numerics"


def test_a_cut_archive_without_failure_is_inconclusive(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"step 1 loss=0.5\n" * 5000)[:60])
    diagnosis = engine.diagnose(path)
    assert diagnosis.verdict == "inconclusive"
    assert not diagnosis.sources[0].complete


def test_an_exhausted_budget_is_noted(engine: Engine) -> None:
    diagnosis = engine.diagnose(Source("long", data=b"step 1 loss=0.5\n" * 5000), budget=1000)
    assert diagnosis.verdict == "inconclusive"
    assert not diagnosis.sources[0].complete


def test_windows_line_ends_and_progress_bars(engine: Engine) -> None:
    bars = "".join(f"\r {n}%|##  | {n}/100 [00:01<00:10,  9.0it/s]" for n in range(50))
    diagnosis = engine.diagnose(Source("crlf", data=(bars + "\r\n" + OOM.replace("\n", "\r\n")).encode()))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "gpu-oom"
    assert "\r" not in diagnosis.root_cause.evidence[0].text


def test_utf16(engine: Engine) -> None:
    assert engine.diagnose(Source("u16", data=OOM.encode("utf-16"))).root_cause is not None


def test_a_pipe_is_read(engine: Engine, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_text(OOM))
    writer.start()
    assert engine.diagnose(fifo).root_cause is not None
    writer.join()


def test_nothing_readable_is_an_error_that_names_it(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.err"):
        engine.diagnose(tmp_path / "none.err")


def test_one_unreadable_of_two_is_a_note(engine: Engine, tmp_path: Path) -> None:
    good = tmp_path / "job.err"
    good.write_text(OOM)
    diagnosis = engine.diagnose([good, tmp_path / "none.err"])
    assert diagnosis.verdict == "failed"
    assert any("none.err" in note for note in diagnosis.notes)


def test_per_rank_files_tell_the_rank(engine: Engine, tmp_path: Path) -> None:
    for rank in range(4):
        text = "step 1 loss=0.5\n" + (OOM.replace("[rank2]: ", "") if rank == 3 else "")
        (tmp_path / f"rank_{rank}.err").write_text(text)
    root = engine.diagnose(tmp_path).root_cause
    assert root is not None
    assert root.origin.rank == 3


def test_secrets_and_escapes_never_leave(engine: Engine) -> None:
    token = "hf_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"
    log = OOM.replace("main()", f"login('{token}')\x1b]0;evil\x07[bold]")
    log = log.replace("2.00 GiB. GPU", f"2.00 GiB. \x1b[31mHF_TOKEN={token} GPU")
    diagnosis = engine.diagnose(Source("secret", data=log.encode()))
    for shown in (diagnosis.to_json(), diagnosis.to_markdown(), diagnosis.to_text()):
        assert token not in shown
        assert "\x1b" not in shown


def test_a_flood_of_equal_lines_is_counted_not_kept(engine: Engine) -> None:
    flood = OOM * 20_000
    diagnosis = engine.diagnose(Source("flood", data=flood.encode()))
    root = diagnosis.root_cause
    assert root is not None
    assert root.category == "gpu-oom"
    group = next(g for g in diagnosis.findings if g.rule_id == root.rule_id)
    assert group.count > 2000
    assert group.sampled
    assert len(diagnosis.to_json()) < 200_000


@pytest.mark.parametrize("last", ["step creation of job 7 is disabled, retrying\n", ""])
def test_a_message_is_found_among_many_lines_that_end_as_it_does(tmp_path: Path, last: str) -> None:
    (tmp_path / "own.yaml").write_text(
        "engine: 1\nrules:\n  - {id: own.disabled, title: x, role: symptom, signature: {anchor: retrying, "
        "patterns: ['step creation of job (?P<job>\\d+) is disabled, retrying'], fields: {job: int}}, "
        "examples: {match: ['step creation of job 7 is disabled, retrying'], no_match: ['x']}}\n"
    )
    data = "".join(f"INFO connection {n} was lost, retrying\n" for n in range(500)) + last
    found = Engine([tmp_path]).diagnose(Source("x", data=data.encode())).findings
    assert [group.count for group in found if group.rule_id == "own.disabled"] == [1] * bool(last)


def test_the_number_of_threads_changes_nothing() -> None:
    data = (OOM + "step 1 loss=0.5\n" * 40_000).encode() * 12
    answers = {Engine(threads=n).diagnose(Source("x", data=data)).to_json() for n in (1, 2, 4)}
    assert len(answers) == 1


def test_an_engine_is_shared_between_threads(engine: Engine, captured: Path) -> None:
    paths = sorted(captured.glob("*/job.err"))[:12]
    alone = [engine.diagnose(p).to_json() for p in paths]
    together: list[str] = [""] * len(paths)

    def work(i: int) -> None:
        together[i] = engine.diagnose(paths[i]).to_json()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(paths))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=3000))
def test_any_bytes_give_an_answer(engine: Engine, data: bytes) -> None:
    assert engine.diagnose(Source("any", data=data)).verdict in {"failed", "healthy", "inconclusive"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_broken_real_logs_give_an_answer(engine: Engine, captured: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(captured.glob("*/job.err"))))
    text = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        if text:
            at = data.draw(st.integers(0, len(text) - 1))
            text[at : at + data.draw(st.integers(0, 80))] = data.draw(st.binary(max_size=12))
    engine.diagnose(Source("broken", data=bytes(text))).to_text()
