"""What a node's own logs say of a failure, and which rank it met."""

from __future__ import annotations

from pathlib import Path

from triage import Diagnosis, Engine, Source

LOST = (
    "[rank{0}]:[E415 08:30:11.100 ProcessGroupNCCL.cpp:2068] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Process group watchdog "
    "thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.25.1\n"
)
JOINED = (
    "{host}:{pid}:{pid} [{gpu}] NCCL INFO ncclCommInitRank comm 0x55d1 rank {rank} nranks 4 cudaDev {gpu} nvmlDev {gpu} "
    "busId 2a000 commId 0x5d - Init COMPLETE\n"
)


def diagnosed(engine: Engine, **logs: str) -> Diagnosis:
    return engine.diagnose([Source(name, data=text.encode()) for name, text in logs.items()])


def joined() -> str:
    return "".join(
        JOINED.format(host=f"n{rank // 2}", pid=2000 + rank, gpu=rank % 2, rank=rank) for rank in range(4)
    )


def test_a_cable_of_another_device_does_not_hide_a_broken_gpu(engine: Engine) -> None:
    kernel = (
        "Sep 24 02:11:13 n17 kernel: mlx5_core 0000:9b:00.0: Port module event[error]: module 0, Cable error, Power budget exceeded\n"
        "Sep 24 03:13:20 n17 kernel: NVRM: Xid (PCI:0000:5d:00): 95, pid=88213, name=python3, Uncontained: FBHUB. RST: Yes, D-RST: No\n"
    )
    root = diagnosed(engine, kern=kernel).root_cause
    assert root is not None
    assert root.rule_id == "gpu.xid-95"


