"""What the last lines of a log state, where no rule knows them: an exception without its traceback, or words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.causes.kinds import kind_of
from triage.diagnosis.causes.unclaimed import BUILTIN_ERRORS
from triage.diagnosis.job import Item, Job
from triage.diagnosis.words.missing import kind_of_file
from triage.diagnosis.words.speakers import speaker
from triage.diagnosis.words.trouble import category_of, trouble
from triage.diagnosis.words.wording import kind_of_words
from triage.model import Evidence, Finding, Value
from triage.rules.schema import Rule
from triage.scan.lazy import compiled, deferred
from triage.scan.prefix import split_line

_EXCEPTION = deferred(
    r"(?:^|[\s\].:])(?P<type>(?:(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\([\w.]+\))?|Exception(?=: )))(?:: (?P<message>.*)|\s*$)"
    r"|\braise (?P<raised>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception))\("
    # as Python shows the object itself
    r"|(?:^|[\s\].:])(?P<shown>[A-Z]\w*(?:Error|Exception))\((?:\d+, )?(?P<quoted>['\"].*)\)\s*$",
    re.S,
)
_SLIPS = {
    "NameError": r"\bname '\w+' is not defined\b",
    "AttributeError": r"'[\w.]+' object has no attribute '\w+'",
    "TypeError": (
        r"'[\w.]+' object (?:is not (?:callable|subscriptable|iterable)|does not support item assignment|cannot be interpreted)"
        r"|\b\w+\(\) (?:missing \d+ required|takes \d+ positional|got an unexpected keyword|got multiple values)"
        r"|\bunsupported operand type\(s\)|\bcan only concatenate str\b|\bindices must be integers\b"
    ),
    "IndexError": r"\b(?:list|tuple|string) (?:assignment )?index out of range\b",
    "UnboundLocalError": r"\blocal variable '\w+' (?:referenced before assignment|where it is not associated)",
}
"""What Python says of slips, in words that are always the same: programs that catch one print no more of it."""
_OF_LAUNCHERS = (
    r"(?i)\b(?:exit(?:ed|ing|s)?|return(?:ed)?|terminat\w+|abort\w*|kill\w*|cancel\w*|failed) \S{0,20} ?(?:code|status|signal|step|job)"
    r"|\b(?:exit|return)[ _]?code\b|\bsrun:|slurmstepd(?:-[\w.-]+)?: (?!error: (?!\*\*\*))"
    r"|\b(?:ChildFailedError|SignalException|CalledProcessError|SystemExit)\b"
)
"""What a launcher says of a process that ended."""
OF_WORDS = 0.5
"""How sure a kind of failure can be that the words of an exception tell, and no traceback."""
_OF_PROGRAMS = BUILTIN_ERRORS | {"NameError", "RuntimeError", "SyntaxError", "UnboundLocalError"}
"""Exceptions that, where no rule knows their message, are most often the program's own."""


_REFUSALS = frozenset({"AssertionError", "NotImplementedError", "ValueError"})
"""What an inference engine raises on a model, a setting or a combination that it does not take."""
_OF_ENGINES = (
    r"\((?:APIServer|EngineCore|VllmWorker|Worker_[TPD]P?\d)\w*(?: \w+)*(?: rank=\d+)? pid=\d+\)"
    r"|\[?\b(?:core|core_client|multiproc_executor|multiproc_worker_utils|async_llm|gpu_worker|gpu_model_runner|ray_distributed_executor)"
    r"\.py:\d+\]|^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: [DPE]P\d+)* TP\d+|\btext_generation_launcher: |\[TRT-LLM\]"
)
"""Processes of inference engines, by what they put before their lines."""


_SAID = {
    "auth-or-hub": "unknown.said-of-hub",
    "checkpoint": "unknown.said-of-checkpoint",
    "config": "unknown.said-by-settings",
    "cuda-kernel": "unknown.said-of-cuda",
    "data-loading": "unknown.said-of-data",
    "driver-or-version": "unknown.said-of-packages",
    "gpu-oom": "unknown.gpu-memory-words",
    "network-config": "unknown.said-by-network",
    "storage": "unknown.said-by-storage",
}
"""The rules for last words that speak of a kind of trouble, whoever says them."""
_WANTED = {**_SAID, "config": "unknown.said-of-settings"}
"""The rules for a file that could not be opened, by what it was wanted for."""


def stated_exception(job: Job, words: Sequence[tuple[int, Evidence]]) -> Candidate | None:
    """A candidate from an exception's line that stands without its traceback.

    What Python itself raises on a wrong index, operand or assertion is most probably the program's own.
    """
    for index, evidence in reversed(words):
        found = _EXCEPTION.search(evidence.text)
        if found is None and (slip := _slip(evidence.text)) is not None:
            said = " ".join(split_line(evidence.text)[1].split())[:300]
            return made(
                job,
                job.rules["unknown.stated"],
                {"type": slip, "message": said, "words": said},
                index,
                [evidence],
            )
        if found is None:
            continue
        if found["raised"] is not None and _claimed_below(job, index, evidence):
            continue
        name = found["type"] or found["shown"] or found["raised"]
        said = found["message"] or (found["quoted"] or "")[1:-1]
        message = " ".join(said.split())[:300]
        kind = kind_of(name, message) or category_of(message)
        if kind in {None, "user-code"} and compiled(_OF_ENGINES).search(evidence.text):
            # nobody's own program runs in there: it refuses a setting, or has a fault of its own
            kind = "config" if name in _REFUSALS else None
            rule = job.rules["unknown.config" if kind else "unknown.last-words"]
        elif kind in {None, "user-code"}:
            other = "unknown.stated" if kind or name in _OF_PROGRAMS else spoken(evidence)
            rule = job.rules[other]
        else:
            rule = job.rules[f"unknown.{kind}"]
        fields: dict[str, Value] = {
            "type": name,
            "message": message,
            "words": f"{name}: {message}".rstrip(" :"),
        }
        candidate = made(job, rule, fields, index, [evidence])
        if kind != kind_of(name, None):
            candidate.score = min(candidate.score, OF_WORDS)
        return candidate
    return None


