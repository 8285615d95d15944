"""Whom a wait for the store blames, by who else waits."""

from __future__ import annotations

from triage import Engine, Source


def gloo(awaited: int) -> str:
    """A wait for the gloo address of a rank."""
    return (
        "Traceback (most recent call last):\n"
        '  File "/workspace/train.py", line 219, in train\n'
        '    dist.init_process_group("gloo")\n'
        f"torch.distributed.DistStoreError: wait timeout after 14000ms, keys: /default_pg/0//cpu//0/{awaited}\n"
    )


def ranks(engine: Engine, texts: dict[int, str]) -> tuple[int, ...]:
    """Whom the diagnosis of one file per rank blames."""
    sources = [Source(f"rank{rank}.log", data=text.encode(), rank=rank) for rank, text in texts.items()]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    return root.origin.ranks


def test_a_rank_that_all_others_wait_for_is_missing(engine: Engine) -> None:
    assert ranks(engine, {0: "", 1: gloo(0), 2: gloo(0), 3: gloo(0)}) == (0,)
    assert ranks(engine, {0: "", 1: gloo(0)}) == (0,)


def test_a_rank_that_waits_alone_blames_nobody(engine: Engine) -> None:
    assert ranks(engine, {0: "", 1: "", 2: gloo(0), 3: ""}) == ()


def test_a_rank_that_waits_alone_and_was_told_otherwise_is_to_blame(engine: Engine) -> None:
    told = {r: f"rank {r}: communication over {'gloo' if r == 2 else 'nccl'} as set up\n" for r in range(4)}
    assert ranks(engine, {r: text + (gloo(0) if r == 2 else "") for r, text in told.items()}) == (2,)


def test_who_did_not_reach_the_store_is_who_is_not_in_it(engine: Engine) -> None:
    host = "torch.distributed.DistStoreError: Timed out after 21 seconds waiting for clients. 3/4 clients joined.\n"
    inside = (
        "torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] "
        "via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 20000ms, keys: "
        "/default_pg/0//cuda//0\n"
    )
    assert ranks(engine, {0: host, 1: inside, 2: inside, 3: "starting\n"}) == (3,)
    assert ranks(engine, {0: host, 1: inside, 2: "", 3: ""}) == ()


def barrier(joined: int, *waiting: int) -> str:
    """Lines of the store's barrier at the end of a log that all ranks of six write."""
    said = (
        f"Waiting in store based barrier to initialize process group for rank: {rank}, key: store_based_barrier_key:1 "
        f"(world_size=6, worker_count={joined}, timeout=0:20:00)\n"
        for rank in waiting
    )
    return "INFO:root:Added key: store_based_barrier_key:1 to store for rank: 0\n" + "".join(said)


def test_who_is_missing_at_the_barrier_is_who_says_nothing_of_it(engine: Engine) -> None:
    def missing(text: str) -> tuple[int, ...]:
        root = engine.diagnose([Source("job.log", data=text.encode())]).root_cause
        assert root is not None and root.rule_id == "torch.store-barrier-waiting"
        return root.origin.ranks

    assert missing(barrier(5, 0, 1, 3, 4, 5)) == (2,)
    assert missing(barrier(4, 0, 1, 3, 5)) == (2, 4)
    assert missing(barrier(5, 0, 1, 3)) == ()


def test_a_barrier_that_all_came_to_holds_nobody_up(engine: Engine) -> None:
    done = "INFO:root:Rank 0: Completed store-based barrier for key:store_based_barrier_key:1 with 6 nodes.\n"
    diagnosis = engine.diagnose([Source("job.log", data=(barrier(5, 0, 1) + done).encode())])
    assert diagnosis.root_cause is None


def pair_of(rank: int, key: str) -> str:
    """A wait for the communicator of two ranks."""
    return (
        "Traceback (most recent call last):\n"
        '  File "/workspace/train.py", line 45, in train\n'
        "    dist.recv(hidden, RANK - 1)\n"
        f"torch.distributed.DistBackendError: [{rank}] is setting up NCCL communicator and retrieving ncclUniqueId "
        f"from [0] via c10d key-value store by key '{key}', but store->get('{key}') got error: wait timeout after "
        f"15000ms, keys: /default_pg/0//cuda//{key}\n"
    )


