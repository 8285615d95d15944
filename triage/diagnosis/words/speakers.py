"""Whose words an unknown error line is: a component's own prefix tells which trouble it belongs to."""

from __future__ import annotations

from triage.scan.lazy import compiled

_SPEAKERS = (
    # speaks through Slurm's step daemon
    (r"\bpyxis: |\benroot-\w+: |/etc/enroot/hooks\.d/", "container"),
    (
        r"\bNET/(?:IB|OFI|Socket|Plugin|UCX)\b|\bUCX +(?:ERROR|FATAL)|\blibfabric:|\bfi_\w+\(|\bibv_\w+|\bmlx[45]_|\bmodify QP\b"
        r"|\bUCC +ERROR|\bHCCL\(|\bcxi\d*\b|\befa\b|\blibrdmacm|\bOFI\b|\b(?:rdma|gid|roce|infiniband)\b",
        "network",
    ),
    (r"\b(?:slurmstepd(?:-[\w.-]+)?|srun|sbatch|salloc|slurmd|slurmctld|kubelet|qsub|pbs_mom)(?:\[\d+\])?:", "scheduler"),
    (
        r"(?i)\bjob\b.{0,80}\b(?:exceed\w*|reached|over) (?:\w+ )?(?:the |its )?(?:wall[- ]?time|wall[- ]?clock|run[- ]?time|time)\b"
        r"|\bjob\b.{0,60}\b(?:kill|terminat|cancel)\w*\b.{0,60}\b(?:wall[- ]?time|wall[- ]?clock|run[- ]?time|time limit)\b",
        "scheduler",
    ),
    (r"\b(?:FailedScheduling|FailedMount|FailedCreatePodSandBox|BackOff|Evicted|Preempted)\b", "scheduler"),
    (r"\bnvidia-container-cli\b|\bOCI runtime\b|^(?:docker|podman|enroot\S*|pyxis|singularity|apptainer|containerd)\b", "container"),
    (r"\b(?:Lustre\w*|NFS|nfs\d?|GPFS|mmfs\w*|BeeGFS|ceph\w*|fuse|gcsfuse|s3fs|botocore|weka\w*|EXT4-fs|XFS)\b", "storage"),
    (
        r"\b(?:NVRM|nvidia-smi|nvidia-persistenced|nv-fabricmanager|nv-hostengine|cuInit|cuda\w+\(\)|NVML"
        r"|dcgm\w*|amdgpu|rocBLAS|hipBLASLt|MIOpen|HSA_STATUS_\w+|amd-smi|rocm-smi|npu-smi)\b",
        "driver",
    ),
    (
        r"(?i)\b(?:must (?:not )?(?:be|have|match|divide|set|run|equal)|(?:partition|number|value|size|layout|grid"
        r"|decomposition)\b.{0,60} is invalid|at least \d"
        r"|un(?:recognized|supported|known) (?:argument|option|value|flag)|invalid (?:argument|option|value|choice|config\w*)"
        r"|not supported|need(?:s|ed)? to be|ha(?:s|ve) to be|requested .{1,60} but only|only \d+ ?[\w()]{1,20} (?:are |is )?available"
        r"|should be (?:a |an |one |set|>|<|at)"
        r"|is required|are required|requires? (?:at|that|the|an?|--?\w+)|invalid (?:\w+ )?(?:command|keyword|parameter|setting|flag)\b"
        r"|unknown (?:\w+ )?(?:command|keyword|style|parameter|key)\b|illegal (?:\w+ )?command|you selected|manually|not divisible"
        r"|incompatible with|cannot be used (?:with|together)"
        r"|(?:action|keyword|command|option|parameter|argument|style|variable|input|entry|section|block)\b.{0,80}?\b(?:is (?:not (?:known"
        r"|recogni[sz]ed|defined|valid|allowed)|unknown|undefined|compulsory|mandatory|missing)))\b",
        "settings",
    ),
    # the frame in which MPI's launchers say what they do not take
    (r"\n-{74}\s*$", "settings"),
)  # fmt: skip


def speaker(words: str) -> str | None:
    """The kind of component whose words these are, None where they may be anybody's."""
    return next((kind for pattern, kind in _SPEAKERS if compiled(pattern).search(words)), None)
