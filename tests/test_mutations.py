"""Captured logs with other rank numbers and another interleaving must give the same cause, on the moved rank."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
import yaml

from triage import Diagnosis, Engine, Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captured"
SYMMETRIC = {
    "invalid-device",
    "duplicate-gpu",
    "bad-ifname",
    "bad-net",
    "no-set-device",
    "no-visible-devices",
}
"""All ranks fail alike there: which one speaks first is chance."""
_RANKED = [
    r"(\[rank)(\d+)(\]:)", r"(\[default)(\d+)(\]:)", r"(\[Rank )(\d+)(\])", r"( Rank )(\d+)(\])",
    r"(\bRanks? )(\d+)( (?:is running|failed|successfully))", r"(rank +: )(\d+)( \(local)",
    r"(\(local_rank: )(\d+)(\))", r"(local_rank: )(\d+)( \(pid)", r"(from +rank )(\d+)( and)",
    r"( rank )(\d+)( nranks)", r"( - rank)(\d+)( - )", r"(\[rank )(\d+)(\])", r"(\(RANK )(\d+)(\))", r"(dict_keys\(\[)(\d+)(\]\))",
]  # fmt: skip


def cases() -> list[Path]:
    found = []
    for path in sorted(FIXTURES.glob("*/expected.yaml")):
        expected = yaml.safe_load(path.read_text())
        logs = [path.parent / name for name in expected["files"]]
        texts = [p.read_text(errors="replace") for p in logs if p.suffix in {".err", ".out"} and p.is_file()]
        teed = len(texts) == len(logs) and any("[default1]:[rank1]:" in t for t in texts)
        told = expected["category"] and expected.get("origin_rank") is not None
        # shuffling across a restart would mix two attempts
        restarted = path.parent.name.startswith("restart")
        if teed and told and path.parent.name not in SYMMETRIC and not restarted:
            found.append(path.parent)
    return found


def renumber(text: str, moved: dict[int, int]) -> str:
    for pattern in _RANKED:
        text = re.sub(pattern, lambda m: f"{m[1]}{moved.get(int(m[2]), int(m[2]))}{m[3]}", text)
    return text


def interleave(text: str, rng: random.Random) -> str:
    """Another order of the ranks' lines, each rank's own order kept."""
    writers: dict[str, list[str]] = {}
    order: list[str] = []
    for line in text.split("\n"):
        match = re.match(r"\[default(\d+)\]:", line)
        writer = match[1] if match else "launcher"
        writers.setdefault(writer, []).append(line)
        order.append(writer)
    shuffled: list[str] = []
    for start in range(0, len(order), 40):
        window = order[start : start + 40]
        ranks = [w for w in window if w != "launcher"]
        rng.shuffle(ranks)
        following = iter(ranks)
        shuffled += [w if w == "launcher" else next(following) for w in window]
    queues = {writer: iter(lines) for writer, lines in writers.items()}
    return "\n".join(next(queues[writer]) for writer in shuffled)


def read(engine: Engine, folder: Path, change: object = None) -> Diagnosis:
    expected = yaml.safe_load((folder / "expected.yaml").read_text())
    sources = []
    for name in expected["files"]:
        text = (folder / name).read_text(errors="replace")
        sources.append(Source(name, data=(change(text) if callable(change) else text).encode()))
    return engine.diagnose(sources)


@pytest.mark.parametrize("folder", cases(), ids=lambda p: p.name)
def test_the_cause_moves_with_the_rank(engine: Engine, folder: Path) -> None:
    rng = random.Random(folder.name)
    plain = read(engine, folder).root_cause
    assert plain is not None
    ranks = sorted(
        {
            int(n)
            for p in folder.iterdir()
            for n in re.findall(r"\[rank(\d+)\]", p.read_text(errors="replace"))
        }
    )
    moved = dict(zip(ranks, rng.sample(ranks, len(ranks)), strict=True))
    changed = read(engine, folder, lambda text: interleave(renumber(text, moved), rng)).root_cause
    assert changed is not None
    assert changed.rule_id == plain.rule_id
    here = plain.origin.rank
    assert changed.origin.rank == (None if here is None else moved.get(here, here))
