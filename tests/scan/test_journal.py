"""``journalctl -o json`` and the streams of collectors: whose a line is, and when."""

from __future__ import annotations

import json

from triage import Engine, Source
from triage.scan.prefix import split_line

RAISED = (
    "Traceback (most recent call last):",
    '  File "/app/train.py", line 203, in <module>',
    "    main()",
    '  File "/app/train.py", line 141, in main',
    "    check(batch)",
    "AssertionError: labels out of range for shard 17",
)


def record(message: object, host: str = "gpu-018") -> str:
    """A line of ``journalctl -o json``."""
    return json.dumps(
        {
            "__REALTIME_TIMESTAMP": "1795428042000000", "_HOSTNAME": host, "_PID": "4300", "PRIORITY": "6",
            "SYSLOG_IDENTIFIER": "torchrun", "MESSAGE": message, "_SYSTEMD_UNIT": "train.service",
        }
    )  # fmt: skip


def test_a_record_names_host_program_and_time() -> None:
    prefix, message = split_line(record("[default0]:step 3"))
    assert (message, prefix.host, prefix.pid, prefix.local_rank) == ("step 3", "gpu-018", 4300, 0)
    assert prefix.time is not None
    assert (prefix.time.seconds, prefix.time.zoned) == (1795428042.0, True)


def test_a_message_with_colours_stands_as_bytes() -> None:
    assert split_line(record(list(b"loss is \x1b[31mnan\x1b[0m")))[1].startswith("loss is ")


def test_what_only_looks_like_a_record_is_none() -> None:
    text = json.dumps({"MESSAGE": "hello", "_HOSTNAME": "gpu-018"})
    assert split_line(text)[1] == text


def test_a_traceback_over_records_is_read_as_one(engine: Engine) -> None:
    text = "\n".join(record(f"[default3]:[rank3]: {line}") for line in RAISED)
    found = engine.diagnose([Source("gpu-018.json", path=None, data=text.encode())]).root_cause
    assert found is not None
    assert found.origin.rank == 3
    assert "labels out of range" in found.evidence[0].text


def test_a_stream_of_a_collector_names_the_writer() -> None:
    said = {"timestamp": 1795428042000, "message": "step 3", "logStreamName": "algo-2-1795428000"}
    assert split_line(json.dumps(said))[0].stream == "algo-2-1795428000"
    loki = {
        "labels": {"pod": "llm-worker-1", "container": "main"},
        "line": "step 3",
        "timestamp": "2026-11-23T10:00:42Z",
    }
    assert split_line(json.dumps(loki))[0].stream == "llm-worker-1:main"
