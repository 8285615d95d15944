"""Which scenarios run as programs of their own: path, launcher, layout, environment."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from plan import DETAIL, DUMP, INFO, WARN

QUICK = {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "4000"}
SRUN, MPI, COMPOSE = "{task}: ", "[1,{task}]<{stream}>:", "worker-{task}  | "
POD, STAMP, NODE = "[pod/pretrain-7b-worker-{task}/pytorch] ", "{iso} ", "{host}: "


@dataclass(frozen=True)
class Program:
    """One capture of a program that stands alone. ``launcher``: ``torchrun``, ``accelerate``, ``nodes`` (two
    agents with host names of their own) or ``ranks`` (one process per rank, no launcher). Ranks that have no
    GPU of their own share one and are told apart by host."""

    name: str
    scenario: str
    path: str = "/workspace/train.py"
    """Where the program lies in the eyes of the job."""
    launcher: str = "torchrun"
    ranks: int = 4
    env: Mapping[str, str] = field(default_factory=dict)
    rank_env: Mapping[int, Mapping[str, str | None]] = field(default_factory=dict)
    """Without a value a variable is not set."""
    tee: bool = False
    files: bool = False
    """torchrun writes a file per rank and stream."""
    prefix: str = ""
    """In front of each line; with ``ranks`` and none, each rank has a file."""
    merged: bool = True
    agent: tuple[str, ...] = ()
    """Arguments of the launcher."""
    second: tuple[str, ...] = ()
    """Those of the second node's where they differ: both then meet by rendezvous."""
    arguments: tuple[str, ...] = ()
    setup: str = ""
    """Shell commands in the job's folder beforehand."""
    limit: float = 130
    signal: tuple[str, int, int] | None = None
    """Text of the log that is waited for, signal number, rank that gets it (-1: all)."""
    whole_gpus: bool = False
    memory: str | None = None
    port_taken: bool = False
    own_gpu: Mapping[int, int] = field(default_factory=dict)
    """GPU that each task sees as its only one."""
    tail: int = 0
    """Only so many last lines of each file are kept."""
    drop: tuple[str, ...] = ()
    """Files that are not kept."""


