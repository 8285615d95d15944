"""Several tries of one job."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage import Engine, Source

FIXTURES = Path(__file__).parents[3] / "fixtures" / "captured"


def test_two_attempts_that_say_nothing_are_not_a_crash(engine: Engine, tmp_path: Path) -> None:
    for attempt in (0, 1):
        folder = tmp_path / f"attempt_{attempt}" / "0"
        folder.mkdir(parents=True)
        (folder / "stdout.log").write_text("hello\n")
    assert engine.diagnose(tmp_path).verdict in {"healthy", "inconclusive"}


def test_steps_of_an_unknown_try_are_not_those_of_one_that_could_not_start(engine: Engine) -> None:
    folder = FIXTURES / "restart-oom-then-port"
    steps = "".join(f"step {n} | loss 2.1\n" for n in range(50))
    sources = [
        Source("job.err", data=(folder / "job.err").read_bytes()),
        Source("job.out", data=steps.encode() + (folder / "job.out").read_bytes()),
    ]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 1)


BANNER = (
    "W0301 {0}.100000 {1} torch/distributed/run.py:766] Setting OMP_NUM_THREADS environment variable for each process "
    "to be 1 in default, to avoid your system being overloaded.\n"
)
END = (
    "E0301 {0}.400000 {1} torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: {2} "
    "(pid: 12{2}) of binary: /opt/bin/python\n"
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "Root Cause (first observed failure):\n[0]:\n  rank      : {2} (local_rank: {2})\n  exitcode  : 1 (pid: 12{2})\n"
)
STEPS = "".join(f"step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(1, 6))


def raised(rank: int, said: str) -> str:
    """An exception of one rank."""
    return f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/w/train.py", line 6, in main\n[rank{rank}]: {said}\n'


def runs(*texts: str) -> Source:
    """Runs whose output was appended to one log."""
    return Source("train.log", data="".join(texts).encode())


def test_a_run_appended_to_a_failed_one_is_judged_by_itself(engine: Engine) -> None:
    first = STEPS + raised(1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    one = BANNER.format("08:00:01", 1201) + first + END.format("08:02:11", 1201, 1)
    two = (
        BANNER.format("09:10:01", 2201)
        + STEPS
        + raised(3, "KeyError: 'rougeL'")
        + END.format("09:22:11", 2201, 3)
    )
    root = engine.diagnose(runs(one, two)).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 3)
    bare = engine.diagnose(runs(one.replace(BANNER.format("08:00:01", 1201), ""), STEPS)).verdict
    assert bare == "healthy"


def test_steps_that_go_on_after_one_launcher_gave_up_begin_no_run(engine: Engine) -> None:
    later = "".join(f"step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(6, 9))
    found = engine.diagnose(
        runs(STEPS + raised(1, "KeyError: 'x'") + END.format("08:02:11", 1201, 1) + later)
    )
    assert found.verdict == "failed"
    assert not found.attempts


def server(pid: int, clock: str, *lines: str) -> str:
    """What a vLLM server says from its first line on."""
    said = ("[api_server.py:1896] vLLM API server version 0.10.2", *lines)
    return "".join(
        f"(APIServer pid={pid}) INFO 03-01 {clock}:{n:02d} {line}\n" for n, line in enumerate(said)
    )


NOT_STARTED = (
    "(EngineCore_DP0 pid=51{0}) ERROR 03-01 {1}:08 [core.py:718] ValueError: Free memory on device (13.58/15.99 GiB) on startup "
    "is less than desired GPU memory utilization (0.9, 14.39 GiB). Decrease GPU memory utilization "
    "or reduce GPU memory used by other processes.\n"
    "(APIServer pid={0}) Traceback (most recent call last):\n"
    '(APIServer pid={0})   File "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/utils.py", line 729, in wait_for_engine_startup\n'
    "(APIServer pid={0})     raise RuntimeError(\n"
    "(APIServer pid={0}) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {{}}\n"
)
SERVED = (
    "[api_server.py:1971] Starting vLLM API server 0 on http://0.0.0.0:8000",
    "[loggers.py:127] Engine 000: Avg prompt throughput: 21.4 tokens/s, Avg generation throughput: 88.1 tokens/s, Running: 1 reqs, "
    "Waiting: 0 reqs, GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%",
)


def test_a_server_that_was_started_again_is_judged_by_its_last_start(engine: Engine) -> None:
    failed = server(41, "10:00") + NOT_STARTED.format(41, "10:00")
    found = engine.diagnose(runs(failed, server(42, "10:05", *SERVED)))
    assert found.verdict == "healthy"
    assert [a.verdict for a in found.attempts] == ["failed", "healthy"]
    assert found.warnings
    both = engine.diagnose(runs(failed, server(42, "10:05") + NOT_STARTED.format(42, "10:05")))
    assert both.root_cause is not None
    assert both.root_cause.rule_id == "vllm.gpu-occupied"


def test_servers_that_run_side_by_side_are_one_try(engine: Engine) -> None:
    text = server(41, "10:00") + server(42, "10:00", *SERVED) + NOT_STARTED.format(41, "10:05")
    found = engine.diagnose(runs(text))
    assert found.verdict == "failed"
    assert not found.attempts


def cancelled(job: int, at: str) -> str:
    """Slurm's words on a job that somebody cancelled."""
    return f"slurmstepd: error: *** JOB {job} ON gpu-a0{job % 10} CANCELLED AT 2026-03-01T{at} ***\n"


