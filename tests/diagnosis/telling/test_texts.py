"""What a report says in words: titles of what is explained, what is less likely, commands to copy, the place."""

from __future__ import annotations

from triage import Diagnosis, Engine, Source

OOM = "CUDA out of memory. Tried to allocate 452.00 MiB. GPU 7 has a total capacity of 95.22 GiB of which 271.19 MiB is free."
TABLE = (
    "  time      : 2025-10-26_03:51:31\n"
    "  host      : lrdn2237\n"
    "  rank      : {rank} (local_rank: {rank})\n"
    "  exitcode  : {code} (pid: 25217{rank})\n"
    "  error_file: <N/A>\n"
)


def diagnosed(engine: Engine, log: str, name: str = "job.log", **labels: str) -> Diagnosis:
    return engine.diagnose([Source(name, data=log.encode(), **labels)])  # type: ignore[arg-type]


def raised(rank: int, error: str) -> str:
    return (
        f"[rank{rank}]: Traceback (most recent call last):\n"
        f'[rank{rank}]:   File "/home/u/train.py", line 3, in <module>\n'
        f"[rank{rank}]:     loss.backward()\n"
        f"[rank{rank}]: {error}\n"
    )


def test_what_all_lines_of_a_kind_have_in_common_stands_in_their_title(engine: Engine) -> None:
    log = raised(0, "torch.OutOfMemoryError: " + OOM) + "".join(
        TABLE.format(rank=rank, code=1) for rank in (0, 3)
    )
    titles = [group.title for group in diagnosed(engine, log).findings]
    assert "torchrun lists ranks 0, 3 as ended with exit code 1" in titles


def test_what_differs_is_named_where_it_is_little(engine: Engine) -> None:
    log = raised(0, "torch.OutOfMemoryError: " + OOM) + "".join(
        TABLE.format(rank=rank, code=code) for rank, code in ((0, 1), (3, -15))
    )
    titles = [group.title for group in diagnosed(engine, log).findings]
    assert "torchrun lists ranks 0, 3 as ended with exit code 1 or -15" in titles


def test_the_gpu_that_the_line_names_and_the_host_by_its_own_name_are_where_it_began(engine: Engine) -> None:
    log = raised(3, "torch.OutOfMemoryError: " + OOM) + TABLE.format(rank=3, code=1)
    root = diagnosed(engine, log, "node2.err", host="node2").root_cause
    assert root is not None
    assert (root.origin.rank, root.origin.gpu, root.origin.host) == (3, 7, "lrdn2237")


def test_commands_name_the_job_where_its_number_is_told(engine: Engine) -> None:
    log = (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=77120.0. Some of the step tasks have been OOM Killed.\n"
        "srun: error: tg1021: task 6: Out Of Memory\n"
    )
    root = diagnosed(engine, log).root_cause
    assert root is not None
    texts = [f"{step.run} {step.verify}" for step in root.remediation]
    assert any("sacct -j 77120 " in text for text in texts)


def test_numbers_of_two_jobs_are_none(engine: Engine) -> None:
    log = "".join(
        f"slurmstepd: error: Detected 1 oom_kill event in StepId={job}.0. Some of the step tasks have been OOM Killed.\n"
        for job in (77120, 77121)
    )
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert "7712" not in " ".join(f"{step.run} {step.verify}" for step in root.remediation)


def test_what_is_less_likely_is_never_surer_than_what_stands_before_it(engine: Engine) -> None:
    log = (
        "[881207.330418] NVRM: Xid (PCI:0000:03:00): 79, pid=7, name=python, GPU has fallen off the bus.\n"
        + raised(0, "RuntimeError: CUDA error: unspecified launch failure")
    )
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    sure = [found.root_cause.confidence, *(other.confidence for other in found.alternatives)]
    assert sure == sorted(sure, reverse=True)


def test_advice_for_servers_is_given_to_servers(engine: Engine) -> None:
    timeout = (
        "[rank{rank}]:[E1121 15:09:40.0 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=9782, OpType=ALLREDUCE, NumelIn={size}, NumelOut={size}, Timeout(ms)=1800000) ran for 1800071 "
        "milliseconds before timing out.\n"
    )
    log = "".join(timeout.format(rank=rank, size=1 if rank == 1 else 4096) for rank in range(4))
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert root.category == "collective-desync"
    assert "(1 element)" in root.summary
    texts = " ".join([*(s.do for s in root.remediation), *(d.do for d in root.does_not_help)])
    assert "number of batches" in texts
    assert "NVSwitch" not in texts
    assert "CUDA graphs" not in texts


def test_a_file_that_is_no_text_is_called_so(engine: Engine) -> None:
    found = engine.diagnose([Source("core.4711", data=bytes(range(256)) * 40)])
    assert found.verdict == "inconclusive"
    assert any("core.4711 is no text" in note for note in found.notes)
