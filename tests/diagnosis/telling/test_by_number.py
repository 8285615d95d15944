"""Whom a line means that has no rank: by a pid, by who says afterwards which process is gone, by the record around it."""

from __future__ import annotations

from triage import Engine, Source

WORKER = "(Worker_TP{0} pid={1}) INFO 09-02 11:22:1{0} [gpu_model_runner.py:2392] Model loading took 26.1 GiB and 88 seconds\n"
LOST = "(EngineCore_DP0 pid=1012) ERROR 09-02 11:31:09 [m.py:154] Worker proc VllmWorker-2 died unexpectedly, shutting down executor.\n"
SEGFAULT = '!!!!!!! Segfault encountered !!!!!!!\n  File "<unknown>", line 0, in ncclGroupEnd\n'
REMOTE = (
    "[rank{0}]:[E820 02:10:1{0}.100 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Process group "
    "watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL "
    "version 2.23.4\n"
)
DETAIL = (
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n"
    "Last error:\nNET/IB : Got completion from peer 10.4.0.11<47231> with status=12 opcode=0 len=0 vendor err 129 (Send) "
    "localGid fe80::ba59 remoteGids fe80::ba51 hca mlx5_3\n"
)


def origin(engine: Engine, log: str, **more: str) -> tuple[str, int | None]:
    texts = {"job.log": log, **{name.replace("_", "."): text for name, text in more.items()}}
    root = engine.diagnose([Source(name, data=text.encode()) for name, text in texts.items()]).root_cause
    assert root is not None
    return root.rule_id, root.origin.rank


def test_who_is_told_to_be_gone_said_the_last_words_without_a_name(engine: Engine) -> None:
    workers = "".join(WORKER.format(i, 1101 + i) for i in range(4))
    assert origin(engine, workers + SEGFAULT + LOST) == ("host.signal-handler", 2)


def test_of_several_that_crashed_one_told_to_be_gone_is_not_the_first(engine: Engine) -> None:
    workers = "".join(WORKER.format(i, 1101 + i) for i in range(4))
    assert origin(engine, workers + SEGFAULT + SEGFAULT + LOST) == ("host.signal-handler", None)


def test_words_that_all_may_have_said_are_not_of_the_one_told_to_be_gone(engine: Engine) -> None:
    workers = "".join(WORKER.format(i, 1101 + i) for i in range(4))
    failed = "Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:455 'an illegal memory access was encountered'\n"
    assert origin(engine, workers + failed * 4 + LOST)[1] is None
    assert origin(engine, workers + failed + LOST)[1] == 2


def test_several_that_met_the_same_among_others_are_all_told_of(engine: Engine) -> None:
    step = "[rank{0}]: step 20 loss 1.1\n"
    oom = (
        '[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File "/app/train.py", line 301, in <module>\n'
        "[rank{0}]:     loss.backward()\n[rank{0}]: OSError: [Errno 116] Stale file handle: '/nfs/cache/a.bin'\n"
    )
    log = "".join(step.format(r) for r in range(6)) + "".join(oom.format(r) for r in (4, 1))
    root = engine.diagnose([Source("job.log", data=log.encode())]).root_cause
    assert root is not None
    assert (root.origin.rank, root.origin.ranks) == (None, (4, 1))


