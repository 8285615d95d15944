"""Whose line it is where no known prefix tells: by what stands before all lines, by names, by pids, by a log format's own number."""

from __future__ import annotations

import json

import pytest

from triage import Engine, Source
from triage.model import Hypothesis

STACK = (
    "Traceback (most recent call last):",
    '  File "/srv/fold/run.py", line 31, in <module>',
    "    main()",
    '  File "/srv/fold/run.py", line 22, in main',
    "    total += table[word]",
    "KeyError: 'plum'",
)
LOST = (
    "Traceback (most recent call last):",
    '  File "/srv/fold/run.py", line 31, in <module>',
    "    main()",
    '  File "/srv/fold/link.py", line 9, in take',
    "    raise EOFError('the other side is gone')",
    "EOFError: the other side is gone",
)


def cause(engine: Engine, *texts: str, names: tuple[str, ...] = ()) -> Hypothesis:
    """The root cause of a job with one log or several."""
    called = names or tuple(f"part{n}.log" for n in range(len(texts)))
    sources = [Source(name, path=name, data=text.encode()) for name, text in zip(called, texts, strict=True)]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    return root


def job(writers: list[str], bad: int, hello: str = "", size: int | None = None) -> str:
    """A job whose writers take turns, of which one raises."""
    size = len(writers) if size is None else size
    lines = [f"{lead}{hello.format(rank=rank, size=size)}" for rank, lead in enumerate(writers) if hello]
    lines += [f"{lead}turn {turn} sum {turn * 3}" for turn in range(4) for lead in writers]
    lines += [f"{writers[bad]}{line}" for line in STACK]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "lead",
    [
        "[p{}] ",
        "(worker {}) ",
        "w{}| ",
        "{}> ",
        "[trainer-0/{}]:",
        "proc {}: ",
        "#{} ",
        "job{}\t",
        "box:{} ",
        "client{} | ",
    ],
)
def test_numbers_before_all_lines_are_those_of_ranks(engine: Engine, lead: str) -> None:
    writers = [lead.format(n) for n in range(4)]
    root = cause(engine, job(writers, 2, "joined, {rank} of {size}"))
    assert (root.category, root.origin.rank) == ("user-code", 2)


def test_words_before_all_lines_stand_for_the_ranks_that_are_told_under_them(engine: Engine) -> None:
    root = cause(engine, job(["ada: ", "bob: ", "eve: "], 1, "rank {rank} of {size} is here"))
    assert root.origin.rank == 1


def test_what_is_told_outranks_the_number_before_the_line(engine: Engine) -> None:
    log = job(["gpu1: ", "gpu0: ", "gpu2: "], 0, "init: rank={rank} world={size}")
    assert cause(engine, log).origin.rank == 0


@pytest.mark.parametrize("stamp", ["2026-02-03T04:05:06.789Z ", "04:05:06 "])
def test_a_collector_s_time_may_come_first(engine: Engine, stamp: str) -> None:
    log = job(["news-0 ", "news-1 ", "news-2 "], 2, "worker {rank} of {size} joined")
    assert cause(engine, "".join(f"{stamp}{line}\n" for line in log.splitlines())).origin.rank == 2


def test_nodes_that_hold_several_ranks_are_no_ranks(engine: Engine) -> None:
    hello = "".join(f"node{n}: rank {4 * n} of 8 starts\n" for n in range(2))
    assert cause(engine, hello + job(["node0: ", "node1: "], 1)).origin.rank is None


def test_loggers_are_no_writers(engine: Engine) -> None:
    log = "".join(f"data: read {n}\nmodel: step {n}\n" for n in range(8)) + "\n".join(STACK) + "\n"
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("user-code", None)


