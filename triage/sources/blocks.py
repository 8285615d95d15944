"""Cutting a source into blocks that overlap, and saying afterwards how the reading went."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from types import TracebackType

from triage.errors import InputError
from triage.model import Block, Source
from triage.sources.constants import BLOCK_SIZE, CONTEXT, HEAD_SIZE
from triage.sources.inflate import DecoderMissingError
from triage.sources.opening import FileWindow, Window, open_window, reason_of


class BlockReader:
    """The blocks of one source, once, in order.

    The regions ``[begin, end)`` of the blocks partition the source as it is after decompression and
    transcoding from UTF-16. Lines end at ``\\n`` alone: ``\\r\\n`` and the bare ``\\r`` of progress
    bars are left in the data for the scan to deal with. The last region may be longer than the
    others by ``context``. An empty source has no blocks. At most two blocks are held at a time,
    however long a line is.

    What goes wrong while reading never raises: the blocks come to an end and ``note`` says why.
    The counters are right once the last block has been handed out:

    * ``bytes_read``: bytes handed out so far, context not counted twice
    * ``lines``: lines in them, an unfinished last one included
    * ``complete``: True when the source was read to its end, and nothing of it was lost
    * ``note``: what went wrong, for a person, without the name of the source; else None
    """

    def __init__(
        self,
        source: Source,
        *,
        block_size: int = BLOCK_SIZE,
        context: int = CONTEXT,
        limit: int | None = None,
        counting: bool = True,
        span: tuple[int, int | None] = (0, None),
    ) -> None:
        """Read ``source`` in regions of ``block_size`` bytes, of which at most ``limit`` in all.

        ``span`` asks for the regions from one position up to another only (None: the end of the source);
        both are multiples of ``block_size``. The context reaches beyond.

        Without ``counting``, ``lines`` and the blocks' ``line`` stay 0: a scan that looks at the data
        anyway counts more cheaply.

        Raises:
            ValueError: when a size makes no sense.
        """
        if block_size < 1 or context < 0 or (limit is not None and limit < 0):
            raise ValueError("block_size must be positive, context and limit must not be negative")
        if any(at is not None and at % block_size for at in span):
            raise ValueError("a span is made of whole blocks")
        self.source = source
        self.bytes_read = 0
        self.lines = 0
        self.complete = False
        self.note: str | None = None
        self._block_size = block_size
        self._context = context
        self._limit = limit
        self._counting = counting
        self._span = span
        self._window: Window | None = None
        self._failed = False
        self._blocks: Generator[Block, None, None] = self._cut()

    @property
    def head(self) -> bytes:
        """The first 64 KiB, to be asked for before the first block. They are not consumed.

        Raises:
            InputError: when the source has no bytes to give: a text stream, neither path nor data.
        """
        return self._at(0, HEAD_SIZE)

    @property
    def plain_size(self) -> int | None:
        """Bytes of a source that can be read by position as it stands: a file, neither packed nor a pipe."""
        self._at(0, 1)
        return self._window.size if isinstance(self._window, FileWindow) else None

    def read(self, limit: int) -> bytes:
        """The whole source, at most ``limit`` bytes of it, instead of iterating over its blocks.

        The counters and ``note`` are set as after iterating.

        Raises:
            InputError: as for :attr:`head`.
        """
        self._limit = limit if self._limit is None else min(limit, self._limit)
        return b"".join(block.data[block.begin : block.end] for block in self._blocks)

    def close(self) -> None:
        """Give back the file. Iterating to the end does it too."""
        self._blocks.close()
        if self._window is not None:
            self._window.close()

    def __enter__(self) -> BlockReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Block]:
        return self._blocks

    def _at(self, offset: int, size: int) -> bytes:
        """The bytes at ``offset``; after a failure none, with the reason in ``note``."""
        if self._failed:
            return b""
        try:
            if self._window is None:
                self._window = open_window(self.source)
        except InputError:
            raise
        except DecoderMissingError as error:
            self.note = str(error)
        except Exception as error:  # a stream may be anybody's
            self.note = reason_of(error)
        if self._window is None:
            self._failed = True
            return b""
        return self._window.at(offset, size)

    def _cut(self) -> Generator[Block, None, None]:
        first, stop = self._span
        begin = first  # where the region begins in the source, and the data
        start = max(0, begin - self._context)
        line = 1 if self._counting else 0
        # one byte of context at least, or a region couldn't be known to be the last
        reach = self._block_size + max(self._context, 1)
        ended = False
        try:
            while not ended:
                size = begin - start + reach
                data = self._at(start, size)
                ended = len(data) < size
                cut = self._limit is not None and start + len(data) > self._limit
                if cut and self._limit is not None:
                    data, ended = data[: self._limit - start], True
                end = len(data) if ended else begin - start + self._block_size
                if end <= begin - start:
                    self._finish(cut)
                    return
                self.bytes_read = start + end - first
                following = max(0, start + end - self._context)
                newlines = data.count(b"\n", 0, following - start) if self._counting else 0
                if self._counting:
                    self.lines = line - 1 + newlines
                if ended:
                    if self._counting:
                        self.lines += data.count(b"\n", following - start) + (not data.endswith(b"\n"))
                    self._finish(cut)
                yield Block(data, start, line, begin - start, end, ended)
                line += newlines
                start, begin = following, start + end
                if not ended and stop is not None and begin >= stop:
                    self.complete = self._window is not None and self._window.complete
                    self.note = self._window.note if self._window is not None else None
                    return
        finally:
            if self._window is not None:
                self._window.close()

    def _finish(self, cut: bool) -> None:
        if self._failed or self._window is None:
            return
        self.note = self._window.note
        self.complete = self._window.complete
        if cut:
            total = self._window.size
            whole = "" if total is None else f" of {total}"
            self.note = f"only the first {self._limit}{whole} bytes were read"
            self.complete = False


def blocks(
    source: Source, *, block_size: int = BLOCK_SIZE, context: int = CONTEXT, limit: int | None = None
) -> BlockReader:
    """The blocks of ``source``; see :class:`BlockReader`."""
    return BlockReader(source, block_size=block_size, context=context, limit=limit)


def open_head(source: Source) -> bytes:
    """The first 64 KiB of ``source``, decompressed; nothing when it can't be read.

    What is read of a stream is gone from it: for one, use :attr:`BlockReader.head`.
    """
    with BlockReader(source) as reader:
        return reader.head


def first_bytes(source: Source, size: int = 64) -> bytes:
    """The first bytes of bytes or a plain file, as they stand; nothing of what would be gone once looked at."""
    if source.data is not None:
        return source.data[:size]
    if source.path is None:
        return b""
    try:
        if not stat.S_ISREG(os.stat(source.path).st_mode):
            return b""
        with open(source.path, "rb", buffering=0) as stream:
            return stream.read(size)
    except (OSError, ValueError):
        return b""


def whole_of(source: Source, largest: int) -> bytes:
    """All bytes of bytes or a plain file, as they stand; none where these are more than ``largest``, or can't be read."""
    if source.data is not None:
        return source.data if len(source.data) <= largest else b""
    if source.path is None:
        return b""
    try:
        status = os.stat(source.path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            return b""  # whoever opens a named pipe takes it from who is to read it
        with open(source.path, "rb") as file:
            return file.read(largest)
    except (OSError, ValueError):
        return b""
