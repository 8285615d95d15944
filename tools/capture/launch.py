"""Start one capture, wait for it, and put its output where the archive is made from."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from plan import Run

WORK = Path(os.environ.get("CAPTURE_WORK", "/workspace"))
HOSTS = ("gpu-node-01", "gpu-node-02")


@dataclass(frozen=True)
class Capture:
    """A run with the GPUs, the port and the folder that it got."""

    run: Run
    gpus: tuple[int, ...]
    port: int
    out: Path

    @property
    def scratch(self) -> Path:
        return WORK / "scratch" / self.run.name


def start(capture: Capture) -> str:
    """Run to the end or the limit; the answer lists the exit codes."""
    run = capture.run
    capture.out.mkdir(parents=True, exist_ok=True)
    capture.scratch.mkdir(parents=True, exist_ok=True)
    hog = _hog(capture) if run.hog is not None else None
    squatter = socket.create_server(("", capture.port)) if run.port_taken else None
    started = time.time()
    processes, readers = LAUNCHERS.get(run.launcher, _single)(capture)
    seen: set[int] = set()
    pending_signal = run.signal_after
    failed_at = None
    while any(p.poll() is None for p in processes):
        for process in processes:
            if process.poll() is None:
                seen.update(descendants(process.pid))
        elapsed = time.time() - started
        if pending_signal and elapsed > pending_signal[0]:
            target = processes[pending_signal[2]].pid
            victims = [target, *descendants(target)] if pending_signal[1] == signal.SIGKILL else [target]
            for pid in victims:
                kill(pid, pending_signal[1])
            pending_signal = None
        if any(p.poll() not in (None, 0) for p in processes) and failed_at is None:
            failed_at = elapsed
        # task launchers end the rest some time after the first death
        if run.launcher in ("tasks", "mpi", "ranks") and failed_at is not None and elapsed > failed_at + 20:
            for process in processes:
                kill(process.pid, signal.SIGTERM)
        if elapsed > run.limit:
            for process in processes:
                seen.add(process.pid)
            break
        time.sleep(0.25)
    codes = [p.poll() for p in processes]
    for pid in seen:
        kill(pid, signal.SIGKILL)
    for reader in readers:
        reader.join(5)
    if hog:
        kill(hog.pid, signal.SIGKILL)
        hog.wait()
    if squatter:
        squatter.close()
    _collect(capture)
    return str(codes)


def kill(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def descendants(pid: int, depth: int = 99) -> list[int]:
    """All living children of a process, children's children included down to ``depth``."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            parents.setdefault(parent, []).append(int(stat.parent.name))
    found, level = [], [pid]
    while level and depth:
        level = [child for parent in level for child in parents.get(parent, [])]
        found += level
        depth -= 1
    return found


