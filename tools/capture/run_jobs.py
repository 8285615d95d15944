"""Run the jobs of ``jobs/``, several at a time, and pack what they left into one archive.

``python run_jobs.py OUT [NAME …] [--seconds N] [--slots N] [--unknown-hosts]``, as root on a machine with two
GPUs: OUT gets ``captures.tar.gz`` with a folder per job and ``summary.tsv``.

A job is a folder with a ``run.sh``. The first line of that says where the job believes to lie (``place``), after
how many seconds it is ended (``limit``), what its console's log is called (``log``), and whether it wants the
machine for itself (``alone=1``). What it writes to ``logs/`` is kept too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = Path("/tmp/jobs")
SITE = Path("/opt/site")
"""Its path is in no log: Python shows no frame of ``sitecustomize``."""
HOSTS = [f"gpu-node-0{number}" for number in range(1, 5)]
SPARE = 40
"""No job is started with fewer seconds left than these."""


@dataclass(frozen=True)
class Job:
    """One folder of ``jobs/``; its number stands for it where a log might show the name."""

    folder: Path
    number: int
    place: str
    limit: float = 95
    log: str = "job.log"
    alone: bool = False

    @classmethod
    def read(cls, folder: Path, number: int) -> Job:
        with open(folder / "run.sh") as script:
            said = dict(re.findall(r"(\w+)=(\S+)", script.readline()))
        limit, log = float(said.get("limit", cls.limit)), said.get("log", cls.log)
        return cls(folder, number, said["place"], limit, log, "alone" in said)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def home(self) -> Path:
        return WORK / "homes" / str(self.number)


class Runner:
    """Starts the jobs that wait, as many at a time as there are slots."""

    def __init__(self, jobs: list[Job], seconds: float, hosts_known: bool) -> None:
        self.waiting = sorted((job for job in jobs if not job.alone), key=lambda job: -job.limit)
        self.lonely = [job for job in jobs if job.alone]
        self.deadline = time.time() + seconds
        self.hosts_known = hosts_known
        self.lines: list[str] = []
        self.lock = threading.Lock()

    def prepare(self) -> None:
        """Fresh folders for results and helpers."""
        shutil.rmtree(WORK, ignore_errors=True)
        for folder in ("results", "homes"):
            (WORK / folder).mkdir(parents=True)
        shutil.copytree(HERE / "bin", WORK / "bin")
        SITE.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "site" / "sitecustomize.py", SITE)
        names = HOSTS if self.hosts_known else []
        (WORK / "hosts").write_text(" ".join(["127.0.0.1", "localhost", *names]) + "\n")

    def work(self) -> None:
        """Run jobs until none waits or the time is up."""
        while True:
            with self.lock:
                if not self.waiting or time.time() > self.deadline - SPARE:
                    return
                job = self.waiting.pop(0)
            began = time.time()
            try:
                ended = f"{self.run(job)}"
            except OSError as error:  # one broken job must not end the others
                ended = f"{type(error).__name__}: {error}"
            with self.lock:
                self.lines.append(f"{job.name}\t{ended}\t{time.time() - began:.0f}s")
                print(self.lines[-1], flush=True)

    def run(self, job: Job) -> int | str:
        """Run one job to its end or limit and keep its logs; the answer is its exit code."""
        shutil.copytree(job.folder, job.home)
        (job.home / "logs").mkdir()
        inside = (
            f"hostname {HOSTS[0]}; mkdir -p {job.place}; mount --bind {job.home} {job.place}; "
            f"mount --bind {WORK}/hosts /etc/hosts; cd {job.place}; exec bash ./run.sh"
        )
        spaces = ["unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        console = job.home / "console.out"
        with open(console, "wb") as sink:
            process = subprocess.Popen(
                [*spaces, "bash", "-c", inside],
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=self.environment(job),
                start_new_session=True,
                cwd="/",
            )
            code: int | str
            try:
                code = process.wait(max(5, min(job.limit, self.deadline - time.time())))
            except subprocess.TimeoutExpired:
                code = "limit"
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        kept = WORK / "results" / job.name
        shutil.copytree(job.home / "logs", kept)
        if console.stat().st_size:
            shutil.copy(console, kept / job.log)
        shutil.rmtree(job.home, ignore_errors=True)
        return code

    def environment(self, job: Job) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": "/root",
            "PORT": str(29500 + job.number * 7),
            "PYTHONUNBUFFERED": "1",
            "PYBIN": sys.executable,
            "PATH": f"{WORK}/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(SITE),
            "NCCLTESTS": os.environ.get("NCCLTESTS", "/opt/nccl-tests/build"),
            "TORCHINDUCTOR_CACHE_DIR": f"/tmp/inductor_{job.number}",
            "TRITON_CACHE_DIR": f"/tmp/triton_{job.number}",
        }

    def pack(self, out: Path) -> None:
        """The archive of what was kept."""
        self.lines += [f"{job.name}\tnot started" for job in self.waiting]
        (WORK / "results" / "summary.tsv").write_text("\n".join(sorted(self.lines)) + "\n")
        out.mkdir(parents=True, exist_ok=True)
        with tarfile.open(out / "captures.tar.gz", "w:gz") as archive:
            archive.add(WORK / "results", "captures")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", help="only these jobs")
    parser.add_argument("--seconds", type=float, default=520)
    parser.add_argument("--slots", type=int, default=12, help="jobs at a time")
    parser.add_argument("--unknown-hosts", action="store_true", help="nobody can resolve the host names")
    options = parser.parse_args()
    folders = sorted(script.parent for script in HERE.glob("jobs/*/run.sh"))
    jobs = [Job.read(folder, number) for number, folder in enumerate(folders)]
    if strangers := set(options.names) - {job.name for job in jobs}:
        parser.error(f"no such job: {', '.join(sorted(strangers))}")
    wanted = [job for job in jobs if not options.names or job.name in options.names]
    runner = Runner(wanted, options.seconds, not options.unknown_hosts)
    runner.prepare()
    threads = [threading.Thread(target=runner.work) for _ in range(options.slots)]
    for thread in threads:
        thread.start()
        time.sleep(1)
    for thread in threads:
        thread.join()
    runner.waiting += runner.lonely
    runner.work()
    runner.pack(options.out)


if __name__ == "__main__":
    main()
