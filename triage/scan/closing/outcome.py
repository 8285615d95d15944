"""What a program or a controller says at the very end of how the whole came out, in whatever tone it says it.

A controller logs that its job failed as it logs everything else: at level info.
"""

from __future__ import annotations

import re

from triage.scan.lazy import deferred

_WHOLE = (
    r"(?:job|run|training|pre-?training|fine-?tuning|experiment|workload|workflow|pipeline|trial|task|launch|deployment|application"
    r"|evaluation|benchmark)"
)
_BADLY = r"(?:failed|crashed|aborted|died|errored|failure|unsuccessful(?:ly)?|given up(?! on)|abandoned)"
_FAILED = deferred(
    # The job has failed: worker 3 not ready; Job 41 (pretrain) failed; Training aborted by user
    rf"(?:(?:^|[\s:.!\"'])(?:the |this |your )?{_WHOLE}(?: [\w.#/-]*\d[\w.#/-]*| ['\"(][^'\")]{{1,60}}['\")]| \w+-\S+){{0,2}}:?"
    rf" (?:(?:has|have|was|is|had)(?: been)? )?(?:marked (?:as )?)?{_BADLY}"
    r"(?=\s*$|[.,:;!(]| (?:with|due|because|after|on|in|by|at|since|as|during|from)\b)"
    # finished with status FAILED; ended in failure; completed with errors
    rf"|\b(?:finished|ended|completed|exited|terminated|over|stopped)\b[^\n]{{0,20}}? (?:with|in|as)"
    r" (?:an? )?(?:(?:exit |final )?(?:status|state)[ :=]{1,3})?['\"]?(?:failed|failure|errors?(?=[.!]?\s*$)|crashed|aborted)\b"
    # Status: FAILED
    r"|(?:^|[\s|,{\"'(])(?:(?:job|run|final|exit|training|overall|last)[ _]?)?(?:status|state|result|outcome|phase|verdict)[\"']?[ ]?"
    r"[:=]{1,2}[ ]?[\"']?(?:failed|failure|error(?:ed)?|crashed|aborted)\b(?! ?[:=(\d]))",
    re.IGNORECASE,
)
_STEMS = ("fail", "crash", "abort", "died", "error", "unsuccessful", "given up", "abandoned")
"""In lower case, what a line has one of that says so."""
_GOES_ON = deferred(
    r"(?i)\b(?:retr(?:y|ies|ying)|restart\w*|resum\w*|re-?queu\w*|re-?launch\w*|ignor\w*|skip\w*|continu\w*|attempts?|previous(?:ly)?"
    r"|earlier)\b"
)
_SUPPOSED = deferred(r"(?i)\b(?:if|when|unless|would|could|may|might|no|not|never|none|without|0)\b")


def tells_of_failure(message: str) -> bool:
    """Whether a line says of the whole that it came out badly, and not that something goes on."""
    folded = message.lower()
    if not any(stem in folded for stem in _STEMS):
        return False
    found = _FAILED.search(message)
    return (
        found is not None
        and _GOES_ON.search(message) is None
        and _SUPPOSED.search(message[: found.end()]) is None
    )
