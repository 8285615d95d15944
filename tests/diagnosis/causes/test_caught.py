"""What a program caught, or only said, ended nothing where it plainly works on; what nobody caught did."""

from __future__ import annotations

import pytest

from triage import Engine, Source

WORK = "".join(f"part-{n:03d}: {80000 + n} tokens\n" for n in range(6))
MORE = "".join(f"part-{n:03d}: {80000 + n} tokens\n" for n in range(7, 10))
RAISED = (
    'Traceback (most recent call last):\n  File "/w/shards.py", line 14, in {0}\n    for line in f: n += len(line)\n'
    '  File "/usr/lib/python3.12/gzip.py", line 547, in read\n    raise EOFError("Compressed file ended before the "\n'
    "EOFError: Compressed file ended before the end-of-stream marker was reached\n"
)


def verdict(engine: Engine, log: str) -> str:
    """What becomes of a job with one log."""
    return engine.diagnose(Source("job.log", data=log.encode())).verdict


@pytest.mark.parametrize(
    ("function", "rest", "wanted"),
    [
        ("count", "giving up on part-006\n" + MORE + "9 shards, 1 left out\n", "healthy"),
        ("count", "", "failed"),
        ("count", "moving logs\n", "failed"),
        ("count", "collecting logs\nstarting to copy\ncopied to /home\n", "failed"),
        ("<module>", "collecting logs\nstarting to copy\ncopied to /home\n", "failed"),
        ("count", WORK, "failed"),  # it counts from the beginning: what caught it ended, and another began
    ],
)
def test_a_traceback_that_begins_where_it_was_caught(
    engine: Engine, function: str, rest: str, wanted: str
) -> None:
    assert verdict(engine, WORK + RAISED.format(function) + rest) == wanted


def test_a_request_that_failed_is_not_the_server(engine: Engine) -> None:
    served = "".join(
        f'127.0.0.1 - - [22/Nov/2026 15:22:{n}] "POST /embed HTTP/1.1" 200 -\n' for n in range(10, 14)
    )
    failed = (
        "----------------------------------------\n"
        "Exception occurred during processing of request from ('127.0.0.1', 50112)\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3.12/socketserver.py", line 692, in process_request_thread\n'
        "    self.finish_request(request, client_address)\n"
        '  File "/w/server.py", line 16, in do_POST\n    torch.empty(k, 4096, device="cuda")\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 GiB. GPU 0 has a total capacity of 139.80 GiB "
        "of which 80.00 GiB is free.\n----------------------------------------\n"
    )
    assert verdict(engine, served + failed + served) == "healthy"
    assert verdict(engine, served + failed) == "failed"


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        ("[default0]:| all | acc | 0.8167 |\n[default0]:codegen: 0.850 of 40\n", "healthy"),
        ("", "inconclusive"),
    ],
)
def test_a_complaint_that_says_what_is_done_about_it(engine: Engine, rest: str, wanted: str) -> None:
    log = "".join(f"[default0]:riddles: {n} of 40 scored\n" for n in (10, 20, 30)) + (
        "[default1]:W 1122 15:23:09.853 903 harness.py:17] scoring of item 39 failed, retrying in 1 s\n"
    )
    found = verdict(engine, log + rest)
    assert (found == "healthy") == (wanted == "healthy")


NOT_STARTED = (
    "ERROR: This container was built for NVIDIA Driver Release 525.60 or later, but\n"
    "       version 515.65.01 was detected and compatibility mode is UNAVAILABLE.\n"
)


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        ("".join(f"{n:>6} | {6.2 - n / 600:.3f} | 244 img/s\n" for n in range(0, 500, 50)), "healthy"),
        ("".join(f"waiting for a GPU, {n} s\n" for n in range(0, 500, 50)), "failed"),
        ("", "failed"),
    ],
)
def test_work_that_begins_after_an_error_was_printed(engine: Engine, rest: str, wanted: str) -> None:
    assert verdict(engine, NOT_STARTED + rest) == wanted


def test_trials_that_are_pruned_and_counted_on(engine: Engine) -> None:
    full = "CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 1.00 GiB is free."
    tried = "".join(
        f"trial {n} width=16384 PRUNED: {full}\n"
        if n % 3 == 2
        else f"trial {n} width=2048 objective=1.0{n}\n"
        for n in range(9)
    )
    assert verdict(engine, tried + "best: (0.91, 131072, 4096)\n") == "healthy"
    assert verdict(engine, f"width=16384: {full}\n") == "failed"


AGENT = (
    "E1122 15:23:12.543000 714 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) local_rank: 1 "
    "(pid: 922) of binary: /opt/venv/bin/python\n"
)


