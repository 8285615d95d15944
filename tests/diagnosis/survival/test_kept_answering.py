"""What a task or a handler of a server raised is got over where the server computes and answers below it."""

from __future__ import annotations

import pytest

from triage import Engine

BATCH = (
    "[2025-12-05 17:0{}:51 TP0] Decode batch. #running-req: 4, #token: 2{}12, token usage: 0.02, cuda graph: True, "
    "gen throughput (token/s): 21{}.11, #queue-req: 0,\n"
)
ANSWER = 'INFO:     10.0.0.3:4169{} - "POST /generate HTTP/1.1" 200 OK\n'
SERVES = (
    "[2025-12-05 17:07:41] The server is fired up and ready to roll!\n"
    + BATCH.format(7, 7, 7)
    + ANSWER.format(1)
)
HANDLER = (
    "Task exception was never retrieved\n"
    "future: <Task finished name='Task-81' coro=<TokenizerManager.handle() done> exception=KeyError('abc')>\n"
    "Traceback (most recent call last):\n"
    '  File "/usr/lib/python3.12/site-packages/sglang/srt/managers/tokenizer_manager.py", line 88, in handle\n'
    "    state = self.rid_to_state[rid]\n"
    "KeyError: 'abc'\n"
)


def test_a_server_that_computes_and_answers_got_over_what_a_task_raised(engine: Engine) -> None:
    after = BATCH.format(8, 8, 8) + ANSWER.format(2)
    assert engine.diagnose((SERVES + HANDLER + after).encode()).verdict == "healthy"


GONE_ON = BATCH.format(8, 8, 8) + ANSWER.format(2)
SIGNALLED = (
    "[2025-12-05 17:09:52] Received sigquit from a child process. It usually means the child failed.\n"
)
OF_A_PROCESS = (
    '  File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap\n    self.run()\n'
)
OF_A_CLIENT = '  File "/work/bench.py", line 12, in <module>\n    main()\n'


@pytest.mark.parametrize(
    ("begins", "after"),
    [("", ""), ("", BATCH.format(8, 8, 8) + SIGNALLED), (OF_A_PROCESS, GONE_ON), (OF_A_CLIENT, GONE_ON)],
)
def test_what_ended_something_is_not_got_over_by_others_answers(
    engine: Engine, begins: str, after: str
) -> None:
    head = "Traceback (most recent call last):\n"
    assert (
        engine.diagnose((SERVES + HANDLER.replace(head, head + begins) + after).encode()).verdict == "failed"
    )
