"""Reading in several processes: Python runs one thread at a time, and large inputs wait for it.

The processes are forked, so that they share the compiled rules; what they read comes back as parts. A
process that dies (for want of memory, say) costs nothing but time: this one reads on in its place.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from triage.model import Source
from triage.reading.cores import cores
from triage.reading.part import Part, Span, read_part
from triage.scan.scanner import THREADS, Scanner

_scanner: Scanner | None = None


def read_parts(
    scanner: Scanner,
    plan: Sequence[tuple[Source, list[Span]]],
    processes: int,
    progress: Callable[[int], None] | None,
) -> Iterator[Part]:
    """The parts of all sources in order; streams and bytes are read by this process."""
    scanner.prepare()
    threads = max(1, min(THREADS, cores() // processes))
    units = [(index, source, span) for index, (source, spans) in enumerate(plan) for span in spans]
    with ProcessPoolExecutor(
        min(processes, len(units)), multiprocessing.get_context("fork"), _adopt, (scanner, threads)
    ) as pool:
        futures: list[Future[Part] | None] = [
            pool.submit(_read, source, index, span) if source.path is not None else None
            for index, source, span in units
        ]
        try:
            for number, (index, source, span) in enumerate(units):
                future, futures[number] = futures[number], None
                part = None
                if future is not None:
                    with contextlib.suppress(BrokenProcessPool):
                        part = future.result()
                if part is None:
                    yield read_part(scanner, source, index, span=span, progress=progress)
                    continue
                if progress is not None:
                    progress(part.report.bytes_read)
                yield part
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _adopt(scanner: Scanner, threads: int) -> None:
    """Begin as a forked process: the parent alone hears the keyboard."""
    global _scanner
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _scanner = scanner.with_threads(threads)


def _read(source: Source, index: int, span: Span) -> Part:
    assert _scanner is not None
    return read_part(_scanner, source, index, span=span)
