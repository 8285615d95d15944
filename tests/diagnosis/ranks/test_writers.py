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


@pytest.mark.parametrize("hello", ["rank {rank} of {size} is here", "rank={rank} pid=77{rank} of {size}"])
def test_words_before_all_lines_stand_for_the_ranks_that_are_told_under_them(
    engine: Engine, hello: str
) -> None:
    root = cause(engine, job(["ada: ", "bob: ", "eve: "], 1, hello))
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


def test_an_error_of_torch_npu_names_the_rank_below_its_message(engine: Engine) -> None:
    told = "[ERROR] 2026-02-03-04:05:06 (PID:811, Device:5, RankID:5) ERR01100 OPS call acl api failed"
    log = "\n".join(["begin", *STACK[:-1], "RuntimeError: build_index: no kernel of that name", told, ""])
    assert cause(engine, log).origin.rank == 5


def test_processes_that_write_all_at_their_end_are_led_all_the_same(engine: Engine) -> None:
    blocks = [[f"n{rank}: {line}" for line in (LOST if rank else STACK)] for rank in (0, 2, 1)]
    root = cause(engine, "\n".join(line for block in blocks for line in block) + "\n")
    assert root.origin.host is None
    assert "plum" in root.evidence[0].text


def lost(rank: int) -> str:
    """What a rank says whose peer has closed the connection."""
    return (
        f"[rank{rank}]: Traceback (most recent call last):\n"
        f'[rank{rank}]:   File "/srv/fold/run.py", line 12, in <module>\n'
        f"[rank{rank}]:     dist.all_reduce(total)\n"
        f"[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553]"
        f" Connection closed by peer [127.0.0.1]:{4000 + rank}\n"
    )


def test_writers_that_count_themselves_tell_who_else_there_is(engine: Engine) -> None:
    named = {
        name: f"member {rank}/4 is there\nturn 1\n" + lost(rank)
        for rank, name in ((0, "ash"), (1, "elm"), (3, "fir"))
    }
    missing = cause(engine, *named.values(), names=tuple(f"{name}.log" for name in named))
    assert missing.origin.rank == 2
    silent = {**named, "oak": "member 2/4 is there\nturn 1\n"}
    assert cause(engine, *silent.values(), names=tuple(f"{n}.log" for n in silent)).origin.rank == 2


def test_parts_of_a_whole_are_no_ranks(engine: Engine) -> None:
    texts = [f"reads part {2 * rank}/8\n" + lost(rank) for rank in (0, 1, 3)]
    assert cause(engine, *texts, names=("ash.log", "elm.log", "fir.log")).origin.rank is None


@pytest.mark.parametrize(
    ("names", "rank"),
    [
        (("Process-3", "Process-1", "Process-2"), 2),
        (("SpawnProcess-2", "SpawnProcess-1"), 1),
        (("Process-3", "Process-2"), None),  # the first one may be a helper that lives on
        (("Process-3",), None),
    ],
)
def test_python_numbers_processes_from_one(engine: Engine, names: tuple[str, ...], rank: int | None) -> None:
    first, *others = names
    text = f"Process {first}:\n" + "\n".join(STACK) + "\n"
    text += "".join(f"Process {name}:\n" + "\n".join(LOST) + "\n" for name in others)
    assert cause(engine, text).origin.rank == rank


def test_of_processes_that_end_at_once_nobody_can_say_whose_traceback_it_is(engine: Engine) -> None:
    heads = "Process Process-1:\nProcess Process-2:\n"
    assert cause(engine, heads + "\n".join(STACK) + "\n").origin.rank is None


@pytest.mark.parametrize("start", [0, 1])
def test_places_among_all_count_from_zero_or_one(engine: Engine, start: int) -> None:
    writers = [f"2026-02-03 04:05:06,789 ({rank + start}/4) INFO " for rank in range(4)]
    text = (
        job(writers, 2).replace("INFO Traceback", "ERROR stopped\nTraceback").replace(writers[2] + " ", " ")
    )
    assert cause(engine, text.replace(writers[2] + "KeyError", "KeyError")).origin.rank == 2


@pytest.mark.parametrize(("before", "rank"), [("encode-{}", 2), ("node-{}", None)])
def test_any_name_before_all_lines_may_number_processes_but_not_nodes(
    engine: Engine, before: str, rank: int | None
) -> None:
    assert cause(engine, job([f"{before.format(n)} » " for n in range(4)], 2)).origin.rank == rank


