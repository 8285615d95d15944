"""Whether the last thing that a program says is that it has done what it was there for, or that it gives up, in whatever words.

No list of sentences can hold them all. What they have in common is that something is said to be done, written or
closed, and that nothing is said to be given up; what was left out on the way may be counted beside it.
"""

from __future__ import annotations

import re

from triage.scan.lazy import deferred
from triage.scan.prefix import clean, split_line

_LONGEST = 300
_WORKS = (
    r"(?:all|every\w*|training|fine-?tuning|pre-?training|run|job|evaluation|benchmark|sweep|study|search|work|script|experiment"
    r"|program|inference|mirror|import|export|ingest\w*|crawl|migration|backfill|pipeline|conversion|simulation|integration"
    r"|queue|corpus|data ?set|table|index|catalog(?:ue)?|archive|report|batches|parts|partitions|shards|files|documents|fields"
    r"|tiles|chunks|blocks|requests|jobs|tasks|trials|runs|frames|scenes|pages|samples|records|rows|images|videos|clips"
    r"|segments|episodes|generations|sessions|rounds|stages|tests|checks|suite|campaign|schedule|commit|days|years)"
)
_DID = (
    r"(?:done|finished|completed?|converged|committed|written|saved|exported|uploaded|published|stored|closed|drained|merged"
    r"|converted|encoded|embedded|indexed|processed|rendered|scored|evaluated|cleaned|tokeni[sz]ed|answered|served|delivered"
    r"|integrated|simulated|mirrored|downloaded|migrated|flushed|registered|promoted|deployed|in sync)"
)
_FILE = (
    r"[\w./:-]{1,100}\.(?:json|jsonl|csv|tsv|npz|npy|pt|pth|bin|safetensors|parquet|html|md|txt|ya?ml|h5|nc|pkl|gz|zip|tar|onnx"
    r"|gguf|png|pdf|db|zarr|arrow|mp4|wav|vtu|vti|xdmf|tif|whl|deb|rpm|img|iso|fits|root)"
)
_PRODUCT = (
    rf"{_FILE}|model|weights|reports?|results?|index|summary|metrics|predictions|submission|tally|outputs?|adapter|params|parameters"
    r"|scores|manifest|catalog(?:ue)?|table|leaderboard|artifacts?|bundle|archive"
)
_MADE = (
    rf"\b(?:{_PRODUCT}) (?:\(?[\d.,]+ ?[kKMGT]i?B\)? )?(?:(?:was|were|is|are|has been|have been) )?"
    r"(?:written|saved|exported|uploaded|published|stored|committed|promoted)\b"
    rf"|\b(?:wrote|exported|published|saved|uploaded|written)\b[^;,]{{0,40}}?(?<![\w-])(?:{_PRODUCT})(?![\w-])"
    # histograms in run7.root; 24 blocks summed into hist.npz
    rf"|\b(?:\w{{3,}}s|\w{{2,}}ed|solution) (?:(?:are|is|now) )?(?:in|to|into) {_FILE}\W*$"
    r"|\b(?:run|job|pipeline|build|workflow|dag|suite|deployment)(?: \w+)? succeeded\b"
    r"|\b(?:table|index|model|report|manifest|catalog|results|snapshot)_(?:committed|written|saved|published|exported)\b"
)
_MADE_NEEDS = (
    "written", "wrote", "saved", "exported", "uploaded", "published", "stored", "committed", "promoted", "succeeded",
    ".json", ".csv", ".tsv", ".npz", ".npy", ".pt", ".bin", ".safetensors", ".parquet", ".html", ".md", ".txt", ".yaml", ".yml",
    ".h5", ".nc", ".pkl", ".gz", ".zip", ".tar", ".onnx", ".gguf", ".png", ".pdf", ".db", ".zarr", ".arrow", ".mp4", ".wav",
    ".vtu", ".vti", ".xdmf", ".tif", ".whl", ".deb", ".rpm", ".img", ".iso", ".fits", ".root",
)  # fmt: skip
_MADE_OF_IT = deferred(_MADE, re.IGNORECASE, _MADE_NEEDS)
"""How it is said that what all was done for lies there."""
_DONE = deferred(
    # all parts converted; mirror complete; 41 tiles rendered
    rf"(?:^|[\s\"'\[(:|=])(?:{_WORKS}|\d[\d,]* [a-z_-]{{3,20}}s)(?:[_#-]?\d+)?(?: [\w/-]{{1,20}}){{0,3}}?,? "
    r"(?:(?:is|are|was|were|has|have|been|now|all) ){0,3}"
    rf"{_DID}(?=\W|$)"
    # finished: 31 parts clean; done
    r"|(?:^|[;:.,|] ?)(?:and )?(?:finished|done|completed?|converged)\b(?!-)"
    r"|\b(?:is|are) (?:now )?done\b|\b(?:steps|epochs|iterations|max_epochs|t ?= ?[\d.e+-]+) (?:exhausted|reached)\b"
    r"|\bgood ?bye\b(?!\W{0,3}\d)|\bbye\b\W*$|\bshut down (?:cleanly|in order)\b"
    r"|^\w+_(?:done|finished|completed?)$"
    rf"|{_MADE}",
    re.IGNORECASE,
    needs=(
        "done", "finish", "complete", "converge", "drained", "closed", "merged", "converted", "encoded", "embedded", "indexed",
        "processed", "rendered", "scored", "evaluated", "cleaned", "tokeni", "answered", "served", "delivered", "integrated",
        "simulated", "mirrored", "downloaded", "migrated", "flushed", "registered", "deployed", "in sync", "exhausted", "reached",
        "bye", "shut down", *_MADE_NEEDS,
    ),
)  # fmt: skip
_NOT_DONE = deferred(
    r"\b(?:abort\w*|kill\w*|crash\w*|fatal|cannot|can't|could not|couldn't|unable|not|no|never|none|nothing|refus\w*|reject(?:ing|s)"
    r"|giv(?:e|es|en|ing) up|gave up|lost|los(?:es|ing)|only|but|without|partial\w*|incomplete|interrupt\w*|cancel\w*|emergency"
    r"|exceed\w*|too (?:many|few|long|large)|used up|miss(?:ing|ed)|invalid|corrupt\w*|broken?|timed? ?out|timeouts?|stuck|hung"
    r"|dead(?! letter)|died|terminat\w*|unfinished|worse|below|diverg\w*|nan|inf|early|left(?= \w+ing\b)"
    r"|stop(?:s|ping)|exiting with|(?:exit|status|code|rc)\w*[ =:]{1,3}(?:code )?-?[1-9])\b",
    re.IGNORECASE,
)
"""What takes it back."""
_HARD = deferred(r"\b(?:fail\w*|errors?|errored|exceptions?|warn\w*)\b", re.IGNORECASE)
_TALLY = (
    r"(?:retried|retries|re-?tries|quarantined|skipped|skips|rejected|unusable|pruned|re-?starts?|re-?built|rebuilds?|dropped|dup\w*"
    r"|reconnects?|replaced|re-?queued|re-?run|lost and recomputed|recovered|rolled back|rollbacks?|time-?outs?|dead[_ ]letters?"
    r"|filtered|discarded|left out|halved|warnings?)"
)
_SOFT = deferred(
    r"\b\d[\d,]* (?:killed|failed|lost|speculative|dead) (?:attempts?|tries|retries)\b|"
    rf"\b\d[\d,]* (?:[\w-]+ ){{0,2}}{_TALLY}\b(?: \(?(?:(?P<word>allowed|budget|limit|max\w*|at most)[:= ]{{1,3}})?(?P<most>\d+)?\)?)?"
    rf"|\b{_TALLY}[\"']?[ =:]{{1,3}}\d[\d,]*\b|\b(?:no|0|without) (?:\w+ )?(?:errors?|failures?|warnings?|losses)\b",
    re.IGNORECASE,
    needs=(
        "attempt", "tries", "retried", "quarantined", "skip", "rejected", "unusable", "pruned", "re-start", "restart", "re-built",
        "rebuil", "dropped", "dup", "reconnect", "replaced", "re-queued", "requeued", "re-run", "rerun", "lost and recomputed",
        "recovered", "rolled back", "rollback", "time-out", "timeout", "letter", "filtered", "discarded",
        "left out", "halved", "warning", "error", "failure", "losses",
    ),
)  # fmt: skip
"""How many were left out, or done once more, on the way."""
_COUNTED = deferred(
    r"\b[1-9]\d* (?:\w+ )?(?:fail(?:ed|ures?)|errors?)\b|[\"']?\b(?:fail(?:ed|ures?)?|errors?)[\"']?[ =:]{1,3}\d+\b",
    re.IGNORECASE,
)
"""How many failed, as a figure among others."""
_OF_ALL = deferred(r"(?<![\w./-])(\d[\d,]*) ?(?:/|of|out of) ?(\d[\d,]*)(?![\w/]|\.\d)")
_COLUMN = deferred(r"\s{2,}\w+\.py:\d+\s*$")
"""The place in the program, which some handlers put at the right of a line."""


