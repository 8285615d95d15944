"""Who writes a line, where no single line tells: hosts with numbers, names of values, pids."""

from __future__ import annotations

from random import Random

from triage.scan.writers.leads import learn, split


def _told(
    given: list[str], line: str
) -> tuple[int | None, int | None, str | None, int | None, tuple[tuple[str, int], ...]]:
    lines = [*given]
    Random(7).shuffle(lines)  # as processes take turns
    prefix, _ = split(learn("\n".join(lines).encode()), line)
    return prefix.rank, prefix.local_rank, prefix.host, prefix.pid, prefix.labels


def test_a_number_behind_a_host_counts_its_processes() -> None:
    lines = [f"[ursa{host}.{n}] step {k}" for k in range(3) for host in (1, 2) for n in range(4)]
    assert _told(lines, "[ursa2.3] done") == (None, 3, "ursa2", None, ())
    lines = [f"hpc-00{host}:gpu{n} step {k}" for k in range(3) for host in (7, 8) for n in range(4)]
    assert _told(lines, "hpc-008:gpu1 FATAL lost") == (None, 1, "hpc-008", None, ())


def test_a_number_in_brackets_behind_a_host_counts_its_processes_too() -> None:
    lines = [f"[sun{host}] [{n}] step {k}" for k in range(3) for host in (1, 2) for n in range(4)]
    assert _told(lines, "[sun2] [0] lost")[:3] == (None, 0, "sun2")
    lines = [f"n10{host}[{n}]: step {k}" for k in range(3) for host in (1, 2) for n in range(4)]
    assert _told(lines, "n102[1]: lost")[:3] == (None, 1, "n102")


def test_a_number_of_a_node_and_one_on_it_are_a_seat() -> None:
    lines = [f"(node {node}, gpu {n}) step {k}" for k in range(3) for node in (1, 2) for n in range(4)]
    assert _told(lines, "(node 2, gpu 3) lost") == (None, 3, None, None, (("NODE", 1), ("LOCAL", 3)))
    epochs = [f"(n{rank}) epoch {k}" for k in range(3) for rank in range(4)]
    assert _told(epochs, "(n2) epoch 1")[4] == ()


def test_a_value_that_a_logger_binds_stands_behind_the_words_too() -> None:
    lines = [f"event=step batch={k} worker={n} level=info" for k in range(3) for n in range(4)]
    assert _told(lines, "event=lost worker=3 level=error")[0] == 3
    lines = [
        f"lvl=INFO node=w{host} local_rank={n} msg=step"
        for _ in range(3)
        for host in (1, 2)
        for n in range(2)
    ]
    assert _told(lines, "lvl=ERROR node=w2 local_rank=1 msg=lost") == (None, 1, "w2", None, ())


def test_a_table_of_ranks_binds_none() -> None:
    lines = [f"start rank={n} on gpu {n}" for n in range(8)]
    assert _told(lines, "start rank=3 on gpu 3")[0] is None


def test_pids_in_front_of_lines_tell_processes() -> None:
    lines = [f"2026-01-05 10:00:00 | INFO | pid={700 + n} | step {k}" for k in range(3) for n in range(4)]
    assert _told(lines, "2026-01-05 10:00:09 | INFO | pid=702 | lost")[3] == 702
    lines = [f"k8[{700 + n}] INFO: step {k}" for k in range(3) for n in range(4)]
    assert _told(lines, "k8[703] ERROR: lost")[3] == 703


def test_who_writes_only_in_the_middle_is_known_by_the_others() -> None:
    ends = [f"w{n}/8 | step {k}" for k in range(12) for n in (0, 1, 2, 3, 4, 6, 7)]
    prefix, message = split(learn("\n".join(ends).encode()), "w5/8 | lost")
    assert (prefix.stream, message) == ("lead w5:8", "lost")


def test_json_tells_node_host_and_pid_in_objects_too() -> None:
    told = _told([], '{"ts": "2026-01-05T10:00:00Z", "node_rank": 1, "local_rank": 2, "msg": "lost"}')
    assert told[4] == (("NODE", 1), ("LOCAL", 2))
    assert (
        _told([], '{"ts": "2026-01-05T10:00:00Z", "proc": {"rank": "5", "world": 8}, "msg": "lost"}')[0] == 5
    )
    assert _told([], '{"ts": "2026-01-05T10:00:00Z", "pid": 4711, "msg": "lost"}')[3] == 4711
