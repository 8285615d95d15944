from __future__ import annotations

from pathlib import Path

from triage.model import Source
from triage.readers.smi_dmon import DmonReader

DATA = Path(__file__).parent / "data" / "dmon"
READER = DmonReader()


def test_idle_gpus_are_fine() -> None:
    data = (DATA / "idle-h200.txt").read_bytes()
    assert READER.recognise("x", data)
    (facts,) = READER.read(data, Source("x"), 0).findings
    assert facts.fields["idle"] == (0, 1, 2, 3)


def test_one_idle_among_busy_ones() -> None:
    facts, odd = READER.read((DATA / "gpu1-idle.txt").read_bytes(), Source("x"), 0).findings
    assert facts.fields["busy"] == (0, 2, 3)
    assert (odd.rule_id, odd.gpu) == ("gpu.dmon-one-idle", 1)


def test_every_column_of_a_healthy_machine() -> None:
    data = (DATA / "all-columns-h200.txt").read_bytes()
    assert READER.recognise("x", data)
    assert len(READER.read(data, Source("x"), 0).findings) == 1


def test_a_list_of_processes_is_another_thing() -> None:
    text = (
        "# gpu         pid   type     sm    mem    command\n# Idx           #    C/G      %      %    name\n"
    )
    assert not READER.recognise("x", (text + "    0          -     -      -      -    -\n").encode())


def test_other_columns_and_dates() -> None:
    text = (
        "#Date       Time        gpu     sm    mem  sbecc  dbecc    pci\n"
        "#YYYYMMDD   HH:MM:SS    Idx      %      %   errs   errs   errs\n"
        " 20251104   12:30:01      0    100     40      0      3      0\n"
        " 20251104   12:30:01      1    100     40      -      -      0\n"
    )
    assert READER.recognise("x", text.encode())
    findings = READER.read(text.encode(), Source("x"), 0).findings
    assert [(f.rule_id, f.gpu) for f in findings[1:]] == [("gpu.dmon-ecc", 0)]
