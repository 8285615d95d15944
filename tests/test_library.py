"""The library as a service uses it: every kind of input, budgets, many threads, published schemas."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import triage
from triage.sources.given import BYTES_PER_SECOND

ROOT = Path(__file__).parents[1]
CASE = ROOT / "fixtures/captured/oom-one-rank-cascade/job.err"


def root_of(diagnosis: triage.Diagnosis) -> str:
    assert diagnosis.root_cause is not None, diagnosis.to_text()
    return diagnosis.root_cause.rule_id


def test_paths_bytes_streams_text_and_sources_are_read(engine: triage.Engine) -> None:
    data = CASE.read_bytes()
    text = data.decode("utf-8", "replace")
    with CASE.open("rb") as binary, CASE.open(encoding="utf-8", errors="replace") as written:
        given: list[Any] = [
            CASE, str(CASE), [CASE], data, bytearray(data), memoryview(data), io.BytesIO(data), io.StringIO(text),
            binary, written, triage.text_source(text), triage.Source("x", data=data),
            triage.Source("x", stream=io.BytesIO(data)), iter([CASE]), [io.BytesIO(data), b""],
        ]  # fmt: skip
        assert {root_of(engine.diagnose(one)) for one in given} == {root_of(engine.diagnose(CASE))}


def test_labels_of_a_source_say_who_spoke(engine: triage.Engine) -> None:
    log = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    diagnosis = engine.diagnose(triage.text_source(log, "a", rank=5, host="gpu-07"))
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.origin.rank, diagnosis.root_cause.origin.host) == (5, "gpu-07")


@pytest.mark.parametrize("wrong", [7, None, [7], [None], 1.5])
def test_what_cannot_be_read_is_misuse(engine: triage.Engine, wrong: Any) -> None:
    with pytest.raises(triage.UsageError):
        engine.diagnose(wrong)


def test_misuse_has_one_exception_hierarchy(engine: triage.Engine) -> None:
    for call in (
        lambda: engine.diagnose("/no/such/path"),
        lambda: engine.diagnose("line one\nline two"),
        lambda: engine.diagnose([]),
        lambda: engine.diagnose(b"", budget=-1),
        lambda: engine.diagnose(b"", seconds=-1.0),
        lambda: engine.diagnose(b"", receipt=7),
        lambda: triage.Engine(["/no/such/rules"]),
    ):
        with pytest.raises(triage.TriageError):
            call()
    with pytest.raises(triage.InputError, match="text_source"):
        engine.diagnose("line one\nline two")


def test_streams_that_fail_or_give_nonsense_become_notes(engine: triage.Engine) -> None:
    class Broken:
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    diagnosis = engine.diagnose([Broken(), b"step 1\n"])
    assert diagnosis.verdict == "inconclusive"
    assert any("could not be read" in note for note in diagnosis.notes)


def test_nothing_is_printed(engine: triage.Engine, capfd: pytest.CaptureFixture[str]) -> None:
    engine.diagnose([CASE, b"\x00\xff" * 100], receipt={"env": {"NCCL_MNNVL_ENABLE": "1"}}).to_markdown()
    assert capfd.readouterr() == ("", "")


def test_a_budget_cuts_at_the_same_place_every_time(engine: triage.Engine) -> None:
    log = b"".join(b"line %d of an ordinary log\n" % i for i in range(40_000)) + CASE.read_bytes()
    cut = engine.diagnose(log, budget=100_000)
    assert cut.verdict == "inconclusive"
    assert cut.sources[0].bytes_read == 100_000
    assert any("only the first 100000" in note for note in cut.notes)
    seconds = 100_000 / BYTES_PER_SECOND
    timed = engine.diagnose(log, seconds=seconds)
    assert timed.sources[0].bytes_read <= int(seconds * BYTES_PER_SECOND)
    assert timed.verdict == "inconclusive"
    assert engine.diagnose(log, seconds=3600.0).to_json() == engine.diagnose(log).to_json()


def test_no_time_at_all_reads_nothing_and_says_so(engine: triage.Engine) -> None:
    diagnosis = engine.diagnose([CASE, CASE.with_suffix(".out")], seconds=0.0)
    assert diagnosis.verdict == "inconclusive"
    assert all(not source.complete for source in diagnosis.sources)
    assert diagnosis.notes


def test_fifty_threads_get_what_one_gets(engine: triage.Engine) -> None:
    fresh = triage.Engine()  # nothing compiled yet: threads meet in every cache
    cases = sorted((ROOT / "fixtures/captured").glob("*/job.err"))[:12]
    receipt = {"env": {"NCCL_MNNVL_ENABLE": "1"}, "launch": {"tp": 3}}
    jobs = [cases[i % len(cases)] for i in range(50)]
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda path: fresh.diagnose(path, receipt=receipt).to_json(), jobs))
    alone = {path: engine.diagnose(path, receipt=receipt).to_json() for path in cases}
    assert answers == [alone[path] for path in jobs]


def test_a_call_within_a_call_is_fine(engine: triage.Engine) -> None:
    inner: list[str] = []

    def again(count: int) -> None:
        inner.append(root_of(engine.diagnose(CASE)))

    assert root_of(engine.diagnose(CASE, progress=again)) == inner[0]


def test_a_receipt_alone_is_judged(engine: triage.Engine) -> None:
    diagnosis = engine.diagnose([], receipt={"run_id": "r", "launch": {"tp": 3}})
    assert diagnosis.verdict == "healthy"
    assert [w.rule_id for w in diagnosis.warnings] == ["receipt.tp-not-power-of-two"]
    assert triage.diagnose([], receipt={"run_id": "r"}).warnings == ()
    assert engine.diagnose(b"", receipt={"run_id": "r"}).verdict == "inconclusive"


def test_the_answer_validates_and_is_written_back(engine: triage.Engine) -> None:
    schema = json.loads((ROOT / "docs/schema/diagnosis.schema.json").read_text())
    receipt = {"run_id": "r", "env": {"NCCL_MNNVL_ENABLE": "1"}, "launch": {"world_size": 4}}
    diagnosis = engine.diagnose(CASE, receipt=receipt)
    jsonschema.validate(diagnosis.to_dict(), schema)
    attached = diagnosis.attach_to(receipt)
    jsonschema.validate(attached, json.loads((ROOT / "docs/schema/receipt.schema.json").read_text()))
    jsonschema.validate(attached["triage"], schema)
    assert receipt.keys() == {"run_id", "env", "launch"}
    assert json.loads(diagnosis.to_json()) == diagnosis.to_dict()


def rule_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((ROOT / "docs/schema/rule.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def test_every_shipped_rule_validates_against_the_published_schema() -> None:
    schema = rule_schema()
    # without the alternatives of a document, so that an error names the key
    validator = jsonschema.Draft202012Validator({**schema, "anyOf": [schema["anyOf"][0]]})
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = sorted((ROOT / "rules").rglob("*.yaml"))
    assert files
    for path in files:
        problems = [
            e.message[:200] for e in validator.iter_errors(yaml.load(path.read_text(), Loader=loader))
        ]
        assert not problems, path


@pytest.mark.parametrize(
    "rule",
    [
        {"title": "no id", "role": "cause"},
        {"id": "a.b", "title": "t", "role": "reason"},
        {"id": "a.b", "title": "t", "role": "cause", "category": "bad-luck"},
        {"id": "a.b", "title": "t", "role": "cause", "colour": "red"},
        {"id": "a.b", "title": "t", "role": "cause", "remediation": [{"run": "x"}]},
        {"id": "a.b", "title": "t", "role": "cause", "signature": {"fields": {"x": "furlongs"}}},
        {"id": "a.b", "title": "t", "role": "cause", "confidence": 2},
    ],
)
def test_the_rule_schema_refuses_what_the_loader_refuses(rule: dict[str, Any]) -> None:
    from triage.rules.schema import rule_from_mapping

    with pytest.raises(triage.RuleError):
        rule_from_mapping(rule)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(rule, rule_schema())


def test_the_rule_schema_knows_every_key_and_value_of_the_loader() -> None:
    from triage.model import CATEGORIES, OWNERS, PHASES, RETRIES, ROLES
    from triage.rules import schema as model
    from triage.rules.fields import CONVERTERS

    rule, signature = (rule_schema()["$defs"][name]["properties"] for name in ("rule", "signature"))
    assert set(rule) == model._RULE_KEYS
    assert set(signature) == model._SIGNATURE_KEYS
    for name, values in (("role", ROLES), ("owner", OWNERS), ("retry", RETRIES)):
        assert tuple(rule[name]["enum"]) == values
    assert set(rule["category"]["enum"]) == {*CATEGORIES, None}
    assert set(rule["phase"]["enum"]) == {*PHASES, None}
    assert set(signature["fields"]["additionalProperties"]["enum"]) == set(CONVERTERS)


def test_a_receipt_among_the_logs_is_known_by_its_content(engine: triage.Engine, tmp_path: Path) -> None:
    record = {"run_id": "r1", "env": {"NCCL_MNNVL_ENABLE": "1"}, "launch": {"tp": 3, "world_size": 4}}
    (tmp_path / "job.err").write_bytes(Path(CASE).read_bytes())
    (tmp_path / "anything.txt").write_text(json.dumps(record))
    (tmp_path / "settings.json").write_text(json.dumps({"run_id": "r1", "launch": "torchrun", "lr": 0.1}))
    (tmp_path / "zz.json").write_text(json.dumps(record))
    found = engine.diagnose(tmp_path)
    kinds = {Path(s.name).name: s.kind for s in found.sources}
    assert kinds["anything.txt"] == "receipt"
    assert kinds["settings.json"] != "receipt"
    assert any("zz.json" in note and "receipt diff" in note for note in found.notes)
    wanted = engine.diagnose(tmp_path / "job.err", receipt=record)
    assert [w.rule_id for w in found.warnings] == [w.rule_id for w in wanted.warnings]
    given = engine.diagnose(tmp_path, receipt={"run_id": "r2"})
    assert not [w for w in given.warnings if w.rule_id.startswith("receipt.")]
