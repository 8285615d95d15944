"""Several files in one are read as the files themselves."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from triage import Engine, Source
from triage.sources.bundles import taken_apart

STEPS = "".join(f"step {at} loss 0.{90 - at}\n" for at in range(12))
FAILED = STEPS + (
    "Traceback (most recent call last):\n"
    '  File "/home/ana/run/train.py", line 41, in <module>\n'
    "    main()\n"
    '  File "/home/ana/run/train.py", line 30, in main\n'
    "    weights[name] = rows[name]\n"
    "KeyError: 'bias'\n"
)
LOST = STEPS + (
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:14760\n"
)
FILES = {"out/rank_0.log": LOST, "out/rank_1.log": LOST, "out/rank_2.log": FAILED}
BUNDLES = {
    "tail": "\n".join(f"==> {name} <==\n{text}" for name, text in FILES.items()),
    "more": "".join(f"::::::::::::::\n{name}\n::::::::::::::\n{text}" for name, text in FILES.items()),
    "grep": "".join(f"{name}:{line}\n" for name, text in FILES.items() for line in text.splitlines()),
    "grep -n": "".join(
        f"{name}:{at}:{line}\n"
        for name, text in FILES.items()
        for at, line in enumerate(text.splitlines(), 1)
    ),
}


@pytest.mark.parametrize("how", BUNDLES)
def test_each_file_is_a_source_with_its_rank(how: str) -> None:
    found = taken_apart([Source("all.txt", data=BUNDLES[how].encode())])
    assert [source.path for source in found] == list(FILES)
    assert [source.rank for source in found] == [0, 1, 2]
    assert [(source.data or b"").decode() for source in found] == list(FILES.values())


@pytest.mark.parametrize("how", BUNDLES)
def test_the_diagnosis_is_that_of_the_files(engine: Engine, how: str, tmp_path: Path) -> None:
    at = tmp_path / "all.txt"
    at.write_text(BUNDLES[how])
    root = engine.diagnose(at).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 2)
    shown = root.evidence[0]
    if how.startswith("grep"):
        assert shown.path.endswith("all.txt:out/rank_2.log")
    else:
        assert shown.path == str(at)
        assert shown.line is not None
        assert BUNDLES[how].split("\n")[shown.line - 1] == shown.text.split("\n")[0]


def test_what_tail_follows_is_put_together() -> None:
    data = b"$ tail -f a.log b.log\n==> a.log <==\none\n\n==> b.log <==\ntwo\n\n==> a.log <==\nthree\n"
    found = taken_apart([Source("x", data=data)])
    assert [(source.name, source.data, source.above) for source in found] == [
        ("x", b"$ tail -f a.log b.log\n", 0), ("x:a.log", b"one\nthree\n", 0), ("x", b"two\n", 5),
    ]  # fmt: skip


def test_a_time_behind_the_name_is_no_number_of_a_line() -> None:
    data = "".join(f"{n}.log:10:00:{s:02} step {s}\n" for s in range(6) for n in "ab").encode()
    found = taken_apart([Source("x", data=data)])
    assert (found[0].data or b"").startswith(b"10:00:00 step 0\n")


@pytest.mark.parametrize(
    "text",
    [
        STEPS,
        "==> Downloading the model <== 12 of 40 files\n" + STEPS,
        "".join(
            f"train.log:{line}\n" for line in STEPS.splitlines()
        ),  # a single one: a logger may be called so
        "".join(f"{n}.log: line {n}\n" for n in range(3)),
        "a.log:one\nb.log:two\n" + STEPS,
        "",
    ],
)
def test_what_is_no_bundle_stays(text: str) -> None:
    source = Source("job.log", data=text.encode())
    assert taken_apart([source]) == (source,)


def test_a_stream_stays() -> None:
    source = Source("<stdin>", stream=io.BytesIO(BUNDLES["tail"].encode()))
    assert taken_apart([source]) == (source,)
