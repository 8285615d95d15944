"""Candidate causes: findings of cause rules, verdicts of the ledger, unknown exceptions, deaths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from triage.diagnosis.causes.unclaimed import exceptions
from triage.diagnosis.heeded import by_source, inside
from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.ledger import ORDERLY, Ledger, manner
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.ranks.launchers import by_launcher
from triage.diagnosis.words.hearsay import heard
from triage.model import Value
from triage.scan.lazy import compiled

_LAUNCHERS = (
    r"/torch/distributed/(?:run|launch|launcher/|elastic/(?:agent|multiprocessing))|/accelerate/commands/"
    r"|/deepspeed/launcher/|/bin/(?:torchrun|accelerate|deepspeed)$"
)
"""Where the frames of a launcher are: its traceback broke off if that is all that is known."""
TELLING = (
    "collective-timeout", "store-timeout", "oom-message", "cuda-error", "external-stop", "carrier", "peer-loss",
)  # fmt: skip
"""Tags of symptoms that tell what kind of failure it was, closest to a cause first."""
WATCHDOG_ENDS = ("torch.watchdog-terminated", "torch.watchdog-messenger")
"""What torch's watchdog says when it ends its process."""
MAX_ORDERED = 256
"""Findings of one rule of which the earliest is looked for."""


