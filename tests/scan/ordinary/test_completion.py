"""What a program says last of all: that its work is done, or that it leaves it."""

from __future__ import annotations

import pytest

from triage import Engine, text_source

LOST = (
    "[E] zork: a worker died while piece 7 was being bent\n"
    "Traceback (most recent call last):\n"
    '  File "/srv/app/bend.py", line 20, in main\n'
    "    result = future.result()\n"
    "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future"
    " was running or pending.\n"
)
COUNTED = "".join(f"[I] zork: piece {n} bent, angle 0.{n}1 ({n}/7)\n" for n in range(1, 7))


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def verdict(engine: Engine, log: str) -> str:
    return engine.diagnose_sources([text_source(log, name="job.log")]).verdict


@pytest.mark.parametrize(
    "line",
    [
        "zork: finished: 6 pieces clean, 1 quarantined (allowed: 2). manifest written",
        "zork: 7 pieces, 1 pool rebuild, wrote bent.nc",
        "zork: study finished: {'COMPLETE': 12, 'FAIL': 6}; best params exported to best.json",
        "zork: mirror complete: 7 files, 1 retried",
        "zork: histograms in bent.root",
    ],
)
def test_a_program_that_says_its_work_is_done_got_over_what_went_wrong(engine: Engine, line: str) -> None:
    assert verdict(engine, f"{COUNTED}{LOST}[W] zork: pool again\n{line}\n") == "healthy"


@pytest.mark.parametrize(
    "line",
    [
        "zork: finished: 3 pieces clean, 4 quarantined (allowed: 2)",
        "zork: finished: 3 pieces clean, manifest not written",
        "zork: pool broke 5 times, stopping with 6 of 7 pieces",
        "zork: restarts used up",
        "zork: 3 pieces have no angle: refusing to write bent.json",
    ],
)
def test_what_is_taken_back_is_no_good_end(engine: Engine, line: str) -> None:
    assert verdict(engine, f"{COUNTED}{LOST}[W] zork: pool again\n{line}\n") == "failed"


def test_a_count_that_came_to_its_total_is_a_good_end(engine: Engine) -> None:
    log = (
        f"{COUNTED}{LOST}[W] zork: pool again\n[I] zork: piece 7 bent, angle 0.71 (7/7)\n[I] zork: leaving\n"
    )
    assert verdict(engine, log) == "healthy"
    assert verdict(engine, f"{COUNTED}{LOST}[W] zork: pool again\n") != "healthy"


def test_others_that_are_done_do_not_speak_for_the_one_that_is_not(engine: Engine) -> None:
    told = "".join(f"fw-{name}: shard {n} kept\n" for n in range(4) for name in "abc")
    broke = (
        "fw-c: shard 4 broke\nTraceback (most recent call last):\n"
        '  File "/srv/app/fw.py", line 14, in work\n    rows = opened(4)\n'
        "RuntimeError: client 2.6 reads format 5..6, shard was written with format 7; upgrade the client\n"
    )
    ends = "fw-a: done\nfw-b: done\n"
    assert verdict(engine, f"{told}{broke}{ends}exit codes [0, 0, 1]\n") == "failed"


def test_the_same_point_taken_up_again_and_again_is_no_recovery(engine: Engine) -> None:
    steps = "".join(f"it {n:3d} loss {2 - n / 40:.4f}\n" for n in range(5, 35, 5))
    back = "".join(f"it  34 loss nan  <-- rolling back to 30 ({n}. time)\n" for n in range(1, 5))
    end = "rolled back 4 times without getting past 34, leaving it there\n"
    diagnosis = engine.diagnose_sources([text_source(steps + back + end, name="run.log")])
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "numerics"
    once = "".join(back.splitlines(keepends=True)[:1])
    on = "".join(f"it {n:3d} loss {2 - n / 40:.4f}\n" for n in range(35, 60, 5))
    assert verdict(engine, steps + once + on) == "healthy"


def test_of_several_trials_one_without_numbers_says_nothing_of_the_others(engine: Engine) -> None:
    log = "".join(
        f"trial {t} epoch {e} loss {'nan' if t == 5 and e else 3 - e / 5:}\n"
        for t in range(6)
        for e in range(5)
    )
    assert verdict(engine, f"{log}study finished; best params exported to best.json\n") == "healthy"


def test_nothing_came_of_any_of_them(engine: Engine) -> None:
    runs = "".join(
        f"== run {n:02d} lr=0.{n}\nTraceback (most recent call last):\n"
        '  File "/srv/app/trial.py", line 4, in <module>\n    open(path)\n'
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/zork.idx'\n== run {n:02d} FAILED (exit 1), see above\n"
        for n in range(8)
    )
    assert verdict(engine, f"{runs}no run gave a value\n") == "failed"


def test_what_ray_passes_on_behind_the_last_words_of_a_driver_is_late(engine: Engine) -> None:
    work = "".join(f"etl: part {n:02d} -> 90 rows ({n}/9)\n" for n in range(1, 9))
    late = (
        "(raylet) Task clean failed. There are 3 retries remaining, so the task will be retried. Error: User exception:\n"
        "ray::clean() (pid=106, ip=192.0.2.2)\n"
        '  File "/srv/app/etl.py", line 8, in clean\n    read(part)\n'
        "OSError: [Errno 5] Input/output error: 's3fs/part-11.parquet'\n"
    )
    end = "etl: finished: 8 parts clean, 1 quarantined (allowed: 2). manifest written\n"
    assert verdict(engine, work + end + late) == "healthy"


def test_a_record_of_node_states_its_level_as_a_number(engine: Engine) -> None:
    def record(level: int, message: str) -> str:
        return f'{{"level":{level},"time":1795400000242,"pid":4711,"hostname":"a","msg":"{message}"}}\n'

    work = "".join(record(30, f"page {n} stored") for n in range(12))
    end = record(60, "13 pages in a row without an answer, upstream is down")
    assert verdict(engine, work) == "healthy"
    assert verdict(engine, work + end) == "failed"


def test_a_farewell_to_a_connection_is_no_end_of_the_work(engine: Engine) -> None:
    failed = LOST + "Initialization failed. router: see above\n"
    assert (
        verdict(engine, f"{failed}goodbye ('127.0.0.1', 57702)\ngoodbye ('127.0.0.1', 55860)`\n") == "failed"
    )


def test_what_a_page_leaves_behind_the_last_line_makes_its_words_no_other(engine: Engine) -> None:
    parts = "".join(f"part {n} done\n" for n in range(3))
    assert verdict(engine, f"{LOST}{parts}part 3 done`\n") == "failed"
