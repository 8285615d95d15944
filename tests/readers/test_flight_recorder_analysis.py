"""Cross-rank analysis on small made-up jobs: each says what the ranks recorded and who is to blame."""

from __future__ import annotations

from typing import Any

import pytest

from triage.readers.flight_recorder_analysis import GroupVerdict, analyse
from triage.readers.flight_recorder_job import assemble
from triage.readers.flight_recorder_model import Dump
from triage.readers.flight_recorder_parse import parse_dump

SECOND = 10**9
T0 = 1_795_198_127 * SECOND
WORLD = ("0", "default_pg")


class Rank:
    """Records operations the way the recorder writes them."""

    def __init__(self, rank: int, groups: dict[str, tuple[str, list[int]]]) -> None:
        self.rank = rank
        self.groups = {g: v for g, v in groups.items() if rank in v[1]}
        self.entries: list[dict[str, Any]] = []
        self.seq: dict[str, int] = {}
        self.batch: dict[str, int] = {}
        self.time = T0

    def call(
        self, op: str = "all_reduce", group: str = "0", *, done: bool = False, state: str | None = None,
        numel: int = 8, out: int | None = None, dtype: str = "Float", after: float = 0.001, line: int = 1,
    ) -> Rank:  # fmt: skip
        self.seq[group] = self.seq.get(group, 0) + 1
        self._add(op, group, done, state, numel, numel if out is None else out, dtype, after, line)
        return self

    def message(
        self, op: str, peer: int, group: str, *, done: bool = False, numel: int = 8, after: float = 0.001
    ) -> Rank:
        members = self.groups[group][1]
        me, other = members.index(self.rank), members.index(peer)
        self.batch[group] = self.batch.get(group, 0) + 1
        arrow = "->" if op == "send" else "<-"
        self._add(f"{op} {me}{arrow}{other}", group, done, None, numel, numel, "Float", after, 1, p2p=True)
        return self

    def _add(
        self, op: str, group: str, done: bool, state: str | None, numel: int, out: int, dtype: str,
        after: float, line: int, p2p: bool = False,
    ) -> None:  # fmt: skip
        self.time += int(after * SECOND)
        state = state or ("completed" if done else "scheduled")
        self.entries.append({
            "record_id": len(self.entries), "pg_id": list(self.groups).index(group),
            "process_group": (group, self.groups[group][0]), "collective_seq_id": self.seq.get(group, 0),
            "p2p_seq_id": self.batch.get(group, 0), "op_id": len(self.entries),
            "profiling_name": f"nccl:{op}", "time_created_ns": self.time,
            "input_sizes": [[numel]], "output_sizes": [[out]],
            "input_dtypes": [dtype], "output_dtypes": [dtype], "state": state,
            "time_discovered_started_ns": self.time if state == "started" else None,
            "time_discovered_completed_ns": self.time if done else None, "retired": done,
            "timeout_ms": 60000, "is_p2p": p2p,
            "frames": [{"name": "step", "filename": "/workspace/train.py", "line": line}],
        })  # fmt: skip

    def dump(self, **changes: Any) -> Dump:
        top = {
            "version": "2.10",
            "pg_config": {
                g: {"name": g, "desc": d, "ranks": str(r)} for g, (d, r) in self.groups.items()
            },
            "pg_status": {
                str(i): {
                    "last_enqueued_collective": self.seq.get(g, self.batch.get(g, 0)),
                    "last_started_collective": -1,
                    "last_completed_collective": sum(
                        1 for e in self.entries if e["process_group"][0] == g and e["state"] == "completed"
                    ),
                }
                for i, g in enumerate(self.groups)
            },
            "entries": self.entries,
        }  # fmt: skip
        return parse_dump({**top, **changes}, f"trace_rank_{self.rank}")


