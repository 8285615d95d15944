"""Who goes on with what it did before has got over its error; who only says that it is alive has not."""

from __future__ import annotations

import json

import pytest

from triage import Engine, Source

RAISED = (
    "{0}Traceback (most recent call last):\n"
    '{0}  File "/opt/asr/decode.py", line 21, in main\n'
    "{0}    audio = read_audio(path)\n"
    "{0}EOFError: clip-{1:05d}.flac: unexpected end of stream\n"
)


def decoded(lead: str, begin: int, end: int, words: str = "decoded clip {0} of speaker 7") -> str:
    """What a program says of its work."""
    return "".join(f"{lead}0304 1547{n:02d}.311 I {words.format(n)}\n" for n in range(begin, end))


@pytest.mark.parametrize(
    ("rest", "verdict"),
    [
        (decoded("[default1]:", 14, 20), "healthy"),
        (decoded("[default1]:", 14, 20, "heartbeat {0}, waiting for work"), "failed"),
        (decoded("[default1]:", 3, 9), "failed"),  # it counts from the beginning again: another run
        (decoded("[default2]:", 14, 20), "failed"),
        ("", "failed"),
    ],
)
def test_a_count_that_goes_on_in_whatever_words(engine: Engine, rest: str, verdict: str) -> None:
    log = decoded("[default1]:", 10, 14) + RAISED.format("[default1]:", 14) + rest
    assert engine.diagnose(Source("job.log", data=log.encode())).verdict == verdict


def test_who_has_got_over_an_error_before_needs_to_say_little_after_it(engine: Engine) -> None:
    lead = "[default1]:"
    log = (
        decoded(lead, 10, 14)
        + RAISED.format(lead, 14)
        + decoded(lead, 15, 19)
        + RAISED.format(lead, 19)
        + f"{lead}0304 154744.277 I decoded 17 clips, failed=0 skipped=2 killed=0\n"
    )
    assert engine.diagnose(Source("job.log", data=log.encode())).verdict == "healthy"


def test_a_launcher_that_saw_it_die_knows_better(engine: Engine) -> None:
    log = (
        decoded("", 10, 14)
        + RAISED.format("", 14)
        + decoded("", 15, 20)
        + "E0304 15:47:41.400000 901 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) "
        "local_rank: 1 (pid: 911) of binary: /opt/venv/bin/python\n"
    )
    assert engine.diagnose(Source("job.log", data=log.encode())).verdict == "failed"


SERVED = 'INFO:     10.0.0.7:4021{0} - "POST /v1/chat/completions HTTP/1.1" {1}\n'
REFUSED = (
    "ERROR 03-04 10:01:{0:02d} [serving_chat.py:203] Error in preprocessing prompt inputs\n"
    "ERROR 03-04 10:01:{0:02d} [serving_chat.py:203] Traceback (most recent call last):\n"
    'ERROR 03-04 10:01:{0:02d} [serving_chat.py:203]   File "/opt/engine/serving_chat.py", line 186, in create\n'
    "ERROR 03-04 10:01:{0:02d} [serving_chat.py:203]     raise TemplateError(\n"
    "ERROR 03-04 10:01:{0:02d} [serving_chat.py:203] engine.errors.TemplateError: roles must alternate, {0} given\n"
)


@pytest.mark.parametrize(
    ("answer", "verdict"), [("200 OK", "healthy"), ("500 Internal Server Error", "failed")]
)
def test_a_server_that_answers_on_lives(engine: Engine, answer: str, verdict: str) -> None:
    log = (
        SERVED.format(1, "200 OK")
        + REFUSED.format(7)
        + "".join(SERVED.format(n, answer) for n in range(2, 6))
    )
    assert engine.diagnose(Source("server.log", data=log.encode())).verdict == verdict


