"""Many jobs judged, each batch in a child that has become the jobs' user; a few children at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triage.engine import Engine
from triage.slurm.identity import Child, IdentityError, User, look_up, may_become, wait_for
from triage.slurm.record import JobRecord
from triage.slurm.results import Result, produce, received, unread
from triage.slurm.snapshots import snapshots

CHUNK = 50
"""Jobs that one child judges: few enough that a stuck file server holds up few, many enough to be cheap."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Judges jobs. ``nodes`` is where the node epilogs' evidence lies, None for nowhere."""

    engine: Engine
    nodes: Path | None = None
    at_once: int = 2
    """Children that read at the same time."""
    timeout: float = 300.0
    """Seconds that one child may take for its batch."""
    limit: int = 8 << 30
    """Bytes of logs read of one job."""
    least_uid: int = 1000
    """Users below are the system's: their files are not read."""

    def judge(self, jobs: Sequence[JobRecord]) -> tuple[list[Result], list[str]]:
        """Every job's result, from accounting alone where its files can't be read, and what went wrong."""
        results: list[Result] = []
        problems: list[str] = []
        batches: list[tuple[User, list[JobRecord]]] = []
        for uid, members in _by_uid(jobs):
            try:
                user = self.user(uid, members[0].gid)
            except IdentityError as error:
                results += [unread(self.engine, job, str(error)) for job in members]
                continue
            batches += [(user, members[i : i + CHUNK]) for i in range(0, len(members), CHUNK)]
        for child, members in self._children(batches):
            found = received(child.output, members)
            missing = {job.job_id for job in members} - {r.job.job_id for r in found}
            why = "reading them took too long" if child.killed else "reading them failed"
            if missing:
                problems.append(f"{len(missing)} jobs of user id {child.user.uid}: {why}")
            results += found
            results += [unread(self.engine, job, why) for job in members if job.job_id in missing]
        return results, problems

    def user(self, uid: int | None, gid: int | None) -> User:
        """Whom to become for the files of ``uid``.

        Raises:
            IdentityError: with the reason why they are not read.
        """
        if uid is None:
            raise IdentityError("the job's user is not known")
        if uid < self.least_uid:
            raise IdentityError(f"user id {uid} is one of the system's")
        if not may_become(uid):
            raise IdentityError("this process is not root and can't become the job's user")
        return look_up(uid, gid)

    def _children(
        self, batches: Sequence[tuple[User, list[JobRecord]]]
    ) -> Iterator[tuple[Child, list[JobRecord]]]:
        for at in range(0, len(batches), self.at_once):
            running: dict[Child, list[JobRecord]] = {}
            for user, members in batches[at : at + self.at_once]:
                # node evidence is root's: it is read here and handed down in memory
                evidence = {j.job_id: snapshots(self.nodes, j) for j in members} if self.nodes else {}
                work = produce(self.engine, members, evidence, self.limit)
                running[Child(user, work, self.timeout)] = members
            for child in wait_for(list(running)):
                yield child, running[child]


def _by_uid(jobs: Sequence[JobRecord]) -> list[tuple[int | None, list[JobRecord]]]:
    found: dict[int | None, list[JobRecord]] = {}
    for job in jobs:
        found.setdefault(job.uid, []).append(job)
    return list(found.items())
