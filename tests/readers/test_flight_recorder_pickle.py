"""The pickle machine: plain data in, plain data out, and nothing ever runs."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.readers.flight_recorder_pickle import PickleRefused, load_plain

DATA = Path(__file__).parent / "data" / "flight_recorder"
DUMPS = sorted(DATA.glob("*/nccl_trace_rank_*"))
SMALL = (DATA / "compile" / "nccl_trace_rank_0").read_bytes()

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=20,
)


class Runs:
    """Creates a file when it is unpickled by the ordinary means."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (self.command,)


class Restores:
    def __init__(self) -> None:
        self.value = 1

    def __setstate__(self, state: object) -> None:
        raise AssertionError("a state was restored")


@pytest.mark.parametrize("path", DUMPS, ids=lambda p: f"{p.parent.name}-{p.name[-1]}")
def test_real_dumps_give_what_pickle_gives(path: Path) -> None:
    data = path.read_bytes()
    read = load_plain(data)
    assert read.complete
    assert read.value == pickle.loads(data)


@given(PLAIN, st.sampled_from([2, 3, 4, 5]))
@settings(max_examples=60)
def test_plain_values_survive_every_binary_protocol(value: object, protocol: int) -> None:
    assert load_plain(pickle.dumps(value, protocol)).value == value


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_call_is_refused_and_named(protocol: int, tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    data = pickle.dumps({"version": "2.10", "entries": Runs(f"touch {witness}")}, protocol)
    with pytest.raises(PickleRefused, match=r"asks to import (posix|nt|os)\.system; .*plain data only"):
        load_plain(data)
    assert not witness.exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"cos\nsystem\n(S'id'\ntR.", "import os.system"),
        (b"(S'id'\nios\nsystem\n.", "no instruction for plain data"),
        (b"\x80\x02(X\x02\x00\x00\x00idios\nsystem\n.", "import os.system"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "import os.system"),
        (b"\x80\x02cbuiltins\nexec\n.", "import builtins.exec"),
        (b"\x80\x02}R.", "REDUCE"),
        (b"\x80\x02}}b.", "BUILD"),
        (b"\x80\x02(o.", "OBJ"),
        (b"\x80\x02})\x81.", "NEWOBJ"),
        (b"\x80\x04})}\x92.", "NEWOBJ_EX"),
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"\x80\x02\x83\x01\x00.", "EXT2"),
        (b"\x80\x02\x84\x01\x00\x00\x00.", "EXT4"),
        (b"Pfile\n.", "PERSID"),
        (b"\x80\x02K\x01Q.", "BINPERSID"),
        (b"\x80\x05\x97.", "NEXT_BUFFER"),
        (b"\x80\x02c" + b"\x1b[2J" * 9 + b"\nx\n.", r"import \?\[2J"),
    ],
)
def test_whatever_could_run_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(PickleRefused, match=said):
        load_plain(data)


def test_objects_are_refused_before_their_state_is_looked_at() -> None:
    with pytest.raises(PickleRefused, match=r"import .*Restores"):
        load_plain(pickle.dumps(Restores(), 2))


@pytest.mark.parametrize(
    "key", [pickle.dumps((((),),), 2)[2:-1], b"K\x01", b"]", b"N", b"G" + struct.pack(">d", 1.0)]
)
def test_only_text_is_a_key(key: bytes) -> None:
    with pytest.raises(PickleRefused, match="key that is not text"):
        load_plain(b"\x80\x02}(" + key + b"K\x01u.")


@pytest.mark.parametrize(
    "data",
    [b"\x80\x02K\x01K\x02a.", b"\x80\x02}(K\x01K\x02e.", b"\x80\x02](K\x01K\x02u.", b"\x80\x02}(K\x01u.",
     b"\x80\x02a.", b"\x80\x02e.....", b"\x80\x02h\x07.", b"\x80\x02u....", b"\x80\x02\x86.",
     b"\x80\x02r\x00\x00\x00\x00."],
)  # fmt: skip
def test_damaged_pickles_are_refused(data: bytes) -> None:
    with pytest.raises(PickleRefused, match=r"damaged|recalls|key"):
        load_plain(data)


def test_a_far_memo_slot_costs_nothing() -> None:
    far = b"r\xff\xff\xff\xff"
    assert load_plain(b"\x80\x02]" + far + b".").value == []


def test_bounds_hold() -> None:
    with pytest.raises(PickleRefused, match="more than 200 instructions"):
        load_plain(b"\x80\x02" + b"]" * 300 + b".", max_instructions=200)


def test_a_string_longer_than_the_file_is_a_cut_not_an_allocation() -> None:
    assert not load_plain(b"\x80\x02X\xff\xff\xff\xffabc").complete
    assert not load_plain(b"\x80\x04\x8d" + b"\xff" * 8 + b"abc").complete


def test_deep_nesting_is_harmless() -> None:
    depth = 200_000
    assert load_plain(b"\x80\x02" + b"]" * depth + b"a" * (depth - 1) + b".").complete
    assert load_plain(b"\x80\x02)" + b"\x85" * depth + b".").complete


@pytest.mark.parametrize("size", range(0, len(SMALL), 7))
def test_cut_dumps_give_what_was_there(size: int) -> None:
    read = load_plain(SMALL[:size])
    assert not read.complete
    if size > 400:
        assert isinstance(read.value, dict)
        assert read.value["version"] == "2.10"


@given(st.binary(max_size=400))
@settings(max_examples=80)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for head in (b"", b"\x80\x02", b"\x80\x04"):
        try:
            load_plain(head + data)
        except PickleRefused as error:
            assert str(error).isprintable()


@given(st.data())
@settings(max_examples=80)
def test_mutated_dumps_are_read_or_refused(data: st.DataObject) -> None:
    dump = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 6))):
        dump[data.draw(st.integers(0, len(dump) - 1))] = data.draw(st.integers(0, 255))
    try:
        load_plain(bytes(dump))
    except PickleRefused as error:
        assert str(error).isprintable()
