"""The example service, really started on the loopback interface and really called."""

from __future__ import annotations

import base64
import gzip
import http.client
import importlib.util
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

import triage

uvicorn = pytest.importorskip("uvicorn")

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/schema/diagnosis.schema.json").read_text())
LOG = (ROOT / "fixtures/captured/oom-one-rank-cascade/job.err").read_bytes()
TOKEN = "hf" + "_" + "aB3dE6gH9jK2" * 3
RECEIPT = {"run_id": "r1", "env": {"HF_TOKEN": TOKEN, "NCCL_MNNVL_ENABLE": "1"}, "launch": {"world_size": 4}}


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_service", ROOT / "docs/examples/service.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def port(module: ModuleType) -> Iterator[int]:
    config = uvicorn.Config(
        module.app, host="127.0.0.1", port=0, log_level="critical", ws="none", lifespan="on"
    )
    server = uvicorn.Server(config)
    ready = threading.Event()
    startup = server.startup

    async def announce(*args: Any, **options: Any) -> None:
        await startup(*args, **options)
        ready.set()

    server.startup = announce
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert ready.wait(30)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def call(port: int, path: str, body: bytes = b"", method: str = "POST", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def post(port: int, value: Any, path: str = "/diagnose") -> tuple[int, bytes]:
    return call(port, path, json.dumps(value).encode(), content_type="application/json")


def test_a_receipt_and_logs_give_a_diagnosis(port: int) -> None:
    status, body = post(port, {"receipt": RECEIPT, "logs": [{"name": "job.err", "text": LOG.decode()}]})
    assert status == 200
    diagnosis = json.loads(body)
    jsonschema.validate(diagnosis, SCHEMA)
    assert diagnosis["root_cause"]["category"] == "gpu-oom"
    assert "receipt.mnnvl-forced" in [w["rule_id"] for w in diagnosis["warnings"]]


def test_a_form_with_files_says_the_same(port: int) -> None:
    _, expected = post(port, {"receipt": RECEIPT, "logs": [{"name": "job.err", "text": LOG.decode()}]})
    boundary = "x4a8"
    form = (
        f'--{boundary}\r\ncontent-disposition: form-data; name="receipt"\r\n\r\n{json.dumps(RECEIPT)}\r\n'
        f'--{boundary}\r\ncontent-disposition: form-data; name="log"; filename="job.err"\r\n'
        "content-type: application/octet-stream\r\n\r\n"
    ).encode()
    form += LOG + f"\r\n--{boundary}--\r\n".encode()
    status, body = call(port, "/diagnose", form, content_type=f"multipart/form-data; boundary={boundary}")
    assert status == 200
    assert json.loads(body)["root_cause"] == json.loads(expected)["root_cause"]


def test_compressed_logs_are_read(port: int) -> None:
    log = {"name": "job.err.gz", "base64": base64.b64encode(gzip.compress(LOG)).decode()}
    status, body = post(port, {"logs": [log]})
    assert status == 200
    assert json.loads(body)["root_cause"]["category"] == "gpu-oom"


def test_the_receipt_comes_back_with_the_diagnosis_and_without_secrets(port: int) -> None:
    status, body = post(port, {"receipt": RECEIPT, "logs": [{"text": LOG.decode()}]}, "/receipts")
    assert status == 200
    receipt = json.loads(body)
    assert receipt["triage"]["verdict"] == "failed"
    assert receipt["run_id"] == "r1"
    assert TOKEN not in body.decode()


def test_a_name_is_never_a_path(port: int) -> None:
    status, body = post(port, {"logs": [{"name": "/etc/passwd", "text": ""}]})
    assert status == 200
    assert json.loads(body)["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"{}", "application/json", 400),
        (b'{"logs": [{"name": "x"}]}', "application/json", 400),
        (b'{"logs": [{"base64": "?"}]}', "application/json", 400),
        (b'{"receipt": {"launch": {"tp": "eight"}}}', "application/json", 422),
        (b'{"receipt": []}', "application/json", 422),
        (b'{"logs": [' + b",".join([b'{"text": ""}'] * 257) + b"]}", "application/json", 413),
        (b"log", "text/plain", 415),
        (b"log", "multipart/form-data", 400),
        (b"[" * 100_000, "application/json", 400),
    ],
)
def test_bad_requests_are_told_why(port: int, body: bytes, kind: str, status: int) -> None:
    got, answer = call(port, "/diagnose", body, content_type=kind)
    assert got == status
    assert json.loads(answer)["error"]


def test_unknown_places_and_methods(port: int) -> None:
    assert call(port, "/nowhere")[0] == 404
    assert call(port, "/diagnose", method="GET")[0] == 405
    assert call(port, "/healthz", method="GET") == (200, b'{"status": "ok"}')


def test_a_body_that_is_too_long_is_refused_before_it_is_read(port: int, module: ModuleType) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", "/diagnose")
    connection.putheader("content-type", "application/json")
    connection.putheader("content-length", str(module.MAX_BODY + 1))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert "bytes" in json.loads(answer.read())["error"]
    connection.close()


def test_fifty_requests_at_a_time_get_what_one_gets(port: int) -> None:
    requests = [{"receipt": RECEIPT, "logs": [{"name": "a", "text": LOG.decode()}]}, {"receipt": RECEIPT}]
    alone = [post(port, request) for request in requests]
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda i: post(port, requests[i % 2]), range(50)))
    assert [status for status, _ in answers] == [200] * 50
    assert answers == [alone[i % 2] for i in range(50)]


def test_too_many_at_a_time_are_told_to_come_back(module: ModuleType, engine: triage.Engine) -> None:
    import asyncio

    service = module.Service(engine)
    service._waiting = module.MAX_WAITING + module.WORKERS
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(
        service({"type": "http", "path": "/diagnose", "method": "POST", "headers": []}, receive, send)
    )
    assert sent[0]["status"] == 503
    assert (b"retry-after", b"2") in sent[0]["headers"]