def test_two_families_of_names_are_no_ranks(engine: Engine) -> None:
    writers = [f"{kind}-{number} » " for kind in ("encode", "decode") for number in range(2)]
    assert cause(engine, job(writers, 3)).origin.rank is None


@pytest.mark.parametrize("field", ["proc", "process_index", "worker_id"])
def test_structured_records_number_processes(engine: Engine, field: str) -> None:
    lines = [
        json.dumps({"ts": 1795298041.7 + turn, field: number, "event": f"turn {turn}"})
        for turn in range(4)
        for number in (0, 2, 1)
    ]
    text = "\n".join(STACK)
    lines.append(json.dumps({"ts": 1795298046.1, field: 1, "event": f"stopped\n{text}"}))
    assert cause(engine, "\n".join(lines) + "\n").origin.rank == 1


def test_a_traceback_may_begin_behind_what_another_process_had_not_ended(engine: Engine) -> None:
    text = "rank 0: turn 3, [rank1]: Traceback (most recent call last):\n" + "".join(
        f"[rank1]: {line}\n" for line in STACK[1:]
    )
    found = cause(engine, text + lost(0) + lost(2))
    assert found.origin.rank == 1
    assert "KeyError" in found.evidence[0].text


def test_what_a_spawned_process_raised_is_its_own(engine: Engine) -> None:
    turns = "".join(
        f"proc {rank}: {what} {turn}\n"
        for turn in range(4)
        for what in ("takes", "has")
        for rank in (1, 0, 3, 2)
    )
    turns += "".join(f"proc {rank}: takes 4\n" for rank in (1, 0, 3, 2))
    turns += "".join(f"proc {rank}: has 4\n" for rank in (1, 0, 2))
    raised = (
        "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 2 terminated with the following error:\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/fold/run.py", line 13, in work\n'
        "    dist.all_reduce(total)\n"
        "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 8000ms for recv"
        " operation to complete\n"
    )
    found = cause(engine, turns + raised)
    assert (found.category, found.origin.rank) == ("straggler-or-hang", 3)


def test_a_thread_s_exception_is_of_the_rank_that_is_missed(engine: Engine) -> None:
    thread = (
        "Exception in thread feeder:\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner\n    self.run()\n'
        '  File "/srv/fold/run.py", line 10, in feed\n    rows.put(float(text))\n'
        "ValueError: could not convert string to float: 'n/a'\n"
    )
    waits = "".join(
        lost(rank).replace(
            f"pair.cc:553] Connection closed by peer [127.0.0.1]:{4000 + rank}",
            "unbound_buffer.cc:78] Timed out waiting 9000ms for recv operation to complete",
        )
        for rank in (0, 2)
    )
    ends = (
        "E1121 21:56:40.780000 8 torch/distributed/elastic/multiprocessing/api.py:1002]"
        " failed (exitcode: 1) local_rank: 0 (pid: 10) of binary: /opt/venv/bin/python\n"
    )
    hello = "".join(f"rank {rank} of 3 is there\n" for rank in range(3))
    assert cause(engine, hello + thread + waits + ends).origin.rank == 1


def test_who_left_with_an_exit_code_said_why(engine: Engine) -> None:
    text = "".join(f"[default{rank}]:kept {600 + 90 * rank} rows\n" for rank in range(4))
    text += "[default1]:that is too little, leaving\n"
    text += "".join(f"[default{rank}]:{line}\n" for rank in (0, 2) for line in lost(rank).splitlines())
    text += (
        "E1121 21:39:22.153000 8 torch/distributed/elastic/multiprocessing/api.py:1002]"
        " failed (exitcode: 3) local_rank: 1 (pid: 11) of binary: /opt/venv/bin/python\n"
    )
    found = cause(engine, text)
    assert found.origin.rank == 1
    assert any("too little" in shown.text for shown in found.evidence)


def test_who_calls_for_a_group_that_it_is_not_in_went_astray(engine: Engine) -> None:
    text = "distributed_c10d.py:3222: UserWarning: Running all_reduce on global rank 2 which does not belong to the given group.\n"
    text += "".join(f"rank {rank} of 4 is there\n" for rank in range(4))
    text += "".join(
        lost(rank).replace(
            f"pair.cc:553] Connection closed by peer [127.0.0.1]:{4000 + rank}",
            "unbound_buffer.cc:78] Timed out waiting 8000ms for recv operation to complete",
        )
        for rank in (1, 3)
    )
    assert cause(engine, text).origin.rank == 2


