"""What proves that a job got over an error, and what only looks like it."""

from __future__ import annotations

import pytest

from triage import Engine, Source

BAR = "\rTraining:  {0}%|##        | {0}/100 [00:01<00:10,  9.01it/s]"
ERROR = (
    "Traceback (most recent call last):\n"
    '  File "/workspace/train.py", line 3, in <module>\n'
    "    main()\n"
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard_0003.npy'\n"
)


def test_a_bar_that_is_drawn_once_more_is_no_progress(engine: Engine) -> None:
    log = BAR.format(7) + "\n" + ERROR + BAR.format(7) + "\n"
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "failed"


def test_a_bar_that_moves_on_is_progress(engine: Engine) -> None:
    log = BAR.format(7) + "\n" + ERROR + "".join(BAR.format(n) + "\n" for n in range(8, 20))
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "healthy"


@pytest.mark.parametrize(
    ("rest", "verdict"), [("", "healthy"), ("step 1 loss 4.1\nstep 2 loss 4.0\n", "failed")]
)
def test_the_good_end_of_an_earlier_run_is_not_this_one_s(engine: Engine, rest: str, verdict: str) -> None:
    out = (
        "step 1 loss 4.1\nstep 2 loss 4.0\n{'train_runtime': '1.102', 'train_samples_per_second': '145.2', "
        "'train_steps_per_second': '18.16', 'train_loss': '5.391', 'epoch': '1.667'}\n"
    )
    sources = [Source("job.out", data=(out + rest).encode()), Source("job.err", data=ERROR.encode())]
    assert engine.diagnose(sources).verdict == verdict


@pytest.mark.parametrize(("last", "verdict"), [("", "healthy"), ("gives up", "failed")])
def test_a_controller_that_gives_up_later_got_over_nothing(engine: Engine, last: str, verdict: str) -> None:
    who = "(ServeController pid=4532) "
    log = (
        f"{who}Traceback (most recent call last):\n"
        f'{who}  File "/opt/venv/lib/python3.11/site-packages/ray/_private/worker.py", line 2849, in get\n'
        f"{who}    values = worker.get_objects(refs)\n"
        f"{who}ModuleNotFoundError: No module named 'my_app'\n"
        f"{who}INFO 2025-11-04 13:15:53,560 controller 4532 -- Replica(id='03l9', deployment='app') is stopped.\n"
        f"{who}INFO 2025-11-04 13:15:54,560 controller 4532 -- Starting Replica(id='04aa', deployment='app').\n"
    )
    if last:
        log += f"{who}ERROR 2025-11-04 13:16:40,112 controller 4532 -- The deployment failed to start 3 times in a row.\n"
    found = engine.diagnose(Source("serve.log", data=log.encode()))
    assert found.verdict == verdict
    if last:
        assert found.root_cause is not None and found.root_cause.rule_id == "python.module-missing"


@pytest.mark.parametrize(
    ("result", "verdict"), [("2 passed in 31.10s", "healthy"), ("1 failed, 1 passed in 31.10s", "failed")]
)
def test_a_test_may_want_a_process_to_fail(engine: Engine, result: str, verdict: str) -> None:
    log = (
        "test_collectives.py::test_failure_is_reported \n\n-- Process 0 terminated with the following error:\n"
        + ERROR
        + f"\nPASSED\n\n============================== {result} ==============================\n"
    )
    assert engine.diagnose(Source("pytest.log", data=log.encode())).verdict == verdict


FINISHED = "step 99 loss 2.1\n{'train_runtime': '1.102', 'train_samples_per_second': '145.2', 'train_loss': '5.391', 'epoch': '3.0'}\n"
FULL = "\r100%|##########| 100/100 [00:11<00:00,  9.01it/s]\n"


@pytest.mark.parametrize(
    ("before", "verdict"), [("", "healthy"), (FULL, "failed"), (BAR.format(7), "healthy")]
)
def test_what_ends_the_job_after_a_full_bar_came_after_the_training(
    engine: Engine, before: str, verdict: str
) -> None:
    sources = [
        Source("job.out", data=(FINISHED + "== evaluation ==\n").encode()),
        Source("job.err", data=(before + ERROR).encode()),
    ]
    assert engine.diagnose(sources).verdict == verdict


def logged(number: int, pid: int) -> str:
    """An exception that a worker of Ray logs and goes on from."""
    head = f"(Player pid={pid}) "
    return (
        f"{head}ERROR:2026-03-01 10:00:{number:02d},000:Traceback (most recent call last):\n"
        f'{head}  File "/w/env.py", line 270, in act\n{head}    x, y = parse(text)\n'
        f"{head}TypeError: cannot unpack non-iterable NoneType object\n{head}sample {number} is skipped\n"
    )


