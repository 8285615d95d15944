"""What is taken, what is skipped, and what is said about arguments that can't be read."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import socket
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from triage.errors import InputError
from triage.model import Source
from triage.sources import BlockReader, discover, discovery, walk

LOG = b"2026-11-20 18:09:26 step 12 loss 2.31\n"
PICKLE = b"\x80\x02}q\x00(X\x07\x00\x00\x00versionq\x01X\x04\x00\x00\x002.10q\x02u."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*paths: str, data: bytes = LOG) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)


def names(*arguments: str | os.PathLike[str] | Source) -> list[str]:
    return [source.name for source in discover(arguments).sources]


def test_a_file_that_is_named_is_taken_whatever_it_is(folder: Path) -> None:
    put("model.safetensors", ".hidden", "script.py", data=b"\x7fELF\0\0")
    assert names("model.safetensors", ".hidden", Path("script.py")) == [
        "model.safetensors",
        ".hidden",
        "script.py",
    ]


def test_one_argument_needs_no_list(folder: Path) -> None:
    put("job.err")
    assert discover("job.err").sources == (Source("job.err", path="job.err"),)
    assert discover(Path("job.err")).sources == (Source("job.err", path="job.err"),)
    source = Source("mine", data=b"x")
    assert discover(source).sources == (source,)


def test_what_a_directory_of_logs_holds(folder: Path) -> None:
    texts = "a.log b.err c.out d.txt e error.json f.csv g.jsonl dmesg rank_3.log.1 q.xml journal.txt job.o"
    put(*(f"run/{name}" for name in texts.split()))
    put("run/nccl_trace_rank_0", "run/dump.pkl", data=PICKLE)
    put("run/u16.log", "run/u16", data="RuntimeError: x\r\n".encode("utf-16-le") * 3)
    put("run/a.log.gz", "run/gz", data=gzip.compress(LOG))
    put("run/b.log.bz2", data=bz2.compress(LOG))
    put("run/torn.log", data=b"\0" * 5000)
    put("run/latin", data="Gerät nicht gefunden\n".encode("latin-1") * 9)
    put("run/colour", data=b"\x1b[31mERROR\x1b[0m\r10%\r20%\x07\x08\n")
    put("run/empty.err", data=b"")
    found = discover("run")
    assert len(found.sources) == len(texts.split()) + 11
    assert found.notes == ()


def test_what_is_no_log_is_skipped_with_one_note(folder: Path) -> None:
    put("run/job.err")
    others = (
        "model.safetensors x.pt y.bin z.so train.py a.png b.parquet config.json tokenizer.json README.md s.sh"
    )
    put(*(f"run/{name}" for name in others.split()))
    put("run/events.out.tfevents.1700000000.node", "run/model.bin.gz", "run/w.safetensors.index.json")
    put("run/core.4711", "run/kernel.o", data=b"\x7fELF\x02\x01\x01" + bytes(100))
    put("run/noise", data=bytes(range(256)) * 16)
    put("run/zeros", data=bytes(4096))
    put("run/numbers", data=b"\x93NUMPY\x01\x00")
    put("run/weights", data=(1000).to_bytes(8, "little") + b'{"__metadata__": {}}')
    put("run/packed.gz", data=gzip.compress(b"\x7fELF" + bytes(100)))
    found = discover("run")
    assert [source.name for source in found.sources] == ["run/job.err"]
    assert len(found.notes) == 1
    assert found.notes[0].startswith("skipped 21 files that are not logs: ")
    assert found.notes[0].endswith(", …")


def test_archives_are_named_as_such(folder: Path) -> None:
    put("run/job.err", "run/a.zip")
    with tarfile.open("run/logs.gz", "w:gz") as archive:
        archive.add("run/job.err")
    found = discover("run")
    assert [source.name for source in found.sources] == ["run/job.err"]
    assert found.notes == ("skipped 2 archives (unpack them first): a.zip, logs.gz",)


def test_hidden_files_and_the_directories_of_tools_are_left_out(folder: Path) -> None:
    put("run/job.err", "run/.git/x.log", "run/.x.log", "run/__pycache__/x.log", "run/myenv/lib/x.log")
    put("run/myenv/pyvenv.cfg")
    found = discover("run")
    assert [source.name for source in found.sources] == ["run/job.err"]
    assert found.notes == (
        "skipped 2 hidden files or directories: .git, .x.log",
        "skipped 2 directories of tools: __pycache__, myenv",
    )
    assert names("run/.git") == ["run/.git/x.log"]


def test_numbers_sort_by_value_and_arguments_keep_their_order(folder: Path) -> None:
    put("a/rank_10.log", "a/rank_2.log", "a/node-2/x.log", "b/z.log")
    assert names("b", "a") == ["b/z.log", "a/node-2/x.log", "a/rank_2.log", "a/rank_10.log"]
    assert names(".") == ["a/node-2/x.log", "a/rank_2.log", "a/rank_10.log", "b/z.log"]


def test_labels_come_from_the_names(folder: Path) -> None:
    put("run/attempt_1/3/stderr.log", "run/nccl_trace_rank_7", "run/gpu-node-05.err")
    found = {source.name: source for source in discover("run").sources}
    assert found["run/attempt_1/3/stderr.log"].local_rank == 3
    assert found["run/attempt_1/3/stderr.log"].attempt == 1
    assert found["run/nccl_trace_rank_7"].rank == 7
    assert found["run/gpu-node-05.err"].host == "gpu-node-05"


def test_a_file_that_is_reached_twice_is_read_once(folder: Path) -> None:
    put("run/job.err")
    Path("run/latest").symlink_to("job.err")
    os.link("run/job.err", "run/zhard")
    assert names("run", "run/job.err", "run", folder / "run" / "job.err", "run/*.err") == ["run/job.err"]
    assert names("run/latest", "run") == ["run/latest"]


def test_links_in_circles_come_to_an_end(folder: Path) -> None:
    put("run/a/job.err")
    Path("run/a/up").symlink_to("..")
    Path("run/self").symlink_to(".")
    Path("run/loop").symlink_to("loop")
    found = discover("run")
    assert [source.name for source in found.sources] == ["run/a/job.err"]
    assert found.notes == ("skipped 1 broken link: loop",)
    assert names("run/**/*.err") == ["run/a/job.err"]


def test_a_link_to_another_directory_is_followed(folder: Path) -> None:
    put("scratch/job.err")
    Path("run").mkdir()
    Path("run/logs").symlink_to("../scratch")
    assert names("run") == ["run/logs/job.err"]


def test_pipes_and_sockets_in_a_directory_are_skipped(folder: Path) -> None:
    put("run/job.err")
    os.mkfifo("run/pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("run/socket")
        found = discover("run")
        assert found.notes == ("skipped 2 sockets, pipes or devices: pipe, socket",)
        with pytest.raises(InputError, match=r"run/socket: is a socket"):
            discover("run/socket")
    assert [source.name for source in found.sources] == ["run/job.err"]


def test_a_pipe_that_is_named_is_taken(folder: Path) -> None:
    os.mkfifo("pipe")
    assert names("pipe") == ["pipe"]


def test_a_device_is_refused_but_for_the_empty_one() -> None:
    with pytest.raises(InputError, match=r"/dev/zero: is a device"):
        discover("/dev/zero")
    (source,) = discover("/dev/null").sources
    assert list(BlockReader(source)) == []


def test_globs_that_the_shell_left_alone(folder: Path) -> None:
    put("run/a.err", "run/b.err", "run/b.log", "run/x/c.err", "run/.h.err", "run/script.py")
    assert names("run/*.err") == ["run/a.err", "run/b.err"]
    assert names("run/[b]*") == ["run/b.err", "run/b.log"]
    assert names("run/*.py") == ["run/script.py"]
    assert names("run/.h*") == ["run/.h.err"]
    assert names("**/*.err") == ["run/a.err", "run/b.err", "run/x/c.err"]
    assert names("run/**/c.err") == ["run/x/c.err"]
    assert names("r*/x/*") == ["run/x/c.err"]
    assert names(str(folder / "run" / "*.log")) == [str(folder / "run" / "b.log")]


def test_a_bare_star_says_nothing_about_files_and_so_they_are_judged(folder: Path) -> None:
    put("run/a.err", "run/script.py", "run/x/c.err")
    assert names("run/*") == ["run/a.err", "run/x/c.err"]
    assert names("run/**") == ["run/a.err", "run/x/c.err"]


def test_a_name_with_wildcard_characters_is_a_name_first(folder: Path) -> None:
    put("slurm-7_[1-2].out", "slurm-7_1.out")
    assert names("slurm-7_[1-2].out") == ["slurm-7_[1-2].out"]


def test_a_glob_that_matches_nothing(folder: Path) -> None:
    put("run/job.err")
    with pytest.raises(InputError, match=r"run/\*\.log: nothing matches: run has job\.err"):
        discover("run/*.log")
    with pytest.raises(InputError, match=r"rum/\*\.log: nothing matches: rum is not a directory"):
        discover("rum/*.log")


def test_a_missing_path_names_what_is_similar(folder: Path) -> None:
    put("run/job.err", "run/other.log")
    with pytest.raises(
        InputError, match=r"run/job\.er: no such file or directory; did you mean run/job\.err\?"
    ):
        discover("run/job.er")
    with pytest.raises(InputError, match=r"did you mean run\?"):
        discover("rum/job.err")


def test_a_missing_path_names_the_nearest_directory(folder: Path) -> None:
    put("runs/7/job.err")
    with pytest.raises(InputError, match=r"the nearest directory that exists is runs$"):
        discover("runs/quite_another/deep/x.log")
    with pytest.raises(InputError, match=r"runs/7/zzz: no such file or directory: runs/7 has job\.err"):
        discover("runs/7/zzz")
    with pytest.raises(InputError, match=r"runs/7/job\.err is not a directory"):
        discover("runs/7/job.err/x")
    Path("dangling").symlink_to("nowhere")
    with pytest.raises(InputError, match="it is a link to nowhere, which does not exist"):
        discover("dangling")


@pytest.mark.parametrize("path", ["", "nul\0byte", "x" * 5000, "a\nb", "\udcff"])
def test_hostile_paths_are_just_missing(folder: Path, path: str) -> None:
    with pytest.raises(InputError) as caught:
        discover(path)
    assert str(caught.value).isprintable()


def test_a_directory_without_logs(folder: Path) -> None:
    Path("none").mkdir()
    with pytest.raises(InputError, match=r"none: no logs in this directory: it is empty"):
        discover("none")
    put("none/model.pt")
    with pytest.raises(InputError, match=r"skipped 1 file that is not a log: model\.pt; name a file"):
        discover("none")


def test_some_bad_arguments_are_notes_and_all_bad_an_error(folder: Path) -> None:
    put("job.err")
    found = discover(["job.err", "gone.log", "*.nothing"])
    assert [source.name for source in found.sources] == ["job.err"]
    assert [note.split(":")[0] for note in found.notes] == ["gone.log", "*.nothing"]
    with pytest.raises(InputError) as caught:
        discover(["gone.log", "*.nothing"])
    assert "gone.log" in str(caught.value)
    assert "*.nothing" in str(caught.value)
    with pytest.raises(InputError, match="nothing to read"):
        discover([])


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A directory outside of the private ones of root, with the rights of nobody meanwhile."""
    with tempfile.TemporaryDirectory() as path:
        root = os.geteuid() == 0
        Path(path).chmod(0o755)
        put(f"{path}/secret.err", f"{path}/closed/job.err", f"{path}/open/job.err", f"{path}/open/secret.log")
        for name, mode in (("secret.err", 0), ("open/secret.log", 0), ("closed", 0)):
            Path(path, name).chmod(mode)
        if root:
            os.seteuid(65534)
        try:
            yield Path(path)
        finally:
            if root:
                os.seteuid(0)
            Path(path, "closed").chmod(0o700)


