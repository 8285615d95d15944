"""Whether a writer goes on after an error: as it did before, with work that it counts, or with what else it is there for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.order import after_all, last_of, later
from triage.diagnosis.survival.endings import Endings
from triage.model import Evidence
from triage.scan.lazy import compiled
from triage.scan.ordinary.routine import How
from triage.scan.ordinary.rows import IN_VAIN

ROUTINE_RULE = "progress.routine"
MAX_COMPLAINTS = 32
"""Complaints of other ranks that are looked after one by one."""
LEAVES = (
    r"(?i)\b(?:shutting down|application shutdown|finished server process|waiting for in-flight|draining"
    r"|gracefully exiting|terminating worker|cleaning up before exit|destruct(?:ed|or)?|destroy(?:ed|ing))\b"
)
"""What a server says on its way out."""
_LATER = frozenset(["load", "compile", "steady"])
"""What comes after all processes have found each other."""
LOGGED = frozenset(["error", "warning"])
"""Levels at which a program reports what it caught."""
_OF_A_DEVICE = frozenset({"cuda-error", "oom-message"})
"""Tags of errors after which a process can do no more on its device, whatever its server still answers."""
OF_A_CALL = "of-a-call"
"""Tag of what an engine says around an exception that ends a request or a call: it goes on, unless something else ends it."""
_OPTIONAL = frozenset(["ImportError", "ModuleNotFoundError"])
"""What programs catch as they begin, and do without."""


_WARNED = r"\.py:\d+: [A-Z]\w*Warning: "
"""How Python begins what a program has it warn of: whoever warns goes on."""
_MADE_DO = (
    r"(?i)\b(?:(?:does|do|did|could|can)(?:n['o]t| not)|cannot|out of memory|oom|fail(?:s|ed)?|error|caught|no room"
    r"|too (?:large|big|long|many))\b"
    r".{0,60}?\b(?:go(?:es|ing)? on|continu(?:e|es|ing)|retry(?:ing)?|fall(?:s|ing)? back|instead|skip(?:s|ped|ping)?|without|left out"
    r"|(?:halv|reduc|lower|shrink)(?:e|es|ed|ing)|(?:try|trying) (?:again|with))\b"
)
"""How a program says in one breath what did not work and what it does about it."""
_RIGHT_BELOW = 3
"""Lines below an exception that tell of it."""
_NAMED = "ledger.named-lagging"
_STEPS = 6
"""Lines below a complaint that are more than what was still in a buffer."""
_NEAR = 1 << 15
"""Bytes below a stop that may still be told of it."""


def hampered(job: Job, complaints: Iterable[Item]) -> bool:
    """Whether somebody complains of others that did not come, or went away, and does not go on with its work after that."""
    told = list(complaints)
    if len(told) > MAX_COMPLAINTS or job.resumed is None:
        return bool(told)
    for item in told:
        shown = item.finding.evidence[-1] if item.finding.evidence else None
        if shown is None or shown.line is None:
            return True
        if job.resumed(item.finding.source, item.finding.stream, shown.line, "raised") is None:
            return True
    return False


def uncaught(item: Item) -> bool:
    """Whether torch's excepthook printed it: then the exception ended the process."""
    finding = item.finding
    return finding.raised and finding.rank is not None and finding.stream.endswith(f"rank{finding.rank}")