def test_exceptions_that_are_logged_again_and_again_are_caught(engine: Engine) -> None:
    driver = "(Driver pid=9) step:{0} - loss:0.{0} - lr:1e-06\n"
    often = "".join(logged(n, 70 + n % 2) for n in range(8))
    log = often + driver.format(1) + often + driver.format(2) + often
    found = engine.diagnose(Source("train.log", data=log.encode()))
    assert found.verdict == "healthy"
    assert found.warnings
    once = engine.diagnose(Source("train.log", data=(driver.format(1) + logged(1, 70)).encode()))
    assert once.verdict == "failed"


NO_CUDA = (
    "/opt/v/lib/python3.11/site-packages/torch/cuda/__init__.py:182: UserWarning: CUDA initialization: CUDA unknown error - "
    "this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start. "
    "Setting the available devices to be zero. (Triggered internally at /pytorch/c10/cuda/CUDAFunctions.cpp:119.)\n"
    "  return torch._C._cuda_getDeviceCount() > 0\n"
)
MAPPED = "".join(f"Map: {n}0%|##| {n}0/100 [00:0{n}<00:05, 9.1 examples/s]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("ValueError: this model needs a GPU, and none is there", "torch.cuda-unknown-error"),
        ("KeyError: 'prompt'", "unknown.user-code"),
    ],
)
def test_work_without_a_gpu_does_not_show_that_cuda_works(engine: Engine, said: str, rule: str) -> None:
    raised = (
        f'Traceback (most recent call last):\n  File "/w/train.py", line 9, in main\n    build()\n{said}\n'
    )
    root = engine.diagnose(Source("job.err", data=(NO_CUDA + MAPPED + raised).encode())).root_cause
    assert root is not None
    assert root.rule_id == rule