UNBOUND = (
    "2026-03-04 10:01:34.681821 error 805 pid[805] [AccLink a.cpp:64] Failed to bind 10.0.0.4:24666: "
    "Cannot assign requested address\n"
)
CRASHED = (
    "[2026-03-04 10:09:52 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/sglang/srt/managers/scheduler.py", line 1105, in event_loop\n'
    "    result = self.run_batch(batch)\n"
    "RuntimeError: CUDA error: an illegal memory access was encountered\n"
)


@pytest.mark.parametrize(
    ("between", "category"),
    [("", "network-config"), ("INFO:     Application startup complete.\n", "cuda-kernel")],
)
def test_a_server_that_came_up_got_over_what_was_said_of_its_beginning(
    engine: Engine, between: str, category: str
) -> None:
    root = engine.diagnose(Source("server.log", data=(UNBOUND + between + CRASHED).encode())).root_cause
    assert root is not None
    assert root.category == category


NO_EFA = (
    "algo-1:177:178 [5] nccl_ofi_ofiutils_init_connection:274 NCCL WARN NET/OFI Couldn't open CQ. RC: -22, ERROR: "
    "Invalid argument\n"
    "algo-1:177:178 [5] NCCL INFO Using network Socket\n"
)
STEPS = "".join(
    f"{{'loss': 1.{n}, 'grad_norm': 2.0{n}, 'learning_rate': 1e-05, 'epoch': 0.0{n}}}\n" for n in (7, 6, 5)
)


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        (NO_EFA + STEPS, "healthy"),
        (NO_EFA, "failed"),
        (STEPS + NO_EFA, "failed"),
        (NO_EFA + STEPS + "srun: error: gpu-a001: task 5: Exited with exit code 1\n", "failed"),
    ],
)
def test_steps_after_what_was_said_of_the_beginning(engine: Engine, log: str, verdict: str) -> None:
    assert engine.diagnose(Source("train.log", data=log.encode())).verdict == verdict


STOPPING = "(EngineCore pid=812) INFO 03-04 10:12:28 [core.py:1214] [shutdown] EngineCore: trigger received signal=SIGTERM\n"
LEFT = (
    "(APIServer pid=77) ERROR 03-04 10:12:28 [async_llm.py:704] AsyncLLM output_handler failed.\n"
    "(APIServer pid=77) ERROR 03-04 10:12:28 [async_llm.py:704] Traceback (most recent call last):\n"
    '(APIServer pid=77) ERROR 03-04 10:12:28 [async_llm.py:704]   File "/opt/vllm/v1/engine/async_llm.py", line 660, in run\n'
    "(APIServer pid=77) ERROR 03-04 10:12:28 [async_llm.py:704]     outputs = await engine_core.get_output_async()\n"
    "(APIServer pid=77) ERROR 03-04 10:12:28 [async_llm.py:704] vllm.v1.engine.exceptions.EngineDeadError: EngineCore "
    "encountered an issue. See stack trace (above) for the root cause.\n"
    "(APIServer pid=77) INFO:     Shutting down\n"
    "(APIServer pid=77) INFO:     Application shutdown complete.\n"
)


@pytest.mark.parametrize(("stop", "verdict"), [(STOPPING, "healthy"), ("", "failed")])
def test_an_engine_that_was_told_to_stop_did_not_die(engine: Engine, stop: str, verdict: str) -> None:
    log = SERVED.format(1, "200 OK") + SERVED.format(2, "200 OK") + stop + LEFT
    assert engine.diagnose(Source("server.log", data=log.encode())).verdict == verdict


def test_a_server_that_starts_again_in_the_same_log(engine: Engine) -> None:
    start = "INFO 03-04 {0} [api_server.py:1896] vLLM API server version 0.10.2\n"
    failed = (
        "(APIServer pid=77) ValueError: Free memory on device (13.58/15.99 GiB) on startup is less than desired GPU memory "
        "utilization (0.85, 13.59 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n"
        "(APIServer pid=77) Traceback (most recent call last):\n"
        '(APIServer pid=77)   File "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/utils.py", line 729, in wait\n'
        "(APIServer pid=77)     raise RuntimeError(\n"
        "(APIServer pid=77) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n"
    )
    served = "INFO:     Application startup complete.\n" + "".join(
        SERVED.format(n, "200 OK") for n in range(4)
    )
    one, two = start.format("09:28:54"), start.format("09:36:42")
    assert engine.diagnose(Source("nohup.out", data=(one + failed).encode())).verdict == "failed"
    again = engine.diagnose(Source("nohup.out", data=(one + failed + two + served).encode()))
    assert (again.verdict, len(again.attempts)) == ("healthy", 2)


