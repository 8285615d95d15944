"""What is shown beside the line of a cause: each line must say more about it, and come in order of importance."""

from __future__ import annotations

from triage import Engine, Source

LOST = (
    "[rank{r}]: Traceback (most recent call last):\n"
    '[rank{r}]:   File "/home/u/run/train.py", line 30, in <module>\n'
    "[rank{r}]:     dist.all_reduce(x)\n"
    "[rank{r}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer"
    " [127.0.0.1]:27020\n"
)
WAITED = LOST.replace("pair.cc:547] Connection closed by peer [127.0.0.1]:27020", "unbound_buffer.cc:78] Timed out waiting"
                      " 12000ms for recv operation to complete")  # fmt: skip


def shown(engine: Engine, *logs: str) -> list[str]:
    """The pieces of evidence for the root cause of a job with these logs."""
    root = engine.diagnose([Source(f"{n}.log", data=log.encode()) for n, log in enumerate(logs)]).root_cause
    assert root is not None
    return [piece.text for piece in root.evidence]


def test_the_rest_of_a_message_is_shown_with_its_first_line(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/home/u/run/train.py", line 8, in <module>\n'
        "    cfg = yaml.safe_load(open(path))\n"
        "yaml.scanner.ScannerError: while scanning for the next token\n"
        "found character '\\t' that cannot start any token\n"
        '  in "conf.yaml", line 5, column 1\n'
    )
    assert "found character '\\t' that cannot start any token" in shown(engine, log)[0]


