"""What single ranks said out of the ordinary before the others began to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from triage.diagnosis.job import TROUBLE, Item, Job, compare
from triage.diagnosis.run import Ends
from triage.scan.lazy import compiled

MAX_SHOWN = 2
BEHIND = "progress.behind"
DEVIANT = "progress.deviant"
OUTSIDE = "torch.rank-outside-group"
_FEWEST_LAST = 3
"""Ranks whose last words must be known to tell the odd ones."""
SILENT = frozenset(["ledger.never-entered", "ledger.never-entered-silent"])
"""Verdicts on ranks of which nothing more is known than what they said last."""
_FOR_TROUBLE = (
    r"(?i)\b(?:could not|couldn't|cannot|can't|unable to|failed to|giv(?:es|ing) up|gave up"
    r"|(?:re-?tries|attempts|tries) (?:\w+ )?(?:exhausted|used up|left|failed))\b"
)
"""How it is said that somebody leaves because of something that went wrong."""
_NO_MORE = (
    r"(?i)\b(?:(?:shutting down|leaving|exiting|stopping) (?:on|as (?:asked|planned|told)|by|because)\b"
    r"|early[ -]?stop\w*|(?:end|exit|finish|leav|quit|stopp?)(?:ing|s|ed)? (?:the |its |my )?(?:\w+ )?early"
    r"|stopp(?:ing|ed) (?:here|early|training|now|at|after)\b|stop(?:s|ping)? training"
    r"|(?:ran |run )?out of (?:data|batches|samples)|no more (?:data|batches|samples)"
    r"|(?:loader|dataset|iterator|shard|data|stream) (?:is )?(?:exhausted|(?:has )?ended|at its end|drained)"
    r"|training (?:is )?(?:over|finished|complete[d]?|done)|(?:finished|completed) training"
    r"|(?:all )?(?:epochs?|steps?|rounds?|sweeps?|passes|iterations?|batches) (?:done|finished|complete[d]?)"
    r"|end of (?:data|dataset|stream|training)"
    r"|(?:good)?bye|leaving (?:the |my |its )?(?:pool|group|job|loop|training|run|ring|pipeline|schedule|team|queue)"
    r"|nothing (?:(?:left |more |else )?to do|(?:left|more|else) (?:in|for|on|of)\b)|leaving(?: now| here| early)?\s*$"
    r"|(?:worker|learner|actor|trainer|replica|member|stage|shard|peer|client|thread|process|rank|run|job|work|task|program|script)"
    r" (?:is )?(?:done|finished|stopped|ended|complete[d]?|over)"
    r"|(?:quota|budget|allowance|share|ration) (?:(?:of|for) [\w ]{1,24} )?(?:is |was |has been )?"
    r"(?:reached|used up|exhausted|spent|met))\b"
    r"|(?:^|(?:event|msg|message)[\"']?[=:] ?[\"']?|^[^\n]{0,24}?\b(?:rank|worker|process)[ =:#-]?\d+\W{1,3})(?:all |we are |i am )?"
    r"(?:closing|exiting|leaving|finished|done|stopp(?:ed|ing)|ended|complete[d]?|shutting down|exit|end|stop|over|through)"
    r"(?: (?:now|cleanly|normally|here|early|down|well))?[.!]?(?:$|[\"'] ?[,}\w])"
)
"""How programs say that they are through."""
_ROUND_OVER = (
    r"(?i)\b(?:epoch|round|pass)[ :#]{0,2}\d+ (?:is |was )?(?:done|over|finished|complete[d]?)\b"
    r"|(?:^|[>\])|:] )\d+ \w{3,}s (?:done|finished|completed?)\b"
)
"""How they say that they are through with a part of it, which means as much where nobody else says so."""


def observed(job: Job, ends: Ends | None) -> list[Item]:
    """The odd lines of a job in which somebody waited in vain."""
    if ends is None:
        return []
    still = bool(idle(job, ends))
    if not (still or job.of_fact("stacks-printed") or any(_in_vain(item) for item in job.items)):
        # somebody raised an error and does not say who it is: the one that came no further than that
        nameless = any(item.finding.raised and item.finding.rank is None for item in job.items)
        # all raised the same: who had read or set something else than they before
        wanted = {*([BEHIND] if nameless else []), *([DEVIANT] if _raised_alike(job) else [])}
        found = ends.oddities({}) if wanted else ()
        return [Item(f, job.rules[f.rule_id]) for f in found if f.rule_id in wanted]
    until = first_trouble(job)
    if still and all(i.rule.id in _IN_CHORUS for i in job.items if _in_vain(i)):
        # that all but one ended in the same words need not mean that they complained
        until |= {i.finding.source: i.finding.offset for rule in _ENDED for i in job.of_rule(rule)}
    return [Item(f, job.rules[f.rule_id]) for f in ends.oddities(until) if f.rule_id in job.rules]


_ALIKE = 3
"""Processes that raise the same."""


def _raised_alike(job: Job) -> bool:
    """Whether several processes raised the same exception, and nobody another one."""
    raised = [i for i in job.of_fact("exception") if i.finding.raised]
    said = {(i.text("type"), i.text("function"), i.number("line")) for i in raised}
    return len(said) == 1 and sum(i.finding.count for i in raised) >= _ALIKE


def refused(job: Job, heard: int) -> int | None:
    """The one rank that said another number or setting than all others, where all that were ``heard`` raised the same."""
    ranks = {i.rank for i in job.of_fact("deviant")}
    times = sum(i.finding.count for i in job.of_fact("exception") if i.finding.raised)
    return ranks.pop() if len(ranks) == 1 and times >= heard and _raised_alike(job) else None


def complained(job: Job, ends: Ends | None) -> list[Item]:
    """The last words of those that waited in vain or lost another, in words of their own, and of one that says anything else."""
    if ends is None or job.of_fact("ended-well"):
        return []
    known = [
        (item.finding.source, shown)
        for item in job.items
        if _in_vain(item) and item.rule.role == "symptom"
        for shown in item.finding.evidence
    ]
    if not known and any(map(_in_vain, job.items)):
        return []
    return [Item(f, job.rules[f.rule_id]) for f in ends.chorus(known) if f.rule_id in job.rules]


def first_trouble(job: Job) -> dict[int, int]:
    """Where in each source somebody first waited in vain."""
    until: dict[int, int] = {}
    for item in job.items:
        if _in_vain(item) and (item.rule.role == "symptom" or _unlike(item)):
            at = item.finding.source
            until[at] = min(until.get(at, item.finding.offset), item.finding.offset)
    return until


def through(job: Job, ends: Ends | None) -> list[Item]:
    """The last words of a job in which something went wrong and all of whose processes say in the end that they are through."""
    if ends is None:
        return []
    wrong = any(i.finding.raised or i.rule.role in {"cause", "symptom"} for i in job.items)
    if not (wrong or ends.last_words or ends.alarms) or ends.in_concert is None:
        return []
    if ends.in_concert.rule_id not in job.rules:
        return []
    return [Item(ends.in_concert, job.rules[ends.in_concert.rule_id])]


def idle(job: Job, ends: Ends | None) -> list[Item]:
    """The last line of a job that a time limit, or a signal that nothing else accounts for, found standing still."""
    ended = any(job.of_rule(rule) for rule in _ENDED)
    if ends is None or not ended or ends.standstill is None or ends.standstill.rule_id not in job.rules:
        return []
    rule = job.rules[ends.standstill.rule_id]
    if rule.id in _BY_SOMEBODY and any(_accounts_for_it(item) for item in job.items):
        return []
    return [Item(ends.standstill, rule)]


def _accounts_for_it(item: Item) -> bool:
    """Whether something else tells why a job stood still, or why it was stopped: somebody waited, was lost or had ended."""
    caused = item.rule.role == "cause" and item.rule.id not in _ENDED
    ended = item.rule.fact == "rank-exit" and item.number("exit_code") not in _TOLD_TO_END
    return caused or ended or (_in_vain(item) and item.rule.id not in _IN_CHORUS)


_TOLD_TO_END = frozenset({-15, -2})
"""Exit codes of processes that were ended with the job."""
_ENDED = (
    "slurm.time-limit",
    "slurm.cancelled",
    "slurm.cancelled-from-outside",
    "torch.agent-death-signal",
    "torch.signal-exception",
)
_BY_SOMEBODY = frozenset({"torch.stood-still", "slurm.stood-still-until-cancelled"})
"""Verdicts on jobs that stood still until somebody ended them, which happens for many reasons."""
_IN_CHORUS = frozenset({"progress.lost-another", "progress.waited-in-vain", *_ENDED})
"""What is concluded of last words alone."""
STOOD_STILL = _BY_SOMEBODY | {"slurm.stood-still"}


def says_no_more(item: Item) -> bool:
    """Whether a line says that a program is through; who leaves with an error is not."""
    if item.finding.level in {"error", "fatal"}:
        return False
    words = item.text("words") or ""
    if compiled(_FOR_TROUBLE).search(words) is not None:
        return False
    alone = item.rule.fact == "oddity" or item.fields.get("_shared") is False
    return compiled(_NO_MORE).search(words) is not None or (
        alone and compiled(_ROUND_OVER).search(words) is not None
    )


def tells_that_a_part_is_over(words: str) -> bool:
    """Whether somebody is through with all, or with a part of it."""
    return compiled(_NO_MORE).search(words) is not None or compiled(_ROUND_OVER).search(words) is not None


def _in_vain(item: Item) -> bool:
    """Whether somebody waited for others, lost them or met what does not fit its own call."""
    return not set(TROUBLE).isdisjoint(item.rule.tags) or _unlike(item)


def _unlike(item: Item) -> bool:
    if item.rule.fact in {"fingerprint", "left-first"}:
        return True
    return item.rule.role == "cause" and item.rule.category == "collective-desync" and not item.concluded


def suspect(job: Job, among: Collection[int]) -> int | None:
    """The one rank of ``among`` that said something out of the ordinary, None where several or none did."""
    outside = _outside(job, among)
    if outside is not None:
        return outside
    differing = deviant(job)
    if differing is not None and differing.rank in among:
        return differing.rank
    odd = [item for item in job.of_fact("oddity") if item.rank in among]
    if any(_served_on(job, item) for item in odd):
        odd = [item for item in odd if not _served_on(job, item)]
        if not odd:
            return None  # whoever speaks for all ranks of a server says alone what it sets up
    ranks = {item.rank for item in odd}
    speakers = ranks | {item.rank for item in job.of_fact("last-line") if item.rank is not None}
    if len(speakers) < 2:
        return None  # where one rank does the talking, what it says is nothing out of its ordinary
    if ranks:
        return ranks.pop() if len(ranks) == 1 else None
    apart = last_apart(job, among)
    return _of_two(job, among) if apart is None else apart


def _served_on(job: Job, item: Item) -> bool:
    """Whether the rank that said it told of a batch later: each one takes all ranks of the server."""
    batches = [b for b in job.of_rule(_BATCH) if b.rank is not None and b.rank == item.rank]
    return any(compare(b.at_last, item.finding) == 1 for b in batches)


_BATCH = "sglang.batch"


def _of_two(job: Job, among: Collection[int]) -> int | None:
    """Of two ranks the one whose last words it said once and the other never, who was last heard as both are always."""
    last = {i.rank: i for i in job.of_fact("last-line") if i.rank in among}
    if len(among) != 2 or last.keys() != set(among):
        return None
    own = [rank for rank, item in last.items() if item.fields.get("_once") is True]
    usual = [rank for rank, item in last.items() if item.fields.get("_shared") is True]
    return own[0] if len(own) == 1 and len(usual) == 1 and own != usual else None


def left_behind(job: Job) -> Item | None:
    """The last line of the one rank that did not come as far as all others."""
    return next((item for item in job.of_rule(BEHIND) if item.rank is not None), None)


def deviant(job: Job, like: str = "") -> Item | None:
    """The line by which one rank differs from all others, of those that ``like`` is found in; None where several ranks do."""
    odd = [
        item for item in job.of_fact("deviant") if compiled(like).search(item.text("words") or "") is not None
    ]
    odd = [
        item for item in odd if item.rank is not None
    ] or odd  # a launcher differs from its ranks by nature
    return odd[0] if len({item.rank for item in odd}) == 1 and odd[0].rank is not None else None


def _outside(job: Job, among: Collection[int]) -> int | None:
    """The one rank that called for a group that it is not in: those who are in it wait for somebody."""
    callers = {item.number("caller") for item in job.of_rule(OUTSIDE)}
    caller = callers.pop() if len(callers) == 1 else None
    return caller if caller in among else None


def last_apart(job: Job, among: Collection[int]) -> int | None:
    """The one rank that was last heard of elsewhere than all others."""
    outside = _outside(job, among)
    if outside is not None:
        return outside
    behind = left_behind(job)
    if behind is not None and behind.rank in among:
        return behind.rank
    return _alone_at_last(job, among)


def _alone_at_last(job: Job, among: Collection[int]) -> int | None:
    """The rank whose last words are of its own, where those of all others are of one wording."""
    last: dict[int, str] = {}
    shared: dict[int, bool] = {}
    for item in sorted(job.of_fact("last-line"), key=lambda i: i.finding.offset):
        if item.rank in among and item.rank is not None:
            shared[item.rank] = item.fields.get("_shared") is True
            last[item.rank] = compiled(r"\d[\d.,:e+-]*").sub("#", (item.text("words") or "").lower())
    wordings = Counter(last.values())
    if len(last) < _FEWEST_LAST or len(wordings) != 2 or set(last) != set(among):
        return None
    (_, most), (odd, once) = wordings.most_common()
    rank = next(rank for rank, words in last.items() if words == odd)
    # the first rank often says what the others leave to it; not so where they have said the same before
    return rank if (rank or shared[rank]) and once == 1 and most > 1 else None


def said_alone(job: Job, ranks: Collection[int]) -> int | None:
    """The one of ``ranks`` that said anything out of the ordinary, where the ordinary of the others is known."""
    odd = {i.rank for i in job.of_fact("oddity")} & set(ranks)
    usual = {i.rank for i in job.of_fact("last-line") if i.fields.get("_shared") is True} & set(ranks)
    return odd.pop() if len(odd) == 1 and usual - odd else None


def only_odd(job: Job) -> int | None:
    """The one rank that said anything out of the ordinary."""
    ranks = {i.rank for i in job.of_fact("oddity")} - {None}  # launchers are no ranks
    return ranks.pop() if len(ranks) == 1 else None


def shown(job: Job, verdicts: Iterable[Item]) -> list[Item]:
    """The verdicts, each with what the rank that it blames said last out of the ordinary."""
    return [_with_words(job, item) for item in verdicts]


def with_words_of_ranks(job: Job) -> list[Item]:
    """The items of a job, those by which ranks' calls do not fit each other with what the rank at fault said."""
    return [_with_words(job, item) if _to_be_told(item) else item for item in job.items]


