"""Jobs that really fail on a real Slurm, through hooks and worker. Needs root and Slurm's packages."""

from __future__ import annotations

import json
import os
import pwd
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm import live

pytestmark = pytest.mark.slurm

PROGRESS = r"""python3 -u - <<'PY'
import time, datetime
for step in range(%d):
    print(datetime.datetime.now().strftime("%%Y-%%m-%%d %%H:%%M:%%S"), f"step {step}/1000 loss: 2.31")
    time.sleep(1)
time.sleep(600)
PY"""
CRASH = "srun python3 train.py"
TRAIN = "def main():\n    import not_there_at_all\n\nmain()\n"


@pytest.fixture(scope="module")
def cluster() -> Iterator[live.Cluster]:
    why = live.missing()
    if why is not None:
        if os.environ.get("CI"):
            pytest.fail(f"CI has to run these: {why}")
        pytest.skip(why)
    found = live.start()
    try:
        _jobs(found)
        found.work()
        yield found
    finally:
        live.stop(found)


def _jobs(c: live.Cluster) -> None:
    """Submit everything, meddle with it while it runs, wait until it is over."""
    a, b = live.USERS
    for user in live.USERS:
        (c.home(user) / "train.py").write_text(TRAIN)
    c.submit("stalled", PROGRESS % 15, "--time=1", "-w", "node1")
    c.submit("too-long", PROGRESS % 600, "--time=1")
    # its node is taken whole, so the deadline passes while it waits
    c.submit("deadline", "true", "--exclusive", "-w", "node1", "--time=1", "--deadline=now+66seconds")
    c.submit("crash", CRASH)
    c.submit("segfault", "kill -SEGV $$")
    c.submit("exit-7", "exit 7")
    c.submit("no-log", "true", f"-o{c.home(a)}/no/such/folder/%j.out")
    c.submit("unnoticed", f"{CRASH}\nexit 0")
    c.submit("success", "srun true")
    c.submit("het", "srun --het-group=0,1 false", "-n1", ":", "-n1")
    stub = c.folder / "triage-stub"
    stub.write_text("#!/bin/sh\necho called with $*\n")
    stub.chmod(0o755)
    share = c.site / "usr" / "local" / "share" / "triage"
    c.submit("trapped", f"export TRIAGE={stub}\n. {share}/triage-batch.sh\ntriage_run srun false")
    script = c.home(a) / "killed.sh"
    script.write_text("#!/bin/sh\nkill -KILL $$\n")
    wrapper = str(c.site / "usr" / "local" / "bin" / "triage-sbatch")
    words = ("env", f"TRIAGE={stub}", wrapper, f"--chdir={c.home(a)}", str(script))
    c.jobs["killed"] = int(c.run("sh", "-c", 'cd "$0" && exec "$@"', str(c.home(a)), *words, user=a))
    c.submit("array", "python3 train.py", "--array=0-39", user=b)
    for name in ("cancelled", "cancelled-by-root", "lost", "requeued"):
        options = {"lost": ("-w", "node2", "--no-requeue"), "requeued": ("--requeue", "-w", "node1")}.get(
            name, ("-w", "node1")
        )
        c.submit(name, "trap '' USR1; sleep 300 & wait", *options, user=b)
    for name in ("cancelled", "cancelled-by-root", "lost", "requeued"):
        c.wait(name, "RUNNING")
    c.run("scancel", str(c.jobs["cancelled"]), user=b)
    c.run("scancel", str(c.jobs["cancelled-by-root"]))
    c.run("scontrol", "requeue", str(c.jobs["requeued"]))
    c.wait("crash")
    c.wait("unnoticed")
    c.wait("het")
    c.wait("array")
    c.run("scontrol", "update", "nodename=node2", "state=down", "reason=test")
    c.wait("lost")
    c.run("scontrol", "update", "nodename=node2", "state=resume", check=False)
    c.run("scancel", str(c.jobs["requeued"]), user=b)
    for name in ("stalled", "too-long", "deadline", "no-log", "segfault", "exit-7"):
        c.wait(name)
    (c.folder / "fail-prolog-node1").touch()
    c.submit("prolog", "true", "-w", "node1")
    _until(lambda: "held" in c.run("scontrol", "show", "job", str(c.jobs["prolog"])).lower())
    (c.folder / "fail-prolog-node1").unlink()
    c.run("scontrol", "update", "nodename=node1", "state=resume", check=False)
    c.submit("preempted", "sleep 300 & wait", "-N2", "--exclusive", "--no-requeue")
    c.wait("preempted", "RUNNING")
    c.submit("urgent", "true", "-N2", "--exclusive", "--partition=urgent")
    c.wait("preempted")
    time.sleep(2)


def _until(condition: object, seconds: float = 30) -> None:
    stop = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < stop
        time.sleep(0.5)


@pytest.mark.parametrize(
    ("name", "category", "retry", "rule"),
    [
        ("crash", "driver-or-version", "after-fix", None),
        ("segfault", "rank-crash", "unknown", "slurm.ended-by-signal"),
        ("exit-7", "unknown", "unknown", "slurm.ended-with-code"),
        ("stalled", "straggler-or-hang", "unknown", "slurm.timeout-after-stall"),
        ("too-long", "scheduler", "after-fix", None),
        ("cancelled", "scheduler", "never", "slurm.cancelled-by-its-user"),
        ("cancelled-by-root", "scheduler", "unknown", "slurm.cancelled-by-another"),
        ("lost", "scheduler", "other-nodes", "slurm.recorded-node-fail"),
        ("deadline", "scheduler", "after-fix", "slurm.recorded-deadline"),
        ("preempted", "scheduler", "as-is", "slurm.recorded-preempted"),
        ("no-log", "config", "after-fix", "slurm.recorded-launch-failed"),
    ],
)
def test_each_kind_of_failure(
    cluster: live.Cluster, name: str, category: str, retry: str, rule: str | None
) -> None:
    decision = cluster.decisions[name]
    assert decision["verdict"] == "failed"
    if name == "crash":
        assert decision["category"] in {"config", "user-code", "driver-or-version"}
    else:
        assert (decision["category"], decision["retry"]) == (category, retry)
    if rule is not None:
        assert decision["rule_id"] == rule


