"""Who got the CUDA runtime's answer to what a kernel did: the kernel prints no name, the process that is answered may."""

from __future__ import annotations

from triage.diagnosis.causes.candidates import Candidate

CUDA_ERROR = "cuda-error"
"""The tag of what the CUDA runtime answers; each process is answered for its own device."""


def raised_by_nobody(candidate: Candidate) -> bool:
    """Whether an exception that no name stands at ended a process: the cause itself, or the CUDA error that it led to."""
    raised = [
        candidate.lead,
        *(effect.lead for effect in candidate.led_to if CUDA_ERROR in effect.lead.rule.tags),
    ]
    return any(item.finding.raised and item.rank is None and not item.finding.stream for item in raised)


def stated_by(candidate: Candidate) -> list[int]:
    """The one rank that logged the CUDA error which an assertion without a name led to."""
    stated = {
        item.rank for effect in candidate.led_to if CUDA_ERROR in effect.lead.rule.tags
        for item in effect.items if item.rank is not None
    }  # fmt: skip
    return [*stated] if len(stated) == 1 else []