def _environment(capture: Capture, gpus: tuple[int, ...]) -> dict[str, str]:
    run = capture.run
    return {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "SCENARIO": run.scenario,
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus)),
        "CAPTURE_SCRATCH": str(capture.scratch),
        "CAPTURE_SMALL_DISK": str(capture.scratch / "small"),
        "CAPTURE_KERNELS": str(WORK / "librows.so"),
        "TRITON_CACHE_DIR": str(capture.scratch / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(capture.scratch / "inductor"),
        **({"TORCH_FR_BUFFER_SIZE": "2000"} if run.recorder else {}),
        "TORCH_FR_DUMP_TEMP_FILE": f"{capture.scratch}/nccl_trace_rank_",
        **({"LD_PRELOAD": str(WORK / "libquery.so")} if "STUCK_RANK" in run.env else {}),
        **({"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "10"} if run.scenario.startswith("stall-event") else {}),
        **run.env,
    }


def _inside(capture: Capture, host: str, command: list[str]) -> list[str]:
    """Give the command its own host name, and small file systems where the run asks for them."""
    if os.geteuid() != 0 or os.environ.get("CAPTURE_NO_NAMESPACE"):
        return command
    run = capture.run
    steps = [f"hostname {host}"]
    if run.shm:
        steps.append(f"mount -t tmpfs -o size={run.shm} tmpfs /dev/shm")
    if "disk-full" in run.scenario:
        small = capture.scratch / "small"
        steps.append(f"mkdir -p {small}; mount -t tmpfs -o size=4m tmpfs {small}")
    if run.memory:
        group = f"/sys/fs/cgroup/{run.name}"
        steps.append(
            "echo +memory >/sys/fs/cgroup/cgroup.subtree_control; "
            f"mkdir -p {group} && echo {run.memory} >{group}/memory.max && echo $$ >{group}/cgroup.procs"
        )
    steps.append('exec "$@"')
    return ["unshare", "--uts", "--mount", "bash", "-c", "; ".join(steps), "bash", *command]


def _torchrun(capture: Capture, per_node: int) -> list[str]:
    run = capture.run
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={per_node}"]
    command += ["--master-addr=127.0.0.1", f"--master-port={capture.port}", *run.arguments]
    if run.launcher == "tee":
        command += ["--tee", "3"]
    if run.launcher == "files":
        command += ["--log-dir", str(capture.scratch / "logs"), "--redirects", "3"]
    return command


Started = tuple[list["subprocess.Popen[bytes]"], list[threading.Thread]]


def _single(capture: Capture) -> Started:
    script = [str(WORK / "train.py")]
    environment = _environment(capture, capture.gpus)
    if capture.run.launcher in ("direct", "spawn"):
        command = [sys.executable, *script]
        if capture.run.launcher == "spawn":
            environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(capture.port)}
            environment["CAPTURE_SPAWN"] = str(capture.run.ranks)
    else:
        command = _torchrun(capture, capture.run.ranks) + script
    names = ("job.log", "job.log") if capture.run.merged else ("job.out", "job.err")
    with open(capture.out / names[0], "ab") as out, open(capture.out / names[1], "ab") as err:
        process = subprocess.Popen(
            _inside(capture, HOSTS[0], command),
            stdout=out,
            stderr=err,
            env=environment,
            cwd=WORK,
            start_new_session=True,
        )
    return [process], []


def _nodes(capture: Capture) -> Started:
    half = capture.run.ranks // 2
    processes = []
    for node, host in enumerate(HOSTS[:1] if capture.run.launcher == "first-node" else HOSTS):
        command = [*_torchrun(capture, half), "--nnodes=2", f"--node-rank={node}", str(WORK / "train.py")]
        gpus = capture.gpus[node * half : (node + 1) * half]
        with open(capture.out / f"{host}.out", "wb") as out, open(capture.out / f"{host}.err", "wb") as err:
            processes.append(
                subprocess.Popen(
                    _inside(capture, host, command),
                    stdout=out,
                    stderr=err,
                    env=_environment(capture, gpus),
                    cwd=WORK,
                    start_new_session=True,
                )
            )
    return processes, []


def _task_environment(capture: Capture, task: int) -> dict[str, str]:
    """What a launcher that is not torchrun tells one process."""
    return {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(capture.port),
        "WORLD_SIZE": str(capture.run.ranks),
        "RANK": str(task),
        "LOCAL_RANK": str(task),
        **_environment(capture, capture.gpus),
        **capture.run.rank_env.get(task, {}),
    }


def _tasks(capture: Capture) -> Started:
    run, lock = capture.run, threading.Lock()
    shape = {"tasks": "{task}: ", "mpi": "[1,{task}]<{stream}>:"}.get(run.launcher, "")
    files = {
        "stdout": open(capture.out / "job.out", "wb"),  # noqa: SIM115 (its reader threads end with the process)
        "stderr": open(capture.out / "job.err", "wb"),  # noqa: SIM115
    }
    processes, readers = [], []
    for task in range(run.ranks):
        process = subprocess.Popen(
            _inside(capture, HOSTS[0], [sys.executable, str(WORK / "train.py")]),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_task_environment(capture, task),
            cwd=WORK,
            start_new_session=True,
        )
        processes.append(process)
        for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)):
            prefix = shape.format(task=task, stream=name).encode()
            reader = threading.Thread(target=_label, args=(prefix, stream, files[name], lock), daemon=True)
            reader.start()
            readers.append(reader)
    return processes, readers


def _label(prefix: bytes, stream: IO[bytes], sink: IO[bytes], lock: threading.Lock) -> None:
    for line in stream:
        with lock:
            sink.write(prefix + line.rstrip(b"\n") + b"\n")
            sink.flush()


def _ranks(capture: Capture) -> Started:
    """One process and one file per rank, as a script that starts them by hand leaves them."""
    processes = []
    for rank in range(capture.run.ranks):
        with open(capture.out / f"rank{rank}.log", "wb") as log:
            processes.append(
                subprocess.Popen(
                    _inside(capture, HOSTS[0], [sys.executable, str(WORK / "train.py")]),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=_task_environment(capture, rank),
                    cwd=WORK,
                    start_new_session=True,
                )
            )
    return processes, []


LAUNCHERS = {"tasks": _tasks, "mpi": _tasks, "ranks": _ranks, "nodes": _nodes, "first-node": _nodes}


def _hog(capture: Capture) -> subprocess.Popen[bytes]:
    """A process of somebody else's that fills a GPU but for some GiB."""
    leaves = int(capture.run.hog_leaves * (1 << 30))
    code = (
        "import torch,time;torch.cuda.init();free,_=torch.cuda.mem_get_info();"
        f"kept=torch.empty(free-{leaves},dtype=torch.uint8,device='cuda');print('full',flush=True);time.sleep(200)"
    )
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": str(capture.gpus[capture.run.hog or 0])}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
    if process.stdout:
        process.stdout.readline()
    return process


def _collect(capture: Capture) -> None:
    for dump in capture.scratch.glob("nccl_trace_rank_*"):
        if capture.run.recorder and dump.is_file():
            shutil.copy(dump, capture.out / dump.name)
    for path in (capture.scratch / "logs").glob("**/*"):
        if path.is_file():
            # <log-dir>/<run id>/attempt_<n>/<local rank>/<stream>.log, the run id dropped
            target = capture.out / "logs" / Path(*path.relative_to(capture.scratch / "logs").parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
