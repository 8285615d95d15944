"""Messages that no rule knows get the category of the failures that speak alike, and no more certainty than that."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, text_source


def diagnosed(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose_sources([text_source(log, name="job.err")])


def raised(message: str) -> str:
    return (
        "[rank2]: Traceback (most recent call last):\n"
        '[rank2]:   File "/opt/env/lib/python3.11/site-packages/zork/cellar.py", line 12, in descend\n'
        "[rank2]:     raise CellarError(text)\n"
        f"[rank2]: zork.cellar.CellarError: {message}\n"
    )


@pytest.mark.parametrize(
    ("log", "category", "rank"),
    [
        (raised("rank 0 and rank 2 ran different collectives"), "collective-desync", 2),
        (
            "zorkd: the scratch volume is full, nothing more can be written\nzorkd: ERROR exiting\n",
            "storage",
            None,
        ),
        (
            "zorkd: ERROR the watchdog timeout is shorter than the warmup of the engine\n",
            "watchdog-too-short",
            None,
        ),
    ],
)
def test_unknown_messages_are_told_by_their_words(
    engine: Engine, log: str, category: str, rank: int | None
) -> None:
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == (category, rank)
    assert root.rule_id == f"unknown.like-{category}"
    assert root.confidence < 0.65
    assert "“" in root.summary, "says which words told"


def test_a_known_message_is_not_judged_by_its_words(engine: Engine) -> None:
    log = "OSError: [Errno 28] No space left on device: '/ckpt/collective_mismatch_rank.pt'\n"
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert root.category == "storage"
    assert not root.rule_id.startswith("unknown.like-")


def below(message: str) -> str:
    """What a library raises far below the user's call."""
    frames = "".join(
        f'  File "/opt/env/lib/python3.11/site-packages/zork/{name}.py", line 7, in {name}\n    go()\n'
        for name in ("attic", "kitchen", "cellar", "dungeon")
    )
    return (
        "Traceback (most recent call last):\n"
        '  File "/home/user/train.py", line 12, in main\n'
        f"    dig()\n{frames}{message}\n"
    )


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("ValueError: Lanterns differ across ranks: rank 0 lit 4, rank 2 lit 8", "collective-desync"),
        (
            "RuntimeError: the lantern kernel must be compiled before CUDA graph capture begins",
            "compile-or-graph-capture",
        ),
        (
            "ValueError: Lantern server must become ready within 40 seconds, it did not respond",
            "straggler-or-hang",
        ),
    ],
)
def test_what_a_demand_is_about_its_words_tell(engine: Engine, message: str, category: str) -> None:
    root = diagnosed(engine, below(message)).root_cause
    assert root is not None
    assert (root.category, root.rule_id) == (category, f"unknown.like-{category}")


@pytest.mark.parametrize(
    "message",
    [
        "NameError: name 'rendezvous_store' is not defined",
        "FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/rank_mismatch/cuda_graph'",
    ],
)
def test_words_that_are_not_the_programs_own_tell_nothing(engine: Engine, message: str) -> None:
    root = diagnosed(engine, below(message)).root_cause
    assert root is not None
    assert not root.rule_id.startswith("unknown.like-")


def test_a_line_of_a_stack_is_no_alarm(engine: Engine) -> None:
    log = (
        "[1,1]<stderr>:Traceback (most recent call last):\n"
        '[1,1]<stderr>:  File "/opt/env/lib/python3.11/site-packages/zork/cuda_graph/nccl_timeout.py", line 3, in rank\n'
    )
    root = diagnosed(engine, log).root_cause
    assert root is None or not root.rule_id.startswith("unknown.like-")


def test_a_slip_stays_the_programs_own(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/home/user/train.py", line 12, in main\n'
        "    quota.disk.full()\n"
        "AttributeError: 'NoneType' object has no attribute 'checkpoint'\n"
    )
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert root.category == "user-code"


def test_words_without_meaning_stay_unknown(engine: Engine) -> None:
    root = diagnosed(engine, "zork: FATAL: grue ate the lantern\n").root_cause
    assert root is not None
    assert (root.category, root.rule_id) == ("unknown", "unknown.last-words")


def test_a_text_that_is_no_log_is_not_called_failed(engine: Engine) -> None:
    prose = "The access token of the hub expires. Storage quotas fill up.\n" * 200
    assert diagnosed(engine, prose).verdict != "failed"


