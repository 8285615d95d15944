"""What people and models say in a conversation that a program shows is not said of the job."""

from __future__ import annotations

from triage import Engine, Source

TURNS = """user: I'm looking for something to read
assistant: Sorry, I couldn't find this book in the list.
If you like I can search again.
user: I can't wait, I love stories of people who lost their way
assistant: Here is one: "The Hill"
user: thank you
"""
END = "====================\nTotal recall: 55/100\nAverage reward across users: 3.85\n"


def test_a_conversation_is_no_complaint(engine: Engine) -> None:
    found = engine.diagnose([Source("eval.log", data=("Loading users\n" + TURNS * 3 + END).encode())])
    assert found.verdict == "healthy"


def test_an_error_below_a_conversation_is_one(engine: Engine) -> None:
    log = "Loading users\n" + TURNS * 3 + "RuntimeError: could not read the catalogue of books\n"
    assert engine.diagnose([Source("eval.log", data=log.encode())]).verdict == "failed"


def test_workers_that_have_all_shut_down_are_no_complaint(engine: Engine) -> None:
    log = "".join(
        f"I [main.cc:3{n}] 2025-05-02 02:50:5{n}.825 | Ending worker with n_tot {n}\n" for n in range(6)
    )
    log += "I [main.cc:309] 2025-05-02 02:51:52.825 | all server workers have shut down.\n"
    assert engine.diagnose([Source("server.log", data=log.encode())]).verdict == "healthy"
