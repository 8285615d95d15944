"""What the prefix parsers share: the prefix being assembled, level names."""

from __future__ import annotations

from collections.abc import Callable

from triage.model import Level, Moment, Prefix
from triage.scan.clock import refine

Parser = Callable[[str, int, "Draft"], int]

LEVELS: dict[str, Level] = {
    "T": "debug", "TRACE": "debug", "V": "debug", "VERBOSE": "debug", "D": "debug", "DEBUG": "debug",
    "I": "info", "INFO": "info", "NOTICE": "info", "SUCCESS": "info", "SUCC": "info",
    "W": "warning", "WARN": "warning", "WARNING": "warning",
    "E": "error", "ERR": "error", "ERROR": "error",
    "F": "fatal", "FATAL": "fatal", "C": "fatal", "CRIT": "fatal", "CRITICAL": "fatal",
    "ALERT": "fatal", "EMERG": "fatal",
    "TRC": "debug", "DBG": "debug", "INF": "info", "WRN": "warning", "FTL": "fatal",
    "SKIP": "warning", "SKIPPED": "warning", "SKIPPING": "warning",
}  # fmt: skip
LEVEL_WORD = r"(?:DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|SUCCESS)"
"""A level written out, for use inside a pattern."""
LEVELS_NEED = ("DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "CRITICAL", "FATAL", "TRACE", "SUCCESS")
"""Words of which every match of ``LEVEL_WORD`` holds one."""
TIME = r"(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?"
"""A time of day and its fraction: two groups."""

_AGENT_LOGGERS = tuple(
    "torch" + sep + "distributed" + sep + part for sep in "/." for part in ("elastic", "run", "launcher")
)


class Draft:
    """A prefix being assembled, outermost layer first."""

    stream: str = ""
    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    pid: int | None = None
    gpu: int | None = None
    time: Moment | None = None
    level: Level | None = None
    logger: str | None = None
    stamped: bool = False
    labels: tuple[tuple[str, int], ...] = ()
    marks: int = 0
    """How often something was met that starts a record."""
    clocked: bool = False
    recorded: bool = False
    logged: bool = False
    """Whether a program's own logger has spoken; what launchers put there can only come before."""
    task: int | None = None
    """A launcher's task number: the rank, unless the task turns out to be a launcher itself."""
    coordinate: int | None = None
    """The rank as far as the printed parallelism coordinates tell it."""
    rank_tag: bool = False
    """Whether ``rank`` was read from a ``[rankN]:`` tag, which torchrun writes for a role ``rank`` too."""
    deduplicated: bool = False
    """Whether Ray may have appended how often it left the line out."""

    def writer(self, name: str) -> None:
        """Add a writer to the stream, inside those that are known already."""
        if not self.stream:
            self.stream = name
        elif self.stream != name and not self.stream.endswith("/" + name):
            self.stream += "/" + name

    def stamp(self, moment: Moment | None, *, collected: bool = False) -> None:
        """Note a time stamp; one that a collector puts on every line starts no record."""
        if moment is not None:
            self.time = refine(self.time, moment)
        if not collected:
            self._mark()

    def severity(self, word: str | None) -> None:
        """Note a level, which starts a record."""
        level = LEVELS.get(word.upper()) if word else None
        if level is not None:
            self.level = level
            self._mark()

    def _mark(self) -> None:
        self.stamped = True
        self.logged = True
        self.marks += 1

    def layered(self, before: int) -> None:
        """Note what kind of layer was met since there were ``before`` marks: a bare time, or a record's own."""
        if self.marks == before:
            return
        bare = self.level is None and self.logger is None and not self.labels and self.time is not None
        if before == 0 and bare:
            self.clocked = True
        else:
            self.recorded = True

    def finish(self, length: int) -> Prefix:
        """The prefix, ``length`` characters long."""
        return Prefix(
            length, self.stream, self._rank(), self.local_rank, self.host, self.pid, self.gpu,
            self.time, self.level, self.logger, self.stamped, self.clocked, self.recorded, self.labels,
        )  # fmt: skip

    def _rank(self) -> int | None:
        if self.rank is not None:
            return self.rank
        if self.task is not None:
            # a task that has local ranks or an elastic agent is a launcher, one per node
            agent = self.logger is not None and any(name in self.logger for name in _AGENT_LOGGERS)
            return None if agent or self.local_rank is not None else self.task
        return self.coordinate
