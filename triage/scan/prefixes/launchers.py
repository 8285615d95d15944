"""What launchers put before each line of the processes they start: who is speaking.

srun, mpirun, MPICH, pdsh, torchrun, torchx, torch's own rank tag, Ray and vLLM's process tag.
"""

from __future__ import annotations

from triage.scan import clock
from triage.scan.lazy import Lazy, compiled
from triage.scan.prefixes.draft import Draft

_TASK = Lazy(
    r"(\d{1,5}):(?: |$)"
    r"(?!\[[^\[\]\n]{0,200}(?:[Aa]llreduce|[Aa]llgather|[Bb]roadcast|[Aa]lltoall|[Rr]educescatter)[^\[\]\n]{0,2000}[\],]\s*$)"
)
"""A task's number, unless Horovod lists there which tensors of that rank are missing."""
_PADDED_TASK = Lazy(r"(?: \d| {2}\d| \d\d):(?: |$)")
_MPI = Lazy(
    r"\[(?:[\w.@-]{1,128},)?(?:mpirank:)?(\d{1,10})(?:,(algo-\d{1,5}))?\]"
    r"(?:\[([\w.-]{1,255}):(\d{1,10}|unknown)\])?<(?:stdout|stderr|stddiag)>:?",
    needs=("<std",),
)
_MPI_TIMED = Lazy(
    r"(\[?)[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})(\]?)(?=\[|<(?:stdout|stderr)>:)"
)
_MPI_STREAM = Lazy(r"<(?:stdout|stderr|stddiag)>:")
_BRACKET_HOST_RANK = Lazy(r"\[((?![\w.-]*\.(?:py|cpp|cc|cu|h|c|go|rs):)[a-z][\w.-]{0,62}):(\d{1,5})\]:")
_LINE_NUMBER = Lazy(r"\[\d{4,8}\] (?=\S)")
_MPICH = Lazy(r"\[(\d{1,5})\](?:(:)(?= {0,40}\S)| )")
_TEE = Lazy(r"\[(default|worker|trainer|local_?rank)(\d{1,4})\]:")
_RANK = Lazy(
    r"\[([Rr]ank|RANK|MPI_Rank|[Gg]lobal[ _][Rr]ank|GLOBAL_RANK|[Pp]rocess)[ :=_-]{0,2}(\d{1,6})(?:/\d{1,6})?\](:?)",
    needs=(
        "[rank",
        "[Rank",
        "[RANK",
        "[MPI_Rank",
        "[global",
        "[Global",
        "[GLOBAL_RANK",
        "[process",
        "[Process",
    ),
)
_RANK_AMONG = Lazy(
    r"\[(?!PG\b|[\w.]+:\d+, )([^\[\]\n]{0,60}?)(?<![\w.])"
    r"(?:global[ _]?)?[Rr]ank[ :=_#-]{0,2}(\d{1,6})(?![\w.])([^\[\]\n]{0,60})\]:?(?: |(?=\[))"
)
OF_A_PART = (
    "local", "group", "node", "pg", "tp", "dp", "pp", "ep", "cp", "sp", "role", "machine", "server", "from", "to", "for",
    "by", "on", "of", "at", "with", "and", "waiting", "peer", "src", "dst", "source", "root", "remote", "expert",
    "data", "tensor", "pipeline", "model", "parallel", "lora", "low", "adapter", "matrix",
)  # fmt: skip
"""Words before ``rank`` that make it another number than the writer's own among all."""
_LOCAL_AMONG = Lazy(r"(?i)[^\n]*?\blocal[ _-]?rank[ :=_#-]{0,2}(\d{1,4})(?!\d)")
_MARGIN = Lazy(
    r"(?:> ?|[ \t]{1,8})(?=\[(?:default|rank)\d{1,6}\]:|\([^()\n]{1,120}?\bpid=\d{1,10}(?:, ip=[^\s)]{1,40})?\)"
    r"|(?:ERROR|WARNING|INFO|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d "
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: [TDPEC]P\d{1,5}){1,5}\] "
    r"|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[TRT-LLM\] )",
    needs=(
        "[default", "[rank", "pid=", "ERROR ", "WARNING ", "INFO ", "CRITICAL ", "[TRT-LLM] ",
        " TP", " DP", " PP", " EP", " CP",
    ),
)  # fmt: skip
_COUNTED = Lazy(r"[a-z][a-z-]{0,20}\d{2,8}$")
"""How clusters number their machines: digits enough for all."""
_RAISES = Lazy(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:: |$)")
_NAME = r"([a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,8})"
_HOST = Lazy(_NAME + r":(?: |$)")
_HOST_RANK = Lazy(_NAME + r":(\d{1,5}): ")
_REPLICA = Lazy(
    r"([A-Za-z][\w.-]{0,80})/(\d{1,5}) "
    r"(?=\[(?:default|rank|worker|trainer|local_?rank)\d{1,6}\]:|\[[EWIF]\d{3,4} |[EWIF]\d{4} \d\d:|Traceback \(most recent| {2}File \")"
)
_SPOKEN_FOR = Lazy(
    r"(?:[A-Za-z0-9][\w./:-]{0,120} ){1,3}(?=\[(?:default|rank)\d{1,6}\]:|\[1,mpirank:)"
    r"|[a-z][a-z0-9.]{0,60}-[a-z0-9.-]{1,60} [a-z][a-z0-9-]{1,60} (?=\([A-Z]\w{2,40}(?: \w{1,20})? pid=\d)",
    needs=("[default", "[rank", "[1,mpirank:", "pid="),
)
_BARE_TAG = Lazy(
    r"rank(\d{1,6}):(?: (?=Traceback \(most recent|  |[A-Za-z_][\w.]{0,80}(?:Error|Exception|Interrupt)(?::|$))|(?=\[[EWIF](?:\d| )))",
    needs=("rank",),
)
_UNKNOWN = Lazy(
    r"(?:[^\s\[][^\s]{0,100}|\[[^\]\n]{1,60}\](?:[<(\w:|][^\s\[]{0,40})?)?"
    r"(?:[ \t]{1,8}\S{1,100}){0,2}[ \t]{0,8}(?=\[rank\d{1,6}\]:(?: |\[|$))"
)
_GLUED = r"[\w\]})%.!](?=\[rank\d{1,6}\]:(?: |\[[EWIF]\d))|[ ,:;|](?=\[rank\d{1,6}\]: Traceback \(most recent call last\):)"
"""The end of what somebody wrote without ending the line, before torch's tag."""
_FOREIGN = 320
"""Characters within which torch's own tag has to follow."""
_PROCESS = Lazy(r"\(([^\n]{0,120}?) ?\bpid=(\d{1,10})(?:, ip=([^\s,)]{1,64}))?\)(?: |$)")
_RAY_DAEMON = Lazy(r"\((?:pid=)?(raylet|autoscaler|gcs_server)(?: \+\w+)?(?:, ip=([^\s,)]{1,64}))?\)(?: |$)")
_OPEN_MPI = Lazy(r"\[([A-Za-z0-9][\w.-]{0,254}):(\d{1,10})\] ")
_UCX_FATAL = Lazy(r"\[([A-Za-z0-9][\w.-]{0,254}):(\d{1,10}) *:\d+:\d+\] +(?=\w+\.(?:c|inl|h):\d+ )")
MAX_LOCAL = 16
"""No node has more GPUs; a greater number beside a host is a global rank."""
_LABEL = r"(?<![A-Z])(ATTN_CP|MOE_DP|PCP|DCP|DP|PP|TP|EP|CP|rank=)(\d{1,5})(?!\d)"

