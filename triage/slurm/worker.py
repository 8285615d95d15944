"""The worker: takes the queue, judges each job as its user, reports once per kind of failure, loses nothing."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.errors import UsageError
from triage.slurm import journal
from triage.slurm.facts import gather
from triage.slurm.grouping import by_array, by_user, message
from triage.slurm.identity import Child, IdentityError, wait_for
from triage.slurm.judging import Judges
from triage.slurm.notify import Comments, run_command
from triage.slurm.query import Slurm
from triage.slurm.requeue import comment
from triage.slurm.results import Result
from triage.slurm.spool import Entry, Spool
from triage.slurm.writing import replace_file, write_report

MAX_CLAIMED = 5000


@dataclass(frozen=True, slots=True)
class Settings:
    """What an administrator chooses."""

    settle: float = 5.0
    """Seconds without new entries before a pass begins, so that an array is grouped whole."""
    longest_wait: float = 60.0
    """Seconds after which a pass begins although entries keep coming."""
    comments_per_minute: int = 0
    """AdminComments, which need an administrator's rights; 0: none."""
    command: tuple[str, ...] = ()
    command_user: str = "nobody"


@dataclass(slots=True)
class Pass:
    """What one pass did."""

    claimed: int = 0
    judged: int = 0
    waiting: int = 0
    reports: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Worker:
    """One worker of one spool; a lock keeps a second one out.

    Raises:
        UsageError: when the spool can't be used or another worker has it.
    """

    def __init__(
        self, spool: Spool, judges: Judges, slurm: Slurm, settings: Settings, comments: Comments | None
    ) -> None:
        self.spool, self.judges, self.slurm, self.settings = spool, judges, slurm, settings
        self._comments = comments
        self._not_before: dict[str, float] = {}
        self._stopping = False
        spool.prepare()
        self._lock = os.open(spool.state / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another worker uses {spool.root}") from None
        unfinished = journal.load(spool.state)
        if unfinished is not None:
            self._deliver(unfinished, Pass())
        spool.reclaim()

    def close(self) -> None:
        """Let another worker have the spool."""
        os.close(self._lock)

    def forever(self, pause: float = 1.0, report: Callable[[Pass], None] = lambda _: None) -> None:
        """Work until SIGTERM or SIGINT; a pass that has begun is finished."""

        def stop(*_: object) -> None:
            self._stopping = True

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        pruned = 0.0
        while not self._stopping:
            if self.ready():
                report(self.once())
            if time.time() - pruned > 3600:
                self.spool.prune()
                pruned = time.time()
            time.sleep(pause)

    def ready(self) -> bool:
        """Whether the queue has settled, or has been filling for too long."""
        now = time.time()
        times = [at for name, at in self.spool.waiting() if self._not_before.get(name, 0) <= now]
        if not times:
            return self._comments is not None and any(self.spool.state.glob("comment-*.json"))
        return now - max(times) >= self.settings.settle or now - min(times) >= self.settings.longest_wait

    def once(self) -> Pass:
        """One pass over what is in the queue now."""
        done = Pass()
        entries = self._claim()
        done.claimed = len(entries)
        facts = gather(entries, self.slurm, time.time())
        done.problems += facts.problems
        for name in facts.finished:
            self.spool.done(name)
        for name in facts.later:
            # what was the first question is the eldest: ask less and less often
            self._not_before[name] = time.time() + 5.0
            self.spool.give_back(name)
        done.waiting = len(facts.later)
        jobs = list(facts.ready.values())
        if jobs:
            results, problems = self.judges.judge(jobs)
            done.problems += problems
            done.judged = len(results)
            plan = self._plan(results, {r.job.job_id: facts.entries.get(r.job.job_id, []) for r in results})
            journal.save(self.spool.state, plan)
            self._deliver(plan, done)
        self._send_comments(done)
        return done

    def _claim(self) -> list[Entry]:
        now = time.time()
        entries: list[Entry] = []
        for name, _ in self.spool.waiting()[:MAX_CLAIMED]:
            if self._not_before.get(name, 0) <= now:
                self._not_before.pop(name, None)
                entry = self.spool.claim(name)
                if entry is not None:
                    entries.append(entry)
        return entries

    def _plan(self, results: Sequence[Result], entries: Mapping[int, Sequence[str]]) -> dict[str, Any]:
        """Everything that has to be delivered, as the journal keeps it."""
        reports, owners = [], {}
        for group in by_array(results):
            contents = group.reports()
            lead = group.lead
            owners.update({m.job.job_id: lead.job.job_id for m in group.members})
            reports.append({
                "job_id": lead.job.job_id, "uid": lead.job.uid, "gid": lead.job.gid, "name": group.name,
                "folder": lead.folder, "contents": {s: journal.pack(c) for s, c in contents.items()},
            })  # fmt: skip
        return {
            "reports": reports,
            "owners": {str(k): v for k, v in owners.items()},
            "decisions": {str(r.job.job_id): r.decision for r in results},
            "messages": [
                {
                    **message(g, {}),
                    "uid": g.lead.job.uid,
                    "comment": comment(g.lead.decision, members=len(g.members)),
                }
                for g in by_user(results)
            ],
            "entries": [name for names in entries.values() for name in names],
        }

    def _deliver(self, plan: Mapping[str, Any], done: Pass) -> None:
        """Reports, decisions, comments, commands, in this order; then the entries are done."""
        written: dict[int, str | None] = {}
        for report in plan["reports"]:
            written[report["job_id"]] = path = self._write(report, done)
            if path is not None:
                done.reports.append(path)
        for job_id, decision in plan["decisions"].items():
            report = written.get(plan["owners"].get(job_id, -1))
            data = json.dumps({**decision, "report": report}, indent=2).encode() + b"\n"
            replace_file(str(self.spool.decisions), f"{int(job_id)}.json", data, 0o644)
        for text in plan["messages"]:
            self._tell({**text, "report": written.get(plan["owners"].get(str(text["job_id"]), -1))}, done)
        for name in plan["entries"]:
            self.spool.done(name)
        journal.clear(self.spool.state)

    def _write(self, report: Mapping[str, Any], done: Pass) -> str | None:
        """Write one report as its user: next to the log, else into the user's folder in the spool."""
        contents = {suffix: journal.unpack(text) for suffix, text in report["contents"].items()}
        if not contents:
            return None
        fallback = self.spool.report_folder(report["uid"])
        folders = [folder for folder in (report["folder"], fallback) if folder]
        name = report["name"]

        def work(send: Callable[[bytes], None]) -> None:
            paths: list[str | None] = []
            problems: list[str] = []
            for suffix, data in sorted(contents.items(), reverse=True):
                path, trouble = write_report(folders, name, suffix, data)
                paths.append(path)
                problems += trouble
            send(json.dumps([paths[0] if paths else None, problems[:4]]).encode())

        try:
            child = Child(self.judges.user(report["uid"], report["gid"]), work, 60.0)
        except IdentityError as error:
            done.problems.append(str(error))
            return None
        for _ in wait_for([child]):
            pass
        try:
            path, problems = json.loads(child.output)
        except (ValueError, TypeError):
            done.problems.append(f"the report of job {report['job_id']} could not be written")
            return None
        if path is None:
            done.problems += [str(p)[:200] for p in problems]
        return path if isinstance(path, str) and len(path) < 4096 else None

    def _tell(self, text: Mapping[str, Any], done: Pass) -> None:
        """Queue the comment and run the command of one group, unless an earlier worker got that far."""
        key = hashlib.sha256(
            json.dumps([text["jobs"], text["fingerprint"], text["count"]]).encode()
        ).hexdigest()[:24]
        mark = self.spool.state / f"told-{key}"
        if mark.exists():
            return
        if self._comments is not None and text.get("verdict") == "failed":
            data = json.dumps({"job_id": text["job_id"], "text": text["comment"]}).encode()
            replace_file(str(self.spool.state), f"comment-{int(text['job_id'])}.json", data)
        if self.settings.command:
            problem = run_command(self.settings.command, text, self.settings.command_user)
            if problem:
                done.problems.append(problem)
        mark.touch(mode=0o600)

    def _send_comments(self, done: Pass) -> None:
        """Send what the rate allows; the rest waits in the spool."""
        if self._comments is None:
            return
        for path in sorted(self.spool.state.glob("comment-*.json")):
            if not self._comments.allowed():
                break
            with contextlib.suppress(ValueError, KeyError, OSError):
                pending = json.loads(path.read_bytes())
                problem = self._comments.send(int(pending["job_id"]), str(pending["text"]))
                if problem:
                    done.problems.append(problem)
            path.unlink(missing_ok=True)
