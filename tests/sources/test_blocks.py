"""Blocks partition a source, carry true context, and number lines rightly, whatever the source."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.errors import InputError
from triage.model import Block, Source
from triage.sources import HEAD_SIZE, BlockReader, blocks, open_head

TEXT = b"".join(b"[rank%d] step %d loss 2.%d\n" % (i % 8, i, i * 7919 % 1000) for i in range(3000))


def regions(found: list[Block]) -> bytes:
    return b"".join(block.data[block.begin : block.end] for block in found)


def check(found: list[Block], data: bytes, context: int) -> None:
    position = 0
    for number, block in enumerate(found):
        assert block.offset + block.begin == position
        assert block.begin < block.end <= len(block.data)
        assert block.data == data[block.offset : block.offset + len(block.data)]
        assert block.line == data.count(b"\n", 0, block.offset) + 1
        assert block.begin >= min(context, position)
        position += block.end - block.begin
        assert len(block.data) - block.end >= min(context, len(data) - position)
        assert block.last is (number == len(found) - 1)
    assert position == len(data)


logs = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"a", b"rank 3", b"\x00", b"\xff\xfe", b"\r"]), max_size=80
).map(b"".join)


@settings(max_examples=60, deadline=None)
@given(logs, st.integers(1, 40), st.integers(0, 50), st.sampled_from(["data", "stream", "file"]))
def test_regions_partition_and_context_is_what_surrounds_them(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, block_size: int, context: int, kind: str
) -> None:
    data = b"log:" + data  # not a byte order mark
    if kind == "file":
        path = tmp_path_factory.getbasetemp() / "property.log"
        path.write_bytes(data)
        source = Source("x", path=str(path))
    elif kind == "stream":
        source = Source("x", stream=io.BytesIO(data))
    else:
        source = Source("x", data=data)
    reader = BlockReader(source, block_size=block_size, context=context)
    found = list(reader)
    check(found, data, context)
    assert reader.complete
    assert reader.note is None
    assert reader.bytes_read == len(data)
    assert reader.lines == len(data.removesuffix(b"\n").split(b"\n"))


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300), st.integers(1, 64), st.integers(0, 64), st.integers(0, 400))
def test_any_bytes_in_no_exception_out(data: bytes, block_size: int, context: int, limit: int) -> None:
    for prefix in (
        b"",
        b"\x1f\x8b\x08\x00",
        b"BZh91AY&SY",
        b"\xfd7zXZ\x00",
        b"\x28\xb5\x2f\xfd",
        b"\xff\xfe",
    ):
        reader = BlockReader(
            Source("x", stream=io.BytesIO(prefix + data)), block_size=block_size, context=context, limit=limit
        )
        out = regions(list(reader))
        assert len(out) == reader.bytes_read <= limit


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_lines_count_an_unfinished_last_one(end: bytes) -> None:
    reader = blocks(Source("x", data=b"a\nb\nc" + end), block_size=2, context=1)
    list(reader)
    assert reader.lines == 3


def test_an_empty_source_has_no_block(tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    for source in (Source("x", data=b""), Source("x", path=str(tmp_path / "empty.log"))):
        reader = BlockReader(source)
        assert reader.head == b""
        assert list(reader) == []
        assert (reader.bytes_read, reader.lines, reader.complete, reader.note) == (0, 0, True, None)


def test_head_is_not_consumed() -> None:
    data = TEXT * 2
    reader = BlockReader(Source("x", stream=io.BytesIO(data)), block_size=1000, context=10)
    assert reader.head == data[:HEAD_SIZE]
    assert reader.head == data[:HEAD_SIZE]
    check(list(reader), data, 10)


def test_read_gives_the_whole_source_up_to_a_limit() -> None:
    assert BlockReader(Source("x", data=TEXT)).read(1 << 20) == TEXT
    reader = BlockReader(Source("x", data=gzip.compress(TEXT)), block_size=512)
    assert reader.read(1000) == TEXT[:1000]
    assert not reader.complete


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("limit", [0, 1, 999, 1000, 1001])
def test_a_limit_cuts_and_says_so(limit: int, packed: bool) -> None:
    data = TEXT[:1000]
    source = Source("x", data=gzip.compress(data) if packed else data)
    reader = BlockReader(source, block_size=300, context=20, limit=limit)
    found = list(reader)
    assert regions(found) == data[:limit]
    assert reader.complete is (limit >= len(data))
    assert (reader.note is None) is reader.complete
    assert not found or found[-1].last


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("kind", PACK)
def test_archives_are_known_by_content_whatever_their_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(PACK[kind](TEXT))
    reader = BlockReader(Source("job.log", path=str(path)), block_size=5000, context=100)
    assert reader.head == TEXT[:HEAD_SIZE]
    check(list(reader), TEXT, 100)
    assert reader.complete
    assert reader.lines == 3000


@pytest.mark.parametrize("kind", PACK)
def test_archives_of_several_members_and_padding(kind: str) -> None:
    padding = b"" if kind == "zst" else b"\0" * 512
    reader = BlockReader(
        Source("x", data=PACK[kind](b"one\n") + PACK[kind](b"") + PACK[kind](b"two\n") + padding)
    )
    assert reader.read(100) == b"one\ntwo\n"
    assert (reader.complete, reader.note) == (True, None)


@pytest.mark.parametrize("kind", PACK)
def test_what_follows_an_archive_is_mentioned(kind: str) -> None:
    reader = BlockReader(Source("x", data=PACK[kind](b"one\n") + b"garbage"))
    assert reader.read(100) == b"one\n"
    assert reader.note is not None
    assert "after the end" in reader.note


@pytest.mark.parametrize("kind", PACK)
def test_a_truncated_archive_gives_what_it_holds_and_says_so(kind: str) -> None:
    noise = b"".join(os.urandom(8).hex().encode() + b"\n" for _ in range(120_000))
    packed = PACK[kind](noise)
    reader = BlockReader(Source("x", data=packed[: len(packed) * 3 // 4]))
    out = regions(list(reader))
    assert noise.startswith(out)
    assert len(out) > len(noise) // 3
    assert not reader.complete
    assert reader.note is not None
    assert "truncated" in reader.note


def test_a_wrong_checksum_costs_nothing_but_completeness() -> None:
    packed = bytearray(gzip.compress(b"CUDA out of memory\n" * 10))
    packed[-8] ^= 0xFF
    reader = BlockReader(Source("x", data=bytes(packed)))
    assert reader.read(1 << 20) == b"CUDA out of memory\n" * 10
    assert not reader.complete
    assert reader.note is not None
    assert "damaged" in reader.note


@pytest.mark.parametrize("kind", PACK)
def test_a_decompression_bomb_is_read_in_pieces_up_to_the_limit(kind: str) -> None:
    bomb = PACK[kind](b"\n" * (32 << 20))
    reader = BlockReader(Source("x", data=bomb), block_size=1 << 16, context=1024, limit=1 << 20)
    for block in reader:
        assert len(block.data) <= (1 << 16) + 3 * 1024
    assert reader.bytes_read == 1 << 20
    assert not reader.complete


def test_a_missing_zstd_decoder_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    import triage.sources.inflate as inflate

    def no_module(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(inflate, "import_module", no_module)
    reader = BlockReader(Source("x", data=PACK["zst"](TEXT)))
    assert list(reader) == []
    assert not reader.complete
    assert reader.note is not None
    assert "zstd" in reader.note


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_utf16_is_read_as_utf8(encoding: str, packed: bool) -> None:
    text = "RuntimeError: CUDA error – Grüße\r\n" * 500
    data = text.encode(encoding)
    reader = BlockReader(
        Source("x", data=gzip.compress(data) if packed else data), block_size=100, context=33
    )
    check(list(reader), text.encode(), 33)
    assert reader.lines == 500


def test_broken_utf16_is_replaced() -> None:
    data = b"\xff\xfe" + "ok\n".encode("utf-16-le") + b"\x00\xd8" + "end\n".encode("utf-16-le") + b"x"
    assert BlockReader(Source("x", data=data)).read(100).decode() == "ok\n\ufffdend\n\ufffd"


@pytest.mark.parametrize(
    "data", [b"\0" * 5000, b"ok\n" + b"\0" * 5000 + b"late\n", b"\x80\x02}q\x00(X\x07\0\0\0"]
)
def test_nul_bytes_and_binary_pass_unchanged(data: bytes) -> None:
    assert BlockReader(Source("x", data=data)).read(1 << 20) == data


def test_crlf_and_progress_bars_are_left_alone() -> None:
    data = b"10%\r20%\r30%\r\ndone\r\n"
    reader = BlockReader(Source("x", data=data))
    assert reader.read(100) == data
    assert reader.lines == 2


def test_a_huge_line_is_cut_into_bounded_blocks() -> None:
    data = b"x" * 100_000 + b"\nnext"
    found = list(BlockReader(Source("x", stream=io.BytesIO(data)), block_size=1000, context=50))
    check(found, data, 50)
    assert max(len(block.data) for block in found) <= 1000 + 3 * 50
    assert found[-1].line == 1 or found[-1].offset > 100_000


def test_a_vanished_file_is_a_note(tmp_path: Path) -> None:
    reader = BlockReader(Source("gone.log", path=str(tmp_path / "gone.log")))
    assert reader.head == b""
    assert list(reader) == []
    assert not reader.complete
    assert reader.note is not None
    assert "vanished" in reader.note


@pytest.mark.parametrize("path", ["nul\0byte", "."])
def test_what_cannot_be_opened_is_a_note(path: str) -> None:
    reader = BlockReader(Source("x", path=path))
    assert list(reader) == []
    assert not reader.complete
    assert reader.note


def test_a_file_that_is_unlinked_while_open_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(TEXT)
    reader = BlockReader(Source("x", path=str(path)), block_size=1000, context=10)
    found = [next(iter(reader))]
    path.unlink()
    found.extend(reader)
    check(found, TEXT, 10)


def test_a_file_that_grows_comes_to_an_end(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(TEXT)
    reader = BlockReader(Source("x", path=str(path)), block_size=1000, context=10)
    count = 0
    with path.open("ab") as writer:
        for _block in reader:
            writer.write(TEXT[:2000])
            writer.flush()
            count += 1
            assert count < 1000
    assert reader.complete
    assert reader.bytes_read > len(TEXT)


def test_a_file_that_shrinks_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(TEXT)
    reader = BlockReader(Source("x", path=str(path)), block_size=1000, context=10)
    first = next(iter(reader))
    os.truncate(path, 3000)
    rest = list(reader)
    assert regions([first, *rest]) == TEXT[:3000]
    assert not reader.complete
    assert reader.note is not None
    assert "shorter" in reader.note


def test_a_pipe_is_read_as_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    found = list(BlockReader(Source("pipe", path=str(path)), block_size=1000, context=10))
    writer.join()
    check(found, TEXT, 10)


class Failing:
    """A stream that breaks after some bytes."""

    def __init__(self, data: bytes, error: Exception) -> None:
        self._stream = io.BytesIO(data)
        self._error = error

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        if not data:
            raise self._error
        return data


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), EOFError(), RuntimeError("lost")])
def test_a_read_error_keeps_what_was_read(error: Exception) -> None:
    data = TEXT * 3
    reader = BlockReader(Source("x", stream=Failing(data, error)), block_size=1000, context=10)
    assert regions(list(reader)) == data
    assert not reader.complete
    assert reader.note


def test_a_text_stream_is_misuse() -> None:
    with pytest.raises(InputError, match="binary"):
        _ = BlockReader(Source("x", stream=io.StringIO("text"))).head  # type: ignore[arg-type]
    with pytest.raises(InputError, match="path"):
        _ = BlockReader(Source("x")).head


@pytest.mark.parametrize("sizes", [{"block_size": 0}, {"context": -1}, {"limit": -1}])
def test_senseless_sizes_are_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must"):
        BlockReader(Source("x", data=b""), **sizes)


def test_stopping_early_closes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(TEXT)
    with BlockReader(Source("x", path=str(path)), block_size=100) as reader:
        next(iter(reader))
    assert list(reader) == []
    assert open_head(Source("x", path=str(path))) == TEXT[:HEAD_SIZE]
