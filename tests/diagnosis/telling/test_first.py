"""Which of several ranks that met the same is named: the first, where clocks tell it, the odd one, or the one that died of it."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Hypothesis

NODES = {"rn1": (0, 1), "rn2": (2, 3)}
LOST = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.4]:1940."


def cause(engine: Engine, logs: dict[str, str]) -> Hypothesis:
    root = engine.diagnose([Source(name, data=text.encode()) for name, text in logs.items()]).root_cause
    assert root is not None
    return root


def raised(rank: int, error: str, line: int = 40) -> str:
    tag = f"[rank{rank}]:"
    return (
        f'{tag} Traceback (most recent call last):\n{tag}   File "/srv/app/fit.py", line {line}, in update\n'
        f"{tag}     call(x)\n{tag} {error}\n"
    )


def frames(refused: dict[int, str]) -> dict[str, str]:
    """A log a node, in which processes are known by their number on it; tracebacks bear no time."""
    logs = {}
    for host, ranks in NODES.items():
        text = "".join(
            f"Nov 23 07:27:5{frame} {host} render[{local}]: frame {frame} done\n"
            for frame in range(6) for local in (0, 1)
        )  # fmt: skip
        for local, rank in enumerate(ranks):
            if rank in refused:
                text += f"Nov 23 {refused[rank]} {host} render[{local}]: frame 6: the plate server wants no more of us today\n"
                text += raised(rank, "PlateError: the plate server wants no more of us today")
        logs[f"{host}.log"] = text
    return logs


@pytest.mark.parametrize(
    ("refused", "rank"),
    [
        ({1: "07:28:06", 2: "07:28:01"}, 2),
        ({1: "07:28:01", 2: "07:28:06"}, 1),
        ({1: "07:28:01", 2: "07:28:02"}, None),  # processes that start at once meet it some moments apart
    ],
)
def test_the_line_above_tells_the_time(engine: Engine, refused: dict[int, str], rank: int | None) -> None:
    assert cause(engine, frames(refused)).origin.rank == rank


@pytest.mark.parametrize(
    ("layers", "rank"), [((24, 24, 24, 22, 24), 3), ((24,) * 5, None), ((24, 22, 20, 22, 24), None)]
)
def test_all_refuse_what_one_of_them_had_otherwise(
    engine: Engine, layers: tuple[int, ...], rank: int | None
) -> None:
    logs = {
        f"replica-{r}.log": f"07:26:05 model built: {n} layers, width 512\n"
        + raised(r, "ValueError: replicas disagree on the number of layers")
        for r, n in enumerate(layers)
    }
    root = cause(engine, logs)
    assert root.origin.rank == rank
    assert root.rule_id.startswith("unknown.")


BUILD = (
    "07:28:38 encoder(0) building the extension\n07:28:38 decoder(1) building the extension\n"
    "07:28:39 decoder(1) build failed\n<stdin>:1:10: fatal error: fast/utf8.h: No such file or directory\n"
    "compilation terminated.\n\n"
)
ENDED = (
    "W1123 07:28:41.404000 5812 torch/distributed/elastic/multiprocessing/api.py:1012] Sending process 6586 closing signal "
    "SIGTERM\nE1123 07:28:41.468000 5812 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) "
    "local_rank: 1 (pid: 6587) of binary: /opt/venv/bin/python\n"
)


@pytest.mark.parametrize(("times", "rank"), [(1, 1), (2, None)])
def test_what_a_compiler_says_without_a_name_is_of_the_one_that_died(
    engine: Engine, times: int, rank: int | None
) -> None:
    failed = "subprocess.CalledProcessError: Command '['cc', '-']' returned non-zero exit status 1."
    root = cause(engine, {"job.log": BUILD * times + raised(1, failed) + ENDED})
    assert root.category == "compile-or-graph-capture"
    assert root.origin.rank == rank


def test_who_logs_what_is_raised_again_without_a_name(engine: Engine) -> None:
    log = "".join(
        f"[w{rank}] INFO hour {hour} level 1.{hour}\n" for hour in range(4) for rank in (1, 0, 3, 2)
    )
    message = "/srv/ext/filter.so: undefined symbol: rt_window_v4"
    log += (
        f"[w2] CRITICAL filter extension unusable: {message}\nTraceback (most recent call last):\n"
        f'  File "/srv/app/beam.py", line 5, in <module>\n    import filter\nImportError: {message}\n'
    )
    log += "".join(f"[w{rank}] WARNING told to leave\n" for rank in (3, 0, 1))
    root = cause(engine, {"beam.log": log})
    assert (root.rule_id, root.origin.rank) == ("python.undefined-symbol", 2)


def test_a_number_on_a_node_is_no_rank(engine: Engine) -> None:
    logs = {}
    for first, (local, second) in {0: (2, "37"), 4: (1, "34")}.items():
        words = f"[Errno 122] Disk quota exceeded: '/lustre/feat/part-{first + local:03d}-11.bin'"
        text = "".join(f"I 06:58:3{s} [{n}] shard {s} written\n" for s in range(4) for n in (3, 0, 2, 1))
        text += f"E 06:58:{second} [{local}] write failed: {words}\n" + raised(
            first + local, f"OSError: {words}"
        )
        text += (
            f"E1123 06:58:{second}.491000 {90 + first} torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: "
            f"1) local_rank: {local} (pid: {600 + first + local}) of binary: /opt/venv/bin/python\n"
        )
        text += "disk.py FAILED\nFailures:\n" + "".join(
            f"[{n}]:\n  time      : 2026-11-23_06:58:{second}\n  host      : localhost\n"
            f"  rank      : {first + n} (local_rank: {n})\n  exitcode  : -15 (pid: {600 + first + n})  (SIGTERM)\n"
            f"  error_file: <N/A>\n  traceback : Signal 15 (SIGTERM) received by PID {600 + first + n}\n"
            for n in range(4) if n != local
        ) + (
            f"Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-23_06:58:{second}\n  host      : localhost\n"
            f"  rank      : {first + local} (local_rank: {local})\n  exitcode  : 1 (pid: {600 + first + local})\n"
            "  error_file: <N/A>\n"
        )  # fmt: skip
        logs[f"gpu-n{first}.err"] = text
    root = cause(engine, logs)
    assert (root.rule_id, root.origin.rank) == ("host.quota", 5)


def test_an_import_that_fails_everywhere_is_nobodys(engine: Engine) -> None:
    error = (
        'Traceback (most recent call last):\n  File "/srv/app/fit.py", line 2, in <module>\n    import loguru\n'
        "ModuleNotFoundError: No module named 'loguru'\n"
    )
    root = cause(engine, {"job.log": error * 4 + ENDED})
    assert (root.rule_id, root.origin.rank) == ("python.module-missing", None)


def test_the_rank_whose_log_of_a_node_says_nothing_of_a_loss_is_there(engine: Engine) -> None:
    logs = {}
    for box, ranks in {"box1": (1, 0), "box2": (3, 2), "box3": (5,)}.items():
        text = "".join(f"gpu{n} | iter {s} psnr 2{s}.0\n" for s in range(4) for n in (0, 1))
        text += "gpu0 | iter 4 render buffer lost, leaving\n" if box == "box3" else ""
        logs[f"{box}.log"] = text + "".join(raised(rank, LOST) for rank in ranks)
    assert cause(engine, logs).origin.rank == 4


def test_what_several_raise_without_a_name_is_nobodys(engine: Engine) -> None:
    error = (
        'Traceback (most recent call last):\n  File "/srv/app/case.py", line 4, in <module>\n'
        "    os.environ['CASE_DIR']\nKeyError: 'CASE_DIR'\n"
    )
    ended = (
        "--------------------------------------------------------------------------\nmpirun detected that one or more processes "
        "exited with non-zero status, thus causing\nthe job to be terminated. The first process to do so was:\n\n"
        "  Process name: [[8637,1],1]\n  Exit code:    1\n"
        "--------------------------------------------------------------------------\n"
    )
    assert cause(engine, {"out.log": error * 4 + ended}).origin.rank is None


def test_a_broken_barrier_is_of_the_one_that_raised_something_else(engine: Engine) -> None:
    frames = 'Traceback (most recent call last):\n  File "/srv/app/merge.py", line 12, in work\n'
    broken = (
        f'{frames}    bar.wait(8)\n  File "/usr/lib/python3.12/threading.py", line 763, in _wait\n'
        "    raise BrokenBarrierError\nthreading.BrokenBarrierError\n"
    )
    unpacked = frames + "    a, b, c = row\nValueError: not enough values to unpack (expected 3, got 2)\n"
    begun = "".join(f"2026-11-23 07:49:1{n} INFO task {n} merged\n" for n in range(6))
    logs = {f"worker_{n}.log": begun + (unpacked if n == 4 else broken) for n in range(6)}
    root = cause(engine, logs)
    assert (root.rule_id, root.origin.rank) == ("unknown.user-code", 4)
