from __future__ import annotations

from pathlib import Path

from triage.model import Source
from triage.readers.environment import EnvironmentReader, findings_in, variables

DATA = Path(__file__).parent / "data" / "environment"
READER = EnvironmentReader()
TEXT = (DATA / "env.txt").read_text()


def facts(data: bytes) -> dict[str, object]:
    assert READER.recognise("x", data)
    found = READER.read(data, Source("x"), 0).findings
    return {str(f.fields["name"]): f.fields["value"] for f in found if f.rule_id == "env.variable"}


def test_what_matters_is_kept_and_secrets_are_masked() -> None:
    found = facts(TEXT.encode())
    assert found["NCCL_SOCKET_IFNAME"] == "ens1"
    assert found["CUDA_VISIBLE_DEVICES"] == "0,1,2,3,4,5,6,7"
    assert "AbCdEf" not in str(found["HF_TOKEN"])
    assert not {"PATH", "LS_COLORS", "USER"} & found.keys()
    reading = READER.read(TEXT.encode(), Source("x"), 0)
    assert all("AbCdEf" not in e.text for f in reading.findings for e in f.evidence)


def test_nul_separated_and_exported() -> None:
    nul = TEXT.replace("\n}\n", "\n").replace("\n", "\0").encode()
    assert facts(nul)["NCCL_DEBUG"] == "INFO"
    declared = "".join(
        f'declare -x {line.replace("=", "=" + chr(34), 1)}"\n' for line in TEXT.splitlines()[:15]
    )
    assert facts(declared.encode())["MASTER_ADDR"] == "gpu-a001"


def test_rank_job_and_versions() -> None:
    found = {f.rule_id: f for f in READER.read(TEXT.encode(), Source("x"), 0).findings}
    identity = found["env.identity"]
    assert (identity.rank, identity.host, identity.fields["world_size"]) == (9, "gpu-a002", 32)
    assert found["env.job"].fields == {"job_id": "123456", "nodes": 4}
    assert found["env.version"].fields == {"nccl": (2, 25, 1)}


def test_empty_values_are_values() -> None:
    assert facts((TEXT + "CUDA_DEVICE_ORDER=\n").encode())["CUDA_DEVICE_ORDER"] == ""


def test_logs_and_settings_are_no_environment() -> None:
    log = "INFO NCCL_DEBUG=INFO\n" * 50 + "PATH=/bin\n"
    assert not READER.recognise("x", log.encode())
    assert not READER.recognise("x", b"a=1\nb=2\nc=3\n")
    assert findings_in(log, Source("x"), 0) == ()


def test_all_variables() -> None:
    assert variables(TEXT)["PATH"].startswith("/usr/local/bin")
