"""Whether an error stands so near above the words that all is done that they do not answer it.

A script, or the last lines of a program that has caught everything, say them whatever became of the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from triage.scan.closing.harmless import harmless
from triage.scan.closing.wordings import HANDS_OVER, STATES_AN_ERROR
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.recovery import FRESH
from triage.scan.prefix import clean, split_line

NEAR = 6
"""Lines above the words that all is done among which an error is looked for."""
_GRAVE = frozenset(["error", "fatal"])
_DONE_WITHOUT = deferred(
    r"(?i)\b(?:using|us(?:es|ed)|default\w*|cached|optional|expected|intended|wanted|re-?connect\w*|handled|caught|without|disabl\w*|leak\w*"
    r"|wandb|mlflow|telemetry|metrics|tensorboard|plots?|figures?|tracking|tracker|clean\w*"
    r"|te?mp(?:orary)?|unlink\w*|close[ds]?|closing|destroy\w*|shut ?down"
    r"|teardown|socket|warn\w*|deprecat\w*|notif\w*|slack|mail|broken pipe|(?<=\d )(?:passed|ok)|server|client|log(?:s|ging)?)\b"
)
"""What a run does without, and what is met on the way out."""
_WORK = deferred(
    r"(?i)\b(?:loss|steps?|epochs?|iter\w*|acc\w*|ppl|nll|score|reward|auc|f1|round|tok\w*/s|it/s|samples/s)\b[^\n]{0,20}\d"
    r"|(?<![\w./:-])[1-9]\d* ?(?:/|of) ?\d+(?![\w/])"
)
"""What is said of work that goes on."""
_NAMES_ONE = deferred(r"(?<![\w.'\"])[A-Z]\w+(?:Error|Exception)\b(?!\w*\()")
_LEFT_UNDONE = deferred(
    r"(?i)\b(?:bench\w*|eval\w*|train\w*|run|job|export|tests?|everything|all|the rest) (?:(?:was|were|is|are) )?skipped\b"
)
"""How the work itself is said to be left undone: no answer."""
_ANSWERED = deferred(
    r"(?i)\b(?:succe\w+(?! (?:stopp|clos|shut|disconnect|unregister|releas|delet|remov|clean)\w*)|ok|passed"
    r"|recover\w*|verified|works?|saved|written|wrote|uploaded|exported|stored|published)\b"
)
"""How it is said that something came out well after all."""


def unanswered_above(texts: Sequence[str]) -> str | None:
    """The one of the last of ``texts`` that states an error, None where one below it tells of work or of what was done about it."""
    for text in reversed(texts[-NEAR:]):
        said = clean(text)
        prefix, message = split_line(said)
        message = message.strip()
        if _is_stated(prefix.level, said, message):
            return text
        if _LEFT_UNDONE.search(message) is None and any(
            p.search(message) for p in (_WORK, compiled(FRESH), _ANSWERED, HANDS_OVER)
        ):
            return None
    return None


def _is_stated(level: str | None, text: str, message: str) -> bool:
    """Whether a line states an error that ends something."""
    if level in {"info", "debug", "warning"} or harmless(text) or _DONE_WITHOUT.search(message):
        return False
    if compiled(FRESH).search(message) is not None:
        return False
    return (
        level in _GRAVE
        or STATES_AN_ERROR.search(message) is not None
        or _NAMES_ONE.search(message) is not None
    )
