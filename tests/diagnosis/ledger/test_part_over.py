"""Several ranks whose data ended before that of the others."""

from __future__ import annotations

import pytest

from triage import Engine

MISMATCH = (
    "terminate called after throwing an instance of 'gloo::EnforceNotMet'",
    "  what():  [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. "
    "8 vs 4. Received data size doesn't match expected size. Is there a distributed collective mismatch in your code?",
)


@pytest.mark.parametrize(
    ("early", "blamed"), [((1, 3), (1, 3)), ((2,), (2,)), ((0, 1, 2, 3), ())], ids=["two", "one", "all"]
)
def test_who_was_through_with_an_epoch_is_named(
    engine: Engine, early: tuple[int, ...], blamed: tuple[int, ...]
) -> None:
    lines = [f"[default{r}]:Epoch 0: {11 if r in early else 13} batches" for r in range(4)]
    lines += [f"[default{r}]:Epoch 0 done, validating" for r in early]
    lines += [f"[default{r}]:{line}" for r in early for line in MISMATCH]
    root = engine.diagnose(("\n".join(lines) + "\n").encode()).root_cause
    assert root is not None
    assert root.category == "collective-desync"
    assert root.origin.ranks == blamed
    assert root.origin.rank == (blamed[0] if blamed else None)
