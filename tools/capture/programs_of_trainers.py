"""More programs, which report as the common trainers do (``scenarios/programs/trainers.py``)."""

from __future__ import annotations

import signal

from plan import DETAIL, DUMP, INFO, WARN
from programs import COMPOSE, MPI, NODE, QUICK, SRUN, STAMP, Program

WORKER = "[pod/vlm-run3-worker-{task}/pytorch] "
MASTER = {"MASTER_ADDR": "vlm-run3-master-0.vlm-run3.ml-train.svc.cluster.local"}
NEIGHBOUR = (
    'python3 -c \'import torch, time; x = torch.zeros(112 << 30, dtype=torch.uint8, device="cuda:0"); '
    "time.sleep(90)' >/dev/null 2>&1 & sleep 7"
)

TRAINERS: tuple[Program, ...] = (
    Program("sft-axolotl-2gpu", "long-sequence", "/workspace/axolotl/train.py", ranks=2, whole_gpus=True),
    Program(
        "clm-13b-2gpu",
        "first-optimizer-step",
        "/workspace/examples/run_clm.py",
        ranks=2,
        tee=True,
        whole_gpus=True,
    ),
    Program(
        "learner-atari",
        "replay-on-device",
        "/opt/rl/learner.py",
        ranks=2,
        prefix=STAMP,
        setup=NEIGHBOUR,
        whole_gpus=True,
    ),
    Program(
        "vlm-worker-dns",
        "steady-start",
        "/app/train.py",
        launcher="ranks",
        rank_env=dict.fromkeys(range(4), MASTER),
        prefix=WORKER,
    ),
    Program(
        "srun-4-tasks",
        "steady-start",
        "/home/user/lm/train.py",
        launcher="ranks",
        rank_env={3: {"MASTER_PORT": "29519"}},
        prefix=SRUN,
    ),
    Program("ranker-cpu", "two-locks", "/home/user/ranker/train.py", launcher="ranks"),
    Program(
        "restarts-stuck",
        "three-attempts",
        "/workspace/examples/run_clm.py",
        agent=("--max-restarts=2",),
        limit=100,
    ),
    Program(
        "restarts-two",
        "three-attempts",
        "/workspace/examples/run_clm.py",
        env={"TORCH_NCCL_DUMP_ON_TIMEOUT": "0", "TORCH_NCCL_ENABLE_MONITORING": "0"},
        agent=("--max-restarts=2",),
        limit=115,
    ),
    Program(
        "index-pages",
        "page-of-index",
        "/workspace/axolotl/train.py",
        env={**QUICK, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "15"},
        tee=True,
    ),
    Program(
        "vlm-worker-env",
        "steady-start",
        "/app/train.py",
        launcher="ranks",
        rank_env={2: {"RANK": None}},
        prefix=WORKER,
    ),
    Program("nemo-compiled", "one-graph", "/opt/NeMo/examples/pretrain.py", launcher="nodes", prefix=NODE),
    Program("mt-enfr", "last-shard-shorter", "/workspace/fairseq/train.py", env=QUICK, files=True),
    Program(
        "seqcls-mnli",
        "patience-on-each-rank",
        "/workspace/examples/run_glue.py",
        launcher="ranks",
        env=QUICK,
        prefix=SRUN,
    ),
    Program(
        "ds-chat-stage1",
        "micro-batch-by-card",
        "/workspace/DeepSpeedExamples/main.py",
        launcher="nodes",
        env=QUICK,
        tee=True,
    ),
    Program(
        "tokenizer-4",
        "vocabulary-cached",
        "/opt/ml/code/train.py",
        launcher="nodes",
        env={**WARN, **QUICK},
        prefix=NODE,
    ),
    Program(
        "titan-debug",
        "units-by-size",
        "/opt/torchtitan/train.py",
        launcher="ranks",
        env=QUICK,
        rank_env={2: {"FSDP_MIN_NUM_PARAMS": "1000000"}},
    ),
    Program("gpt-1b3", "sharded-writer", "/workspace/Megatron-LM/pretrain_gpt.py", env=QUICK),
    Program("bert-absl", "norm-of-gradients", "/home/user/bert/train.py", tee=True),
    Program(
        "olmo-7b-node1",
        "hidden-shape",
        "/weka/olmo/scripts/train.py",
        launcher="nodes",
        env=QUICK,
        drop=("gpu-node-02.log",),
    ),
    Program(
        "vit-in1k",
        "steady-steps",
        "/workspace/timm/train.py",
        tee=True,
        signal=(r"Train: 0 \[  4", signal.SIGTERM, 2),
    ),
    Program(
        "hash-embed", "bucket-table", "/workspace/rec/train.py", env={"PYTHONFAULTHANDLER": "1"}, prefix=STAMP
    ),
    Program("mt-deen", "leaves-with-one", "/workspace/fairseq/train.py", files=True),
    Program("segmenter", "notification", "/srv/seg/train.py", env=QUICK, tail=158),
    Program(
        "titan-8b",
        "packing",
        "/opt/torchtitan/train.py",
        launcher="ranks",
        env={**DUMP, **QUICK},
        prefix=WORKER,
    ),
    Program(
        "resnext-cls",
        "classes",
        "/workspace/timm/train.py",
        launcher="ranks",
        env={**QUICK, "CUDA_LAUNCH_BLOCKING": "1"},
        prefix=MPI,
    ),
    Program("mask-heads", "unused-head", "/workspace/detectron2/tools/train_net.py", tail=105),
    Program(
        "mt-csen",
        "steady-device",
        "/workspace/fairseq/train.py",
        launcher="ranks",
        rank_env={1: {"CUDA_VISIBLE_DEVICES": ""}},
        prefix=COMPOSE,
    ),
    Program("corpus-lm", "line-of-corpus", "/srv/llm/train.py", tee=True, merged=False),
    Program("olmo-1b", "archive-of-tokens", "/weka/olmo/scripts/train.py", launcher="ranks", env=QUICK),
    Program("nemo-restore", "larger-model", "/opt/NeMo/examples/pretrain.py", launcher="nodes", tee=True),
    Program("llama-sft", "state-of-trainer", "/workspace/examples/run_sft.py", env=QUICK),
    Program(
        "rcnn-r50",
        "scratch-volume",
        "/workspace/detectron2/tools/train_net.py",
        launcher="nodes",
        env=QUICK,
        prefix=NODE,
        setup="mkdir -p output; mount -t tmpfs -o size=120m tmpfs output",
    ),
    Program("clm-done", "fine-left-open", "/workspace/examples/run_clm.py"),
    Program("nemo-3-epochs", "fine-nan-metric", "/opt/NeMo/examples/pretrain.py", launcher="nodes", tee=True),
    Program("titan-30-steps", "fine-slow-rank", "/opt/torchtitan/train.py", launcher="ranks", prefix=WORKER),
    Program(
        "olmo-requeue",
        "fine-preempted",
        "/weka/olmo/scripts/train.py",
        launcher="ranks",
        signal=(r"step=24/", signal.SIGTERM, -1),
    ),
    Program(
        "ds-30-steps",
        "fine-many-words",
        "/workspace/DeepSpeedExamples/main.py",
        launcher="ranks",
        env={**INFO, **DETAIL},
        prefix=SRUN,
        tail=120,
    ),
    Program("llm-30-steps", "fine-loader-repairs", "/srv/llm/train.py", tee=True, merged=False),
)