@dataclass(slots=True, eq=False, repr=False)
class Candidate:
    """One possible cause: all findings of one rule, and what speaks for and against it."""

    items: list[Item]
    score: float = 0.0
    reasons: list[str] = field(default_factory=list)
    explained_by: Candidate | None = None
    why_explained: str = ""
    survived: Item | None = None
    caught: bool = False
    """Whether it was survived because something in the program catches it, each time."""
    explains: list[Item] = field(default_factory=list)
    rivals: list[Candidate] = field(default_factory=list)
    """Others of its kind, on other ranks, of which nothing tells whether they came first."""
    led_to: list[Candidate] = field(default_factory=list)
    """Other candidates that this one explains."""
    foretold_by: list[Candidate] = field(default_factory=list)
    """Advisories, weaker than this one, that say that they can lead to it and came before it."""

    @property
    def lead(self) -> Item:
        """The finding that stands for the candidate: the earliest that is known to be."""
        return self.items[0]

    @property
    def rule_id(self) -> str:
        """The rule behind it."""
        return self.lead.rule.id

    @property
    def of_ledger(self) -> bool:
        """Whether ranks were compared to conclude it, rather than a line stating it."""
        return self.lead.about_a_rank

    @property
    def advisory(self) -> bool:
        """Whether it only deserves attention, unless something failed that it can lead to."""
        return "advisory" in self.lead.rule.tags and not self.lead.finding.raised

    @property
    def doubtful(self) -> bool:
        """Whether a failure that nothing else explains should rather speak for itself."""
        return self.advisory and self.score < 0.5

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that the findings blame, or that wrote them."""
        found: list[int] = []
        for item in self.items:
            for rank in blamed(item):
                if rank not in found:
                    found.append(rank)
        return tuple(found)


def blamed(item: Item) -> tuple[int, ...]:
    """The ranks that one finding blames: the fields its rule names, else its writer."""
    rule = item.rule
    if rule.origin in {"job", "node"} and not rule.origin_fields:
        return ()
    for name in ("ranks", "rank"):
        if name in rule.origin_fields:
            return item.ranks(rule.origin_fields[name])
    if any(k in rule.origin_fields for k in ("host", "pci", "uuid")):
        return ()  # another place than the writer's is to blame
    return () if item.rank is None else (item.rank,)


def collect(job: Job, ledger: Ledger, verdicts: list[Item]) -> list[Candidate]:
    """Every candidate cause of the job."""
    grouped: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    ended = {i.rank for rule in WATCHDOG_ENDS for i in job.of_rule(rule)} - {None}
    if not any(job.of_tag(tag) for tag in TELLING):
        ended = set()  # nothing else is known of the failure
    for item in job.items:
        if item.rule.id == "python.aborted" and item.rank in ended:
            continue  # its own watchdog called abort(), and said so
        if item.rule.role == "cause" and not item.concluded:
            item = heard(job, item)
            grouped[(item.rule.id, item.text("xid") or "")].append(item)
    died = {rank for rank, end in ledger.exits.items() if end.failed and end.signal not in ORDERLY}
    candidates = [Candidate(ordered(items, died)) for items in grouped.values()]
    candidates += [Candidate([item]) for item in verdicts]
    candidates += [Candidate([item]) for item in _deaths(job, ledger)]
    unclaimed = [ordered(items, died) for items in exceptions(job)]
    candidates += [Candidate(items) for items in unclaimed if not _launcher(items[0])]
    if not candidates and not any(job.of_tag(tag) for tag in TELLING):
        # a launcher's exception says that a process failed: it counts where nothing else says so
        candidates = [Candidate(items) for items in unclaimed]
    return candidates


def ordered(items: list[Item], died: Collection[int] = ()) -> list[Item]:
    """``items`` with the earliest first, as far as their order is known.

    Of those that nothing precedes the one that tells most leads, then one of a rank that ``died`` by
    itself, then that of the lowest rank: never the one whose file happened to be named first.
    """
    some = items[:MAX_ORDERED]
    earliest = [i for i in some if not any(compare(j.finding, i.finding) == -1 for j in some)]

    def worth(item: Item) -> tuple[bool, bool, bool, int]:
        rank = item.rank
        return (rank is not None, item.finding.raised, rank in died, -1 if rank is None else -rank)

    first = max(earliest or some, key=worth)
    return [first, *(i for i in items if i is not first)]


def _deaths(job: Job, ledger: Ledger) -> Iterator[Item]:
    """Processes that ended without a word, one finding per way of ending."""
    passed_on = [i for i in job.of_tag("wrapper") if i.finding.raised and i.rule.role == "symptom"]
    spoken = {
        i.rank
        for i in job.of_fact("exception")
        # who started a process and reports that it is gone is not the process
        if i.rank is not None or not (_launcher(i) or any(inside(wrapper, i) for wrapper in passed_on))
    } | {
        i.rank
        for i in job.items
        if i.rule.role == "cause" and i.rule.fact != "rank-exit" and not i.about_a_rank
    }
    wordless_files = _anonymous_words(job)
    own_watchdog = [
        i for i in (*job.of_tag("collective-timeout"), *job.of_rule("torch.watchdog-terminated"))
        # the loss of a peer is announced to the others in the same words
        if i.rule.fact != "dump-signal" or not {i.number("announcer"), i.rank} & {*ledger.bereft}
    ]  # fmt: skip
    timed_out = {i.rank for i in own_watchdog}
    bereft = {
        i.rank
        for rule in ("torch.nccl-async-error", "torch.watchdog-messenger") for i in job.of_rule(rule)
        if "remote process" in (i.text("what") or "")
    }  # fmt: skip
    heard = {
        i.rank for i in job.items
        if i.rule.fact not in {"rank-exit", "mention"} and not by_launcher(i) and not i.about_a_rank
    }  # fmt: skip
    first = next(
        (r for r, e in ledger.exits.items() if e.signal is None and e.failed and "first-failure" in e.item.rule.tags), None
    )  # fmt: skip
    stopped = by_source((*job.of_rule("torch.force-kill"), *job.of_fact("survivor")))
    grouped: dict[tuple[str | None, int | None], list[tuple[int, Item]]] = defaultdict(list)
    for rank, exit_ in sorted(ledger.exits.items()):
        pid = exit_.item.number("pid")
        # each node counts its processes by itself: where an agent says whom it ended, others' lists mean nothing
        own = stopped.get(exit_.item.finding.source)
        ended = own if own is not None else [i for told in stopped.values() for i in told]
        if not exit_.failed or (pid is not None and any(i.number("pid") == pid for i in ended)):
            continue
        if exit_.orderly and len(ledger.exits) > 1:
            continue
        if exit_.signal in {None, "SIGABRT"} and (ledger.waits_somewhere(rank) or rank in timed_out):
            continue  # its own watchdog ended it
        if exit_.signal == "SIGABRT" and first is not None and first != rank:
            continue  # its launcher saw another one leave with an error before: what lost it aborts
        if exit_.signal == "SIGABRT" and rank in bereft:
            continue  # its communicator lost a peer, upon which the watchdog aborts the process
        if exit_.signal == "SIGABRT" and rank not in heard and job.of_tag("collective-timeout"):
            continue  # others waited for all of their timeout: no launcher had seen a process end, so its watchdog did it
        if exit_.signal is None and any(compare(exit_.item.finding, w.finding) == 1 for w in own_watchdog):
            continue  # what it waited for in vain ended it, as it did the others
        if rank in spoken or (exit_.signal is None and wordless_files):
            continue
        code = None if exit_.signal else exit_.code
        grouped[(exit_.signal, code)].append((rank, exit_.item))
    for (signal, code), members in grouped.items():
        members.sort(key=lambda member: member[0] != first)
        fields: dict[str, Value] = {
            "ranks": tuple(r for r, _ in members),
            "signal": signal,
            "exit_code": code,
            **manner(signal),
        }
        witnesses = _witnesses(job, members)
        if signal == "SIGABRT" and len(members) == 1:
            witnesses += job.of_rule(_AT_EXIT)[:1]  # C++ says why it gave up, and names no rank
        alike = signal is None and len(members) == len(ledger.exits) > 1 and _at_once(members)
        yield verdict(job, _how(signal, code), fields, witnesses, rank=None if alike else members[0][0])
    if not ledger.exits and not spoken and not wordless_files:
        yield from _nameless_deaths(job)


def _at_once(members: Sequence[tuple[int, Item]]) -> bool:
    """Whether no clock tells which of them ended first: torchrun's table has whole seconds, other launchers none."""
    times = [item.text("time") or item.finding.time for _, item in members]
    return all(time == times[0] for time in times)


