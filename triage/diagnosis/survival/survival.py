"""Which errors the job got over: progress or a good end after them shows that it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.order import after_all, last_of, later, unordered
from triage.diagnosis.survival.endings import OF_STOPS, Endings
from triage.diagnosis.survival.going_on import LEAVES, LOGGED, GoingOn
from triage.diagnosis.survival.interrupted import through
from triage.diagnosis.survival.products import for_nothing, in_words, product_lost, stopped_for_good
from triage.diagnosis.survival.strides import BAR_RULE, Strides, last_bar
from triage.scan.lazy import compiled
from triage.scan.ordinary.rows import IN_VAIN
from triage.scan.prefix import split_line

PREEMPTED = "slurm.preempted"


@dataclass(slots=True, eq=False, repr=False)
class Survival:
    """Decides whether the job went on after a finding."""

    job: Job
    ledger: Ledger
    endings: Endings = field(init=False)
    strides: Strides = field(init=False)
    going_on: GoingOn = field(init=False)

    def __post_init__(self) -> None:
        self.endings = Endings(self.job, self.ledger)
        self.strides = Strides(self.endings)
        self.going_on = GoingOn(self.job, self.endings)

    def proof(self, item: Item) -> Item | None:
        """The line that shows that the job went on after ``item``, None when there is none."""
        if _OUTCOME in item.rule.tags:
            return self.strides.after(item)
        found = None if for_nothing(self.job, item) else self._proof(item)
        if found is None or found.rule.fact == "ended-well" or not self.going_on.before_output(item):
            return found
        shown = split_line(found.finding.evidence[-1].text)[0]
        # loggers and bars write to standard error, as the interpreter does
        in_order = shown.time is not None or shown.level is not None or found.rule.id == BAR_RULE
        return found if in_order else None

    def _proof(self, item: Item) -> Item | None:
        if item.concluded:
            return (
                self._everybody(item) or self._closed(item) or self.going_on.outlived(item) or self.going_on.only_logged(item)
                or self.going_on.kept_serving(item)
                or (self.going_on.begun_again(item) if item.rank is None and not self.ledger.members else None)
            )  # fmt: skip
        for end in self.job.of_fact("ended-well"):
            if self.going_on.died(item) and end.rank != item.rank and "job-end" not in end.rule.tags:
                continue  # what one process prints at its end says nothing of another one that died
            if self._given_up_for_lost(item, end):
                continue
            if (
                later(end, item)
                or self._said_again(end, item)
                or self._told_to_end(end, item)
                or (
                    unordered(end, item)
                    and not self.endings.badly()
                    and not self.endings.resumed(end)
                    and not self._after_the_work(item)
                )
            ):
                return end
        stop = (
            self._stopped_for_another(item)
            or self._only_warned_of(item)
            or through(self.job, item, self.endings)
        )
        if stop is not None:
            return stop
        again = self.going_on.begun_again(item)
        if again is not None:
            return again
        rank = item.rank
        if rank is not None:
            finished = self.ledger.finished.get(rank)
            if finished is not None and later(finished, item):
                return finished
            if rank in self.ledger.exits and self.ledger.exits[rank].failed:
                return self._of_a_later_run(item)
        leaving = self._on_the_way_out(item)
        if leaving is not None:
            return leaving
        answer = next((a for a in self.job.of_fact("answered") if self._answered(a, item)), None)
        if answer is not None:
            return answer
        served = self.going_on.served(item)
        if served is not None:
            return served
        moved = self.strides.after(item)
        alive = moved or next((a for a in self.job.of_fact("alive") if self._lives(a, item)), None)
        return (
            alive
            or self.going_on.resumed(item)
            or self.going_on.without_peer(item)
            or self.going_on.came_up(item)
            or self.going_on.kept_serving(item)
            or self.going_on.kept_answering(item)
            or self.going_on.replaced(item)
            or self._passed_on(item)
            or self._as_before(item)
            or self._inner(item)
            or (self._everybody(item) if rank is None else None)
        )

    def _given_up_for_lost(self, item: Item, end: Item) -> bool:
        """Whether the program itself said that all of it had failed, took no step since, and a good end is told below.

        A script that looks at no exit status is content with anything.
        """
        if end.finding.source != item.finding.source or "job-end" in end.rule.tags:
            return False
        if in_words(end) and (
            self._ended_badly_before(item, end)
            or product_lost(self.job, item, end)
            or stopped_for_good(self.job, item, end)
        ):
            return True
        return any(
            other.finding.source == item.finding.source and other.finding.level in {"error", "fatal"}
            and any(compiled(_ALL_FAILED).search(e.text) for e in other.finding.evidence)
            and not any(
                last_of(step) > last_of(other)
                for step in self.job.of_fact("progress") if step.finding.source == item.finding.source
            )
            for other in self.job.items if other.rule.role == "cause" and last_of(other) < end.finding.offset
        )  # fmt: skip

    def _ended_badly_before(self, item: Item, end: Item) -> bool:
        """Whether a launcher saw processes end badly after an error, and nothing was begun or done from then to the good end."""
        log = item.finding.source
        bad = [
            last_of(b) for b in self.endings.told("launcher-report", "rank-exit")
            if b.finding.source == log and last_of(item) <= last_of(b) < end.finding.offset
        ]  # fmt: skip
        return bool(bad) and not any(
            other.finding.source == log and max(bad) < last_of(other) < end.finding.offset
            for fact in ("progress", "comm-init-start", "rendezvous", "begun", "alive")
            for other in self.job.of_fact(fact)
        )

    def _passed_on(self, item: Item) -> Item | None:
        """What shows that somebody got over an exception which repeats an error that native code only printed."""
        one = item.finding
        if one.raised or one.stream or one.level is not None or not one.evidence:
            return None
        words = " ".join(one.evidence[0].text.split())
        if len(words) < _TELLING:
            return None
        again = (
            other for other in self.job.items
            if other.finding.source == one.source and other.finding.raised and other.finding.level in LOGGED
            and one.offset < other.finding.offset < one.offset + _NEAR
            and any(words in " ".join(e.text.split()) for e in other.finding.evidence)
        )  # fmt: skip
        return next((proof for other in again if (proof := self.proof(other)) is not None), None)

    def _on_the_way_out(self, item: Item) -> Item | None:
        """The line in which a rank's interpreter ends with its group still up, before what NCCL said then."""
        if item.rank is None or not item.rule.id.startswith(_OF_NCCL) or item.finding.raised:
            return None
        if self.endings.badly():
            return None
        return next(
            (
                end for end in self.job.of_rule("torch.group-not-destroyed")
                if end.rank == item.rank and end.finding.source == item.finding.source
                and end.finding.offset < item.finding.offset
            ),
            None,
        )  # fmt: skip

    def _inner(self, item: Item) -> Item | None:
        """The line that shows that the job got over what an error only passes on, where all of that was got over."""
        finding = item.finding
        if "wrapper" not in item.rule.tags or finding.raised or finding.stream or finding.rank is not None:
            return None
        inner = [
            e for e in self.job.of_fact("exception")
            if e.finding.source == finding.source and e.finding.offset > finding.offset
        ]  # fmt: skip
        proofs = [self.proof(e) for e in inner]
        return proofs[-1] if proofs and None not in proofs else None

    def _as_before(self, item: Item) -> Item | None:
        """Progress between the times that somebody complained of one thing: the last time was no different."""
        finding = item.finding
        if finding.raised or finding.count < _AGAIN or not self.job.lines_below(finding):
            return None  # the log ends with it, or its end is not known
        if self.endings.badly() or self.endings.troubled():
            return None
        between = [
            p for p in self.job.of_fact("progress")
            if p.finding.source == finding.source and p.rank == item.rank
            and finding.offset < last_of(p) < last_of(item)
        ]  # fmt: skip
        return between[-1] if sum(p.finding.count for p in between) >= _AGAIN - 1 else None

    def caught(self, items: Sequence[Item]) -> Item | None:
        """A step of the job among exceptions that one process logs again and again: something in it catches them."""
        times: Counter[str] = Counter()
        for i in items:
            # what varies from one sample to the next, its words name
            if i.rank is None:
                times[i.finding.stream] += i.finding.count
        kept_on = any(count >= _AGAIN for count in times.values())
        logged = all(i.finding.level in LOGGED and i.finding.raised and i.finding.stream for i in items)
        if not kept_on or not logged:
            return None
        if not all(i.rule.id.startswith("unknown.") for i in items):
            return None  # what is known to end a job is no matter of course
        if self.endings.badly():
            return None
        first = min((i.finding for i in items), key=lambda f: (f.source, f.offset))
        steps = self.job.of_fact("progress")
        return next(
            (p for p in steps if p.finding.source == first.source and last_of(p) > first.offset), None
        )

    def _closed(self, item: Item) -> Item | None:
        """A good end of the whole job, further down in the log of what ended badly: a test that wanted it."""
        ends = [end for end in self.job.of_fact("ended-well") if "job-end" in end.rule.tags]
        return next(
            (
                end for end in ends
                if end.finding.source == item.finding.source
                and later(end, item)
                and not self.endings.resumed(end)
            ),
            None,
        )  # fmt: skip

    def _everybody(self, item: Item) -> Item | None:
        """A line that shows it where every rank of the job worked on after an error, whoever's it was."""
        members = self.ledger.members
        if len(members) < 2 or self.endings.badly():
            return None
        # what is concluded stands at the first of its lines, which may be an early one
        troubles = [item, *(i for tag in TROUBLE for i in self.job.of_tag(tag))] if item.concluded else [item]
        after = after_all(troubles)
        signs = [
            sign for fact in ("progress", "alive", "ended-well") for sign in self.job.of_fact(fact)
            if sign.rank is not None and after(sign)
        ]  # fmt: skip
        return signs[-1] if set(members) <= {sign.rank for sign in signs} else None

    def _lives(self, sign: Item, item: Item) -> bool:
        """An ordinary line of the same writer after its error; a writer without a name is anybody."""
        one, two = sign.finding, item.finding
        if one.source != two.source or not later(sign, item) or self._given_up(sign):
            return False
        if compiled(LEAVES).search(one.evidence[-1].text) or compiled(IN_VAIN).search(one.evidence[-1].text):
            # a server that has lost what did its work closes in order, or goes on and is asked for metrics still
            return False
        if one.rank is not None and one.rank == two.rank:
            return not self.going_on.died(item)
        if not one.stream and not two.stream and len(self.job.sources) > 1:
            # the only writer of a log of its own: what its logger reported and went on from
            return (
                two.raised
                and two.level in LOGGED
                and not self.endings.badly()
                and not self.endings.troubled()
            )
        if (
            not one.stream
            and not two.stream
            and two.level == "warning"
            and not two.raised
            and one.level is None
        ):
            # it was only warned of, and what the program was started for lies there
            return not self.endings.badly() and not self.endings.troubled()
        return bool(one.stream) and one.stream == two.stream

    def _answered(self, answer: Item, item: Item) -> bool:
        """Whether a server answered a request after an error that one of its processes logged.

        An error that nobody logged is one that ended a process: it may have been somebody else's than the server's.
        Who stops the server below its answer says nothing of what was before.
        """
        one, two = answer.finding, item.finding
        logged = two.level is not None or "_served" in two.fields
        if one.source != two.source or not logged or last_of(answer) <= last_of(item):
            return False
        return one.stream == two.stream and not self.endings.badly_but_stopped_below(answer)

    def _after_the_work(self, item: Item) -> bool:
        """Whether it ended what came after a full bar: nothing else stands between it and the end of its log."""
        finding = item.finding
        if not finding.raised or finding.level in LOGGED or finding.count > 1:
            return False
        here = [
            other
            for other in self.job.items
            if other.finding.source == finding.source and other.rule.role != "benign"
        ]
        end = item.number("_end") or finding.offset
        if any(last_of(other) > max(end, finding.offset) for other in here):
            return False
        last = last_bar(here)
        return last is not None and last.number("step") == last.number("total")

    def _given_up(self, sign: Item) -> bool:
        """Whether the same writer says later that it is over: a controller lives on while its replicas die."""
        one = sign.finding
        return any(
            bool(one.stream) and report.finding.stream == one.stream and last_of(report) > one.offset
            for report in self.job.of_tag("launcher-report")
            if report.rule.role == "symptom" and report.finding.source == one.source
        )

    def _stopped_for_another(self, item: Item) -> Item | None:
        """The line in which the scheduler ends a job that it finds at work, to make room for another one."""
        if item.rule.id == PREEMPTED or any(e.broke for e in self.ledger.exits.values()):
            return None
        if self.endings.troubled() or "external-stop" in item.rule.tags:
            return None
        stops = (i for i in self.job.of_tag("external-stop") if i.rule.id == PREEMPTED)
        return next((stop for stop in stops if later(stop, item)), None)

    def _only_warned_of(self, item: Item) -> Item | None:
        """A step of the job after an exception that its own process caught and warned of.

        It counts where all that ranks complained of came before it too, and nobody ended but by a stop from outside.
        """
        if not item.finding.raised or item.finding.level != "warning":
            return None
        if any(not OF_STOPS & set(end.rule.tags) for end in self.endings.bad()):
            return None
        after = after_all([item, *(i for tag in TROUBLE for i in self.job.of_tag(tag))])
        return next((step for step in self.job.of_fact("progress") if after(step)), None)

    def _of_a_later_run(self, item: Item) -> Item | None:
        """A step after the end of the only process was told: the log goes on with another run."""
        end = self.ledger.exits[item.rank].item if item.rank is not None else None
        if end is None or {*self.ledger.members, *self.ledger.seen, *self.ledger.exits} - {item.rank}:
            return None
        source = item.finding.source
        if end.finding.source != source or last_of(end) < last_of(item):
            return None
        return next(
            (
                step for step in self.job.of_fact("progress")
                if step.finding.source == source and step.finding.stream == item.finding.stream
                and step.rank in {None, item.rank} and last_of(step) > last_of(end)
            ),
            None,
        )  # fmt: skip

    def _said_again(self, end: Item, item: Item) -> bool:
        """Whether a good end that was said before an error was said once more after it: another run's."""
        return (
            len(self.job.sources) == 1
            and last_of(end) > last_of(item)
            and not self.endings.badly()
            and not self.endings.resumed(end)
        )

    def _told_to_end(self, end: Item, item: Item) -> bool:
        """Whether a worker that was ended by SIGTERM was no longer needed: the whole had come to its good end."""
        since = [
            other for fact in ("exception", "progress", "rendezvous", "begun") for other in self.job.of_fact(fact)
            if other.finding.offset > end.finding.offset
        ]  # fmt: skip
        return (
            item.rule.id == "ray.worker-died"
            and later(item, end)
            and all(_full(other) for other in since)
            and all(compiled(_SIGTERM).search(e.text) for e in item.finding.evidence)
        )


def _full(bar: Item) -> bool:
    """Whether a bar was drawn to its end."""
    step = bar.number("step")
    return bar.rule.fact == "progress" and step is not None and step == bar.number("total")


_SIGTERM = r"\breceives? a SIGTERM\b"
"""How Ray says that somebody told a worker to end."""
_ALL_FAILED = (
    r"(?i)(?:^|[^\w\s] ?|\s)(?:(?:fine-?tun|pre-?train|train)ing|the run|run|job|experiment|evaluation|inference|pipeline)"
    r" (?:has )?failed\b"
)
"""How a program says that all that it was to do failed."""
_OUTCOME = "outcome"
"""What is said of how a calculation came out: that its program leaves in order takes nothing of it back, another step does."""
_OF_NCCL = ("nccl.", "torch.nccl", "torch.watchdog")
"""What NCCL and those who watch over it say."""
_TELLING, _NEAR = 24, 1 << 15
"""Letters that are no coincidence, and bytes between an error and the exception that passes it on."""
_AGAIN = 3