def _telling(item: Item) -> bool:
    """Whether a line that nobody in particular said last tells why somebody is missing."""
    return says_no_more(item) or item.finding.level == "warning"


def _to_be_told(item: Item) -> bool:
    if item.rule.role != "cause":
        return False
    return item.reader == "flight-recorder" or _unlike(item) or item.rule.category == "straggler-or-hang"


def _with_words(job: Job, item: Item) -> Item:
    rank = None if _unlike(item) and item.rule.origin == "job" else item.rank  # who meets it is not who erred
    told = [*job.of_fact("oddity"), *job.of_fact("deviant")]
    odd = [o for o in told if o.rank is None or rank is None or o.rank == rank]
    own = [o for o in odd if o.rank is not None and o.rank == rank] or odd
    last = job.of_fact("last-line")
    if rank is not None and not own:
        own = [o for o in last if o.rank == rank] or [o for o in last if o.rank is None and _telling(o)]
    if (
        rank is None
        and not own
        and _unlike(item)
        and len(last) == 1
        and last[0].fields.get("_shared") is not True
    ):
        own = list(last)  # one alone had come so far, or elsewhere, when calls did not fit each other
    if len(own) > 2 * MAX_SHOWN:
        return item
    silent = [o for o in last if rank is not None and o.rank == rank and item.rule.id in SILENT]
    lines = [
        e for o in [*own[-MAX_SHOWN:], *(o for o in silent[-1:] if o not in own)] for e in o.finding.evidence
    ]
    if not lines:
        return item
    first, *others = item.finding.evidence
    evidence = (first, *(e for e in lines if e != first), *(e for e in others if e not in lines))
    return Item(replace(item.finding, evidence=evidence), item.rule)