def test_what_python_ignored_once_it_ignores_each_time(engine: Engine) -> None:
    def ignored(head: str, number: int) -> str:
        return (
            f"{head}Traceback (most recent call last):\n"
            '  File "/opt/v/lib/python3.8/site-packages/robosuite/utils/binding_utils.py", line 199, in __del__\n    self.gl_ctx.free()\n'
            '  File "/opt/v/lib/python3.8/site-packages/OpenGL/error.py", line 230, in glCheckError\n    raise self._errorClass(\n'
            f"OpenGL.raw.EGL._errors.EGLError: EGLError(\n\terr = EGL_NOT_INITIALIZED,\n\tresult = {number}\n)\n"
        )

    head = "Exception ignored in: <function Context.__del__ at 0x7f3c>\n"
    log = "".join(ignored(head if n != 2 else "episode 2 is over\n", n) for n in range(5))
    log += "episode 5 is over\n" + ERROR.replace("FileNotFoundError", "FileExistsError").replace(
        "2] No such file or directory", "17] File exists"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert "File exists" in root.evidence[0].text


def test_a_rule_counts_only_what_its_own_condition_lets_stand(engine: Engine) -> None:
    idle = (
        "(APIServer pid=1) INFO 04-15 09:{0:02d}:22 [loggers.py:259] Engine 000: Avg prompt throughput: 0.0 tokens/s, "
        "Avg generation throughput: 0.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%\n"
    )
    busy = idle.replace("generation throughput: 0.0", "generation throughput: 31.5")
    stalled = "".join(idle.format(n) for n in range(2, 20))
    assert engine.diagnose(Source("s.log", data=(busy.format(1) + stalled).encode())).verdict == "failed"
    served = engine.diagnose(Source("s.log", data=(busy.format(1) + stalled + busy.format(21)).encode()))
    assert served.verdict == "healthy"


AT_EXIT = (
    "{0}: Exception ignored in atexit callback: <function update_table at 0x7f1{0}a46a7060>\n"
    "{0}: Traceback (most recent call last):\n"
    '{0}:   File "/opt/v/lib/python3.11/site-packages/deepspeed/ops/matmul_ext.py", line 105, in put\n'
    '{0}:     os.replace(self.file_path + ".tmp", self.file_path)\n'
    "{0}: FileNotFoundError: [Errno 2] No such file or directory: '/home/u/.triton/k.pickle.tmp' -> '/home/u/.triton/k.pickle'\n"
)


def left(*ranks: int) -> str:
    """What torch says of ranks that leave in order."""
    return "".join(
        f"{rank // 2}: [rank{rank}]:[W324 15:10:1{rank}.933137641 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT "
        "been destroyed before we destruct ProcessGroupNCCL.\n"
        for rank in ranks
    )


GONE = (
    "1: W0324 15:10:26.176000 538977 torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:1331] The node 'gpu-07_538977_0' "
    "has failed to send a keep-alive heartbeat to the rendezvous '1365' due to an error of type RendezvousTimeoutError.\n"
)


def test_what_goes_wrong_at_exit_is_no_failure(engine: Engine) -> None:
    launched = "".join(
        f"{n}: W0324 15:01:00.000000 9{n} torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable "
        "for each process to be 1 in default\n"
        for n in (0, 1)
    )
    steps = "".join(f"0: step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(1, 6))
    log = launched + steps + AT_EXIT.format(0) + AT_EXIT.format(1) + left(0, 1, 2, 3) + GONE
    assert engine.diagnose(Source("run.log", data=log.encode())).verdict == "healthy"
    raised = (
        '0: [rank1]: Traceback (most recent call last):\n0: [rank1]:   File "/w/train.py", line 9, in main\n'
        "0: [rank1]: ValueError: min() arg is an empty sequence\n"
    )
    failed = launched + steps + AT_EXIT.format(0) + AT_EXIT.format(1) + raised + left(0, 1, 2, 3) + GONE
    root = engine.diagnose(Source("run.log", data=failed.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 1)


@pytest.mark.parametrize(("step", "verdict"), [(0, "failed"), (58, "healthy")])
def test_only_the_tracker_speaks_after_a_process_that_was_killed(
    engine: Engine, step: int, verdict: str
) -> None:
    log = (
        "[2026-03-01 21:51:16] Memory pool end. avail mem=12.49 GB\n"
        f"Capturing batches (bs=8 avail_mem=11.78 GB): {step * 100 // 58:3d}%|    | {step}/58 [00:09<00:30, 1.51it/s]"
        "/usr/lib/python3.12/multiprocessing/resource_tracker.py:279: UserWarning: resource_tracker: There appear to be "
        "1 leaked semaphore objects to clean up at shutdown: {'/mp-x1'}\n  warnings.warn('resource_tracker: There appear to be %d '\n"
    )
    found = engine.diagnose(Source("sglang.log", data=log.encode()))
    assert found.verdict == verdict


def test_who_cancelled_a_job_is_told_by_slurm(engine: Engine) -> None:
    log = (
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
        "1: W0323 12:22:09.130000 408946 torch/distributed/elastic/agent/server/api.py:704] "
        "Received 15 death signal, shutting down workers\n"
        "0: slurmstepd: error: *** STEP 1215.0 ON gpu-a01 CANCELLED AT 2026-03-23T12:22:09 ***\n"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, "STEP 1215.0" in root.evidence[0].text) == ("scheduler", True)


def test_bars_that_were_only_counted_are_not_drawn_after_an_error(engine: Engine) -> None:
    """A flood of bars is counted without a look at each; the one more after the error is drawn on the way out."""
    flood = "".join(
        f"\r {n % 100:3d}%|##        | {n % 100}/100 [00:{n % 60:02d}<00:10,  {n % 9}.01it/s]\n"
        for n in range(4000)
    )
    last = "\r  50%|#####     | 50/100 [00:26<00:26,  5.22s/it]\n"
    log = flood + "\r  50%|#####     | 50/100 [00:21<00:22,  4.43s/it]" + ERROR + last
    assert engine.diagnose(Source("job.out", data=log.encode())).verdict == "failed"


def test_a_bar_that_is_drawn_twice_as_it_stood_is_no_progress(engine: Engine) -> None:
    memory = (
        ERROR.rpartition("FileNotFound")[0]
        + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB.\n"
    )
    log = "loading weights\n" + BAR.format(0) + "\n" + memory + BAR.format(0) + "\n" + BAR.format(0) + "\n"
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "failed"


def test_a_server_whose_engine_died_says_goodbye_as_one_that_was_asked_to(engine: Engine) -> None:
    log = (
        "(APIServer pid=71) INFO 03-04 10:00:01 [api_server.py:1772] vLLM API server version 0.12.0\n"
        '(APIServer pid=71) INFO:     10.0.0.7:40210 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
        "(APIServer pid=71) ERROR 03-04 12:40:09 [core_client.py:600] Engine core proc EngineCore_DP0 died unexpectedly, "
        "shutting down client.\n"
        "(APIServer pid=71) ERROR 03-04 12:40:09 [async_llm.py:546] vllm.v1.engine.exceptions.EngineDeadError: EngineCore "
        "encountered an issue. See stack trace (above) for the root cause.\n"
        "(APIServer pid=71) INFO:     Shutting down\n"
        "(APIServer pid=71) INFO:     Waiting for application shutdown.\n"
        "(APIServer pid=71) INFO:     Application shutdown complete.\n"
        "(APIServer pid=71) INFO:     Finished server process [71]\n"
    )
    found = engine.diagnose(Source("server.log", data=log.encode()))
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "vllm.engine-died"


def test_what_was_skipped_with_a_word_did_not_end_the_run(engine: Engine) -> None:
    skipped = (
        "[skip] Failed to load net-c.ckpt: Attempting to deserialize object on CUDA device 5 but torch.cuda.device_count() "
        "is 2. Please use torch.load with map_location to map your storages to an existing device.\n"
    )
    begin, end = "evaluating 3 files\n", "compared 2 of them\nSaved summary results to out/summary.csv\n"
    found = engine.diagnose(Source("eval.out", data=(begin + skipped + end).encode()))
    assert found.verdict == "healthy"


def test_a_good_end_that_is_said_again_after_an_error_is_another_run_s(engine: Engine) -> None:
    end = "INFO:tensorflow:prediction_loop marked as finished\n"
    assert engine.diagnose(Source("nohup.out", data=(end + ERROR + end).encode())).verdict == "healthy"
    assert engine.diagnose(Source("nohup.out", data=(end + ERROR).encode())).verdict == "failed"


@pytest.mark.parametrize(("command", "category"), [("conda", "scheduler"), ("torchrun", "config")])
def test_a_script_goes_on_without_its_environment_and_not_without_its_launcher(
    engine: Engine, command: str, category: str
) -> None:
    lost = f"/var/spool/slurmd/job4411/slurm_script: line 7: {command}: command not found\n"
    work = "".join(BAR.format(n) + "\n" for n in range(8, 20)) if command == "conda" else ""
    stop = "slurmstepd: error: *** JOB 4411 ON gpu-b07 CANCELLED AT 2026-03-04T11:09:30 ***\n"
    root = engine.diagnose(Source("slurm-4411.out", data=(lost + work + stop).encode())).root_cause
    assert root is not None
    assert root.category == category


@pytest.mark.parametrize(("why", "category"), [(" DUE TO PREEMPTION", "scheduler"), ("", "data-loading")])
def test_a_job_that_makes_room_for_another_was_at_work(engine: Engine, why: str, category: str) -> None:
    stop = f"slurmstepd: error: *** JOB 4411 ON gpu-b07 CANCELLED AT 2026-03-04T11:09:30{why} ***\n"
    lost = ERROR.replace(".npy", ".jsonl")
    root = engine.diagnose(
        Source("slurm-4411.err", data=(BAR.format(7) + "\n" + lost + stop).encode())
    ).root_cause
    assert root is not None
    assert root.category == category


@pytest.mark.parametrize(
    ("step", "after", "verdict"),
    [(609, "", "failed"), (609, "best epoch was 12\n", "healthy"), (6848, "", "healthy")],
)
def test_only_the_tracker_speaks_after_an_epoch_that_broke_off(
    engine: Engine, step: int, after: str, verdict: str
) -> None:
    bars = "".join(
        f"      1/100        15G      3.5{n % 10}      8.98        212        800: {n * 100 // 6848}% ━────── {n}/6848 2.6it/s 3:40<39:22\n"
        for n in range(step - 5, step + 1)
    )
    log = (
        bars
        + "/usr/lib/python3.12/multiprocessing/resource_tracker.py:279: UserWarning: resource_tracker: There appear to be "
        "88 leaked semaphore objects to clean up at shutdown\n  warnings.warn('resource_tracker: There appear to be %d '\n"
        + after
    )
    assert engine.diagnose(Source("train.log", data=log.encode())).verdict == verdict


SERVED = (
    "INFO 03-09 21:34:2{0} [loggers.py:236] Engine 000: Avg prompt throughput: 531.6 tokens/s, Running: 1 reqs\n"
    '(APIServer pid=77) INFO:     127.0.0.1:445{0}0 - "POST /v1/completions HTTP/1.1" 200 OK\n'
)
LEAVES = (
    "(APIServer pid=77) INFO:     Shutting down\n(APIServer pid=77) INFO:     Waiting for application shutdown.\n"
    "(APIServer pid=77) INFO:     Application shutdown complete.\n(APIServer pid=77) INFO:     Finished server process [77]\n"
)
ENGINE = (
    "(APIServer pid=77) ERROR 03-09 21:40:47 [core_client.py:600] Engine core proc EngineCore_DP0 died unexpectedly, "
    "shutting down client.\n"
    "(APIServer pid=77) ERROR 03-09 21:40:47 [async_llm.py:546] vllm.v1.engine.exceptions.EngineDeadError: EngineCore "
    "encountered an issue. See stack trace (above) for the root cause.\n"
)


@pytest.mark.parametrize(("engine_died", "verdict"), [("", "healthy"), (ENGINE, "failed")])
def test_a_server_that_lost_its_engine_closes_in_order(
    engine: Engine, engine_died: str, verdict: str
) -> None:
    log = "".join(SERVED.format(n) for n in range(6)) + engine_died + LEAVES
    assert engine.diagnose(Source("vllm.log", data=log.encode())).verdict == verdict


def test_what_native_code_printed_is_got_over_with_the_exception_that_repeats_it(engine: Engine) -> None:
    printed = "CUDA Error: out of memory at /src/pump_allocator.cpp:139\n"
    lead = "(EngineCore pid=81) ERROR 03-09 21:35:01 [core.py:1365] "
    passed_on = (
        f"{lead}Invocation of wake_up method failed\n{lead}Traceback (most recent call last):\n"
        f'{lead}  File "/opt/engine/core.py", line 13, in call\n{lead}    wake()\n{lead}RuntimeError: {printed}'
    )
    goes_on = "".join(
        f"(EngineCore pid=81) INFO 03-09 21:36:0{n} [pool.py:482] reset prefix cache {n}\n" for n in range(4)
    )
    before = "".join(SERVED.format(n) for n in range(3))
    log = before + printed + passed_on + goes_on
    assert engine.diagnose(Source("vllm.log", data=log.encode())).verdict == "healthy"
    assert engine.diagnose(Source("vllm.log", data=(before + printed + goes_on).encode())).verdict == "failed"


def test_workers_are_counted_one_by_one(engine: Engine) -> None:
    def left(codes: list[int]) -> str:
        lines = (
            f"[2026-03-01 10:12:0{n}] INFO packer: worker {n} exited with {code}\n"
            for n, code in enumerate(codes)
        )
        return "".join(lines) + "[2026-03-01 10:12:09] INFO packer: wrote the list of parts\n"

    assert engine.diagnose(Source("pack.log", data=left([0, 0, 0, 0]).encode())).verdict == "healthy"
    assert engine.diagnose(Source("pack.log", data=left([0, 0, -9, 0]).encode())).verdict == "failed"


@pytest.mark.parametrize(("after", "verdict"), [(0, "failed"), (3, "healthy")])
def test_a_monitor_that_sees_no_more_steps(engine: Engine, after: int, verdict: str) -> None:
    step = "[trainer] step {0:05d} loss=0.{0:04d} tok/s=81234\n"
    log = "".join(step.format(n) for n in range(1, 30))
    log += "".join(f"[monitor] {n * 60}s since the last step\n" for n in range(1, 12))
    log += "".join(step.format(n) for n in range(30, 30 + after))
    assert engine.diagnose(Source("train.log", data=log.encode())).verdict == verdict


def test_time_that_a_command_was_given(engine: Engine) -> None:
    log = "".join(f"well {n} of 40 was measured, depth {n + 3} m\n" for n in range(9))
    over = log + "timeout: sending signal TERM to command \u2018measure\u2019\n"
    root = engine.diagnose(Source("job.log", data=over.encode())).root_cause
    assert root is not None
    assert root.category == "scheduler"
    assert engine.diagnose(Source("job.log", data=log.encode())).verdict == "healthy"


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        ("Training complete.\nERROR: lost the valve of the next stage, giving up\n", "failed"),
        ("ERROR: lost the valve for a while\nTraining complete.\n", "healthy"),
    ],
)
def test_what_is_said_below_a_good_end_is_of_what_came_after(engine: Engine, log: str, verdict: str) -> None:
    steps = "".join(f"step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(1, 9))
    assert engine.diagnose(Source("job.log", data=(steps + log).encode())).verdict == verdict


def test_what_was_complained_of_again_and_again_while_work_went_on_ended_nothing(engine: Engine) -> None:
    complaint = (
        "sums over cpu not possible (No backend type associated with device type cpu), taking the other way\n"
    )
    steps = [f"step {n}0 loss 0.{9 - n}\n" for n in range(1, 5)]
    log = "".join(step + complaint for step in steps)
    receipt = Source(
        "receipt.json", data=b'{"run_id": "r-1", "launch": {"world_size": 1}, "returncodes": [0]}'
    )
    for more in ([], [receipt]):
        found = engine.diagnose([Source("rank0.log", data=(log + "saved, over\n").encode()), *more])
        assert found.verdict == "healthy"
    assert engine.diagnose([Source("rank0.log", data=log.encode())]).verdict != "healthy"


def test_what_nccl_says_while_an_interpreter_ends_is_no_failure(engine: Engine) -> None:
    leaving = (
        "[rank0]:[W1121 08:10:00.434206356 ProcessGroupNCCL.cpp:1575] Warning: WARNING: destroy_process_group() was not called "
        "before program exit, which can leak resources.\n"
    )
    error = (
        "[rank0]:[E1121 08:10:00.435387082 ProcessGroupNCCL.cpp:612] [Rank 0] Collective WorkNCCL(SeqNum=43, OpType=COALESCED, "
        "NumelIn=0, NumelOut=0, Timeout(ms)=60000) raised the following async exception: NCCL error: unhandled system error "
        "(run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9\n"
    )
    steps = "".join(f"step {n} loss 0.{n}\n" for n in range(1, 6))
    assert engine.diagnose(Source("job.log", data=(steps + leaving + error).encode())).verdict != "failed"
    assert engine.diagnose(Source("job.log", data=(steps + error).encode())).verdict == "failed"


def test_a_chain_of_exceptions_that_a_logger_quotes_is_of_its_record(engine: Engine) -> None:
    log = (
        "2026-11-21 08:10:01,100 INFO     40 parts to do\n"
        "2026-11-21 08:10:02,100 ERROR    part 7 unreadable, left out\n"
        "multiprocessing.pool.RemoteTraceback: \n"
        '"""\n'
        "Traceback (most recent call last):\n"
        '  File "/srv/parts.py", line 12, in one\n'
        '    raise ValueError("no such part")\n'
        "ValueError: no such part\n"
        '"""\n'
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/parts.py", line 30, in main\n'
        "    pool.apply_async(one).get()\n"
        "ValueError: no such part\n"
        "2026-11-21 08:10:09,100 INFO     40 parts done, 1 left out\n"
    )
    logs = [Source(f"parts-{n}.log", data=log.encode()) for n in range(2)]
    assert engine.diagnose(logs).verdict == "healthy"


def test_a_script_that_is_content_with_anything_makes_no_failure_good(engine: Engine) -> None:
    failed = (
        "2026-11-21 08:10:00,579 - ERROR - [__main__:72] - Training failed: CUDA out of memory. Tried to allocate 512.00 MiB. "
        "GPU 0 has a total capacity of 79.15 GiB of which 91.00 MiB is free. Process 4711 has 78.20 GiB memory in use.\n"
    )
    content = "Training completed successfully!\n"
    steps = "".join(f"step {n} loss 0.{n}\n" for n in range(1, 6))
    assert engine.diagnose(Source("job.log", data=(failed + content).encode())).verdict == "failed"
    assert engine.diagnose(Source("job.log", data=(failed + steps + content).encode())).verdict == "healthy"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ('"POST /update_weights_from_distributed HTTP/1.1" 400 Bad Request', "failed"),
        ('"POST /v1/completions HTTP/1.1" 500 Internal Server Error', "failed"),
        ('"GET /metrics HTTP/1.1" 200 OK', "failed"),
        ("Finished server process [8]", "failed"),
        ('"POST /v1/completions HTTP/1.1" 200 OK', "healthy"),
    ],
)
def test_access_lines_that_tell_of_no_work(engine: Engine, answer: str, verdict: str) -> None:
    log = (
        "(Engine pid=8) [2025-11-04 12:50:00] Failed to update parameter online: The size of tensor a (76032) must match "
        "the size of tensor b (75968) at non-singleton dimension 0. The full weights of the ModelRunner are partially "
        f"updated. Please discard the whole weights.\n(Engine pid=8) [2025-11-04 12:50:01] INFO:     10.0.0.1:4 - {answer}\n"
    )
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == verdict


