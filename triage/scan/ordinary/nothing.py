"""Whether a log closes with the statement that nothing came of the work: not one of so many was done.

A script that looks at no status says that it has finished whatever became of what it ran; what it counts says more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from triage.model import Block, Finding, Source, Value
from triage.scan.closing.wordings import speaks_of_trouble
from triage.scan.lazy import deferred
from triage.scan.ordinary.items import all_went_wrong
from triage.scan.ordinary.said import Said, finding_of, whole_lines, without_digits

NOTHING_DONE = "unknown.nothing-done"
_END = 4 << 10
"""Bytes at an end in which a tally is looked for."""
LAST = 15
"""Lines at the end among which a tally stands."""
FEWEST = 3
"""Complaints of one wording that show why nothing was done."""
_DONE = (
    r"(?:answered|succe\w+|passed|complete\w*|finished|processed|written|saved|stored|exported|converted|merged|uploaded|indexed|embedded|generated|delivered|records?|samples?|requests?"
    r"|shards?|files?|items?|documents?|images?|prompts?|episodes?|trials?|ok|done|usable|valid|loaded)"
)
_DID = r"(?:merged|wrote|written|saved|stored|processed|generated|collected|completed|exported|loaded|answered|succeeded|successful)"
_NONE = deferred(
    rf"(?i)(?<![\w./-])0 ?(?:/|of|out of) ?(?!1\b)[1-9]\d*(?!\d|%| ?\[|\s+(?-i:[A-Z]\w+)\s+\d+\s)[ ,:]*"
    r"(?![^\n]{0,40}\b(?:fail|error|skip|reject|drop|miss|corrupt|invalid|bad|lost|time|wrong|empty|differ|flagged|dup))"
    rf"(?:\w+ ){{0,2}}{_DONE}\b"
    rf"|\b{_DID}\b[ :=]{{1,3}}0 (?:\w+ ){{0,2}}(?:of|out of|/) ?[1-9]"
    r"|\b(?:success\w*|succeeded|completed|ok)(?: \w+)?[\"']?[ :=]{1,40}0\b(?![./%]\d)[^\n]{0,40}"
    r"\b(?:fail\w*|errors?)(?: \w+)?[\"']?[ :=]{1,40}[1-9]"
    r"|\b0 (?:succeeded|successful|successes|ok|completed|written)\b[^\n]{0,40}"
    r"\b[1-9]\d* (?:\w+ )?(?:failed|failures?|errors?)\b"
    r"|^\W*(?:successful|succeeded) requests\W{1,60}0\s*$"
    r"|(?:生成|成功|完成|处理|處理|保存)(?:了|数)? ?[:：]? ?0(?!\d)[^\n]{0,40}(?:失败|失敗|错误|錯誤)(?:了|数)? ?[:：]? ?[1-9]"
    # training finished after 0 steps
    r"|\b(?:finished|done|complete\w*|ended|trained|processed|generated|evaluated)(?: (?:after|in|with|for|on))? 0 "
    r"(?:training |optimizer )?"
    r"(?:steps|iterations|updates|batches|samples|examples|epochs|documents|images)\b"
    r"|\b(?:done|finished|complete\w*|ended)(?:[,:;]| \() ?(?:with )?0 (?:\w+ )?(?:updates|steps|iterations|batches|samples|examples)\b"
    # 0 docs kept, 4500 unreadable
    r"|(?<![\w./,-])0 (?:\w+ ){0,2}(?:kept|used|usable|valid|read|loaded|decoded|processed|written|tokeni[sz]ed|embedded|ok)\b"
    r"(?![^\n]*\b(?:already|cached|exist\w*|up to date|dup\w*|unchanged)\b)[^\n\w]{1,4}"
    r"[1-9][\d,]* (?:\w+ ){0,2}(?:left out|skipped|unreadable|failed|dropped|rejected|invalid|corrupt\w*|discarded|broken|bad)\b"
    # accuracy 0.0000 on 0 examples
    r"|\b(?:acc\w*|score|f1|ppl|perplexity|wer|bleu|loss)\b[^\n]{0,24}\b(?:on|over|from) 0 "
    r"(?:examples|samples|documents|questions|prompts|items|images)\b"
    # epoch 0: 0 samples, avg loss nan
    r"|(?<![\w./,-])0 (?:\w+ )?(?:samples|batches|examples|steps|sequences|documents|records|rows)\b[^\n]{0,40}"
    r"\b(?:loss|acc\w*|score|reward|ppl|mean|avg)\b[^\n\d]{0,10}\b(?:nan|none|n/a)\b"
    # evaluation: 0 samples
    r"|\b(?:eval\w*|test\w*|valid\w*|infer\w*|predict\w*|bench\w*|scor\w*)\b[^\n:]{0,24}[:=] ?0 (?:samples|batches|examples|sequences"
    r"|documents|records|prompts|questions|items|images)\b"
    # backend unavailable, nothing to run
    r"|\b(?:no \w+ left|not available|unavailable|failed|missing|not found|invalid)\b[^\n]{0,60}\bnothing to (?:run|train)\b"
    # report has 0 figures; wrote results.json (0 tasks)
    r"|^(?!.*\b(?:fail\w*|errors?|reject\w*|dead|skip\w*|quarantin\w*|dup\w*|invalid|bad|miss\w*|drop\w*|filtered|warn\w*|diff\w*"
    r"|changed|new|removed|already|cached|conflicts?)\b).*?\b(?:wrote|written|saved|exported|stored|has|holds|contains|uploaded)\b"
    r"[^\n]{0,80}?(?<![\w./,-])0 (?:tasks?|results?|samples?|rows|records?|figures?|answers?|predictions?|documents?|examples"
    r"|sequences|images|shards|files|questions|tensors|parameters|trials|episodes)\b"
)
"""Not one of so many."""
_EMPTY = deferred(
    r"(?i)(?<![\w.-])n ?[:=] ?0(?![\w./%])"
    r"|(?<![\w.-])[\"']?(?:(?:n|num|total|number of)[_ ])?(?:samples|examples|records|rows|documents|prompts|questions|images|items"
    r"|scored|evaluated|processed|answered|succeeded|completed|ok|kept|used|written)"
    r"(?:[_ ](?:scored|evaluated|used|kept|processed|done))?[\"']?"
    r" ?[:=] ?0(?![\w./%])"
)
_OF_SOME = deferred(
    r"(?i)\b(?:left_?out|skipped|failed|failures|errors|dropped|rejected|invalid|corrupt|unreadable|discarded|broken"
    r"|bad)[\"']? ?[:=] ?[1-9]"
    r"|\b(?:accuracy|acc|mean|avg|score|f1|loss|rate|wer|bleu|em)\b[\"']? ?[:=] ?nan\b"
)
"""A tally of several figures: none was used, and so many were not, or what was measured is no number."""
_NOBODY = deferred(
    r"^(?:\W{0,3}[\w .-]{1,30}: )?\W*(?:no|none of(?: the)?|not (?:one|a single)(?: of the| one of the)?) (?:\w+ ){0,2}?"
    r"(?:runs?|trials?|configs?|configurations?|settings?|candidates?|files?|parts?|jobs?|tasks?|models?|prompts?|requests?|attempts?|endpoints?"
    r"|mirrors?|hosts?|samples?|shards?|episodes?|seeds?|combinations?) (?:\w+ ){0,3}?"
    r"(?:gave|succeeded|worked|finished|completed|produced|returned|survived|usable|valid|came through|fitted|fits|answered|passed|was"
    r"|were)\b"
    r"(?!.{0,60}\b(?:lost|dropped|skipped|failed|affected|damaged|missing|missed|left|rejected|needed)\b)"
    r"|^(?:\W{0,3}[\w .-]{1,30}: )?nothing (?:fits|fitted|worked|works|succeeded|usable|was (?:written|done|saved|processed|produced))\b",
    re.IGNORECASE,
    needs=("no ", "none of", "not one", "not a single", "nothing "),
)
"""Nobody and nothing came through."""
_NAN_CELL = deferred(r"(?i)\|\s*nan\s*\|")
_FIGURE_CELL = deferred(r"\|\s*\d+\.\d+\s*\|")
"""What stands in the cells of a table of results."""
_WARNS = deferred(r"(?i)\W{0,3}warn(?:ing)?\W{1,3}\w")
_COUNTS_FROM = deferred(r"(?<![\w./-])0 ?(?:/|of|out of) ?[1-9]")
"""A count of what is done of all: bars that begin look so."""


def nothing_done(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The tally, with the complaint that was made most often before it."""
    for index, block in sorted(tails.items()):
        final = [line for line in whole_lines(block, sources[index], index, _END) if line.message.strip()]
        fields: dict[str, Value]
        tally = next(
            (
                line
                for line in final[-LAST:]
                if _NONE.search(line.message)
                or _nobody(line, final)
                or (_EMPTY.search(line.message) and _OF_SOME.search(line.message))
            ),
            None,
        )
        lines = [line for line in whole_lines(block, sources[index], index) if line.message.strip()]
        tally = tally or _all_nan(final)
        if tally is None:
            lost = all_went_wrong(lines, _of_others(tails, sources, index))
            if lost is not None:
                first, last = lost
                words = " ".join(last.message.split())
                fields = {"words": words[:160], "why": " ".join(first.message.split())[:200], "_items": True}
                return finding_of(NOTHING_DONE, first, sources, fields, last=last)
            continue
        if _counts_up(tally, lines):
            continue
        why = _complaint([line for line in lines if line.offset < tally.offset])
        if why is None and (lost := all_went_wrong(lines, _of_others(tails, sources, index))) is not None:
            why = lost[0]
        fields = {"words": " ".join(tally.message.split())[:160]}
        if why is not None:
            fields["why"] = " ".join(why.message.split())[:200]
            return finding_of(NOTHING_DONE, why, sources, fields, last=tally)
        return finding_of(NOTHING_DONE, tally, sources, fields)
    return None


