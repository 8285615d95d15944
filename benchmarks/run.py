"""Measure what triage promises about speed, and print it as a table.

usage: python benchmarks/run.py [--megabytes 1024] [--directory DIR]

Every figure is the best of several runs in one session on one machine; what counts are the ratios.
Needs ripgrep (``rg``) on the path for the comparison.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 5


def best(command: list[str], runs: int = RUNS) -> float:
    """The shortest wall time of ``command`` in seconds."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - begin)
    return min(times)


def peak(command: list[str]) -> int:
    """Peak resident memory of ``command`` in MB."""
    pid = os.fork()
    if pid == 0:
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    return 0


def triage(*arguments: str) -> list[str]:
    """The command line of triage in this interpreter."""
    return [sys.executable, "-m", "triage", "--format", "oneline", *arguments]


def generate(path: Path, megabytes: int, *extra: str) -> Path:
    """A generated log."""
    subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/generate.py"), str(path), str(megabytes), *extra], check=True
    )
    path.read_bytes() if megabytes <= 64 else subprocess.run(
        ["cat", str(path)], stdout=subprocess.DEVNULL, check=True
    )
    return path


def scan(directory: Path, megabytes: int) -> None:
    """A warm log against ripgrep with the same anchors."""
    from triage.rules.loader import load_rules

    log = generate(directory / "plain.log", megabytes)
    found = load_rules().anchors()
    everything, rare = directory / "all.txt", directory / "rare.txt"
    everything.write_text("\n".join(sorted(found.literals)) + "\n")
    rare.write_text(
        "\n".join(sorted(a for at, a in enumerate(found.literals) if at not in found.sampled)) + "\n"
    )
    size = log.stat().st_size / 1e9
    ours = best(triage(str(log)))
    print(f"scan  triage, whole process           {ours:6.2f} s  {size / ours:5.2f} GB/s")
    if shutil.which("rg"):
        for name, anchors in (("all anchors", everything), ("rare anchors", rare)):
            theirs = best(["rg", "-c", "-F", "-f", str(anchors), str(log)], 3)
            print(
                f"scan  rg -F -f, {name:<20}  {theirs:6.2f} s  {size / theirs:5.2f} GB/s  ratio {theirs / ours:.2f}"
            )
    sys.stdout.write("scan  peak memory of triage in MB       ")
    sys.stdout.flush()
    peak(triage(str(log)))


def flood(directory: Path, megabytes: int) -> None:
    """A log in which every fifth line matches the same rule."""
    log = generate(directory / "flood.log", megabytes, "--flood")
    ours = best(triage(str(log)), 3)
    print(f"flood triage, whole process           {ours:6.2f} s  {log.stat().st_size / 1e9 / ours:5.2f} GB/s")
    sys.stdout.write("flood peak memory of triage in MB       ")
    sys.stdout.flush()
    peak(triage(str(log)))


def start() -> None:
    """A 10 KB log against the bare interpreter."""
    log = ROOT / "fixtures/captured/desync-detail/job.err"
    bare = best([sys.executable, "-c", "pass"], 15)
    ours = best(triage(str(log)), 15)
    print(f"start bare python {bare * 1e3:.0f} ms, triage on {log.stat().st_size / 1e3:.0f} KB {ours * 1e3:.0f} ms, "
          f"difference {(ours - bare) * 1e3:.0f} ms")  # fmt: skip


def scaling(directory: Path, megabytes: int) -> None:
    """The same log with few and with many rules: generated ones, and those of the catalogue."""
    log = generate(directory / "scaling.log", megabytes)
    few, many = directory / "rules-100", directory / "rules-10000"
    for rules, count in ((few, 100), (many, 10_000)):
        rules.mkdir(exist_ok=True)
        (rules / "generated.yaml").write_text(
            "engine: 1\nrules:\n" + "".join(_rule(i) for i in range(count)) + _EXTRA
        )
    _compare("100 rules against 10,000", few, many, log)
    _compare("50 rules against the catalogue", _excerpt(directory / "rules-50", 50), ROOT / "rules", log)


def _compare(what: str, few: Path, many: Path, log: Path) -> None:
    """Warm scans of ``log`` with two sets of rules, by turns, so that a slow minute strikes both."""
    code = (
        "import sys,time;from triage.engine import Engine;from triage.rules.loader import load_rules\n"
        "es=[Engine(load_rules([d],builtin=False)) for d in sys.argv[1:3]]\n"
        "def once(e):\n b=time.perf_counter();e.diagnose(sys.argv[3]);return time.perf_counter()-b\n"
        "t=[[once(e) for e in es] for _ in range(8)][1:]\n"
        "print(*(min(x) for x in zip(*t)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(few), str(many), str(log)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    one, other = map(float, done.stdout.split())
    print(f"rules {what}: {one:.2f} s, {other:.2f} s, ratio {other / one:.2f}")


def _excerpt(directory: Path, count: int) -> Path:
    """``count`` rules of the catalogue from files taken by lot, beside what every scan looks for."""
    from triage.rules.parsing import parse_rule_files

    directory.mkdir(exist_ok=True)
    for needed in ("ledger", "progress", "unknown"):
        shutil.copytree(ROOT / "rules" / needed, directory / needed)
    files = sorted(
        p for p in (ROOT / "rules").rglob("*.yaml") if p.parent.name not in {"ledger", "progress", "unknown"}
    )
    random.Random(20261121).shuffle(files)
    for path in files:
        if count <= 0:
            break
        shutil.copy(path, directory / f"{path.parent.name}-{path.name}")
        count -= len(parse_rule_files(path))
    return directory


def _rule(number: int) -> str:
    word = f"generated failure {number * 7919 % 1_000_003:06d} of unit"
    return (
        f"  - {{id: generated.rule-{number}, title: x, role: symptom, signature: {{anchor: '{word}'}}, "
        f"examples: {{match: ['{word}'], no_match: ['x']}}}}\n"
    )


_EXTRA = "".join(
    f"  - {{id: {name}, title: x, role: cause, category: unknown, signature: {{reader: ledger}}}}\n"
    for name in ("unknown.last-words", "unknown.reported", "unknown.user-code", "unknown.exception")
)


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--directory", type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        directory = Path(name)
        start()
        scan(directory, options.megabytes)
        flood(directory, options.megabytes * 2)
        scaling(directory, options.megabytes)


if __name__ == "__main__":
    main()