def ranks_of(count: int, **groups: tuple[str, list[int]]) -> list[Rank]:
    table = {"0": ("default_pg", list(range(count))), **{g.lstrip("_"): v for g, v in groups.items()}}
    return [Rank(rank, table) for rank in range(count)]


def verdict(ranks: list[Rank]) -> GroupVerdict:
    causes = [v for v in analyse([rank.dump() for rank in ranks]) if v.cause]
    assert causes, "no verdict"
    return causes[0]


def test_nothing_stuck_is_no_verdict() -> None:
    ranks = [rank.call(done=True).call(done=True) for rank in ranks_of(4)]
    assert analyse([rank.dump() for rank in ranks]) == ()


def test_the_rank_that_never_enqueued_is_missing() -> None:
    ranks = [rank.call(done=True, line=7) for rank in ranks_of(4)]
    for rank in ranks[:3]:
        rank.call(line=9)
    found = verdict(ranks)
    assert (found.kind, found.ranks, found.waiting, found.blocked) == ("missing", (3,), (0, 1, 2), 3)
    last = found.culprits[0].operation
    assert last is not None
    assert last.where == "step (/workspace/train.py:7)"
    assert found.victims[0].operation is not None
    assert found.victims[0].operation.where == "step (/workspace/train.py:9)"


def test_a_minority_alone_in_a_collective_is_extra() -> None:
    ranks = [rank.call(done=True) for rank in ranks_of(4)]
    ranks[0].call("barrier")
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("extra", (0,))


def test_of_two_ranks_the_absent_one_is_missing() -> None:
    ranks = [rank.call(done=True) for rank in ranks_of(2)]
    ranks[0].call()
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("missing", (1,))


def test_operation_mismatch_blames_the_minority_and_stands_before_the_hang() -> None:
    ranks = [rank.call(done=True) for rank in ranks_of(4)]
    for rank in ranks:
        # NCCL may let a mismatch pass and hang later
        rank.call("_all_gather_base" if rank.rank == 2 else "all_reduce", done=True).call()
    found = verdict(ranks)
    assert (found.kind, found.ranks, found.operation.seq) == ("operation-mismatch", (2,), 2)
    assert (found.odd, found.rest) == ("_all_gather_base", "all_reduce")


def test_two_against_each_other_name_nobody() -> None:
    ranks = ranks_of(2)
    ranks[0].call("all_reduce")
    ranks[1].call("broadcast")
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("operation-mismatch", ())


def test_sister_groups_break_a_tie() -> None:
    ranks = ranks_of(4, _1=("tp", [0, 1]), _2=("tp", [2, 3]))
    for rank in ranks:
        rank.call("broadcast" if rank.rank == 1 else "all_reduce", "1" if rank.rank < 2 else "2")
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("operation-mismatch", (1,))


def test_size_and_type_mismatch() -> None:
    ranks = [rank.call(numel=4 if rank.rank == 1 else 8) for rank in ranks_of(4)]
    found = verdict(ranks)
    assert (found.kind, found.ranks, found.how) == ("size-mismatch", (1,), "size")
    assert (found.odd, found.rest) == ("all_reduce of 4 elements", "all_reduce of 8 elements")
    ranks = [rank.call(dtype="Half" if rank.rank == 3 else "BFloat16") for rank in ranks_of(4)]
    assert (verdict(ranks).kind, verdict(ranks).ranks, verdict(ranks).how) == ("size-mismatch", (3,), "type")


@pytest.mark.parametrize("op", ["all_to_all", "alltoall_base", "all_to_all_single", "all_gather_v"])
def test_uneven_operations_may_differ_in_size(op: str) -> None:
    ranks = [rank.call(op, numel=rank.rank + 1, out=9 - rank.rank) for rank in ranks_of(4)]
    assert verdict(ranks).kind == "all-inside"


