"""The reader of flight-recorder dumps, on dumps of real hangs and on what else may lie in their place."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Finding, Source
from triage.readers import READERS, recognise
from triage.readers.flight_recorder import RULES, FlightRecorderReader, FlightRecorderReading, combine
from triage.readers.flight_recorder_parse import parse_dump, rank_of_name
from triage.rules.loader import load_rules

DATA = Path(__file__).parent / "data" / "flight_recorder"
READER = FlightRecorderReader()


def readings(folder: str) -> list[FlightRecorderReading]:
    paths = [p for p in sorted((DATA / folder).iterdir()) if p.suffix in {"", ".json"}]
    return [READER.read(p.read_bytes(), Source(p.name, path=str(p)), i) for i, p in enumerate(paths)]


def causes(findings: Sequence[Finding]) -> list[Finding]:
    return [f for f in findings if f.rule_id in RULES.values()]


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "record_id": 0, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": 1,
        "p2p_seq_id": 0, "op_id": 1, "profiling_name": "nccl:all_reduce", "time_created_ns": 1,
        "state": "completed", "input_sizes": [[2, 3]], "output_sizes": [[2, 3]], "retired": True,
        "timeout_ms": 1000, "is_p2p": False,
        **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("folder", "rule", "ranks"),
    [
        ("gil_rank2", "torch.fr-missing-rank", (2,)),
        ("gil-wrap_rank0", "torch.fr-missing-rank", (0,)),
        ("kernel_rank3", "torch.fr-all-inside", None),
        ("kernel-timing_rank3", "torch.fr-lagging", (3,)),
        ("kill_rank3", "torch.fr-silent-rank", (3,)),
        ("size_rank3", "torch.fr-size-mismatch", (3,)),
        ("pp-skip_rank2", "torch.fr-p2p-unmatched", (2,)),
        ("pp-sleep_rank3", "torch.fr-missing-rank", (3,)),
        ("skip-collective", "torch.fr-type-mismatch", (2,)),
        ("straggler-sleep-x4", "torch.fr-missing-rank", (1,)),
        ("compile", "torch.fr-missing-rank", (0,)),
        ("json", "torch.fr-missing-rank", (1,)),
    ],
)
def test_real_hangs_name_the_culprit(folder: str, rule: str, ranks: tuple[int, ...] | None) -> None:
    found = causes(combine(readings(folder)))
    assert [f.rule_id for f in found] == [rule]
    assert found[0].fields.get("ranks") == ranks
    assert found[0].rank == (ranks[0] if ranks else None)
    assert found[0].evidence


def test_a_verdict_says_what_happened_where() -> None:
    (found,) = causes(combine(readings("pp-sleep_rank3")))
    fields = found.fields
    assert (fields["op"], fields["seq"], fields["group"]) == ("all_reduce", 14, "tp [2, 3]")
    helper = "column_parallel (/workspace/train.py:25) called from <module>"
    assert fields["where"] == f"{helper} (/workspace/train.py:71)"
    assert fields["waiting_where"] == f"{helper} (/workspace/train.py:76)"
    assert (fields["blocked"], fields["world_size"], fields["timeout"]) == (3, 4, 10.0)
    assert (fields["enqueued"], fields["completed"]) == (13, 13)
    assert "gil" not in fields
    assert found.evidence[0].text.startswith(
        "rank 3: all_reduce, sequence 13 of tp [2, 3], 1048576 elements, completed"
    )
    assert found.evidence[0].path == "nccl_trace_rank_3"


def test_a_rank_that_could_not_record_stacks_holds_the_interpreter_lock() -> None:
    (found,) = causes(combine(readings("gil_rank2")))
    assert found.fields["gil"] is True


def test_ranks_without_a_dump_are_listed() -> None:
    found = [f for f in combine(readings("kill_rank3")) if f.rule_id == "torch.fr-dump-missing"]
    assert found[0].fields == {"ranks": (3,), "count": 1, "dumps": 3, "world_size": 4}
    assert found[0].rank is None


def test_each_dump_states_where_its_rank_stood() -> None:
    (fact,) = readings("skip-collective")[2].findings
    assert (fact.rule_id, fact.rank) == ("torch.fr-dump", 2)
    assert fact.fields["world_size"] == 4
    assert (fact.fields["op"], fact.fields["seq"], fact.fields["state"]) == (
        "_all_gather_base",
        7,
        "scheduled",
    )
    assert (fact.fields["numel_in"], fact.fields["numel_out"]) == (4096, 16384)
    assert (fact.fields["enqueued"], fact.fields["completed"]) == (7, 6)
    assert fact.fields["groups"] == (("0", "default_pg", (0, 1, 2, 3), 7, None, 6),)
    assert fact.time is not None
    assert fact.time.zoned


def test_fields_and_rules_agree() -> None:
    rules = load_rules()
    emitted = [f for folder in DATA.iterdir() if folder.is_dir() for f in combine(readings(folder.name))]
    emitted += [
        f for folder in DATA.iterdir() if folder.is_dir() for r in readings(folder.name) for f in r.findings
    ]
    for finding in emitted:
        rule = rules[finding.rule_id]
        assert rule.signature is not None
        assert rule.signature.reader == "flight-recorder"
    for rule_id in RULES.values():
        assert rules[rule_id].role == "cause"


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("/tmp/nccl_trace_rank_0", 0), ("comm_lib_trace_rank_127", 127), ("/x/rank3/_dump_12", 12),
        ("fr_5.json", 5), ("nccl_trace_rank_3.json.gz", 3), ("trace-rank-7.pkl", 7),
        ("run2_rank4_20260101", 4), ("dump.pickle", None), ("fr", None),
    ],
)  # fmt: skip
def test_rank_from_the_file_name(name: str, rank: int | None) -> None:
    assert rank_of_name(name) == rank


def test_rank_from_the_groups_when_the_name_is_mute() -> None:
    groups = {
        "1": {"name": "1", "desc": "tp", "ranks": "[4, 5]"},
        "2": {"name": "2", "desc": "dp", "ranks": "[1, 5]"},
    }
    assert parse_dump({"version": "2.10", "pg_config": groups, "entries": []}, "dump").rank == 5
    sent = entry(profiling_name="nccl:send 1->0", process_group=("1", "tp"), is_p2p=True)
    only = {"1": groups["1"]}
    assert parse_dump({"version": "2.10", "pg_config": only, "entries": [sent]}, "dump").rank == 5
    assert parse_dump({"version": "2.10", "pg_config": only, "entries": []}, "dump").rank is None


def test_members_that_are_stated_without_a_name_are_those_of_the_one_group() -> None:
    config = {"": {"name": "", "desc": "", "ranks": "[0, 1, 2, 3]"}}
    dump = parse_dump({"version": "2.10", "pg_config": config, "entries": [entry()]}, "fr_rank1.json")
    assert [group.ranks for group in dump.groups.values()] == [(0, 1, 2, 3)]


def test_dumps_of_torch_2_2_are_bare_lists() -> None:
    old = {
        "pg_id": 0, "seq_id": 3, "profiling_name": "nccl:all_reduce", "state": "started",
        "time_created_ns": 5, "input_sizes": [[4]], "output_sizes": [[4]],
        "frames": [{"name": "main", "filename": "train.py", "line": 3}],
    }  # fmt: skip
    reading = READER.read(pickle.dumps([old], 2), Source("nccl_trace_rank_1"), 0)
    assert reading.dump is not None
    (operation,) = reading.dump.operations
    assert (operation.guid, operation.seq, operation.state, operation.where) == (
        "0",
        3,
        "started",
        "main (train.py:3)",
    )


def test_json_writes_numbers_as_text_and_zero_for_unknown() -> None:
    reading = readings("json")[0]
    assert reading.dump is not None
    assert reading.dump.progress["0"].enqueued == 3
    assert reading.dump.progress["1"].completed is None
    assert [op.done for op in reading.dump.operations] == [True, True, True, False]


def test_counters_that_were_never_set_are_unknown() -> None:
    status = {
        "last_enqueued_collective": 2**64 - 1,
        "last_started_collective": -1,
        "last_completed_collective": 7,
    }
    dump = parse_dump({"pg_config": {}, "pg_status": {"0": status}, "entries": [entry()]}, "r_0")
    assert dump.progress["0"].enqueued is None
    assert dump.progress["0"].completed == 7


def test_a_batch_of_messages_has_the_state_of_its_marker() -> None:
    sent = entry(
        profiling_name="nccl:send 0->1", is_p2p=True, state="scheduled", p2p_seq_id=4, collective_seq_id=0
    )
    got = {**sent, "profiling_name": "nccl:recv 0<-1"}
    marker = {**sent, "profiling_name": "nccl:coalesced", "is_p2p": False, "state": "completed"}
    dump = parse_dump({"pg_config": {}, "entries": [sent, got, marker]}, "r_0")
    assert [(op.name, op.done) for op in dump.operations] == [("send", True), ("recv", True)]


def test_a_marker_says_nothing_of_a_collective_with_events_of_its_own() -> None:
    fast = entry(profiling_name="nccl:allreduce_coalesced", state="scheduled", retired=False)
    marker = entry(profiling_name="nccl:coalesced", record_id=1)
    dump = parse_dump({"pg_config": {}, "entries": [fast, marker]}, "r_0")
    assert [(op.name, op.done) for op in dump.operations] == [("allreduce_coalesced", False)]


def test_library_frames_are_passed_over() -> None:
    frames = [
        {"name": "call", "filename": "/opt/lib/python3.12/site-packages/torch/c10d.py", "line": 1},
        {"name": "run", "filename": "/usr/lib/python3.12/threading.py", "line": 2},
        {"name": "step", "filename": "/home/u/torch/train.py", "line": 3},
    ]  # fmt: skip
    dump = parse_dump({"pg_config": {}, "entries": [entry(frames=frames), entry(frames=frames[:2])]}, "r_0")
    assert [op.where for op in dump.operations] == ["step (/home/u/torch/train.py:3)", None]


def test_what_asks_to_import_is_refused_with_a_note(tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[object, ...]:
            return os.system, (f"touch {tmp_path / 'ran'}",)

    data = pickle.dumps({"pg_config": {}, "entries": [Runs()]}, 2)
    assert recognise("nccl_trace_rank_0", data) is not None
    reading = READER.read(data, Source("nccl_trace_rank_0"), 0)
    assert reading.findings == ()
    assert not reading.complete
    assert "refused: the pickle asks to import" in reading.notes[0]
    assert "plain data only" in reading.notes[0]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x80\x02K\x01.", "not a flight-recorder dump"),
        (b'{"pg_config": ', "not readable as JSON"),
        (b'{"pg_config":' + b"[" * 100_000, "not readable as JSON"),
        (b"cos\nsystem\n(S'id'\ntR.", "import os.system"),
        (b"", "not a flight-recorder dump"),
    ],
)
def test_what_is_no_dump_becomes_a_note(data: bytes, said: str) -> None:
    reading = READER.read(data, Source("nccl_trace_rank_0"), 0)
    assert said in reading.notes[0]
    assert (reading.findings, reading.complete) == ((), False)


def test_a_cut_dump_says_so_and_is_not_taken_for_a_rank_that_stopped() -> None:
    whole = readings("straggler-sleep-x4")
    path = DATA / "straggler-sleep-x4" / "nccl_trace_rank_2"
    cut = READER.read(path.read_bytes()[:2000], Source(path.name, path=str(path)), 2)
    assert not cut.complete
    assert "cut short" in cut.notes[0]
    (found,) = causes(combine([whole[0], whole[1], cut, whole[3]]))
    assert (found.rule_id, found.fields["ranks"]) == ("torch.fr-missing-rank", (1,))


@pytest.mark.parametrize("path", sorted(DATA.glob("*/*[0-9]")) + sorted(DATA.glob("json/*")), ids=str)
def test_dumps_are_recognised_by_content(path: Path) -> None:
    data = path.read_bytes()
    for name in (path.name, "renamed"):
        reader = recognise(name, data[:65536])
        assert reader is not None
        assert reader.kind == "flight-recorder"


@pytest.mark.parametrize(
    "head",
    [b"", b"{", b"[rank0]: step 1 loss=2.0\n", b'{"message": "hello"}\n', b"\x80\x02K\x01.",
     b"GPU0 is fine\n", b"step 3 pg_config changed\n", b'{"event": "x", "step": 1}\n{"event": "y"}\n'],
)  # fmt: skip
def test_logs_are_not_taken_for_dumps(head: bytes) -> None:
    assert recognise("job.err", head) is None


def test_registry_is_consistent() -> None:
    for known in READERS:
        assert known.load().kind == known.kind
    assert combine([]) == ()


def test_combined_findings_do_not_depend_on_the_order_of_files() -> None:
    one = readings("pp-skip_rank2")
    assert causes(combine(one)) == causes(combine(one[::-1]))


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_cut_and_mutated_dumps_never_raise(data: st.DataObject) -> None:
    whole = readings("pp-sleep_rank3")
    paths = sorted((DATA / "pp-sleep_rank3").iterdir())
    victim = data.draw(st.integers(0, len(paths) - 1))
    dump = bytearray(paths[victim].read_bytes())
    for _ in range(data.draw(st.integers(0, 8))):
        dump[data.draw(st.integers(0, len(dump) - 1))] = data.draw(st.integers(0, 255))
    dump = dump[: data.draw(st.integers(0, len(dump)))]
    whole[victim] = READER.read(bytes(dump), Source(paths[victim].name), victim)
    combine(whole)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["0", "[0, 1]", "nccl:send 0->1", "tp"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*entry(), "frames", "seq_id", "time_discovered_started_ns"])


@given(
    st.lists(st.dictionaries(KEYS, JUNK, max_size=6), min_size=2, max_size=6),
    st.dictionaries(
        st.sampled_from(["0", "1", ""]), st.dictionaries(st.sampled_from(["desc", "ranks"]), JUNK)
    ),
    JUNK,
)
@settings(max_examples=60, deadline=None)
def test_dumps_with_the_wrong_types_never_raise(
    changes: list[Mapping[str, Any]], config: Mapping[str, Any], status: Any
) -> None:
    read = []
    for rank in range(2):
        top = {"version": 2, "pg_config": config, "pg_status": {"0": status}, "entries": [
            {**entry(record_id=i), **change, "state": "scheduled"} if i % 2 == rank else change
            for i, change in enumerate(changes)
        ]}  # fmt: skip
        top = json.loads(json.dumps(top))
        read.append(READER.read(pickle.dumps(top, 2), Source(f"nccl_trace_rank_{rank}"), rank))
    combine(read)
