"""Who wrote a line shows behind what a collector stamps on every line as it does without that."""

from __future__ import annotations

import pytest

from triage import Engine, Source

LINES = [f"gpu-c07:{rank} 10:42:{at:02},I batch {at} loss 3.37" for at in range(8, 20) for rank in range(2)]
LAST = [
    "gpu-c07:1 10:42:20,I Traceback (most recent call last):",
    'gpu-c07:1 10:42:20,I   File "/srv/asr/train.py", line 41, in <module>',
    "gpu-c07:1 10:42:20,I     main()",
    'gpu-c07:1 10:42:20,I   File "/srv/asr/train.py", line 30, in main',
    "gpu-c07:1 10:42:20,I     weights[name] = rows[name]",
    "gpu-c07:1 10:42:20,I KeyError: 'bias'",
]
STAMPS = {
    "none": "",
    "docker logs --timestamps": "2026-11-21T10:42:21.880435293Z ",
    "a CI runner": "2026-11-21T10:42:21.8804352Z ",
    "containerd": "2026-11-21T10:42:21.880435293Z stderr F ",
    "journald": "Nov 21 10:42:21 launch-box train.sh[2231]: ",
    "rsyslog": "2026-11-21T10:42:21.880435+00:00 launch-box train[2231]: ",
}


@pytest.mark.parametrize("how", STAMPS)
def test_the_same_writer_is_blamed(engine: Engine, how: str) -> None:
    text = "".join(f"{STAMPS[how]}{line}\n" for line in [*LINES, *LAST])
    root = engine.diagnose(Source("job.log", data=text.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 1)