@pytest.mark.parametrize(
    ("steps", "end", "rule"),
    [
        (6000, "slurmstepd: error: *** JOB 7 ON gpu-03 CANCELLED AT 2026-01-06T04:52:18 ***", "slurm.cancelled-from-outside"),
        (6000, "srun: error: gpu-03: task 3: Exited with exit code 1", "unknown.user-code"),
        (60, "slurmstepd: error: *** JOB 7 ON gpu-03 CANCELLED AT 2026-01-06T04:52:18 ***", "unknown.user-code"),
    ],
)  # fmt: skip
def test_a_run_of_the_same_log_that_was_stopped_hours_later(
    engine: Engine, steps: int, end: str, rule: str
) -> None:
    failed = ERROR.replace(
        "FileNotFoundError: [Errno 2] No such file or directory: ", "ValueError: no stats in "
    )
    log = failed + "".join(
        f"Step {n}: grad_norm=0.2181, loss=0.0112, param_norm=1382.5\n" for n in range(steps)
    )
    found = engine.diagnose(Source("train.out", data=f"{log}{end}\n".encode()))
    assert found.root_cause is not None
    assert found.root_cause.rule_id == rule


AGENT = "1: W0324 13:46:04.745000 441213 site-packages/torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:1331] "
KEEPALIVE = (
    f"{AGENT}The node 'gpu-07_441213_0' has failed to send a keep-alive heartbeat to the rendezvous '1265' "
    "due to an error of type RendezvousTimeoutError.\n"
)
SHUTDOWN = (
    f"{AGENT}The node 'gpu-07_441213_0' has failed to shutdown the rendezvous '1265' due to an error of type "
    "RendezvousConnectionError.\n"
)


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        (KEEPALIVE + SHUTDOWN, "healthy"),
        (KEEPALIVE, "failed"),
        (KEEPALIVE + "srun: error: gpu-06: task 0: Exited with exit code 1\n" + SHUTDOWN, "failed"),
    ],
)
def test_an_agent_that_misses_the_rendezvous_when_it_is_through(
    engine: Engine, last: str, verdict: str
) -> None:
    steps = "".join(f"0: Iteration {n}: loss=8.{n}\n" for n in range(10, 99))
    log = f"{steps}0: === Summary over 90 iterations ===\n0: Step time: 1.57s\n{last}"
    assert engine.diagnose(Source("run.log", data=log.encode())).verdict == verdict


