"""The worker: storms, kill -9 in the middle, one report per kind of failure, users kept apart."""

from __future__ import annotations

import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from triage.engine import Engine
from triage.slurm.command import SlurmError
from triage.slurm.judging import Judges
from triage.slurm.notify import Comments
from triage.slurm.query import Slurm
from triage.slurm.record import JobRecord
from triage.slurm.results import received
from triage.slurm.spool import Spool
from triage.slurm.warm import warm
from triage.slurm.worker import Settings, Worker

ROOT = Path(__file__).resolve().parents[2]
LOG = 'Traceback (most recent call last):\n  File "/home/a/train.py", line 3, in <module>\n    main()\nValueError: bad batch\n'
UIDS = (54321, 54322) if os.geteuid() == 0 else (os.geteuid(),)
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="changes users")


def offline(words: Sequence[str]) -> str:
    """A cluster whose accounting can't be asked."""
    raise SlurmError(f"{words[0]} is not installed here")


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = Engine(threads=1)
    warm(made)
    return made


@pytest.fixture
def home(reachable: Path) -> Path:
    """A folder that other users can reach, with one of its own for each user."""
    for uid in UIDS:
        (reachable / str(uid)).mkdir()
        if os.geteuid() == 0:
            os.chown(reachable / str(uid), uid, uid)
    return reachable


def worker(
    engine: Engine, spool: Spool, settings: Settings | None = None, comments: Comments | None = None
) -> Worker:
    judges = Judges(engine, spool.nodes, least_uid=min(1000, UIDS[0]))
    return Worker(spool, judges, Slurm(offline), settings or Settings(), comments)


def enqueue(spool: Spool, home: Path, job_id: int, uid: int, log: str | None = LOG, **more: object) -> Path:
    """A hook's entry for a failed job with a log."""
    path = home / str(uid) / f"job-{job_id}.out"
    if log is not None:
        path.write_text(log)
        if os.geteuid() == 0:
            os.chown(path, uid, uid)
    facts = {
        "JOBID": job_id, "JOBSTATE": "FAILED", "EXITCODE": "1:0", "UID": uid, "GID": uid, "STDOUT": path, "NODES": "n1",
        "WORK_DIR": path.parent, **more,
    }  # fmt: skip
    (spool.new / f"job-{job_id}-0-jobcomp").write_bytes(
        b"\0".join(f"{k}={v}".encode() for k, v in facts.items())
    )
    return path


