"""Why the peer went that all others lost: what it said itself, in words that no rule knows."""

from __future__ import annotations

from triage import Engine, Source

LOST = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[10.0.0.7]:28{}1. This is typically caused by a remote worker crashing."
)


def log(odd: int, word: str, level: str = "FATAL") -> str:
    """Six writers at work, of which one says ``word`` before the others lose it."""
    lines = [f"w{n}> loss at batch {step}: 2.{step}{n}" for step in range(5) for n in range(6)]
    lines.append(f"w{odd}> {level} {word}")
    lines += [f"w{n}> {level} {LOST.format(n)}" for n in range(6) if n != odd]
    return "\n".join(lines) + "\n"


def test_what_one_said_before_all_others_lost_it_is_the_cause(engine: Engine) -> None:
    text = log(4, "ValueError: could not convert string to float: 'n/a'")
    found = engine.diagnose(Source("job.out", data=text.encode())).root_cause
    assert found is not None
    assert found.origin.rank == 4
    assert "n/a" in found.evidence[0].text


def test_without_such_words_the_peer_has_only_vanished(engine: Engine) -> None:
    text = log(4, "loss at batch 5: 2.54", level="INFO")
    found = engine.diagnose(Source("job.out", data=text.encode())).root_cause
    assert found is not None
    assert "batch 5" not in found.evidence[0].text
    assert found.category == "rank-crash"


KILLED = """\
[12-16 14:27:08] Rank 0 scheduler is dead. Please check if there are relevant logs.
[12-16 14:27:10] Exit code: -9
Traceback (most recent call last):
  File "/home/ana/sglang/cli/main.py", line 26, in main
    args.func(args, extra_argv)
  File "/home/ana/sglang/entrypoints/generator.py", line 134, in from_server_args
    instance.local_process = instance.start_local_server_if_needed(config)
"""


def test_a_traceback_without_its_end_says_nothing_of_a_kill_before_it(engine: Engine) -> None:
    found = engine.diagnose(Source("server.log", data=KILLED.encode())).root_cause
    assert found is not None
    assert (found.rule_id, found.origin.rank) == ("ledger.killed", 0)
