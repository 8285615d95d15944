"""Run the planned captures on this machine, several at a time, and pack what they left into one archive.

``python run_all.py OUT [--seconds N] [--only NAME …] [--skip NAME …]``: OUT gets ``captures.tar.gz`` with
a folder per capture (``job.out``, ``job.err``, ``job.log`` or one file per rank, recorder dumps) and
``summary.tsv``.
This folder is expected in ``/workspace`` with ``inject.py`` named ``train.py``.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import threading
import time
from pathlib import Path

import launch_program
from launch import WORK, Capture, start
from plan import RUNS, Run
from programs import PROGRAMS, Program
from programs_of_trainers import TRAINERS


class Gpus:
    """How many jobs each GPU carries; jobs of one owner may have a GPU to themselves."""

    def __init__(self, count: int, slots: int) -> None:
        self.load, self.slots = [0] * count, slots

    def weight(self, run: Run | Program) -> int:
        """The slots of a GPU that a job fills: its ranks may have to share it."""
        return self.slots if run.whole_gpus else -(-run.ranks // len(self.load))

    def take(self, run: Run | Program) -> tuple[int, ...] | None:
        weight = self.weight(run)
        count = len(self.load)
        used = min(run.ranks, count)
        groups = [tuple(range(s, s + used)) for s in range(0, count - used + 1, used)]
        groups.sort(key=lambda group: sum(self.load[g] for g in group))
        for group in groups:
            if all(self.load[g] + weight <= self.slots for g in group):
                for g in group:
                    self.load[g] += weight
                return group
        return None

    def give(self, run: Run | Program, group: tuple[int, ...]) -> None:
        for g in group:
            self.load[g] -= self.weight(run)


def prepare() -> None:
    """Warm the page cache and build the native helpers."""
    here = Path(__file__).parent
    subprocess.run([sys.executable, "-c", "import torch, torch.distributed.fsdp, torch._dynamo"], check=False)
    if subprocess.run(["unshare", "--uts", "--mount", "true"], check=False).returncode:
        os.environ["CAPTURE_NO_NAMESPACE"] = "1"
        print("prepare: no name spaces here", flush=True)
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    found = list(Path(sysconfig.get_paths()["purelib"]).glob("nvidia/**/libcudart.so.1?"))
    command = [nvcc, "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared"]
    for commandline in (
        [*command, "-o", f"{WORK}/librows.so", str(here / "kernels.cu")],
        ["gcc", "-shared", "-fPIC", "-o", f"{WORK}/libquery.so", str(here / "stuck_event_query.c"), "-ldl"],
    ):
        try:
            subprocess.run(commandline, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"prepare: {error}", flush=True)
    launch_program.build(here.resolve(), nvcc)
    print(f"prepare: torch's cudart {found}", flush=True)


def machine_facts(out: Path) -> None:
    """What the machine says about itself."""
    out.mkdir(parents=True, exist_ok=True)
    for name, command in {
        "smi": "nvidia-smi",
        "q": "nvidia-smi -q",
        "topo": "nvidia-smi topo -m",
        "p2p": "nvidia-smi topo -p2p n",
        "nvlink": "nvidia-smi nvlink --status",
        "lscpu": "lscpu",
        "free": "free -h; cat /proc/meminfo",
        "df": "df -h",
        "ulimit": "ulimit -a",
        "env": "env | sort",
        "uname": "uname -a; cat /etc/os-release",
        "lspci": "lspci -nn",
        "numa": "numactl -H; ls -l /sys/class/infiniband /sys/class/net",
        "cgroup": "mount | grep cgroup; cd /sys/fs/cgroup; cat cgroup.controllers cgroup.subtree_control",
    }.items():
        with open(out / f"{name}.txt", "wb") as handle:
            subprocess.run(["bash", "-c", command], stdout=handle, stderr=subprocess.STDOUT, check=False)


def work(
    run: Run | Program, group: tuple[int, ...], index: int, results: list[str], lock: threading.Lock
) -> None:
    begin = time.time()
    try:
        port, out = 20011 + 37 * index, WORK / "out" / run.name
        if isinstance(run, Program):
            codes = launch_program.start(launch_program.Job(run, group, port, out))
        else:
            codes = start(Capture(run, group, port, out))
    except Exception as error:  # one broken capture must not end the others
        codes = f"{type(error).__name__}: {error}"
    with lock:
        results.append(f"{run.name}\t{group}\t{time.time() - begin:.0f}s\t{codes}")
        print(results[-1], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--skip", nargs="*", default=[])
    parser.add_argument("--gpus", type=int, default=4)
    parser.add_argument("--slots", type=int, default=7, help="jobs that share a GPU")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    deadline = time.time() + options.seconds
    (WORK / "out").mkdir(parents=True, exist_ok=True)
    facts = threading.Thread(target=machine_facts, args=(WORK / "out" / "machine",))
    facts.start()
    prepare()
    queue: list[Run | Program] = [r for r in RUNS if r.ranks <= options.gpus]
    queue += PROGRAMS + TRAINERS
    queue = [r for r in queue if (not options.only or r.name in options.only) and r.name not in options.skip]
    queue.sort(key=lambda r: not r.whole_gpus)
    gpus, results, lock = Gpus(options.gpus, options.slots), [], threading.Lock()
    running: list[tuple[threading.Thread, Run | Program, tuple[int, ...]]] = []
    index = 0
    while (queue or running) and time.time() < deadline:
        for item in [item for item in running if not item[0].is_alive()]:
            running.remove(item)
            gpus.give(item[1], item[2])
        for run in list(queue):
            if deadline - time.time() < 45:
                break
            group = gpus.take(run)
            if group is not None:
                thread = threading.Thread(target=work, args=(run, group, index, results, lock), daemon=True)
                index += 1
                queue.remove(run)
                running.append((thread, run, group))
                thread.start()
                time.sleep(0.3)
        time.sleep(0.2)
    results += [f"{run.name}\tnot started" for run in queue]
    results += [f"{run.name}\tcut" for thread, run, _ in running if thread.is_alive()]
    (WORK / "out" / "summary.tsv").write_text("\n".join(sorted(results)) + "\n")
    with open(WORK / "out" / "dmesg.txt", "wb") as handle:
        subprocess.run(["dmesg"], stdout=handle, check=False)
    options.out.mkdir(parents=True, exist_ok=True)
    with tarfile.open(options.out / "captures.tar.gz", "w:gz", compresslevel=6) as archive:
        archive.add(WORK / "out", "captures")
    print("\n".join(results[-20:]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
