"""What clients of services raise, what is made of settings and of what was saved, and what ends a rank that others wait for."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source

SITE = "/opt/venv/lib/python3.12/site-packages"
RANKS = 4


def frame(path: str, function: str, code: str = "pass") -> str:
    """A frame as Python prints it."""
    return f'  File "{path}", line 41, in {function}\n    {code}\n'


def raised(*frames: str, ends: str, rank: int = 3) -> str:
    """A traceback of one rank, through all of its program."""
    begins = frame("/work/run.py", "<module>", "main()")
    text = "Traceback (most recent call last):\n" + begins + "".join(frames) + ends + "\n"
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def awaited(rank: int = 3) -> str:
    """How all other ranks tell that they waited in vain."""
    return "".join(
        f"[rank{other}]:[E1123 10:22:40.{other}12345678 ProcessGroupNCCL.cpp:629] [Rank {other}] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=412, OpType=ALLREDUCE, NumelIn=26214400, NumelOut=26214400, Timeout(ms)=600000) "
        "ran for 600054 milliseconds before timing out.\n"
        for other in range(RANKS)
        if other != rank
    )


def told(engine: Engine, text: str) -> Diagnosis:
    """The diagnosis of one log."""
    return engine.diagnose(Source(name="job.err", data=text.encode()))


@pytest.mark.parametrize(
    ("frames", "ends", "category"),
    [
        (
            [frame("/work/run.py", "main", "r = client.post(url, json=p)"),
             frame(f"{SITE}/httpx/_transports/default.py", "map_httpcore_exceptions", "raise mapped_exc(message) from exc")],
            "httpx.ConnectTimeout: timed out",
            "network-config",
        ),
        (
            [frame("/work/run.py", "main", "buf = r.blpop('rollouts')"), frame(f"{SITE}/redis/sentinel.py", "read_response")],
            "redis.exceptions.ConnectionError: The previous master is now a slave",
            "network-config",
        ),
        (
            [frame("/work/run.py", "main", "r = s.get(url)"), frame(f"{SITE}/requests/sessions.py", "resolve_redirects")],
            "requests.exceptions.TooManyRedirects: Exceeded 30 redirects.",
            "network-config",
        ),
        (
            [frame("/work/run.py", "main", "r = s.get(url)"), frame(f"{SITE}/requests/sessions.py", "get_adapter")],
            "requests.exceptions.InvalidSchema: No connection adapters were found for 's3://bucket/x'",
            "config",
        ),
        (
            [frame("/work/run.py", "main", "rows = db.execute(q)"), frame(f"{SITE}/sqlalchemy/engine/base.py", "_revalidate")],
            "sqlalchemy.exc.ResourceClosedError: This Connection is closed",
            "user-code",
        ),
        (
            [frame("/work/run.py", "main", "fs.ls(path)"), frame(f"{SITE}/gcsfs/credentials.py", "connect")],
            "RuntimeError: All connection methods have failed!",
            "auth-or-hub",
        ),
        (  # the same place, but about what it was given
            [frame("/work/run.py", "main", "fs.ls(path)"), frame(f"{SITE}/gcsfs/credentials.py", "connect")],
            "ValueError: token must be a dict or a path, got 7",
            "user-code",
        ),
        (
            [frame("/work/run.py", "main", "urlopen(url)"), frame("/usr/lib/python3.12/socket.py", "readinto")],
            "TimeoutError: The read operation timed out",
            "network-config",
        ),
        (
            [frame("/work/run.py", "main", "stub.Push(request)"), frame(f"{SITE}/grpc/_channel.py", "_end_unary")],
            "grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:\n"
            "\tstatus = StatusCode.UNAUTHENTICATED\n\tdetails = \"\"\n>",
            "auth-or-hub",
        ),
        (
            [frame("/work/run.py", "main", "compose(cfg)"), frame(f"{SITE}/hydra/main.py", "_get_rerun_conf")],
            "ValueError: File /work/last does not exist!",
            "config",
        ),
        (
            [frame("/work/run.py", "main", "lr = float(args.lr)")],
            "ValueError: could not convert string to float: '3e-4,'",
            "config",
        ),
        (  # no setting
            [frame("/work/run.py", "main", "x = float(token)")],
            "ValueError: could not convert string to float: '3e-4,'",
            "user-code",
        ),
        (
            [frame("/work/run.py", "main", "dtype = getattr(torch, cfg.model.dtype)")],
            "AttributeError: module 'torch' has no attribute 'bf16'",
            "config",
        ),
        (
            [frame("/work/run.py", "resume", "optimizer.load_state_dict(ckpt['optimizer_states'])")],
            "KeyError: 'optimizer_states'",
            "checkpoint",
        ),
        (  # another key of that line
            [frame("/work/run.py", "resume", "optimizer.load_state_dict(ckpt[names['opt']])")],
            "KeyError: 'opt'",
            "user-code",
        ),
        (
            [frame("/work/run.py", "step", "assert torch.isfinite(loss).all()")],
            "AssertionError",
            "numerics",
        ),
        (
            [frame("/work/run.py", "log", 'print(f"loss {loss}")')],
            "BrokenPipeError: [Errno 32] Broken pipe",
            "user-code",
        ),
        (
            [frame("/work/run.py", "send", "self.sock.sendall(data)")],
            "BrokenPipeError: [Errno 32] Broken pipe",
            "network-config",
        ),
        (
            [frame("/work/run.py", "load", "x = np.memmap(path, dtype=np.uint16)"),
             frame(f"{SITE}/numpy/_core/memmap.py", "__new__")],
            "ValueError: cannot mmap an empty file",
            "data-loading",
        ),
    ],
)  # fmt: skip
def test_its_name_or_place_tells(engine: Engine, frames: list[str], ends: str, category: str) -> None:
    """Others wait for the rank that raised it, which changes nothing of its kind."""
    found = told(engine, raised(*frames, ends=ends) + awaited()).root_cause
    assert found is not None
    assert (found.category, found.origin.rank) == (category, 3)


def test_what_a_rank_swallowed(engine: Engine) -> None:
    """It printed the exception where it caught it, and went on: that it came no more is the cause."""
    frames = (
        frame("/work/run.py", "train", "self.post(metrics)"),
        frame(f"{SITE}/redis/connection.py", "connect"),
    )
    ends = "redis.exceptions.ConnectionError: Error 111 connecting to redis:6379. Connection refused."
    text = "Traceback (most recent call last):\n" + "".join(frames) + ends + "\n"
    log = "".join(f"[rank3]: {line}\n" for line in text.splitlines()) + awaited()
    found = told(engine, log).root_cause
    assert found is not None
    assert found.rule_id == "ledger.swallowed-exception"


def test_a_wrapper_alone_tells_its_kind(engine: Engine) -> None:
    """The first error of a capture is not in the log; that it was one of a capture is."""
    ends = "RuntimeError: CUDA error: operation failed due to a previous error during capture"
    frames = (
        frame("/work/run.py", "main", "g.capture()"),
        frame(f"{SITE}/torch/cuda/graphs.py", "capture_end"),
    )
    found = told(engine, raised(*frames, ends=ends)).root_cause
    assert found is not None
    assert found.category == "compile-or-graph-capture"