def test_ranks_that_count_on_after_their_launcher_saw_one_end(engine: Engine) -> None:
    def counted(begin: int, end: int) -> str:
        return "".join(
            f"[default{r}]:<{r}> it={n} |w|=1.{n}\n" for n in range(begin, end, 10) for r in (0, 1)
        )

    lost = (
        '[default1]:[rank1]: Traceback (most recent call last):\n[default1]:[rank1]:   File "/w/run.py", line 13, in <module>\n'
        "[default1]:[rank1]:     raise RuntimeError(page)\n[default1]:[rank1]: RuntimeError: page 33 could not be read back\n"
    )
    assert verdict(engine, counted(0, 40) + lost + AGENT + counted(20, 90)) == "healthy"
    assert verdict(engine, counted(0, 40) + lost + AGENT) == "failed"


def test_a_preempted_job_that_works_on_in_the_same_log(engine: Engine) -> None:
    def counted(begin: int, end: int) -> str:
        return "".join(f"it {n:5d}  nll {4 - n / 600:.4f}\n" for n in range(begin, end, 20))

    stopped = (
        "slurmstepd: error: *** JOB 918273 ON node03 CANCELLED AT 2025-02-11T03:12:09 DUE TO PREEMPTION ***\n"
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
    )
    assert verdict(engine, counted(0, 700) + stopped + counted(700, 1500)) == "healthy"
    assert verdict(engine, counted(0, 700) + stopped) == "failed"


def test_what_refuses_a_request_ends_the_program_that_made_it(engine: Engine) -> None:
    refused = (
        'Traceback (most recent call last):\n  File "/w/{0}.py", line 257, in {1}\n    reply = llm.complete(messages)\n'
        '  File "/opt/venv/lib/python3.11/site-packages/openai/_base_client.py", line 1155, in request\n'
        "    raise self._make_status_error_from_response(err.response) from None\n"
        "openai.BadRequestError: Error code: 400 - {{'error': {{'message': \"This model's maximum context length is 65536 tokens. "
        'However, you requested 12000 output tokens."}}}}\n'
    )
    assert verdict(engine, "round 1 of 8\n" + refused.format("agent", "<module>")) == "failed"


def test_a_stall_that_is_told_to_the_end(engine: Engine) -> None:
    stall = (
        "[1,0]<stderr>:[2023-03-02 11:{0:02d}:41.113873: W /b/horovod/common/stall_inspector.cc:107] One or more tensors were "
        "submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more "
        "than 60 seconds. This may indicate that different ranks are trying to submit different tensors.\n"
        "[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:2: [DistributedAdam_Allreduce/grads_14_0]\n"
    )
    steps = "".join(f"[1,0]<stdout>:Step #{n}\tLoss: {2.3 / (1 + n):.6f}\n" for n in range(0, 100, 20))
    assert verdict(engine, steps + "".join(stall.format(m) for m in range(8, 15))) == "failed"
    later = "".join(f"[1,0]<stdout>:Step #{n}\tLoss: {2.3 / (1 + n):.6f}\n" for n in range(100, 200, 20))
    assert verdict(engine, steps + stall.format(8) + later) == "healthy"


def test_a_stage_by_its_number_is_no_count_of_failures(engine: Engine) -> None:
    log = "task 40 done\n" * 6 + "ERROR TaskSetManager: Task 41 in stage 1.0 failed 4 times; aborting job\n"
    assert verdict(engine, log) == "failed"
    assert verdict(engine, "task 40 done\n" * 6 + "stage 1: 0 failed\n") == "healthy"


def test_ranks_that_count_on_without_a_peer_do_without_it(engine: Engine) -> None:
    def counted(begin: int, end: int) -> str:
        return "".join(
            f"[0]<stdout>:epoch 0 batch {n} loss {6 - n / 300:.2f}\n" for n in range(begin, end, 50)
        )

    lost = (
        "[3]<stderr>:horovod.common.exceptions.HorovodInternalError: [/b/gloo/gloo/transport/tcp/pair.cc:589] "
        "Read error [10.1.0.4]:41102: Connection reset by peer\n"
    )
    assert verdict(engine, counted(0, 600) + lost + counted(600, 1500)) == "healthy"
    assert verdict(engine, counted(0, 600) + lost) == "failed"


def test_a_tally_of_what_could_not_be_done(engine: Engine) -> None:
    done = "".join(f"utt {n} decoded\n" for n in range(8))
    assert verdict(engine, done + "WER 13.13% over 1356 words, 7 utterances could not be read\n") == "healthy"
    assert verdict(engine, done + "the utterances could not be read\n") != "healthy"