def test_unreadable_files_say_who_could_read_them(unprivileged: Path) -> None:
    with pytest.raises(
        InputError, match=r"secret\.err: no permission to read it: run triage as its owner .*chmod o\+r"
    ):
        discover(unprivileged / "secret.err")
    with pytest.raises(InputError, match=r"closed: no permission .* chmod o\+rx"):
        discover(unprivileged / "closed")
    found = discover(unprivileged / "open")
    assert [Path(source.name).name for source in found.sources] == ["job.err"]
    assert found.notes == ("skipped 1 unreadable file or directory (no permission): secret.log",)
    reader = BlockReader(Source("secret", path=str(unprivileged / "secret.err")))
    assert list(reader) == []
    assert reader.note == "no permission to read it"
    assert not reader.complete


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO(LOG)
    (source,) = discover(["-", "-"], stdin=stream).sources
    assert source == Source("<stdin>", stream=stream)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LOG)))
    (source,) = discover("-").sources
    assert BlockReader(source).read(100) == LOG
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        discover("-")


def test_files_of_several_jobs_are_noted(folder: Path) -> None:
    put("slurm-9.out", "slurm-10.out", "slurm-10.err")
    assert discover(".").notes == (
        "the file names are of 2 jobs (9, 10), read as one: --per-job splits them",
    )
    assert discover(".", one_job=False).notes == ()
    assert discover(["slurm-10.out", "slurm-10.err"]).notes == ()


def test_the_number_of_files_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(*(f"run/{i}.log" for i in range(10)))
    monkeypatch.setattr(discovery, "MAX_FILES", 4)
    found = discover("run")
    assert len(found.sources) == 4
    assert "stopped looking after 4 files" in found.notes[0]
    monkeypatch.setattr(walk, "MAX_ENTRIES", 3)
    found = discover("run")
    assert len(found.sources) == 3
    assert any("directory entries" in note for note in found.notes)


def test_strange_names_are_shown_harmlessly(folder: Path) -> None:
    put("run/a\x1b[31m\n.log")
    Path(os.fsdecode(b"run/\xff.log")).write_bytes(LOG)
    found = discover("run").sources
    assert [source.name for source in found] == ["run/a\\x1b[31m\\n.log", "run/\\udcff.log"]
    assert all(BlockReader(source).read(100) == LOG for source in found)
