"""Excerpts as people paste them: other languages, other systems, lines of several processes mixed."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def judged(engine: Engine, text: str) -> tuple[str, str | None]:
    found = engine.diagnose(Source("job.log", data=text.encode()))
    return found.verdict, found.root_cause.category if found.root_cause else None


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Epoch 3: loss 2.1\n已杀死\n", "rank-crash"),
        ("Epoch 3: loss 2.1\nrun.sh: 行 9:  4711 已杀死                  python train.py\n", "rank-crash"),
        ("Epoch 3: loss 2.1\nTué\n", "rank-crash"),
        ("loading\n./lmp: libgsl.so.25: 无法打开共享对象文件: 没有那个文件或目录\n", "driver-or-version"),
        ("step 4\nfailed (exitcode: 3221225477) local_rank: 1 (pid: 7) of binary: C:\\py\\python.exe\n", "rank-crash"),
        ("Loading: 58%\nWindows fatal exception: access violation\n\nCurrent thread 0x0000 (most recent call first):\n"
         '  File "C:\\a\\train.py", line 4 in load\n', "rank-crash"),
        ("RuntimeError: Handshake timeout\nreply of worker 2 missing\n", "straggler-or-hang"),
    ],
)  # fmt: skip
def test_other_systems_and_languages(engine: Engine, text: str, category: str) -> None:
    assert judged(engine, text) == ("failed", category)


@pytest.mark.parametrize(
    "text",
    [
        "Windows fatal exception: code 0x8001010d\n\nEpoch 1 step 100 loss 2.1\nEpoch 1 step 200 loss 2.0\n",
        "11/04 12:34:56 - mmengine - INFO - write results to /data/out.csv\n",
        "Terminado\n11/04 12:34:56 - mmengine - INFO - Epoch(train) [1][50/200] loss: 1.2\n",
    ],
)
def test_quiet_excerpts(engine: Engine, text: str) -> None:
    assert judged(engine, text) == ("healthy", None)


def test_what_is_said_before_mpi_is_told_to_abort(engine: Engine) -> None:
    text = (
        "The parallel version of FROB needs 4 or more processes\n" + "-" * 60 + "\n"
        "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode -9.\n"
    )
    found = engine.diagnose(Source("job.log", data=text.encode())).root_cause
    assert found is not None
    assert "needs 4 or more" in found.evidence[0].text
    assert not any("SIGKILL" in f.text for f in found.evidence)


def test_a_whole_line_names_what_mixed_tracebacks_do_not(engine: Engine) -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/w/train.py", line 54, in <module>\n'
        "Traceback (most recent call last):\n"
        '^^^  File "/w/train.py", line 54, in <module>\n'
        "    params = load(path)  File \"/w/params.py\", line 6, in load\n"
        "^^^FileNotFoundError^^: ^^ [Errno 2] No such file or directory: '/w/run.yaml'^^\n"
        "^^\n"
        "FileNotFoundError: [Errno 2] No such file or directory: '/w/run.yaml'\n"
    )  # fmt: skip
    found = engine.diagnose(Source("job.log", data=text.encode())).root_cause
    assert found is not None
    assert found.category == "config"
    assert "/w/run.yaml" in found.evidence[0].text


def test_a_thrown_exception_says_what_it_refuses(engine: Engine) -> None:
    text = (
        "terminate called after throwing an instance of 'Frob::Exception'\n"
        '  what():  Action "TWIST" is not known.\n[n1:71] Signal: Aborted (6)\n'
    )
    assert judged(engine, text) == ("failed", "config")


def test_the_traceback_that_shows_the_caller_decides(engine: Engine) -> None:
    text = (
        '[rank0]:   File "/opt/site-packages/torch/autograd/graph.py", line 865, in _engine_run_backward\n'
        "[rank0]: RuntimeError: frobnicated\n"
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/w/train.py", line 9, in <module>\n'
        '[rank1]:   File "/opt/site-packages/torch/autograd/graph.py", line 865, in _engine_run_backward\n'
        "[rank1]: RuntimeError: frobnicated\n"
    )
    assert judged(engine, text) == ("failed", "user-code")


def test_a_data_file_that_is_none_is_about_data(engine: Engine) -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/w/train.py", line 9, in <module>\n    main()\n'
        '  File "/w/train.py", line 5, in load_dataset\n    rows = json.load(f)\n'
        '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n'
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
    )
    assert judged(engine, text) == ("failed", "data-loading")


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("terminate called after throwing an instance of 'thrust::system::system_error'\n"
         "  what():  for_each: failed to synchronize: cudaErrorInvalidConfiguration: invalid argument\n", "cuda-kernel"),
        ("job 12 was cancelled: its walltime limit of 2 h is over\n", "scheduler"),
        ("RuntimeError: Found dtype Double but expected Half\n", "user-code"),
        ('[{"stream_name":"stdout","time":1.2,"data":"step 1\\n"}\n'
         ',{"stream_name":"stderr","time":9.5,"data":"[rank1]: RuntimeError: CUDA error: device-side assert triggered\\n"}\n]\n',
         "cuda-kernel"),
    ],
)  # fmt: skip
def test_other_words(engine: Engine, text: str, category: str) -> None:
    assert judged(engine, text) == ("failed", category)
