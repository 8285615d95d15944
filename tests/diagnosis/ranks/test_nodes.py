"""Local ranks: they become ranks where the node is known, and stay what they are elsewhere."""

from __future__ import annotations

import pytest

from triage import Engine, Source

FAULT = "RuntimeError: CUDA error: an illegal memory access was encountered"
RAISED = 'Traceback (most recent call last):\n  File "/w/train.py", line 9, in <module>\n    step()\n' + FAULT
EXIT = (
    "E1120 18:16:12.703000 22836 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) "
    "local_rank: 3 (pid: 22842) of binary: /opt/venv/bin/python3\n"
)
TABLE = (
    "  time      : 2026-11-20_18:16:12\n  host      : {host}\n  rank      : {rank} (local_rank: {local})\n"
    "  exitcode  : {code} (pid: {pid})\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID {pid}\n"
)
DUMP = "PATH=/usr/bin\nHOME=/root\nMASTER_ADDR=10.0.0.1\nNNODES=2\nLOCAL_WORLD_SIZE=8\nNODE_RANK={0}\n"
LAUNCH = "+ torchrun --nnodes={0} --nproc_per_node=8 --node_rank={1} --master_addr=10.0.0.1 train.py\n"


def raised(prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in RAISED.splitlines())


def rank(engine: Engine, *logs: str | tuple[str, str]) -> int | None:
    """The rank that is blamed."""
    named = [log if isinstance(log, tuple) else (f"job{n}.log", log) for n, log in enumerate(logs)]
    root = engine.diagnose([Source(name, data=text.encode()) for name, text in named]).root_cause
    assert root is not None
    assert (root.origin.local_rank in {3, None}) or root.origin.rank is not None
    return root.origin.rank


PREFIXES = ("[gpu-12:3]:", "gpu12:3: ", "[default3]:")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_on_one_node_a_local_rank_is_the_rank(engine: Engine, prefix: str) -> None:
    assert rank(engine, raised(prefix)) == 3
    assert rank(engine, LAUNCH.format(1, 0) + raised(prefix)) == 3


@pytest.mark.parametrize("prefix", PREFIXES)
def test_where_several_nodes_are_known_a_local_rank_is_none(engine: Engine, prefix: str) -> None:
    launch = (
        "+ torchrun --nnodes=2 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-endpoint=n1:29500 train.py\n"
    )
    assert rank(engine, launch + raised(prefix)) is None
    assert rank(engine, "WORLD_SIZE=16\n" + launch + raised(prefix)) is None


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_rank_of_the_node_makes_it_one(engine: Engine, prefix: str) -> None:
    assert rank(engine, LAUNCH.format(2, 1) + raised(prefix)) == 11
    assert rank(engine, LAUNCH.format(4, 3) + raised(prefix)) == 27
    deepspeed = (
        "[2026-11-20 18:10:02,101] [INFO] [launch.py:151:main] nnodes=2, num_local_procs=8, node_rank=1\n"
    )
    assert rank(engine, deepspeed + raised(prefix)) == 11


@pytest.mark.parametrize(("size", "expected"), [(8, 3), (16, None), (64, None)])
def test_a_world_larger_than_a_node_has_several(engine: Engine, size: int, expected: int | None) -> None:
    group = (
        f"[rank0]:[I1120 18:10:07.527887690 ProcessGroupNCCL.cpp:970] [PG ID 0 PG GUID 0 Rank 0] ProcessGroupNCCL "
        f"initialization options: size: {size}, global rank: 0, TIMEOUT(ms): 600000\n"
    )
    others = "".join(group.replace("rank0", f"rank{n}").replace("rank: 0", f"rank: {n}") for n in (1, 3))
    assert rank(engine, group + others + raised("[default3]:")) == expected


def test_an_agent_that_names_a_local_rank_only(engine: Engine) -> None:
    assert rank(engine, EXIT) == 3
    assert rank(engine, LAUNCH.format(2, 1) + EXIT) == 11
    assert rank(engine, EXIT, ("env.txt", DUMP.format(1))) == 11
    assert rank(engine, EXIT, ("env.txt", DUMP.format(0).replace("NODE_RANK=0\n", ""))) is None


def test_two_hosts_that_print_the_same_number(engine: Engine) -> None:
    assert rank(engine, raised("[gpu-12:3]:") + raised("[gpu-13:3]:")) is None


def test_numbers_that_count_on_from_host_to_host_are_ranks(engine: Engine) -> None:
    warning = "[gpu-12:5]:UserWarning: Running all_reduce on global rank 5 which does not belong to the given group.\n"
    assert rank(engine, warning + raised("[gpu-13:11]:")) == 11


def test_a_table_joins_host_and_local_rank(engine: Engine) -> None:
    table = TABLE.format(host="gpu-13.cluster", rank=9, local=1, code=-15, pid=4711)
    assert rank(engine, raised("[gpu-13:3]:"), table) == 11


