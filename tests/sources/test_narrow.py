"""Lines that a terminal broke at its last column are whole again, and no others."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.sources.narrow import joined

FRAMES = "".join(
    f'[rank{r}]:   File "/opt/venv/lib/python3.12/site-packages/torch/distributed/{name}.py", line {n}, in {name}_of_the_group\n'
    f"[rank{r}]:     return {name}(*args, **kwargs)\n"
    for r in (1, 2)
    for n, name in ((83, "wrapper"), (2501, "all_reduce"), (117, "broadcast"))
)
LOG = (
    "[rank1]: Traceback (most recent call last):\n"
    + FRAMES
    + "[rank1]: torch.OutOfMemoryError: CUDA out of memory. "
    "Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.25 GiB is free. "
    "Process 310 has 77.90 GiB memory in use.\n"
)


def shown(text: str, width: int) -> bytes:
    rows = [
        line[at : at + width].rstrip()
        for line in text.split("\n")
        for at in range(0, max(1, len(line)), width)
    ]
    return "\n".join(rows).encode()


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_whole_again(width: int, end: str) -> None:
    rows = shown(LOG, width).replace(b"\n", end.encode())
    found = joined(rows)
    assert found is not None
    assert found.decode().replace(end, "\n") == LOG


def test_the_diagnosis_is_that_of_the_log(engine: Engine) -> None:
    for data in (LOG.encode(), shown(LOG, 80)):
        root = engine.diagnose(Source("pane.txt", data=data)).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == ("gpu-oom", 1)


WHOLE = {
    "as written": LOG,
    "records of one length": "".join(
        f"2026-11-21 10:00:{s:02} gpu-node-01 rank={s % 4} INFO step {s:04} loss 0.3323 tokens per second 81223\n"
        for s in range(40)
    ),
    "records of one length and what is said below them": "".join(
        f"iteration {s:05} | consumed samples {s * 512:08} | elapsed time per iteration 412.3 | lm loss 1.{s:04}\n"
        f"{word} was saved to the folder of the run\n"
        for s, word in enumerate(["alpha", "bravo", "coral", "delta"])
    ),
    "a table": "".join(f"| {word:>90} |\n{other:>8} of another row\n" for word, other in
                       [("power", "one"), ("clock", "two"), ("memory", "three"), ("fan", "four")]),
    "rulers": ("=" * 100 + "\nsummary of a part\n") * 6,
    "cut by a logger, each with its time": "".join(
        f"10:00:{s:02} {'request body ' + chr(97 + s) * 3 + ' text' * 30}"[:120] + "\n" for s in range(20)
    ),
    "prose that was broken between words": "".join(
        f"{'word ' * (18 - at % 4)}{'last' * (1 + at % 3)}\n" for at in range(30)
    ),
    "few lines": "a" * 100 + "\nb\n",
}  # fmt: skip


@pytest.mark.parametrize("case", WHOLE)
def test_whole_lines_stay(case: str) -> None:
    assert joined(WHOLE[case].encode()) is None
