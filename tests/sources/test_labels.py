"""What file names say about rank, local rank, host and attempt, and what they only seem to say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Source
from triage.sources import Labels, labelled, labels_of

RANKS = {
    "rank_3.log": 3,
    "rank3.err": 3,
    "rank-003.out": 3,
    "rank.12": 12,
    "Rank7.txt": 7,
    "stderr_rank12": 12,
    "log_rank_0.txt.gz": 0,
    "global_rank_130.log": 130,
    "globalrank5.log": 5,
    "nccl_trace_rank_7": 7,
    "comm_lib_trace_rank_31": 31,
    "nccl_trace_rank_12": 12,
    "exc_rank1_error.json": 1,
    "rank_3.log.1": 3,
    "rank_5_of_64.log": 5,
    "rank_3_20240131.log": 3,
    "job-4711-rank2.err": 2,
    "run/rank_4/stderr.log": 4,
    "out/1/rank.2/stdout": 2,
}

NOT_RANKS = [
    "job.err",
    "7.log",
    "slurm-123.out",
    "slurm-123_4.out",
    "job-123-5.out",
    "gpu3.log",
    "node_rank_1.log",
    "dp_rank_3.log",
    "tp_rank1_dump.txt",
    "pp_rank-0.log",
    "rank_0-7.log",
    "rank_0_7.log",
    "rank_0_to_rank_7.log",
    "ranks_8.log",
    "rankings_3.log",
    "frank3.log",
    "lora_rank_64.log",
    "runs/exp_rank64/job.err",
    "runs/lora-rank16/job.err",
    "rank3x.log",
    "worker_5.log",
    "task_3.out",
    "step_5000.log",
    "checkpoint-500/log.txt",
    "worker-7f3a-01000000-12345.err",
]


@pytest.mark.parametrize(("path", "rank"), RANKS.items())
def test_ranks(path: str, rank: int) -> None:
    assert labels_of(path) == Labels(rank=rank)
    assert labels_of(f"/scratch/runs/7/{path}").rank == rank


@pytest.mark.parametrize("path", NOT_RANKS)
def test_numbers_that_are_no_ranks(path: str) -> None:
    labels = labels_of(path)
    assert (labels.rank, labels.local_rank) == (None, None)


@pytest.mark.parametrize(
    ("path", "labels"),
    {
        "logs/none_x7f2a/attempt_0/3/stderr.log": Labels(local_rank=3, attempt=0),
        "logs/4711_ab/attempt_2/0/stdout.log": Labels(local_rank=0, attempt=2),
        "4711_ab/attempt_1/7/error.json": Labels(local_rank=7, attempt=1),
        "attempt_1/7/stderr.log.gz": Labels(local_rank=7, attempt=1),
        "node05/attempt_1/7/stderr.log": Labels(local_rank=7, attempt=1),
        "node05/4711_ab/attempt_1/7/stderr.log": Labels(local_rank=7, host="node05", attempt=1),
        "attempt_1/7/other.txt": Labels(attempt=1),
        "attempt_1/rank_7.log": Labels(rank=7, attempt=1),
        "job.attempt_3.log": Labels(attempt=3),
        "my_attempt_2/job.log": Labels(),
        "reattempt_2.log": Labels(),
        "local_rank_3.log": Labels(local_rank=3),
        "log/workerlog.3": Labels(local_rank=3),
        "localrank3.err": Labels(local_rank=3),
        "local_rank_2/stderr": Labels(local_rank=2),
        "rank_9_local_rank_1.log": Labels(rank=9, local_rank=1),
        "node05_rank3.err": Labels(rank=3, host="node05"),
        "node-05/rank_11.log": Labels(rank=11, host="node-05"),
    }.items(),
)
def test_local_ranks_and_attempts(path: str, labels: Labels) -> None:
    assert labels_of(path) == labels


HOSTS = {
    "gpu-node-05.err": "gpu-node-05",
    "node0.err": "node0",
    "node-3.log": "node-3",
    "nid001234.out": "nid001234",
    "dgx-a100-03.log": "dgx-a100-03",
    "hgx-h100-012.log": "hgx-h100-012",
    "DGX03.err": "DGX03",
    "compute-permanent-node-42.log": "compute-permanent-node-42",
    "gpunode7.log": "gpunode7",
    "node-05-01.log": "node-05-01",
    "node03.cluster.local.err": "node03",
    "slurm-123-node05.out": "node05",
    "job.4711.node05.err": "node05",
    "4711_gpu-node-05_stderr.log": "gpu-node-05",
    "dmesg-gpu-node-05.txt": "gpu-node-05",
    "node05-dmesg.txt": "node05",
    "ip-10-0-1-23.log": "ip-10-0-1-23",
    "10.0.0.5.log": "10.0.0.5",
    "stderr_192.168.4.17.log": "192.168.4.17",
    "nccl_gpu17_12345.log": "gpu17",
    "nccl_debug_gpu-node-01_4242.log": "gpu-node-01",
    "nccl.node3.99.log": "node3",
    "nccl-a100x8-991234.txt": "a100x8",
    "llama-worker-5.log": "llama-worker-5",
    "llama-70b-master-0.log": "llama-70b-master-0",
    "logs/node-07/stderr": "node-07",
    "logs/node-07/run/train.err": "node-07",
}

NOT_HOSTS = [
    "gpu3.log",
    "gpu-3.log",
    "nodes-4.log",
    "node_1.log",
    "node_rank_1.log",
    "train-node05.log",
    "multi-node-2.log",
    "2-node.log",
    "8xh100.log",
    "h100-bench.log",
    "node05-12345678.log",
    "from-node1-to-node2.log",
    "node1_node2.log",
    "nccl_12345.log",
    "nccl_trace_rank_12",
    "nccl_tests_12345.log",
    "driver-535.104.5.12.log",
    "torch-2.10.0.0.log",
    "slurm-123_4.out",
    "job-worker.log",
    "exp_node4_big/train.log",
]


@pytest.mark.parametrize(("path", "host"), HOSTS.items())
def test_hosts(path: str, host: str) -> None:
    assert labels_of(path) == Labels(host=host)


@pytest.mark.parametrize("path", NOT_HOSTS)
def test_names_that_are_no_hosts(path: str) -> None:
    assert labels_of(path).host is None


def test_an_index_is_a_rank_among_siblings_of_its_kind() -> None:
    names = [f"worker_{i}.log" for i in range(4)]
    assert [labels_of(name, names).rank for name in names] == [0, 1, 2, 3]
    assert labels_of("worker_0.log", ["worker_0.log", "worker_0.err"]).rank is None
    assert labels_of("worker_0.log", ["worker_0.log", "task_1.log"]).rank is None


def test_workers_beside_a_leader_count_from_another_rank() -> None:
    names = ["master.log", "worker_0.log", "worker_1.log"]
    assert all(labels_of(name, names).rank is None for name in names)


def test_pods_are_hosts_even_among_siblings() -> None:
    names = ["llama-worker-0.log", "llama-worker-1.log"]
    assert [labels_of(name, names) for name in names] == [
        Labels(host="llama-worker-0"),
        Labels(host="llama-worker-1"),
    ]


def test_labels_of_the_caller_win() -> None:
    given_labels = Source("x", path="node05/rank_3.log", rank=8, host="gpu-1")
    bare = Source("y", path="node05/rank_3.log")
    data = Source("rank_3.log", data=b"")
    first, second, third = labelled([given_labels, bare, data])
    assert (first.rank, first.host) == (8, "gpu-1")
    assert (second.rank, second.host) == (3, "node05")
    assert third == data


def test_ranks_that_two_hosts_count_alike_are_local() -> None:
    def told(*names: str) -> list[tuple[int | None, int | None]]:
        return [(s.rank, s.local_rank) for s in labelled(Source(name, path=name) for name in names)]

    assert told("node05_rank3.err", "node06_rank3.err", "rank_1.log") == [(None, 3), (None, 3), (1, None)]
    assert told("node05_rank3.err", "node06_rank11.err") == [(3, None), (11, None)]
    assert told("node05_rank3.err", "node05_rank3.out") == [(3, None), (3, None)]
    again = ("attempt_0/node05/rank_3.log", "attempt_1/node06/rank_3.log")
    assert told(*again) == [(3, None), (3, None)]


def test_thousands_of_files_are_labelled_in_one_pass() -> None:
    sources = [Source(f"worker_{i}.log", path=f"run/worker_{i}.log") for i in range(5000)]
    assert labelled(sources)[4999].rank == 4999


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=5))
def test_any_name_is_survived(path: str, siblings: list[str]) -> None:
    labels_of(path, siblings)


def test_ranks_that_come_again_on_every_node_are_local() -> None:
    def told(*names: str) -> list[tuple[int | None, int | None]]:
        return [(s.rank, s.local_rank) for s in labelled(Source(name, path=name) for name in names)]

    grid = [f"node_{node}_rank_{rank}.log" for node in (0, 1) for rank in (0, 1)]
    assert told(*grid) == [(None, 0), (None, 1), (None, 0), (None, 1)]
    assert told(*grid[:3]) == [(0, None), (1, None), (0, None)]  # not all are there: nothing shows it
    runs = [f"run_{run}_rank_{rank}.log" for run in (0, 1) for rank in (0, 1)]
    assert told(*runs) == [(0, None), (1, None), (0, None), (1, None)]
