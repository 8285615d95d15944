"""How what was captured reads within a sentence: the words that tell, without what a format or a log put around them."""

from __future__ import annotations

from triage.scan.lazy import compiled

_INSTALLED = r"(?<![\w./~-])(?:/[^\s/:'\"]+)+/(?:site|dist)-packages/(?=\S)"
"""The long way to an installed package, which says nothing more than the package's own path."""
_CAPITALS = r"\A(?:JOB|STEP)(?= \S*\d)"
"""How Slurm's programs call what they end."""
_ARGUMENTS = r"\A(?:-?\d+, )?[\"']"
"""How what stands between the parentheses of an exception begins, where it is shown as it would be written."""
_GOES_ON = r"[\s\S]*[:,(\[{\\=-]\s*\Z"
"""The end of a line whose sentence goes on below it."""
_ENOUGH = 16
"""Characters of a message's first lines below which they are no sentence yet."""
_TOLD_IN = ("event", "msg", "message", "error", "err", "exception", "exc_info", "reason", "detail")
"""Members of a structured record that hold words, in the order in which they are read."""


def prose(text: str) -> str:
    """``text`` for a sentence: of a record its words, of a message its first statement, of long paths their ends."""
    return compiled(_INSTALLED).sub(
        "", compiled(_CAPITALS).sub(lambda said: said[0].capitalize(), _words(_own(statement(text))))
    )


def statement(text: str) -> str:
    """The first statement of a message of several lines; those below may be anybody's."""
    lines = text.split("\n")
    kept = 1
    while kept < len(lines):
        said, following = "\n".join(lines[:kept]), lines[kept]
        indented = following[:1] in {" ", "\t"} and following.strip()
        if len(said.strip()) >= _ENOUGH and not indented and not compiled(_GOES_ON).match(said):
            break
        kept += 1
    return "\n".join(lines[:kept])


def _own(text: str) -> str:
    """Of the arguments of an exception those before its closing parenthesis: what follows is its quoter's."""
    if compiled(_ARGUMENTS).match(text) is None:
        return text
    depth = 0
    for at, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth < 0:
            return text[:at]
    return text


def _words(text: str) -> str:
    """What a structured record says in words; ``text`` itself where it is none."""
    if not (text.startswith("{") and '"' in text and text.rstrip().endswith("}")):
        return text
    import json

    try:
        record = json.loads(text)
    except ValueError:
        return text
    if not isinstance(record, dict):
        return text
    told = [str(record[name]).strip() for name in _TOLD_IN if isinstance(record.get(name), str)]
    return ": ".join(part for part in dict.fromkeys(told) if part) or text