def test_gather_and_scatter_differ_at_their_root_only() -> None:
    ranks = [rank.call("gather", numel=8, out=32 if rank.rank == 0 else 0) for rank in ranks_of(4)]
    assert verdict(ranks).kind == "all-inside"
    ranks = [rank.call("scatter", numel=32 if rank.rank == 0 else 0, out=8) for rank in ranks_of(4)]
    assert verdict(ranks).kind == "all-inside"


def test_all_inside_names_nobody() -> None:
    found = verdict([rank.call(done=True).call() for rank in ranks_of(4)])
    assert (found.kind, found.ranks, found.waiting) == ("all-inside", (), (0, 1, 2, 3))


def test_the_rank_whose_kernel_did_not_start_lags_when_starts_are_recorded() -> None:
    ranks = [rank.call(done=True, state="completed").call(state="started") for rank in ranks_of(4)]
    ranks[2].entries[-1].update(state="scheduled", time_discovered_started_ns=None)
    ranks[2].entries[0]["time_discovered_started_ns"] = T0
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("lagging", (2,))
    # without any start on that rank, nothing says that its recorder looks at starts at all
    ranks[2].entries[0]["time_discovered_started_ns"] = None
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("all-inside", ())


def test_the_rank_that_did_not_finish_what_others_finished_lags() -> None:
    ranks = [rank.call(done=True).call(done=rank.rank != 1).call() for rank in ranks_of(4)]
    found = verdict(ranks)
    assert (found.kind, found.ranks, found.operation.seq) == ("lagging", (1,), 2)
    assert found.finished == (0, 2, 3)


def test_lagging_ranks_of_several_groups_are_named_together() -> None:
    ranks = ranks_of(4, _1=("tp", [0, 1]), _2=("tp", [2, 3]))
    for rank in ranks:
        group = "1" if rank.rank < 2 else "2"
        rank.call(group=group, done=rank.rank in {0, 3}).call(group=group)
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("lagging", (1, 2))


def test_the_rank_that_came_when_time_was_nearly_over_is_late() -> None:
    ranks = [rank.call(done=True).call(after=55 if rank.rank == 3 else 0.1) for rank in ranks_of(4)]
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("lagging", (3,))
    ranks = [rank.call(done=True).call(after=2 if rank.rank == 3 else 0.1) for rank in ranks_of(4)]
    assert verdict(ranks).kind == "all-inside"


def test_a_chain_of_groups_ends_at_the_rank_that_waits_for_nobody() -> None:
    ranks = ranks_of(4, _1=("tp", [0, 1]), _2=("tp", [2, 3]), _3=("dp", [0, 2]), _4=("dp", [1, 3]))
    for rank in ranks:
        rank.call(group="1" if rank.rank < 2 else "2", done=rank.rank < 2)
    for rank in ranks[:3]:
        rank.call(group="3" if rank.rank % 2 == 0 else "4", done=rank.rank != 1)
        rank.call()
    ranks[3].entries[-1].update(state="completed", retired=True)
    ranks[2].entries[0].update(state="completed", retired=True)
    found = verdict(ranks)
    assert (found.kind, found.ranks) == ("missing", (3,))
    assert (found.group.desc, found.waiting, found.blocked) == ("default_pg", (0, 2), 3)


def test_a_silent_rank_is_blamed_only_when_nothing_is_proven() -> None:
    ranks = [rank.call(done=True) for rank in ranks_of(4)]
    for rank in ranks[:2]:
        rank.call()
    assert (verdict(ranks[:3]).kind, verdict(ranks[:3]).ranks) == ("missing", (2,))
    ranks[2].call()
    assert (verdict(ranks[:3]).kind, verdict(ranks[:3]).ranks) == ("silent", (3,))


def test_one_dump_of_many_blames_nobody() -> None:
    ranks = [rank.call() for rank in ranks_of(8)]
    assert not [v for v in analyse([ranks[0].dump()]) if v.cause]


