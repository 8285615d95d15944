"""Asking Slurm: old releases' columns, lag, requeued runs, and job ids that are none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from triage.errors import UsageError
from triage.slurm.command import SlurmError, run
from triage.slurm.query import Slurm
from triage.slurm.sacct_text import DELIMITER


class Fake:
    """Answers from a list of tables, one for each question; the last one stays."""

    def __init__(
        self, *tables: list[str], live: str = "", fields: str = "JobID JobIDRaw State ExitCode Submit Start"
    ) -> None:
        self.tables = list(tables)
        self.live = live
        self.fields = fields
        self.asked: list[list[str]] = []
        self.slept: list[float] = []

    def __call__(self, words: Sequence[str]) -> str:
        self.asked.append(list(words))
        if words[0] == "scontrol":
            if not self.live:
                raise SlurmError("scontrol: Invalid job id specified")
            return self.live
        if "-e" in words:
            return self.fields
        if "--json" in words:
            raise SlurmError("sacct: unrecognized option '--json'")
        rows = self.tables.pop(0) if len(self.tables) > 1 else self.tables[0]
        return "\n".join(row.replace("|", DELIMITER) for row in rows)

    def slurm(self) -> Slurm:
        return Slurm(self, self.slept.append)


HEADER = "JobID|JobIDRaw|State|ExitCode|Submit|Start"


def test_only_columns_that_the_release_has() -> None:
    fake = Fake([HEADER, "7|7|FAILED|1:0|1|2"])
    (job,) = fake.slurm().job("7")
    assert (job.state, job.exit_code) == ("FAILED", 1)
    asked = next(words for words in fake.asked if words[0] == "sacct" and "-o" in words)
    assert asked[asked.index("-o") + 1] == "JobID,JobIDRaw,State,ExitCode,Submit,Start"


def test_accounting_lags_and_is_asked_again() -> None:
    live = "JobId=7 JobState=FAILED ExitCode=1:0"
    fake = Fake(
        [HEADER, "7|7|RUNNING|0:0|1|2"],
        [HEADER, "7|7|RUNNING|0:0|1|2"],
        [HEADER, "7|7|FAILED|1:0|1|2"],
        live=live,
    )
    (job,) = fake.slurm().job("7")
    assert job.state == "FAILED"
    assert len(fake.slept) == 2


def test_lag_is_bounded_and_the_controller_counts() -> None:
    fake = Fake([HEADER, "7|7|RUNNING|0:0|1|2"], live="JobId=7 JobState=TIMEOUT ExitCode=0:15")
    (job,) = fake.slurm().job("7")
    assert job.state == "TIMEOUT"
    assert len(fake.slept) == 5


def test_the_last_run_of_a_requeued_job() -> None:
    fake = Fake([HEADER, "7|7|NODE_FAIL|0:0|1|2", "7|7|FAILED|1:0|5|6"])
    assert [j.state for j in fake.slurm().job("7")] == ["FAILED"]
    assert [j.state for j in fake.slurm().runs("7")] == ["NODE_FAIL", "FAILED"]


@pytest.mark.parametrize("job_id", ["", "x", "7;rm", "-a", "7 8", "--help"])
def test_no_job_id(job_id: str) -> None:
    with pytest.raises(UsageError):
        Fake([HEADER]).slurm().job(job_id)


def test_a_missing_command_is_said_plainly() -> None:
    with pytest.raises(SlurmError, match="not installed here"):
        run(["triage-no-such-command"])
