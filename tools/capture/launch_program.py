"""Start a scenario as a program of its own, wait for it, and put its output where the archive is made from."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO

from launch import HOSTS, WORK, descendants, kill
from programs import Program
from standalone import render

LIBRARIES = WORK / "libraries"
CGROUP = "/sys/fs/cgroup/job-4412"


@dataclass
class Job:
    """A program with the GPUs, the port and the folder that it got."""

    run: Program
    gpus: tuple[int, ...]
    port: int
    out: Path
    readers: list[threading.Thread] = field(default_factory=list)
    sinks: dict[str, IO[bytes]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def home(self) -> Path:
        return WORK / "scratch" / self.run.name

    @property
    def place(self) -> str:
        """The folder that the job sees."""
        return str(self.home) if _plain() else str(Path(self.run.path).parent)

    @property
    def command(self) -> list[str]:
        return [Path(self.run.path).name, *self.run.arguments]


def start(job: Job) -> str:
    """Run to the end or the limit; the answer lists the exit codes."""
    run = job.run
    job.out.mkdir(parents=True, exist_ok=True)
    job.home.mkdir(parents=True, exist_ok=True)
    (job.home / Path(run.path).name).write_text(render(run.scenario))
    for library in LIBRARIES.glob("lib*.so"):
        shutil.copy(library, job.home)
    squatter = socket.create_server(("", job.port)) if run.port_taken else None
    began, failed_at, seen, pending = time.time(), None, set(), run.signal
    processes = LAUNCHERS[run.launcher](job)
    while any(p.poll() is None for p in processes):
        for process in processes:
            if process.poll() is None:
                seen |= {process.pid, *descendants(process.pid)}
        elapsed = time.time() - began
        if pending and re.search(pending[0], _text(job)):
            for pid in _workers(job, processes, pending[2]):
                kill(pid, pending[1])
            pending = None
        if failed_at is None and any(p.poll() not in (None, 0) for p in processes):
            failed_at = elapsed
        # without a launcher, somebody ends the rest some time after the first death
        if run.launcher == "ranks" and failed_at is not None and elapsed > failed_at + 35:
            for process in processes:
                kill(process.pid, signal.SIGTERM)
        if elapsed > run.limit:
            break
        time.sleep(0.2)
    codes = [p.poll() for p in processes]
    for pid in seen:
        kill(pid, signal.SIGKILL)
    for reader in job.readers:
        reader.join(4)
    if squatter:
        squatter.close()
    for path in (job.home / "logs").glob("**/*.log"):
        # <log-dir>/<run id>/attempt_<n>/<local rank>/<stream>.log, the run id dropped
        target = job.out / "logs" / Path(*path.relative_to(job.home / "logs").parts[1:])
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    _cut(job)
    shutil.rmtree(job.home, ignore_errors=True)
    return f"{codes}{' signal not sent' if pending else ''}"


def _cut(job: Job) -> None:
    """Leave out what the run says is not kept."""
    for path in (p for p in job.out.rglob("*.*") if p.is_file()):
        if path.name in job.run.drop:
            path.unlink()
        elif job.run.tail:
            path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[-job.run.tail :]))


def _plain() -> bool:
    """Whether there are no name spaces: own host names and paths are left out then."""
    return os.geteuid() != 0 or bool(os.environ.get("CAPTURE_NO_NAMESPACE"))


def _environment(job: Job, host: str, task: int | None) -> dict[str, str]:
    run = job.run
    shares = len(job.gpus) < run.ranks and "CUDA_VISIBLE_DEVICES" not in run.env
    result: dict[str, str | None] = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        **({"SHARED_GPUS": "1"} if shares else {}),
        **({"NCCL_HOSTID": host} if run.launcher == "nodes" else {}),
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, job.gpus)),
        "TRITON_CACHE_DIR": f"/tmp/triton_{run.name}",
        "TORCHINDUCTOR_CACHE_DIR": f"/tmp/inductor_{run.name}",
        "TORCH_FR_DUMP_TEMP_FILE": f"{job.place}/nccl_trace_rank_",
        **run.env,
    }
    if task is not None:
        result |= {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(job.port),
            "WORLD_SIZE": str(run.ranks),
            "RANK": str(task),
            "LOCAL_RANK": str(task % len(job.gpus)),
            "NCCL_HOSTID": host,
            **run.rank_env.get(task, {}),
        }
        if task in run.own_gpu:
            result |= {"CUDA_VISIBLE_DEVICES": str(job.gpus[run.own_gpu[task]]), "LOCAL_RANK": "0"}
    return {name: value for name, value in result.items() if value is not None}


def _inside(job: Job, host: str, command: list[str]) -> list[str]:
    """Give the command its own host name, the program's path, and the limits that the run asks for."""
    steps = [f"cd {job.place}", job.run.setup or ":"]
    if not _plain():
        steps = [
            f"hostname {host}; mkdir -p {job.place}; mount --bind {job.home} {job.place}",
            *steps,
        ]
        if job.run.memory:
            steps.append(
                "echo +memory >/sys/fs/cgroup/cgroup.subtree_control; "
                f"mkdir -p {CGROUP} && echo {job.run.memory} >{CGROUP}/memory.max && echo $$ >{CGROUP}/cgroup.procs"
            )
    wrapped = ["bash", "-c", "; ".join([*steps, 'exec "$@"']), "bash", *command]
    return wrapped if _plain() else ["unshare", "--uts", "--mount", *wrapped]