# lines of c10d begin like this after the rank inside their process group, which is no global rank
_GROUP_RANK = ("Watchdog", "NCCL", "Some NCCL", "To avoid", "Found key", "Timeout at")
# words before a digit that name a thing that is not a machine
_NOT_HOSTS = frozenset(
    """
    accuracy acc batch bert bf block bond cc chunk clang cpu cuda dataset docker ens enp eno eth
    epoch exit expert f float fp fold g gcc gpt head http https hx ib int iter iteration layer level
    lib libcuda llama lo loss lr md metric mixtral mlx model num nv nvme opt p param part phase pid
    pip ps py python qwen rank resnet run sd sha shard stage step t task test thread token top try u
    utf v veth vit x xid
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
_FILES = (
    ".py",
    ".cc",
    ".cpp",
    ".cu",
    ".cuh",
    ".h",
    ".hpp",
    ".c",
    ".so",
    ".sh",
    ".yaml",
    ".json",
    ".txt",
    ".error",
)
_MACHINE_WORDS = (
    "node", "host", "gpu", "dgx", "hgx", "worker", "compute", "ip", "nid", "login", "server", "machine",
    "master", "cn", "gn", "pod", "dlc", "rig", "slurm", "cluster", "vm",
)  # fmt: skip


def task_label(text: str, at: int, draft: Draft) -> int:
    """``18: ``: ``srun --label``. The task is the rank when there is one task per GPU."""
    if draft.logged:
        return at
    found = _TASK.match(text, at)
    if found is None:
        return at
    draft.task = int(found[1])
    draft.writer(f"task {draft.task}")
    return found.end()


def margin(text: str, at: int, draft: Draft) -> int:
    """The indentation or ``> `` under which logs are quoted, before a rank tag, a process' name or an engine's stamp."""
    found = None if at else _MARGIN.match(text, at)
    return at if found is None else found.end()


def padded_task_label(text: str, at: int, draft: Draft) -> int:
    """`` 3: ``: ``srun --label`` pads to the width of the last task, two or three columns. Four are a Rust backtrace's."""
    if at or draft.logged:
        return at
    found = _PADDED_TASK.match(text, at)
    if found is None:
        return at
    draft.task = int(found[0].rstrip(": "))
    draft.writer(f"task {draft.task}")
    return found.end()


def mpi(text: str, at: int, draft: Draft) -> int:
    """``[1,3]<stderr>:`` of mpirun, ``[prterun-…@1,3][host:pid]<stderr>: `` of prte, ``[1,mpirank:3,algo-1]<stderr>:`` of SageMaker."""
    found = _MPI.match(text, at)
    if found is None:
        return at
    number, node, host, pid = found.groups()
    draft.task = int(number)
    draft.host = host or draft.host or node
    draft.pid = int(pid) if pid and pid.isdigit() else draft.pid
    draft.writer(f"task {draft.task}")
    return _after_colon(text, found.end())


def mpi_timed(text: str, at: int, draft: Draft) -> int:
    """``[Fri Nov 20 18:10:07 2026][1,3]<stderr>: ``: mpirun's time stands before every line and starts no record."""
    found = _MPI_TIMED.match(text, at)
    if found is None or bool(found[1]) != bool(found[6]):
        return at
    moment = clock.named(found[2], found[3], found[5], found[4])
    if moment is None:
        return at
    tag = _MPI_STREAM.match(text, found.end())
    if tag is None and _MPI.match(text, found.end()) is None:
        return at
    draft.stamp(moment, collected=True)
    return found.end() if tag is None else _after_colon(text, tag.end())


def mpich(text: str, at: int, draft: Draft) -> int:
    """``[3] `` of MPICH, and ``[3]:`` of a torchrun prefix template that says ``[${rank}]:``."""
    if draft.logged:
        return at
    found = _MPICH.match(text, at)
    if found is None or text.startswith("NCCL ", found.end()):
        return at
    draft.task = int(found[1])
    draft.writer(f"task {draft.task}")
    return _after_colon(text, found.end()) if found[2] else found.end()


def host_rank(text: str, at: int, draft: Draft) -> int:
    """``[gpu-12:6]:``, a common torchrun and accelerate template of host and local rank."""
    if draft.logged:
        return at
    found = _BRACKET_HOST_RANK.match(text, at)
    if found is None:
        return at
    draft.host = found[1]
    draft.writer(draft.host)
    _seat(int(found[2]), draft)
    return _after_colon(text, found.end())


def _seat(number: int, draft: Draft) -> None:
    """Note a number beside a host: the local rank, unless no node has so many GPUs."""
    if number < MAX_LOCAL:
        draft.local_rank = number
        draft.writer(f"local_rank{number}")
    else:
        draft.task = number
        draft.writer(f"task {number}")


def replica(text: str, at: int, draft: Draft) -> int:
    """``pretrain/0 ``: ``torchx log`` and NeMo-Run, which say role and replica; a replica is a node."""
    found = None if at or draft.logged else _REPLICA.match(text, at)
    if found is None:
        return spoken_for(text, at, draft)
    draft.writer(f"{found[1]}:{found[2]}")
    return found.end()


def foreign(text: str, at: int) -> int:
    """Index of torch's rank tag behind what an unknown collector, or a writer that broke off, left before it."""
    if text.find("[rank", at, at + _FOREIGN) < 0:
        return at
    found = _UNKNOWN.match(text, at) or compiled(_GLUED).search(text, at, at + _FOREIGN)
    return at if found is None else found.end()


def spoken_for(text: str, at: int, draft: Draft) -> int:
    """``pod container `` of stern, a log stream's name: words before a tag that nothing but a launcher writes."""
    if draft.logged or (at and draft.time is None):
        return at
    found = _SPOKEN_FOR.match(text, at)
    if found is None:
        return at
    draft.writer(found[0].rstrip(" ").replace("/", ":"))
    return found.end()


def line_number(text: str, at: int, draft: Draft) -> int:
    """``[80746] `` of consoles that number the lines they export; nobody's rank."""
    found = _LINE_NUMBER.match(text, at)
    return at if found is None or at else found.end()


def tee(text: str, at: int, draft: Draft) -> int:
    """``[default3]:`` of ``torchrun --tee``: the local rank."""
    found = _TEE.match(text, at)
    if found is None:
        return at
    draft.local_rank = int(found[2])
    draft.writer(f"{found[1]}{found[2]}")
    return found.end()


def rank_tag(text: str, at: int, draft: Draft) -> int:
    """``[rank3]: `` of torch's exception hook, ``[rank3]:`` of its loggers, ``[rank: 3] `` of Lightning.

    torchrun writes ``[rank3]:`` for a *local* rank when the role is called ``rank``; that shows
    only when a second tag follows.
    """
    found = _RANK.match(text, at)
    if found is None:
        return rank_among(text, at, draft)
    word, number, colon = found.groups()
    if word == "Rank" and draft.logged and (draft.logger is None or ".cpp:" in draft.logger):
        # c10d counts these inside the process group
        return at
    end = found.end()
    if colon:
        if draft.rank_tag and draft.local_rank is None:
            draft.local_rank = draft.rank
        draft.rank_tag = True
        end = _after_colon(text, end)
    else:
        if not text.startswith((" ",) if word == "Rank" else (" ", "["), end):
            return at
        if word == "Rank" and text.startswith(_GROUP_RANK, end + 1):
            return at
        end += text.startswith(" ", end)
    draft.rank = int(number)
    draft.writer(f"rank{draft.rank}")
    return end


def rank_among(text: str, at: int, draft: Draft) -> int:
    """``[node=2 rank=11] ``, ``[gpu-12/rank3] ``, ``[train|rank 3|step 40] ``: the rank beside other things."""
    if draft.rank is not None or text.find("ank", at, at + 80) < 0:
        return at
    found = _RANK_AMONG.match(text, at)
    if found is None:
        return at
    before, number, after = found.groups()
    if not before.strip() and not after.strip():
        return at  # c10d's own, which counts within a group
    if before.rstrip(" _-").lower().endswith(OF_A_PART) or "alpha" in after:
        return at
    draft.rank = int(number)
    draft.writer(f"rank{draft.rank}")
    local = _LOCAL_AMONG.match(f"{before} {after}", 0)
    if local is not None and draft.local_rank is None:
        draft.local_rank = int(local[1])
    return found.end()


def bare_tag(text: str, at: int, draft: Draft) -> int:
    """``rank3: `` before a traceback: torch's tag where a page took the brackets away."""
    found = None if at else _BARE_TAG.match(text, at)
    if found is None:
        return at
    draft.rank = int(found[1])
    draft.writer(f"rank{draft.rank}")
    return found.end()


def host_label(text: str, at: int, draft: Draft) -> int:
    """``node-17: `` of pdsh and clush, and ``node17:3: `` of a torchrun prefix template: the local rank."""
    if draft.logged:
        return at
    ranked = _HOST_RANK.match(text, at)
    found = ranked or _HOST.match(text, at)
    if found is None or not _is_machine(found[1], text, found.end()):
        return at
    draft.host = found[1]
    draft.writer(draft.host)
    if ranked is not None:
        _seat(int(ranked[2]), draft)
    return found.end()


def process(text: str, at: int, draft: Draft) -> int:
    """``(WorkerDict pid=3490362, ip=10.0.0.6) `` of Ray and SkyPilot, ``(Worker_TP1 pid=901) `` of vLLM."""
    found = _PROCESS.match(text, at)
    if found is None:
        found = _RAY_DAEMON.match(text, at)
        if found is None:
            return at
        draft.logger, address = found.groups()
        draft.writer(f"{draft.logger}@{address}" if address else str(draft.logger))
    else:
        name, pid, address = found.groups()
        draft.pid = int(pid)
        draft.writer(f"pid {pid}@{address}" if address else f"pid {pid}")
        _title(name, draft)
        if ", rank=" in name:
            # SkyPilot counts nodes
            draft.task, draft.rank = draft.rank, None
    if address:
        draft.host = address
    draft.deduplicated = True
    return found.end()


def worker(name: str, draft: Draft) -> None:
    """``Worker_TP1``, ``VllmWorker-1``, ``EngineCore_DP1``: an engine's process, as Python's loggers name it in a field."""
    if not compiled(_ENGINES).match(name):
        return
    draft.writer(name)
    _title(name, draft)
    counted = compiled(_NUMBERED).fullmatch(name)
    if counted is not None:
        draft.coordinate = int(counted[1])


_ENGINES = r"(?:Vllm)?Worker[_-]|EngineCore_"
_NUMBERED = r"VllmWorker-(\d{1,5})"


def _title(name: str, draft: Draft) -> None:
    """Note the coordinates in the name of a process, and the rank that they tell of a worker."""
    if add_labels(name, draft) and "Worker" in name:
        draft.coordinate = _vllm_rank(dict(draft.labels))


def open_mpi(text: str, at: int, draft: Draft) -> int:
    """``[gpu-12:12345] ``: Open MPI and PMIx about themselves, and Open MPI's signal handler; UCX in its last words.

    Who puts ``[gpu-12:3] `` before lines counts the processes of each host: no pid is that small beside others.
    """
    if draft.logged:
        return at
    found = _OPEN_MPI.match(text, at) or _UCX_FATAL.match(text, at)
    if found is None or found[1].endswith(_FILES):
        return at
    draft.host = found[1]
    if len(found[2]) == 1:
        draft.local_rank = int(found[2])
        draft.writer(f"seat {draft.host}:{draft.local_rank}")
        return found.end()
    draft.pid = int(found[2])
    draft.writer(f"pid {draft.pid}@{draft.host}")
    return found.end()


def add_labels(text: str, draft: Draft) -> bool:
    """Note parallelism coordinates such as ``DP0 TP3``, or ``rank=3``; whether there were any."""
    found = compiled(_LABEL).findall(text)
    for name, number in found:
        if name == "rank=":
            draft.rank = int(number)
    draft.labels += labels_in(text)
    return bool(found)


def labels_in(text: str) -> tuple[tuple[str, int], ...]:
    """The parallelism coordinates in a name, in its order: ``scheduler_DP0_TP3`` has ``(("DP", 0), ("TP", 3))``."""
    found = compiled(_LABEL).findall(text)
    return tuple((name, int(number)) for name, number in found if name != "rank=")


def titled_rank(title: str) -> int | None:
    """The rank of a process by the title that it gives itself, ``sglang::scheduler_TP3``, ``VLLM::Worker_TP3``, or by its ``--rank``."""
    places = dict(labels_in(title))
    if title.startswith("sglang::"):
        return sglang_rank(places)
    given = compiled(_GIVEN).search(title)
    if given is not None:
        return int(given[1])
    return _vllm_rank(places) if "Worker" in title else None


_GIVEN = r"(?:^| )(?:--(?:global[_-]|world[_-]|proc[_-]|process[_-])?rank[ =]|RANK=)(\d{1,5})(?= |$)"
"""The rank that a launcher gives to a process on its command line."""


def _vllm_rank(places: dict[str, int]) -> int | None:
    """The rank of the worker that vLLM names by its coordinates; a coordinate is left out where its size is 1.

    Ranks count data parallel, pipeline, prefill context and tensor coordinates, the last one fastest. Experts are
    spread over all of these but pipeline stages, decode contexts lie within the tensor coordinate.
    """
    counted = [name for name in ("DP", "PP", "PCP", "TP") if name in places]
    if "PP" not in places and "EP" in places:
        return places["EP"]
    return places[counted[0]] if len(counted) == 1 else None


def sglang_rank(places: dict[str, int]) -> int | None:
    """The rank of SGLang's scheduler by its coordinates, of which experts and contexts lie within the tensor one.

    A coordinate is left out where its size is 1, so that of a data-parallel one alone each is a replica of one rank.
    Beside others it may count replicas or the attention of one, and tells no rank.
    """
    counted = [name for name in ("DP", "PP", "TP") if name in places]
    return places[counted[0]] if len(counted) == 1 else None


def _after_colon(text: str, at: int) -> int:
    """Index of the message after a tag's colon, where some writers add a space and some do not.

    Python indents tracebacks by even numbers of spaces, so an odd number has one from the tag.
    """
    end = at
    while text.startswith(" ", end):
        end += 1
    return at + 1 if (end - at) % 2 else at


def _is_machine(name: str, text: str, end: int) -> bool:
    """Whether the word before a colon names a machine, judging by itself and by what follows."""
    if text.startswith((f"{name}:", f"[{name}:"), end):
        return True  # NCCL, Open MPI and UCX name it once more, before a pid
    if name[0].isdigit():
        parts = name.split(".")
        return len(parts) == 4 and all(part.isdigit() and len(part) < 4 for part in parts)
    if name.endswith(_FILES):
        return False
    following = text[end : end + 12].lstrip(" ")
    if following.startswith(("Test NCCL", "Test CUDA")):
        return True
    leading = name.split(".")[0].split("-")[0].rstrip("0123456789")
    if leading in _NOT_HOSTS:
        return False
    if leading == "gpu" and "-" not in name and len(name) < 5:
        return False
    if not any(c.isdigit() for c in name):
        return False
    if _COUNTED.match(name, 0) and _RAISES.match(text, end):
        return True
    if following[:1] in {"", "[", "(", "{"} or following.startswith(("Traceback", "File ")):
        return True
    if following[:1].isdigit():
        # most likely a number under a name, unless a date begins here
        return len(following) > 5 and following[4:5] in "-/" and leading.startswith(_MACHINE_WORDS)
    return leading.startswith(_MACHINE_WORDS) or "-" in name or "." in name
