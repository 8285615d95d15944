"""Several files in one without headings: where the next begins, and logs in which none does."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from triage import Engine, Source
from triage.readers import recognise
from triage.sources.seams import parted

BANNER = (
    "\n*****************************************\n"
    "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being "
    "overloaded, please further tune the variable for optimal performance in your application as needed. \n"
    "*****************************************\n"
)
TRACEBACK = (
    "[rank1]: Traceback (most recent call last):\n"
    '[rank1]:   File "/home/ana/run/train.py", line 41, in <module>\n'
    "[rank1]:     main()\n"
    '[rank1]:   File "/home/ana/run/train.py", line 30, in main\n'
    "[rank1]:     weights[name] = rows[name]\n"
    "[rank1]: KeyError: 'bias'\n"
)
AGENT = (
    "W1121 07:21:46.224000 16422 torch/distributed/elastic/multiprocessing/api.py:1012] Sending process 30 closing signal SIGTERM\n"
    "E1121 07:21:46.339000 16422 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) local_rank: 1 "
    "(pid: 31) of binary: /opt/venv/bin/python3\n"
)
TABLE = (
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============================================================\n"
    "train.py FAILED\n"
    "------------------------------------------------------------\n"
    "Root Cause (first observed failure):\n"
    "[0]:\n"
    "  time      : 2026-11-21_07:21:46\n"
    "  host      : gpu-node-01\n"
    "  rank      : 1 (local_rank: 1)\n"
    "  exitcode  : 1 (pid: 31)\n"
    "  error_file: <N/A>\n"
    "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
    "============================================================\n"
)
STEPS = "".join(f"step {at} loss 0.{90 - at}\n" for at in range(12))


def stamped(begin: int, count: int, text: str = "step {} loss 0.5") -> str:
    """Lines of a logger, two seconds apart."""
    return "".join(
        f"2026-11-21 07:{(begin + 2 * at) // 60:02}:{(begin + 2 * at) % 60:02},000 INFO {text.format(at)}\n"
        for at in range(count)
    )


def parts(text: str) -> list[str]:
    """What ``text`` is taken apart into."""
    found, _ = parted([Source("all.log", data=text.encode())], recognise)
    return [(source.data or b"").decode() for source in found]


def test_what_stands_below_a_launchers_report_and_not_its_next_banner_is_another_file() -> None:
    err = BANNER + TRACEBACK + AGENT + TABLE
    assert parts(err + STEPS) == [err, STEPS]
    assert parts(STEPS + err) == [STEPS + err]  # in order of time as it stands


def test_a_launcher_that_is_run_again_says_so() -> None:
    again = BANNER + TRACEBACK + AGENT + TABLE + BANNER + STEPS + "done\n"
    assert parts(again) == [again]


def test_a_launcher_that_prints_no_banner_may_have_been_run_again() -> None:
    again = TRACEBACK + AGENT + TABLE + STEPS + "done\n"
    assert parts(again) == [again]


def test_steps_without_the_label_that_they_had_above_are_of_another_file() -> None:
    labelled = "".join(f"[default{at % 2}]:step {at // 2} loss 0.5\n" for at in range(12))
    whole = labelled + TRACEBACK + AGENT + TABLE
    assert parts(whole + STEPS) == [whole, STEPS]


LEAVES = (
    "[rank0]:[W1121 07:11:55.333217455 ProcessGroupNCCL.cpp:1575] Warning: WARNING: destroy_process_group() was not called "
    "before program exit, which can leak resources.\n"
)


def test_a_process_that_has_ended_counts_from_the_beginning_in_another_file_only(engine: Engine) -> None:
    err = BANNER + LEAVES
    assert parts(err + STEPS) == [err, STEPS]
    assert engine.diagnose(Source("all.log", data=(err + STEPS).encode())).verdict == "healthy"
    restarted = err + AGENT + STEPS  # its agent begins it again
    assert parts(restarted) == [restarted]
    longer = err + STEPS[STEPS.index("step 4") :]  # of a process that works for longer
    assert parts(longer) == [longer]


def test_a_launcher_that_begins_as_another_ends_is_of_another_file() -> None:
    other = (
        BANNER
        + "[rank2]:[E1121 07:21:46.653373283 ProcessGroupNCCL.cpp:612] [Rank 2] Collective failed\n"
        + AGENT
    )
    one = BANNER + TRACEBACK + AGENT + TABLE
    # all but its first line, which is empty
    assert [len(text.strip()) for text in parts(one + other)] == [len(one.strip()), len(other.strip())]
    later = other.replace("07:21:", "07:22:")
    assert parts(one + later) == [one + later]


def test_what_a_launcher_labels_stands_below_its_banner() -> None:
    out = "".join(f"[default{at % 2}]:step {at // 2} loss 0.5\n" for at in range(12))
    err = BANNER + AGENT + TABLE
    assert len(parts(out + err)) == 2
    assert len(parts(STEPS + err)) == 1  # another program, before it


def test_times_that_begin_anew_are_of_another_file() -> None:
    one, two = stamped(0, 20), stamped(1, 20, "step {} loss 0.7")
    assert parts(one + two) == [one, two]
    assert parts(one + stamped(60, 20)) == [one + stamped(60, 20)]  # another run


def test_who_writes_late_begins_no_file() -> None:
    lines = stamped(0, 40).splitlines(keepends=True)
    late = [*lines[:20], *lines[24:28], *lines[20:24], *lines[28:]]
    assert parts("".join(late)) == ["".join(late)]


def test_two_clocks_in_one_log_are_no_files() -> None:
    lines = []
    for at in range(20):
        lines.append(f"2026-11-21 15:00:{2 * at:02},000 INFO step {at}\n")
        lines.append(f"2026-11-21T07:00:{2 * at:02}Z shipper: ok {at}\n")
    assert len(parts("".join(lines))) == 1


def test_a_report_lists_ends_in_no_order() -> None:
    ends = "".join(
        f"[{at}]:\n  time      : 2026-11-21_07:21:{50 - 3 * at:02}\n  host      : gpu-node-01\n"
        for at in range(9)
    )
    assert parts(AGENT + ends) == [AGENT + ends]


def test_logs_that_say_first_whose_they_are() -> None:
    files = [f"starting rank {rank} of 3\nloading shards\n" + STEPS for rank in range(3)]
    assert parts("".join(files)) == files
    runs = "".join([files[0], files[0]])
    assert parts(runs) == [runs]  # the same rank twice is two runs


def test_lines_are_counted_from_the_beginning_of_the_whole(engine: Engine, tmp_path: Path) -> None:
    err = BANNER + TRACEBACK + AGENT + TABLE
    at = tmp_path / "all.log"
    at.write_text(err + STEPS + TRACEBACK.replace("rank1", "rank0"))
    found = engine.diagnose(at)
    assert found.verdict == "failed"
    lines = at.read_text().splitlines()
    for shown in [evidence for group in found.findings for evidence in group.evidence]:
        assert shown.line is not None
        assert shown.text.splitlines()[0] == lines[shown.line - 1]
    assert [(s.lines, s.name) for s in found.sources] == [(25, str(at)), (18, str(at))]
    assert any("2 logs one after the other, the next from line 26" in note for note in found.notes)


@pytest.mark.parametrize("piped", [False, True])
def test_steps_below_the_end_are_no_survival(engine: Engine, piped: bool) -> None:
    data = (BANNER + TRACEBACK + AGENT + TABLE + STEPS).encode()
    given = Source("-", stream=io.BytesIO(data)) if piped else Source("all.log", data=data)
    found = engine.diagnose(given)
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert (found.root_cause.category, found.root_cause.origin.rank) == ("user-code", 1)