def test_a_time_before_every_line_hides_no_rank_of_a_traceback(engine: Engine) -> None:
    stamp = "[2025-02-27T16:30:43.48675097Z] "
    log = (
        stamp + "[2025-02-27 16:30:43 TP11] Scheduler hit an exception: Traceback (most recent call last):\n"
        + stamp + '  File "/sgl/managers/scheduler.py", line 1827, in run_scheduler_process\n'
        + stamp + "    scheduler.event_loop_normal()\n"
        + stamp + "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )  # fmt: skip
    assert origin(engine, log) == ("torch.cuda-illegal-access", 11)


def test_accelerate_tells_which_machine_of_how_many_this_is(engine: Engine) -> None:
    log = (
        "+ accelerate launch --num_machines 2 --num_processes 16 --machine_rank 1 --multi_gpu train.py\n"
        "E1111 10:10:11.100000 50 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -11) "
        "local_rank: 3 (pid: 903) of binary: /opt/conda/bin/python\n"
    )
    assert origin(engine, log) == ("ledger.killed", 11)


def test_a_script_prints_which_node_of_how_many_this_is(engine: Engine) -> None:
    failed = (
        "E1111 10:10:11.100000 50 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -11) "
        "local_rank: 2 (pid: 903) of binary: /opt/conda/bin/python\n"
    )
    assert origin(engine, "NODE_RANK=1\nNNODES=2\nGPUS_PER_NODE=4\n" + failed) == ("ledger.killed", 6)
    assert origin(engine, "NNODES=2\nGPUS_PER_NODE=4\n" + failed) == ("ledger.killed", None)


def test_a_traceback_below_a_logger_s_record_is_of_its_rank(engine: Engine) -> None:
    step = "[XTuner][RANK {0}][2025-08-29 09:17:51][INFO] Step 1/100 time: 4.97 total_loss: 1.72\n"
    log = "".join(step.format(r) for r in range(4)) + (
        "[XTuner][RANK 3][2025-08-29 09:19:02][ERROR] sample failed\nTraceback (most recent call last):\n"
        '  File "/w/sft.py", line 60, in <module>\n    main()\n  File "/w/data.py", line 311, in __getitem__\n'
        "    pixel = pixel.reshape(3, 224, 224)\nValueError: cannot reshape array of size 0 into shape (3,224,224)\n"
    )
    assert origin(engine, log)[1] == 3


def test_a_bus_error_is_of_the_rank_with_its_pid(engine: Engine) -> None:
    log = (
        "[8d6bf97c3bf4:3039 :0:3095] Caught signal 7 (Bus error: nonexistent physical address)\n"
        "==== backtrace (tid:   3095) ====\n 0 0x0000000000043090 killpg()  ???:0\n 1 0x000000000007587d ncclGroupEnd()  ???:0\n"
        "=================================\n"
        "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -7) local_rank: 1 (pid: 3039) of binary: /usr/bin/python\n"
        "  time      : 2023-01-29_08:14:52\n  host      : 8d6bf97c3bf4\n  rank      : 5 (local_rank: 1)\n  exitcode  : -7 (pid: 3039)\n"
        "  error_file: <N/A>\n  traceback : Signal 7 (SIGBUS) received by PID 3039\n"
    )
    assert origin(engine, log) == ("nccl.bus-error", 5)


def test_the_detail_of_an_nccl_error_is_of_the_rank_whose_watchdog_began_the_record(engine: Engine) -> None:
    others = REMOTE.format(0) + REMOTE.format(4)
    assert origin(engine, REMOTE.format(7) + DETAIL + others) == ("nccl.ib-retry-exceeded", 7)


def test_a_detail_among_lines_of_several_is_nobody_s(engine: Engine) -> None:
    torn = REMOTE.format(7) + REMOTE.format(0) + "step 200 loss 2.1\n" + DETAIL
    assert origin(engine, torn) == ("nccl.ib-retry-exceeded", None)


def test_a_process_that_had_the_gpu_before_hides_nobody(engine: Engine) -> None:
    workers = "".join(WORKER.format(i, 4301 + i) for i in range(4))
    rpc = "(EngineCore_DP0 pid=4188) TimeoutError: RPC call to execute_model timed out.\n"
    xid = "[Sat Sep  5 {0} 2026] NVRM: Xid (PCI:0000:9c:00): 48, pid={1}, name=VLLM::Worker_TP, DBE (double bit error) detected\n"
    kernel = xid.format("03:51:07", 90211) + xid.format("15:37:06", 4303)
    assert origin(engine, workers + rpc, dmesg_txt=kernel) == ("gpu.xid-48", 2)


def test_a_remote_call_names_the_process_that_raised_without_a_header(engine: Engine) -> None:
    start = (
        "(RayTrainWorker pid={1}, ip=10.0.0.3) 2023-07-13 00:08:1{0},055\t"
        "INFO config.py:86 -- Setting up process group for: env:// [rank={0}, world_size=4]\n"
    )
    log = "".join(start.format(r, 46100 + r) for r in range(4)) + (
        "2023-07-13 00:09:41,101\tERROR trial_runner.py:1062 -- Trial TorchTrainer_db143_00000: Error processing event.\n"
        "ray.exceptions.RayTaskError(IndexError): ray::_Inner.train() (pid=45780, ip=10.0.0.3, repr=TorchTrainer)\n"
        '  File "/home/u/ray/python/ray/train/_internal/backend_executor.py", line 460, in get_next_results\n'
        "    results = self.get_with_failure_handling(futures)\n"
        "ray.exceptions.RayTaskError(IndexError): ray::RayTrainWorker._RayTrainWorker__execute() (pid=46102, ip=10.0.0.3, repr=<W>)\n"
        '  File "/home/u/tune_ddp.py", line 61, in train_loop_per_worker\n    y = labels[idx]\n'
        "IndexError: index 1024 is out of bounds for axis 0 with size 1024\n"
    )
    assert origin(engine, log) == ("unknown.user-code", 2)


def test_a_warning_of_torch_under_an_actor_s_name_makes_it_no_launcher(engine: Engine) -> None:
    actor = "(RayWorkerWrapper pid=339, ip=10.0.0.7) "
    log = (
        actor + "[rank9]:[W321 10:02:40.101 ProcessGroupNCCL.cpp:4561] [PG ID 2 PG GUID 3 Rank 9]  using GPU 1 to perform "
        "barrier as devices used by this process are currently unknown.\n"
        + actor + "ERROR 03-21 10:04:11 worker_base.py:620] Traceback (most recent call last):\n"
        + actor + 'ERROR 03-21 10:04:11 worker_base.py:620]   File "/opt/vllm/worker/worker_base.py", line 612, in execute_method\n'
        + actor + "ERROR 03-21 10:04:11 worker_base.py:620]     return run_method(target, method, args, kwargs)\n"
        + actor + "ERROR 03-21 10:04:11 worker_base.py:620] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
        "896.00 MiB. GPU 1 has a total capacity of 79.11 GiB of which 512.00 MiB is free.\n"
    )  # fmt: skip
    assert origin(engine, log)[1] == 9


def test_last_words_that_stand_below_the_launchers_report_are_of_the_rank_that_died_so(
    engine: Engine,
) -> None:
    """Slurm passes lines of nodes on as they come: the stack of a crash may stand below the end of the step."""
    log = (
        "srun: error: gpu-07: task 29: Bus error (core dumped)\n"
        "srun: launch/slurm: _step_signal: Terminating StepId=8812.0\n"
        "slurmstepd: error: *** STEP 8812.0 ON gpu-04 CANCELLED AT 2026-10-02T09:11:01 ***\n"
        "[gpu-07:2219] *** Process received signal ***\n"
        "[gpu-07:2219] Signal: Bus error (7)\n"
        "[gpu-07:2219] Signal code: Nonexistant physical address (2)\n"
        "[gpu-07:2219] Failing at address: 0x7f1c40000000\n"
        "[gpu-07:2219] [ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x42520)[0x7f1ce8e42520]\n"
        "[gpu-07:2219] [ 1] /opt/conda/lib/libnccl.so.2(+0x6cfa1)[0x7f1c9886cfa1]\n"
        "[gpu-07:2219] *** End of error message ***\n"
        "srun: error: gpu-04: tasks 0-7: Terminated\n"
        "srun: error: gpu-07: tasks 24-28,30-31: Terminated\n"
    )
    assert origin(engine, log) == ("nccl.bus-error", 29)


def test_a_nameless_traceback_below_the_watchdog_of_another_rank_is_not_of_that_rank(engine: Engine) -> None:
    """A node's log in which C++ names its ranks and Python does not; the agent saw one process end by itself."""
    timeout = (
        "[rank{0}]:[E1002 08:10:3{0}.120401736 ProcessGroupNCCL.cpp:685] [Rank {0}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=8123, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600040 "
        "milliseconds before timing out.\n"
    )
    log = "".join(map(timeout.format, (0, 1, 3))) + (
        'Traceback (most recent call last):\n  File "/app/train.py", line 187, in main\n'
        "    loss = step(model, batch[\"labels\"])\nKeyError: 'labels'\n"
        "E1002 08:10:41.220000 2090 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) "
        "local_rank: 2 (pid: 2202) of binary: /usr/bin/python3\n"
    )
    assert origin(engine, log) == ("unknown.user-code", 2)