PROGRAMS: tuple[Program, ...] = (
    Program(
        "tables-rank1",
        "table-too-large",
        "/home/mlops/dlrm/train_dlrm.py",
        ranks=2,
        whole_gpus=True,
        tee=True,
    ),
    Program("holes-rank0", "holes-between-blocks", "/workspace/sft/run_sft.py", ranks=2, whole_gpus=True),
    Program(
        "pool-rank1",
        "pool-of-another-library",
        "/opt/ml/code/train.py",
        ranks=2,
        whole_gpus=True,
        env=WARN,
        prefix=SRUN,
        launcher="ranks",
    ),
    Program(
        "hsdp-spike", "hsdp-spike-reduce", "/opt/torchtitan/train.py", env=QUICK, tee=True, launcher="nodes"
    ),
    Program(
        "moe-empty",
        "moe-empty-expert",
        "/home/user/moe/pretrain.py",
        prefix=SRUN,
        env={**WARN, **QUICK},
        launcher="ranks",
    ),
    Program(
        "fsdp-accumulation",
        "fsdp-last-accumulation",
        "/workspace/Megatron-LM/pretrain_gpt.py",
        launcher="nodes",
    ),
    Program("barrier-handler", "barrier-in-handler", "/opt/ml/code/finetune.py", env=DETAIL, prefix=STAMP),
    Program("group-of-others", "group-of-others", "/mmdetection/tools/train.py", merged=False),
    Program(
        "group-destroyed",
        "group-used-after-destroy",
        "/home/user/nanoGPT/train.py",
        launcher="nodes",
        prefix=NODE,
    ),
    Program(
        "resumed-older",
        "resumed-from-older",
        "/workspace/src/main.py",
        env={**DUMP, **QUICK},
        launcher="ranks",
    ),
    Program("epoch-early", "epoch-ends-early", "/workspace/trainer/fit.py"),
    Program(
        "scatter-short",
        "scatter-list-short",
        "/srv/train/launch_train.py",
        prefix=MPI,
        env=QUICK,
        launcher="ranks",
    ),
    Program(
        "empty-batch",
        "empty-batch-skipped",
        "/workspace/rank_model/train.py",
        env={**WARN, **QUICK},
        tee=True,
        launcher="nodes",
    ),
    Program(
        "pipeline-nan",
        "pipeline-skips-backward",
        "/workspace/pp/pretrain.py",
        prefix=POD,
        env=QUICK,
        launcher="ranks",
    ),
    Program(
        "validation-lengths",
        "validation-lengths-differ",
        "/home/user/classify/main.py",
        files=True,
        env=QUICK,
    ),
    Program("metric-length", "metric-length-differs", "/opt/ml/code/train.py", tee=True, merged=False),
    Program("pipe-read", "read-from-pipe", "/workspace/pretrain/train_lm.py", env=QUICK, launcher="ranks"),
    Program(
        "stopped-hsdp",
        "stopped-in-shard-group",
        "/opt/torchtitan/train.py",
        env={**WARN, **QUICK},
        signal=(r"\[rank2\] step 12 ", signal.SIGSTOP, 2),
    ),
    Program("program-waited", "waits-for-program", "/workspace/examples/run_clm.py", prefix=STAMP, env=QUICK),
    Program(
        "pattern-endless",
        "pattern-never-ends",
        "/srv/llm/train.py",
        env={**DUMP, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "40"},
        tee=True,
    ),
    Program(
        "index-slow", "index-outlasts-timeout", "/workspace/pretrain/train_lm.py", env=QUICK, launcher="ranks"
    ),
    Program(
        "barrier-monitored",
        "monitored-barrier-missed",
        "/mmdetection/tools/train.py",
        launcher="nodes",
        prefix=NODE,
    ),
    Program(
        "time-budget", "wall-time-differs", "/home/user/cpu_ranker/fit.py", prefix=SRUN, launcher="ranks"
    ),
    Program(
        "key-unset",
        "key-never-set",
        "/opt/ml/code/train.py",
        setup="mkdir -p export; mount -t tmpfs -o ro tmpfs export",
        tee=True,
    ),
    Program("native-fpe", "divides-by-zero", "/workspace/video/train_vit.py", env=WARN, launcher="nodes"),
    Program(
        "native-abort",
        "native-assertion",
        "/workspace/packed/train.py",
        tee=True,
        launcher="nodes",
        prefix=NODE,
    ),
    Program(
        "hook-error",
        "hook-raises",
        "/opt/torchtitan/train.py",
        files=True,
        env={"TORCH_SHOW_CPP_STACKTRACES": "1"},
    ),
    Program(
        "killed-saving",
        "killed-while-saving",
        "/workspace/fsdp/train.py",
        prefix=SRUN,
        signal=(r"step=22 .*", signal.SIGKILL, 3),
        env=QUICK,
        launcher="ranks",
    ),
    Program("cpu-seconds", "processor-time", "/home/user/nanoGPT/train.py", tee=True),
    Program("job-memory", "memory-of-the-job", "/opt/ml/code/train.py", memory="16G", prefix=NODE),
    Program(
        "host-table",
        "table-on-the-host",
        "/srv/train/launch_train.py",
        setup="echo 0 >/proc/sys/vm/overcommit_memory",
        tee=True,
    ),
    Program(
        "position-beyond",
        "position-beyond-table",
        "/workspace/src/pretrain.py",
        prefix=SRUN,
        env=QUICK,
        launcher="ranks",
    ),
    Program("row-stride", "row-stride-wrong", "/home/user/nanoGPT/train.py", tee=True, launcher="nodes"),
    Program("other-arch", "built-for-older", "/opt/torchtitan/train.py"),
    Program("capture-item", "item-while-capturing", "/workspace/infer/train_graphed.py", merged=False),
    Program("recompile-limit", "lengths-recompile", "/workspace/examples/run_clm.py", tee=True),
    Program("triton-compile", "kernel-does-not-compile", "/mmdetection/tools/train.py"),
    Program(
        "loss-guard", "loss-guard", "/workspace/src/main.py", prefix=COMPOSE, env=QUICK, launcher="ranks"
    ),
    Program("anomaly", "anomaly-detected", "/home/user/classify/main.py", launcher="accelerate"),
    Program(
        "picture-bad",
        "picture-unreadable",
        "/mmdetection/tools/train.py",
        tee=True,
        launcher="nodes",
        prefix=NODE,
    ),
    Program(
        "parquet-bad", "table-footer-missing", "/workspace/rank_model/train.py", env=QUICK, launcher="ranks"
    ),
    Program("archive-bad", "archive-cut", "/workspace/clip/train.py", prefix=STAMP),
    Program("row-short", "row-too-short", "/opt/ml/code/train.py", files=True),
    Program(
        "gzip-cut",
        "compressed-file-cut",
        "/workspace/examples/run_clm.py",
        prefix=MPI,
        env=QUICK,
        launcher="ranks",
    ),
    Program("async-save", "async-save-fails", "/opt/torchtitan/train.py", tee=True, launcher="nodes"),
    Program("old-names", "names-of-older-model", "/home/user/nanoGPT/train.py"),
    Program("weights-only", "pickled-settings", "/workspace/Megatron-LM/pretrain_gpt.py", prefix=STAMP),
    Program(
        "metrics-full",
        "metrics-disk-full",
        "/home/user/classify/main.py",
        setup="mkdir -p outputs; ln -s /dev/full outputs/metrics.jsonl",
        env=QUICK,
        launcher="ranks",
    ),
    Program(
        "replay-shm",
        "replay-shared",
        "/workspace/rl/learner.py",
        setup="mount -t tmpfs -o size=1g tmpfs /dev/shm",
        tee=True,
    ),
    Program(
        "metrics-json", "metrics-not-json", "/workspace/examples/run_clm.py", launcher="accelerate", env=WARN
    ),
    Program(
        "too-many-ranks", "trains-steadily", "/workspace/src/main.py", env={"CUDA_VISIBLE_DEVICES": "0,1"}
    ),
    Program(
        "same-gpu",
        "trains-steadily",
        "/home/user/moe/pretrain.py",
        prefix=SRUN,
        own_gpu={0: 0, 1: 1, 2: 0, 3: 0},
        launcher="ranks",
    ),
    Program(
        "algo-differs",
        "reduces-large",
        "/srv/llm/train.py",
        env={**INFO, **QUICK, "NCCL_ALGO": "Ring"},
        rank_env={2: {"NCCL_ALGO": "Tree"}},
        prefix=POD,
        launcher="ranks",
    ),
    Program(
        "proto-differs",
        "reduces-large",
        "/srv/llm/train.py",
        env={**INFO, **QUICK, "NCCL_PROTO": "Simple"},
        rank_env={1: {"NCCL_PROTO": "LL"}},
        launcher="ranks",
    ),
    Program(
        "net-one-rank",
        "trains-steadily",
        "/workspace/train.py",
        env=WARN,
        rank_env={1: {"NCCL_NET": "IB"}},
        prefix=MPI,
        launcher="ranks",
    ),
    Program(
        "topo-file",
        "trains-quietly",
        "/workspace/Megatron-LM/pretrain_gpt.py",
        env={**WARN, "NCCL_TOPO_FILE": "/workspace/Megatron-LM/topo.xml"},
        setup='echo \'<system version="1"><cpu numaid="0" affinity="ffff">\' >topo.xml',
    ),
    Program(
        "world-of-eight",
        "trains-steadily",
        "/workspace/train.py",
        rank_env={3: {"WORLD_SIZE": "8"}},
        prefix=SRUN,
        launcher="ranks",
    ),
    Program(
        "rendezvous-ids",
        "trains-quietly",
        "/workspace/train.py",
        launcher="nodes",
        agent=("--rdzv-id=pretrain-1107",),
        second=("--rdzv-id=pretrain-1170",),
    ),
    Program(
        "buffer-size",
        "reduces-large",
        "/srv/llm/train.py",
        env={**INFO, **QUICK, "NCCL_BUFFSIZE": "4194304"},
        rank_env={2: {"NCCL_BUFFSIZE": "1048576"}},
        prefix=MPI,
        launcher="ranks",
    ),
    Program(
        "gloo-interface",
        "trains-over-gloo",
        "/home/user/cpu_ranker/fit.py",
        rank_env={1: {"GLOO_SOCKET_IFNAME": "ens5"}},
        prefix=POD,
        launcher="ranks",
    ),
    Program(
        "shm-nccl",
        "trains-steadily",
        "/workspace/rl/learner.py",
        setup="mount -t tmpfs -o size=64m tmpfs /dev/shm",
        tee=True,
    ),
    Program("agent-port", "trains-quietly", "/workspace/train.py", port_taken=True),
    Program("mixed-mesh", "plain-tensor-in-mesh", "/opt/torchtitan/train.py", tee=True),
    Program(
        "hub-offline-transformers",
        "model-not-cached",
        "/workspace/examples/run_clm.py",
        env={"HF_HUB_OFFLINE": "1", "HF_HOME": "/tmp/hf-none"},
    ),
    Program("library-older", "library-needs-older", "/workspace/train.py", prefix=SRUN, launcher="ranks"),
    Program("tracker", "tracker-missing", "/workspace/src/main.py", env=QUICK, launcher="ranks"),
    Program(
        "batch-division",
        "batch-not-divisible",
        "/workspace/Megatron-LM/pretrain_gpt.py",
        arguments=("--micro-batch-size", "4"),
    ),
    Program(
        "flag-unknown",
        "argument-unknown",
        "/workspace/Megatron-LM/pretrain_gpt.py",
        arguments=("--micro-batch-size", "4", "--lr-warmup-iters", "200"),
        tee=True,
    ),
    Program("healthy-join", "fine-join", "/opt/ml/code/train.py", env=WARN, tee=True, launcher="nodes"),
    Program("healthy-smaller", "fine-smaller-batch", "/workspace/src/main.py", launcher="nodes", prefix=NODE),
    Program(
        "healthy-usr1",
        "fine-signal-saves",
        "/opt/torchtitan/train.py",
        signal=(r"step: 15 ", signal.SIGUSR1, -1),
        tee=True,
    ),
    Program(
        "healthy-attempts",
        "fine-second-attempt",
        "/workspace/pretrain/train_lm.py",
        agent=("--max-restarts=3",),
        env={"TORCH_NCCL_DUMP_ON_TIMEOUT": "0", "TORCH_NCCL_ENABLE_MONITORING": "0"},
        signal=(r"step=14 ", signal.SIGKILL, 3),
    ),
    Program(
        "healthy-recompiles",
        "fine-recompiles",
        "/workspace/clip/train.py",
        env={"TORCH_LOGS": "recompiles,graph_breaks"},
        tee=True,
    ),
    Program(
        "healthy-barrier",
        "fine-barrier-retried",
        "/mmdetection/tools/train.py",
        prefix=COMPOSE,
        launcher="ranks",
    ),
    Program("healthy-overflow", "fine-overflow", "/home/user/classify/main.py", launcher="accelerate"),
    Program(
        "healthy-pictures",
        "fine-bad-pictures",
        "/srv/train/launch_train.py",
        prefix=MPI,
        env={"TORCH_CPP_LOG_LEVEL": "INFO", "TORCH_DISTRIBUTED_DEBUG": "INFO"},
        launcher="ranks",
    ),
    Program("healthy-captured", "fine-captured", "/workspace/infer/train_graphed.py", env=INFO, files=True),
)
