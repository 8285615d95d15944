"""What container runtimes and their collectors put before a line: Docker, CRI, kubectl, Compose, Determined, milabench.

They stamp every line, so their stamps tell the time and start no record.
"""

from __future__ import annotations

from triage.scan import clock
from triage.scan.lazy import Lazy, compiled
from triage.scan.prefixes.beside import with_values
from triage.scan.prefixes.draft import LEVEL_WORD, TIME, Draft
from triage.scan.prefixes.journal import unwrap_journal
from triage.scan.prefixes.launchers import worker
from triage.scan.tracebacks.lines import HEADER

_MAX_JSON = 1 << 17
_MESSAGE_KEYS = ("log", "message", "msg", "textPayload", "line", "event")
_EXCEPTION_KEYS = (
    "exc_info",
    "exc",
    "exception",
    "exc_text",
    "stack_trace",
    "traceback",
    "stacktrace",
    "error.stack",
)
_DETAIL_KEYS = ("error", "err", "reason", "cause", "detail", "details")
"""What went wrong, beside a message that says what for."""
_RANK_KEYS = ("global_rank", "rank", "world_rank", "dist_rank", "mpi_rank", "process_rank", "rank_id", "RANK")
_LOCAL_KEYS = ("local_rank", "localrank", "local_rank_id", "LOCAL_RANK")
_NODE_KEYS = ("node_rank", "group_rank", "machine_rank", "node_id", "node", "NODE_RANK", "GROUP_RANK")
_NO_VALUES = frozenset([*_RANK_KEYS, *_LOCAL_KEYS, *_NODE_KEYS, "line", "lineno"])
_HOST_KEYS = ("host", "hostname", "node", "node_name", "nodename", "machine", "server")
_PID_KEYS = ("pid", "process_id", "os_pid")
_PROCESS_KEYS = (
    "proc",
    "process",
    "process_index",
    "proc_id",
    "worker",
    "worker_id",
    "replica",
    "replica_id",
)
"""Fields that number processes, from what number on is not said."""
_TIME_KEYS = ("time", "timestamp", "@timestamp", "ts", "asctime", "date")
_COLLECTED_KEYS = frozenset(
    {
        "log",
        "stream",
        "attrs",
        "kubernetes",
        "docker",
        "container_id",
        "container_name",
        "source",
        "tag",
        "_p",
        "logtag",
    }
)
_EXCEPTION = r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b"
_BARE_EVENT = r"(?i)(?:exception|error|failed|failure|crash(?:ed)?|fatal|abort(?:ed)?)"
"""An event's name that says no more than that something went wrong."""
_GRAVE = frozenset(["ERROR", "FATAL", "CRITICAL", "EXCEPTION"])
_MOST_GLUED = 8
_GRID_KEYS = (
    ("DP", ("dp", "dp_rank", "data_parallel_rank")),
    ("PP", ("pp", "pp_rank", "pipeline_parallel_rank")),
    ("TP", ("tp", "tp_rank", "tensor_parallel_rank")),
)
"""Under which structured loggers keep the place of a process among those that work in parallel."""
_NESTED = ("fields", "jsonPayload")
_PLACE_KEYS = ("pod_name", "podName", "task_name", "replica_name", "pod")
"""Under which collectors keep the name of what wrote a line."""
_OF_A_COLLECTOR = "textPayload"
"""Under which Google's agent keeps a line, with a severity by the stream that it came from."""
_LEVEL_KEYS = ("level", "levelname", "severity", "lvl")
_OF_AGENTS = (
    _COLLECTED_KEYS
    | {*_MESSAGE_KEYS, *_TIME_KEYS, *_LEVEL_KEYS}
    | {
        "status",
        "service",
        "host",
        "hostname",
        "node",
        "file",
        "source_type",
        "ddsource",
        "ddtags",
        "labels",
        "resource",
    }
)
"""Keys that agents put beside the bare lines of a pod, with a level by the stream that they came from or none at all."""