def test_reports_and_decisions(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    paths = [enqueue(spool, home, 10 + i, uid) for i, uid in enumerate(UIDS)]
    done = worker(engine, spool).once()
    assert done.judged == len(UIDS)
    for number, (path, uid) in enumerate(zip(paths, UIDS, strict=True)):
        report = path.parent / f"triage-{10 + number}.md"
        assert report.stat().st_uid == uid
        assert stat.S_IMODE(report.stat().st_mode) == 0o600
        decision = json.loads((spool.decisions / f"{10 + number}.json").read_text())
        assert (decision["category"], decision["requeue"]) == ("user-code", False)
        assert decision["report"].endswith(f"triage-{10 + number}.md")
    assert spool.waiting() == []


def test_a_report_that_cannot_lie_beside_the_log_goes_to_the_spool(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    path = enqueue(spool, home, 10, UIDS[0])
    path.parent.chmod(0o555)
    if os.geteuid() == 0:
        os.chown(path.parent, 0, 0)
    done = worker(engine, spool).once()
    path.parent.chmod(0o755)
    if os.geteuid() != 0:
        return
    (report,) = done.reports
    assert report == f"{spool.reports}/{UIDS[0]}/triage-10.md"
    assert Path(report).stat().st_uid == UIDS[0]


@root_only
@pytest.mark.parametrize("kind", ["link", "hardlink", "fifo", "device"])
def test_a_hostile_log_gains_nothing(engine: Engine, home: Path, kind: str) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    secret = home / "secret"
    secret.write_text("Traceback\nRuntimeError: top secret\n")
    secret.chmod(0o644)
    path = enqueue(spool, home, 10, UIDS[0], log=None)
    if kind == "link":
        path.symlink_to(secret)
    elif kind == "hardlink":
        os.link(secret, path)
    elif kind == "fifo":
        os.mkfifo(path)
        os.chown(path, UIDS[0], UIDS[0])
    else:
        enqueue(spool, home, 10, UIDS[0], log=None, STDOUT="/dev/zero")
    done = worker(engine, spool).once()
    assert done.judged == 1
    decision = json.loads((spool.decisions / "10.json").read_text())
    assert decision["rule_id"] == "slurm.ended-with-code"
    assert all("top secret" not in p.read_text() for p in home.rglob("triage-*"))


@root_only
def test_system_users_and_root_are_not_read(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    (home / "0").mkdir()
    (home / "100").mkdir()
    enqueue(spool, home, 10, 0)
    enqueue(spool, home, 11, 100)
    worker(engine, spool).once()
    for job_id in (10, 11):
        assert (
            json.loads((spool.decisions / f"{job_id}.json").read_text())["rule_id"] == "slurm.ended-with-code"
        )
    assert not list(home.rglob("triage-1*"))


@root_only
def test_a_fifo_and_a_huge_log_cost_little(engine: Engine, home: Path) -> None:
    uid = UIDS[0]
    log, fifo = home / str(uid) / "a-9.out", home / str(uid) / "a-9.err"
    with log.open("wb") as stream:
        stream.write(b"start\n")
        stream.truncate(5 << 30)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\n" + LOG.encode())
    os.mkfifo(fifo)
    os.chown(log, uid, uid)
    os.chown(fifo, uid, uid)
    job = JobRecord(9, uid=uid, gid=uid, state="FAILED", exit_code=1, stdout=str(log), stderr=str(fifo))
    ((result,), problems) = Judges(engine, limit=32 << 20).judge([job])
    assert problems == []
    assert result.decision["category"] == "user-code"


def test_a_storm_gives_one_report(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    for task in range(1000):
        enqueue(spool, home, 2000 + task, UIDS[0], ARRAYJOBID=1999, ARRAYTASKID=task)
    done = worker(engine, spool).once()
    assert (done.claimed, done.judged) == (1000, 1000)
    reports = list((home / str(UIDS[0])).glob("triage-*.md"))
    assert len(reports) == 1
    assert "1000 jobs failed in the same way" in reports[0].read_text()
    assert len(list(spool.decisions.iterdir())) == 1000


def test_a_killed_worker_loses_nothing(home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    for task in range(300):
        enqueue(spool, home, 2000 + task, UIDS[0], ARRAYJOBID=1999, ARRAYTASKID=task)
    words = [
        sys.executable, "-m", "triage", "slurm", "worker", "--once", "--spool", str(spool.root),
        "--min-uid", str(min(1000, UIDS[0])),
    ]  # fmt: skip
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/nonexistent", "HOME": str(home)}
    kills = 0
    for pause in (0.0, 0.15, 0.3):
        child = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
        stop = time.monotonic() + 20
        while not any(spool.work.iterdir()) and child.poll() is None and time.monotonic() < stop:
            time.sleep(0.005)
        time.sleep(pause)
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            kills += 1
        child.wait()
    subprocess.run(words, env=environment, check=True, stderr=subprocess.DEVNULL, timeout=120)
    assert kills
    decided = {int(p.stem) for p in spool.decisions.iterdir()}
    assert decided == set(range(2000, 2300))
    assert not [*spool.work.iterdir(), *spool.new.iterdir()]
    assert len(list((home / str(UIDS[0])).glob("triage-1999-*.md"))) == 1


def test_what_a_child_claims_is_checked() -> None:
    job = JobRecord(1, uid=1000, user="alice", nodes=("n1",))
    lies = [
        {"job_id": 2, "decision": {}},
        {"job_id": 1, "decision": "x"},
        {"job_id": 1, "folder": "relative", "reports": {".sh": "x"}, "decision": {
            "user": "root", "uid": 0, "verdict": "hacked", "category": "x" * 999, "exclude_nodes": ["n1", "login"],
            "requeue": "yes", "fingerprint": "../../x", "title": "a\x1b[31m\nb", "origin": {"node": "login", "gpu": -1},
        }},
    ]  # fmt: skip
    output = b"\n".join(json.dumps(lie).encode() for lie in lies) + b"\nnot json\n[]\n"
    (result,) = received(output, [job])
    assert result.decision["user"] == "alice"
    assert result.decision["verdict"] == "inconclusive"
    assert result.decision["requeue"] is False
    assert result.decision["exclude_nodes"] == ["n1"]
    assert result.decision["category"] is result.decision["fingerprint"] is None
    assert result.decision["title"] == "a [31m b"
    assert result.decision["origin"] == {"node": None, "rank": None, "gpu": None, "gpu_uuid": None}
    assert (result.folder, dict(result.reports)) == (None, {})


def test_a_command_gets_words_and_json(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    out = home / "told"
    out.mkdir()
    out.chmod(0o777)
    script = home / "tell.sh"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{out}/words\ncat >{out}/json\nid -un >{out}/user\n')
    script.chmod(0o755)
    enqueue(spool, home, 10, UIDS[0])
    worker(engine, spool, Settings(command=(str(script), "{category}", "job {job}; id"))).once()
    assert (out / "words").read_text() == "user-code\njob 10; id\n"
    assert json.loads((out / "json").read_text())["count"] == 1
    if os.geteuid() == 0:
        assert (out / "user").read_text().strip() == "nobody"
        assert pwd.getpwnam("nobody").pw_uid


def test_comments_are_limited_and_wait(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    sent: list[str] = []
    clock = [0.0]

    def accept(words: Sequence[str]) -> str:
        sent.append(words[-1])
        return ""

    comments = Comments(accept, 2, lambda: clock[0])
    for number, log in enumerate(
        ("ValueError: a", "KeyError: b", "CUDA error: device-side assert triggered")
    ):
        enqueue(
            spool, home, 10 + number, UIDS[0], log=f"Traceback (most recent call last):\n{log}\n", STDERR=""
        )
    made = worker(engine, spool, comments=comments)
    made.once()
    first = len(sent)
    assert first <= 2
    clock[0] = 600.0
    made.once()
    assert not list(spool.state.glob("comment-*.json"))
    assert all(text.startswith("AdminComment=triage: ") for text in sent)


def test_two_workers_do_not_share_a_spool(engine: Engine, home: Path) -> None:
    from triage.errors import UsageError

    spool = Spool(home / "spool")
    first = worker(engine, spool)
    with pytest.raises(UsageError, match="another worker"):
        worker(engine, spool)
    first.close()
    worker(engine, spool).close()


def test_entries_that_are_none_are_set_aside(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    (spool.new / "job-1-0-x").symlink_to("/etc/shadow")
    os.mkfifo(spool.new / "job-2-0-x")
    (spool.new / "strange").write_text("x")
    worker(engine, spool).once()
    assert sorted(p.name for p in spool.bad.iterdir()) == ["job-1-0-x", "job-2-0-x", "strange"]


def test_an_entry_without_a_state_waits_for_accounting(engine: Engine, home: Path) -> None:
    spool = Spool(home / "spool")
    spool.prepare()
    (spool.new / "job-3-0-epilog").write_bytes(b"SLURM_JOB_ID=3\0SLURM_JOB_EXIT_CODE2=1:0")
    done = worker(engine, spool).once()
    assert (done.waiting, done.judged) == (1, 0)
    old = time.time() - 3600
    os.utime(spool.new / "job-3-0-epilog", (old, old))
    later = Worker(Spool(home / "spool2"), Judges(engine), Slurm(offline), Settings(), None)
    (spool.new / "job-3-0-epilog").rename(later.spool.new / "job-3-0-epilog")
    assert later.once().judged == 1
