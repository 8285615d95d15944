"""Cause versus symptom: from findings to a diagnosis."""

from triage.diagnosis.diagnose import diagnose
from triage.diagnosis.run import Run

__all__ = ["Run", "diagnose"]