_RFC3339 = Lazy(
    r"(\d{4}-\d\d-\d\d)T" + TIME + r"(Z|[+-]\d\d:?\d\d)?(?: (?:stdout|stderr) [FP](?= |$)|(?<=Z):)?(?: |\t|$)"
)
_VIEWED = Lazy(
    r"[ \t]{0,8}(?:\|[ \t]{0,8}){1,4}(\d{4}-\d\d-\d\d)[T ]"
    + TIME
    + r"(Z|[+-]\d\d:?\d\d)?[ \t]{0,4}\|(?: |$)",
    needs=("|",),
)
_KAGGLE = Lazy(r"\d{1,6}\.\ds \d{1,7}(?: |$)")
_POD = Lazy(r"\[pod/([^\s/\]]+)/([^\s\]]+)\](?: |$)")
_DETERMINED = Lazy(
    r"\[(\d{4}-\d\d-\d\d)T" + TIME + r"(Z|[+-]\d\d:?\d\d)\] (?:([0-9a-f]{8}|UNKNOWN CONTAINER) )?"
    r"(?:\[[A-Z]+\] )?(?:\[rank=(\d{1,6})\] )?\|\|(?: |$)(?:(" + LEVEL_WORD + r"): +)?"
)
_MILABENCH = Lazy(r"([\w+-]{1,80}(?:\.[\w+-]{1,40}){1,4}) \[(?:stdout|stderr)\](?: |$)")
_FLUENTD = Lazy(r"[\w.-]{1,200}\t(?=\{\")")
_COMPOSE = Lazy(
    r"([A-Za-z][\w.-]*[-_]\d+|[a-z][a-z\d_.-]{1,40}(?= {2,}\| )) +\|(?: (?![^\n]* \| )|(?<=\d \|) |$)",
    needs=("|",),
)


def unwrap_json(text: str, at: int, draft: Draft) -> str | None:
    """The message of a JSON log line such as Docker's json-file; None when it is none.

    A line counts as one only when it states a message as text and a time, or nothing but what a
    collector says of a ``log``: dictionaries that programs print do not.
    """
    if not text.startswith('{"', at) or len(text) - at > _MAX_JSON:
        return None
    import json

    try:
        data = json.loads(text[at:])
    except RecursionError:
        return None
    except ValueError:
        data = _glued(text[at:]) if '}{"' in text else None
    if not isinstance(data, dict):
        return None
    if "stream_name" in data and isinstance(data.get("data"), str):
        return str(data["data"]).rstrip("\r\n")  # its time counts from the start of the notebook
    if "MESSAGE" in data and (said := unwrap_journal(data, draft)) is not None:
        return said
    # Rust's tracing keeps the message one level deeper, and so does Google's export of structured messages
    inner = next((data[k] for k in _NESTED if isinstance(data.get(k), dict)), None)
    told = {**inner, **data} if isinstance(inner, dict) else data
    message = next((told[k] for k in _MESSAGE_KEYS if isinstance(told.get(k), str)), None)
    stamp = next((data[k] for k in _TIME_KEYS if isinstance(data.get(k), str | int | float)), None)
    if message is None or (stamp is None and not ("log" in data and data.keys() <= _COLLECTED_KEYS)):
        return None
    if stamp is not None:
        draft.stamp(clock.parse_time(str(stamp)), collected=True)
    place = _place(data)
    if place is not None:
        draft.writer(place)
    _numbers(told, draft)
    span = data.get("span")
    if isinstance(span, dict) and draft.rank is None:
        _numbers(span, draft)  # Text Generation Inference names its shards so
    if isinstance(name := told.get("processName"), str):
        worker(name, draft)
    if not (isinstance(data.get(_OF_A_COLLECTOR), str) or (place is not None and data.keys() <= _OF_AGENTS)):
        draft.severity(next((data[k] for k in _LEVEL_KEYS if isinstance(data.get(k), str)), _of_node(data)))
        if draft.level is None and isinstance(kind := data.get("event"), str):
            draft.severity(kind)  # what happened may be called by its level alone
    raised = next((told[k] for k in _EXCEPTION_KEYS if isinstance(told.get(k), str)), None)
    if raised is None:
        raised = next((v for v in told.values() if isinstance(v, str) and v.startswith(HEADER)), None)
    detail = next((told[k] for k in _DETAIL_KEYS if isinstance(told.get(k), str)), None)
    if (
        detail is None
        and isinstance(error := told.get("err"), dict)
        and isinstance(error.get("message"), str)
    ):
        detail = error["message"]
    grave = draft.level in {"error", "fatal"} or (detail and compiled(_EXCEPTION).match(detail) is not None)
    if detail and grave and HEADER not in detail and detail not in message:
        bare = compiled(_BARE_EVENT).fullmatch(message) is not None
        if bare and draft.level is None:
            draft.severity("ERROR")
        message = detail if bare else f"{message}: {detail}"
    if raised is not None and HEADER in str(raised) and HEADER not in message:
        message = f"{message}\n{raised}"
    message = with_values(message, told, _NO_VALUES)
    if HEADER in message:
        message = compiled(r"\n[ \t]*(?=\n)").sub("", message)  # some put an empty line between all frames
    return str(message).rstrip("\r\n")