@pytest.mark.parametrize(
    ("lines", "healthy"),
    [
        ("".join(f"s:{n} trl:{4 - n / 10:.4f}\n" for n in range(30)), True),
        ("Lösung konvergiert\n" * 4 + "Rechenzeit insgesamt: 12 Minuten\nErgebnis steht bereit\n", True),
        ("Rechnung beginnt\n" * 12 + "residual is nan\n", False),
        ("Rechnung beginnt\n" * 12 + "solver stalled\n", False),
    ],
)
def test_an_ordinary_end_in_unknown_words(engine: Engine, lines: str, healthy: bool) -> None:
    # what else it is called depends on the words that the lexicon has learned
    assert (engine.diagnose(Source("job.out", data=lines.encode())).verdict == "healthy") is healthy


def test_a_shell_that_does_not_find_its_last_command(engine: Engine) -> None:
    work = "".join(f"frame {n} written\n" for n in range(12))
    lost = "/var/spool/slurmd/job7/slurm_script: line 49: --scale: command not found\n"
    found = engine.diagnose(Source("slurm.out", data=(work + lost).encode()))
    assert found.root_cause is not None and found.root_cause.rule_id == "host.command-not-found"


@pytest.mark.parametrize(
    "above", ["Exception ignored in atexit callback: <function bye at 0x7f10>", "--- Logging error ---"]
)
def test_what_python_ignores_ends_nothing(engine: Engine, above: str) -> None:
    log = "".join(f"step {n} loss 2.{n}\n" for n in range(5)) + (
        f'{above}\nTraceback (most recent call last):\n  File "/w/train.py", line 26, in bye\n    os.remove(lock)\n'
        "OSError: cannot remove lock file /scratch/lock\n"
    )
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "healthy"


def test_a_traceback_with_a_blank_source_line_is_whole(engine: Engine) -> None:
    lead = "(Worker_TP0 pid=300) ERROR 03-04 21:02:05 [multiproc_executor.py:962] "
    frames = (
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/flashinfer/prefill.py", line 2012, in paged_run',
        "    self._cached_module.paged_run(*run_args)",
        '  File "/root/.cache/flashinfer/generated/batch_prefill.cu", line 310, in BatchPrefillWithPagedKVCacheRun',
        "    TVM_FFI_ICHECK(status == cudaSuccess)",
        "    ",
        "RuntimeError: Check failed: (status == cudaSuccess) is false: BatchPrefillWithPagedKVCache failed with error invalid argument",
    )
    log = "".join(f"{lead}{frame}\n" for frame in frames)
    root = engine.diagnose(Source("server.log", data=log.encode())).root_cause
    assert root is not None and (root.category, root.origin.rank) == ("cuda-kernel", 0)


def test_what_python_ignores_is_ignored_each_time(engine: Engine) -> None:
    log = "".join(f"0: step {n} loss 2.{n}\n" for n in range(5)) + "".join(
        f"0: Exception ignored in atexit callback: <function keep_table at 0x7f{n}>\n"
        "0: Traceback (most recent call last):\n"
        f'0:   File "/w/tables.py", line {26 + n}, in keep_table\n'
        "0:     os.replace(path + '.tmp', path)\n"
        f"0: FileNotFoundError: [Errno 2] No such file or directory: '/h/kernel{n}.tmp' -> '/h/kernel{n}'\n"
        for n in range(2)
    )
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "healthy"


