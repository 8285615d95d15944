"""Hosts, users, paths, numbers of processes and the user's own names, exchanged consistently."""

from __future__ import annotations

import keyword
import random
import re
from collections.abc import Callable
from typing import Any

from perturbations.job import Job, kind

_HOST = re.compile(r"\b(gpu-node|node|host|worker|trainer)-(\d{1,3})\b")
_NAMED = re.compile(r"(?<=/home/)\w+")
_FRAME = re.compile(r'File "(?P<path>/[^"]+\.py)", line \d+, in (?P<function>\w+)')
_LIBRARY = re.compile(r"site-packages|dist-packages|/usr/lib|/lib/python3|/opt/conda|<")
_KEPT = {"main", "worker", "train", "__init__", "forward", "__getitem__", "__iter__", "__next__", "__call__"}
_SYLLABLES = ["ba", "do", "fe", "gu", "ki", "lo", "mu", "na", "pe", "ro", "su", "ta", "vo", "zi"]


def exchanged(job: Job, changes: dict[str, str], **more: Any) -> Job | None:
    """``job`` with whole words exchanged in its texts, its files' names and its label."""
    present = {old: new for old, new in changes.items() if any(old in text for text in job.texts.values())}
    if not present or job.others:
        return None
    words = re.compile(
        r"(?<![\w])(?:" + "|".join(map(re.escape, sorted(present, key=len, reverse=True))) + r")(?![A-Za-z])"
    )
    return everywhere(job, lambda text: words.sub(lambda m: present[m[0]], text), **more)


def everywhere(job: Job, change: Callable[[str], str], **more: Any) -> Job | None:
    """``job`` with ``change`` applied to its texts, its files' names and its label's line."""
    texts = {change(name): change(text) for name, text in job.texts.items()}
    if texts == job.texts or len(texts) != len(job.texts):
        return None
    expected = dict(job.expected)
    if "key_line" in expected:
        expected["key_line"] = change(str(expected["key_line"]))
    return job.changed(texts, expected=expected, **more)


def word(rng: random.Random) -> str:
    """A name that means nothing."""
    made = "".join(rng.choice(_SYLLABLES) for _ in range(rng.choice([2, 3])))
    return made if not keyword.iskeyword(made) else f"{made}x"


@kind("hosts")
def hosts(job: Job, rng: random.Random) -> Job | None:
    """Another cluster's names; the numbers of nodes keep their order."""
    style = rng.choice(["dgx{:02}", "a3-{:04}", "nid{:06}", "r12c{:02}", "ml-h200-{}"])
    joined = "\n".join([*job.texts, *job.texts.values()])
    found = {m[0]: int(m[2]) for m in _HOST.finditer(joined) if m[1] == "gpu-node"}
    base = rng.choice([0, 10, 40])
    return exchanged(job, {old: style.format(base + number) for old, number in found.items()})


@kind("paths")
def paths(job: Job, rng: random.Random) -> Job | None:
    """Other folders for the user's program and data."""
    joined = "\n".join(job.texts.values())
    folders = {
        m["path"].rpartition("/")[0] for m in _FRAME.finditer(joined) if not _LIBRARY.search(m["path"])
    }
    tops = sorted({"/".join(folder.split("/")[:3]) for folder in folders if folder.count("/") >= 2})
    new = rng.choice(["/home/{}/{}", "/workspace/{}-{}", "/fsx/{}/{}", "/lustre/scratch/{}/{}"])
    return exchanged(job, {top: new.format(word(rng), word(rng)) for top in tops})


@kind("own-names")
def own_names(job: Job, rng: random.Random) -> Job | None:
    """The user's files and functions called by words that mean nothing."""
    joined = "\n".join(job.texts.values())
    changes = {}
    for found in _FRAME.finditer(joined):
        if _LIBRARY.search(found["path"]):
            continue
        stem = found["path"].rpartition("/")[2].removesuffix(".py")
        if len(stem) > 3 and stem not in _KEPT:
            changes.setdefault(f"{stem}.py", f"{word(rng)}.py")
        name = found["function"]
        if len(name) > 5 and name not in _KEPT and not name.startswith("__") and "_" in name:
            changes.setdefault(name, f"{word(rng)}_{word(rng)}")
    return exchanged(job, changes)


@kind("own-loggers")
def own_loggers(job: Job, rng: random.Random) -> Job | None:
    """Loggers of the user's own program called otherwise."""
    joined = "\n".join(job.texts.values())
    found = re.findall(r"(?m)(?:INFO|WARNING|ERROR)[\] :-]+([a-z_]{4,}):? ", joined)
    found += re.findall(r"(?m)\d [\[(]?([a-z_]{4,})[\])]? (?:INFO|WARNING|ERROR)\b", joined)
    own = sorted({name for name in found if found.count(name) > 2 and name not in _LOGGERS})
    return exchanged(job, {name: word(rng) for name in own})


_LOGGERS = {
    "torch",
    "root",
    "ray",
    "vllm",
    "sglang",
    "accelerate",
    "transformers",
    "deepspeed",
    "kernel",
    "step",
    "rank",
}


@kind("numbers-of-processes")
def pids(job: Job, rng: random.Random) -> Job | None:
    """Other process ids, addresses and ports."""
    joined = "\n".join(job.texts.values())
    by = rng.randrange(1000, 30000)
    pairs = re.findall(r"(?:[\w-]+:(\d{2,7}):(\d{2,7}) \[\d+\] NCCL)|\bpid[:= ]+(\d{2,7})", joined)
    own = sorted({number for pair in pairs for number in pair if number}, key=int)
    if not own:
        return None
    new = {number: str(int(number) + by) for number in own}
    which = "|".join(own)

    def moved(text: str) -> str:
        text = re.sub(
            rf"([\w-]+):({which}):({which})( \[\d+\] NCCL)",
            lambda m: f"{m[1]}:{new[m[2]]}:{new[m[3]]}{m[4]}",
            text,
        )
        return re.sub(rf"(?i)(\bpid[:= ]+|process )({which})\b", lambda m: m[1] + new[m[2]], text)

    return everywhere(job, moved)


@kind("addresses")
def addresses(job: Job, rng: random.Random) -> Job | None:
    """Another private network."""
    joined = "\n".join(job.texts.values())
    own = set(re.findall(r"\b192\.0\.2\.\d{1,3}\b", joined))
    return exchanged(job, {a: f"10.{rng.randrange(1, 250)}.7.{a.rpartition('.')[2]}" for a in sorted(own)})


@kind("dates")
def dates(job: Job, rng: random.Random) -> Job | None:
    """Another day of the same year, in all ways of writing it."""
    joined = "\n".join(job.texts.values())
    if not re.search(r"2026-11-\d\d|\b[IWEF]11\d\d |Nov \d\d|11-\d\d |2026/11", joined):
        return None
    changes = [("2026-11-", "2027-04-"), ("2026/11/", "2027/04/"), ("Nov ", "Apr "), ("26-11-", "27-04-")]

    def moved(text: str) -> str:
        for old, new in changes:
            text = text.replace(old, new)
        return re.sub(r"(?m)(^|[\[ ])([IWEF])11(\d\d \d\d:)", r"\1\g<2>04\3", text)

    return everywhere(job, moved)