def _all_nan(final: Sequence[Said]) -> Said | None:
    """The first row of the table at the end in which all that was measured is no number."""
    rows = [line for line in final if line.message.lstrip().startswith("|")]
    none = [row for row in rows if _NAN_CELL.search(row.message)]
    return none[0] if none and not any(_FIGURE_CELL.search(row.message) for row in rows) else None


def _of_others(tails: Mapping[int, Block], sources: Sequence[Source], index: int) -> Iterator[Said]:
    """The lines at the ends of all other logs than one."""
    for other, block in sorted(tails.items()):
        if other != index:
            yield from whole_lines(block, sources[other], other)


def _nobody(line: Said, final: Sequence[Said]) -> bool:
    """Whether a line says in words that nothing came of it, and that is the last word."""
    return line is final[-1] and line.prefix.level != "debug" and _NOBODY.search(line.message) is not None


def _counts_up(tally: Said, lines: Sequence[Said]) -> bool:
    """Whether the same is said with other numbers, and then of some that were done: it is where counting begins."""
    wording = without_digits(tally.message)
    return any(
        line.message != tally.message
        and without_digits(line.message) == wording
        and (_COUNTS_FROM.search(tally.message) is not None or _NONE.search(line.message) is None)
        for line in lines
    )


def _complaint(lines: Sequence[Said]) -> Said | None:
    """The first line of the wording in which most is complained."""
    loud = [
        line for line in lines
        if line.prefix.level in {"error", "warning", "fatal"} or speaks_of_trouble(line.text) or _WARNS.match(line.message)
    ]  # fmt: skip
    times = Counter(without_digits(line.message) for line in loud)
    if not times:
        return None
    wording, often = times.most_common(1)[0]
    return next(line for line in loud if without_digits(line.message) == wording) if often >= FEWEST else None