def test_a_failed_epilog_is_no_status_of_the_script(engine: Engine) -> None:
    log = "epoch 3 done\nslurmstepd: error: TaskEpilog failed status=1\n"
    assert engine.diagnose(Source("slurm.out", data=log.encode())).verdict == "healthy"


def test_who_dumps_stacks_has_seen_a_job_stand_still(engine: Engine) -> None:
    steps = "".join(f"iteration {n}/ 900 | lm loss: 2.1{n} |\n" for n in range(8))
    stacks = (
        'Process 71: python train.py\nPython v3.11.7\n\nThread 71 (active): "MainThread"\n'
        "    evaluate (train.py:88)\n    <module> (train.py:249)\n"
    )
    quiet = [Source("main.log", data=steps.encode()), Source("stacks.txt", data=stacks.encode())]
    found = engine.diagnose_sources(quiet)
    assert found.verdict != "healthy"
    assert found.verdict == "failed" or any("Stacks of processes" in note for note in found.notes)


SKIPPED = (
    '[prep] record {0}: skipped\nTraceback (most recent call last):\n  File "/w/prep.py", line 8, in main\n'
    "    work(n)\nValueError: record cut off\n"
)


@pytest.mark.parametrize(
    ("between", "end", "verdict"),
    [
        ("", "[prep] 90/90 records\n[prep] wrote data/pumps.bin: 86 records, 4 skipped\n", "healthy"),
        ("", "", "failed"),
        ("[prep] starting again\n", "[prep] that was all\n", "failed"),
        ("", "that was all for today\n", "failed"),
    ],
)
def test_who_complains_of_the_same_again_and_again_catches_it(
    engine: Engine, between: str, end: str, verdict: str
) -> None:
    log = "".join(SKIPPED.format(n) + between for n in (22, 39, 56, 73)) + end
    assert (engine.diagnose(Source("prep.log", data=log.encode())).verdict == "healthy") == (
        verdict == "healthy"
    )


NO_BACKEND = (
    "ERROR backend turbopump is not usable{0}\nTraceback (most recent call last):\n"
    "  File \"/w/eval.py\", line 8, in main\n    load(name)\nModuleNotFoundError: No module named 'turbopump'\n"
)


@pytest.mark.parametrize(
    ("said", "rest", "verdict"),
    [
        (", falling back", 4, "healthy"),
        (", falling back", 0, "failed"),
        ("", 4, "failed"),
    ],
)
def test_what_is_done_instead_is_said_above_the_exception(
    engine: Engine, said: str, rest: int, verdict: str
) -> None:
    log = NO_BACKEND.format(said) + "".join(f"INFO question {n} of 9 was answered\n" for n in range(rest))
    assert engine.diagnose(Source("eval.log", data=log.encode())).verdict == verdict


def shown(text: str) -> str:
    """Texts that a program has generated, between lines of its own."""
    return "".join(
        f"2026-03-01 10:00:0{n},100 - Prompt {n}: the story of a pump\n2026-03-01 10:00:0{n},200 - Generated text: The pump\n"
        f"stood in the yard.\n{text}\n2026-03-01 10:00:0{n},300 - Tokens: 10{n}\n"
        for n in range(5)
    )


def test_texts_that_a_program_shows_are_not_what_it_says(engine: Engine) -> None:
    text = "It was lost, then it failed and could not be repaired."
    assert engine.diagnose(Source("texts.log", data=shown(text).encode())).verdict == "healthy"
    broken_off = shown("It ran.") + f"2026-03-01 10:00:09,200 - Generated text: The pump\n{text}\n"
    assert engine.diagnose(Source("texts.log", data=broken_off.encode())).verdict != "healthy"
    quoted = "".join(
        f'    core {n} : "the pump was lost, and {n} men could not repair it" (+95)\n' for n in range(9)
    )
    assert engine.diagnose(Source("scores.log", data=quoted.encode())).verdict == "healthy"


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        ('Stack (most recent call first):\n  File "/opt/train.py", line 2926 in train\n', "inconclusive"),
        ("Stack (most recent call first):\n  <no Python frame>\n", "healthy"),
    ],
)
def test_a_log_that_ends_with_where_somebody_stood(engine: Engine, last: str, verdict: str) -> None:
    log = "".join(f"[2026-04-15 11:28:{n}] wrote part {n} of the index\n" for n in range(10, 40)) + last
    assert engine.diagnose(Source("stderr.log", data=log.encode())).verdict == verdict