def test_advice_below_a_message_is_no_part_of_it(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/home/u/run/train.py", line 8, in <module>\n'
        "    y = step(x)\n"
        "torch.AcceleratorError: CUDA error: operation not permitted when stream is capturing\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    )
    assert not any("For debugging" in text for text in shown(engine, log))


def test_the_place_in_the_users_own_code_is_shown(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/home/u/run/train.py", line 41, in score\n'
        "    norms = gather(parts)\n"
        '  File "/opt/venv/lib/python3.11/site-packages/fancy/ops.py", line 7, in gather\n'
        "    return torch.cat(parts)\n"
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!\n"
    )
    assert any("line 41, in score\n    norms = gather(parts)" in text for text in shown(engine, log))


def test_the_line_that_announces_a_traceback_names_whose_it_is(engine: Engine) -> None:
    log = (
        "[2025-12-15 05:25:40 DP1 TP1] Decode batch, #running-req: 2\n"
        "[2025-12-15 05:25:41 DP7 TP7] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/sgl/scheduler.py", line 2786, in run_scheduler_process\n'
        "    scheduler.event_loop_overlap()\n"
        "RuntimeError: CUDA error: unspecified launch failure\n"
    )
    assert any("DP7 TP7] Scheduler hit an exception" in text for text in shown(engine, log))


def test_a_progress_bar_before_a_traceback_announces_nothing(engine: Engine) -> None:
    log = (
        " 18%|#8        | 4374/24758 [2:55:31<14:50:24,  2.62s/it]Traceback (most recent call last):\n"
        '  File "/home/u/run/train.py", line 3, in <module>\n'
        "    raise KeyError('text')\n"
        "KeyError: 'text'\n"
    )
    assert not any("4374/24758" in text for text in shown(engine, log))


def test_what_a_writer_complained_of_shortly_before_is_shown(engine: Engine) -> None:
    log = (
        "2026-11-23 00:52:16,885 WARNING rank=1 data: utt-6.tar: 18811 of 40960 bytes read\n"
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/home/u/run/train.py", line 17, in <module>\n'
        "[rank1]:     x = reader.read(i)\n"
        "[rank1]: ValueError: cannot unpack utt-6.tar\n" + LOST.format(r=0)
    )
    assert any("18811 of 40960 bytes read" in text for text in shown(engine, log))


def test_a_warning_that_speaks_of_something_else_is_not_shown(engine: Engine) -> None:
    log = (
        "WARNING 01-01 22:45:09 api_server.py:378] Dynamic adapters are enabled, for local development only\n"
        "Traceback (most recent call last):\n"
        '  File "/home/u/run/serve.py", line 17, in <module>\n'
        "    sock.bind((host, port))\n"
        "OSError: [Errno 98] Address already in use\n"
    )
    assert not any("local development" in text for text in shown(engine, log))


def test_copies_of_a_line_come_after_what_says_something_else(engine: Engine) -> None:
    full = (
        "n1:{pid}:99 [{gpu}] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-{name} to 9637892 bytes, "
        "error: No space left on device (28)\n"
    )
    log = "".join(full.format(pid=10 + n, gpu=n, name="aBcd9" + "efgh"[n]) for n in range(4)) + (
        "failed (exitcode: 1) local_rank: 0 (pid: 10) of binary: /usr/bin/python3\n"
    )
    first, second, *_ = shown(engine, log)
    assert "failed to extend" in first
    assert "failed to extend" not in second


def test_where_a_refused_value_was_set_is_shown(engine: Engine) -> None:
    log = (
        "node a GLOO_SOCKET_IFNAME=ens9f0np0\n"
        "Traceback (most recent call last):\n"
        '  File "/home/u/run/train.py", line 3, in <module>\n'
        '    dist.init_process_group("gloo")\n'
        "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != nullptr. "
        "Unable to find address for: ens9f0np0\n"
    )
    assert "node a GLOO_SOCKET_IFNAME=ens9f0np0" in shown(engine, log)


def test_the_first_line_without_numbers_is_shown_with_what_came_of_it(engine: Engine) -> None:
    steps = "".join(f"it={n} obj={9.0 / (n + 1):.3f} lr=0.1\n" for n in range(8))
    log = (
        steps + "it=8 obj=nan lr=0.1\nit=9 obj=nan lr=0.1\n"
        "Traceback (most recent call last):\n"
        '  File "/home/u/run/train.py", line 14, in <module>\n'
        "    torch.multinomial(p, 2)\n"
        "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0\n"
    )
    pieces = shown(engine, log)
    assert "it=8 obj=nan lr=0.1" in pieces
    assert "it=9 obj=nan lr=0.1" not in pieces


def test_how_far_the_late_rank_had_come_is_shown(engine: Engine) -> None:
    work = [f"00:51:5{n} [0] cell {n + 1}/24 trained\n" for n in range(8)]
    log = (
        "".join(f"00:51:4{n} [{r}] epoch {n} done, recall 0.4{n}\n" for n in range(6) for r in range(2))
        + "".join(work[:4])
        + WAITED.format(r=1)
        + "".join(work[4:])
    )
    assert shown(engine, log)[1:3] == ["00:51:53 [0] cell 4/24 trained", "00:51:57 [0] cell 8/24 trained"]


def test_who_ended_with_which_status_is_shown_in_the_words_of_who_started_it(engine: Engine) -> None:
    steps = "".join(f"m{r} sweep {n} energy -1.2\n" for n in range(6) for r in range(3) if r != 1 or n < 4)
    log = (
        steps
        + LOST.format(r=0)
        + LOST.format(r=2)
        + "ctl: rank 1 ended, code -9\nctl: rank 0 ended, code 1\n"
    )
    assert "ctl: rank 1 ended, code -9" in shown(engine, log)


def test_the_exception_that_ended_a_process_is_shown_beside_the_one_that_it_had_caught(
    engine: Engine,
) -> None:
    log = (
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/home/u/run/bench.py", line 7, in run\n'
        "[rank1]:     y = y * float(y.max())\n"
        "[rank1]: torch.AcceleratorError: CUDA error: operation not permitted when stream is capturing\n"
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/home/u/run/bench.py", line 10, in <module>\n'
        "[rank1]:     x = torch.randn(4)\n"
        "[rank1]: RuntimeError: Offset increment outside graph capture encountered unexpectedly.\n"
    )
    assert any("Offset increment outside graph capture" in text for text in shown(engine, log))


def test_two_that_take_themselves_for_the_same_rank_are_shown(engine: Engine) -> None:
    def log(host: int, rank: int) -> str:
        return (
            f"host n2{host} RANK={rank} WORLD_SIZE=4\n"
            "Traceback (most recent call last):\n"
            '  File "/home/u/run/train.py", line 3, in <module>\n'
            '    dist.init_process_group("gloo")\n'
            "torch.distributed.DistStoreError: wait timeout after 20000ms, keys: /default_pg/0//cpu//0/2\n"
        )

    pieces = shown(engine, log(1, 0), log(2, 1), log(3, 1), log(4, 3))
    assert {"host n22 RANK=1 WORLD_SIZE=4", "host n23 RANK=1 WORLD_SIZE=4"} <= set(pieces)
    assert "host n21 RANK=0 WORLD_SIZE=4" not in pieces


def test_no_more_is_shown_than_can_be_read(engine: Engine) -> None:
    for log in (LOST, WAITED):
        assert len(shown(engine, "".join(log.format(r=r) for r in range(16)))) <= 8
