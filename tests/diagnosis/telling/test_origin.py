"""Where it began: ranks that the logs single out, and none that they don't."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from triage import Engine, Source

FIXTURES = Path(__file__).parents[3] / "fixtures" / "captured"
WAIT = (
    "[rank{0}]:[E1121 07:17:00.069645912 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=33, OpType={1}, NumelIn=1024, NumelOut=1024, Timeout(ms)=15000) ran for 15014 "
    "milliseconds before timing out.\n"
)
STATUS = (
    "[rank{0}]:[E1121 07:17:00.069645912 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID 0(default_pg) Rank {0}]  failure "
    "detected by watchdog at work sequence id: {1} PG status: last enqueued work: {1}, last completed work: {1}\n"
)


def test_the_order_of_files_moves_no_blame(engine: Engine) -> None:
    folder = FIXTURES / "oom-all-ranks"
    names = yaml.safe_load((folder / "expected.yaml").read_text())["files"]
    ranks = set()
    for order in (names, names[::-1]):
        root = engine.diagnose([folder / name for name in order]).root_cause
        assert root is not None
        ranks.add((root.origin.rank, root.rule_id))
    assert len(ranks) == 1


def test_a_copy_of_a_log_moves_no_blame(engine: Engine) -> None:
    folder = FIXTURES / "oom-fragmentation"
    names = yaml.safe_load((folder / "expected.yaml").read_text())["files"]
    sources = [Source(name, data=(folder / name).read_bytes()) for name in names]
    copies = [Source(f"copy of {source.name}", data=source.data) for source in sources]
    once, twice = engine.diagnose(sources).root_cause, engine.diagnose([*sources, *copies]).root_cause
    assert once is not None
    assert twice is not None
    assert (twice.rule_id, twice.origin.rank) == (once.rule_id, once.origin.rank) == (once.rule_id, 1)


def test_of_equal_errors_that_of_the_rank_that_died_of_it_leads(engine: Engine) -> None:
    error = "[rank{0}]: RuntimeError: CUDA error: an illegal memory access was encountered\n"
    exits = (
        "W1121 07:11:09.055000 1358 torch/distributed/elastic/multiprocessing/api.py:1012] Sending process 1600 closing "
        "signal SIGTERM\nE1121 07:11:09.347000 1358 torch/distributed/elastic/multiprocessing/api.py:986] failed "
        "(exitcode: 1) local_rank: 1 (pid: 1601) of binary: /opt/venv/bin/python3\n"
    )
    sources = [Source(f"{rank}.log", data=error.format(rank).encode()) for rank in (0, 1)]
    root = engine.diagnose([*sources, Source("job.err", data=exits.encode())]).root_cause
    assert root is not None
    assert root.origin.rank == 1


def test_a_receive_that_waits_blames_nobody_who_has_no_part_in_it(engine: Engine) -> None:
    behind = "".join(STATUS.format(rank, 4) for rank in (0, 1, 3))
    root = engine.diagnose(Source("job.err", data=(WAIT.format(2, "RECV") + behind).encode())).root_cause
    assert root is not None
    assert root.origin.rank != 0
    assert root.confidence < 0.7


def test_a_rank_that_never_entered_a_collective_is_blamed(engine: Engine) -> None:
    waits = "".join(WAIT.format(rank, "ALLREDUCE") for rank in (0, 1, 3))
    root = engine.diagnose(Source("job.err", data=(waits + STATUS.format(2, 32)).encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("ledger.never-entered", 2)


def test_a_batch_that_one_rank_skips_is_a_path_of_its_own(engine: Engine) -> None:
    folder = FIXTURES / "ddp-skipped-backward"
    names = yaml.safe_load((folder / "expected.yaml").read_text())["files"]
    root = engine.diagnose([folder / name for name in names]).root_cause
    assert root is not None
    assert (root.rule_id, root.category, root.origin.rank) == ("ledger.skipped-batch", "collective-desync", 1)


def test_dumps_of_unknown_ranks_that_are_blocked_are_not_healthy(engine: Engine) -> None:
    folder = FIXTURES / "straggler-sleep-dumps"
    sources = [
        Source(name, data=(folder / dump).read_bytes())
        for name, dump in (("abc", "nccl_trace_rank_0"), ("xyz", "nccl_trace_rank_1"))
    ]
    diagnosis = engine.diagnose(sources)
    assert diagnosis.verdict == "inconclusive"
    assert any("which rank this dump is of" in note for note in diagnosis.notes)


def test_a_rank_that_says_it_had_begun_is_not_missing(engine: Engine) -> None:
    waits = "".join(WAIT.format(rank, "ALLREDUCE") for rank in (0, 2))
    begun = STATUS.format(1, 33).replace("completed work: 33", "completed work: 32")
    root = engine.diagnose(Source("job.err", data=(waits + begun).encode())).root_cause
    assert root is not None
    assert root.origin.rank is None


def test_of_two_ranks_that_raised_the_like_in_files_without_clocks_none_is_first(engine: Engine) -> None:
    def raised(rank: int, said: str, line: int) -> bytes:
        text = (
            f"[rank{rank}]: Traceback (most recent call last):\n"
            f'[rank{rank}]:   File "/w/train.py", line {line}, in main\n[rank{rank}]:     work()\n[rank{rank}]: {said}\n'
        )
        return text.encode()

    texts = {2: raised(2, "KeyError: 'labels'", 31), 5: raised(5, "IndexError: list index out of range", 77)}
    files = [Source(f"rank{r}.log", data=text, rank=r) for r, text in texts.items()]
    root = engine.diagnose(files).root_cause
    assert root is not None
    assert (root.origin.rank, set(root.origin.ranks)) == (None, {2, 5})
    one = engine.diagnose(Source("job.err", data=texts[5] + texts[2])).root_cause
    assert one is not None
    assert one.origin.rank == 5


def test_what_a_native_exception_said_is_the_word_of_the_one_rank_that_aborted(engine: Engine) -> None:
    log = (
        "terminate called after throwing an instance of 'std::runtime_error'\n"
        "  what():  [TensorRT-LLm Error][int8gemm Runner] Failed to run cutlass int8 gemm. Error: Error Internal\n"
        "--------------------------------------------------------------------------\n"
        "mpirun noticed that process rank 3 with PID 877 on node gpu-a001 exited on signal 6 (Aborted).\n"
    )
    cause = engine.diagnose(Source("run.log", data=log.encode())).root_cause
    assert cause is not None
    assert (cause.rule_id, cause.origin.rank) == ("serving.cutlass-status", 3)


OOM = (
    "Name:             llm-worker-1\nNamespace:        train\nNode:             gpu-7/10.0.7.7\n"
    "Status:           Failed\nContainers:\n  pytorch:\n    State:          Terminated\n"
    "      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          64Gi\n"
)


def test_a_pod_is_the_one_rank_that_spoke_from_it_however_it_is_numbered(engine: Engine) -> None:
    """A master pod is rank 0, so worker 1 is rank 2: the logs say so, the names would not."""
    sources = [Source("describe.txt", data=OOM.encode())]
    for rank, pod in enumerate(("llm-master-0", "llm-worker-0", "llm-worker-1")):
        text = f"[rank{rank}]: step 117 loss 2.3\n" + (WAIT.format(rank, "ALLREDUCE") if rank != 2 else "")
        start = (
            f"{pod}:17:17 [0] NCCL INFO ncclCommInitRank comm 0x5 rank {rank} nranks 3 cudaDev 0 nvmlDev 0 "
            "busId 1000 commId 0x8 - Init COMPLETE\n"
        )
        sources.append(Source(f"{pod}.log", data=(start + text).encode()))
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("kubernetes.container-oom-killed", 2)


def test_of_a_pod_with_several_ranks_none_is_named(engine: Engine) -> None:
    log = "".join(WAIT.format(rank, "ALLREDUCE") for rank in (4, 5))
    sources = [Source("describe.txt", data=OOM.encode()), Source("llm-worker-1.log", data=log.encode())]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("kubernetes.container-oom-killed", None)


def test_the_kernel_kills_a_child_of_the_rank_that_misses_it(engine: Engine) -> None:
    log = (
        "[rank5]: Traceback (most recent call last):\n"
        '[rank5]:   File "/app/train.py", line 210, in <module>\n[rank5]:     for batch in loader:\n'
        "[rank5]: RuntimeError: DataLoader worker (pid 51877) is killed by signal: Killed. \n"
    )
    kernel = (
        "[81231.100301] Out of memory: Killed process {} (pt_data_worker) total-vm:98231240kB, "
        "anon-rss:90311104kB, file-rss:0kB, shmem-rss:8192kB, UID:1001 pgtables:178012kB oom_score_adj:0\n"
    )
    for pid, rank in ((51877, 5), (60001, None)):
        sources = [Source("job.err", data=log.encode()), Source("dmesg", data=kernel.format(pid).encode())]
        root = engine.diagnose(sources).root_cause
        assert root is not None
        assert (root.rule_id, root.origin.rank) == ("host.oom-global", rank)


def test_a_line_about_another_gpu_is_not_of_the_process_that_died(engine: Engine) -> None:
    log = (
        "| WARNING: ran out of memory with exception: CUDA out of memory. Tried to allocate 20.00 MiB (GPU {0}; "
        "11.93 GiB total capacity; 11.20 GiB already allocated; 17.56 MiB free; 46.25 MiB cached);\n Skipping batch\n"
        "\n-- Process 2 terminated with the following error:\nTraceback (most recent call last):\n"
        '  File "/srv/app/train.py", line 88, in train_step\n    gather(logs)\nException: workers are out of step\n'
    )
    origins = {}
    for gpu in (0, 2):
        root = engine.diagnose(Source("job.err", data=log.format(gpu).encode())).root_cause
        assert root is not None
        assert root.category == "gpu-oom"
        origins[gpu] = root.origin.rank
    assert origins == {0: None, 2: 2}


@pytest.mark.parametrize(
    ("words", "odd"),
    [
        (  # compared by count
            {
                0: "DDP expects same model across all ranks, but Rank 0 has 12 params, while rank 1 has inconsistent 14 params.",
                1: "DDP expects same model across all ranks, but Rank 1 has 14 params, while rank 0 has inconsistent 12 params.",
                2: "DDP expects same model across all ranks, but Rank 2 has 12 params, while rank 1 has inconsistent 14 params.",
            },
            1,
        ),
        (  # of two, nothing tells which is wrong
            {0: "DDP expects same model across all ranks, but Rank 0 has 12 params, while rank 1 has inconsistent 14 params."},
            None,
        ),
        (  # compared with rank 0
            {3: "[3]: params[2] in this process with sizes [8, 4] appears not to match sizes of the same param in process 0."},
            3,
        ),
        (
            {
                rank: f"[{rank}]: params[2] in this process with sizes [8, 4] appears not to match sizes of the same param in process 0."
                for rank in (1, 2, 3)
            },
            0,
        ),
    ],
)  # fmt: skip
def test_the_odd_model_is_told_apart(engine: Engine, words: dict[int, str], odd: int | None) -> None:
    log = "".join(
        f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/srv/app/train.py", line 9, in main\n'
        f"[rank{rank}]:     ddp(model)\n[rank{rank}]: RuntimeError: {said}\n"
        for rank, said in words.items()
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("collective-desync", odd)


def test_an_exception_without_a_name_is_that_of_the_one_rank_that_did_not_wait(engine: Engine) -> None:
    log = (
        "[rank0]:[W1121 08:10:00.1 ProcessGroupNCCL.cpp:4094] Warning: An unbatched P2P op (send/recv) was called\n"
        "[rank1]:[W1121 08:10:00.1 ProcessGroupNCCL.cpp:4094] Warning: An unbatched P2P op (send/recv) was called\n"
        "Process reader:\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/two.py", line 31, in reader\n'
        "    buffer[:count] = block\n"
        "RuntimeError: The expanded size of the tensor (128) must match the existing size (131) at non-singleton dimension 0."
        "  Target sizes: [128].  Tensor sizes: [131]\n"
        "[rank0]:[E1121 08:11:00.1 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=9, OpType=SEND, NumelIn=2, NumelOut=2, Timeout(ms)=30000) ran for 30011 milliseconds before timing out.\n"
    )
    root = engine.diagnose(Source("job.log", data=log.encode())).root_cause
    assert root is not None
    assert root.origin.rank == 1


def test_what_python_and_torch_both_print_was_said_by_one_rank(engine: Engine) -> None:
    rows = [
        "Traceback (most recent call last):",
        '  File "/srv/save.py", line 9, in <module>',
        "    handle.write(block)",
        "OSError: [Errno 28] No space left on device",
    ]
    log = "step 1 loss 2.0\n" + "\n".join(rows) + "\n" + "\n".join(f"[rank0]: {row}" for row in rows) + "\n"
    root = engine.diagnose(Source("job.log", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("storage", 0)


def test_an_exception_without_a_name_is_of_the_one_rank_that_the_others_waited_for(engine: Engine) -> None:
    log = (
        "[2026-03-01 05:18:21,804] [INFO] [launch.py:151:main] nnodes=1, num_local_procs=2, node_rank=0\n"
        "[2026-03-01 05:18:21,804] [INFO] [launch.py:162:main] global_rank_mapping=defaultdict(<class 'list'>, {'localhost': [0, 1]})\n"
        "[2026-03-01 05:18:21,805] [INFO] [launch.py:163:main] dist_world_size=2\n"
        "Traceback (most recent call last):\n"
        '  File "/w/tune.py", line 12, in <module>\n    main()\n'
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.10 GiB. GPU 0 has a total capacty of 39.39 GiB of which "
        "1.02 GiB is free. Of the allocated memory 36.01 GiB is allocated by PyTorch, and 0.4 GiB is reserved by PyTorch but unallocated.\n"
        "[E ProcessGroupNCCL.cpp:475] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=871, OpType=ALLREDUCE, "
        "NumelIn=4096, NumelOut=4096, Timeout(ms)=1800000) ran for 1800311 milliseconds before timing out.\n"
    )
    root = engine.diagnose(Source("tune.log", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 0)


def test_an_error_without_a_name_is_of_the_one_task_that_is_told_to_be_gone(engine: Engine) -> None:
    log = (
        "E0919 12:01:40.225 38 pjrt_stream_executor_client.cc:3067] Execution of replica 0 failed: RESOURCE_EXHAUSTED: "
        "Out of memory while trying to allocate 19595788288 bytes.\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/train.py", line 211, in <module>\n    state, metrics = step(state, batch)\n'
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 19595788288 bytes.\n"
        "2025-09-19 12:03:22.568412: E external/xla/xla/tsl/distributed_runtime/coordination/coordination_service.cc:1170] "
        "/job:jax_worker/replica:0/task:5 has been set to ERROR in coordination service: UNAVAILABLE: Task "
        "/job:jax_worker/replica:0/task:5 heartbeat timeout. This indicates that the remote task has failed, got preempted.\n"
    )
    root = engine.diagnose(Source("all.log", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 5)


def test_what_lightning_says_of_a_process_is_no_part_of_its_exception(engine: Engine) -> None:
    def raised(rank: int) -> str:
        rows = [
            "Traceback (most recent call last):",
            '  File "/srv/io.py", line 141, in unlock',
            "    os.remove(lock_file)",
            "FileNotFoundError: [Errno 2] No such file or directory: '/scratch/qm9.npz.lock'",
        ]
        return "".join(f"[rank{rank}]: {row}\n" for row in rows)

    log = raised(3) + raised(2) + (
        "[rank: 2] Child process with PID 22711 terminated with code 1. Forcefully terminating all other processes to avoid zombies\n"
    )  # fmt: skip
    root = engine.diagnose(Source("fit.log", data=log.encode())).root_cause
    assert root is not None
    assert set(root.origin.ranks) == {2, 3}


def test_an_allocator_names_the_device_of_the_local_rank_where_the_launcher_told_the_ranks_of_its_node(
    engine: Engine,
) -> None:
    log = (
        "worker-0: [2024-02-02 10:00:01,102] [INFO] [launch.py:151:main] nnodes=2, num_local_procs=4, node_rank=0\n"
        "worker-1: [2024-02-02 10:00:01,202] [INFO] [launch.py:151:main] nnodes=2, num_local_procs=4, node_rank=1\n"
        "worker-1: Traceback (most recent call last):\n"
        'worker-1:   File "/w/train.py", line 311, in <module>\n'
        "worker-1:     loss.backward()\n"
        "worker-1: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 2 has a total capacty of 79.15 GiB "
        "of which 1.02 GiB is free.\n"
    )
    root = engine.diagnose(Source("train.log", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 6)


def test_a_bar_of_the_training_itself_is_nobodys_work_aside(engine: Engine) -> None:
    waits = "".join(
        f"(WorkerDict pid={1201 + r}) [rank{r}]:[E404 10:11:12.222 ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught collective "
        f"operation timeout: WorkNCCL(SeqNum=911, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 60002{r} "
        "milliseconds before timing out.\n"
        for r in (0, 2, 3)
    )
    bar = "(TaskRunner pid=901) Training Progress:   3%|▎         | 9/300 [11:11<6:11:22, 76.58s/it]\n"
    root = engine.diagnose(Source("ppo.log", data=(bar + waits).encode())).root_cause
    assert root is not None
    assert root.category != "watchdog-too-short"
    assert root.origin.rank == 1


@pytest.mark.parametrize(("size", "rank"), [(1, 0), (2, None)])
def test_where_there_is_nobody_else_it_was_rank_zero(engine: Engine, size: int, rank: int | None) -> None:
    log = (
        f"INFO:root:Initialized (rank/world-size) 0/{size}\n"
        "Process Process-1:\n"
        "Traceback (most recent call last):\n"
        '  File "/w/main.py", line 52, in process_main\n'
        "    total = losses[step]\n"
        "IndexError: list index out of range\n"
    )
    root = engine.diagnose(Source("slurm-7.out", data=log.encode())).root_cause
    assert root is not None
    assert root.origin.rank == rank


def test_who_logs_again_what_nobody_caught_is_who_raised_it(engine: Engine) -> None:
    log = (
        "[rank0]: 2026-10-21 08:11:03 INFO Loading configuration\n"
        "Traceback (most recent call last):\n"
        '  File "/work/train.py", line 263, in <module>\n'
        "    main(cfg)\n"
        '  File "/work/olmo/data.py", line 79, in build\n'
        "    indices = np.memmap(path)\n"
        "OSError: [Errno 5] Input/output error\n"
        "[rank0]: 2026-10-21 08:11:44 CRITICAL Uncaught OSError: [Errno 5] Input/output error\n"
    )
    others = "[rank8]: torch.distributed.DistBackendError: NCCL error: Connection reset by peer\n"
    sources = [Source("node-0.log", data=log.encode()), Source("node-1.log", data=others.encode())]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("storage", 0)


def test_the_only_peer_that_others_lost_is_whose_pod_died(engine: Engine) -> None:
    lost = (
        "2020-08-19 03:11:02.101: E tensorflow/core/common_runtime/base_collective_executor.cc:247] "
        "BaseCollectiveExecutor::StartAbort Unavailable: Connection reset by peer\n"
        "Traceback (most recent call last):\n"
        '  File "/app/trainer.py", line 80, in <module>\n    model.fit(ds, epochs=10)\n'
        "tensorflow.python.framework.errors_impl.UnavailableError:  Collective ops is aborted by: Connection reset\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:1:\n"
        ':{"created":"@1597806662.1","description":"Error received from peer ipv4:10.4.1.7:5000",'
        '"grpc_message":"Connection reset by peer","grpc_status":14}\n'
    )
    pod = (
        "Name:         bert-worker-1\nContainers:\n  tensorflow:\n    State:          Terminated\n"
        "      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          12Gi\n"
    )
    sources = [Source("bert-worker-0.log", data=lost.encode()), Source("describe.txt", data=pod.encode())]
    cause = engine.diagnose(sources).root_cause
    assert cause is not None
    assert (cause.category, cause.origin.rank) == ("host-oom", 1)


@pytest.mark.parametrize(("local", "rank"), [(("0.05", "inf", "0.07"), 1), (("inf", "inf", "inf"), None)])
def test_the_one_whose_own_number_is_none(engine: Engine, local: tuple[str, ...], rank: int | None) -> None:
    log = "".join(
        f"[rank{r}]: Traceback (most recent call last):\n"
        f'[rank{r}]:   File "/srv/tts.py", line 9, in <module>\n'
        f"[rank{r}]:     raise FloatingPointError(text)\n"
        f"[rank{r}]: FloatingPointError: mean loss is inf at iteration 57 (local {own})\n"
        for r, own in enumerate(local)
    )
    root = engine.diagnose(Source("job.log", data=log.encode())).root_cause
    assert root is not None and (root.category, root.origin.rank) == ("numerics", rank)


@pytest.mark.parametrize(("met", "rank"), [((5, 2), 5), ((2, 5), None), (tuple(range(5, -3, -1)), None)])
def test_of_few_that_met_the_same_the_first_is_whom_the_log_and_the_launcher_name(
    engine: Engine, met: tuple[int, ...], rank: int | None
) -> None:
    full = (
        "[rank{0}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU {0} has a total capacity "
        "of 23.43 GiB of which 210.06 MiB is free. Including non-PyTorch memory, this process has 0 bytes memory in use. "
        "Of the allocated memory 22.41 GiB is allocated by PyTorch, and 180.32 MiB is reserved by PyTorch but unallocated."
        "\n"
    )
    row = "  rank      : {0} (local_rank: {0})\n  exitcode  : {1} (pid: {2})\n  error_file: <N/A>\n"
    ranks = [r % 8 for r in met]
    table = "".join(
        f"[{i}]:\n  time      : 2026-11-21_09:11:2{i}\n  host      : g9\n"
        + row.format(r, 1 if r in ranks else -15, 829 + r)
        for i, r in enumerate(r for r in range(8) if r != 5)
    )
    log = (
        "".join(full.format(r) for r in ranks)
        + "E1121 09:11:21.402000 771 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
        "local_rank: 5 (pid: 834) of binary: /opt/venv/bin/python\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntune FAILED\n"
        f"{'-' * 60}\nFailures:\n{table}{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-11-21_09:11:20\n  host      : g9\n" + row.format(5, 1, 834) + "=" * 60 + "\n"
    )
    root = engine.diagnose(Source("job.log", data=log.encode())).root_cause
    assert root is not None and (root.category, root.origin.rank) == ("gpu-oom", rank)
    assert set(root.origin.ranks) == set(ranks)


@pytest.mark.parametrize(
    ("address", "host"), [("10.0.7.57", "10.0.7.57"), ("0.0.0.0", None), ("127.0.0.1", None)]
)
def test_an_address_that_every_machine_has_names_none(engine: Engine, address: str, host: str | None) -> None:
    said = (
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
        f"\tclass_name: Actor\n\tpid: 12903\n\tip: {address}\n"
        "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: "
        "Worker unexpectedly exits with a connection error code 2. End of file.\n"
    )
    root = engine.diagnose([Source("job.log", data=said.encode())]).root_cause
    assert root is not None
    assert root.origin.host == host


NAN = "Loss is nan, stopping training\n"


def ended(node: int, rank: int, second: int, pid: int) -> str:
    """The agent of a node of eight sees one of its workers end, and torchrun's table names it."""
    return (
        f"E1104 12:00:{second:02d}.100000 {900 + node} torch/distributed/elastic/multiprocessing/api.py:874] failed "
        f"(exitcode: 1) local_rank: {rank % 8} (pid: {pid}) of binary: /usr/bin/python3\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        f"Root Cause (first observed failure):\n[0]:\n  host      : gpu-{node}\n  rank      : {rank} (local_rank: {rank % 8})\n"
        f"  exitcode  : 1 (pid: {pid})\n"
    )


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        (NAN + ended(0, 5, 10, 4005), 5),
        (NAN * 8 + ended(0, 5, 10, 4005), None),
        (f"[default5]:{NAN}" + ended(1, 13, 10, 5005), 13),
        (f"[default4]:{NAN}" + ended(1, 13, 10, 5005), None),
    ],
    ids=["one said it and one ended", "all said it", "the process of that number ended", "another one ended"],
)
def test_who_gives_up_in_a_line_without_a_name_is_the_one_that_ended(
    engine: Engine, text: str, rank: int | None
) -> None:
    root = engine.diagnose(Source("train.log", data=text.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("numerics", rank)


@pytest.mark.parametrize(("later", "rank"), [(10, None), (25, 14)])
def test_agents_that_see_their_workers_end_at_once_tell_of_no_first_one(
    engine: Engine, later: int, rank: int | None
) -> None:
    """Of two nodes, each of which lost a worker, the one that lost its own clearly before the other tells of the cause."""
    torn = (
        'Traceback (most recent call last):\n  File "/w/train.py", line 6, in main\n    load(path)\n'
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory\n"
    )
    text = torn + ended(1, 14, 10, 5006) + ended(0, 2, later, 4002)
    root = engine.diagnose(Source("train.log", data=text.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("checkpoint", rank)
