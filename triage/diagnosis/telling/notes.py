"""Notes below a diagnosis: why nothing could be told, and where to look next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triage.diagnosis.job import Item
from triage.diagnosis.run import Run
from triage.diagnosis.telling.outcomes import Outcome

STACKS = "pyspy"
_NAMED = 3


def dumped(run: Run, items: Iterable[Item]) -> bool:
    """Whether somebody had the stacks of the processes printed."""
    return any(report.kind == STACKS for report in run.reports) or any(
        item.rule.fact == "native-stacks" for item in items
    )


def notes_on(run: Run, last: Outcome, completed: bool | None, items: Sequence[Item]) -> list[str]:
    """What an operator should know of a run in which no failure was found."""
    notes: list[str] = []
    if last.verdict == "inconclusive":
        if run.bytes_read == 0:
            notes.append(
                "There is nothing to read: the input is empty. Look at standard output and at the other ranks' logs."
            )
        elif run.cut:
            notes.append("Some input was not read to its end, and what was read shows no failure.")
        elif last.alarm is not None:
            shown = last.alarm
            words = " ".join(shown.text.split())[:160]
            notes.append(
                f"No known failure was found, but nothing shows a good end either, and the log ends with "
                f"words that no rule knows: {shown.path}:{shown.line}: {words}"
            )
        elif dumped(run, items):
            notes.append(
                "Stacks of processes were dumped, as is done of a job that stands still, and nothing tells why it "
                "does. Dump those of all ranks at one moment (py-spy dump --pid PID) and give their logs with them."
            )
        elif unread := [report.name for report in run.reports if report.kind == "unintelligible"]:
            several = len(unread) > 1
            names = ", ".join(unread[:_NAMED]) + (
                f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
            )
            notes.append(
                f"{names} {'are' if several else 'is'} no text: a program, an image, or a format that triage does not "
                f"read. Give it the job's standard error, dmesg, sacct output or flight-recorder dumps."
            )
        else:
            notes.append(
                "Nothing in the input was recognised. Give triage the job's standard error, dmesg, "
                "sacct output or flight-recorder dumps."
            )
    elif last.verdict == "healthy" and completed is None and any(i.rule.fact == "progress" for i in items):
        notes.append(
            "The log ends without saying that the job ended. If it died, its death is outside of this "
            "log: look at dmesg, sacct and the launcher's output."
        )
    return notes