def _spawn(
    job: Job, command: list[str], names: tuple[str, str], host: str = HOSTS[0], task: int | None = None
) -> subprocess.Popen[bytes]:
    together = names[0] == names[1] and "{stream}" not in job.run.prefix
    process = subprocess.Popen(
        _inside(job, host, [sys.executable, *command]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        env=_environment(job, host, task),
        start_new_session=True,
    )
    for label, stream, name in (("stdout", process.stdout, names[0]), ("stderr", process.stderr, names[1])):
        if stream is not None:
            if name not in job.sinks:
                job.sinks[name] = open(job.out / name, "ab")  # noqa: SIM115 (its readers end with the process)
            arguments = (job, stream, job.sinks[name], {"task": task, "stream": label, "host": host})
            reader = threading.Thread(target=_copy, args=arguments, daemon=True)
            reader.start()
            job.readers.append(reader)
    return process


def _copy(job: Job, stream: IO[bytes], sink: IO[bytes], words: dict[str, object]) -> None:
    """Pass on what a process writes: line by line with a prefix, else as it comes."""
    for piece in stream if job.run.prefix else iter(lambda: os.read(stream.fileno(), 1 << 16), b""):
        if job.run.prefix:
            now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            piece = job.run.prefix.format(iso=now, **words).encode() + piece.rstrip(b"\n") + b"\n"
        with job.lock:
            sink.write(piece)
            sink.flush()


Processes = list["subprocess.Popen[bytes]"]


def _names(run: Program) -> tuple[str, str]:
    return ("job.log", "job.log") if run.merged else ("job.out", "job.err")


def _torchrun(job: Job) -> Processes:
    run = job.run
    command = ["-m", "torch.distributed.run", f"--nproc-per-node={run.ranks}"]
    command += ["--master-addr=127.0.0.1", f"--master-port={job.port}", *run.agent]
    command += ["--tee", "3"] if run.tee else []
    command += ["--log-dir", "logs", "--redirects", "3"] if run.files else []
    return [_spawn(job, [*command, *job.command], _names(run))]


def _accelerate(job: Job) -> Processes:
    command = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_machines=1", "--mixed_precision=no"]
    command += ["--dynamo_backend=no", f"--num_processes={job.run.ranks}", f"--main_process_port={job.port}"]
    return [_spawn(job, [*command, *job.command], _names(job.run))]


def _nodes(job: Job) -> Processes:
    run = job.run
    common = ["-m", "torch.distributed.run", "--nnodes=2", f"--nproc-per-node={run.ranks // 2}"]
    common += ["--tee", "3"] if run.tee else []
    if run.second:
        common += ["--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{job.port}"]
        common += ["--rdzv-conf=join_timeout=20,timeout=20"]
    else:
        common += ["--master-addr=127.0.0.1", f"--master-port={job.port}"]
    processes = []
    for node, (host, own) in enumerate(zip(HOSTS, (run.agent, run.second or run.agent), strict=True)):
        place = () if run.second else (f"--node-rank={node}",)
        names = ("job.log" if run.prefix else f"{host}.log",) * 2
        processes.append(_spawn(job, [*common, *place, *own, *job.command], names, host))
    return processes


def _ranks(job: Job) -> Processes:
    run, processes = job.run, []
    for task in range(run.ranks):
        names = _names(run) if run.prefix else (f"rank{task}.log",) * 2
        processes.append(_spawn(job, job.command, names, HOSTS[task // len(job.gpus)], task))
    return processes


LAUNCHERS = {"torchrun": _torchrun, "accelerate": _accelerate, "nodes": _nodes, "ranks": _ranks}


def _text(job: Job) -> str:
    files = [*job.out.glob("*"), *(job.home / "logs").glob("*/*/*/*.log")]
    return "\n".join(p.read_text(errors="replace") for p in files if p.is_file())


def _workers(job: Job, processes: Processes, rank: int) -> list[int]:
    """The processes of a rank, or of all."""
    if job.run.launcher == "ranks":
        return [p.pid for task, p in enumerate(processes) if rank in (-1, task)]
    found = []
    for pid in [child for process in processes for child in descendants(process.pid, depth=1)]:
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if any(e.startswith(b"RANK=") and rank in (-1, int(e[5:])) for e in environment):
                found.append(pid)
    return found


def build(here: Path, nvcc: str) -> None:
    """The native libraries that the programs load: two that fail, one for an older architecture, one that
    was linked with a runtime that is not there."""
    LIBRARIES.mkdir(parents=True, exist_ok=True)
    old = "libcudart.so.12"
    for command in (
        f"gcc -g -shared -fPIC -o libpack.so {here}/pack.c",
        f"gcc -g -shared -fPIC -o liblookup.so {here}/lookup.c",
        f"{nvcc} -gencode arch=compute_75,code=sm_75 -shared -Xcompiler -fPIC -cudart shared -o librms.so {here}/rms.cu",
        f"echo 'void f(void){{}}' >f.c && gcc -shared -fPIC -Wl,-soname,{old} -o {old} f.c && "
        f"gcc -shared -fPIC -Wl,--no-as-needed -o libfused_ops.so f.c ./{old} && rm {old} f.c",
    ):
        if subprocess.run(["bash", "-c", command], cwd=LIBRARIES, check=False).returncode:
            print(f"prepare: failed: {command}", flush=True)
