"""A real Slurm for the tests: started once, two users, hooks installed, jobs submitted, a worker run."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "tools" / "slurm-cluster" / "cluster.sh"
USERS = ("triage-live-a", "triage-live-b")
TOOLS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd")


def missing() -> str | None:
    """Why no cluster can be started here; None when one can."""
    if os.geteuid() != 0:
        return "a test cluster needs root"
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    absent = [tool for tool in TOOLS if shutil.which(tool, path=path) is None]
    return (
        f"not installed: {', '.join(absent)} (apt-get install slurm-wlm slurmdbd mariadb-server munge)"
        if absent
        else None
    )


@dataclass
class Cluster:
    """A running cluster. ``site`` is where triage's hooks and spool are installed."""

    folder: Path
    jobs: dict[str, int] = field(default_factory=dict)
    decisions: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def spool(self) -> Path:
        return self.site / "var" / "spool" / "triage"

    @property
    def conf(self) -> str:
        return str(self.folder / "etc" / "slurm.conf")

    def run(self, *words: str, user: str | None = None, check: bool = True) -> str:
        """Standard output of a command, as ``user`` or root."""
        if user is not None:
            words = ("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *words)
        environment = {
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
            "SLURM_CONF": self.conf,
            "HOME": "/tmp",
        }
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment, cwd="/")
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def home(self, user: str) -> Path:
        """A directory that ``user`` owns."""
        path = self.folder / "home" / user
        if not path.is_dir():
            path.mkdir(parents=True)
            os.chown(path, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        return path

    def submit(self, name: str, script: str, *options: str, user: str = USERS[0]) -> int:
        """Submit a batch script; its output goes to ``<home>/<name>-<job id>.out``."""
        path = self.home(user) / f"{name}.sh"
        path.write_text(f"#!/bin/bash\n{script}\n")
        output = (
            ["-o", f"{self.home(user)}/{name}-%j.out"] if not any(o.startswith("-o") for o in options) else []
        )
        words = [
            "sbatch",
            "--parsable",
            f"--job-name={name}",
            f"--chdir={self.home(user)}",
            *output,
            *options,
            str(path),
        ]
        self.jobs[name] = int(self.run(*words, user=user).split(";")[0])
        return self.jobs[name]

    def state(self, name: str) -> str:
        """The state in accounting, without `` by 0``."""
        text = self.run("sacct", "-XPn", "-j", str(self.jobs[name]), "-o", "State")
        return text.split("\n")[0].split(" ")[0]

    def wait(self, name: str, *states: str, seconds: float = 150) -> str:
        """Wait until accounting has the job in one of ``states`` (default: any final one)."""
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            state = self.state(name)
            if state in states or (
                not states and state not in {"PENDING", "RUNNING", "REQUEUED", "", "RESIZING"}
            ):
                return state
            time.sleep(0.5)
        raise TimeoutError(f"{name} is {self.state(name)}, not {states or 'over'}")

    def triage(self, *words: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        """Run triage's command line as root."""
        environment = {
            "PATH": os.environ["PATH"] + ":/usr/sbin",
            "SLURM_CONF": self.conf,
            "PYTHONPATH": str(ROOT),
        }
        return subprocess.run(
            [sys.executable, "-m", "triage", *words], capture_output=True, text=True, timeout=240, env=environment,
            cwd="/", check=check,
        )  # fmt: skip

    def work(self) -> None:
        """Run the worker until its queue is empty, then read the decisions."""
        for _ in range(12):
            done = self.triage("slurm", "worker", "--once", "--spool", str(self.spool), "--comments", "60")
            assert done.returncode == 0, done.stderr
            if all(p.name.startswith(".") for p in (self.spool / "queue" / "new").iterdir()):
                break
            time.sleep(5)
        for name, job_id in self.jobs.items():
            path = self.spool / "decisions" / f"{job_id}.json"
            if path.exists():
                self.decisions[name] = json.loads(path.read_text())


def start() -> Cluster:
    """Start the cluster with triage's hooks."""
    for user in USERS:
        subprocess.run(["useradd", "-M", "-U", user], check=False, capture_output=True)
    folder = Path(subprocess.check_output(["mktemp", "-d", "/tmp/triage-live.XXXXXX"], text=True).strip())
    folder.chmod(0o755)
    cluster = Cluster(folder)
    subprocess.run(
        [str(ROOT / "packaging" / "slurm" / "install.sh"), "--root", str(cluster.site)],
        check=True,
        capture_output=True,
    )
    hooks = cluster.site / "etc" / "slurm" / "triage"
    prolog = folder / "prolog"
    prolog.write_text(f'#!/bin/sh\n[ -e "{folder}/fail-prolog-$SLURMD_NODENAME" ] && exit 1\nexit 0\n')
    prolog.chmod(0o755)
    conf = folder / "hooks.conf"
    conf.write_text(
        f"JobCompType=jobcomp/script\nJobCompLoc={hooks}/triage-enqueue\n"
        f"EpilogSlurmctld={hooks}/triage-enqueue\nEpilog={hooks}/triage-epilog\nProlog={prolog}\n"
    )
    subprocess.run(
        [str(CLUSTER), "start", str(folder)],
        check=True,
        timeout=180,
        env={**os.environ, "TRIAGE_CONF": str(conf)},
        stdout=subprocess.DEVNULL,
    )
    return cluster


def stop(cluster: Cluster) -> None:
    """Stop it and leave nothing behind."""
    subprocess.run([str(CLUSTER), "stop", str(cluster.folder)], check=False, timeout=120)
    for user in USERS:
        subprocess.run(["userdel", user], check=False, capture_output=True)