def says_done(text: str) -> bool:
    """Whether a line says that what a program was there for is done, and takes nothing of it back."""
    if len(text) > _LONGEST:
        return False
    prefix, message = split_line(clean(text))
    if prefix.level in {"warning", "error", "fatal"}:
        return False
    message = without_place(message)
    if any(found["word"] and found["most"] and _over(found) for found in _SOFT.finditer(message)):
        return False
    said = _SOFT.sub("", message)
    made = _MADE_OF_IT.search(said) is not None
    if made:
        said = _COUNTED.sub("", said)
    if _DONE.search(said) is None or _HARD.search(said) or _NOT_DONE.search(said):
        return False
    return all(_number(a) >= _number(b) for a, b in _OF_ALL.findall(said)) or said != message


_TRIES = r"(?:re-?starts|retries|attempts|tries|budget\w*|patience|quota|allowance)"
_SPENT = r"(?:used up|exhausted|exceeded|spent|reached)"
_LEAVING = r"(?:stopping|stopped|aborting|quitting|halting|exiting|leaving|terminating)"
_GIVES_UP = deferred(
    r"\b(?:giv(?:e|es|ing|en) up(?! on (?:it|this|that|him|her)\b)|gave up|leaving it (?:there|at that)|refus(?:es|ing|ed) to"
    r"|bail(?:ing|s|ed)? out|not (?:re-?)?(?:start|try|writ|sav|publish|export|promot|releas|commit)ing"
    r"|(?:was|were|is|are) not (?:started|written|saved|published|exported|promoted|released|committed)"
    rf"|{_TRIES}\b.{{0,30}}\b{_SPENT}|{_SPENT}\b.{{0,30}}\b{_TRIES}|(?:budget|limit|allowance|quota)_{_SPENT}"
    r"|\b[1-9]\d* (?:[a-z]+ ){1,2}?(?:(?:are|is|were) )?(?:left(?! out)|remaining|unprocessed|undone|not done"
    r"|never (?:ran|started|done))\W*$"
    r"|without getting (?:past|beyond|any further)|exit(?:ing|s)?(?: with)?(?: status| code)?[ :=]{1,2}[1-9]\d{0,2}\W*$"
    r"|no (?:more )?(?:re-?starts|retries|attempts|tries|workers|replicas|mirrors|hosts|nodes|endpoints) (?:are )?left)\b"
    r"|\b(?:not|never|without|no|failed to) (?:yet |reaching |any )?converge(?:d|nce|s)?\b|\boscillating after\b"
    r"|\b(?:below|above|beyond|under|over|past|exceed\w*|too (?:many|few|often)|fail\w*|broke|diverg\w*|lost|died|dead|cannot|unable"
    rf"|could not|couldn't|denied|refused|not found|corrupt\w*|errors?|worse)\b.{{0,60}}\b{_LEAVING}\b(?! criteri)"
    rf"|\b{_LEAVING}\b.{{0,40}}\b(?:too (?:many|few|often)|after \d+ (?:\w+ )?(?:fail\w*|errors?|crashes)"
    r"|with (?P<part>\d+) of (?P<all>\d+))\b",
    re.IGNORECASE,
    needs=(
        "giv", "gave up", "leaving", "refus", "bail", "not ", "no ", "used up", "exhausted", "exceeded", "spent", "reached",
        "left", "remaining", "unprocessed", "undone", "never ", "without ", "exit", "failed to ", "oscillating after",
        "stopp", "abort", "quitting", "halting", "terminating",
    ),
)  # fmt: skip
"""How a program says that it leaves its work undone."""


def without_place(message: str) -> str:
    """A line without the place in the program that stands at its right."""
    return _COLUMN.sub("", message).strip()


def gives_up(text: str) -> bool:
    """Whether a line, the last one of a program, says that it leaves its work undone."""
    found = _GIVES_UP.search(split_line(clean(text))[1]) if len(text) <= _LONGEST else None
    return found is not None and (found["all"] is None or int(found["part"]) < int(found["all"]))


def _over(found: re.Match[str]) -> bool:
    """Whether more were left out than may be."""
    return _number(found[0].split()[0]) > _number(found["most"])


def _number(digits: str) -> int:
    kept = digits.replace(",", "")
    return int(kept) if kept.isdigit() else 0