def test_an_abort_of_which_the_watchdog_tells_the_reason_is_no_crash(engine: Engine) -> None:
    log = (
        joined()
        + "n1:2003:2213 [1] transport/net_ib.cc:140 NCCL WARN NET/IB : mlx5_1:1 Got non-fatal async event: port error(10)\n"
        + "n1:2003:2219 [1] transport/net_ib.cc:2188 NCCL WARN NET/IB: Got completion from peer 10.3.1.1<41002> with "
        "status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_1\n"
        + LOST.format(3)
        + LOST.format(1)
        + "srun: error: n1: task 3: Aborted (core dumped)\nsrun: error: n0: task 1: Aborted (core dumped)\n"
    )
    root = diagnosed(engine, job=log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("network-fabric", 3)


def test_both_ends_of_a_link_that_complain_name_no_rank(engine: Engine) -> None:
    end = (
        "{0}:{1}:2219 [1] transport/net_ib.cc:2188 NCCL WARN NET/IB: Got completion from peer 10.3.1.1<41002> with "
        "status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_1\n"
    )
    log = joined() + end.format("n1", 2003) + end.format("n0", 2001) + LOST.format(3) + LOST.format(1)
    root = diagnosed(engine, job=log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("network-fabric", None)


def test_the_rank_that_was_cut_off_from_its_files_is_named(engine: Engine) -> None:
    kernel = (
        "Aug 03 04:20:31 gpu42 kernel: LustreError: 167-0: scratch-MDT0000-mdc-ffff8a2c3e5c2000: This client was evicted by "
        "scratch-MDT0000; in progress operations using this service will fail.\n"
    )
    log = (
        "[rank6]: Traceback (most recent call last):\n"
        '[rank6]:   File "/work/filesystem_async.py", line 361, in write_preloaded_data\n'
        "[rank6]:     os.fsync(stream.fileno())\n"
        "[rank6]: OSError: [Errno 108] Cannot send after transport endpoint shutdown\n"
    )
    root = diagnosed(engine, train=log, journal=kernel).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("host.lustre-evicted", 6)


def test_what_native_code_says_without_a_name_is_of_the_rank_that_raises_it(engine: Engine) -> None:
    log = (
        "[2025-12-01 12:00:41 TP0] Load weight begin. avail mem=77.90 GB\n"
        "[2025-12-01 12:00:41 TP1] Load weight begin. avail mem=77.90 GB\n"
        "E1201 12:00:42.100243  2214 rdma_context.cpp:190] Failed to register memory 0x7f2a60000000: Cannot allocate memory [12]\n"
        "[2025-12-01 12:00:43 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/sglang/srt/disaggregation/mooncake/conn.py", line 201, in register_buffer_to_engine\n'
        "    self.engine.batch_register(self.kv_args.kv_data_ptrs, self.kv_args.kv_data_lens)\n"
        "RuntimeError: Mooncake memory registration failed, ret=-1\n\n"
        "[2025-12-01 12:00:44] Received sigquit from a child process. It usually means the child failed.\n"
    )
    root = diagnosed(engine, server=log).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("mooncake.register", 1)


DESCRIBED = """Name:             llama-worker-2
Namespace:        train
Node:             n4/10.128.0.44
Status:           Failed
Containers:
  pytorch:
    State:          Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Limits:
      memory:          200Gi
      nvidia.com/gpu:  {gpus}
    Environment:
      RANK:          3
      WORLD_SIZE:    4
"""


def test_a_pod_is_the_rank_that_its_environment_gives_it(engine: Engine) -> None:
    for gpus, rank in ((1, 3), (8, None)):
        root = diagnosed(engine, describe=DESCRIBED.format(gpus=gpus)).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == ("host-oom", rank)


def test_what_ended_the_one_task_that_failed_first_is_of_that_task(engine: Engine) -> None:
    log = (
        "FATAL:   container creation failed: mount hook function failure: mount /lustre/x->/data error: while mounting "
        "/lustre/x: mount source /lustre/x doesn't exist\n"
        "srun: error: cn07: task 1: Exited with exit code 255\nsrun: Terminating StepId=5151.0\n"
        "slurmstepd: error: *** STEP 5151.0 ON cn06 CANCELLED AT 2025-03-04T03:03:03 ***\n"
        "srun: error: cn06: task 0: Terminated\n"
    )
    root = diagnosed(engine, job=log).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("container.apptainer", 1)


def test_the_rank_that_a_silent_file_server_kept_is_the_missing_one(engine: Engine) -> None:
    wait = (
        "[rank{0}]:[E808 08:14:10.100 ProcessGroupNCCL.cpp:685] [Rank {0}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=361, OpType=ALLREDUCE, NumelIn=8192, NumelOut=8192, Timeout(ms)=600000) ran for 600001 "
        "milliseconds before timing out.\n"
    )
    log = "".join(wait.format(rank) for rank in range(3)) + (
        "srun: error: w0: tasks 0-2: Aborted (core dumped)\nsrun: error: w1: task 3: Killed\n"
    )
    kernel = (
        "[Fri Aug  8 08:04:22 2025] nfs: server 10.8.0.4 not responding, still trying\n"
        "[Fri Aug  8 08:09:01 2025] nfs: server 10.8.0.4 not responding, timed out\n"
    )
    root = diagnosed(engine, job=log, dmesg=kernel).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("host.nfs-stuck", 3)


def test_a_process_that_its_own_watchdog_aborted_did_not_crash(engine: Engine) -> None:
    log = (
        "[rank1]:[F ProcessGroupNCCL.cpp:1169] [PG 2 Rank 1] [PG 2 Rank 1] ProcessGroupNCCL's watchdog got stuck for 600 "
        "seconds without making progress in monitoring enqueued collectives.\n"
        "ERROR 08-07 18:42:46 multiproc_worker_utils.py:120] Worker VllmWorkerProcess pid 78 died, exit code: -6\n"
    )
    root = diagnosed(engine, server=log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 1)


def test_a_ray_actors_rank_is_known_by_any_line_of_its_process(engine: Engine) -> None:
    log = (
        "(WorkerDict pid=5203, ip=10.3.0.12) [rank11]: Actor use_remove_padding=True\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/verl/trainer/main_ppo.py", line 31, in main\n    run_ppo(config)\n'
        "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.compute_log_prob() (pid=5203, ip=10.3.0.12, "
        "actor_id=bb, repr=<verl.WorkerDict object at 0x7e30b030e0d0>)\n"
        '  File "/opt/verl/workers/actor/dp_actor.py", line 301, in compute_log_prob\n    logits = self.forward(batch)\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 0 has a total capacity of 79.11 GiB "
        "of which 5.10 GiB is free.\n"
    )
    root = diagnosed(engine, driver=log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 11)


RAISED = (
    "(Worker_TP12 pid=124) ERROR 03-09 09:03:22 [multiproc_executor.py:824] WorkerProc hit an exception.\n"
    "(Worker_TP12 pid=124) ERROR 03-09 09:03:22 [multiproc_executor.py:824] Traceback (most recent call last):\n"
    '(Worker_TP12 pid=124) ERROR 03-09 09:03:22 [multiproc_executor.py:824]   File "/vllm/v1/attention/mla.py", line 201, in fwd\n'
    "(Worker_TP12 pid=124) ERROR 03-09 09:03:22 [multiproc_executor.py:824] torch.OutOfMemoryError: CUDA out of memory. Tried "
    "to allocate 1.17 GiB. GPU 4 has a total capacity of 79.11 GiB of which 1.02 GiB is free.\n"
)
QUOTED = (
    "(EngineCore_DP0 pid=91) ERROR 03-09 09:03:23 [core.py:866] Traceback (most recent call last):\n"
    '(EngineCore_DP0 pid=91) ERROR 03-09 09:03:23 [core.py:866]   File "/vllm/v1/executor/multiproc_executor.py", line 361, in get\n'
    "(EngineCore_DP0 pid=91) ERROR 03-09 09:03:23 [core.py:866] RuntimeError: Worker failed with error 'CUDA out of memory. "
    "Tried to allocate 1.17 GiB. GPU 4 has a total capacity of 79.11 GiB', please check the stack trace above for the root cause\n"
)


def test_an_error_is_that_of_the_worker_not_of_who_passes_it_on(engine: Engine) -> None:
    root = diagnosed(engine, node0=QUOTED, node1=RAISED).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 12)
    alone = diagnosed(engine, node0=QUOTED).root_cause
    assert alone is not None
    assert (alone.category, alone.origin.rank) == ("gpu-oom", None)


def test_stages_and_their_ranks_are_counted_by_the_lines_that_carry_them(engine: Engine) -> None:
    grid = "".join(
        f"[2026-01-15 05:00:00 PP{stage} TP{rank}] Load weight end. avail mem=12.1 GB\n"
        for stage in range(2) for rank in range(4)
    )  # fmt: skip
    error = (
        "[2026-01-15 05:01:18 PP1 TP3] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/sglang/srt/managers/scheduler.py", line 2972, in run_scheduler_process\n    scheduler.event_loop_pp()\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 3 has a total capacity of 79.11 GiB of "
        "which 511.00 MiB is free.\n\n"
    )
    for log, rank in ((grid + error, 7), (grid[: grid.rindex("[")] + error, 7), (error, None)):
        root = diagnosed(engine, server=log).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == ("gpu-oom", rank)
    gap = "".join(line for line in grid.splitlines(keepends=True) if "TP2" not in line)
    root = diagnosed(engine, server=gap + error).root_cause
    assert root is not None
    assert root.origin.rank is None


def test_a_broken_disk_met_the_rank_whose_read_failed_in_the_end(engine: Engine) -> None:
    kernel = (
        "Jul 11 03:10:00 n14 kernel: critical medium error, dev nvme0n1, sector 881122304 op 0x0:(READ) flags 0x80700\n"
        "Jul 11 03:10:01 n14 kernel: EXT4-fs error (device nvme0n1p1): ext4_wait_block_bitmap:582: comm python: Cannot read\n"
    )
    log = (
        "[rank6]: Traceback (most recent call last):\n"
        '[rank6]:   File "/work/data.py", line 71, in __getitem__\n    return np.fromfile(f)\n'
        "[rank6]: OSError: [Errno 5] Input/output error\n"
    )
    root = diagnosed(engine, job=log, journal=kernel).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("host.disk-failing", 6)


def test_a_gpu_is_of_the_rank_whose_process_the_driver_cleaned_up_after(engine: Engine) -> None:
    kernel = (
        "[Sat Jul 12 05:00:00 2025] NVRM: Xid (PCI:0000:9a:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error "
        "detected on link 7(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)\n"
        "[Sat Jul 12 05:00:00 2025] NVRM: Xid (PCI:0000:9a:00): 45, pid=71104, name=python3, Ch 00000008\n"
    )
    log = (
        "[rank4]:[E712 05:00:02.100 ProcessGroupNCCL.cpp:2068] [PG ID 0 PG GUID 0(default_pg) Rank 4] Process group watchdog "
        "thread terminated with exception: CUDA error: an NVLink error occurred (uncorrectable)\n"
        "[rank5]:[E712 05:00:02.300 ProcessGroupNCCL.cpp:2068] [PG ID 0 PG GUID 0(default_pg) Rank 5] Process group watchdog "
        "thread terminated with exception: CUDA error: unspecified launch failure\n"
        "E0712 05:00:10.100000 71000 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -6) local_rank: 4 "
        "(pid: 71104) of binary: /usr/bin/python3\n"
    )
    root = diagnosed(engine, job=log, dmesg=kernel).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("gpu.xid-74", 4)


def test_a_pod_in_a_listing_is_the_rank_that_its_log_speaks_of(engine: Engine) -> None:
    sources = [
        Source(
            "get-pods.txt",
            data=b"NAME        READY   STATUS      RESTARTS      AGE\ntrainer-1   1/1     Running     0             12m\n"
            b"trainer-2   0/1     OOMKilled   2 (31s ago)   12m\n",
        ),
        Source("logs/trainer-2.log", data=b"INFO 04-01 10:00:00 [worker.py:1] rank=5 starts\n" * 3),
    ]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("host-oom", 5)


def test_a_rank_that_a_barrier_names_is_blamed_before_those_that_waited(engine: Engine) -> None:
    log = (
        "[rank0]:[E317 17:15:54.100 ProcessGroupGloo.cpp:143] [Rank 0]: Rank 9 failed to pass monitoredBarrier in 300000 ms\n"
        "[rank1]:[E317 17:15:55.426 ProcessGroupGloo.cpp:143] Rank 1 successfully reached monitoredBarrier, but received errors "
        "while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank.\n"
        "[2025-03-17 17:15:55 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/sglang/srt/model_executor/model_runner.py", line 417, in load_model\n    raise ValueError(\n'
        "ValueError: TP rank 1 could finish the model loading, but there are other ranks that didn't finish loading. It is likely "
        "due to unexpected failures (e.g., OOM) or a slow node.\n\n"
    )
    root = diagnosed(engine, node0=log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 9)


def test_damaged_memory_met_the_rank_that_died_of_a_bus_error(engine: Engine) -> None:
    kernel = (
        "[812.3] MCE: Killing python:71105 due to hardware memory corruption fault at 7f1c40000000\n"
        "[812.4] EDAC MC1: 1 UE memory read error on CPU_SrcID#1_MC#1_Chan#0_DIMM#0\n"
    )
    lost = (
        "[rank{0}]: torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3690, "
        "remote process exited or there was a network error, NCCL version 2.26.2\n"
    )
    died = 'Fatal Python error: Bus error\n\nCurrent thread 0x1 (most recent call first):\n  File "/work/data.py", line 88 in get\n'
    logs = {f"rank_{rank}.log": died if rank == 2 else lost.format(rank) for rank in range(4)}
    root = diagnosed(engine, dmesg=kernel, **logs).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("host.memory-uncorrected", 2)


def test_a_script_that_was_not_content_with_a_bandwidth_test(engine: Engine) -> None:
    bench = (Path(__file__).parents[2] / "readers/data/nccl_tests/h100-8.txt").read_text()
    assert diagnosed(engine, bench=bench).verdict == "healthy"
    said = "check_bw.sh: busbw 420 GB/s is below the limit of 450 GB/s for this node\nexit {}\n"
    assert diagnosed(engine, bench=bench + said.format(1)).verdict == "failed"
    assert diagnosed(engine, bench=bench + said.format(0)).verdict == "healthy"


def test_the_process_that_ray_names_above_a_stack_raised_it(engine: Engine) -> None:
    log = "".join(
        f"(WorkerDict pid={9000 + r}) [Rank {r}] After rollout, memory reserved (GB): 3\n" for r in range(4)
    )
    log += (
        "(TaskRunner pid=501) Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): "
        "ray::WorkerDict.update_actor() (pid=9002, ip=10.1.0.8, actor_id=71ab, repr=<WorkerDict object at 0x7f>)\n"
        '(TaskRunner pid=501)   File "/opt/verl/verl/workers/actor/dp_actor.py", line 410, in update_policy\n'
        "(TaskRunner pid=501)     loss.backward()\n"
        "(TaskRunner pid=501) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.63 GiB. GPU 0 has a total "
        "capacity of 79.11 GiB of which 2.13 GiB is free.\n"
    )
    root = diagnosed(engine, driver=log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 2)


def test_the_rank_that_sends_through_a_port_without_link_is_named(engine: Engine) -> None:
    log = joined() + (
        "n1:2003:2201 [1] transport/net_ib.cc:1862 NCCL WARN NET/IB: Got completion from peer 10.0.0.1<51222> with status=12 "
        "opcode=0 len=0 vendor err 129 (Send) localGid :: remoteGids:: hca mlx5_3\n"
    )
    log += "".join(
        f"[rank{rank}]:[E515 01:11:20.100 ProcessGroupNCCL.cpp:685] [Rank {rank}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600010 milliseconds "
        "before timing out.\n"
        for rank in range(4)
    )
    port = (
        "[root@{} ~]# ibstat\nCA 'mlx5_3'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Down\n"
        "\t\tPhysical state: Polling\n\t\tRate: 10\n\t\tBase lid: 65535\n\t\tLink layer: InfiniBand\n"
    )
    for node, rank in (("n1", 3), ("n0", None)):
        root = diagnosed(engine, train=log, ibstat=port.format(node)).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == ("network-fabric", rank)
