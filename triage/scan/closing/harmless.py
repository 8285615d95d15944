"""Lines that use the words of trouble for something else: counts of none, tallies, figures, what is done instead."""

from __future__ import annotations

import re

from triage.scan.lazy import deferred

_HARMLESS = tuple(
    deferred(source, re.IGNORECASE, needs)
    for source, needs in (
        (
            r"(?<![\w./])0 ?(?:of|/|out of) ?\d+ (?:\w+ ){0,2}(?:errors?|fail\w*)\b"
            r"|(?<![\w.])(?:0|no|without)(?: \w+)? (?:errors?|fail\w*)\b|errors?[=:] ?0\b(?!\.\d)"
            r"|\berrors?[ =:]{1,12}[-+]?\d+\.\d+(?:e[-+]?\d+)?\b",
            ("error", "fail"),
        ),
        (r"--- Logging error ---", ("--- logging error",)),
        # a tally: so many of this, so many of that
        (
            r"\b\d+ [a-z]+(?: [a-z]+)?, (?:.{0,80}, )?\d+ (?:[a-z]+ ){0,2}"
            r"(?:lost|stalled|refused|denied|unreachable|could not be \w+)\b(?!.*\bgiving up\b)",
            ("lost", "stalled", "refused", "denied", "unreachable", "could not be"),
        ),
        # so much that is worked through one by one went well, and some did not
        (
            r"^(?!.*\b(?:ranks?|workers?|nodes?|hosts?|gpus?|devices?|process(?:es)?|tests?|checks?|replicas?|shards?|passed)\b).*?"
            r"\b[1-9][\d,]* (?:\w+ )?(?:ok|okay|good|done|succeeded|successful|completed|finished|written|kept)(?:,| and|;|/) \d+ (?:\w+ )?"
            r"(?:failed|errors?|failures?)\b(?!.*\b(?:giving up|abort\w*|exit\w*|stop\w*)\b)",
            ("ok, ", "ok and ", "ok; ", "ok/ ", "okay", "good", "done", "succe", "complet", "finish", "written", "kept"),
        ),
        (
            r"\b\d+ (?:\w+ ){1,2}(?:skipped|left out|excluded|pruned)(?:[:,;(]| because| due)",
            ("skipped", "left out", "excluded", "pruned"),
        ),
        # a few of very many
        (
            r"(?<![\d.,])(?:\d ?(?:/|of|out of) ?\d{3,}|\d\d ?(?:/|of|out of) ?\d{4,})(?: \w+)? "
            r"(?:samples|rows|documents|images|files|records|prompts|answers|requests|items|clips|pages)"
            r"(?: \w+)? (?:failed|could not be)\b",
            ("failed", "could not be"),
        ),
        (r"\bnumber of (?:errored|failed|pruned) trials\b", ("number of ",)),
        # what the hardware has put right itself
        (
            r"(?<![\w-])correct(?:ed|able) (?:\w+ )?errors?\b(?!.*(?<![\w-])uncorrect(?:ed|able)\b\W{1,3}[1-9])",
            ("correct",),
        ),
        # how often things came out badly, in figures
        (
            r"\b(?:fail(?:ed|ures?)|crash(?:ed|es)?|timeouts?|timed out|stuck|lost|abort(?:ed|s)?|kill(?:ed|s)|fatal|stall(?:ed|s)?)"
            r"(?:[ _-](?:rate|ratio|fraction|share|class|recall|precision|probability|prob))?(?: \w+)?"
            r"[ =:]{1,3}(?:0?\.\d|[\d.]+ ?%)(?!.{0,80}: \S)",
            ("fail", "crash", "timeout", "timed out", "stuck", "lost", "abort", "kill", "fatal", "stall"),
        ),
        # of what is tried out, some may fail
        (
            r"\b[1-9]\d*(?:/\d+)? (?:trials?|configs?|configurations?|combinations?|candidates?|settings)"
            r" (?:succeeded|worked|completed|ok), \d+ (?:[a-z]+ )?failed\b",
            ("succeeded, ", "worked, ", "completed, ", "ok, "),
        ),
        # all that there was to close is closed
        (
            r"\ball (?:\d+ )?(?:[\w-]+ ){1,3}(?:have |has |are |were )(?:been )?(?:now )?shut ?down\W*$",
            ("shut down", "shutdown"),
        ),
        # what is done instead, in the same breath
        (
            r"[.,;:(] ?(?:treat|count|tak|regard)\w* (?:it|them|this|these|that) as (?:zero|0|none|empty|missing|unknown|default)\b",
            (" as ",),
        ),
        (
            r"[.,;:(] ?(?:using|falling back to|fall(?:s|ing)? back on|defaulting to) [^.;:]{1,60}\b(?:instead|defaults?)\b\W*$",
            ("instead", "default"),
        ),
        # how a loop is left that is not to go on
        (
            r"\b(?:EarlyStop\w*|TrialPruned|PrunedTrial)(?:Exception|Error)?(?:: |\()",
            ("earlystop", "trialpruned", "prunedtrial"),
        ),
        # what is tidied away, and what is measured beside the work
        (
            r"\b(?:fail\w*|could not|couldn't|cannot|unable|errors?)\b[^\n]{0,30}\b(?:remov|delet|unlink|clean)\w*(?: up)? [^\n]{0,30}"
            r"\b(?:te?mp(?:orary)?|lock ?files?|fifo)\b",
            ("remov", "delet", "unlink", "clean"),
        ),
        (
            r"\b(?:for|to (?:send|report|collect|read|log|upload)) (?:the )?(?:(?:gpu|system|usage|power) )?"
            r"(?:metrics|telemetry|usage stat\w*)(?=\W|$)",
            ("metrics", "telemetry", "usage stat"),
        ),
        # why a test was left out, or is known to fail
        (r"^(?:SKIPPED \[\d+\]|XFAIL|XPASS) \S", ("skipped [", "xfail", "xpass")),
        # a column of a table
        (r"^\s*(?:[\w%()./-]+ {2,}){2,}errors?(?: {2,}[\w%()./-]+)*\s*$", ("error",)),
        # the name of a stream and where it goes
        (r"\bstandard error: ?/", ("standard error",)),
        # Python's own warnings
        (r"\.py:\d+: [A-Z]\w*Warning: ", ("warning: ",)),
        # a table of events calls all that failed a warning
        (r"(?<!NCCL )\bwarn(?!ing(?:\t| {2,})+\w+(?:\t| {2,}|$))", ("warn",)),
        # parts of a report, and what is measured
        (
            r"\berrors? (?:cases?|types?|rates?|analysis|preview|breakdown|counts?|distributions?|bars?|metrics?|statistics"
            r"|samples?)\b(?!.{0,80}: \S)",
            ("error",),
        ),
        (
            r"\b(?:mean|squared|absolute|root|relative|percentage|reconstruction|word|character|phone|sentence|insertion|deletion"
            r"|substitution|rms|quanti[sz]ation|classification|standard|max|min|avg|average|l[12]|test|train(?:ing)?|val|top-?[15])"
            r"[ _-](?:\w+[ _-])?errors?\b(?: rates?)?\W{1,4}[-+]?\d",
            ("error",),
        ),
    )
)  # fmt: skip
"""How it is said that there was no trouble, or none that matters, in words that speak of it."""


def harmless(text: str) -> bool:
    """Whether words that speak of trouble mean none: so many of this and that, no errors, what is done instead."""
    return any(pattern.search(text) for pattern in _HARMLESS)
