"""The chain from paths to a diagnosis: discover, read, scan, diagnose.

Everything else (the command line, hooks, services) is a thin caller of :class:`Engine`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from triage.diagnosis import Run
from triage.diagnosis import diagnose as judge
from triage.errors import UsageError
from triage.model import Diagnosis, Finding, Source, SourceReport
from triage.readers import recognise
from triage.reading import Gatherer
from triage.reading.cores import cores
from triage.rules.loader import RuleSet, load_rules
from triage.scan.ends import Ends
from triage.scan.scanner import THREADS, Scanner
from triage.sources import BlockReader, discover, first_bytes
from triage.sources.ahead import held
from triage.sources.bundles import taken_apart
from triage.sources.given import BYTES_PER_SECOND, Input, arguments_of
from triage.sources.seams import parted

if TYPE_CHECKING:
    from triage.receipts import ReceiptInput


class Engine:
    """Rules compiled once, to diagnose many jobs with; safe to share between threads.

    Args:
        rules: directories with rules of your own, which are added to the built-in ones and win by id,
            or a loaded :class:`~triage.rules.loader.RuleSet`.
        threads: threads that scan large inputs, as many as there are cores and four at most when None; the result
            does not depend on their number.
        processes: processes that may read inputs of many megabytes; nor does it on theirs. They are forked,
            so leave it at 1 in a program that runs threads of its own.

    Raises:
        RuleError: when a rule file is wrong.
    """

    def __init__(
        self,
        rules: RuleSet | Iterable[str | os.PathLike[str]] = (),
        *,
        threads: int | None = None,
        processes: int = 1,
    ) -> None:
        self.rules = rules if isinstance(rules, RuleSet) else load_rules(rules)
        self._scanner = Scanner(self.rules, min(THREADS, cores()) if threads is None else threads)
        self._gatherer = Gatherer(self._scanner, processes)

    def diagnose(
        self,
        inputs: Input | Iterable[Input],
        *,
        receipt: ReceiptInput | None = None,
        budget: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Diagnosis:
        """The diagnosis of one job from everything that it left behind.

        Args:
            inputs: paths, globs, ``-`` for standard input, bytes, open streams, or sources; all are one
                job. A text goes through :func:`triage.text_source`. May be empty with a receipt.
            receipt: the run's compact record: a mapping, the path of a JSON file, or an object. Without it,
                a receipt among the inputs is taken for it.
            budget: bytes to read at most, over all sources; what lies beyond is noted.
            seconds: time to read for. It is spent as ``BYTES_PER_SECOND`` bytes a second, so that the
                same input is cut at the same place everywhere; where reading is slower than that, it
                stops between two blocks when the time is up, and a note says how much was read.
            progress: called with the number of bytes of each stretch that has been read.

        Raises:
            InputError: when none of the inputs can be read.
            ReceiptError: when the receipt is none.
            UsageError: when an input is of a type that can't be read, or a budget is negative.
        """
        arguments = arguments_of(inputs)
        if not arguments and receipt is not None:
            return self.diagnose_sources(
                (), receipt=receipt, budget=budget, seconds=seconds, progress=progress
            )
        discovery = discover(arguments)
        return self.diagnose_sources(
            discovery.sources, receipt=receipt, budget=budget, seconds=seconds, progress=progress,
            notes=discovery.notes,
        )  # fmt: skip

    def diagnose_sources(
        self,
        sources: Sequence[Source],
        *,
        receipt: ReceiptInput | None = None,
        budget: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int], None] | None = None,
        notes: Sequence[str] = (),
    ) -> Diagnosis:
        """As :meth:`diagnose`, for sources that have been discovered already."""
        if (budget is not None and budget < 0) or (seconds is not None and not seconds >= 0):
            raise UsageError("a budget can't be negative")
        if seconds is None and budget is None:  # reading a pipe takes as long as somebody writes to it
            sources, seams = parted(taken_apart(held(sources)), recognise)
            notes = [*notes, *seams]
        record: dict[str, Any] | None = None
        reports: list[SourceReport] = []
        if receipt is not None:
            from triage.receipts import load_receipt

            record = load_receipt(receipt)
        elif any(first_bytes(source).lstrip()[:1] == b"{" for source in sources):
            from triage.receipts.among import taken_from

            record, sources, reports, more = taken_from(sources)
            notes = [*notes, *more]
        if record is not None:
            from triage.receipts.evidence import sources_of

            sources = (*sources, *sources_of(record))
        deadline: float | None = None
        if seconds is not None and seconds < 1e9:
            deadline = time.monotonic() + seconds
            budget = min(int(seconds * BYTES_PER_SECOND), 1 << 62 if budget is None else budget)
        gathered = self._gatherer.gather(sources, budget=budget, deadline=deadline, progress=progress)
        run = Run(
            rules=self.rules,
            sources=sources,
            findings=gathered.findings,
            reports=[*gathered.reports, *reports],  # those of sources by their indices
            receipt=record,
            notes=[*self.rules.notes, *notes, *gathered.notes],
            ends=Ends(gathered.tails, sources, gathered.findings, self.rules),
        )
        return judge(run)

    def findings(self, source: Source) -> tuple[Finding, ...]:
        """What the scan finds in one log, before it is judged."""
        with BlockReader(source, counting=False) as reader:
            return self._scanner.scan(source, 0, reader).findings()


def diagnose(
    inputs: Input | Iterable[Input],
    *,
    receipt: ReceiptInput | None = None,
    rules: RuleSet | Iterable[str | os.PathLike[str]] = (),
    budget: int | None = None,
    seconds: float | None = None,
) -> Diagnosis:
    """Diagnose one job with a fresh :class:`Engine`; see :meth:`Engine.diagnose`."""
    return Engine(rules).diagnose(inputs, receipt=receipt, budget=budget, seconds=seconds)