def _glued(text: str) -> object:
    """The one of several objects on a line, which processes wrote at once, that tells of an error; else the first."""
    import json

    found: list[dict[str, object]] = []
    decode, at = json.JSONDecoder().raw_decode, 0
    try:
        while at < len(text) and len(found) < _MOST_GLUED:
            data, at = decode(text, at)
            if not isinstance(data, dict):
                return None
            found.append(data)
    except (ValueError, RecursionError):
        return None
    told = (d for d in found if any(d.get(k) for k in _DETAIL_KEYS) or _level_of(d) in _GRAVE)
    return next(told, found[0])


def _level_of(data: dict[str, object]) -> str:
    """The level of a structured line, in capitals."""
    return str(next((data[k] for k in _LEVEL_KEYS if k in data), "")).upper()


def _of_node(data: dict[str, object]) -> str | None:
    """The level of a record of pino or bunyan, the loggers of Node.js, which state it as a number beside pid and time."""
    level = data.get("level")
    return _NODE_LEVELS.get(level) if type(level) is int and "pid" in data and "time" in data else None


_NODE_LEVELS = {10: "DEBUG", 20: "DEBUG", 30: "INFO", 40: "WARNING", 50: "ERROR", 60: "FATAL"}


def _place(data: dict[str, object]) -> str | None:
    """The pod or task that a collector names beside a message."""
    if isinstance(stream := data.get("logStreamName"), str) and stream:
        return stream
    resource = data.get("resource")
    told = [
        data.get("kubernetes"),
        resource.get("labels") if isinstance(resource, dict) else None,
        data.get("labels"),
    ]
    for labels in told:
        names = labels if isinstance(labels, dict) else {}
        pod = next((names[k] for k in _PLACE_KEYS if isinstance(names.get(k), str) and names[k]), None)
        if pod is not None:
            container = names.get("container_name") or names.get("container")
            return f"{pod}:{container}" if isinstance(container, str) and container else str(pod)
    return None


def listed(text: str, at: int, draft: Draft) -> int:
    """``[{"stream_name":"stderr","time":14.8,"data":"…"}`` and ``,{…`` of Kaggle: one array, an element a line."""
    return at + 1 if text.startswith('{"stream_name"', at + 1) else at


def _numbers(data: dict[str, object], draft: Draft) -> None:
    """Note the ranks that structured loggers state beside the message, or in an object beside it."""
    rank, local = _number(data, _RANK_KEYS), _number(data, _LOCAL_KEYS)
    node, pid = _number(data, _NODE_KEYS), _number(data, _PID_KEYS)
    host = next((h for k in _HOST_KEYS if isinstance(h := data.get(k), str) and 0 < len(h) < 256), None)
    if rank is not None:
        draft.rank = rank
        draft.writer(f"rank{rank}")
    if local is not None:
        draft.local_rank = local
        draft.host = draft.host or host
        if rank is None and node is not None:
            draft.labels += (("NODE", node), ("LOCAL", local))
            draft.writer(f"seat {node}:{local}")
        elif rank is None and host is not None:
            draft.writer(f"seat {host}:{local}")
    elif draft.rank is None and not draft.labels and len(places := _places(data)) > 1:
        draft.labels = places
        draft.writer(" ".join(f"{name}{number}" for name, number in places))
    elif draft.rank is None:
        name = next((name for name in _PROCESS_KEYS if type(data.get(name)) is int), None)
        if name is not None:
            draft.writer(f"lead {name} {data[name]}")
    if pid is not None and draft.pid is None:
        draft.pid = pid
        if not draft.stream:
            draft.writer(f"pid {pid}@{host}" if host else f"pid {pid}")
    if draft.rank is None and draft.local_rank is None:
        for inner in data.values():
            if isinstance(inner, dict) and (_number(inner, _RANK_KEYS), _number(inner, _LOCAL_KEYS)) != (
                None,
                None,
            ):
                _numbers(inner, draft)
                return