def test_jobs_that_slurm_ended_one_after_the_other_are_judged_apart(engine: Engine) -> None:
    text = raised(0, "KeyError: 'x'") + END.format("08:02:11", 1201, 0) + cancelled(71, "08:09:00")
    found = engine.diagnose(runs(text, STEPS + cancelled(72, "09:00:00"), STEPS + cancelled(73, "10:00:00")))
    assert found.root_cause is not None
    assert found.root_cause.category == "scheduler"
    assert "JOB 73" in found.root_cause.evidence[0].text


def test_bars_of_another_launcher_begin_no_run(engine: Engine) -> None:
    bars = "".join(
        f"1: Loading checkpoint shards:  {n}5%|#| {n}/4 [00:01<00:04,  1.48s/it]\n" for n in (3, 1)
    )
    mine = "".join(f"0: {line}\n" for line in END.format("08:02:11", 1201, 1).splitlines())
    log = "0: " + BANNER.format("08:00:01", 1201) + "1: " + BANNER.format("08:00:01", 1301)
    log += (
        bars.splitlines()[0] + "\n" + mine + "\r" + bars.splitlines()[1] + "\n" + bars.splitlines()[0] + "\n"
    )
    assert not engine.diagnose(runs(log)).attempts


def test_bars_that_slurm_cuts_short_begin_no_run(engine: Engine) -> None:
    bar = "\rTraining:  {0}%|##        | {0}/100 [00:01<00:10,  9.01it/s]\n"
    log = bar.format(28) + bar.format(29) + cancelled(74, "11:00:00") + "".join(map(bar.format, (29, 30, 31)))
    found = engine.diagnose(runs(log))
    assert not found.attempts
    assert found.root_cause is not None
    assert found.root_cause.category == "scheduler"


def test_a_program_that_refused_its_arguments_is_not_the_one_that_works_later(engine: Engine) -> None:
    refused = "usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --lrr 1e-4\n"
    assert engine.diagnose(runs(refused)).verdict == "failed"
    found = engine.diagnose(runs(refused, STEPS))
    assert found.verdict == "healthy"
    assert [a.verdict for a in found.attempts] == ["failed", "healthy"]


USAGE = "usage: tune.py [-h] [--rate RATE]\ntune.py: error: unrecognized arguments: --ratio 0.1\n"


def uncaught(*frames: str, said: str) -> str:
    """What Python prints as it ends."""
    where = "".join(f"  File {frame}\n" for frame in frames)
    return f"Traceback (most recent call last):\n{where}{said}\n"


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("KeyboardInterrupt", "scheduler"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.", "gpu-oom"),
        ("TypeError: forward() missing 1 required positional argument: 'mask'", "user-code"),
    ],
)
def test_who_mistyped_corrected_it_and_started_again(engine: Engine, said: str, category: str) -> None:
    frames = (
        '"tune.py", line 61, in <module>\n    main()',
        '"tune.py", line 44, in main\n    out = net(batch)',
    )
    root = engine.diagnose(runs(USAGE, uncaught(*frames, said=said))).root_cause
    assert root is not None
    assert root.category == category
    alone = engine.diagnose(runs(USAGE)).root_cause
    assert alone is not None
    assert alone.rule_id == "python.command-line"


def test_a_slip_in_a_module_is_not_the_run_before_the_traceback_that_tells_of_it(engine: Engine) -> None:
    frames = (
        '"tune.py", line 3, in <module>\n    import layers',
        '"/w/layers.py", line 9\n    match kind:\n          ^',
    )
    root = engine.diagnose(runs(uncaught(*frames, said="SyntaxError: invalid syntax"))).root_cause
    assert root is not None
    assert root.rule_id == "python.syntax"


def test_a_log_that_goes_on_after_its_only_process_ended_goes_on_with_another_run(engine: Engine) -> None:
    frames = ('"tune.py", line 3, in <module>\n    from data import load_pairs',)
    slip = uncaught(*frames, said="ImportError: cannot import name 'load_pairs' from 'data' (/w/data.py)")
    ended = "srun: error: node7: task 0: Exited with exit code 1\n"
    memory = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 700.00 MiB."
    work = "[1,    20] loss: 0.512 masks: 61.0 [lr: 1.00e-04] (812.0 ms)\n"
    again = work + uncaught('"tune.py", line 61, in <module>\n    main()', said=memory)
    root = engine.diagnose(runs(work, ended, slip, ended, again)).root_cause
    assert root is not None
    assert root.category == "gpu-oom"