def _slip(text: str) -> str | None:
    """The name of the slip of which a program prints only what Python says."""
    return next((name for name, words in _SLIPS.items() if compiled(words).search(text)), None)


def _claimed_below(job: Job, index: int, raising: Evidence) -> bool:
    """Whether the exception of a ``raise`` statement stands right below it, in the words of a known symptom."""
    at = raising.line or 0
    return any(
        item.rule.role == "symptom" and item.finding.source == index and at < (shown.line or 0) <= at + 4
        for item in job.items
        for shown in item.finding.evidence
    )


def last_words(job: Job, words: Sequence[tuple[int, Evidence]]) -> Candidate:
    """A candidate from the last lines that state an error nobody knows."""
    at = telling(words)
    index, evidence = words[at]
    fields: dict[str, Value] = {"words": " ".join(evidence.text.split())[:300].rstrip(" -")}
    around = [evidence, *(e for _, e in (words[at + 1 : at + 3] or words[max(0, at - 2) : at]))]
    return made(job, job.rules[spoken(evidence)], fields, index, around)


def telling(words: Sequence[tuple[int, Evidence]]) -> int:
    """Which of the last lines says most: the first that names a trouble, else one that names a crash, else the last.

    Of ranks that broke off in one log, the first began it where it said something else than those that followed.
    """
    kinds = [trouble_of(word) for word in words]
    named = [at for at, kind in enumerate(kinds) if kind not in {None, "crash"}]
    crashed = [at for at, kind in enumerate(kinds) if kind == "crash"]
    return (named or crashed or _begun(words) or [len(words) - 1])[0]


_FEWEST_FOLLOWERS = 2
"""Other ranks that end in the same words as each other."""


def _begun(words: Sequence[tuple[int, Evidence]]) -> list[int]:
    """The first of ``words``, where ranks said them as errors in one log and the later ones say the same of it."""
    split = [split_line(shown.text) for _, shown in words]
    ranks = [prefix.rank if prefix.level in {"error", "fatal"} else None for prefix, _ in split]
    if len({index for index, _ in words}) != 1 or None in ranks or len(set(ranks)) < len(ranks):
        return []
    wordings = [compiled(r"\d+").sub("", message) for _, message in split]
    return [0] if wordings[0] != wordings[-1] and wordings.count(wordings[-1]) >= _FEWEST_FOLLOWERS else []


_OF_SOURCE = deferred(
    r"(?<![\w:])(?:\.{0,2}/)?(?:[\w.@+-]+/)+[\w.@+-]+\.(?:c|cc|cpp|cu|cuh|h|hpp|py|rs|go):\d+"
)
"""A place in a program's own source: where that was built says nothing of what befell it."""


def spoken(evidence: Evidence) -> str:
    """The rule for last words, by the trouble that they name or the component that speaks them."""
    message = split_line(evidence.text)[1]
    named = trouble(message)
    if named == "file":  # what it was wanted for, its name tells
        return _WANTED.get(kind_of_file(message) or "", "unknown.said-of-storage")
    if named is not None:
        return f"unknown.said-of-{named}"
    kind = speaker(_OF_SOURCE.sub("", evidence.text))
    if kind:
        return f"unknown.said-by-{kind}"
    return _SAID.get(kind_of_words(message.strip()) or "", "unknown.last-words")


def made(
    job: Job, rule: Rule, fields: dict[str, Value], index: int, evidence: Sequence[Evidence]
) -> Candidate:
    """A candidate of ``rule`` from lines of the source ``index``: the decisive one, and what stands around it."""
    source = job.sources[index]
    prefix, _ = job.parts(index, evidence[0].text)
    if prefix.rank is not None and prefix.stream == f"task {prefix.rank}" and job.of_fact("launch-begins"):
        prefix = prefix._replace(rank=None)  # a launcher of several ranks speaks under the task's number
    finding = Finding(
        rule_id=rule.id, fields=fields, evidence=tuple(evidence), source=index, offset=1 << 60,
        rank=source.rank if prefix.rank is None else prefix.rank, host=prefix.host or source.host,
        local_rank=prefix.local_rank, pid=prefix.pid if prefix.host is None else None,
        stream=prefix.stream,
    )  # fmt: skip
    return Candidate([Item(finding, rule)], score=rule.confidence, reasons=["no rule knows any line"])


def tells(word: tuple[int, Evidence]) -> bool:
    """Whether a line tells more than that a process ended."""
    return trouble_of(word) not in {None, "crash"} or not compiled(_OF_LAUNCHERS).search(word[1].text)


def trouble_of(word: tuple[int, Evidence]) -> str | None:
    """The kind of trouble that a line names, None where it names none."""
    return trouble(split_line(word[1].text)[1])
