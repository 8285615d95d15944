"""Take the machine out of captured logs: paths, identifiers, and names that tell what was injected.

``python scrub.py SOURCE TARGET`` copies a folder of captures; text files and flight-recorder pickles are
rewritten, file by file. A pickle keeps the opcodes that its writer chose: only its strings change.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import pickletools
import re
from pathlib import Path

UUID = re.compile(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SERIAL = re.compile(r"(Serial Number\s*:\s*)(\d{10,})")
PDI = re.compile(r"(GPU PDI\s*:\s*)(0x[0-9a-f]+)")

PATHS = (
    (re.compile(r"/workspace/(?:train|scenarios/\w+)\.py"), "/workspace/train.py"),
    (re.compile(r"/workspace/scratch/[\w-]+"), "/workspace/run"),
    (re.compile(r"/opt/torch/\.venv\b"), "/opt/venv"),
    (re.compile(r"\bCAPTURE_([A-Z_]+)"), r"\1"),
    (re.compile(r"(\d+\.\d+\.\d+)-fc-v\d+-gpu"), r"\1"),
    (re.compile(r"/host-oom-killed\b|(?<=cpuset=)host-oom-killed\b"), "/job"),
)


PICKLED = b"\x80\x02"
"""How a pickle of protocol 2 begins, whatever its file is called."""


def telling_names() -> tuple[str, ...]:
    """Names of the scenario functions, which say what was injected."""
    names = []
    for module in sorted(Path(__file__).with_name("scenarios").glob("*.py")):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(d, ast.Call) and getattr(d.func, "id", "") == "scenario"
                for d in node.decorator_list
            ):
                names.append(node.name)
    return tuple(names)


class Scrubber:
    """Rewrites strings; equal identifiers become equal stand-ins within one capture."""

    def __init__(self) -> None:
        words = [name for name in telling_names() if name not in ("plain",)]
        self.names = re.compile(rf"\b(?:{'|'.join(sorted(words, key=len, reverse=True))})\b")
        self.identifiers: dict[str, str] = {}

    def text(self, text: str) -> str:
        for pattern, stand_in in PATHS:
            text = pattern.sub(stand_in, text)
        text = self.names.sub("train", text)
        text = UUID.sub(lambda m: self._stand_in(m.group(), "GPU-{0:08x}-0000-0000-0000-{0:012x}"), text)
        text = SERIAL.sub(lambda m: m.group(1) + self._stand_in(m.group(2), "16500000000{0:02d}"), text)
        return PDI.sub(lambda m: m.group(1) + self._stand_in(m.group(2), "0x{0:016x}"), text)

    def _stand_in(self, found: str, shape: str) -> str:
        return self.identifiers.setdefault(found, shape.format(len(self.identifiers) + 1))

    def pickle(self, data: bytes) -> bytes:
        """Rewrite the strings of a pickle of protocol 2; everything else is copied."""
        out = []
        operations = [(op.name, argument, position) for op, argument, position in pickletools.genops(data)]
        for (name, argument, begin), after in itertools.zip_longest(operations, operations[1:]):
            if name == "BINUNICODE" and isinstance(argument, str):
                encoded = self.text(argument).encode()
                out.append(b"X" + len(encoded).to_bytes(4, "little") + encoded)
            else:
                out.append(data[begin : after[2] if after else len(data)])
        return b"".join(out)


def scrub_folder(source: Path, target: Path) -> None:
    """Copy one capture; empty files are left out, but for the log of a rank: that it is silent tells."""
    scrubber = Scrubber()
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        data = path.read_bytes()
        if not data and not path.name.startswith("rank"):
            continue
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if data.startswith(PICKLED):
            place.write_bytes(scrubber.pickle(data))
        else:
            # surrogateescape keeps bytes that are no text as they are
            text = scrubber.text(data.decode("utf-8", "surrogateescape"))
            place.write_bytes(text.encode("utf-8", "surrogateescape"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    for folder in sorted(p for p in options.source.iterdir() if p.is_dir()):
        scrub_folder(folder, options.target / folder.name)


if __name__ == "__main__":
    main()