@dataclass(slots=True, eq=False, repr=False)
class GoingOn:
    """What of a job goes on after what it complained of."""

    job: Job
    endings: Endings

    def died(self, item: Item) -> bool:
        """Whether an exception ended its process: torch's excepthook shows all of the stack, who catches one begins further down."""
        return uncaught(item) and self._how(item) != "caught"

    def before_output(self, item: Item) -> bool:
        """Whether an uncaught exception stands above all that its program says.

        Standard output that goes to a file is held back; what the interpreter says on standard error comes first then.
        """
        finding = item.finding
        around = self._around(item) if finding.raised and self._how(item) == "raised" else None
        shown = finding.evidence[-1].line if finding.evidence else None
        if around is None or self.job.opens is None or shown is None:
            return False
        if around.text("type") in _OPTIONAL or not self.job.opens(finding.source, shown):
            return False
        below = [] if self.job.said is None else self.job.said(finding.source, shown, shown + _RIGHT_BELOW)
        return not any(compiled(_MADE_DO).search(line) for line in below)

    def resumed(self, item: Item) -> Item | None:
        """A line with which the writer of an error goes on as before, if nothing else has gone wrong."""
        finding = item.finding
        shown = finding.evidence[-1] if finding.evidence else None
        if self.job.resumed is None or shown is None or shown.line is None or self.died(item):
            return None
        if self._ended_badly(item) or hampered(self.job, self.endings.told(*TROUBLE)):
            return None
        # an exception's message may be taken to go on too far; what a rule spans is all of it
        below = 0 if finding.raised else shown.text.count("\n")
        found = self.job.resumed(finding.source, finding.stream, shown.line + below, self._how(item))
        if found is not None and "external-stop" in item.rule.tags and "%|" in found.text:
            return None  # bars are drawn on for a moment while a scheduler ends a job
        return self._routine(item, found)

    def begun_again(self, item: Item) -> Item | None:
        """Work that is counted to the end of a log since somebody said, below an error, that it is tried again or done without.

        All that ended badly, and all complaints, came before it and stand in the same log.
        """
        finding = item.finding
        shown = finding.evidence[-1] if finding.evidence else None
        if self.job.afresh is None or shown is None or shown.line is None:
            return None
        found = self.job.afresh(finding.source, shown.line, finding.stream if self.died(item) else "")
        if found is None or found.line is None:
            return None
        for other in (*self.endings.bad(), *self.endings.told(*TROUBLE)):
            lines = [e.line for e in other.finding.evidence]
            if other.finding.source != finding.source or any(n is None or n > found.line for n in lines):
                return None
        return self._routine(item, found)

    def outlived(self, item: Item) -> Item | None:
        """A complaint of what is concluded from complaints, where everybody who complains goes on with its work."""
        complaints = list(self.endings.told(*TROUBLE))
        if not complaints or self.endings.badly() or hampered(self.job, complaints):
            return None
        told = {(e.path, e.line) for i in complaints for e in i.finding.evidence}
        of_them = any((e.path, e.line) in told for e in item.finding.evidence)
        return complaints[-1] if of_them else None

    def only_logged(self, item: Item) -> Item | None:
        """A step that was counted after all who were late at a barrier had been told of, where nobody raised that or ended badly.

        All ranks meet in each step: who was late has come.
        """
        named = [i for i in self.job.of_fact("lagging") if i.finding.source == item.finding.source]
        raised = any(i.finding.raised for i in (*named, *self.job.of_fact("exception")))
        if item.rule.id != _NAMED or not named or raised or len(self.job.sources) > 1 or self.endings.badly():
            return None
        below = self.job.lines_below(max(named, key=last_of).finding)
        if below is None or below < _STEPS:
            return None  # so much may have been in a buffer
        after = after_all(named)
        return next((step for step in self.job.of_fact("progress") if after(step)), None)

    def served(self, item: Item) -> Item | None:
        """Anything that the job did after an exception which a server says is of one request only."""
        around = self._around(item) if item.finding.raised else None
        if around is None or "_served" not in around.fields or self.died(item):
            return None
        again = self._answered_between(item) if item.finding.count > 1 else None
        return again or next(
            (
                sign for fact in ("answered", "progress", "alive") for sign in self.job.of_fact(fact)
                if sign.finding.source == item.finding.source and last_of(sign) > last_of(item)
                and not compiled(LEAVES).search(sign.finding.evidence[-1].text)
                and not compiled(IN_VAIN).search(sign.finding.evidence[-1].text)
            ),
            None,
        )  # fmt: skip

    def _answered_between(self, item: Item) -> Item | None:
        """An answer between two requests whose handler raised the same: the last of them was no different.

        Who streams says that it answers before it begins to: there must be more answers than failures.
        """
        signs = [s for s in self.job.of_fact("answered") if s.finding.source == item.finding.source]
        if sum(sign.finding.count for sign in signs) <= item.finding.count:
            return None
        return next((s for s in signs if item.finding.offset < last_of(s) < last_of(item)), None)

    def kept_serving(self, item: Item) -> Item | None:
        """What a server answered and generated after all that was complained of: what it lost, it lost for single requests.

        All ranks of an engine work on every answer, though one of them alone tells of the work.
        """
        troubles = [item, *self.endings.told(*TROUBLE)]
        raised = [trouble for trouble in troubles if trouble.finding.raised]
        if self.endings.badly() or not all(map(self._only_a_call, raised)):
            return None
        return self._computed_and_answered(item, troubles)

    def kept_answering(self, item: Item) -> Item | None:
        """The same after an exception that nobody logged, and that ended no process: of a task or a handler of the server.

        What ended a program begins with its first line, what ended a child with that of multiprocessing; and what a
        client raises beside the server comes out of somebody's own code.
        """
        finding = item.finding
        around = self._around(item) if finding.raised and finding.level is None else None
        if around is None or finding.stream or around.finding.rank is not None:
            return None
        ended = around.fields.get("_main") is True or around.fields.get("_process") is True
        foreign = around.text("file") is not None or around.text("raised_kind") == "user"
        if ended or foreign or not _OF_A_DEVICE.isdisjoint(item.rule.tags) or self.endings.badly():
            return None
        if any(OF_A_CALL not in wrapper.rule.tags for wrapper in self.job.of_tag("wrapper")):
            return None
        return self._computed_and_answered(item, [item, *self.endings.told(*TROUBLE)])

    def _computed_and_answered(self, item: Item, troubles: Sequence[Item]) -> Item | None:
        """What a server answered after all of ``troubles``, if it computed after them too."""
        after = after_all(troubles)
        signs = [
            next(
                (
                    s for s in self.job.of_fact(fact)
                    if s.finding.source == item.finding.source and after(s)
                    and compiled(IN_VAIN).search(s.finding.evidence[-1].text) is None
                ),
                None,
            )
            for fact in ("answered", "progress")
        ]  # fmt: skip
        return signs[0] if None not in signs else None

    def _only_a_call(self, item: Item) -> bool:
        """Whether a process of an engine logged what ended one call to it, and nothing above it failed for that.

        Who puts its coordinates before its lines need not tell their levels.
        """
        return (
            (item.finding.level in LOGGED or (item.finding.level is None and bool(item.finding.labels)))
            and _OF_A_DEVICE.isdisjoint(item.rule.tags)
            and all(OF_A_CALL in wrapper.rule.tags for wrapper in self.job.of_tag("wrapper"))
        )

    def replaced(self, item: Item) -> Item | None:
        """An answer of a service since its controller had another replica in the place of one that it lost.

        All that ended badly, and all complaints, came before that replica and stand in the same log.
        """
        here = item.finding.source
        ups = [last_of(up) for up in self.job.of_fact("replica-up") if up.finding.source == here]
        if not ups:
            return None
        troubles = [item, *self.endings.bad(), *self.endings.told(*TROUBLE)]
        if any(t.finding.source != here or last_of(t) >= max(ups) for t in troubles):
            return None
        answers = (a for a in self.job.of_fact("answered") if a.finding.source == here)
        return next((a for a in answers if last_of(a) > max(ups)), None)

    def came_up(self, item: Item) -> Item | None:
        """The end of loading, or steps, after a complaint about the beginning that nobody raised: the beginning was got over."""
        if item.rule.phase != "bootstrap" or item.finding.raised:
            return None
        here = item.finding.source
        loaded = (end for end in self.job.of_fact("phase-end") if end.rule.phase in _LATER)
        steps = () if self.endings.badly() else self.job.of_fact("progress")
        found = next((s for s in (*loaded, *steps) if s.finding.source == here and later(s, item)), None)
        return found or self._beside(item)

    def _beside(self, item: Item) -> Item | None:
        """Work that is counted to the ends of all other logs, where nobody ended badly or misses anybody: it was begun, then."""
        others = [at for at in range(len(self.job.sources)) if at != item.finding.source]
        if self.job.began is None or not others or self.endings.badly() or self.endings.troubled():
            return None
        ends = [self.job.began(at, 0) for at in others]
        return None if None in ends else self._routine(item, ends[-1])

    def without_peer(self, item: Item) -> Item | None:
        """Work that is counted to the end of the log after one rank lost another: ranks that work together can do so only without it."""
        finding = item.finding
        shown = finding.evidence[-1] if finding.evidence else None
        if self.job.began is None or shown is None or shown.line is None:
            return None
        if "peer-loss" not in item.rule.tags or self.endings.badly() or not finding.stream:
            return None
        return self._routine(item, self.job.began(finding.source, shown.line))

    def _routine(self, item: Item, found: Evidence | None) -> Item | None:
        """The line ``found``, with which the writer of ``item`` goes on."""
        rule = self.job.rules.get(ROUTINE_RULE)
        if found is None or rule is None:
            return None
        told = replace(item.finding, rule_id=ROUTINE_RULE, fields={}, evidence=(found,), raised=False)
        return Item(told, rule)

    def _how(self, item: Item) -> How:
        """How an error was told, as far as that shows whether it ended anything."""
        if not item.finding.raised:
            said = item.finding.evidence[0].text if item.finding.evidence else ""
            return "alarm" if compiled(_WARNED).search(said) else "printed"
        around = self._around(item)
        # who has a logger say it has caught it
        logged = {item.finding.level, around.finding.level if around is not None else None} & LOGGED
        return (
            "caught" if logged or (around is not None and around.fields.get("_caught") is True) else "raised"
        )

    def _around(self, item: Item) -> Item | None:
        """The exception in whose traceback a rule's finding lies, or that it is."""
        if item.rule.fact == "exception":
            return item
        return next((e for e in self.job.of_fact("exception") if inside(item, e)), None)

    def _ended_badly(self, item: Item) -> bool:
        """Whether a process of the job was seen to end badly; where its scheduler stopped all of it, after that."""
        if "external-stop" not in item.rule.tags or not (item.text("what") or "").startswith("JOB "):
            return self.endings.badly()
        return any(
            end.finding.source != item.finding.source or last_of(end) - last_of(item) > _NEAR
            for end in self.endings.bad()
        )
