"""From sources to findings: each is read whole by the reader that knows it, or scanned as a log."""

from triage.reading.gather import Gathered, Gatherer
from triage.reading.part import read_part

__all__ = ["Gathered", "Gatherer", "read_part"]