def test_what_follows_each_complaint_belongs_to_it(engine: Engine) -> None:
    broken = (
        'Traceback (most recent call last):\n  File "/w/resume.py", line 8, in newest\n    state = load(path)\n'
        '  File "/opt/venv/lib/python3.12/site-packages/torch/serialization.py", line 821, in __init__\n'
        "    super().__init__(torch._C.PyTorchFileReader(name_or_buffer))\n"
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory\n"
        "{0}.pt is no good, going one back\n"
    )
    tried = "".join(broken.format(n) for n in (300, 200, 100))
    assert verdict(engine, tried + "no checkpoint can be read\n") == "failed"
    work = "".join(f"n {n} norm 14.{n}\n" for n in range(100, 200, 10))
    assert verdict(engine, tried + "state of 100 is taken\n" + work) == "healthy"


def test_ranks_told_apart_by_a_number_ahead_of_their_counts(engine: Engine) -> None:
    def seen(rank: int, begin: int, end: int) -> str:
        return "".join(
            f"2026-11-22 16:17:2{rank},{n:03d} | {rank} | INFO    | pages seen {n}, |w| 6.9\n"
            for n in range(begin, end, 100)
        )

    broke = (
        "2026-11-22 16:17:21,282 | 1 | WARNING | loader of generation 0 broke: DataLoader worker (pid(s) 604) exited "
        "unexpectedly; building a new one\n"
    )
    assert verdict(engine, seen(1, 100, 200) + broke + seen(1, 200, 600) + seen(0, 100, 600)) == "healthy"
    assert verdict(engine, seen(1, 100, 200) + broke) == "failed"


@pytest.mark.parametrize("late", [True, False])
def test_a_group_that_is_made_anew(engine: Engine, late: bool) -> None:
    def rounds(begin: int, end: int) -> str:
        return "".join(f"16:17:{34 + n} round {n} sum ok\n" for n in range(begin, end))

    lost = (
        "16:17:38 round 2 lost: [/p/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 4000ms for recv operation to complete\n",
        "16:17:42 round 2 lost: [/p/gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:50851\n",
    )
    rest = "16:17:50 group made anew\n" + rounds(3, 6) if late else ""
    logs = [Source(f"worker{r}.txt", data=(rounds(0, 2) + lost[r] + rest).encode(), rank=r) for r in (0, 1)]
    assert engine.diagnose_sources(logs).verdict == ("healthy" if late else "failed")


@pytest.mark.parametrize(
    "log",
    [
        "".join(f"shard {n} written\nworker {n} crashed, restarting it\n" for n in range(1, 6))
        + "no worker is left, stopping\n",
        WORK + RAISED.format("count") + "".join(f"queue empty for {n} s\n" for n in range(10, 130, 10)),
        WORK + "".join(f"attempt {n}: 10.0.0.1:29500 refused, retrying in 5 s\n" for n in range(1, 30)),
    ],
)
def test_what_is_counted_while_nothing_moves_is_no_work(engine: Engine, log: str) -> None:
    assert verdict(engine, log) != "healthy"


def test_a_report_that_counts_what_was_lost(engine: Engine) -> None:
    reports = "".join(
        f"update {n:3d}  steps {n * 95}  mean reward 0.5{n}  lost envs {n // 5}\n" for n in range(0, 30, 5)
    )
    assert verdict(engine, reports) == "healthy"


def test_a_complaint_between_what_is_counted(engine: Engine) -> None:
    refused = (
        "cannot fetch http://127.0.0.1:9/a/{0}.bin\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/urllib/request.py", line 1351, in do_open\n    raise URLError(err)\n'
        "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>\n"
    )
    tried = "".join(refused.format(n) + f"fetched part {n}\n" for n in range(5))
    assert verdict(engine, tried + refused.format(5) + "fetched part 5\n6 of 6 parts are here\n") == "healthy"
    assert verdict(engine, tried + refused.format(5)) == "failed"
    assert verdict(engine, tried + refused.format(5) + "fetched part 0\n") == "failed"


def test_words_with_numbers_between_them_are_text(engine: Engine) -> None:
    assert verdict(engine, "".join(f"seed {n} score 0.7{n}\n" for n in range(1, 5))) == "healthy"


def test_a_failure_that_a_test_had_wanted_is_none(engine: Engine) -> None:
    steps = "".join(f"size {n} errors 0\n" for n in range(4))
    wanted = "negative case raised as expected: shape '[3]' is invalid for input of size 4\n"
    found = engine.diagnose(Source("bench.txt", data=(steps + wanted + "bench complete\n").encode()))
    assert found.verdict == "healthy"
