"""How the same text is kept, shown and passed on: line ends, colours, white space, wrapping, copies."""

from __future__ import annotations

import random

from perturbations.job import Job, kind, lined, unlined


@kind("crlf")
def crlf(job: Job, rng: random.Random) -> Job | None:
    """Through Windows, or from a terminal that was recorded."""
    return job.each(lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n")) if job.texts else None


@kind("coloured")
def coloured(job: Job, rng: random.Random) -> Job | None:
    """Colours round whole lines."""
    return job.each_line(lambda line: f"\x1b[{rng.choice([31, 32, 33, 36])}m{line}\x1b[0m" if line else line)


@kind("trailing-space")
def trailing_space(job: Job, rng: random.Random) -> Job | None:
    """A terminal's copy, filled up with blanks."""
    return job.each_line(lambda line: line + " " * rng.choice([0, 1, 7, 40]))


@kind("indented")
def indented(job: Job, rng: random.Random) -> Job | None:
    """A log that was pasted as a block of Markdown or YAML."""
    by = " " * rng.choice([2, 4, 8])
    return job.each_line(lambda line: by + line if line else line) if not job.others else None


@kind("tabbed")
def tabbed(job: Job, rng: random.Random) -> Job | None:
    """A log that was pasted into a table or a script."""
    return job.each_line(lambda line: "\t" + line) if not job.others else None


@kind("quoted")
def quoted(job: Job, rng: random.Random) -> Job | None:
    """A log that an answer by mail quotes."""
    return job.each_line(lambda line: f"> {line}") if not job.others else None


@kind("gzip")
def gzip(job: Job, rng: random.Random) -> Job | None:
    """logrotate."""
    return job.changed(job.texts, packed=frozenset(job.texts)) if job.texts else None


@kind("blank-lines")
def blank_lines(job: Job, rng: random.Random) -> Job | None:
    """An empty line behind each, as a page that was copied has them."""
    return job.each(lambda text: text.replace("\n", "\n\n"))


@kind("wrapped")
def wrapped(job: Job, rng: random.Random) -> Job | None:
    """What a terminal of 120 columns shows, captured by ``tmux capture-pane`` without ``-J``."""
    if job.others or any("\r" in text or "\t" in text for text in job.texts.values()):
        return None

    def narrow(text: str) -> str:
        lines = lined(text)
        return unlined(
            [line[i : i + 120].rstrip() for line in lines for i in range(0, max(len(line), 1), 120)]
        )

    return job.each(narrow, rank_may_be_lost=True)


@kind("copied")
def copied(job: Job, rng: random.Random) -> Job | None:
    """The same log twice, as ``tee`` and the scheduler both keep it."""
    if len(job.texts) != 1 or job.others:
        return None
    ((name, text),) = job.texts.items()
    return job.changed({name: text, f"logs/tee-{name}": text})


@kind("bars")
def bars(job: Job, rng: random.Random) -> Job | None:
    """A bar of another library that redraws itself before the first line of each file."""
    drawn = "\r".join(f"Fetching 12 files: {p * 100 // 12:3d}%|{'█' * p:12}| {p}/12" for p in range(13))
    return job.each(lambda text: f"{drawn}\n{text}") if not job.others else None
