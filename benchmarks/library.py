"""How long a warm library call on a 10 KB log takes, alone and with fifty at a time.

usage: python benchmarks/library.py [CALLS]
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import triage

ROOT = Path(__file__).parents[1]
SIZE = 10_000
PROMISED_MS = 5.0
CASES = ("oom-one-rank-cascade", "straggler-sleep-x4", "healthy-info", "device-assert")


def log_of(case: str) -> bytes:
    """The last 10 KB of a captured job, padded with ordinary lines where it is shorter."""
    folder = ROOT / "fixtures/captured" / case
    data = b"".join(path.read_bytes() for path in sorted(folder.glob("job.*")))[-SIZE:]
    filler = b"".join(b"step %d loss 2.3104 tokens/s 41822\n" % i for i in range(SIZE // 30))
    return (filler + data)[-SIZE:]


def measure(engine: triage.Engine, log: bytes, calls: int) -> list[float]:
    """Milliseconds of each warm call."""
    for _ in range(3):
        engine.diagnose(log)
    took = []
    for _ in range(calls):
        begin = time.perf_counter()
        engine.diagnose(log)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


def main() -> None:
    """Print a line a case."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    begin = time.perf_counter()
    engine = triage.Engine()
    engine.diagnose(b"warm up\n")
    print(f"engine compiled and first call: {(time.perf_counter() - begin) * 1e3:.0f} ms")
    print(f"{'10 KB of':<24} {'best':>8} {'median':>8} {'worst':>8}   of {PROMISED_MS:g} ms")
    for case in CASES:
        took = measure(engine, log_of(case), calls)
        share = median(took) / PROMISED_MS
        print(f"{case:<24} {min(took):8.2f} {median(took):8.2f} {max(took):8.2f}   {share:.2f}")
    logs = [log_of(case) for case in CASES]
    begin = time.perf_counter()
    with ThreadPoolExecutor(50) as pool:
        same = {pool.submit(lambda i=i: engine.diagnose(logs[i % 4]).to_json()): i % 4 for i in range(200)}
        answers: dict[int, set[str]] = {}
        for future, case in same.items():
            answers.setdefault(case, set()).add(future.result())
    spent = (time.perf_counter() - begin) * 1e3
    print(
        f"200 calls on 50 threads: {spent / 200:.2f} ms a call; different answers: {sum(map(len, answers.values())) - 4}"
    )


if __name__ == "__main__":
    main()