def test_nccl_joins_host_and_device(engine: Engine) -> None:
    init = (
        "gpu-13:4711:4711 [{1}] NCCL INFO ncclCommInitRank comm 0x55d0 rank {0} nranks 16 cudaDev {1} nvmlDev {1} "
        "busId {1}b000 commId 0x8f2a - Init COMPLETE\n"
    )
    lines = "".join(init.format(8 + device, device).replace("4711", f"47{device}1") for device in (0, 1, 2))
    assert rank(engine, lines + raised("[gpu-13:3]:")) == 11


@pytest.mark.parametrize("wrapper", ["1: ", "trainer/1 "])
def test_a_later_launcher_s_local_ranks_are_not_ranks(engine: Engine, wrapper: str) -> None:
    assert rank(engine, raised(wrapper + "[default3]:")) is None
    joined = f"{wrapper}[default1]:[rank9]: {FAULT}\n" if wrapper == "trainer/1 " else ""
    if joined:
        assert rank(engine, joined + raised(wrapper + "[default1]:[rank9]: ")) == 9


def test_the_first_line_of_a_traceback_says_more_than_a_launcher_s_label(engine: Engine) -> None:
    trace = (
        "1: [2026-11-20 18:10:07 TP11] Scheduler hit an exception: Traceback (most recent call last):\n"
        '1:   File "/w/scheduler.py", line 9, in loop\n1:     step()\n1: '
    )
    assert rank(engine, trace + FAULT + "\n") == 11
    full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 43.10 GiB. GPU 3 has a total capacity of 79.11 GiB"
    assert rank(engine, trace + full + " of which 1.00 GiB is free.\n") == 11


def test_stages_of_sglang_by_its_arguments(engine: Engine) -> None:
    told = "[2026-11-20 18:10:01] server_args=ServerArgs(model_path='/m', tp_size=4, pp_size=2, dp_size=1)\n"
    trace = (
        "[2026-11-20 18:10:07 PP1 TP2] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/w/scheduler.py", line 9, in loop\n    step()\n'
    )
    assert rank(engine, told + trace + FAULT + "\n") == 6
    assert rank(engine, trace + FAULT + "\n") is None


def test_what_olmo_calls_a_rank_counts_on_the_node(engine: Engine) -> None:
    line = "[2026-11-20 18:10:07] CRITICAL [olmo.util:158, rank=3] Uncaught " + FAULT + "\n"
    assert rank(engine, line) == 3
    assert rank(engine, LAUNCH.format(2, 1) + line) == 11
    assert rank(engine, LAUNCH.replace("--node_rank={1} ", "--rdzv_backend=c10d ").format(2) + line) is None


def test_a_worker_of_vllm_by_its_coordinates(engine: Engine) -> None:
    assert rank(engine, raised("(Worker_TP3_EP3 pid=22) ")) == 3
    assert rank(engine, raised("(Worker_DP1_PP0_TP1 pid=22) ")) is None
    told = (
        "(Worker pid=22) INFO 11-20 18:10:07 [parallel_state.py:1208] rank 5 in world size 8 is assigned as DP rank 1, "
        "PP rank 0, TP rank 1, EP rank 3\n"
    )
    assert rank(engine, told + raised("(Worker_DP1_PP0_TP1 pid=22) ")) == 5


def test_coordinates_whose_sizes_are_known(engine: Engine) -> None:
    world = (
        "(Worker pid=9) INFO 11-20 18:10:07 [parallel_state.py:1208] world_size=8 rank=0 local_rank=0 "
        "distributed_init_method=tcp://10.0.0.1:29500 backend=nccl\n"
    )
    last = "(Worker_PP1_TP3 pid=29) UserWarning: Running all_reduce on global rank 7 which does not belong to the given group.\n"
    assert rank(engine, world + last + raised("(Worker_PP1_TP1 pid=22) ")) == 5
    assert rank(engine, world + raised("(Worker_PP1_TP1 pid=22) ")) is None


def test_attention_that_dp_splits_counts_ranks_by_tp(engine: Engine) -> None:
    def line(places: str, text: str) -> str:
        return f"[2026-11-20 18:10:07 {places}] {text}\n"

    fault = line("DP1 TP5 EP5", "Scheduler hit an exception: Traceback (most recent call last):") + (
        '  File "/w/scheduler.py", line 9, in loop\n    step()\n' + FAULT + "\n"
    )
    other = "UserWarning: Running all_reduce on global rank 3 which does not belong to the given group."
    assert rank(engine, line("DP0 TP3 EP3", other) + fault) == 5
    assert rank(engine, line("DP0 TP5 EP5", other) + fault) is None
    assert rank(engine, fault) == 5
    assert rank(engine, fault.replace("DP1 TP5 EP5", "DP0 TP5")) == 5
    assert rank(engine, fault.replace("DP1 TP5 EP5", "DP1 TP5")) is None
    assert rank(engine, fault.replace("DP1 TP5 EP5", "DP3 TP1 EP1")) is None


def test_ray_tells_later_which_process_is_which_rank(engine: Engine) -> None:
    told = (
        "(RayTrainWorker pid=6101, ip=10.0.0.6) Setting up process group for: env:// [rank=3, world_size=4]\n"
    )
    assert rank(engine, told + raised("(RayTrainWorker pid=6101, ip=10.0.0.6) ")) == 3