def test_the_writer_of_all_findings_keeps_its_name(engine: Engine) -> None:
    log = "".join(f"[p{n}] process {n} of 2\n" for n in range(2)) + job(["[p0] ", "[p1] "], 1)
    assert cause(engine, log).origin.rank == 1


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("VllmWorker-3", 3),
        ("tp_worker_1", 1),
        ("rank2", 2),
        ("stage-worker:0", 0),
        ("Process-3", None),
        ("ForkPoolWorker-2", None),
    ],
)
def test_names_of_processes(engine: Engine, name: str, rank: int | None) -> None:
    log = "loading\n" + f"Process {name}:\n" + "\n".join(STACK) + "\n1 worker died\n"
    assert cause(engine, log).origin.rank == rank


def test_a_traceback_goes_on_below_a_line_of_another_process(engine: Engine) -> None:
    record = "2026-02-03 04:05:06,789 rank0 INFO item 3"
    log = "\n".join(["Process rank3:", STACK[0], record, *STACK[1:], ""])
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("user-code", 3)


def test_a_process_that_told_its_pid_is_known_by_it(engine: Engine) -> None:
    hello = "".join(f"rank {n} of 4 on box pid {7100 + n}\n" for n in (2, 0, 3, 1))
    crash = "".join(
        f"[box:7102] {line}\n"
        for line in ("*** Process received signal ***", "Signal: Segmentation fault (11)")
    )
    assert cause(engine, hello + "iter 3\n" + crash).origin.rank == 2


FORMATS = [
    "[{}/4] {} {}", "2026-02-03 04:05:06,789 r{}/4 {}: {}", "P{}: {} {}", "04:05:06 <pe {}> {} {}", "{1} Rank#{0} fit {2}",
    'time=2026-02-03T04:05:06 level={1} rank={0} msg="{2}"',
]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_the_number_in_a_log_format_of_its_own(engine: Engine, form: str) -> None:
    turns = [form.format(rank, "INFO", f"turn {turn} done") for turn in range(5) for rank in (1, 0, 3, 2)]
    log = "\n".join([*turns, form.format(3, "ERROR", "training failed"), *STACK, ""])
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("user-code", 3)


@pytest.mark.parametrize("form", ["step {0} loss {1}", "epoch 1 [{0}/40] {1} {2}", "{1} cuda:{0} {2}"])
def test_counters_and_devices_are_no_writers(engine: Engine, form: str) -> None:
    turns = [form.format(n, "INFO", "fine") for pair in range(6) for n in (pair, pair, pair + 1)]
    log = "\n".join([*turns, form.format(1, "ERROR", "failed"), *STACK, ""])
    assert cause(engine, log).origin.rank is None


def test_structured_records_carry_the_traceback_in_a_field_of_its_own(engine: Engine) -> None:
    records = [
        {"ts": "2026-02-03 04:05:06,789", "level": "INFO", "rank": n, "msg": "turn 1"} for n in range(3)
    ]
    failed = {
        "ts": "2026-02-03 04:05:07,001",
        "level": "ERROR",
        "rank": 1,
        "msg": "failed",
        "exc": "\n".join(STACK),
    }
    root = cause(engine, "\n".join(json.dumps(record) for record in [*records, failed]) + "\n")
    assert (root.category, root.origin.rank) == ("user-code", 1)


def test_spawned_processes_count_on_their_node(engine: Engine) -> None:
    first = "Namespace(nodes=2, node_rank={}, gpus=2, port=1)\nbegin\n"
    raised = "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n"
    logs = first.format(0) + "waiting\n", first.format(1) + raised + "\n".join(STACK) + "\n"
    assert cause(engine, *logs, names=("node-0.out", "node-1.out")).origin.rank == 3


def test_who_is_swept_away_did_not_die_of_it(engine: Engine) -> None:
    hello = "".join(f"rank {n} of 2 on box pid {7100 + n}\n" for n in range(2))
    end = (
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 7100 RUNNING AT box\n=   EXIT CODE: 9\n"
        "=   CLEANING UP REMAINING PROCESSES\n=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n{ruler}\n"
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n"
    ).format(ruler="=" * 80)
    assert cause(engine, hello + end).origin.rank is None
    assert cause(engine, hello + end.replace("CODE: 9", "CODE: 11")).origin.rank == 0
