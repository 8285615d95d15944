"""Logs that were posted: what a viewer, a mail or a page put around their lines is taken off, and nothing else is."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import pytest

from triage import Engine, Source
from triage.sources.posted import LARGEST, as_written

LOG = """\
node3:72:310 [2] NCCL INFO comm 0x7f10 rank 2 nranks 4 cudaDev 2 busId 90 - Init COMPLETE
[rank2]: Traceback (most recent call last):
[rank2]:   File "/opt/run/train.py", line 91, in <module>
[rank2]:     main()
[rank2]:   File "/opt/run/train.py", line 70, in main
[rank2]:     loss = model(batch)
[rank2]:   File "/opt/lib/torch/nn/modules/module.py", line 1511, in _wrapped_call_impl
[rank2]:     return self._call_impl(*args, **kwargs)

[rank2]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB & more. GPU 2 has 79.15 GiB
[rank0]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error
"""
LINES = LOG.splitlines()

LAYOUTS: dict[str, Callable[[list[str]], list[str]]] = {
    "cat -v": lambda lines: [f"{line}^M" for line in lines],
    "cat -n": lambda lines: [f"{at:6d}\t{line}" for at, line in enumerate(lines, 1)],
    "editor": lambda lines: [f"{at:4d} | {line}" for at, line in enumerate(lines, 1)],
    "from the middle": lambda lines: [f"{at}: {line}" for at, line in enumerate(lines, 1830)],
    "brackets": lambda lines: [f"[{at}] {line}" for at, line in enumerate(lines, 98)],
    "no blank after a number of an empty line": lambda lines: [
        f"{at} {line}".rstrip() for at, line in enumerate(lines, 1)
    ],
    "quoted": lambda lines: [f"> {line}" for line in lines],
    "quoted, empty lines bare": lambda lines: [f"> {line}" if line else ">" for line in lines],
    "tab": lambda lines: [f"\t{line}" for line in lines],
    "block of Markdown": lambda lines: [f"    {line}" if line else line for line in lines],
    "page": lambda lines: [html.escape(line) for line in lines],
    "numbered page": lambda lines: [f"{at}  {html.escape(line)}" for at, line in enumerate(lines, 1)],
}


def _bytes(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_posted_log_is_read_as_it_was_written(layout: str) -> None:
    found = as_written(_bytes(LAYOUTS[layout](LINES)))
    assert found is not None
    assert found.decode().rstrip("\n").split("\n") == LINES


@pytest.mark.parametrize("layout", LAYOUTS)
def test_its_diagnosis_is_the_same(engine: Engine, layout: str, tmp_path: Path) -> None:
    data = _bytes(LAYOUTS[layout](LINES))
    posted = tmp_path / "job.log"
    posted.write_bytes(data)
    for source in (Source("job.log", path=str(posted)), Source("job.log", data=data)):
        root = engine.diagnose(source).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == ("gpu-oom", 2)


NOT_POSTED = {
    "as written": LOG,
    "steps": "".join(f"{at} loss 2.{at}\n" for at in range(0, 200, 10)),
    "two columns that begin with a step": "".join(f"{at},0.{at},1e-4\n" for at in range(20)),
    "a table whose rows are numbered": "".join(
        f"{at} {2.5 - at / 9:.3f} {at * 1e-5:.1e}\n" for at in range(1, 40)
    ),
    "steps one by one": "".join(f"{at}: loss 2.{at} lr 1e-{at % 9}\n" for at in range(1, 40)),
    "numbered in part": "".join(f"{at} {line}\n" for at, line in enumerate(LINES, 1))
    + "srun: error: node3: task 2\n",
    "few lines": "1 epoch\n2 epochs\n3 epochs\n",
    "a quotation within a log": "> python train.py --batch 4\n" + LOG,
    "one blank, as Megatron begins its lines": "".join(
        f" iteration {at}/ 40 | lm loss\n" for at in range(20)
    ),
    "all but one line indented": "".join(f"    {line}\n" for line in LINES) + "done\n",
    "an indented block within a log": "\tConfig\n" + LOG,
    "entities that a program wrote": "step 4: <s> &lt;b&gt;bold&lt;/b&gt; &amp; more\n" + LOG,
    "empty": "",
    "blank": "\n" * 20,
}


@pytest.mark.parametrize("case", NOT_POSTED)
def test_what_was_not_posted_stays(case: str) -> None:
    assert as_written(NOT_POSTED[case].encode()) is None


def test_neither_binary_nor_large_data_is_touched() -> None:
    numbered = _bytes(LAYOUTS["cat -n"](LINES))
    assert as_written(b"\0" + numbered) is None
    line = b"\tx" * 500 + b"\n"
    assert as_written(line * (LARGEST // len(line) + 1)) is None


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    raw = [b"\t" + line.encode() + b" \xff\xfe" for line in LINES]
    assert as_written(b"\n".join(raw)) == b"\n".join(line[1:] for line in raw)