def test_only_outside_failures_are_requeued(cluster: live.Cluster) -> None:
    requeued = {name for name, decision in cluster.decisions.items() if decision["requeue"]}
    assert requeued == {"lost", "preempted"}
    assert cluster.decisions["lost"]["exclude_nodes"] == ["node2"]


def test_success_leaves_no_trace(cluster: live.Cluster) -> None:
    assert "success" not in cluster.decisions


def test_failed_step_in_completed_job(cluster: live.Cluster) -> None:
    decision = cluster.decisions["unnoticed"]
    assert decision["state"] == "COMPLETED"
    assert decision["verdict"] == "failed"


def test_reports_belong_to_the_user(cluster: live.Cluster) -> None:
    path = Path(cluster.decisions["crash"]["report"])
    status = path.stat()
    assert path.parent == cluster.home(live.USERS[0])
    assert status.st_uid == pwd.getpwnam(live.USERS[0]).pw_uid
    assert stat.S_IMODE(status.st_mode) == 0o600
    published = (
        json.loads(path.with_suffix(".json").read_text())
        if path.suffix == ".md"
        else json.loads(path.read_text())
    )
    assert published["slurm"]["job_id"] == cluster.jobs["crash"]


def test_array_gives_one_report(cluster: live.Cluster) -> None:
    reports = sorted(cluster.home(live.USERS[1]).glob(f"triage-{cluster.jobs['array']}-*.md"))
    assert len(reports) == 1
    assert "40 jobs failed in the same way" in reports[0].read_text()
    ids = cluster.run("sacct", "-XPn", "-j", str(cluster.jobs["array"]), "-o", "JobIDRaw").split()
    assert all((cluster.spool / "decisions" / f"{i}.json").exists() for i in ids)


def test_queue_is_empty(cluster: live.Cluster) -> None:
    for folder in ("new", "work", "bad"):
        assert all(p.name.startswith(".") for p in (cluster.spool / "queue" / folder).iterdir())


def test_nodes_are_not_drained_by_the_hooks(cluster: live.Cluster) -> None:
    assert "Epilog" not in cluster.run("sinfo", "-R", "-h")


def test_node_evidence_is_roots(cluster: live.Cluster) -> None:
    files = list((cluster.spool / "nodes").iterdir())
    if os.access("/dev/kmsg", os.R_OK):
        assert any(f.name.startswith(f"{cluster.jobs['crash']}.node") for f in files)
    assert all(f.stat().st_uid == 0 and stat.S_IMODE(f.stat().st_mode) == 0o600 for f in files)


def test_comments_are_set(cluster: live.Cluster) -> None:
    text = cluster.run("sacct", "-XPn", "-j", str(cluster.jobs["lost"]), "-o", "AdminComment")
    assert text.startswith("triage: scheduler")


def test_job_command(cluster: live.Cluster) -> None:
    done = cluster.triage("slurm", str(cluster.jobs["crash"]), "--format", "json")
    assert done.returncode == 1, done.stderr
    assert "not_there_at_all" in done.stdout


@pytest.mark.parametrize("name", ["trapped", "killed"])
def test_wrappers_for_users(cluster: live.Cluster, name: str) -> None:
    job_id = cluster.jobs[name]
    path = cluster.home(live.USERS[0]) / f"triage-{job_id}.txt"
    assert path.read_text() == f"called with slurm {job_id} --exit-zero\n"


def test_het_job_and_steps(cluster: live.Cluster) -> None:
    done = cluster.triage("slurm", str(cluster.jobs["het"]), "--format", "json")
    published = json.loads(done.stdout)
    assert {p["slurm"]["job"] for p in published} == {f"{cluster.jobs['het']}+{i}" for i in (0, 1)}
    assert all(p["verdict"] == "failed" for p in published)


def test_prolog_failure_is_explained(cluster: live.Cluster) -> None:
    done = cluster.triage("slurm", str(cluster.jobs["prolog"]), "--format", "json")
    published = json.loads(done.stdout)
    assert published["root_cause"]["category"] == "scheduler", published["slurm"]
    assert published["root_cause"]["retry"] == "other-nodes"


def test_requeued_run_is_known(cluster: live.Cluster) -> None:
    runs = cluster.run(
        "sacct", "-XPn", "--duplicates", "-j", str(cluster.jobs["requeued"]), "-o", "State"
    ).split("\n")
    assert runs[0] == "REQUEUED"
    assert cluster.decisions["requeued"]["rule_id"] in {"slurm.requeued-run", "slurm.cancelled-by-its-user"}


def test_sweep_has_denominators(cluster: live.Cluster) -> None:
    done = cluster.triage(
        "slurm", "sweep", "--since", "1h", "--format", "json", "--spool", str(cluster.spool)
    )
    summary = json.loads(done.stdout)
    nodes = {row["name"]: row for row in summary["nodes"]}
    assert nodes["node2"]["blamed"] == 1
    assert nodes["node1"]["jobs"] > nodes["node1"]["failed"] > 0
    assert {row["name"] for row in summary["users"]} == set(live.USERS)
