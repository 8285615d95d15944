"""A receipt service in one file: takes a receipt and log uploads, gives back a diagnosis.

An ASGI application without a framework; any ASGI server runs it:

    uvicorn --app-dir docs/examples service:app

    POST /diagnose     the diagnosis
    POST /receipts     the receipt with the diagnosis under ``triage``, secrets masked
    GET  /healthz      {"status": "ok"}

A request is JSON:

    {"receipt": {...}, "logs": [{"name": "rank0.err", "text": "...", "rank": 0, "host": "node-1"}]}

(``"base64"`` in place of ``"text"`` for binary or compressed logs), or ``multipart/form-data`` with a
field ``receipt`` and any number of files. Every error is ``{"error": "..."}`` with a fitting status.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import triage

MAX_BODY = 32 << 20
"""Bytes of one request."""
MAX_LOGS = 256
"""Logs of one request."""
MAX_READ = 256 << 20
"""Bytes that are read of one request's logs once they are decompressed."""
SECONDS = 20.0
"""Time for one diagnosis."""
WORKERS = 4
"""Diagnoses at a time."""
MAX_WAITING = 64
"""Requests that may wait for a worker; more are told to come back."""
BODY_SECONDS = 30.0
"""Time in which a request must have arrived."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class RefusedError(Exception):
    """A request that gets an error: its status, and what to tell the caller."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Service:
    """The application. One engine serves all requests: rules are compiled once."""

    def __init__(self, engine: triage.Engine | None = None) -> None:
        self._engine = engine or triage.Engine()
        self._pool = ThreadPoolExecutor(WORKERS, "diagnose")
        self._waiting = 0

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request, or follow the server's start and end."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        try:
            status, body = 200, await self._answer(scope, receive)
        except RefusedError as error:
            status, body = error.status, _json({"error": str(error)})
        except triage.ReceiptError as error:
            status, body = 422, _json({"error": str(error)})
        except triage.TriageError as error:
            status, body = 400, _json({"error": str(error)})
        except Exception:  # never a traceback to a caller; log it here
            status, body = 500, _json({"error": "internal error"})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status == 503:
            headers.append((b"retry-after", b"2"))
        if status in {408, 413}:
            headers.append((b"connection", b"close"))  # the rest of the body is not read
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                self._pool.shutdown(wait=False, cancel_futures=True)
                return

    async def _answer(self, scope: Mapping[str, Any], receive: Receive) -> bytes:
        path, method = scope["path"], scope["method"]
        if path == "/healthz":
            return _json({"status": "ok"})
        if path not in {"/diagnose", "/receipts"}:
            raise RefusedError(404, "there are POST /diagnose, POST /receipts and GET /healthz")
        if method != "POST":
            raise RefusedError(405, f"{path} takes POST")
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        if self._waiting >= MAX_WAITING + WORKERS:
            raise RefusedError(503, "too many requests at a time")
        self._waiting += 1
        try:
            body = await asyncio.wait_for(_read(receive, headers), BODY_SECONDS)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, self._work, path, headers, body)
        except asyncio.TimeoutError:
            raise RefusedError(408, f"the request did not arrive within {BODY_SECONDS:.0f} s") from None
        finally:
            self._waiting -= 1

    def _work(self, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """What takes time, on a worker's thread."""
        receipt, sources = _parse(headers.get("content-type", ""), body)
        diagnosis = self._engine.diagnose(sources, receipt=receipt, budget=MAX_READ, seconds=SECONDS)
        if path == "/receipts":
            return _json(diagnosis.attach_to(receipt or {}))
        return diagnosis.to_json().encode()


async def _read(receive: Receive, headers: Mapping[str, str]) -> bytes:
    """The body, as long as it is not too long; a stated length is refused before anything is read."""
    stated = headers.get("content-length", "")
    if stated.isdigit() and int(stated) > MAX_BODY:
        raise RefusedError(413, f"a request may have {MAX_BODY} bytes, this one has {stated}")
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the request was cut")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise RefusedError(413, f"a request may have {MAX_BODY} bytes")
        if not message.get("more_body"):
            return b"".join(parts)


def _parse(kind: str, body: bytes) -> tuple[dict[str, Any] | None, list[triage.Source]]:
    """The receipt and the logs of a request. Names of logs are labels, never paths."""
    media = kind.partition(";")[0].strip().lower()
    if media == "application/json":
        receipt, sources = _from_json(body)
    elif media == "multipart/form-data":
        receipt, sources = _from_form(kind, body)
    else:
        raise RefusedError(415, "send application/json or multipart/form-data")
    if len(sources) > MAX_LOGS:
        raise RefusedError(413, f"a request may have {MAX_LOGS} logs, this one has {len(sources)}")
    if not sources and receipt is None:
        raise RefusedError(400, "send a receipt, logs, or both")
    return receipt, sources


def _from_json(body: bytes) -> tuple[dict[str, Any] | None, list[triage.Source]]:
    value = _load(body, "the request")
    if not isinstance(value, dict):
        raise RefusedError(400, "the request must be a JSON object")
    logs = value.get("logs") or []
    if not isinstance(logs, list) or not all(isinstance(log, dict) for log in logs):
        raise RefusedError(400, "logs must be a list of objects")
    return _receipt(value.get("receipt")), [_log(log, i) for i, log in enumerate(logs)]


def _log(log: Mapping[str, Any], index: int) -> triage.Source:
    text, encoded = log.get("text"), log.get("base64")
    if isinstance(text, str):
        data = text.encode("utf-8", "replace")
    elif isinstance(encoded, str):
        try:
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise RefusedError(400, f"logs[{index}].base64 is not base64") from None
    else:
        raise RefusedError(400, f"logs[{index}] needs text or base64")
    rank, host = log.get("rank"), log.get("host")
    return triage.Source(
        str(log.get("name") or f"log {index}"),
        data=data,
        rank=rank if isinstance(rank, int) and not isinstance(rank, bool) else None,
        host=host if isinstance(host, str) else None,
    )


def _from_form(kind: str, body: bytes) -> tuple[dict[str, Any] | None, list[triage.Source]]:
    form = BytesParser(policy=HTTP).parsebytes(
        b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n" + body
    )
    if not form.is_multipart():
        raise RefusedError(400, "the form has no parts")
    receipt: dict[str, Any] | None = None
    sources: list[triage.Source] = []
    for part in form.iter_parts():
        data = part.get_payload(decode=True)
        if not isinstance(data, bytes):
            raise RefusedError(400, "a part of the form holds another form")
        if part.get_param("name", header="content-disposition") == "receipt":
            receipt = _receipt(_load(data, "the receipt"))
        else:
            sources.append(triage.Source(part.get_filename() or f"log {len(sources)}", data=data))
    return receipt, sources


def _receipt(value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise RefusedError(422, "a receipt is a JSON object")
    return value


def _load(data: bytes, what: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise RefusedError(400, f"{what} is not valid JSON") from None


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


app = Service()