def test_a_long_table_of_a_bandwidth_test_comes_to_its_end(engine: Engine) -> None:
    begin = (
        "host:rank0.sendrecv_perf: Failed to modify UD QP to INIT on mlx5_0: Operation not permitted\n"
        "# nThread 1 nGpus 2 minBytes 8 maxBytes 1073741824 step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1\n"
        "#  Rank  0 Group  0 Pid 17 on  gpu-01 device  0 [0x83] NVIDIA A100 80GB PCIe\n"
    )
    row = "  1063256072     265814018     float     sum      -1    90955   11.69   11.69      0    90511   11.75   11.75    N/A\n"
    end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 10.3631\n#\n"
    whole, cut = begin + row * 1200 + end, begin + row * 1200
    assert engine.diagnose(Source("a.out", data=(whole + whole).encode())).verdict == "healthy"
    assert engine.diagnose(Source("b.out", data=(whole + cut).encode())).verdict == "failed"


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [
        ("Worker exits unexpectedly by a signal. SystemExit is raised. Exit code: 1. The process receives a SIGTERM.", "healthy"),
        ("Worker unexpectedly exits with a connection error code 2. End of file.", "failed"),
    ],
)  # fmt: skip
def test_a_worker_that_is_told_to_end_after_the_good_end_was_no_longer_needed(
    engine: Engine, reason: str, verdict: str
) -> None:
    log = (
        "".join(
            f"(TaskRunner pid=87) step:{n} - actor/pg_loss:-0.01{n} - timing_s/step:91.2\n"
            for n in range(1, 8)
        )
        + "(TaskRunner pid=87) (\"Final validation metrics: {'val-core/maths/reward/mean@1': 0.77}\")\n"
        "(TaskRunner pid=87) Training Progress: 100%|██████████| 7/7 [11:12<00:00, 96.1s/it]\n"
        "(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the "
        "problem, check the logs for the dead worker. RayTask ID: ff Worker ID: 9d Node ID: 5c Worker IP address: 10.0.0.9 "
        f"Worker port: 38191 Worker PID: 871 Worker exit type: SYSTEM_ERROR Worker exit detail: {reason}\n"
    )
    assert engine.diagnose(Source("job.log", data=log.encode())).verdict == verdict


