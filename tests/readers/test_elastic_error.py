"""Error files of torchelastic: whole, in other shapes, cut, and not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Source
from triage.readers import recognise
from triage.readers.elastic_error import ElasticErrorReader, traceback_text
from triage.rules.loader import load_rules

READER = ElasticErrorReader()
STACK = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.12/site-packages/torch/distributed/elastic/errors.py", line 367, in wrapper
    return f(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^
  File "/workspace/train.py", line 10, in main
    raise RuntimeError("boom on rank 1")
RuntimeError: boom on rank 1
"""
ERROR = {
    "message": {
        "message": "RuntimeError: boom on rank 1",
        "extraInfo": {"py_callstack": STACK, "timestamp": "1795198567"},
    }
}
WHOLE = json.dumps(ERROR).encode()


def read(data: bytes, name: str = "error.json", **known: int) -> tuple[dict[str, object], tuple[str, ...]]:
    reading = READER.read(data, Source(name, **known), 0)  # type: ignore[arg-type]
    return (dict(reading.findings[0].fields) if reading.findings else {}, reading.notes)


def test_exception_place_and_time() -> None:
    reading = READER.read(WHOLE, Source("exc_rank1_error.json", rank=1), 4)
    (found,) = reading.findings
    assert (found.rule_id, found.rank, found.source, found.raised) == ("torch.elastic-error-file", 1, 4, True)
    assert (found.fields["type"], found.fields["message"]) == ("RuntimeError", "boom on rank 1")
    assert found.fields["where"] == "main (/workspace/train.py:10)"
    assert (found.fields["raised_kind"], found.fields["timestamp"]) == ("user", 1795198567)
    assert found.time is not None
    assert (found.time.seconds, found.time.zoned) == (1795198567.0, True)
    assert reading.complete
    assert reading.text == STACK
    assert found.evidence[0].text.splitlines()[-1] == "RuntimeError: boom on rank 1"


def test_rule_exists_and_feeds_the_diagnosis() -> None:
    rule = load_rules()["torch.elastic-error-file"]
    assert rule.fact == "exception"
    assert rule.signature is not None
    assert rule.signature.reader == READER.kind


def test_the_launchers_copy_has_an_exit_code() -> None:
    copy = {"message": {**ERROR["message"], "errorCode": -6}}
    assert read(json.dumps(copy).encode())[0]["error_code"] == -6


def test_a_plain_message_is_enough() -> None:
    fields, notes = read(
        json.dumps({"message": "ValueError: bad batch", "timestamp": 1795198567.25}).encode()
    )
    assert (fields["type"], fields["message"], fields["timestamp"]) == ("ValueError", "bad batch", 1795198567)
    assert notes == ()
    assert read(b'{"message": {"message": "worker gave up"}}')[0] == {"message": "worker gave up"}


@pytest.mark.parametrize(
    ("path", "local_rank"),
    [
        ("logs/run_x/attempt_0/3/error.json", 3),
        ("/tmp/elastic/attempt_2/0/error.json", 0),
        ("error.json", None),
    ],
)
def test_the_folder_is_the_local_rank(path: str, local_rank: int | None) -> None:
    (found,) = READER.read(WHOLE, Source(path, path=path), 0).findings
    assert (found.rank, found.local_rank) == (None, local_rank)


def test_unescaped_quotes_and_half_files_are_read_as_far_as_they_go() -> None:
    broken = WHOLE.replace(b'\\"', b'"')
    fields, notes = read(broken)
    assert (fields["type"], fields["message"], fields["timestamp"]) == (
        "RuntimeError",
        "boom on rank 1",
        1795198567,
    )
    assert fields["where"] == "main (/workspace/train.py:10)"
    assert "not valid JSON" in notes[0]
    fields, _ = read(WHOLE[:120])
    assert (fields["type"], fields["message"]) == ("RuntimeError", "boom on rank 1")


def test_the_traceback_can_be_had_as_text() -> None:
    assert traceback_text(WHOLE) == STACK
    assert traceback_text(b'{"message": "ValueError: x"}') == "ValueError: x"
    assert traceback_text(b"[1]") is None


@pytest.mark.parametrize(
    ("name", "head", "known"),
    [
        ("error.json", WHOLE, True),
        ("anything", WHOLE, True),
        ("rank0_error.json", b'{"message": "ValueError: x", "timestamp": 1}', True),
        ("app.json", b'{"message": "ValueError: x", "timestamp": 1}', False),
        ("errors.json", b'{"message": "one", "level": "info"}\n{"message": "two"}\n', False),
        ("job.err", b"RuntimeError: boom\n", False),
        ("error.json", b"", False),
    ],
)
def test_recognised_by_content(name: str, head: bytes, known: bool) -> None:
    reader = recognise(name, head)
    assert (reader is not None and reader.kind == "elastic-error") is known


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)))
@settings(max_examples=60)
def test_any_bytes_are_read(junk: bytes, at: int) -> None:
    for data in (junk, WHOLE[:at], WHOLE[:at] + junk + WHOLE[at:], b'{"message": {"message": "' + junk):
        READER.read(data, Source("error.json"), 0)


def test_nesting_without_end_is_a_note() -> None:
    fields, notes = read(b'{"message": ' * 100_000)
    assert (fields, notes) == ({}, ("not an error file of torchelastic",))
