"""Load everything before the first fork, so that a child imports nothing after it has become a user.

Not for speed: code that is loaded beforehand can't come from a place that the user can write, and an
installation that only root may read works too.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import pkgutil

import triage
from triage.engine import Engine
from triage.report import render

_NOT_NEEDED = ("triage.cli", "triage.ruletests", "triage.__main__", "triage.preflight")
_STDLIB = (
    "bz2",
    "lzma",
    "glob",
    "concurrent.futures.thread",
    "encodings.utf_16",
    "encodings.latin_1",
    "zstandard",
)
_SAMPLE = b"""[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/a/train.py", line 1, in <module>
[rank0]:     main()
[rank0]: RuntimeError: CUDA error: device-side assert triggered
srun: error: node1: task 0: Killed
slurmstepd: error: *** STEP 1.0 ON node1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***
"""


def warm(engine: Engine) -> None:
    """Import every module that a diagnosis may need, and make one."""
    for module in pkgutil.walk_packages(triage.__path__, "triage."):
        if not module.name.startswith(_NOT_NEEDED):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    for name in _STDLIB:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    diagnosis = engine.diagnose([_SAMPLE, gzip.compress(_SAMPLE), b'{"jobs": []}'])
    for format in ("text", "md", "json", "oneline"):
        render(diagnosis, format)
