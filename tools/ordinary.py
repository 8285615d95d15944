"""Writes the sample of ordinary text that windows are chosen by, from the fixtures of runs that ended well.

usage: python tools/ordinary.py [--check]

One line of each shape is kept, so that a long run counts no more than a short one. See
:mod:`triage.rules.windows` for what it is read for; ``--check`` only says whether it is up to date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "triage" / "rules" / "ordinary.txt"
LONGEST = 400
"""Characters of a line that are kept."""
_VARYING = re.compile(r"0x[\da-f]+|\d+|\b[\da-f]{8,}\b")


def main(arguments: list[str]) -> int:
    """Write the sample, or compare it."""
    text = "".join(f"{line}\n" for line in lines())
    if "--check" not in arguments:
        SAMPLE.write_text(text, encoding="utf-8")
        return 0
    if SAMPLE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{SAMPLE.relative_to(ROOT)} is out of date: python tools/ordinary.py", file=sys.stderr)
    return 1


def lines() -> Iterator[str]:
    """One line of each shape, in lower case, in the order of the fixtures."""
    seen: set[str] = set()
    for path in sorted((ROOT / "fixtures").glob("*/*/expected.yaml")):
        expected = yaml.safe_load(path.read_text(encoding="utf-8"))
        if expected["verdict"] != "healthy":
            continue
        for name in expected["files"]:
            log = path.parent / name
            if log.suffix not in {".err", ".log", ".out", ".txt"}:
                continue
            for line in re.split(r"[\r\n]+", log.read_text(encoding="utf-8", errors="replace").lower()):
                text = "".join(c if c.isprintable() else " " for c in line[:LONGEST]).strip()
                shape = _VARYING.sub("0", text)
                if text and shape not in seen:
                    seen.add(shape)
                    yield text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