def test_sends_and_receives_pair_up() -> None:
    ranks = ranks_of(2)
    ranks[0].message("send", 1, "0", done=True).message("send", 1, "0")
    ranks[1].message("recv", 0, "0", done=True).call()
    # did rank 0 send too often or rank 1 receive too rarely?
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("unmatched-message", ())
    ranks[0].call()
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("unmatched-message", (1,))
    ranks[0].entries.pop()
    ranks[1].entries.pop()
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("missing", (1,))
    ranks[1].message("recv", 0, "0")
    assert verdict(ranks).kind == "all-inside"


def test_a_send_and_a_receive_of_different_sizes_do_not_match() -> None:
    ranks = ranks_of(2)
    ranks[0].message("send", 1, "0", numel=8)
    ranks[1].message("recv", 0, "0", numel=16)
    found = verdict(ranks)
    assert (found.kind, found.ranks, found.how) == ("unmatched-message", (), "sizes differ")


def test_a_circle_through_two_groups_is_an_order_mismatch() -> None:
    ranks = ranks_of(2, _1=("ep", [0, 1]))
    ranks[0].call(group="0")
    ranks[1].call(group="1")
    assert (verdict(ranks).kind, verdict(ranks).ranks) == ("order", ())


def test_forgotten_operations_are_not_missing_ones() -> None:
    ranks = ranks_of(3, _1=("tp", [0, 1]))
    for rank in ranks[:2]:
        rank.call(group="1")
    for rank in ranks:
        rank.call(done=True)
    # rank 1's buffer has forgotten its part of tp; it was created before everything that is left
    ranks[1].entries = [{**ranks[1].entries[-1], "record_id": 1}]
    found = [v for v in analyse([rank.dump(pg_status={}) for rank in ranks]) if v.cause]
    assert not [v for v in found if 1 in v.ranks]


def test_only_active_dumps_leave_out_what_completed() -> None:
    ranks = [rank.call(done=True) for rank in ranks_of(4)]
    for rank in ranks:
        if rank.rank != 2:
            rank.call()
    status = {rank.rank: rank.dump().progress["0"] for rank in ranks}
    assert status[2].enqueued == 1
    for rank in ranks:
        # the recorder leaves completed operations out, so nothing is left of the idle rank
        rank.entries = [e for e in rank.entries if e["state"] != "completed"]
    dumps = [
        rank.dump(pg_status={"0": {
            "last_enqueued_collective": status[rank.rank].enqueued, "last_completed_collective": 1,
        }})
        for rank in ranks
    ]  # fmt: skip
    assert dumps[2].operations == ()
    assert dumps[2].active_only
    assert dumps[2].progress["0"].enqueued == 1
    found = [v for v in analyse(dumps) if v.cause]
    assert [(v.kind, v.ranks) for v in found] == [("missing", (2,))]


def test_dumps_of_an_older_job_and_twins_are_left_out() -> None:
    ranks = [rank.call() for rank in ranks_of(3)]
    old = Rank(3, {"0": ("default_pg", [0, 1, 2, 3])})
    old.time -= 7200 * SECOND
    old.call()
    twin = Rank(0, ranks[0].groups).call(after=5)
    job = assemble([*(rank.dump() for rank in ranks), old.dump(), twin.dump()])
    assert sorted(job.dumps) == [0, 1, 2]
    assert len(job.notes) == 2
    assert job.dumps[0].last_time == twin.time


def test_many_ranks_are_followed_without_recursion() -> None:
    count = 1500
    groups = {str(i): ("link", [i, i + 1]) for i in range(1, count - 1)}
    ranks = [Rank(rank, groups) for rank in range(1, count)]
    for rank in ranks:
        if str(rank.rank) in rank.groups:
            rank.call(group=str(rank.rank))
    # every rank waits for the next one, which has yet to enter their common group; the last waits for nobody
    found = [v for v in analyse([rank.dump() for rank in ranks]) if v.cause]
    assert found[0].ranks == (count - 1,)
    assert found[0].blocked == count - 2