def test_an_exception_without_words_is_shown_with_its_code(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/workspace/train.py", line 1448, in schedule\n'
        "    assert self.warmup < self.decay\n"
        "           ^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "AssertionError\n"
    )
    found = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert found is not None
    assert "assert self.warmup < self.decay" in found.evidence[0].text


def test_what_python_only_warned_of_is_behind_what_was_raised(engine: Engine) -> None:
    log = (
        "/opt/lib/import_utils.py:32: UserWarning: Failed to import a plugin due to: ImportError('peft>=0.17.0 is "
        "required for a normal functioning of this module, but found peft==0.13.2.').\n"
        "Traceback (most recent call last):\n"
        '  File "/workspace/train.py", line 3, in <module>\n'
        "    main()\n"
        "TypeError: main() missing 1 required positional argument: 'config'\n"
    )
    found = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert found is not None
    assert found.rule_id == "unknown.user-code"


_WORK = "".join(
    f"projecting the rows of table {name} with {n} neighbours\n" for n in (5, 9) for name in "abcdef"
)
_LEFT = "wandb: \nwandb: 🚀 View run knn at: https://wandb.example/p/runs/a1\nwandb: Find logs at: wandb/run-1/logs\n"


@pytest.mark.parametrize(
    ("beside", "verdict"),
    [(_LEFT, "healthy"), ("kernel table is odd\n", "inconclusive"), (None, "inconclusive")],
)
def test_the_goodbye_of_a_tracker_takes_nothing_from_the_log_beside_it(
    engine: Engine, beside: str | None, verdict: str
) -> None:
    out = Source("job.out", data=(beside or _LEFT).encode())
    sources = [out] if beside is None else [out, Source("job.err", data=_WORK.encode())]
    assert engine.diagnose(sources).verdict == verdict


def test_who_asks_a_debugger_where_threads_are_has_seen_a_job_stand_still(engine: Engine) -> None:
    steps = "".join(f"iteration {n}/ 900 | lm loss: 2.1{n} |\n" for n in range(8))
    stack = (
        "[Thread debugging using libthread_db enabled]\n"
        'Thread 16 (Thread 0x7f083d7fe000 (LWP 1707) "loop"):\n'
        "#0  0x00007f95814e3e5d in sched_yield () from /lib64/libc.so.6\n"
    )
    assert engine.diagnose_sources([Source("main.log", data=steps.encode())]).verdict == "healthy"
    both = [Source("main.log", data=steps.encode()), Source("rank0.bt", data=stack.encode())]
    assert engine.diagnose_sources(both).verdict == "inconclusive"


_LOST = (
    "[2025-07-03 08:12:45 TP1] Decode transfer failed for request rank=1 decode_req.req.rid='a1' "
    "decode_req.req.bootstrap_room=77 with exception KVTransferError(bootstrap_room=77): Failed to get kvcache "
    "from prefill instance, it might be dead\n"
)
_ANSWERED = '[2025-07-03 08:13:02] INFO:     10.0.0.7:4021 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
_WORKED = (
    "[2025-07-03 08:13:09 TP0] Decode batch. #running-req: 2, #token: 900, token usage: 0.01, "
    "gen throughput (token/s): 41.20, #queue-req: 0\n"
)


