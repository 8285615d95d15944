"""Which captures to take: scenario, layout, launcher, environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

INFO = {"NCCL_DEBUG": "INFO"}
WARN = {"NCCL_DEBUG": "WARN"}
DETAIL = {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}
RECORD = {"CAPTURE_RECORD": "1"}
NO_RECORDER = {"TORCH_FR_BUFFER_SIZE": "0"}
CPP_INFO = {"TORCH_CPP_LOG_LEVEL": "INFO"}
STACKS = {"TORCH_NCCL_TRACE_CPP_STACK": "0", "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000"}
DUMP = {"TORCH_NCCL_DUMP_ON_TIMEOUT": "1", "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000"}
TIMED = {"TORCH_NCCL_ENABLE_TIMING": "1"}
EXPANDABLE_OFF = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"}
ELASTIC = ("--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:29977", "--rdzv-conf=join_timeout=25,timeout=25")
SOCKETS = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}


@dataclass(frozen=True)
class Run:
    """One capture. ``launcher``: ``plain`` and ``tee`` are torchrun without and with line prefixes,
    ``files`` is torchrun with one file per rank, ``tasks`` starts one process per rank and prefixes lines
    with the task number, ``mpi`` likewise with mpirun's tags, ``ranks`` starts one process per rank and keeps
    a file for each, ``nodes`` starts two torchrun agents with host names of their own, ``first-node`` only
    the first of them, ``direct`` runs the program and ``spawn`` lets it start its ranks itself."""

    name: str
    scenario: str
    ranks: int = 4
    launcher: str = "tee"
    env: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    limit: float = 125
    """Seconds. A rank that timed out takes itself down four dump waits (60 s) later: leave room for it."""
    recorder: bool = False
    signal_after: tuple[float, int, int] | None = None
    """Seconds after the start, signal number, index of the launcher that gets it (9: its workers too)."""
    shm: str | None = None
    memory: str | None = None
    hog: int | None = None
    """GPU that another process fills first; nobody else uses the machine's GPUs 0 and 1 meanwhile."""
    hog_leaves: float = 6
    """GiB of that GPU that the other process leaves free."""
    merged: bool = False
    """Standard output and error in one file."""
    port_taken: bool = False
    """Somebody else listens on the job's port."""
    rank_env: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    whole_gpus: bool = False


