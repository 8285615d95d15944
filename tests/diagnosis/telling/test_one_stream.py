"""Whose a failure is where all ranks write into one stream and the deciding line names nobody."""

from __future__ import annotations

from triage import Engine

FRAMES = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 212, in <module>\n    main()\n'
)
OOM = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB (GPU {gpu}; 79.15 GiB total capacity;"
    " 74.80 GiB already allocated; 1.02 GiB free; 76.73 GiB reserved in total by PyTorch)\n"
)
LOST = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.11]:4001\n"
KEY = "KeyError: 'labels'\n"


def ranks(engine: Engine, log: str) -> tuple[int, ...]:
    """Whom the diagnosis of one log blames."""
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    return root.origin.ranks


def table(codes: dict[int, int], first: int) -> str:
    """What torchrun prints of the processes of one node that ended badly."""

    def entry(at: int, rank: int) -> str:
        return (
            f"[{at}]:\n  time      : 2026-11-23_10:00:03\n  host      : gpu-node-01\n"
            f"  rank      : {rank} (local_rank: {rank})\n  exitcode  : {codes[rank]} (pid: {5000 + rank})\n"
            "  error_file: <N/A>\n"
        )

    others = "".join(entry(at, rank) for at, rank in enumerate((r for r in codes if r != first), 1))
    return (
        f"ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: {codes[first]}) local_rank: {first}"
        f" (pid: {5000 + first}) of binary: /usr/bin/python\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        f"{'=' * 60}\ntrain.py FAILED\n{'-' * 60}\nFailures:\n{others}{'-' * 60}\n"
        f"Root Cause (first observed failure):\n{entry(0, first)}{'=' * 60}\n"
    )


def timeout(number: int, *, outer: str = "", op: str = "ALLREDUCE") -> str:
    """What the watchdog of torch 2.1 says, with the number of its rank in whatever group it is."""
    return (
        f"{outer}[E ProcessGroupNCCL.cpp:474] [Rank {number}] Watchdog caught collective operation timeout:"
        f" WorkNCCL(SeqNum=77, OpType={op}, NumelIn=8192, NumelOut=8192, Timeout(ms)=600000) ran for 600053"
        " milliseconds before timing out.\n"
    )


def test_the_gpu_that_an_exception_names_is_that_of_its_local_rank(engine: Engine) -> None:
    every = dict.fromkeys(range(4), 1)
    assert ranks(engine, FRAMES + OOM.format(gpu=2) + (FRAMES + LOST) * 3 + table(every, 0)) == (2,)
    # who sees one GPU alone calls it 0, and who did not end badly got over it
    assert ranks(engine, FRAMES + OOM.format(gpu=0) + (FRAMES + LOST) * 3 + table(every, 3)) != (0,)
    assert ranks(engine, FRAMES + OOM.format(gpu=1) + table({3: 1}, 3)) == (3,)


def test_a_program_says_on_which_gpu_its_ranks_are(engine: Engine) -> None:
    seats = "".join(f"[init] rank {rank} pid {5000 + rank} uses cuda:{3 - rank}\n" for rank in range(4))
    assert ranks(engine, seats + FRAMES + OOM.format(gpu=3)) == (0,)


def test_who_is_ended_by_its_watchdog_did_not_fail_by_itself(engine: Engine) -> None:
    codes = {rank: 1 if rank == 3 else -6 for rank in range(4)}
    waits = "".join(map(timeout, range(3)))
    assert ranks(engine, FRAMES + KEY + waits + table(codes, 0)) == (3,)


def test_the_silent_one_between_the_members_of_a_group_that_no_line_names(engine: Engine) -> None:
    heard = "".join(f"{rank}: step 3 loss 2.5\n" for rank in range(8))
    waits = "".join(timeout(n, outer=f"{rank}: ") for n, rank in ((0, 1), (1, 3), (3, 7)))
    assert ranks(engine, heard + waits) == (5,)
    # a group of two: nothing tells who the other one is
    assert ranks(engine, heard + timeout(1, outer="6: ")) == ()


def test_who_stopped_short_before_a_job_stood_still(engine: Engine) -> None:
    lines = [
        f"2026-11-23 09:59:{10 * step:02d} | INFO | rank {rank} | step {step} loss 2.5"
        for step in range(6)
        for rank in range(4)
    ]
    lines += [f"2026-11-23 10:00:00 | INFO | rank {rank} | saving checkpoint" for rank in range(4)]
    lines += [f"2026-11-23 10:00:04 | INFO | rank {rank} | checkpoint saved" for rank in (0, 1, 3)]
    ended = "slurmstepd: error: *** STEP 8123.0 ON gpu-node-01 CANCELLED AT 2026-11-23T10:50:00 {why}***"
    for why in ("", "DUE TO TIME LIMIT "):
        root = engine.diagnose("\n".join([*lines, ended.format(why=why)]).encode()).root_cause
        assert root is not None and root.category == "straggler-or-hang"
        assert root.origin.ranks == (2,)
    at_work = [line.replace("10:00:0", "10:49:5") for line in lines]
    root = engine.diagnose("\n".join([*at_work, ended.format(why="")]).encode()).root_cause
    assert root is not None and root.category == "scheduler"


def test_a_process_is_called_by_its_pid(engine: Engine) -> None:
    started = "".join(f"INFO - worker started: rank={r}, local_rank={r}, pid={47870 + r}\n" for r in range(4))
    assert ranks(engine, started + "WARNING: process 47872 exited with signal 9\n") == (2,)
    assert ranks(engine, started + "WARNING: process 9123 exited with signal 9\n") == ()


def test_a_spawned_process_that_died_is_on_the_node_of_all_that_are_heard(engine: Engine) -> None:
    def killed(process: int, *heard: int) -> tuple[int, ...]:
        lost = "".join(f"[rank{rank}]: {FRAMES.splitlines()[0]}\n[rank{rank}]: {LOST}" for rank in heard)
        end = f"torch.multiprocessing.spawn.ProcessExitedException: process {process} terminated with signal SIGKILL\n"
        return ranks(engine, lost + FRAMES + end)

    assert killed(1, 0, 2, 3) == (1,)
    assert killed(0, 1, 3) == (0,)
    assert killed(1, 4) != (1,)  # of a later node, perhaps