def failed_at(clock: str) -> str:
    """What the agent says of its workers' end."""
    return (
        f"E0301 {clock}.400000 4242 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 1 "
        "(pid: 1201) of binary: /opt/bin/python\n"
    )


def stepped(begin: int, end: int) -> str:
    """Steps of two ranks."""
    return "".join(
        f"2026-03-01 10:00:{n:02d},100 [INFO] rank{r}: step {n}/90 loss 0.{n}\n"
        for n in range(begin, end)
        for r in (0, 1)
    )


def test_an_agent_that_started_its_workers_again_need_not_say_so(engine: Engine) -> None:
    broken = raised(1, "RuntimeError: the pump stood still") + failed_at("10:00:20")
    assert (
        engine.diagnose(Source("run.log", data=(stepped(10, 20) + broken + stepped(22, 40)).encode())).verdict
        == "healthy"
    )
    assert engine.diagnose(Source("run.log", data=(stepped(10, 20) + broken).encode())).verdict == "failed"
    # what stands below it was said before
    late = raised(1, "RuntimeError: the pump stood still") + failed_at("10:00:50")
    assert engine.diagnose(Source("run.log", data=(late + stepped(10, 20)).encode())).verdict == "failed"


NO_FILE = (
    'Traceback (most recent call last):\n  File "/w/measure.py", line 6, in main\n    gauge = open(path)\n'
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/gauges.csv'\n"
)
METERS = "".join(f"Test: [{n}0/124]\tTime 0.2{n} (0.3)\tData 0.1 (0.2)\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        (
            "nohup: ignoring input\n" + NO_FILE + "nohup: ignoring input\nreading the gauges\n" + STEPS,
            "healthy",
        ),
        ("nohup: ignoring input\nreading the gauges\nnohup: ignoring input\n" + NO_FILE, "failed"),
        (NO_FILE + METERS, "healthy"),
        (METERS + NO_FILE, "failed"),
    ],
)
def test_who_starts_again_in_the_same_log_is_judged_by_its_last_run(
    engine: Engine, log: str, verdict: str
) -> None:
    assert engine.diagnose(Source("nohup.out", data=log.encode())).verdict == verdict


def test_a_command_that_is_named_because_it_failed_starts_nothing(engine: Engine) -> None:
    text = (
        'Traceback (most recent call last):\n  File "/work/train.py", line 12, in main\n    step()\n'
        "KeyError: 'labels'\n"
        "E1001 19:20:31.410000 7410 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1)"
        " local_rank: 0 (pid: 7481) of binary: /usr/bin/python3\n"
        'Traceback (most recent call last):\n  File "/usr/bin/torchrun", line 8, in <module>\n    sys.exit(main())\n'
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        + "=" * 60
        + "\ntrain.py FAILED\n"
        + "=" * 60
        + "\n"
        "Error: failed to run torchrun --nproc_per_node=4 --nnodes=1 --node_rank=0 train.py on 127.0.0.1\n"
        "Command: 'cd /work && torchrun --nproc_per_node=4 --nnodes=1 --node_rank=0 train.py'\n"
        "Exit code: 1\n127.0.0.1: failure\n"
    )
    diagnosis = engine.diagnose(Source(name="run.log", data=text.encode()))
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "user-code"


SEEN = (
    "E0301 {0}.400000 900 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 5 "
    "(pid: {1}) of binary: /opt/bin/python\n"
)
AGAIN = (
    "I0301 {0}.500000 900 torch/distributed/elastic/agent/server/api.py:879] [default] Worker group FAILED. "
    "1/1 attempts left; will restart worker group\n"
)
TABLE = (
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \nRoot Cause (first observed failure):\n"
    "[0]:\n  rank      : 5 (local_rank: 5)\n  exitcode  : 1 (pid: {0})\n"
)


def test_where_the_same_recurs_the_try_that_tells_of_whom_decides(engine: Engine) -> None:
    """Only behind the last try does torchrun print its table."""
    nameless = 'Traceback (most recent call last):\n  File "/w/data.py", line 6, in __getitem__\n    return json.loads(x)\n'
    said = "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
    text = STEPS + nameless + said + SEEN.format("08:02:11", 1205) + AGAIN.format("08:02:12")
    text += STEPS + nameless + said + SEEN.format("08:04:11", 1305) + TABLE.format(1305)
    root = engine.diagnose(Source("train.log", data=text.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("data-loading", 5)