def test_a_chain_of_pairs_leads_to_who_waits_for_nobody(engine: Engine) -> None:
    assert ranks(engine, {0: "", 1: "", 2: pair_of(2, "1:2"), 3: pair_of(3, "2:3")}) == (1,)
    assert ranks(engine, {0: "", 1: pair_of(1, "1:3"), 2: "", 3: ""}) == (3,)


def test_pairs_that_end_at_two_ranks_or_none_name_nobody(engine: Engine) -> None:
    assert ranks(engine, {0: "", 1: pair_of(1, "0:1"), 2: "", 3: pair_of(3, "2:3")}) == ()
    assert ranks(engine, {0: "", 1: "", 6: pair_of(6, "1:2")}) == ()


def pair(me: int, lower: int, higher: int) -> str:
    """A wait for the NCCL id of a pair of ranks; torch says "from [0]" whoever stores it."""
    return (
        f"torch.distributed.DistBackendError: [{me}] is setting up NCCL communicator and retrieving ncclUniqueId "
        f"from [0] via c10d key-value store by key '{lower}:{higher}', but store->get('{lower}:{higher}') got error: "
        f"wait timeout after 20000ms, keys: /default_pg/0//cuda//{lower}:{higher}\n"
    )


def test_a_pair_s_key_is_stored_by_its_lower_rank(engine: Engine) -> None:
    assert ranks(engine, {0: "", 1: "", 2: pair(2, 1, 2), 3: ""}) == (1,)


def test_a_chain_of_pairs_ends_at_the_rank_that_waits_for_nobody(engine: Engine) -> None:
    assert ranks(engine, {0: "", 1: "", 2: pair(2, 1, 2), 3: pair(3, 2, 3)}) == (1,)


def test_numbers_within_a_sub_group_are_no_ranks(engine: Engine) -> None:
    assert ranks(engine, {4: "", 5: pair(1, 0, 1).replace("default_pg", "7")}) == ()


def test_who_left_with_words_of_its_own_is_why_the_store_waits(engine: Engine) -> None:
    waits = (
        "Traceback (most recent call last):\n"
        '  File "/srv/fit.py", line 9, in <module>\n'
        '    dist.init_process_group("nccl")\n'
        "torch.distributed.DistStoreError: Timed out after 31 seconds waiting for clients. 2/3 clients joined.\n"
    )
    lost = (
        "[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] "
        "via c10d key-value store by key '0', but store->get('0') got error: Failed to recv, got 0 bytes.\n"
    )
    own = "ERROR: no seat for the feature 'flow': access denied, 2 of 2 in use\n"
    logs = [
        Source(f"job.{n}.log", data=text.encode(), rank=n)
        for n, text in enumerate(("rank 0 of 3\n" + waits, "rank 1 of 3\n" + lost, "rank 2 of 3\n" + own))
    ]
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert root.origin.rank == 2
    assert any("no seat for the feature" in piece.text for piece in root.evidence)


def test_who_of_those_that_say_their_rank_is_not_there_never_reached_the_store(engine: Engine) -> None:
    """Nobody says how many there are, and no name stands before what the store's server raises."""
    served = (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/setup.py", line 81, in connect\n'
        "    dist.init_process_group(\n"
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.\n"
    )

    def missing(*there: int) -> tuple[int, ...]:
        said = "".join(
            f"2026-11-21 07:47:46 - INFO - distributed init (rank {r}): tcp://localhost:40011\n"
            for r in there
        )
        root = engine.diagnose((said + served).encode()).root_cause
        assert root is not None and root.category == "rendezvous"
        return root.origin.ranks

    assert missing(0, 2, 1) == (3,)
    assert missing(0, 3, 1) == (2,)
    assert missing(0, 1) == ()