def of_sample(pid: int, clock: str, *said: str) -> str:
    """A traceback that a worker of Ray logs of one sample."""
    lines = (
        f"ERROR:2026-03-01 {clock},953:Traceback (most recent call last):",
        '  File "/work/env.py", line 450, in update',
        "    self._act(text)",
        '  File "/work/env.py", line 266, in _act',
        '    raise ValueError(f"no action in: {text}")',
        *said,
    )
    return "".join(f"(LoopWorker pid={pid}) {line}\n" for line in lines)


STEP = "(TaskRunner pid=11) step:{0} - train/loss:0.4 - timing_s/step:91.2\n"


def test_what_a_program_logs_of_each_sample_is_caught_there_whatever_it_says(engine: Engine) -> None:
    log = "".join(
        STEP.format(n)
        + of_sample(21, f"10:0{n}:43", f"ValueError: no action in: sample {'abcdef'[n]}, which is long")
        for n in range(5)
    )
    # of lines that the console folds the exception's own may be lost
    log += of_sample(22, "10:05:43", "Click: (start='(7,9)')") + STEP.format(5) + STEP.format(6)
    found = engine.diagnose(Source("job.log", data=log.encode()))
    assert found.verdict == "healthy"
    once = STEP.format(0) + of_sample(21, "10:00:43", "ValueError: no action in: sample a, which is long")
    assert engine.diagnose(Source("job.log", data=once.encode())).verdict == "failed"


