"""Diagnoses as the engine would give them, built by hand, benign and hostile."""

from __future__ import annotations

from triage.model import (
    Attempt,
    Diagnosis,
    Discouraged,
    Event,
    Evidence,
    FindingGroup,
    Hypothesis,
    Origin,
    RankState,
    SourceReport,
    Step,
)

TOKEN = "hf" + "_" + "aB3dE6gH9jK2" * 3

OOM_LINE = (
    "[default2]:[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a "
    "total capacity of 139.80 GiB of which 1.31 GiB is free. Including non-PyTorch memory, this process has "
    "138.48 GiB memory in use. Of the allocated memory 136.21 GiB is allocated by PyTorch, and 1.02 GiB is "
    "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)


def marked(path: str, line: int | None, text: str, decisive: str, **fields: object) -> Evidence:
    start = text.index(decisive)
    return Evidence(path, line, text, fields, (start, start + len(decisive)))  # type: ignore[arg-type]


def hypothesis(**changes: object) -> Hypothesis:
    values: dict[str, object] = {
        "rule_id": "torch.nccl-watchdog-timeout",
        "title": "A collective did not finish in time",
        "category": "straggler-or-hang",
        "phase": "steady",
        "confidence": 0.41,
        "summary": "A collective did not finish in time.",
        "origin": Origin(),
        "evidence": (),
        "explains": (),
        "owner": "user",
        "remediation": (),
        "does_not_help": (),
        "retry": "unknown",
    }
    return Hypothesis(**{**values, **changes})  # type: ignore[arg-type]


def oom() -> Diagnosis:
    """One rank of eight ran out of memory, the others timed out waiting for it."""
    root = hypothesis(
        rule_id="torch.oom",
        title="The CUDA allocator ran out of memory",
        category="gpu-oom",
        confidence=0.94,
        summary="rank 2 asked for 2.00 GiB with 1.31 GiB of 139.80 GiB free; the other ranks only waited.",
        origin=Origin(
            rank=2, ranks=(2,), local_rank=2, host="gpu-node-01", gpu=2, time="2026-11-20T18:09:26"
        ),
        evidence=(
            marked("logs/job-4711.err", 41, OOM_LINE, "CUDA out of memory. Tried to allocate 2.00 GiB",
                   requested=2147483648, free=1406611456, token=TOKEN),
        ),
        explains=("torch.nccl-watchdog-timeout", "torch.elastic-closing-signal"),
        remediation=(
            Step(
                "Lower the micro-batch size, or the sequence length, until the peak fits",
                "python train.py --micro-batch-size 1 --gradient-accumulation-steps 8",
                "torch.cuda.max_memory_allocated() stays below 125 GiB after ten steps",
            ),
            Step("Turn on activation checkpointing for the transformer blocks"),
            Step(
                "Make sure that nothing else uses the GPU",
                "nvidia-smi --query-compute-apps=pid,used_memory,gpu_uuid --format=csv --id=2 && "
                "ls -l /proc/*/fd 2>/dev/null | grep -c nvidia2",
                owner="operator",
            ),
        ),
        does_not_help=(
            Discouraged("Raising the NCCL timeout", "the ranks waited for one that was already dead"),
            Discouraged("expandable_segments", "only 1.02 GiB were reserved but unallocated"),
        ),
        retry="after-fix",
        references=("https://pytorch.org/docs/stable/notes/cuda.html#memory-management",),
        reasons=("Its finding is 14.2 s older than the first timeout.",),
    )  # fmt: skip
    timeout = (
        "[rank0]:[E1120 18:09:41] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)"
    )
    return Diagnosis(
        verdict="failed",
        completed=False,
        root_cause=root,
        alternatives=(
            hypothesis(
                origin=Origin(rank=0, ranks=(0,)),
                reasons=("All seven timeouts come after rank 2 had died.", "A timeout is never a cause."),
            ),
        ),
        notes=("No kernel log was given: a GPU fault can't be ruled out from the input alone.",),
        findings=(
            FindingGroup("torch.oom", root.title, "cause", "gpu-oom", 1, (2,), root.evidence),
            FindingGroup(
                "torch.nccl-watchdog-timeout", "NCCL watchdog timeout", "symptom", None, 14,
                (0, 1, *range(3, 8)),
                (Evidence("logs/job-4711.err", 58, timeout),), explained_by="torch.oom",
            ),
            FindingGroup(
                "torch.elastic-closing-signal", "torchrun stopped the other processes", "symptom", None,
                7, (), (Evidence("logs/job-4711.err", 44, "Sending process 2064 closing signal SIGTERM"),),
                explained_by="torch.oom",
            ),
            FindingGroup("torch.omp-threads", "OMP_NUM_THREADS was set to 1", "benign", None, 1, (), ()),
        ),
        ranks=tuple(
            RankState(
                rank, "gpu-node-01", rank, rank,
                status="raised" if rank == 2 else "timed-out",
                group="default_pg", sequence=None if rank == 2 else 7,
                operation=None if rank == 2 else "ALLREDUCE",
                enqueued=6 if rank == 2 else 7, completed=6, exit_code=1 if rank == 2 else None,
                signal=None if rank == 2 else "SIGABRT",
            )
            for rank in range(8)
        ),
        timeline=(
            Event("2026-11-20T18:09:26", 2, "gpu-node-01", "CUDA out of memory", "torch.oom",
                  "logs/job-4711.err", 41),
            Event("2026-11-20T18:09:41", 0, "gpu-node-01", "the first NCCL watchdog timeout, of 14", None,
                  "logs/job-4711.err", 58),
        ),
        sources=(
            SourceReport("logs/job-4711.err", "log", 51234, 612),
            SourceReport("logs/job-4711.out.gz", "log", 1024, 9, False, "gzip stream ends early"),
        ),
        fingerprint="5b7c0e91d2aa",
        reasoning=("Rank 2 raised before any other rank complained.", "It never entered ALLREDUCE 7."),
        stats={"seconds": 0.042, "bytes": 52258},
    )  # fmt: skip


def hardware() -> Diagnosis:
    """A GPU fell off the bus: a node to drain, a rank that nobody named."""
    line = (
        "Nov 20 18:09:21 gpu-07 kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=4321, GPU has fallen off the bus."
    )
    root = hypothesis(
        rule_id="gpu.xid-79",
        title="A GPU fell off the bus (Xid 79)",
        category="gpu-hardware",
        confidence=0.97,
        summary="the GPU at 0000:1b:00 of gpu-07 stopped answering; every process that used it died.",
        origin=Origin(host="gpu-07", pci_bus_id="0000:1b:00", time="2026-11-20T18:09:21"),
        evidence=(marked("dmesg-gpu-07.txt", 1822, line, "GPU has fallen off the bus"),),
        owner="operator",
        remediation=(
            Step(
                "Drain the node",
                "scontrol update nodename=gpu-07 state=drain reason='Xid 79, GPU 0000:1b:00'",
            ),
            Step("Power-cycle it and run the vendor's diagnostics", "dcgmi diag -r 3", "all tests pass"),
            Step("Exchange the GPU when it happens again", owner="vendor"),
        ),
        does_not_help=(Discouraged("Resetting the GPU with nvidia-smi", "a GPU off the bus doesn't answer"),),
        retry="other-nodes",
        nodes_to_avoid=("gpu-07",),
    )
    return Diagnosis(
        verdict="failed",
        completed=False,
        root_cause=root,
        attempts=(
            Attempt(1, "failed", root, "2026-11-20T17:00:02", "2026-11-20T18:09:24"),
            Attempt(2, "failed", hypothesis(origin=Origin(rank=56)), "2026-11-20T18:10:01", None),
        ),
        fingerprint="91aa23bc",
    )


def large() -> Diagnosis:
    """512 ranks on 64 nodes, one of which never entered the collective."""
    return Diagnosis(
        verdict="failed",
        completed=False,
        root_cause=hypothesis(
            rule_id="ledger.missing-rank",
            title="One rank never entered a collective",
            confidence=0.72,
            summary="511 ranks waited in ALLGATHER 8812; rank 37 had finished 8811 and never came.",
            origin=Origin(rank=37, ranks=(37,), local_rank=5, host="node-004", gpu=5),
            remediation=(Step("See what rank 37 is doing", "ssh node-004 py-spy dump --pid 88120"),),
        ),
        ranks=tuple(
            RankState(
                rank, f"node-{rank // 8:03}", rank % 8, rank % 8,
                status="seen" if rank == 37 else "timed-out", group="default_pg",
                operation="BROADCAST" if rank == 37 else "ALLGATHER_BASE",
                sequence=8811 if rank == 37 else 8812,
                elements_in=1048576, enqueued=8811 if rank == 37 else 8812, completed=8811, last_step=4406,
            )
            for rank in range(512)
        ),
    )  # fmt: skip


def healthy() -> Diagnosis:
    """A run that ended well, with a loss that became NaN on the way."""
    line = "step 4000 loss nan lr 1e-4"
    return Diagnosis(
        verdict="healthy",
        completed=True,
        root_cause=None,
        warnings=(
            hypothesis(
                rule_id="torch.nan-loss",
                title="The loss became NaN",
                category="numerics",
                confidence=0.8,
                summary="the loss is NaN from step 4000 on, and the run went on regardless.",
                evidence=(marked("train.log", 812, line, "loss nan"),),
                remediation=(Step("Look at the gradient norm before step 4000"),),
            ),
        ),
        sources=(SourceReport("train.log", "log", 9000, 1000),),
    )


def inconclusive() -> Diagnosis:
    """An archive that breaks off before anything happened."""
    return Diagnosis(
        verdict="inconclusive",
        completed=None,
        root_cause=None,
        notes=("The input ends in the middle of the bootstrap phase.",),
        sources=(SourceReport("job.err.gz", "log", 4096, 12, complete=False, note="gzip stream ends early"),),
    )


HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07[bold red]boo[/bold red] <script>alert(1)</script> [link](https://evil.example) "
    "@admin #123 | a | `code` ```` *bold* _it_ \u202egnitrever\u202c HF_TOKEN="
) + TOKEN


def hostile() -> Diagnosis:
    """Every string that a log can influence is an attack."""
    text = HOSTILE + "\n# heading\n```\n" + "x" * 5000 + "\ttab\r\n"
    source = SourceReport(HOSTILE, "log", complete=False, note=HOSTILE, host=HOSTILE)
    root = hypothesis(
        title=HOSTILE,
        summary=HOSTILE,
        origin=Origin(rank=1, ranks=(1,), host=HOSTILE, pci_bus_id=HOSTILE, gpu_uuid=HOSTILE, time=HOSTILE),
        evidence=(Evidence(HOSTILE, 1, text, {"v": (HOSTILE, float("nan"), None, 2**70)}, (2, 9)),),
        explains=("symptom",),
        remediation=(Step(HOSTILE, HOSTILE, HOSTILE),),
        does_not_help=(Discouraged(HOSTILE, HOSTILE),),
        nodes_to_avoid=(HOSTILE,),
        reasons=(HOSTILE,),
        references=(HOSTILE,),
    )
    group = FindingGroup("symptom", HOSTILE, "symptom", None, 3, (1, 2), root.evidence, True, "x")
    return Diagnosis(
        verdict="failed",
        completed=False,
        root_cause=root,
        alternatives=(root,),
        warnings=(root,),
        notes=(HOSTILE,),
        findings=(group,),
        ranks=(
            RankState(1, HOSTILE, operation=HOSTILE, group=HOSTILE, signal=HOSTILE, waited_s=float("inf")),
        ),
        attempts=(Attempt(1, "failed", root, HOSTILE, HOSTILE), Attempt(2, "failed", None)),
        timeline=(Event(HOSTILE, 1, HOSTILE, HOSTILE, None, HOSTILE, 1),),
        sources=(source,),
        fingerprint=HOSTILE,
        reasoning=(HOSTILE,),
        stats={HOSTILE: HOSTILE, "speed": float("nan")},
    )