_AT_EXIT = "torch.terminate-at-exit"


def _how(signal: str | None, code: int | None) -> str:
    """The verdict on a death of which nothing but its status is known."""
    if signal:
        return "ledger.killed"
    return "ledger.timed-out" if code == TIMED_OUT else "ledger.exited"


TIMED_OUT = 124
"""What timeout(1) gives back when it has ended its command."""


def _witnesses(job: Job, members: Sequence[tuple[int, Item]]) -> list[Item]:
    """The lines of these deaths; where one only tells the process, also the line that gives its rank."""
    found: list[Item] = []
    for rank, item in members:
        found.append(item)
        if item.number("rank") is None:
            named = (i for i in job.of_fact("rank-exit") if i.number("rank") == rank and i is not item)
            found.extend(list(named)[:1])
    return found


def _anonymous_words(job: Job) -> bool:
    """Whether something unprefixed was said that may be any rank's last words.

    A launcher's summary quotes tracebacks, and those of peers that lost a connection say nothing.
    """
    summaries: dict[int, int] = {}
    for item in (*job.of_tag("launcher-report"), *job.of_rule("torch.child-failed-error")):
        at = summaries.setdefault(item.finding.source, item.finding.offset)
        summaries[item.finding.source] = min(at, item.finding.offset)
    losses = by_source(i for i in job.items if i.finding.raised and i.rule.role == "symptom")
    return any(
        i.rank is None
        and (i.rule.fact == "exception" or (i.rule.role == "cause" and i.finding.raised))
        and i.finding.offset < summaries.get(i.finding.source, 1 << 62)
        and not _launcher(i)
        and not any(
            inside(loss, i) and loss.rule.id not in i.rule.explains for loss in losses[i.finding.source]
        )
        for i in job.items
    )


def _launcher(item: Item) -> bool:
    """Whether an exception is that of a program that starts others, which one of them failed."""
    name = item.text("type") or ""
    if name:
        return name.endswith(("ChildFailedError", "SignalException", "CalledProcessError"))
    return compiled(_LAUNCHERS).search(item.text("raised_in") or "") is not None


_LOST_TO_NCCL = ("torch.nccl-remote-error", "torch.watchdog-messenger")
"""What the watchdog of a process says of a communicator that lost a peer."""


def _nameless_deaths(job: Job) -> Iterator[Item]:
    """Exit lines that name no rank: the most violent one stands for all."""
    from triage.diagnosis.ledger.ledger import signal_of

    known: list[tuple[bool, Item, str | None, int | None]] = []
    named = {(i.finding.source, i.finding.offset) for i in job.of_fact("rank-exit") if i.rule.role == "cause"}
    for item in job.of_fact("rank-exit"):
        if (item.finding.source, item.finding.offset) in named:
            continue  # another rule knows that line for the end of somebody
        code = item.number("exit_code")
        signal = signal_of(code, item.text("signal"))
        if not (signal or code):
            continue
        if signal in {None, "SIGABRT"} and any(
            compare(item.finding, w.finding) == 1 for w in job.of_tag("collective-timeout")
        ):
            continue  # the end of what had waited in vain
        if signal == "SIGABRT" and any(
            i.finding.source == item.finding.source and compare(i.finding, item.finding) == -1
            for rule in _LOST_TO_NCCL
            for i in job.of_rule(rule)
        ):
            continue  # its communicator lost a peer, upon which the watchdog aborts the process
        known.append((signal is not None and signal not in ORDERLY, item, signal, code))
    if not known:
        return
    known.sort(key=lambda entry: not entry[0])
    _, item, signal, code = known[0]
    fields: dict[str, Value] = {
        "ranks": None,
        "signal": signal,
        "exit_code": None if signal else code,
        **manner(signal),
    }
    yield verdict(job, _how(signal, code), fields, [item])