def test_a_complaint_of_many_rows_that_is_repeated_is_no_routine(engine: Engine) -> None:
    stall = (
        "[0]<stderr>:[2021-02-08 09:2{0}:02.101201: W /tmp/horovod/common/stall_inspector.cc:105] One or more tensors were "
        "submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for "
        "more than 60 seconds. \n[0]<stderr>:Missing ranks:\n[0]<stderr>:0: [HorovodBroadcast]\n"
        "[0]<stderr>:1: [HorovodBroadcast]\n[0]<stderr>:2: [HorovodBroadcast_Adam_conv1_bn_beta_m_0]\n"
    )
    log = "[0]<stdout>:166/166 - 12s 71ms/step - loss: 0.4012\n" + stall.format(6) + stall.format(7)
    found = engine.diagnose(Source("job.log", data=log.encode()))
    assert found.root_cause is not None
    assert (found.verdict, found.root_cause.category) == ("failed", "collective-desync")


WARNED = "[rank1]:W1122 18:21:44.986000 3061 torch/_dynamo/convert_frame.py:2147] "
GIVEN_BACK = "".join(
    f"{WARNED}{line}\n"
    for line in (
        "WON'T CONVERT forward /srv/train/ft.py line 7",
        "due to:",
        "Traceback (most recent call last):",
        '  File "/srv/train/ft.py", line 7, in lower',
        '    raise RuntimeError("cannot lower aten.gelu")',
        "torch._dynamo.exc.BackendCompilerFailed: backend='lower' raised:",
        "RuntimeError: cannot lower aten.gelu",
    )
)


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ("Epoch 1/4 rank 0 - loss: 0.9928\nEpoch 2/4 rank 1 - loss: 0.9856\n", "healthy"),
        ("", "failed"),
        (
            "Epoch 1/4 rank 0 - loss: 0.9928\n"
            "E1122 18:22:00.887000 1143 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) "
            "local_rank: 1 (pid: 3061) of binary: /opt/torch/bin/python\n",
            "failed",
        ),
    ],
)
def test_what_a_process_only_warned_of_is_survived_where_work_goes_on(
    engine: Engine, after: str, verdict: str
) -> None:
    assert engine.diagnose(Source("ft.log", data=(GIVEN_BACK + after).encode())).verdict == verdict


def test_threads_of_nccl_that_end_are_no_sign_that_a_program_goes_on(engine: Engine) -> None:
    log = (
        "gpu2:25169:25829 [2] NCCL INFO Connected all trees\n"
        "gpu2:25146:25854 [0] ib_plugin.c:1105 NCCL WARN NET/IB : Got completion from peer 10.0.35.1<49189> with error 4, "
        "opcode 5327, len 5327, vendor err 81 (Send)\n"
        "gpu2:25146:25854 [0] NCCL INFO transport/net.cc:1137 -> 6\n"
    ) + "".join(
        f"gpu{n}:{pid}:{pid + 700} [{dev}] NCCL INFO [Service thread] Connection closed by localRank {who}\n"
        for who in (0, 2, 3)
        for n, pid, dev in ((2, 25146, 0), (2, 25172, 1), (1, 27255, 0), (1, 27223, 1))
    )
    assert engine.diagnose(Source("all_reduce.log", data=log.encode())).verdict == "failed"
