from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.host import HostReader, findings_in

DATA = Path(__file__).parent / "data" / "host"
READER = HostReader()
CONTEXT = {"host.memory", "host.file-system", "host.limits", "host.processors"}


def findings(text: str) -> list[Finding]:
    assert READER.recognise("x", text.encode())
    return list(READER.read(text.encode(), Source("x"), 0).findings)


def load(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("free-k", []),
        ("free-low", ["host.memory-low"]),
        ("df", ["host.file-system-full"]),
        ("df-container", ["host.shm-exhausted"]),
        ("df-inodes", ["host.inodes-exhausted"]),
        ("ulimit-bash", ["host.memlock-low"]),
        ("ulimit-dash", []),
        ("proc-limits", ["host.memlock-low"]),
        ("lscpu", []),
        ("meminfo", []),
    ],
)
def test_what_is_short(name: str, rules: list[str]) -> None:
    assert [f.rule_id for f in findings(load(name)) if f.rule_id not in CONTEXT] == rules


def test_units_of_free() -> None:
    (kib,) = findings(load("free-k"))
    assert kib.fields["total"] == 2113451508 << 10
    gib = findings(load("free-low"))[0]
    assert gib.fields["total"] == 1007 << 30
    header = "       total   used    free  shared  buff/cache  available\n"
    human = findings(header + "Mem:   1.0Ti   41Gi   902Gi    12Mi       120Gi      985Gi\n")
    assert human[0].fields["total"] == 1 << 40


def test_full_root_but_not_image_mounts() -> None:
    (full,) = [f for f in findings(load("df")) if f.rule_id == "host.file-system-full"]
    assert full.fields["mount"] == "/"
    home = [f for f in findings(load("df")) if f.fields.get("mount") == "/home"]
    assert home[0].fields["share"] == 80


def test_small_shared_memory() -> None:
    text = load("df-container").replace(
        "65536      65536          0 100% /dev/shm", "65536          0      65536   0% /dev/shm"
    )
    assert [f.rule_id for f in findings(text) if f.rule_id not in CONTEXT] == ["host.shm-small"]


def test_limits_in_bytes() -> None:
    limits = findings(load("ulimit-bash"))[0].fields
    assert (limits["memlock"], limits["nofile"], limits["rss"]) == (8192 << 10, 1024, -1)
    assert findings(load("ulimit-dash"))[0].fields["memlock"] == -1


def test_processors() -> None:
    (facts,) = findings(load("lscpu"))
    assert (facts.fields["cpus"], facts.fields["numa_nodes"], facts.fields["hypervisor"]) == (64, 1, "KVM")


def test_several_commands_and_a_log() -> None:
    text = "$ free -g\n" + load("free-k") + "$ df -h\n" + load("df") + "$ ulimit -a\n" + load("ulimit-bash")
    assert {"host.file-system-full", "host.memlock-low"} <= {f.rule_id for f in findings(text)}
    log = "".join(f"step {i} loss 2.5\nEpoch: {i}\n" for i in range(200))
    assert not READER.recognise("x", (load("free-k") + log).encode())
    assert [f.rule_id for f in findings_in(log + load("free-low"), Source("x"), 0)] == [
        "host.memory",
        "host.memory-low",
    ]
    assert findings_in(log, Source("x"), 0) == ()