def test_files_of_two_processes_of_which_one_lost_the_other_are_numbered_by_rank(engine: Engine) -> None:
    bad = "builds a model\nTraceback (most recent call last):\n" + "\n".join(STACK[1:]) + "\n"
    other = "builds a model\n" + lost(0).replace("[rank0]: ", "")
    assert cause(engine, other, bad, names=("0.log", "1.log")).origin.rank == 1


def late(rank: int) -> str:
    """What a rank says that nobody joined in time."""
    return lost(rank).replace(
        f"pair.cc:553] Connection closed by peer [127.0.0.1]:{4000 + rank}",
        "unbound_buffer.cc:78] Timed out waiting 9000ms for recv operation to complete",
    )


@pytest.mark.parametrize(("hello", "rank"), [("greets as {rank}/2\n", 1), ("", None)])
def test_who_meets_that_the_other_one_gave_up_came_late(engine: Engine, hello: str, rank: int | None) -> None:
    texts = [hello.format(rank=n) + text for n, text in enumerate((late(0), lost(1)))]
    assert cause(engine, *texts, names=("ash.log", "elm.log")).origin.rank == rank


@pytest.mark.parametrize(("first", "rank"), [("fold-master-0.log", 2), ("fold-notes.log", None)])
def test_a_master_comes_before_its_workers(engine: Engine, first: str, rank: int | None) -> None:
    bad = "begins\n" + "\n".join(STACK) + "\n"
    other = "begins\n" + lost(0).replace("[rank0]: ", "")
    names = (first, "fold-worker-0.log", "fold-worker-1.log", "fold-worker-2.log")
    assert cause(engine, other, other, bad, other, names=names).origin.rank == rank


def test_who_is_gone_said_why(engine: Engine) -> None:
    text = "".join(f"04:05:0{turn} [rank {n}] turn {turn} done\n" for turn in range(4) for n in range(4))
    text += "04:05:05 [rank 2] ERROR the loss is not a number at turn 4, leaving\n"
    root = cause(engine, text + "".join(lost(n) for n in (0, 1, 3)))
    assert root.origin.rank == 2
    assert any("not a number" in shown.text for shown in root.evidence)


def test_a_supervisor_calls_processes_by_rank(engine: Engine) -> None:
    beat = "coordinator: no heartbeat from rank 3 since 6 s, stopping the job\n"
    assert cause(engine, beat + lost(0) + lost(1)).origin.rank == 3
    codes = "".join(f"rank {n} (pid {80 + n}): exit status {code}\n" for n, code in enumerate((3, 134, 3)))
    assert cause(engine, "the group is broken\n" + codes).origin.rank == 1


def test_a_variable_that_is_not_set_is_a_setting(engine: Engine) -> None:
    text = (
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/srv/fold/run.py", line 5, in <module>\n'
        '[rank1]:     where = os.environ["FOLD_HOME"]\n'
        '[rank1]:   File "<frozen os>", line 679, in __getitem__\n'
        "[rank1]: KeyError: 'FOLD_HOME'\n"
    )
    root = cause(engine, text + lost(0))
    assert (root.category, root.origin.rank) == ("config", 1)


def test_names_in_the_logs_of_two_nodes_are_told_together(engine: Engine) -> None:
    names = ["0a", "0b", "1a", "1b", "2a", "2b", "3a", "3b"]

    def node(first: int, bad: int | None) -> str:
        own = [(r, f"tower {names[r]} :: ") for r in range(first, first + 4)]
        lines = [f"{lead}rank {r}" for r, lead in own]
        lines += [f"{lead}turn {turn} sum {turn * 3}" for turn in range(4) for _, lead in own]
        if bad is not None:
            lines += [f"tower {names[bad]} :: {line}" for line in STACK]
        return "\n".join(lines) + "\n"

    assert cause(engine, node(0, None), node(4, 6)).origin.rank == 6


def test_a_name_under_which_several_ranks_write_is_none_of_theirs(engine: Engine) -> None:
    own = [(r, f"2026-11-23 00:37:05,730 [dp{r // 4}/ep{r % 4}] INFO ") for r in range(8)]
    lines = [f"{lead}rank {r} of 8, experts of {r // 4}" for r, lead in own]
    lines += [f"{lead}turn {turn} sum {turn * 3}" for turn in range(4) for _, lead in own]
    lines += [f"{own[6][1]}{line}" for line in STACK]
    assert cause(engine, "\n".join(lines) + "\n").origin.rank in {None, 6}
