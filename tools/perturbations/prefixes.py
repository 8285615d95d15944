"""What runtimes and log collectors put before every line."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

from perturbations.job import Job, kind, lined, moments, unlined

_CARRIED = re.compile(
    r"\s*(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+:|\[ *\d+\.\d+\] |\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] |\{\""
    r"|\[pod/|\S+ +\| |\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:)"
)
_DAY = "2026-11-21"


def plain(job: Job) -> bool:
    """Whether no runtime or collector has put anything before the lines of ``job`` yet, and all files are logs."""
    if job.others or not job.texts:
        return False
    lines = [line for text in job.texts.values() for line in lined(text) if line.strip()]
    return sum(bool(_CARRIED.match(line)) for line in lines) * 10 < len(lines) and "\r" not in "".join(
        job.texts.values()
    )


def hms(moment: float, digits: int) -> str:
    """A time of day with a fraction."""
    whole, fraction = divmod(round(moment * 10**digits), 10**digits)
    clock = f"{whole // 3600 % 24:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{clock}.{fraction:0{digits}}" if digits else clock


def stamped(job: Job, before: Callable[[str, float, str], str]) -> Job | None:
    """``job`` with each line as ``before`` (file, moment, line) makes it; None where nobody could stamp it."""
    times = moments(job) if plain(job) else None
    if times is None:
        return None
    return job.changed(
        {
            name: unlined([before(name, next(times[name]), line) for line in lined(text)])
            for name, text in job.texts.items()
        }
    )


@kind("cri")
def cri(job: Job, rng: random.Random) -> Job | None:
    """containerd's files below /var/log/pods."""
    stream = rng.choice(["stdout", "stderr"])
    return stamped(job, lambda _, t, line: f"{_DAY}T{hms(t, 9)}Z {stream} F {line}")


@kind("docker-json")
def docker_json(job: Job, rng: random.Random) -> Job | None:
    """docker's json-file driver."""
    stream = rng.choice(["stdout", "stderr"])

    def wrapped(_: str, moment: float, line: str) -> str:
        text = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return json.dumps(
            {"log": f"{text}\n", "stream": stream, "time": f"{_DAY}T{hms(moment, 9)}Z"}, separators=(",", ":")
        )

    return stamped(job, wrapped)


@kind("docker-timestamps")
def docker_timestamps(job: Job, rng: random.Random) -> Job | None:
    """``docker logs --timestamps``, ``kubectl logs --timestamps``."""
    return stamped(job, lambda _, t, line: f"{_DAY}T{hms(t, 9)}Z {line}")


@kind("moreutils-ts")
def moreutils_ts(job: Job, rng: random.Random) -> Job | None:
    """``python train.py 2>&1 | ts``."""
    return stamped(job, lambda _, t, line: f"Nov 21 {hms(t, 0)} {line}")


@kind("bracketed-time")
def bracketed_time(job: Job, rng: random.Random) -> Job | None:
    """``ts '[%Y-%m-%d %H:%M:%S]'`` and tmux's or CI's time stamps."""
    return stamped(job, lambda _, t, line: f"[{_DAY} {hms(t, 0)}] {line}")


@kind("kubectl")
def kubectl(job: Job, rng: random.Random) -> Job | None:
    """``kubectl logs --prefix``; pods of a Deployment, whose names count nothing."""
    if not plain(job):
        return None
    ends = {name: "".join(rng.choices("bcdfghjklmnpqrstvwxz", k=5)) for name in sorted(job.texts)}
    return job.changed(
        {
            name: unlined([f"[pod/trainer-7d9f8bc6d-{ends[name]}/main] {line}" for line in lined(text)], text)
            for name, text in job.texts.items()
        }
    )


@kind("compose")
def compose(job: Job, rng: random.Random) -> Job | None:
    """``docker compose logs``: one service a file."""
    if not plain(job):
        return None
    services = dict(zip(sorted(job.texts), rng.sample(_SERVICES, len(_SERVICES)), strict=False))
    if len(services) < len(job.texts):
        return None
    wide = max(map(len, services.values())) + 2
    return job.changed(
        {
            name: unlined([f"{services[name] + '-1':{wide}}  | {line}" for line in lined(text)], text)
            for name, text in job.texts.items()
        }
    )


_SERVICES = ["amber", "birch", "cedar", "dahlia", "elder", "fern", "gorse", "hazel", "iris"]


@kind("journald")
def journald(job: Job, rng: random.Random) -> Job | None:
    """``journalctl -u train``: all of a job on the host that started it."""
    if len(job.texts) != 1:
        return None
    pid = rng.randrange(2000, 90000)
    return stamped(job, lambda _, t, line: f"Nov 21 {hms(t, 0)} launch-box train.sh[{pid}]: {line}")


@kind("rsyslog")
def rsyslog(job: Job, rng: random.Random) -> Job | None:
    """rsyslog's file format with high-precision stamps."""
    if len(job.texts) != 1:
        return None
    pid = rng.randrange(2000, 90000)
    return stamped(job, lambda _, t, line: f"{_DAY}T{hms(t, 6)}+00:00 launch-box train[{pid}]: {line}")


@kind("ci")
def ci(job: Job, rng: random.Random) -> Job | None:
    """A CI system's stamp, without a word of its own."""
    return stamped(job, lambda _, t, line: f"{_DAY}T{hms(t, 7)}Z {line}")