@pytest.mark.parametrize(
    ("rest", "verdict"),
    [
        (_ANSWERED + _WORKED, "healthy"),
        (_ANSWERED, "failed"),
        (_WORKED.replace("08:13:09", "08:12:01"), "failed"),
        (_ANSWERED + _WORKED + _LOST.replace("08:12:45", "08:13:40"), "failed"),
    ],
)
def test_a_server_that_lost_a_request_and_answers_others(engine: Engine, rest: str, verdict: str) -> None:
    before = _WORKED.replace("08:13:09", "08:11:50")
    assert engine.diagnose(Source("decode.log", data=(before + _LOST + rest).encode())).verdict == verdict


@pytest.mark.parametrize(("level", "verdict"), [("ERROR", "healthy"), ("FATAL", "failed")])
def test_what_a_logger_of_somebody_s_own_reported_is_caught(engine: Engine, level: str, verdict: str) -> None:
    steps = "".join(
        f"2026-11-22 18:35:{n:02d},903|{n % 3}|INFO|epoch {n // 3} val 0.{n}\n" for n in range(30)
    )
    early, late = steps[: len(steps) // 3], steps[len(steps) // 3 :]
    error = (
        f"2026-11-22 18:35:10,950|1|{level}|tensorboard writer failed, disabling it\n"
        "Traceback (most recent call last):\n"
        '  File "/home/ok/es.py", line 9, in <module>\n'
        "    writer.flush()\n"
        "OSError: [Errno 28] No space left on device: '/tmp/tb/events.out'\n"
    )
    rest = late if level == "ERROR" else ""
    assert engine.diagnose(Source("job.log", data=(early + error + rest).encode())).verdict == verdict


def test_a_thread_that_died_and_a_program_that_wrote_its_results(engine: Engine) -> None:
    work = "".join(f"td{r % 2} {r}: rank{r} {n}/60\n" for n in (0, 20) for r in (2, 0, 1, 3))
    frames = (
        "td0 2: Exception in thread heartbeat:\n"
        "td0 2: Traceback (most recent call last):\n"
        'td0 2:   File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner\n'
        "td0 2:     self.run()\n"
        'td0 2:   File "/home/ok/td.py", line 6, in beat\n'
        "td0 2:     push(gateway)\n"
        "td0 2: ConnectionRefusedError: [Errno 111] Connection refused: metrics gateway 10.0.0.9:9091\n"
    )
    rest = "".join(f"td{r % 2} {r}: rank{r} 60/60 finished, wrote results_{r}.json\n" for r in (2, 0, 1, 3))
    assert engine.diagnose(Source("job.log", data=(work + frames + rest).encode())).verdict == "healthy"
    assert engine.diagnose(Source("job.log", data=(work + frames).encode())).verdict == "failed"


@pytest.mark.parametrize(("what", "verdict"), [("; halving eval batch to 16", "healthy"), ("", "failed")])
def test_python_s_own_warning_of_what_was_done_instead(engine: Engine, what: str, verdict: str) -> None:
    log = (
        f"/home/ok/t.py:8: UserWarning: r1: CUDA out of memory. Tried to allocate 4.00 GiB{what}\n"
        "  warnings.warn(text)\n"
        "r1 eval 0 ppl 20.00 (bs 16)\nr1 eval 1 ppl 19.00 (bs 16)\nr1 finished 2 evals\n"
    )
    assert engine.diagnose(Source("job.log", data=log.encode())).verdict == verdict


def test_so_many_of_what_it_makes_are_an_end(engine: Engine) -> None:
    counts = "".join(
        f"t={n * 30:4d}s fetched={n * 800} failed={n % 7} timeouts={n % 3} aborted=0\n" for n in range(12)
    )
    warned = "WARNING 3 hosts unreachable for the whole run: a.example, b.example, c.example\n"
    log = counts + warned + "wrote 16200 pages to crawl.jsonl\n"
    assert engine.diagnose(Source("job.log", data=log.encode())).verdict == "healthy"


_CONTROLLER = "(ServeController pid=60) INFO 2026-02-21 08:{time},101 controller 60 -- "
_UP = "Replica(id='x2', deployment='LLMServer', app='llm') started successfully on node '9c' after 41.1s (PID: 9102).\n"


@pytest.mark.parametrize(
    ("replica", "answer", "verdict"),
    [
        (_CONTROLLER.format(time="15:01") + _UP, "-- CALL chat OK 210.1ms", "healthy"),
        (_CONTROLLER.format(time="15:01") + "Adding 1 replica to Deployment(name='LLMServer', app='llm').\n",
         "-- CALL chat OK 210.1ms", "failed"),
        (_CONTROLLER.format(time="15:01") + _UP, "-- CALL chat ERROR 2.1ms", "failed"),
    ],
)  # fmt: skip
def test_a_service_that_replaced_what_it_lost(
    engine: Engine, replica: str, answer: str, verdict: str
) -> None:
    call = "(ServeReplica:llm:LLMServer pid=811) INFO 2026-02-21 08:{time},101 llm_LLMServer x1 80c3f63a {answer}\n"
    log = (
        call.format(time="10:10", answer="-- CALL chat OK 210.1ms")
        + "(raylet, ip=10.0.0.4) A worker died or was killed while executing a task by an unexpected system error. To "
        "troubleshoot the problem, check the logs for the dead worker. RayTask ID: ff77 Worker ID: 81 Node ID: 9c Worker "
        "IP address: 10.0.0.4 Worker port: 10022 Worker PID: 8121 Worker exit type: SYSTEM_ERROR Worker exit detail: "
        "Worker unexpectedly exits with a connection error code 2. End of file.\n"
        + replica
        + call.format(time="16:10", answer=answer)
    )
    assert engine.diagnose(Source(name="serve.log", data=log.encode())).verdict == verdict


_SERVED = (
    "(APIServer pid=1) INFO:     Application startup complete.\n"
    "(APIServer pid=1) INFO 05-28 14:42:10 [loggers.py:127] Engine 000: Avg prompt throughput: 901.1 tokens/s, Avg "
    "generation throughput: 211.4 tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 2.1%\n"
)
_WAITS = "".join(
    f"(EngineCore_DP{engine} pid=145{engine}) INFO 05-28 14:{minute}:28 [shm_broadcast.py:681] No available shared memory "
    "broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some "
    "time-consuming work (e.g. compilation, weight/kv cache quantization).\n"
    for minute in range(44, 48) for engine in (0, 1)
)  # fmt: skip


@pytest.mark.parametrize(
    ("log", "verdict"),
    [(_SERVED + _WAITS, "failed"), (_WAITS + _SERVED, "healthy"), (_SERVED + _WAITS + _SERVED, "healthy")],
)
def test_an_engine_that_waits_for_its_workers_to_the_end(engine: Engine, log: str, verdict: str) -> None:
    diagnosis = engine.diagnose(Source(name="serve.log", data=log.encode()))
    assert diagnosis.verdict == verdict
    if verdict == "failed":
        assert diagnosis.root_cause is not None
        assert diagnosis.root_cause.category == "straggler-or-hang"


def test_what_was_refused_at_the_beginning_is_got_over_where_the_other_log_counts_work(
    engine: Engine,
) -> None:
    refused = Source(
        "job.err", data=b"starting 4 processes\nlibnuma: Warning: node argument 1 is out of range\n"
    )
    work = "".join(f"kiln: tile {n} fired, {80 + n % 7} C\n" for n in range(40))
    assert engine.diagnose([refused, Source("job.out", data=work.encode())]).verdict == "healthy"
    idle = "reading settings\nstarting the kilns\n"
    assert engine.diagnose([refused, Source("job.out", data=idle.encode())]).verdict == "failed"


def test_a_server_whose_engine_signalled_its_end_answers_in_vain(engine: Engine) -> None:
    lost = (
        "ERROR 04-08 04:00:01 [core.py:390] EngineCore hit an exception: Traceback (most recent call last):\n"
        'ERROR 04-08 04:00:01 [core.py:390]   File "/opt/site-packages/ray/air/config.py", line 17, in <module>\n'
        "ERROR 04-08 04:00:01 [core.py:390]     import pyarrow.fs\n"
        "ERROR 04-08 04:00:01 [core.py:390] ModuleNotFoundError: No module named 'pyarrow'\n"
    )
    signal = "CRITICAL 04-08 04:00:01 [core_client.py:361] Got fatal signal from worker processes, shutting down. See above.\n"
    answers = 'INFO:     10.0.0.5:51022 - "GET /health HTTP/1.1" 200 OK\n' * 4
    diagnosis = engine.diagnose(Source("server.log", data=(lost + signal + answers).encode()))
    assert diagnosis.verdict == "failed"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "driver-or-version"


def test_a_server_that_says_its_engine_is_dead(engine: Engine) -> None:
    log = (
        "ERROR 10-04 20:05:26 client.py:244] TimeoutError('No heartbeat received from MQLLMEngine')\n"
        "CRITICAL 10-04 20:05:29 launcher.py:99] MQLLMEngine is already dead, terminating server process\n"
        'INFO:     10.0.0.8:48590 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error\n'
        "INFO:     Shutting down\nINFO:     Application shutdown complete.\nINFO:     Finished server process [54]\n"
    )
    diagnosis = engine.diagnose(Source("server.log", data=log.encode()))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "straggler-or-hang"


def test_an_extension_that_is_skipped_stops_nothing(engine: Engine) -> None:
    log = (
        "[2025-04-20 14:03:03] Skipping import of cpp extensions: /opt/site-packages/torchao/_C.abi3.so: undefined symbol: _ZN3c10\n"
        "[2025-04-20 14:03:12 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/opt/site-packages/sglang/srt/managers/scheduler.py", line 2311, in run_scheduler_process\n'
        "    scheduler = Scheduler(server_args, port_args)\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 114.00 MiB. GPU 0 has a total capacity of 15.58 GiB"
        " of which 54.38 MiB is free.\n"
    )
    diagnosis = engine.diagnose(Source("server.log", data=log.encode()))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "gpu-oom"


ANSWERED = 'INFO:     127.0.0.1:4{0}820 - "POST /chat/completions HTTP/1.1" 200 OK\n'
BROKE_OFF = (
    "ERROR:    Exception in ASGI application\n"
    "Traceback (most recent call last):\n"
    '  File "/srv/chat/engine.py", line 151, in sample\n'
    "    choice = torch.multinomial(probs, num_samples=1)\n"
    "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0\n"
)
SERVES_CHATS = "INFO:     Application startup complete.\n"
LEFT_IN_ORDER = "INFO:     Shutting down\nINFO:     Application shutdown complete.\nINFO:     Finished server process [77]\n"


@pytest.mark.parametrize(("answers", "verdict"), [(1, "failed"), (4, "healthy")])
def test_a_server_whose_every_answer_breaks_off_serves_nobody(
    engine: Engine, answers: int, verdict: str
) -> None:
    """A stream says 200 before it begins: of an answer for each failure none has come through."""
    turn = "".join(ANSWERED.format(n) for n in range(answers))
    log = SERVES_CHATS + (turn + BROKE_OFF) * 2 + LEFT_IN_ORDER
    assert engine.diagnose(Source("server.log", data=log.encode())).verdict == verdict


def test_the_lines_of_a_crash_s_report_are_no_sign_of_life(engine: Engine) -> None:
    """A collector puts every line of a process into a record of level info, the interpreter's last words too."""
    words = [
        *(f"step {step} loss 2.3" for step in range(4)),
        "Fatal Python error: Segmentation fault",
        "",
        "Current thread 0x00007f1c2b7fe640 (most recent call first):",
        '  File "/app/ops.py", line 33 in fused',
        '  File "/app/train.py", line 187 in main',
    ]
    records = [
        json.dumps({"ts": f"2026-10-02T08:00:{at:02d}Z", "rank": 2, "level": "INFO", "msg": said})
        for at, said in enumerate(words)
    ]
    found = engine.diagnose("\n".join(records).encode())
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.origin.rank == 2
