"""What commands to copy are filled in with, besides what was captured: the job's number, and the log itself."""

from __future__ import annotations

import re
import shlex

from triage.diagnosis.job import Item, Job
from triage.scan.lazy import compiled

_TOLD_BY_SLURM = r"\b(?:StepId=|JobId=|STEP |JOB |[Bb]atch job |[Jj]ob(?: id)?[ =])(\d+)(?![\d-])"
"""How Slurm's programs name a job, or a step of it."""
_IN_A_NAME = r"(?:\A|/)slurm-(\d{2,})(?:_\d+)?[.\w-]*\Z"
"""How Slurm calls the output of a job unless it is told otherwise."""
_VARIABLES = ("SLURM_JOB_ID", "SLURM_JOBID")


def job_id(job: Job) -> str | None:
    """The number of the Slurm job that the logs are of; None where none or several are told."""
    told = {str(value) for fact in ("job", "slurm-job") for value in job.facts(fact, "job_id")}
    told |= {value for name in _VARIABLES if (value := job.environment.get(name))}
    if not told:
        shown = (e.text for i in job.items if i.rule.id.startswith("slurm.") for e in i.finding.evidence)
        told = {number for text in shown for number in compiled(_TOLD_BY_SLURM).findall(text)}
    if not told:
        told = {found[1] for source in job.sources if (found := compiled(_IN_A_NAME).search(source.name))}
    numbers = {number.partition("_")[0] for number in told if re.fullmatch(r"\d+(?:_\d+)?", number)}
    return next(iter(numbers)) if len(numbers) == 1 else None


def log_of(job: Job, lead: Item) -> str | None:
    """The file that the deciding line stands in, as it is written on a command line; None where it is no file."""
    source = job.source_of(lead.finding)
    if source is None or source.path is None:
        return None
    # of a bundle the file in it, of a part the whole
    return shlex.quote(source.name if source.data is None or source.above else source.path)