def test_a_table_of_events_calls_what_failed_a_warning(engine: Engine) -> None:
    log = (
        "{kubelet n1}\tspec.containers{worker}\tWarning\tFailed\tFailed to start container with docker id 81: "
        "Error response from daemon: runtime spec devices: no such device /dev/zork0\n"
    )
    assert diagnosed(engine, log).verdict != "healthy"


def test_what_ends_a_service_that_jobs_need_is_no_kernels_complaint(engine: Engine) -> None:
    log = (
        "Feb 02 09:51:48 n1 systemd[1]: Starting Slurm node daemon...\n"
        "Feb 02 09:51:49 n1 slurmd[129]: slurmd: Waiting for the lantern\n"
        "Feb 02 09:52:07 n1 slurmd[129]: slurmd: fatal: the lantern of this node is not lit\n"
        "Feb 02 09:52:07 n1 systemd[1]: Failed to start Slurm node daemon.\n"
    )
    assert diagnosed(engine, log).verdict == "failed"


def test_that_an_exception_is_named_is_no_understanding(engine: Engine) -> None:
    assert diagnosed(engine, "see LanternError in the manual\n").verdict != "healthy"


def test_a_bad_sample_is_complained_of_in_words_about_arrays(engine: Engine) -> None:
    log = (
        "[rank5]: Traceback (most recent call last):\n"
        '[rank5]:   File "/work/train.py", line 61, in __getitem__\n'
        "[rank5]:     return np.load(self.paths[i])\n"
        '[rank5]:   File "/opt/env/lib/python3.11/site-packages/numpy/lib/npyio.py", line 427, in load\n'
        "[rank5]:     return format.read_array(fid, allow_pickle=allow_pickle)\n"
        "[rank5]: ValueError: cannot reshape array of size 81911 into shape (512,512)\n"
    )
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("data-loading", 5)


@pytest.mark.parametrize(
    "message",
    [
        "TypeError: Unsupported input dtype torch.float8, expected one of torch.float16, torch.float32",
        "TypeError: Argument lantern must be a callable, supported types are function and class",
    ],
)
def test_a_slip_that_lists_what_there_is_is_about_an_object(engine: Engine, message: str) -> None:
    root = diagnosed(engine, below(message)).root_cause
    assert root is not None
    assert root.category == "user-code"


OWN = (
    "Traceback (most recent call last):\n"
    '  File "/home/user/train.py", line 12, in main\n'
    "    {code}\n"
    "ValueError: At least one lantern backend must be specified{place}\n"
)


@pytest.mark.parametrize(
    ("code", "place", "category"),
    [
        ("zork.open(spec)", " [source locations='zork/lantern/spec.cc:41']", "config"),
        ("zork.open(spec)", "", "user-code"),
        ("raise wrong(spec)", " at spec.cc:41", "user-code"),
        # what refuses something in words of its own is no slip
        ("raise ValueError('At least one lantern backend must be specified')", "", "config"),
    ],
)
def test_compiled_code_that_names_its_line_is_not_the_users(
    engine: Engine, code: str, place: str, category: str
) -> None:
    root = diagnosed(engine, OWN.format(code=code, place=place)).root_cause
    assert root is not None
    assert root.category == category


@pytest.mark.parametrize(
    ("check", "category"),
    [
        ('status == 0 and "NVCC compilation failed"', "compile-or-graph-capture"),
        ('hidden % 128 == 0 and "Unsupported hidden size"', "config"),
    ],
)
def test_which_of_a_programs_checks_failed_its_words_tell(engine: Engine, check: str, category: str) -> None:
    log = f"RuntimeError: Assertion exception (/opt/DeepEP/csrc/elastic/buffer.hpp:41): {check}\n"
    root = diagnosed(engine, below(log)).root_cause
    assert root is not None
    assert root.category == category


def test_a_line_that_may_be_about_objects_is_about_what_else_it_names(engine: Engine) -> None:
    def line(rank: int, second: int, level: str, words: str) -> str:
        return (
            f'{{"timestamp": "2026-11-03T02:00:{second:02}Z", "level": "{level}", "fields": {{"message": "{words}"}}, '
            f'"span": {{"global_rank": {rank}, "name": "loop"}}}}\n'
        )

    log = "".join(line(rank, step, "INFO", f"step {step} done") for step in range(6) for rank in range(4))
    log += line(2, 50, "ERROR", "batch assembly failed: sample of length 0 at index 9912")
    log += "".join(
        line(rank, 51, "ERROR", "collective failed: connection reset by peer") for rank in (0, 1, 3)
    )
    root = diagnosed(engine, log).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("data-loading", 2)
