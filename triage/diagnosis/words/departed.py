"""Whether what an exception says is that some other process has ended, and nothing of why."""

from __future__ import annotations

from triage.scan.lazy import compiled

_PROCESS = r"(?:(?:sub)?process|worker|actor|server|engine|child|daemon|scheduler|executor|stage|replica|task)(?:es|s)?"
_ENDED = (
    r"(?:(?:is|are|was|were) (?:not (?:alive|running)|no longer (?:alive|running)|dead|gone)"
    r"|(?:(?:has|have|had) )?(?:(?:unexpectedly|prematurely|suddenly) )?(?:died|crashed|exited|terminated|vanished)"
    r"(?= (?:unexpectedly|prematurely|suddenly|abnormally|early|during|before|while|in the middle)\b|\W*$|[ ]?[(:;,-])"
    r"|(?:(?:has|have|was|were) )(?:been )?(?:died|crashed|exited|terminated|killed)\b)"
)
_DEPARTED = rf"(?i)\b{_PROCESS}\b(?: [\w./:#'\"\[\]=()-]{{1,60}}){{0,4}}? {_ENDED}"
_OTHERWISE = (
    r"(?i)\b(?:successfully|normally|cleanly|code:? 0|status:? 0|must|should|unless|because|since|due to)\b"
)


def tells_of_a_departure(message: str) -> bool:
    """Whether ``message`` says that a process which was relied on is there no more: another one knows why."""
    first = message.split("\n", 1)[0]
    return compiled(_DEPARTED).search(first) is not None and compiled(_OTHERWISE).search(first) is None
