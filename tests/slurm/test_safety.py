"""Nothing that a job's user puts in the way makes triage read, write or run what it shouldn't."""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path

import pytest

from triage.errors import UsageError
from triage.slurm.identity import IdentityError, User, as_user, become, look_up
from triage.slurm.notify import arguments
from triage.slurm.reading import HEAD, RefusedError, open_log
from triage.slurm.trust import require_trusted
from triage.slurm.writing import write_new, write_report

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="changes users")
ALICE = User(54321, 54321)
ME = os.geteuid()


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * 100)
    file = open_log(str(path), ME, limit=1 << 30)
    assert file.read(60) + file.read() == b"x" * 100
    assert file.read() == b""
    file.close()


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/shadow")
    os.mkfifo(tmp_path / "fifo")
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(tmp_path / "socket"))
    for name, why in (
        ("link", "symbolic link"),
        ("fifo", "FIFO"),
        ("socket", "socket"),
        (".", "directory"),
        ("gone", "no such"),
    ):
        with pytest.raises(RefusedError, match=why):
            open_log(str(tmp_path / name), ME, limit=1 << 30)
    with pytest.raises(RefusedError, match="a device"):
        open_log("/dev/zero", None, limit=1 << 30)
    sock.close()


@root_only
def test_somebody_elses_file_is_refused_even_by_hard_link(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("root's")
    os.link(secret, tmp_path / "job.out")
    with pytest.raises(RefusedError, match="belongs to user id 0"):
        open_log(str(tmp_path / "job.out"), ALICE.uid, limit=1 << 30)


def test_swapping_the_path_after_opening_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text("mine")
    file = open_log(str(path), ME, limit=1 << 30)
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert file.read() == b"mine"
    file.close()


def test_of_a_huge_log_both_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    with path.open("wb") as stream:
        stream.write(b"head\n")
        stream.truncate(5 << 30)
        stream.seek(0, os.SEEK_END)
        stream.write(b"tail\n")
    file = open_log(str(path), ME, limit=0)
    data = b"".join(iter(lambda: file.read(1 << 20), b""))
    file.close()
    assert len(data) == 2 * HEAD
    assert data.startswith(b"head\n")
    assert data.endswith(b"tail\n")
    assert file.skipped == (5 << 30) + 5 - 2 * HEAD


def test_reports_are_new_private_files(tmp_path: Path) -> None:
    path = Path(write_new(str(tmp_path), "r.md", b"text"))
    assert path.read_bytes() == b"text"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name, make in (
        ("link.md", lambda p: p.symlink_to(victim)), ("hard.md", lambda p: os.link(victim, p)),
        ("dangling.md", lambda p: p.symlink_to(tmp_path / "nowhere")), ("fifo.md", lambda p: os.mkfifo(p)),
    ):  # fmt: skip
        make(tmp_path / name)
        with pytest.raises(FileExistsError):
            write_new(str(tmp_path), name, b"text")
    assert victim.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(ValueError, match="not a file name"):
        write_new(str(tmp_path), "../r.md", b"")


def test_a_half_written_report_is_written_again(tmp_path: Path) -> None:
    (tmp_path / ".r.md.partial").write_bytes(b"te")
    assert Path(write_new(str(tmp_path), "r.md", b"text")).read_bytes() == b"text"
    (tmp_path / ".s.md.partial").symlink_to(tmp_path / "r.md")
    with pytest.raises(FileExistsError):
        write_new(str(tmp_path), "s.md", b"other")
    assert (tmp_path / "r.md").read_bytes() == b"text"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".s.md.partial", "r.md"]


def test_reports_fall_back_and_repeat_themselves_once(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    path, problems = write_report([str(tmp_path / "gone"), str(spool)], "triage-1", ".md", b"a")
    assert path == f"{spool}/triage-1.md"
    assert problems == [f"{tmp_path}/gone: no such file or directory"]
    assert write_report([str(spool)], "triage-1", ".md", b"a")[0] == path
    assert write_report([str(spool)], "triage-1", ".md", b"b")[0] == f"{spool}/triage-1.1.md"


@root_only
def test_no_privilege_is_left_in_the_child() -> None:
    def look() -> bytes:
        status = dict(
            line.split(":\t", 1)
            for line in Path("/proc/self/status").read_text().splitlines()
            if ":\t" in line
        )
        try:
            Path("/etc/shadow").read_bytes()
            shadow = True
        except PermissionError:
            shadow = False
        return json.dumps({
            "uid": os.getresuid(), "gid": os.getresgid(), "groups": os.getgroups(), "shadow": shadow,
            "caps": [int(status[n], 16) for n in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
            "no_new_privs": status["NoNewPrivs"].strip(), "env": dict(os.environ), "cwd": str(Path.cwd()),
        }).encode()  # fmt: skip

    found = json.loads(as_user(ALICE, look))
    assert found["uid"] == found["gid"] == [54321] * 3
    assert found["groups"] == [54321]
    assert found["shadow"] is False
    assert found["caps"] == [0, 0, 0, 0]
    assert found["no_new_privs"] == "1"
    assert found["env"] == {"PATH": "/usr/bin:/bin"}
    assert found["cwd"] == "/"


def test_nobody_becomes_root() -> None:
    with pytest.raises(IdentityError):
        become(User(0, 0))
    with pytest.raises(IdentityError):
        look_up(0)
    with pytest.raises(IdentityError, match="not known"):
        look_up(3_999_999_999)


@root_only
def test_a_child_that_hangs_or_floods_is_ended() -> None:
    def flood() -> bytes:
        return b"x" * (64 << 20)

    with pytest.raises(IdentityError):
        as_user(ALICE, flood)
    with pytest.raises(IdentityError, match="took too long"):
        as_user(ALICE, lambda: os.read(os.pipe()[0], 1), timeout=0.2)


@root_only
def test_rules_that_others_can_change_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    rule = folder / "a.yaml"
    rule.write_text("engine: 1\nrules: []\n")
    tmp_path.chmod(0o700)
    require_trusted(folder)
    os.chown(rule, ALICE.uid, ALICE.gid)
    with pytest.raises(UsageError, match="belongs to user id 54321"):
        require_trusted(folder)
    os.chown(rule, 0, 0)
    folder.chmod(0o777)
    with pytest.raises(UsageError, match="can be changed by others"):
        require_trusted(folder)
    folder.chmod(0o755)
    (folder / "b.yaml").symlink_to(rule)
    with pytest.raises(UsageError, match="symbolic link"):
        require_trusted(folder)
    os.chown(tmp_path, ALICE.uid, ALICE.gid)
    with pytest.raises(UsageError, match="belongs to user id 54321"):
        require_trusted(folder)
    os.chown(tmp_path, 0, 0)


def test_values_stay_within_their_word() -> None:
    words = arguments(
        ["/usr/bin/mail", "-s", "job {job}: {category}", "{user}", "--", "{unknown}"],
        {"job": "1; rm -rf /", "category": "$(id)\n`id`", "user": "--exec=/bin/sh"},
    )
    assert words == [
        "/usr/bin/mail",
        "-s",
        "job 1; rm -rf /: $(id)?`id`",
        " --exec=/bin/sh",
        "--",
        "{unknown}",
    ]
