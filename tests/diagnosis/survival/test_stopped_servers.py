"""What a server logged and answered on after is got over, also where somebody stops the server later."""

from __future__ import annotations

import pytest

from triage import Engine, Source

API = "(APIServer pid=1) "
UP = API + "INFO:     Application startup complete.\n"
ANSWER = API + 'INFO:     10.0.0.9:5212{0} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
LOGGED = API + "ERROR 10-02 11:21:35 [serving_chat.py:1145] "
REFUSED = (
    f"{LOGGED}Error in chat completion stream generator.\n"
    f"{LOGGED}Traceback (most recent call last):\n"
    f'{LOGGED}  File "/opt/site-packages/vllm/v1/engine/async_llm.py", line 410, in generate\n'
    f"{LOGGED}    out = q.get_nowait() or await q.get()\n"
    f"{LOGGED}ValueError: please provide at least one prompt\n"
)
STOPPED = API + "INFO 10-02 11:22:30 [launcher.py:99] Shutting down FastAPI HTTP server.\n" + "".join(
    f"(Worker_TP{r} pid={900 + r}) INFO 10-02 11:22:31 [multiproc_executor.py:558] Parent process exited, terminating worker\n"
    for r in range(2)
)  # fmt: skip
SPANS = (
    "Exception while exporting Span{0}.\n"
    "Traceback (most recent call last):\n"
    '  File "/opt/site-packages/opentelemetry/sdk/_shared_internal/__init__.py", line 179, in _export\n'
    "    self._exporter.export(\n"
    '  File "/opt/site-packages/requests/adapters.py", line 700, in send\n'
    "    raise ConnectionError(e, request=request)\n"
    "requests.exceptions.ConnectionError: HTTPConnectionPool(host='otel', port=4318): Max retries exceeded with url: /v1/traces\n"
)
ANSWERS = "".join(ANSWER.format(n) for n in range(4))


def verdict(engine: Engine, log: str) -> str:
    return engine.diagnose(Source("server.log", data=log.encode())).verdict


@pytest.mark.parametrize(
    ("rest", "healthy"),
    [(ANSWERS, True), (ANSWERS + STOPPED, True), (STOPPED, False)],
)
def test_a_stop_below_answers_says_nothing_of_what_they_got_over(
    engine: Engine, rest: str, healthy: bool
) -> None:
    assert (verdict(engine, UP + ANSWERS + REFUSED + rest) == "healthy") is healthy


@pytest.mark.parametrize("what", ["", " batch"])
def test_spans_that_are_not_taken_stop_nothing(engine: Engine, what: str) -> None:
    said = "".join(API + line + "\n" for line in SPANS.format(what).splitlines())
    assert verdict(engine, UP + ANSWERS + said + ANSWERS + STOPPED) == "healthy"


def test_the_same_exception_of_somebody_else_is_not_left_out(engine: Engine) -> None:
    said = SPANS.partition("\n")[2]
    assert verdict(engine, said) == "failed"