RUNS: tuple[Run, ...] = (
    Run("oom-other-process", "oom-other-process", 2, hog=1, whole_gpus=True),
    Run("host-oom-killed", "host-oom-killed", 2, memory="14G", launcher="files"),
    Run("stall-event-query", "stall-event-query", 2, recorder=True, limit=110, env={"STUCK_RANK": "1"}),
    Run("stall-frozen-process", "stall-frozen-process", 2, launcher="plain", limit=110),
    Run("ddp-uneven-data", "ddp-uneven-data"),
    Run("ddp-uneven-data-quiet", "ddp-uneven-data-quiet", 2, recorder=True),
    Run("ddp-skipped-backward", "ddp-skipped-backward", recorder=True, launcher="plain"),
    Run("ddp-unused-parameters", "ddp-unused-parameters", 2, env=RECORD),
    Run(
        "ddp-unused-parameters-one-rank",
        "ddp-unused-parameters-one-rank",
        env={"TORCH_DISTRIBUTED_DEBUG": "INFO"},
    ),
    Run("ddp-forward-raises", "ddp-forward-raises", launcher="files", env={**DETAIL, **RECORD}),
    Run("ddp-swallowed-exception", "ddp-swallowed-exception", launcher="files"),
    Run("ddp-quiet-exit", "ddp-quiet-exit", env=NO_RECORDER),
    Run("ddp-quiet-exit-recorded", "ddp-quiet-exit", recorder=True),
    Run("ddp-sigkill-sockets", "ddp-sigkill", launcher="tasks", env={**SOCKETS, **WARN}),
    Run("ddp-sigkill-detail", "ddp-sigkill", launcher="files", env={**DETAIL, **CPP_INFO}),
    Run("agent-hangup", "ddp-runs-long", launcher="plain", signal_after=(32, 1, 0)),
    Run("agent-terminated", "ddp-runs-long", 2, launcher="files", env=RECORD, signal_after=(32, 15, 0)),
    Run("ddp-model-differs", "ddp-model-differs", launcher="plain"),
    Run("ddp-exit-code", "ddp-exit-code", 2),
    Run("stall-python-loop", "stall-python-loop", 2, recorder=True, launcher="files"),
    Run("stall-blocking-wait", "stall-sleep-blocking-wait", env={"TORCH_NCCL_BLOCKING_WAIT": "1"}),
    Run("stall-gil-held", "stall-gil-held", 2, recorder=True, limit=100),
    Run("stall-loader-dumped", "stall-loader-dumped", 2),
    Run("stall-loader-quiet", "stall-loader-quiet", 2, recorder=True, launcher="plain"),
    Run("stall-loader-timeout", "stall-loader-timeout", 2, launcher="plain"),
    Run(
        "stall-slow-checkpoint", "stall-slow-checkpoint", env={"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "8000"}
    ),
    Run("stall-slow-checkpoint-quiet", "stall-slow-checkpoint-quiet", launcher="tasks", env=NO_RECORDER),
    Run("ddp-rank0-evaluates", "ddp-rank0-evaluates", recorder=True),
    Run("fsdp-state-dict-one-rank", "fsdp-state-dict-one-rank", recorder=True),
    Run("fsdp-long-sequence-oom", "fsdp-long-sequence-oom"),
    Run("fsdp-oom-swallowed", "fsdp-oom-swallowed", recorder=True),
    Run("dcp-save-fails-one-rank", "dcp-save-fails-one-rank", launcher="plain"),
    Run("dcp-shard-missing", "dcp-shard-missing"),
    Run("oom-all-ranks", "oom-all-ranks", launcher="files"),
    Run("oom-leak", "oom-leak", 2),
    Run("oom-fragmentation", "oom-fragmentation", 2),
    Run("tp-wrong-op", "tp-wrong-op", recorder=True),
    Run("tp-wrong-op-pair", "tp-wrong-op-pair", recorder=True, launcher="plain"),
    Run("groups-created-in-different-order", "groups-created-in-different-order", recorder=True),
    Run("new-group-on-members-only", "new-group-on-members-only"),
    Run("object-not-picklable", "object-not-picklable"),
    Run("object-source-differs", "object-source-differs", recorder=True),
    Run("all-gather-length-differs", "all-gather-length-differs", launcher="plain"),
    Run("all-gather-length-detail", "all-gather-length-differs", env=DETAIL, launcher="files"),
    Run("reduce-dtype-differs", "reduce-dtype-differs", recorder=True),
    Run("all-to-all-counts-differ", "all-to-all-counts-differ", recorder=True),
    Run("all-to-all-split-error", "all-to-all-split-error", launcher="plain"),
    Run("desync-report", "desync-report", env={"TORCH_NCCL_DESYNC_DEBUG": "1"}),
    Run("pp-receive-without-send", "pp-receive-without-send", recorder=True),
    Run("pp-wrong-peer", "pp-wrong-peer", launcher="plain"),
    Run("pp-both-send-first", "pp-both-send-first", recorder=True),
    Run(
        "duplicate-rank",
        "plain",
        launcher="tasks",
        rank_env={3: {"RANK": "2", "LOCAL_RANK": "2"}},
        env={"TORCH_CPP_LOG_LEVEL": "WARNING"},
    ),
    Run("mesh-too-big", "mesh-too-big", launcher="plain"),
    Run(
        "master-unresolvable",
        "plain",
        launcher="tasks",
        env={"MASTER_ADDR": "train-job-7f9c-worker-0.train-job-7f9c"},
    ),
    Run("no-visible-devices", "plain-gpu", 2, env={"CUDA_VISIBLE_DEVICES": ""}),
    Run("no-set-device", "no-set-device", env=WARN),
    Run("never-joins", "never-joins", launcher="plain", limit=110),
    Run("first-collective-late", "first-collective-late", recorder=True),
    Run("gloo-late-rank", "gloo-late-rank"),
    Run("algorithm-unavailable", "plain", 2, env={**WARN, "NCCL_ALGO": "CollnetDirect"}),
    Run("ifname-exact", "plain", 2, env={**INFO, "NCCL_SOCKET_IFNAME": "=lo"}),
    Run(
        "ifname-exact-missing", "plain-eager", 2, env={**WARN, "NCCL_SOCKET_IFNAME": "=ib9"}, launcher="tasks"
    ),
    Run("ib-hca-missing", "plain", 2, env={**INFO, "NCCL_IB_HCA": "mlx5_99"}, launcher="plain"),
    Run(
        "nccl-shm-too-small",
        "plain",
        2,
        shm="1m",
        env={**INFO, "NCCL_P2P_DISABLE": "1", "NCCL_CUMEM_HOST_ENABLE": "0"},
    ),
    Run("healthy-late-server", "late-server", launcher="tasks", env={"TORCH_CPP_LOG_LEVEL": "INFO"}),
    Run("illegal-access-others-wait", "illegal-access-others-wait", recorder=True),
    Run("misaligned-address", "misaligned-address", 2, env={"TORCH_SHOW_CPP_STACKTRACES": "1"}),
    Run("launch-failure", "launch-failure", 2, launcher="plain", env={"CUDA_LAUNCH_BLOCKING": "1"}),
    Run("invalid-launch", "invalid-launch"),
    Run("label-out-of-range", "label-out-of-range", launcher="plain"),
    Run("cublas-after-assert", "cublas-after-assert", 2, launcher="files"),
    Run("graph-capture-one-rank", "graph-capture-one-rank"),
    Run("compile-backend-error", "compile-backend-error", 2),
    Run(
        "compile-no-compiler",
        "compile-no-compiler",
        2,
        env={"CC": "/opt/toolchain/bin/gcc"},
        launcher="plain",
    ),
    Run("nan-check", "nan-check", env={"TORCH_NCCL_NAN_CHECK": "1"}),
    Run("clip-non-finite", "clip-non-finite", 2),
    Run("loss-scale-collapse", "loss-scale-collapse", 2, launcher="plain", env=RECORD),
    Run("host-memory-error", "host-memory-error", 2),
    Run("shm-full-loader", "shm-full-loader", 2, shm="64m"),
    Run("too-many-files", "too-many-files", 2),
    Run("disk-full-retried", "disk-full-retried"),
    Run("disk-full-raised", "disk-full-raised", launcher="tasks"),
    Run("truncated-checkpoint", "truncated-checkpoint", launcher="plain"),
    Run("checkpoint-size-mismatch", "checkpoint-size-mismatch", 2),
    Run("safetensors-header", "safetensors-header"),
    Run("missing-data-shard", "missing-data-shard", launcher="tasks"),
    Run("restart-succeeds", "restart-succeeds", 2, arguments=("--max-restarts=2",), limit=100),
    Run("restart-recurs", "restart-recurs", 2, arguments=("--max-restarts=2",), launcher="files", limit=110),
    Run("restart-oom-then-port", "restart-oom-then-port", 2, arguments=("--max-restarts=2",), limit=110),
    Run("restart-other-cause", "restart-other-cause", 2, arguments=("--max-restarts=1",), limit=100),
    Run("healthy-progress", "healthy-progress"),
    Run("healthy-caught", "healthy-caught", 2),
    Run("healthy-leaks", "healthy-leaks", 2, launcher="files"),
    Run("healthy-fork-warnings", "healthy-fork-warnings", 2, launcher="plain"),
    Run("healthy-slow-rank", "healthy-slow-rank", 2),
    Run("healthy-fsdp-compile", "healthy-fsdp-compile", env=WARN),
    Run("healthy-pp", "healthy-pp", launcher="tasks", env=WARN),
    Run("healthy-oom-recovered", "healthy-oom-recovered", 2),
    Run("hf-trainer-ok", "hf-trainer-ok", 2, launcher="plain"),
    Run("hf-trainer-unreadable", "hf-trainer-unreadable", 2, launcher="plain"),
    Run("hf-trainer-vocabulary", "hf-trainer-vocabulary", 2, launcher="plain"),
    Run("pl-exception", "pl-exception", 2, launcher="direct"),
    Run("nodes-ok", "plain", launcher="nodes", env=INFO),
    Run("nodes-one-lost", "ddp-runs-long", launcher="nodes", env=WARN, signal_after=(35, 9, 1)),
    Run("nodes-exception", "ddp-forward-raises", launcher="nodes", env=RECORD),
    Run("nodes-sigkill", "ddp-sigkill", launcher="nodes", env=WARN),
    Run("oom-interleaved", "oom-interleaved", 2, whole_gpus=True, merged=True, env=EXPANDABLE_OFF),
    Run("oom-no-context", "plain", 2, hog=0, hog_leaves=0.2, whole_gpus=True, merged=True),
    Run("oom-gather-logits", "oom-gather-logits", launcher="ranks"),
    Run(
        "mesh-expert-skipped", "mesh-expert-skipped", launcher="plain", merged=True, recorder=True, env=STACKS
    ),
    Run("mesh-replica-late", "mesh-replica-late", launcher="tee", merged=True, env=NO_RECORDER),
    Run("tp-sequence-differs", "tp-sequence-differs", launcher="plain", merged=True, env=DETAIL),
    Run("healthy-tp", "healthy-tp", launcher="plain", merged=True, env={**INFO, **DETAIL}),
    Run("no-sync-differs", "no-sync-differs", recorder=True, env=WARN),
    Run("async-order-differs", "async-order-differs", launcher="ranks", env={**WARN, **NO_RECORDER}),
    Run("gather-object-skipped", "gather-object-skipped", launcher="files", env=NO_RECORDER),
    Run("object-list-length", "object-list-length", launcher="mpi"),
    Run("barrier-on-one-rank", "barrier-on-one-rank", launcher="ranks", recorder=True, env=INFO),
    Run("fsdp-layer-skipped", "fsdp-layer-skipped", launcher="plain", merged=True, recorder=True),
    Run("exception-swallowed-drift", "exception-swallowed-drift", merged=True, env=NO_RECORDER),
    Run("early-stop-one-rank", "validation-on-one-rank-returns", launcher="mpi"),
    Run("pp-microbatches-differ", "pp-microbatches-differ", launcher="plain", merged=True, recorder=True),
    Run("pp-ring-reversed", "pp-ring-reversed", launcher="tee", recorder=True),
    Run("lock-taken-twice", "lock-taken-twice", merged=True, recorder=True, env={**INFO, **STACKS}),
    Run("checkpoint-into-pipe", "checkpoint-into-pipe", launcher="ranks"),
    Run("kernel-never-ends", "kernel-never-ends", merged=True, recorder=True, env=DUMP),
    Run("producer-thread-dies", "producer-thread-dies", launcher="mpi", env=NO_RECORDER),
    Run("compile-slow-one-rank", "compile-slow-one-rank", merged=True),
    Run("evaluation-outlasts-timeout", "evaluation-outlasts-timeout", launcher="tasks", env=NO_RECORDER),
    Run("sleeps-of-three", "sleeps-of-three", 3, launcher="spawn", recorder=True, env=DUMP),
    Run("sleeps-of-three-bare", "sleeps-of-three", 3, launcher="spawn", merged=True, env=NO_RECORDER),
    Run("dataset-lock-file", "tokenizer-lock-file", merged=True, env={**DETAIL, **NO_RECORDER}),
    Run("dies-in-backward", "dies-in-backward", 3, launcher="plain", merged=True),
    Run("dies-of-bus-error", "dies-of-bus-error", merged=True, env=WARN),
    Run("dies-of-sigterm", "dies-of-sigterm", launcher="plain", merged=True),
    Run("dies-before-joining", "dies-before-joining", merged=True),
    Run("leaves-with-three", "leaves-with-three", 2, launcher="plain", merged=True, env=INFO),
    Run("leaves-with-zero", "leaves-with-zero", 3, launcher="spawn", merged=True, env=WARN),
    Run("killed-without-launcher", "killed-in-training", launcher="ranks", env=WARN),
    Run("killed-in-spawn", "killed-in-training", launcher="spawn", merged=True),
    Run("killed-at-the-end", "killed-at-the-end", launcher="files"),
    Run("collate-key-error", "collate-key-error", launcher="tasks"),
    Run("collate-key-error-spawn", "collate-key-error", 3, launcher="spawn", merged=True),
    Run("loader-worker-dies", "loader-worker-dies", merged=True),
    Run("loss-asserted", "loss-asserted", launcher="mpi"),
    Run("optimizer-shard-damaged", "optimizer-shard-damaged", launcher="plain", merged=True),
    Run("setting-missing", "setting-missing", 3, launcher="spawn", merged=True),
    Run("tensor-on-the-host", "tensor-on-the-host", launcher="ranks"),
    Run("fsdp-disk-full", "fsdp-disk-full", launcher="plain", merged=True),
    Run("node-absent", "plain", 4, launcher="first-node", arguments=ELASTIC, limit=90),
    Run("world-too-large", "plain", launcher="ranks", env={"WORLD_SIZE": "5"}, limit=90),
    Run("port-taken", "plain", launcher="ranks", port_taken=True, limit=110),
    Run("master-unreachable", "plain", 2, launcher="tasks", env={"MASTER_ADDR": "10.255.255.1"}, limit=110),
    Run(
        "ifname-one-rank",
        "plain",
        launcher="ranks",
        env=WARN,
        rank_env={1: {"NCCL_SOCKET_IFNAME": "bond0", "NCCL_DEBUG": "WARN"}},
    ),
    Run("no-device-one-rank", "plain-gpu", launcher="tasks", rank_env={2: {"CUDA_VISIBLE_DEVICES": ""}}),
    Run("healthy-errors-survived", "healthy-errors-survived", launcher="mpi", env=INFO),
    Run("healthy-long-wait", "healthy-long-wait", launcher="spawn", merged=True, env=CPP_INFO),
    Run(
        "kernel-never-ends-timed",
        "kernel-never-ends",
        launcher="plain",
        merged=True,
        recorder=True,
        env=TIMED,
    ),
    Run("nodes-lock-taken-twice", "lock-taken-twice", launcher="nodes", env=NO_RECORDER),
    Run("interrupted-alone", "interrupted-alone", launcher="plain", merged=True),
    Run("preempted-saves", "preempted-saves", merged=True, signal_after=(30, 15, 0)),
    Run("dies-of-null-spawn", "dies-of-null", 3, launcher="spawn", merged=True),
    Run("dies-of-null-ranks", "dies-of-null", launcher="ranks", env={**INFO, **DETAIL}),
    Run("line-not-json", "line-not-json", merged=True),
    Run("loss-diverges", "loss-diverges", launcher="mpi"),
    Run("dtype-differs", "dtype-differs", launcher="tasks", env=DETAIL),
    Run("fsdp-uneven-loader", "fsdp-uneven-loader", launcher="files", recorder=True),
    Run("backend-differs", "backend-differs", launcher="ranks"),
    Run("pp-shape-differs", "pp-shape-differs", merged=True, recorder=True),
    Run("compile-graph-break", "compile-graph-break", launcher="plain", merged=True),
    Run("oom-all-ranks-spawn", "oom-all-ranks", launcher="spawn", merged=True),
    Run("port-differs", "plain", launcher="ranks", rank_env={3: {"MASTER_PORT": "29601"}}, limit=100),
    Run("world-too-small", "plain", launcher="tasks", env={"WORLD_SIZE": "3"}, limit=90),
    Run("healthy-progress-bar", "healthy-progress-bar", merged=True, env=WARN),
)
