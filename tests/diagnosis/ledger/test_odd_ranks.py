"""The one rank that does otherwise than all others: another call, another model, work that goes on, a way of its own."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Hypothesis

SEND = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:129] Timed out waiting 9000ms for send operation to complete"
CLOSED = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.4]:1940."


def cause(engine: Engine, *texts: str) -> Hypothesis:
    """The root cause of a job with one log or several."""
    sources = [Source(f"part{n}.log", data=text.encode()) for n, text in enumerate(texts)]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    return root


def raised(rank: int, error: str, line: int = 40, function: str = "update", before: str = "") -> str:
    """A traceback through the program's own code, as torch's hook prints it."""
    tag = f"{before}[rank{rank}]:"
    return (
        f"{tag} Traceback (most recent call last):\n"
        f'{tag}   File "/srv/app/fit.py", line {line}, in {function}\n'
        f"{tag}     call(x)\n"
        f'{tag}   File "/opt/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py", line 3001, in all_reduce\n'
        f"{tag}     work.wait()\n"
        f"{tag} {error}\n"
    )


def test_one_that_waits_at_another_place_left_the_path(engine: Engine) -> None:
    log = "".join(raised(r, SEND, *((77, "evaluate") if r == 3 else (40, "update"))) for r in (2, 0, 4, 3, 1))
    root = cause(engine, log)
    assert (root.rule_id, root.category, root.origin.rank) == ("ledger.other-call", "collective-desync", 3)
    assert "evaluate at /srv/app/fit.py:77" in root.summary


@pytest.mark.parametrize(
    "places",
    [
        dict.fromkeys(range(5), (40, "update")),
        {
            0: (39, "update"),
            **dict.fromkeys(range(1, 5), (40, "update")),
        },  # the root of a scatter has its own line
        {0: (1, "a"), 1: (1, "a"), 2: (2, "b"), 3: (2, "b"), 4: (2, "b")},
        {r: (40 + (r == 3), "send_forward") for r in range(5)},
    ],
)
def test_places_that_single_out_nobody(engine: Engine, places: dict[int, tuple[int, str]]) -> None:
    log = "".join(raised(r, SEND, *place) for r, place in places.items())
    assert cause(engine, log).origin.rank is None


def test_who_met_another_size_is_odd_where_all_others_agree(engine: Engine) -> None:
    odd = (
        "3: terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
        "3:   what():  [enforce fail at gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 912 vs 4\n"
    )
    log = odd + "".join(raised(r, CLOSED, before=f"{r}: ") for r in (0, 1, 2, 4))
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 3)


def differs(rank: int, ours: int, other: int, theirs: int) -> str:
    return raised(
        rank, f"RuntimeError: DDP expects same model across all ranks, but Rank {rank} has {ours} params, "
        f"while rank {other} has inconsistent {theirs} params."
    )  # fmt: skip


def test_the_model_that_no_other_rank_has(engine: Engine) -> None:
    log = differs(1, 12, 0, 10) + differs(0, 10, 1, 12) + differs(2, 10, 1, 12) + differs(3, 10, 1, 12)
    root = cause(engine, log)
    assert (root.rule_id, root.origin.rank) == ("ledger.model-of-one", 1)
    assert "12 parameters where the others have 10" in root.summary


def test_two_models_of_two_ranks_each_tell_nobody(engine: Engine) -> None:
    log = differs(0, 10, 2, 12) + differs(1, 10, 2, 12) + differs(2, 12, 0, 10) + differs(3, 12, 0, 10)
    assert cause(engine, log).origin.rank is None


def test_numbers_that_contradict_each_other_are_not_those_of_models(engine: Engine) -> None:
    shape = "RuntimeError: [2]: params[0] in this process with sizes [8, 4] appears not to match sizes of the same param in process 0."
    root = cause(engine, differs(1, 10, 2, 53111) + raised(2, shape))
    assert (root.rule_id, root.category, root.origin.rank) == (
        "ledger.models-garbled",
        "collective-desync",
        None,
    )


def counting(prefix: str) -> str:
    before = "".join(f"{prefix}packed archive {n} of 40\n" for n in range(1, 7))
    after = "".join(f"{prefix}packed archive {n} of 40\n" for n in range(7, 11))
    waits = "".join(raised(r, SEND, before=f"{r}: ") for r in (1, 2, 3))
    return f"0: step 5 loss 0.3\n{before}{waits}{after}"


@pytest.mark.parametrize("prefix", ["0: ", ""])
def test_a_count_that_goes_on_is_work(engine: Engine, prefix: str) -> None:
    root = cause(engine, counting(prefix))
    assert (root.category, root.origin.rank) == ("watchdog-too-short", 0)
    assert "packed archive 10 of 40" in root.summary


def test_a_count_that_stood_still_proves_nothing(engine: Engine) -> None:
    stood = counting("0: ").partition("0: packed archive 7")[0]
    assert cause(engine, stood).category == "straggler-or-hang"


def test_one_that_came_when_all_others_had_given_up(engine: Engine) -> None:
    def said(rank: int, text: str) -> str:
        return f"2026-11-20 18:10:0{rank} | INFO     | rank {rank} | {text}\n"

    log = "".join(said(r, "step 4 loss 0.15") for r in range(4)) + said(2, "fetching part 17 from the store")
    log += "".join(raised(r, SEND) for r in (0, 1, 3))
    late = log + said(2, "part 17 is here after 31.0 s") + raised(2, CLOSED)
    root = cause(engine, late)
    assert (root.category, root.origin.rank) == ("watchdog-too-short", 2)


def test_a_named_latecomer_is_no_death(engine: Engine) -> None:
    late = "RuntimeError: [Rank 0]: Rank 2 failed to pass monitoredBarrier in 5000 ms"
    left = (
        "RuntimeError: Rank {0} successfully reached monitoredBarrier, but received errors while waiting for send/recv "
        "from rank 0. Please check rank 0 logs for faulty rank.\n Original exception: \n"
        "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:64."
    )
    root = cause(engine, *(raised(r, left.format(r)) for r in (1, 3)), raised(0, late))
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 2)


def test_gloo_that_times_out_shows_a_silent_rank_not_a_dead_one(engine: Engine) -> None:
    log = "".join(f"[1,{r}]<stdout>:stage {r} ok\n" for r in range(4))
    log += "".join(raised(r, SEND, function=f"stage{r}", before=f"[1,{r}]<stderr>:") for r in (1, 3))
    log += raised(0, CLOSED, before="[1,0]<stderr>:")
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 2)


def test_only_one_rank_sees_no_gpu(engine: Engine) -> None:
    bare = (
        "2: Traceback (most recent call last):\n"
        '2:   File "/srv/fit.py", line 9, in main\n'
        "2:     x.cuda()\n"
        "2: RuntimeError: No CUDA GPUs are available\n"
    )
    waiting = (
        "torch.distributed.DistBackendError: [{0}] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via "
        "c10d key-value store by key '0', but store->get('0') got error: wait timeout after 9000ms, keys: /default_pg/0//cuda//0"
    )
    others = "".join(raised(r, waiting.format(r), before=f"{r}: ") for r in (1, 3))
    root = cause(engine, bare + others)
    assert (root.category, root.origin.rank) == ("config", 2)
    assert cause(engine, bare).category == "driver-or-version"


def test_whom_the_server_of_the_store_misses(engine: Engine) -> None:
    def pod(number: int, error: str) -> str:
        text = f'Traceback (most recent call last):\n  File "/srv/fit.py", line 3, in main\n    init()\n{error}\n'
        return "".join(f"worker-{number}  | {line}\n" for line in text.splitlines())

    key = "torch.distributed.DistStoreError: wait timeout after 9000ms, keys: /default_pg/0//cpu//0/0"
    served = "torch.distributed.DistStoreError: Timed out after 10 seconds waiting for clients. 3/4 clients joined."
    quiet = 'worker-1  | Traceback (most recent call last):\nworker-1  |   File "/srv/fit.py", line 2, in prepare\n'
    root = cause(engine, quiet + pod(3, key) + pod(2, key) + pod(0, served))
    assert root.origin.rank == 1


def test_ray_names_the_process_that_raised(engine: Engine) -> None:
    log = (
        "(TorchTrainer pid=80) - (node_id=a, ip=10.0.3.1, pid=201) world_rank=0, local_rank=0, node_rank=0\n"
        "(TorchTrainer pid=80) - (node_id=b, ip=10.0.3.2, pid=302) world_rank=1, local_rank=0, node_rank=1\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/lib/python3.11/site-packages/ray/train/_internal/utils.py", line 57, in check_for_failure\n'
        "    ray.get(object_ref)\n"
        "ray.exceptions.RayTaskError(KeyError): ray::_RayTrainWorker__execute.get_next() (pid=302, ip=10.0.3.2, actor_id=9, repr=W)\n"
        '  File "/srv/fit.py", line 8, in loop\n'
        "    row['answer']\n"
        "KeyError: 'answer'\n"
    )
    assert cause(engine, log).origin.rank == 1


def test_a_remote_call_brings_back_whose_error_it_is(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/srv/ps.py", line 70, in main\n'
        "    rpc.rpc_sync(name, pull)\n"
        "KeyError: KeyError: On WorkerInfo(id=2, name=table2):\n"
        "KeyError(17)\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/ps.py", line 31, in pull\n'
        "    return rows[17]\n"
        "KeyError: 17\n"
    )
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("user-code", 2)


STALL = (
    "[2024-02-01 10:00:00.000000: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, "
    "gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may "
    "indicate that different ranks are trying to submit different tensors or that only subset of ranks is submitting tensors, "
    "which will cause deadlock. \n"
)


@pytest.mark.parametrize(
    ("listed", "ranks"),
    [
        ("Missing ranks:\n5: [allreduce.a, allreduce.b]\n", (5,)),
        ("Missing ranks:\n2: [allreduce.a]\n5!: [allreduce.a, allreduce.c]\n", (2, 5)),
        ("Missing ranks:\n0: [allreduce.a]\n1: [allreduce.b]\n", ()),
        ("Stalled ops: allreduce.a [ready ranks: 4, 0, 1, 3], allreduce.b [ready ranks: 4, 0, 1, 3]\n", (2,)),
    ],
)
def test_whom_horovod_waits_for(engine: Engine, listed: str, ranks: tuple[int, ...]) -> None:
    log = "".join(f"[1,0]<stderr>:{line}\n" for line in (STALL + listed).splitlines())
    assert cause(engine, log).origin.ranks == ranks


def test_an_abort_after_the_watchdog_is_the_watchdogs(engine: Engine) -> None:
    down = (
        "[rank1]:[E1121 13:01:54.064082783 ProcessGroupNCCL.cpp:764] [Rank 1] "
        "To avoid data inconsistency, we are taking the entire process down.\n"
    )
    abort = "[rank1]:Fatal Python error: Aborted\n"
    assert cause(engine, raised(1, CLOSED) + down + abort).rule_id != "python.aborted"
    assert cause(engine, down + abort).rule_id == "python.aborted"
    assert cause(engine, raised(0, CLOSED) + abort).origin.rank == 1


def test_a_silent_abort_beside_timeouts_is_a_watchdogs(engine: Engine) -> None:
    wait = (
        "[rank0]:[E1121 07:17:00.069645912 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=33, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=15000) ran for 15014 milliseconds before timing out.\n"
    )
    table = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "Failures:\n  <NO_OTHER_FAILURES>\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-21_07:17:02\n  host      : gpu-node-01\n"
        "  rank      : 3 (local_rank: 3)\n  exitcode  : -6 (pid: 77)\n  error_file: <N/A>\n"
        "  traceback : Signal 6 (SIGABRT) received by PID 77\n"
    )
    assert cause(engine, wait + table).rule_id != "ledger.killed"
    assert cause(engine, table).origin.rank == 3


def logged(rank: int, error: str) -> str:
    return (
        f"2026-11-21 16:41:5{rank},344 C rank{rank}> unhandled exception\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/fit.py", line 8, in loop\n'
        "    go()\n"
        f"{error}\n"
    )


def test_a_loggers_record_names_the_rank_of_its_traceback(engine: Engine) -> None:
    root = cause(
        engine, logged(2, "ValueError: 3 groups, 2 expected") + logged(3, CLOSED) + logged(0, CLOSED)
    )
    assert (root.category, root.origin.rank) == ("user-code", 2)


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("no improvement in 5 epochs, stopping here", "collective-desync"),
        ("out of batches after 17", "collective-desync"),
        ("reading the next part", "rank-crash"),
    ],
)
def test_a_silent_rank_that_said_it_was_through(engine: Engine, words: str, category: str) -> None:
    log = "".join(f"[rank {r}] step {s} loss 0.2\n" for s in range(4) for r in range(4))
    log += f"[rank 1] {words}\n" + "".join(raised(r, CLOSED) for r in (0, 2, 3))
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == (category, 1)


def test_who_lost_a_peer_in_a_call_was_in_it(engine: Engine) -> None:
    other = raised(2, SEND, 77, "finish").replace("in all_reduce", "in barrier")
    log = raised(0, SEND) + raised(1, CLOSED) + other
    root = cause(engine, log)
    assert (root.rule_id, root.origin.rank) == ("ledger.other-call", 2)


def test_two_ranks_and_one_that_lost_them_tell_nobody(engine: Engine) -> None:
    assert cause(engine, raised(0, SEND) + raised(1, CLOSED) + raised(2, SEND)).origin.rank is None


def test_a_number_that_never_varied_until_one_gave_another(engine: Engine) -> None:
    said = [f"[part{rank}] round {n}: sent {6144} values" for n in range(4) for rank in (1, 2)]
    said += [
        "[part0] round 3: merged",
        "[part0] round 2: merged",
        "[part0] round 1: merged",
        "[part2] round 4: sent 10240 values",
    ]
    met = "RuntimeError: [enforce fail at gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 40 vs 24"
    log = "\n".join(
        ["[part0] rank 0 of 3", "[part1] rank 1 of 3", "[part2] rank 2 of 3", *said, "[part0] Traceback (most recent call last):",
         '[part0]   File "/srv/merge.py", line 3, in <module>', f"[part0] {met}", ""]
    )  # fmt: skip
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 2)
    assert any("10240" in shown.text for shown in root.evidence)


def test_who_is_not_in_the_table_of_failures_had_left_before(engine: Engine) -> None:
    def end(rank: int) -> str:
        return (
            f"  time      : 2026-02-03_04:05:06\n  host      : box\n  rank      : {rank} (local_rank: {rank})\n"
            f"  exitcode  : 1 (pid: {900 + rank})\n  error_file: <N/A>\n"
        )

    steps = (
        "".join(f"[default{r}]:step {n}\n" for n in range(4) for r in range(3))
        + "[default2]:nothing left to do\n"
    )
    table = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        + "=" * 60
        + "\nfit.py FAILED\n"
        + "-" * 60
        + "\n"
    )
    log = steps + raised(0, CLOSED, before="[default0]:") + raised(1, CLOSED, before="[default1]:")
    log += f"{table}Failures:\n[1]:\n{end(1)}{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n{end(0)}{'=' * 60}\n"
    root = cause(engine, log)
    assert (root.rule_id, root.origin.rank) == ("ledger.finished-early", 2)
    assert any("nothing left to do" in shown.text for shown in root.evidence)


WAITED = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 8000ms for recv operation to complete"


def test_last_words_of_its_own_single_out_who_kept_the_others_waiting(engine: Engine) -> None:
    steps = (
        "".join(f"[p{r}] rank {r} step {n}\n" for n in range(4) for r in range(4))
        + "[p2] writing predictions\n"
    )
    log = (
        steps
        + "".join(raised(r, WAITED, before=f"[p{r}] ") for r in (1, 0, 3))
        + raised(2, CLOSED, before="[p2] ")
    )
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 2)
    assert any("writing predictions" in shown.text for shown in root.evidence)


def test_who_speaks_of_another_s_failure_is_its_victim(engine: Engine) -> None:
    def log(rank: int, error: str) -> str:
        stack = (
            'Traceback (most recent call last):\n  File "/srv/app/fit.py", line 4, in <module>\n    go()\n'
        )
        return f"rank {rank} of 2 begins\n{stack}{error}\n"

    root = cause(engine, log(0, "ValueError: partner did not deliver its part"), log(1, "KeyError: 'labels'"))
    assert root.origin.rank == 1


def test_who_holds_another_kind_of_number_sent_another_size(engine: Engine) -> None:
    kinds = ["float32", "float32", "float32", "float64"]
    log = "".join(f"em[2415{r}] <INFO> rank={r} shard (200, 4) {kind}\n" for r, kind in enumerate(kinds)) + (
        "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
        "  what():  [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 24 vs 12.\n"
        + raised(3, CLOSED) + raised(1, CLOSED)
    )  # fmt: skip
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 3)
    assert any("float64" in shown.text for shown in root.evidence)


def test_what_a_rank_reported_of_itself_is_shown_with_its_call_elsewhere(engine: Engine) -> None:
    rounds = "".join(
        f"2026-11-22 19:14:5{n},6{r}6,INFO,qa-{r},round {n} over\n" for n in range(3) for r in range(4)
    )
    error = "2026-11-22 19:14:53,784,ERROR,qa-2,evaluation 3: KeyError('predictions'), keeping old score\n"
    waits = "".join(raised(r, SEND, *((11, "main") if r == 2 else (7, "evaluate"))) for r in (2, 0, 3, 1))
    root = cause(engine, rounds + error + waits)
    assert (root.rule_id, root.origin.rank) == ("ledger.other-call", 2)
    assert any("keeping old score" in shown.text for shown in root.evidence)


def torchrun(codes: dict[int, int]) -> str:
    """What torchrun lists of the ranks that ended badly."""
    return "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "".join(
        f"[{n}]:\n  time      : 2026-11-22_19:33:44\n  host      : n1\n  rank      : {r} (local_rank: {r})\n"
        f"  exitcode  : {code} (pid: {700 + r})\n  error_file: <N/A>\n  traceback : To enable traceback see: https://x\n"
        for n, (r, code) in enumerate(codes.items())
    )


@pytest.mark.parametrize(("codes", "rule"), [({3: 1}, "ledger.left-over"), ({3: 1, 1: -9}, "ledger.killed")])
def test_who_calls_once_more_when_all_others_have_ended_well(
    engine: Engine, codes: dict[int, int], rule: str
) -> None:
    steps = "".join(f"[rank {r}] step {n}\n" for n in (0, 5, 10) for r in range(4))
    steps += "[rank 3] step 11: extra micro batch\n" + "".join(f"[rank {r}] end\n" for r in range(3))
    root = cause(engine, steps + raised(3, CLOSED) + torchrun(codes))
    assert root.rule_id == rule
    if rule == "ledger.left-over":
        assert (root.category, root.origin.rank) == ("collective-desync", 3)


@pytest.mark.parametrize(
    ("back", "category"), [("19:33:10", "straggler-or-hang"), ("19:32:27", "collective-desync")]
)
def test_who_speaks_when_the_others_have_waited_in_vain_was_late(
    engine: Engine, back: str, category: str
) -> None:
    texts = [
        "19:32:20 pg ok\n" + "".join(f"19:32:{21 + n} kernel {n} built\n" for n in range(6)) + raised(r, SEND)
        for r in range(3)
    ]
    locked = "".join(
        f"19:32:{21 + n} acquiring build.lock for kernel {n}\n19:32:{21 + n} got it\n19:32:{21 + n} kernel {n} built\n"
        for n in range(6)
    )
    texts[1] = (
        f"19:32:20 pg ok\n{locked}19:32:26 acquiring build.lock for kernel 6\n{back} got it\n"
        + raised(1, CLOSED)
    )
    root = engine.diagnose(
        [Source(f"r{n}.log", data=text.encode()) for n, text in enumerate(texts)]
    ).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == (category, 1)


def test_numbers_behind_a_hash_are_no_frames_of_a_debugger(engine: Engine) -> None:
    log = "".join(f"19:46:00.17934{r} #{r} epoch 0 trained\n" for r in (1, 0, 2))
    for epoch, order in ((0, (0, 2, 1)), (1, (2, 1, 0))):
        log += "".join(
            f"19:46:0{epoch}.20834{r} #{r} epoch {epoch} validated on {4 + epoch * (r == 0)} batches\n"
            for r in order
        )
    root = cause(engine, log + "".join(raised(r, SEND) for r in range(3)))
    assert (root.category, root.origin.rank) == ("collective-desync", 0)


def test_ranks_that_talk_over_gloo_may_share_a_host_and_a_local_rank(engine: Engine) -> None:
    ended = [torchrun({0: 1}), torchrun({2: -9}).replace("(local_rank: 2)", "(local_rank: 0)")]
    root = cause(engine, raised(0, CLOSED) + ended[0], ended[1])
    assert (root.category, root.origin.rank) == ("rank-crash", 2)


def test_who_calls_alone_is_not_to_blame_where_another_did_not_do_what_all_did(engine: Engine) -> None:
    log = "".join(f"worker {r} | epoch {e} | val 2.{e}\n" for e in range(5) for r in (3, 1, 0, 5, 2, 4))
    log += "".join(f"worker {r} | epoch 5 | val 2.{r}\n" for r in (3, 1, 0, 5, 2, 4))
    log += "".join(f"worker {r} | epoch 5 | no gain, lowering the rate\n" for r in (3, 1, 0, 2, 4))
    log += "".join(f"worker {r} | epoch 6 | val 2.{r}\n" for r in (3, 0, 2, 4))
    log += "".join(
        raised(r, SEND, *((44, "lower") if r == 1 else (40, "update"))) for r in (0, 1, 2, 5, 3, 4)
    )
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 5)


def test_who_breaks_off_in_gloo_got_what_another_one_sent(engine: Engine) -> None:
    met = (
        "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [enforce fail at "
        "/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 108 vs 12. Received data "
        "size doesn't match expected size. Is there a distributed collective mismatch in your code?\n"
    )
    logs = [
        f"beam rank {r}/6 pid 234{r} bins {640 if r == 5 else 64}\nscan 0 peak 26{r}\n"
        + (met if r == 4 else raised(r, CLOSED))
        for r in range(6)
    ]
    root = cause(engine, *logs)
    assert (root.category, root.origin.rank) == ("collective-desync", 5)


def test_the_others_were_about_to_end_well_when_they_were_told_to(engine: Engine) -> None:
    log = "".join(f"proc {r}/6: batch {b}\n" for b in (0, 8, 16) for r in (3, 1, 0, 5, 2, 4))
    log += "".join(f"proc {r}/6: decoding\n" for r in (3, 1, 0, 2, 4))
    log += "".join(f"proc {r}/6: bleu 31.2\n" for r in (3, 0, 2, 4))
    log += raised(5, CLOSED) + raised(1, CLOSED, 52, "decode")
    log += (
        "W1123 07:29:36.097000 6030 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 6035 closing signal "
        "SIGTERM\nE1123 07:29:36.165000 6030 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) "
        "local_rank: 5 (pid: 6039) of binary: /opt/venv/bin/python3\n"
        "============================================================\nmt.py FAILED\n"
        "------------------------------------------------------------\nFailures:\n[1]:\n  time      : 2026-11-23_07:29:36\n"
        "  host      : localhost\n  rank      : 1 (local_rank: 1)\n  exitcode  : -15 (pid: 6035)  (SIGTERM)\n"
        "  error_file: <N/A>\n  traceback : Signal 15 (SIGTERM) received by PID 6035\n"
        "------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-11-23_07:29:36\n  host      : localhost\n  rank      : 5 (local_rank: 5)\n"
        "  exitcode  : 1 (pid: 6039)\n  error_file: <N/A>\n============================================================\n"
    )
    root = cause(engine, log)
    assert (root.rule_id, root.origin.rank) == ("ledger.left-over", 5)


LAYOUT = " > number of parameters on (tensor, pipeline) model parallel rank ({t}, {p}): 1754021888\n"
TIMES = "(min, max) time across ranks (ms):\n"


def waited(rank: int) -> str:
    """The watchdog of a rank, as srun labels it."""
    head = f"{rank}: [rank{rank}]:[E1121 10:03:11.469789736 ProcessGroupNCCL.cpp"
    return (
        f"{head}:689] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=17, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=12000) ran for 12015 milliseconds before timing out.\n"
    )


@pytest.mark.parametrize(
    ("speakers", "odd"),
    [((0, 1, 4, 5), False), ((0, 1, 2, 3, 4, 5, 6), True)],
    ids=["one replica", "all others"],
)
def test_a_line_of_some_ranks_singles_out_no_other(
    engine: Engine, speakers: tuple[int, ...], odd: bool
) -> None:
    """Who lacks a line that one replica prints differs from nobody; who lacks what all others say does."""
    log = "".join(f"{r}:{LAYOUT.format(t=r % 2, p=r // 4)}" for r in speakers) + f"7: {TIMES}"
    log += "".join(waited(r) for r in range(8) if r != 2)
    root = cause(engine, log)
    assert (root.rule_id == "ledger.own-way") is odd
    assert root.origin.rank == (7 if odd else 2)


def test_the_few_that_were_given_another_model_are_named_together(engine: Engine) -> None:
    def complaint(rank: int) -> str:
        return raised(
            rank, f"RuntimeError: [{rank}]: params[0] in this process with sizes [3104, 96] appears not to match sizes of the "
            "same param in process 0.", function="wrap",
        )  # fmt: skip

    ready = "".join(f"[rank{rank}]: vocabulary read\n" for rank in range(6))
    assert cause(engine, ready + complaint(4) + complaint(5)).origin.ranks == (4, 5)
    assert cause(engine, ready + "".join(map(complaint, range(1, 6)))).origin.rank == 0


def test_a_group_that_only_some_make(engine: Engine) -> None:
    waits = "".join(
        f"[rank{rank}]:[E1124 01:03:44.251932101 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=85, OpType=ALLREDUCE, NumelIn=2360064, NumelOut=2360064, Timeout(ms)=18000) ran for 18017 milliseconds "
        f"before timing out.\n[rank{rank}]:[E1124 01:03:44.252115687 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
        "  failure detected by watchdog at work sequence id: 85 PG status: last enqueued work: 86, last completed work: 84\n"
        for rank in (1, 2, 3)
    )
    making = (
        "[rank0]:[E1124 01:03:44.588522524 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank 0] Received a dump signal due "
        "to a collective timeout from  rank 3 and we will try our best to dump the debug info. Last enqueued NCCL work: 84, last completed "
        "NCCL work: 84.\n[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/srv/app/fit.py", line 26, in attach\n[rank0]:     group = dist.new_group(owners)\n'
        '[rank0]:   File "/opt/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py", line 2253, in {function}\n'
        "[rank0]:     {code}\n"
        "[rank0]: torch.distributed.DistBackendError: NCCL error in: /torch/csrc/distributed/c10d/NCCLUtils.cpp:253, remote process "
        "exited or there was a network error, NCCL version 2.28.9\n[rank0]: ncclRemoteError: A call failed possibly due to a network error "
        "or a remote process exiting prematurely.\n"
    )
    made = making.format(
        function="_new_process_group_helper", code="backend.eager_connect_single_device(device_id)"
    )
    root = cause(engine, waits + made)
    assert (root.rule_id, root.origin.rank) == ("ledger.group-among-some", 0)
    other = making.format(function="all_reduce", code="work.wait()")
    assert cause(engine, waits + other).rule_id != "ledger.group-among-some"
