"""Who died, of what, and whom that leaves to blame: exit codes, signals, silence."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source

AGENT = "1121 10:06:24.210000 6960 torch/distributed/elastic/multiprocessing/api.py"


def closing(pid: int) -> str:
    """torchrun tells a worker to stop."""
    return f"W{AGENT}:1012] Sending process {pid} closing signal SIGTERM\n"


def failed(local_rank: int, code: int) -> str:
    """torchrun names the worker that failed first; pids are 7050 and up."""
    return (
        f"E{AGENT}:986] failed (exitcode: {code}) local_rank: {local_rank} (pid: {7050 + local_rank}) of binary: "
        "/opt/venv/bin/python3\n"
    )


def table(codes: dict[int, int]) -> str:
    """torchrun's table of how its workers ended."""
    text = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \ntrain.py FAILED\nFailures:\n"
    for rank, code in codes.items():
        text += (
            f"[{rank}]:\n  time      : 2026-11-21_10:06:24\n  host      : gpu-node-01\n"
            f"  rank      : {rank} (local_rank: {rank})\n  exitcode  : {code} (pid: {7050 + rank})\n"
            "  error_file: <N/A>\n"
        )
    return text


def lost(rank: int) -> str:
    """Gloo's error on a rank whose peer has gone."""
    return (
        f"[rank{rank}]: Traceback (most recent call last):\n"
        f'[rank{rank}]:   File "/workspace/train.py", line 55, in <module>\n'
        f"[rank{rank}]:     dist.all_reduce(x)\n"
        f"[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by "
        "peer [127.0.0.1]:31884\n"
    )


def cause(diagnosis: Diagnosis) -> tuple[str, tuple[int, ...]]:
    """The rule and the ranks of the root cause."""
    assert diagnosis.root_cause is not None
    return diagnosis.root_cause.rule_id, diagnosis.root_cause.origin.ranks


def files(texts: dict[int, str]) -> list[Source]:
    """One file per rank, named after it."""
    return [Source(f"rank{rank}.log", data=text.encode(), rank=rank) for rank, text in texts.items()]


def test_sigterm_of_a_worker_that_was_told_nothing_is_its_death(engine: Engine) -> None:
    text = closing(7050) + closing(7052) + failed(1, -15) + table({0: -15, 1: -15, 2: -15})
    found = engine.diagnose(Source("job.err", data=text.encode()))
    assert cause(found) == ("ledger.killed", (1,))


