"""Prefixes of real lines, a table for each stack, and properties of the splitter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from triage.model import Moment, Prefix
from triage.scan.clock import iso
from triage.scan.prefix import Continuation, split_line

TABLES = Path(__file__).parent / "data" / "prefixes.txt"
CONTROLS = str.maketrans("␛␍␉␂", "\x1b\r\t\ufeff")


def rows() -> Iterator[Any]:
    """Line, message and fields of every row, under the name of its table."""
    table, lines = "", []
    for text in TABLES.read_text(encoding="utf-8").splitlines():
        if text.startswith("## "):
            table = text[3:]
        elif text and not text.startswith("# "):
            lines.append(text)
        if len(lines) == 3:
            line, message, fields = lines
            lines = []
            yield pytest.param(
                line.translate(CONTROLS),
                message[4:].translate(CONTROLS),
                fields[4:],
                id=f"{table}: {line[:40]}",
            )


def stated(time: Moment) -> str:
    if time.clock == "yearless":
        return str(iso(time, 2000))[4:]
    return f"+{time.seconds:.6f}" if time.clock == "uptime" else str(iso(time))


def said(prefix: Prefix) -> str:
    """What a prefix says, without the fields that it leaves open."""
    fields = {
        "stream": prefix.stream or None,
        "rank": prefix.rank,
        "local_rank": prefix.local_rank,
        "host": prefix.host,
        "pid": prefix.pid,
        "gpu": prefix.gpu,
        "labels": ",".join(f"{name}{number}" for name, number in prefix.labels) or None,
        "level": prefix.level,
        "logger": prefix.logger,
        "time": None if prefix.time is None else stated(prefix.time),
    }
    words = [f"{name}={value}" for name, value in fields.items() if value is not None]
    return "; ".join([*words, "stamped"] if prefix.stamped else words)


@pytest.mark.parametrize(("line", "message", "fields"), list(rows()))
def test_real_lines(line: str, message: str, fields: str) -> None:
    prefix, rest = split_line(line)
    assert (rest, said(prefix)) == (message, fields)


@pytest.mark.parametrize(
    ("line", "rank", "message"),
    [
        ("  3%|# | 7/200 [00:09<04:10,  1.30s/it][rank5]:[E602 11:17:52.1 a.cpp:632] x", 5, "x"),
        ("  3%|# | 7/200 [00:09<04:10,  1.30s/it]      [rank5]: ValueError: x", 5, "ValueError: x"),
        ("{'loss': 1.02, 'epoch': 0.5}[rank3]: ValueError: x", 3, "ValueError: x"),
        ("0: step 7 | loss 1.02[rank3]: ValueError: x", 3, "ValueError: x"),
        ("2026-03-02 10:05:00.123 | ERROR    | train:main:88 - [Rank 3] failed", 3, "failed"),
        ("[E ProcessGroupNCCL.cpp:475] [Rank 3] failed", None, "[Rank 3] failed"),
        ("Training 45% 9/20 0:01:23[rank3]:[W1121 10:03:11.5 a.cpp:33] x", 3, "x"),
    ],
)  # fmt: skip
def test_who_wrote_on_a_line_that_another_had_not_ended(line: str, rank: int | None, message: str) -> None:
    prefix, rest = split_line(line)
    assert (prefix.rank, rest) == (rank, message)


@pytest.mark.parametrize(
    ("line", "rank", "message"),
    [
        ("[node=2 rank=11] x", 11, "x"),
        ("[gpu-12/rank3] x", 3, "x"),
        ("[train|rank 3|step 40] x", 3, "x"),
        ("[node_rank=1 rank=9 local_rank=1] x", 9, "x"),
        ("[rank 3][INFO] x", 3, "[INFO] x"),
        ("[rank_3] x", 3, "x"),
        ("[global_rank 3] x", 3, "x"),
        ("[3]:x", 3, "x"),
        ('[3]:  File "a.py", line 2, in f', 3, '  File "a.py", line 2, in f'),
        ("[3]:    plan(x)", 3, "    plan(x)"),
        ("[3]:     plan(x)", 3, "    plan(x)"),
        ("[process 3/8] x", 3, "x"),
        ("2026-11-05 10:00:00 | INFO | rank 3 | x", 3, "x"),
        ("rank[3]: x", 3, "rank[3]: x"),
        ("rank=3: x", 3, "rank=3: x"),
        ("rank=3 step=4 loss=0.2", 3, "rank=3 step=4 loss=0.2"),
        ("(rank 3) x", 3, "(rank 3) x"),
        ("<rank3> x", 3, "<rank3> x"),
        ("rank3> x", 3, "rank3> x"),
        ("[ERROR][rank 3] x", 3, "[ERROR][rank 3] x"),
        ("INFO:root:rank 3 | x", 3, "rank 3 | x"),
        ("I1105 10:00:00.123456 140213997639488 fit.py:33] x", None, "x"),
        ("[node rank 3] x", None, "[node rank 3] x"),
        ("[waiting for rank 3] x", None, "[waiting for rank 3] x"),
        ("[lora rank 16, alpha 32] x", None, "[lora rank 16, alpha 32] x"),
        ("rank=16, lora_alpha=32", None, "rank=16, lora_alpha=32"),
        ("[PG ID 0 PG GUID 0(default_pg) Rank 3] x", None, "[PG ID 0 PG GUID 0(default_pg) Rank 3] x"),
        ("3: [Adam_Allreduce/a_0, HorovodAllreduce_b_0 ...]", None, "3: [Adam_Allreduce/a_0, HorovodAllreduce_b_0 ...]"),
        ("(pid=raylet) x", None, "x"),
    ],
)  # fmt: skip
def test_how_programs_name_their_rank(line: str, rank: int | None, message: str) -> None:
    prefix, rest = split_line(line)
    assert (prefix.rank, rest) == (rank, message)


@pytest.mark.parametrize(
    "line",
    [
        "top5: 93.2", "bf16: True", "mlx5_0: link down", "eth0: link up", "gpt-2: loading", "f16: [1, 2]",
        "train2.py: no such file", "python3: can't open file", "gpu0: 80 GiB", "[0/2] c++ -MMD", "x: 0.5",
        "cuda:0 is busy", "epoch1: done", "12.5 GiB", "loss: 1.0", "# a comment", "resnet-50: 76.1 % top-1",
        "{'loss': 1.02}", '{"rank": 3}', "(8192, 4096)", "sha256: 0f3a", "[c10d] hello", "RuntimeError: 12",
        "epoch/3 [12/90]", "train/0 loss 2.0", "v1.2 [stderr]x", "a b c d [rank3]: x", "rank 3 of 8", "rank0: 5.2 ms", "rank 0 is up",
        "INFO rank 3 of 8", "the ranks [0, 1]: x", "[3/8] [rank]: x", "lora rank 8: alpha 16", "rank 3:",
        " 5%| | 1/20 [00:00<00:08,  2.15it/s] [rank0]: x", "see [rank3] above",
        '{"log": 3}', '{"log": "x", "loss": 1.0}', '{"line": "x", "rank": 3}', "[1,2] hello", "[a,3] <stderr>: x",
        "[x.y:3, rank=2] hello", "[abcd1234] || x", "abcd1234 [rank=3] || x",
    ],
)  # fmt: skip
def test_lines_without_a_prefix(line: str) -> None:
    prefix, message = split_line(line)
    assert message == line
    assert said(prefix) == ""


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2026-11-22 18:35:24,927|1|ERROR|writer failed, disabling it", "error"),
        ("2026-11-22 18:20:53,928,rank=1,WARNING,slow shard", "warning"),
        ("22.11.2026 18:35:24 [rank 2] ERROR no answer", "error"),
        ("2026-11-22 18:35:24,927  r2  INFO     epoch 3", "info"),
        ("2026-11-22 18:35:24,927 trainer[881] WARNING slow shard", "warning"),
        ("[E 2026-11-22 18:35:24 r2] no answer", "error"),
        ("E/1122-183115/rank-1: no answer", "error"),
        ("em[24158] <INFO> rank=0 shard (200, 4)", None),
        ("<ERROR> (2) no answer", "error"),
        ("ERROR/2026-11-22 18:35:24/rank-2: no answer", "error"),
        ("[22.11.26 21:55:09] (error) rank 0: no answer", "error"),
        ("2026-11-22 18:35:24 <warning> slow shard", "warning"),
        ("[3] [debug] shard 4", "debug"),
        # words of a message
        ("(error) no answer", None),
        ("10:21:44 (worker) no answer", None),
        ("step 12 ERROR rate 0.2", None),
        ("the last ERROR was harmless", None),
        ("7 INFORMATION items", None),
        ("E 2 r1 = 0.4", None),
    ],
)
def test_the_level_in_a_layout_of_somebody_s_own(line: str, level: str | None) -> None:
    assert split_line(line)[0].level == level


def test_length_counts_the_characters_of_the_prefix() -> None:
    line = "[default1]:[rank9]: boom"
    prefix, message = split_line(line)
    assert line[prefix.length :] == message
    assert split_line("step 3") == (Prefix(), "step 3")


PREFIXES = st.sampled_from(
    [
        "[2025-11-04T12:34:56.789Z] 0d4e8a1b [rank=3] || ",
        "[pod/trainer-0/pytorch] ", "2025-11-04T12:34:56.789012345Z stderr F ", "17: ", "gpu-012: ",
        "[1,3]<stderr>:", "(WorkerDict pid=77, ip=10.0.0.6) ", "[default3]:", "[rank3]:", "worker-3 | ",
        "[E1104 18:38:34.697891902 ProcessGroupNCCL.cpp:744] ", "[2025-11-04 12:34:56 DP0 TP3] ",
        "ERROR 11-04 12:34:56 [core.py:3] ", "W1120 18:16:12.703000 22836 torch/x.py:1002] ",
        "\x1b[36m(f pid=9)\x1b[0m ", "[11/18/2025-09:33:30] [TRT-LLM] [RANK 0] [E] ",
        "2025-11-04 12:34:56,789 - name - ERROR - ", "Nov 04 12:34:56 gpu-n1 python[12]: ", "INFO:root:",
        "[1,mpirank:3,algo-1]<stderr>:", "[gpu-12:6]:",
        "2025-11-04 12:34:56,152: rank3[82][MainThread]: INFO: name: ", "[3][gpu-7:4711]<stderr>: ",
        "[2025-11-04 12:34:56] ERROR    [olmo.train:12, rank=3] ", "(Worker_DP1_TP1_EP3 pid=22) ",
    ]
)  # fmt: skip
DETERMINED = "[2025-11-04T12:34:56.789Z] 0d4e8a1b [rank=3] || "
LAUNCHER = (DETERMINED, "17: ", "gpu-012: ", "worker-3 | ", "[gpu-12:6]:")


@settings(max_examples=80, deadline=None)
@given(st.lists(PREFIXES, max_size=4, unique=True), st.sampled_from(["boom", "CUDA error: x", "  File y"]))
def test_nested_prefixes_leave_the_message(layers: list[str], message: str) -> None:
    # what launchers label lines with stands outside of what loggers say
    layers.sort(key=lambda layer: layer not in LAUNCHER)
    # "name: 17: " is how compilers point at lines, so a host in front of a task label isn't believed
    assume(not {"gpu-012: ", "17: "} <= set(layers))
    prefix, rest = split_line("".join(layers) + message)
    assert rest == message
    assert bool(prefix.length) == bool(layers)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.lists(PREFIXES, max_size=2))
def test_any_text_is_split(text: str, layers: list[str]) -> None:
    line = "".join(layers) + text
    prefix, message = split_line(line)
    assert 0 <= prefix.length <= len(line)
    assert "\n" not in message or "\n" in line


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="[]()<>{}:;, .-+/\\|\r\x1b\"'0123456789TZEIWDPrank", max_size=60))
def test_text_made_of_brackets_and_digits_is_split(text: str) -> None:
    split_line(text)


@pytest.mark.parametrize(
    "head", ["", "(x pid=", "[E1104 18:38:34.", "h1:1:1 [0] ", "[2025-11-04 12:34:56 ", "[12"]
)
def test_long_hostile_lines_are_split(head: str) -> None:
    pieces = [
        "[",
        "1:",
        "9",
        "a1",
        "a.",
        "a-1 ",
        "a_1",
        "\x1b]",
        "\r ",
        "[rank1]:",
        "NCCL ",
        '{"a":',
        " ",
        "(x pid=",
    ]
    for piece in pieces:
        split_line(head + piece * (65536 // len(piece)))


@settings(max_examples=200, deadline=None)
@given(
    st.from_regex(
        r"(?:\[[a-z]{2,9}[ =:]?[a-z]{1,9}\]|\([a-z ]{3,12}\)|[a-z]{2,9}[:/]) ?[a-z]{2,9} [0-9]{1,3}[a-z ]{3,20}",
        fullmatch=True,
    )
)
def test_ordinary_text_in_brackets_is_nobody_s_rank(text: str) -> None:
    prefix, _ = split_line(text)
    assert (prefix.rank, prefix.local_rank) == (None, None)


def lines_taken(*lines: str) -> list[str]:
    """Messages of the lines that go on with the first."""
    head, first = split_line(lines[0])
    record, taken = Continuation(head), [first]
    for line in lines[1:]:
        prefix, message = split_line(line)
        verdict = record.takes(prefix)
        if verdict is None:
            break
        if verdict:
            taken.append(message)
    return taken


def test_a_record_goes_on_under_the_prefix_that_every_line_has() -> None:
    assert lines_taken(
        "[default3]:[rank3]:[E1104 18:38:34.69 a.cpp:1] Watchdog",
        "[default1]:[rank1]:[E1104 18:38:34.69 a.cpp:1] Watchdog",
        "[default3]:#0 all_reduce",
        "[default1]:#0 all_gather",
        "[default3]:",
        "[default3]:[rank3]:[E1104 18:38:35.69 a.cpp:1] again",
        "[default3]:#1 main",
    ) == ["Watchdog", "#0 all_reduce", ""]


def test_untagged_lines_are_not_the_exception_hook_s() -> None:
    assert lines_taken("[rank0]: A: x", "", "step 3", "[rank1]: B", "[rank0]: During") == ["A: x", "During"]


def test_an_unprefixed_line_belongs_to_the_last_record_begun() -> None:
    assert lines_taken(
        "[2025-04-13 17:22:33 TP3] hit: Traceback",
        "  File a",
        "[2025-04-13 17:22:33 TP5] hit: Traceback",
        "  File b",
    ) == ["hit: Traceback", "  File a"]


def test_a_logger_that_repeats_its_prefix_ends_where_it_says_another_place() -> None:
    assert lines_taken(
        "ERROR 11-04 12:34:56 [core.py:396] Traceback",
        "ERROR 11-04 12:34:56 [core.py:396]   File a",
        "ERROR 11-04 12:34:56 [core.py:399] done",
        "ERROR 11-04 12:34:56 [core.py:396]   File b",
    ) == ["Traceback", "  File a"]


@pytest.mark.parametrize("stamp", ["[2026-11-21 07:12:44] ", "2026-11-21 07:12:44 ", "Nov 21 07:12:44 "])
def test_a_time_before_every_line_begins_no_records(stamp: str) -> None:
    def stamped(*lines: str) -> list[str]:
        return lines_taken(*(stamp + line for line in lines))

    assert stamped("Traceback", "  File a", "RuntimeError: b") == ["Traceback", "  File a", "RuntimeError: b"]
    assert stamped("[rank0]: Traceback", "step 3", "[rank0]:   File a", "[rank1]: B") == [
        "Traceback",
        "  File a",
    ]
    assert stamped(
        "[rank0]:[E1121 07:12:44.69 a.cpp:1] Watchdog",
        "frame #0",
        "[rank0]:[E1121 07:12:44.69 a.cpp:2] next",
        "x",
    ) == ["Watchdog", "frame #0"]
    assert stamped("Traceback", "  File a", "INFO: step 3", "  File b") == ["Traceback", "  File a"]


def test_a_time_before_the_first_line_only_begins_records() -> None:
    stamp = "[2026-11-21 07:12:44] "
    assert lines_taken(stamp + "hit: Traceback", "  File a", stamp + "step 3", "  b") == [
        "hit: Traceback",
        "  File a",
    ]


@pytest.mark.parametrize("margin", ["> ", ">", "    ", "\t"])
def test_quoted_lines_keep_their_tags(margin: str) -> None:
    prefix, message = split_line(margin + "[default3]:[rank3]:   File a")
    assert (prefix.rank, prefix.local_rank, message) == (3, 3, "  File a")
    assert split_line(margin + "File a")[1] == margin + "File a"


@pytest.mark.parametrize("margin", ["> ", "    "])
@pytest.mark.parametrize(
    "stamp", ["[2026-10-02 11:21:31 DP0 TP2]", "[10/02/2026-11:21:31] [TRT-LLM] [RANK 2] [E]"]
)
def test_quoted_lines_keep_the_stamps_of_engines(margin: str, stamp: str) -> None:
    prefix, message = split_line(f"{margin}{stamp} Failed to initialize executor")
    assert (prefix.rank == 2 or ("TP", 2) in prefix.labels, prefix.stamped) == (True, True)
    assert message == "Failed to initialize executor"
    assert not split_line(f"{margin}[2026-10-02 11:21:31] loss 0.3")[0].labels


@pytest.mark.parametrize("margin", [" ", "> ", "    "])
def test_quoted_lines_keep_their_process(margin: str) -> None:
    prefix, message = split_line(margin + "(EngineActor pid=812, ip=10.1.0.7)   File a")
    assert (prefix.pid, prefix.host, message) == (812, "10.1.0.7", "  File a")
    prefix, message = split_line(margin + "ERROR 03-13 09:00:43 [core.py:330]   File a")
    assert (prefix.logger, message) == ("core.py:330", "  File a")
    assert split_line(margin + "ERROR in File a")[1] == margin + "ERROR in File a"


def test_a_syslog_host_is_no_tag() -> None:
    prefix, message = split_line("Nov 21 07:12:44 [default3]:[rank3]: RuntimeError: boom")
    assert (prefix.rank, prefix.local_rank, message) == (3, 3, "RuntimeError: boom")


def test_labels_that_are_padded_or_carry_the_host() -> None:
    prefix, message = split_line(" 9: boom")
    assert (prefix.rank, message) == (9, "boom")
    prefix, message = split_line("[gpu-12:6]: boom")
    assert (prefix.rank, prefix.local_rank, prefix.host, message) == (None, 6, "gpu-12", "boom")


def test_a_source_location_is_not_a_host_with_a_rank() -> None:
    assert split_line("[launch.py:256]: boom")[0].rank is None


def test_numbers_of_lines_are_nobodys_rank() -> None:
    prefix, message = split_line("[80746] boom")
    assert (prefix.rank, message) == (None, "boom")


def test_a_level_in_front_of_a_date_is_left_to_its_logger() -> None:
    line = "2025-11-04T12:34:56.789012345Z stderr F ERROR 11-04 12:34:56 [core.py:3] boom"
    prefix, message = split_line(line)
    assert (prefix.level, prefix.logger, message) == ("error", "core.py:3", "boom")


def test_the_levels_of_rays_command_line_are_levels() -> None:
    prefix, message = split_line("2026-01-29 06:14:01,100\tSUCC cli.py:64 -- Job 'raysubmit_Kq1' succeeded")
    assert (message, prefix.level, prefix.logger) == ("Job 'raysubmit_Kq1' succeeded", "info", "cli.py:64")
    prefix, message = split_line("2026-01-29 06:14:01,100\tERR cli.py:71 -- Job 'raysubmit_Kq1' failed")
    assert (message, prefix.level, prefix.logger) == ("Job 'raysubmit_Kq1' failed", "error", "cli.py:71")


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-12, 01:02:02 UTC] {subprocess.py:93} INFO - step 20",
        "[2026-11-12T01:02:02.123+0000] {subprocess.py:93} INFO - step 20",
        "[2026-11-12 01:02:02,123] {{bash_operator.py:115}} INFO - step 20",
        "[2026-11-12, 01:02:02] INFO - step 20",
        "INFO 01:02:02 step 20",
    ],
)
def test_airflow_and_a_level_before_a_time_of_day(line: str) -> None:
    prefix, message = split_line(line)
    assert (message, prefix.level) == ("step 20", "info")
    assert prefix.time is not None