def _places(data: dict[str, object]) -> tuple[tuple[str, int], ...]:
    """The coordinates of a process that are stated beside a message, from the slowest to the fastest."""
    told = ((name, _number(data, keys)) for name, keys in _GRID_KEYS)
    return tuple((name, number) for name, number in told if number is not None)


def _number(data: dict[str, object], names: tuple[str, ...]) -> int | None:
    """The whole number under one of ``names``, which some write as text."""
    for name in names:
        value = data.get(name)
        if isinstance(value, str) and value.isdecimal() and len(value) < 8:
            value = int(value)
        if type(value) is int and value >= 0:
            return value
    return None


# a level in front of a date begins what a logger wrote, and is left to it
_LEVEL = Lazy("(" + LEVEL_WORD + r")(?:: | +)(?=\S)(?!(?:\d{4}-)?\d\d-\d\d[ T]\d\d:)")


def rfc3339(text: str, at: int, draft: Draft) -> int:
    """``2025-11-04T12:34:56.789Z stderr F ``: CRI, ``kubectl logs --timestamps``, dmesg's iso; ``…Z: `` of clouds' job logs."""
    found = _RFC3339.match(text, at)
    if found is None:
        return at
    date, time, fraction, zone = found.groups()
    moment = clock.wall(date, time, fraction, zone)
    if moment is None:
        return at
    kernel = zone is not None and text[found.end(2)] == "," and len(fraction or "") == 6
    if kernel:
        draft.logger = "kernel"
    draft.stamp(moment, collected=zone is not None and not kernel)
    level = _LEVEL.match(text, found.end())
    if level is not None:
        draft.severity(level[1])
        return level.end()
    return found.end()


def viewed(text: str, at: int, draft: Draft) -> int:
    """``  | 2025-11-04T12:34:56.789Z | ``: the columns in which a log's viewer shows time and message."""
    found = None if at else _VIEWED.match(text, at)
    if found is None:
        return at
    moment = clock.wall(found[1], *found.groups()[1:])
    if moment is None:
        return at
    draft.stamp(moment, collected=True)
    return found.end()


def kaggle(text: str, at: int, draft: Draft) -> int:
    """``4025.9s 112 ``: the seconds and the line's number that Kaggle puts before what a notebook prints."""
    found = _KAGGLE.match(text, at)
    return at if found is None else found.end()


def pod(text: str, at: int, draft: Draft) -> int:
    """``[pod/trainer-0/pytorch] ``: ``kubectl logs --prefix``."""
    found = _POD.match(text, at)
    if found is None:
        return at
    draft.writer(f"{found[1]}:{found[2]}")
    return found.end()


def determined(text: str, at: int, draft: Draft) -> int:
    """``[2025-11-04T12:34:56.789Z] 0d4e8a1b [rank=3] || INFO: ``: ``det task logs``, before every line."""
    found = _DETERMINED.match(text, at)
    if found is None:
        return at
    date, time, fraction, zone, container, rank, level = found.groups()
    moment = clock.wall(date, time, fraction, zone)
    if moment is None:
        return at
    draft.stamp(moment, collected=True)
    if container is not None and " " not in container:
        draft.writer(container)
    if rank is not None:
        draft.rank = int(rank)
        draft.writer(f"rank{draft.rank}")
    draft.severity(level)
    return found.end()


def milabench(text: str, at: int, draft: Draft) -> int:
    """``llm-full.D0 [stderr] ``: milabench names the run and the channel."""
    found = None if at or draft.logged else _MILABENCH.match(text, at)
    if found is None:
        return fluentd(text, at, draft)
    draft.writer(found[1])
    return found.end()


def fluentd(text: str, at: int, draft: Draft) -> int:
    """The tag between fluentd's time and its JSON."""
    found = _FLUENTD.match(text, at) if at and not draft.logged else None
    return at if found is None else found.end()


def compose(text: str, at: int, draft: Draft) -> int:
    """``worker-3 | ``: Compose and task runners that print like it."""
    if draft.logged:
        return at
    found = _COMPOSE.match(text, at)
    if found is None:
        return at
    draft.writer(found[1])
    return found.end()