@pytest.mark.parametrize(("codes", "rank"), [({0: 1, 1: 1, 2: 1}, None), ({1: 1, 0: -15}, 1)])
def test_which_of_those_that_ended_at_once_is_listed_first_is_chance(
    engine: Engine, codes: dict[int, int], rank: int | None
) -> None:
    root = engine.diagnose(Source("train.log", data=table(codes).encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("ledger.exited", rank)


def test_sigterm_of_a_worker_that_was_told_to_stop_is_none(engine: Engine) -> None:
    text = closing(7050) + closing(7052) + failed(0, -15) + table({0: -15, 1: -9, 2: -15})
    found = engine.diagnose(Source("job.err", data=text.encode()))
    assert cause(found) == ("ledger.killed", (1,))


def test_a_failure_that_is_only_reported_is_told_in_whole_sentences(engine: Engine) -> None:
    text = closing(7051) + failed(1, -15)
    root = engine.diagnose(Source("job.err", data=text.encode())).root_cause
    assert root is not None
    assert "(local rank;" not in root.summary
    assert root.summary.count("(") == root.summary.count(")")


@pytest.mark.parametrize(
    ("code", "words"),
    [(-11, "nobody sends that signal"), (-7, "nobody sends"), (-9, "outside of this log"), (-6, "to itself")],
)
def test_a_fault_is_told_from_a_signal_that_was_sent(engine: Engine, code: int, words: str) -> None:
    root = engine.diagnose(
        Source("job.err", data=(failed(0, code) + table({0: code, 1: -15})).encode())
    ).root_cause
    assert root is not None
    assert root.rule_id == "ledger.killed"
    assert root.origin.ranks == (0,)
    assert words in root.summary


def test_last_words_without_a_name_are_those_of_the_one_that_died(engine: Engine) -> None:
    fault = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f3d3ffff6c0 (most recent call first):\n"
        '  File "/workspace/train.py", line 33 in _die\n\n'
    )
    text = fault + closing(7051) + failed(0, -11) + table({0: -11, 1: -15})
    assert cause(engine.diagnose(Source("job.err", data=text.encode()))) == ("python.fatal-error", (0,))
    two = fault + table({0: -11, 1: -11})
    assert cause(engine.diagnose(Source("job.err", data=two.encode()))) == ("python.fatal-error", ())


def test_a_rank_that_just_stops_while_all_others_lose_their_peer_is_gone(engine: Engine) -> None:
    started = (
        "[rank2]:[W1121 10:18:02.833553515 ProcessGroupGloo.cpp:524] Warning: Unable to resolve hostname\n"
    )
    texts = {0: lost(0), 1: lost(1), 2: started, 3: lost(3)}
    assert cause(engine.diagnose(files(texts))) == ("ledger.vanished", (2,))
    assert cause(engine.diagnose(files({**texts, 2: ""}))) == ("ledger.vanished", (2,))


def test_of_two_silent_ranks_none_is_named(engine: Engine) -> None:
    found = engine.diagnose(files({0: lost(0), 1: "", 2: "", 3: lost(3)}))
    assert cause(found) == ("ledger.peer-vanished", ())


def test_silence_where_the_launcher_reports_deaths_is_no_death(engine: Engine) -> None:
    text = lost(1) + failed(1, 1) + table({1: 1})
    out = Source("rank0.log", data=b"step 1\n", rank=0)
    found = engine.diagnose([Source("job.err", data=text.encode()), out])
    assert cause(found)[0] != "ledger.vanished"


def test_an_exception_that_ended_a_rank_is_not_survived_by_another_ones_good_end(engine: Engine) -> None:
    error = (
        "[rank3]: Traceback (most recent call last):\n"
        '[rank3]:   File "/workspace/train.py", line 37, in <module>\n'
        "[rank3]:     main()\n"
        "[rank3]: ZeroDivisionError: division by zero\n"
    )
    sources = [Source("job.err", data=error.encode()), Source("job.out", data=b"training complete\n")]
    assert cause(engine.diagnose(sources)) == ("unknown.user-code", (3,))
    assert cause(engine.diagnose(Source("job.log", data=error.encode() + b"training complete\n")))[1] == (3,)
    launcher = (
        "I1121 10:07:00.000000 6960 torch/distributed/elastic/agent/server/api.py:1] [default] worker group "
        "successfully finished. Waiting 300 seconds for other agents to finish.\n"
    )
    assert engine.diagnose(Source("job.log", data=(error + launcher).encode())).verdict == "healthy"


def test_a_rank_outside_of_its_world_is_a_launch_setting(engine: Engine) -> None:
    line = b"node-1:77:80 [0] init.cc:2100 NCCL WARN Invalid rank requested : 3/3\n"
    root = engine.diagnose(Source("job.err", data=line)).root_cause
    assert root is not None
    assert root.category == "config"


def test_who_reports_that_its_server_is_gone_did_not_die_of_it(engine: Engine) -> None:
    log = (
        "[2025-11-04 10:20:26,411] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 3241\n"
        "[2025-11-04 10:20:26,513] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-m', "
        "'mii.launch.multi_gpu_server'] exits with return code = -9\n"
        "Traceback (most recent call last):\n"
        '  File "/work/serve.py", line 12, in <module>\n'
        '    client = mii.serve("/models/m")\n'
        '  File "/opt/venv/lib/python3.10/site-packages/mii/backend/server.py", line 62, in _wait_until_server_is_live\n'
        "    raise RuntimeError(\n"
        "RuntimeError: server crashed for some reason, unable to proceed\n"
    )
    cause = engine.diagnose(Source("run.log", data=log.encode())).root_cause
    assert cause is not None
    assert cause.rule_id == "ledger.killed"


@pytest.mark.parametrize(
    "said",
    [
        "torch.distributed.DistNetworkError: The client socket has timed out after 90000ms while trying to connect to (n4, 29511).",
        "torch.distributed.DistNetworkError: Connection reset by peer",
    ],
)
def test_a_rank_that_was_killed_is_why_others_find_no_store(engine: Engine, said: str) -> None:
    waiting = (
        "Traceback (most recent call last):\n"
        '  File "/workspace/train.py", line 31, in <module>\n    dist.init_process_group("nccl")\n'
        '  File "/opt/venv/lib/python3.12/site-packages/torch/distributed/rendezvous.py", line 189, in _create_c10d_store\n'
        f"    return TCPStore(\n           ^^^^^^^^^\n{said}\n"
    )
    diagnosis = engine.diagnose(files({0: "reading 96 shards\nKilled\n", 1: waiting, 2: waiting}))
    assert cause(diagnosis) == ("ledger.killed", (0,))
    root = engine.diagnose(files({0: "reading 96 shards\n", 1: waiting, 2: waiting})).root_cause
    assert root is not None and root.category == "rendezvous"


def test_a_traceback_that_was_logged_line_by_line_without_indentation(engine: Engine) -> None:
    rows = [
        "Traceback (most recent call last):",
        'File "/venv/bin/accelerate", line 8, in <module>',
        "sys.exit(main())",
        "^^^^^^",
        'File "/venv/lib/accelerate/commands/launch.py", line 763, in simple_launcher',
        "raise subprocess.CalledProcessError(returncode=process.returncode, cmd=cmd)",
        "subprocess.CalledProcessError: Command '['/venv/bin/python', 'tune.py']' died with <Signals.SIGSEGV: 11>.",
        "Command exited with code 1",
    ]
    log = "".join(f"[2024-10-21 11:17:04] [INFO] {row}\n" for row in rows)
    root = engine.diagnose(Source("tune.log", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "rank-crash"
    assert "SIGSEGV" in root.evidence[0].text


def test_a_wordless_abort_beside_a_stuck_watchdog_is_that_watchdogs_own(engine: Engine) -> None:
    log = (
        "[rank144]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank 144] [PG 0 Rank 144] ProcessGroupNCCL's watchdog got stuck for 600 seconds "
        "without making progress in monitoring enqueued collectives.\n"
        "E0216 13:04:10.104644 1399 torch/distributed/elastic/multiprocessing/api.py:826] failed (exitcode: -6) local_rank: 1 (pid: 902) "
        "of binary: /usr/bin/python\n"
    )
    root = engine.diagnose(Source("sft.log", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "straggler-or-hang"


def test_an_exception_without_words_shows_what_raised_it(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/srv/train.py", line 178, in train\n'
        "    assert accumulate % world_size == 0\n"
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "AssertionError\n"
    )
    root = engine.diagnose(Source("train.log", data=log.encode())).root_cause
    assert root is not None
    assert root.evidence[0].line == 3
    assert "assert accumulate % world_size == 0" in root.evidence[0].text


def test_whom_a_collective_could_not_reach_is_the_peer_that_went(engine: Engine) -> None:
    log = (
        "E tensorflow/core/common_runtime/ring_alg.cc:274] Aborting RingReduce with Unavailable: Collective ops is aborted by: "
        "Unable to connect to /job:worker/replica:0/task:2\n"
        "The error could be from a previous operation. Restart your program to reset.\n"
    )
    root = engine.diagnose(Source("worker0.log", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 2)


def test_a_thread_at_exit_is_shown_with_the_abort_that_it_is(engine: Engine) -> None:
    steps = "".join(f"batch {n} of rank {r}\n" for n in range(3) for r in range(3))
    log = (
        steps
        + "terminate called without an active exception\n"
        + failed(1, -6)
        + table({0: -15, 1: -6, 2: -15})
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None and (root.category, root.origin.rank) == ("rank-crash", 1)
    assert any("without an active exception" in shown.text for shown in root.evidence)


@pytest.mark.parametrize(
    ("said", "rule"),
    [("| 140 | loss below target 0.31, finishing early |", "ledger.finished-early"), ("| 140 | loss 0.31 |", "ledger.vanished")],
)  # fmt: skip
def test_who_says_that_it_leaves_early_did_not_crash(engine: Engine, said: str, rule: str) -> None:
    lost = (
        "[rank{0}]: Traceback (most recent call last):\n"
        '[rank{0}]:   File "/home/lm.py", line 5, in <module>\n'
        "[rank{0}]:     loss.backward()\n"
        "[rank{0}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.4]:37550.\n"
    )
    steps = "".join(f"| {n:>3} | loss 0.{n} |\n" for n in range(0, 140, 20))
    sources = [
        Source(f"worker_{r}.log", data=(steps + (said + "\n" if r == 2 else lost.format(r))).encode())
        for r in range(4)
    ]
    root = engine.diagnose(sources).root_cause
    assert root is not None and (root.rule_id, root.origin.rank) == (rule, 2)


def test_what_a_process_said_itself_does_not_come_of_its_end(engine: Engine) -> None:
    writer = "(LLMRayActor pid=90738, ip=10.0.0.6) "
    log = (
        "(LLMRayActor pid=90621, ip=10.0.0.5) update weight: model.embed_tokens.weight\n"
        f"{writer}host-7:90738:94511 [0] transport/net_ib.cc:1310 NCCL WARN NET/IB : Got completion from peer "
        "10.0.0.5<51230> with status=12 opcode=129 len=0 vendor err 129 (Recv) hca mlx5_2\n"
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
        "\tclass_name: LLMRayActor\n\tactor_id: 4b8e\n\tpid: 90738\n\tnamespace: 0c1f\n\tip: 10.0.0.6\n"
        "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: "
        "Worker unexpectedly exits with a connection error code 2. End of file.\n"
    )
    found = cause(engine.diagnose(Source(name="job.err", data=log.encode())))
    assert found[0] == "nccl.ib-retry-exceeded"
    other = cause(
        engine.diagnose(Source(name="job.err", data=log.replace("pid: 90738", "pid: 90700").encode()))
    )
    assert other[0] == "ray.worker-died"


@pytest.mark.parametrize("said", ["exit codes: [0, 0, -11, 0]", "exit status 0 0 139 0"])
def test_a_list_of_all_ends_tells_who_died(engine: Engine, said: str) -> None:
    text = "".join(f"encoder {pid} chunk {n} ok\n" for n in range(3) for pid in (71, 72, 73, 74))
    found = engine.diagnose([Source("job.log", data=f"{text}all joined, {said}\n".encode())])
    assert cause(found) == ("ledger.killed", (2,))


def test_a_service_that_crashed_in_a_log_of_its_own_is_why_the_ranks_did_not_reach_it(engine: Engine) -> None:
    crashed = (
        '07:42:14 sampler "POST /generate HTTP/1.1" 200 - pages 48\nFatal Python error: Segmentation fault\n\n'
        "Current thread 0x00007fb618e35b80 (most recent call first):\n"
        '  File "/srv/sampler.py", line 8 in copy_block\n  File "/srv/sampler.py", line 17 in <module>\n'
    )
    raised = (
        "[rank{0}]: Traceback (most recent call last):\n"
        '[rank{0}]:   File "/srv/grpo.py", line 11, in generate\n'
        '[rank{0}]:     raise RuntimeError(f"sampler at {{address}} is unreachable after 4 attempts")\n'
        "[rank{0}]: RuntimeError: sampler at 127.0.0.1:29751 is unreachable after 4 attempts\n"
    )
    ended = (
        "E1123 07:42:26.043000 14880 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) "
        "local_rank: 0 (pid: 14883) of binary: /opt/venv/bin/python\n"
    )
    trainer = "".join(raised.format(rank) for rank in (2, 0, 1)) + ended
    logs = [Source("sampler.log", data=crashed.encode()), Source("trainer.log", data=trainer.encode())]
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", None)
    assert root.evidence[0].path == "sampler.log"


SILENT = "UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n/job:jax_worker/replica:0/task:3\n"
FATE = (
    "F1104 12:02:00.644000 42475 client.h:80] Terminating process because the JAX distributed service detected fatal "
    f"errors. This most likely indicates that another task died; absl::Status: {SILENT}"
)


def test_who_reports_that_another_one_is_gone_is_not_that_one(engine: Engine) -> None:
    """The file of a line names its writer as well as a prefix does."""
    told = f"E1104 12:02:00.384113 42475 coordination_service.cc:1180] {SILENT.removeprefix('UNAVAILABLE: ')}"
    lost = (
        "E1104 12:02:00.284113 42475 coordination_service.cc:1390] /job:jax_worker/replica:0/task:3 has been set to ERROR in "
        "coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:3 heartbeat timeout. This indicates that the "
        "remote task has failed, got preempted, or crashed unexpectedly.\n"
    )
    steps = "".join(f"completed step: {n}, seconds: 5.011, loss: 9.{n}12\n" for n in range(4))
    logs = [steps + lost + told + FATE, steps + FATE, steps + FATE, steps]
    sources = [Source(f"rank_{n}.log", data=text.encode(), rank=n) for n, text in enumerate(logs)]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert root.origin.rank == 3
