from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from triage import Engine, text_source
from triage.errors import RuleError
from triage.rules.files import cache_directory
from triage.rules.lint import lint
from triage.rules.loader import load_rules
from triage.rules.parsing import parse_rule_text

RULE = """
engine: 1
rules:
  - id: local.flux
    title: The flux capacitor failed
    role: cause
    category: config
    summary: "The flux was {flux}."
    signature:
      patterns: ['flux capacitor failed with flux (?P<flux>\\d+)']
      fields: {flux: int}
    retry: after-fix
    remediation: [{do: Lower the flux}]
    references: [the manual]
    examples:
      match: [{log: "flux capacitor failed with flux 88", fields: {flux: 88}}]
      no_match: ["flux capacitor is fine"]
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_directory_adds_rules_and_later_ones_win(tmp_path: Path) -> None:
    write(tmp_path / "a/x.yaml", RULE)
    write(tmp_path / "b/y.yaml", RULE.replace("Lower the flux", "Raise the flux"))
    rules = load_rules([tmp_path / "a", tmp_path / "b"])
    assert rules["local.flux"].remediation[0].do == "Raise the flux"
    assert any("local.flux" in note and "replaces" in note for note in rules.notes)
    assert "torch.oom" in rules
    assert str(tmp_path / "b") in rules.origin("local.flux")


def test_anchors_are_inferred() -> None:
    (raw,) = parse_rule_text(RULE)
    assert raw["_anchors"] == ["flux capacitor failed with flux"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("role: cause", "role: cose"), "role is 'cose'; allowed: cause"),
        (("category: config", "category: konfig"), "category is 'konfig'"),
        (("flux: int", "flux: number"), "unknown type 'number'"),
        (("retry: after-fix", "retries: 3"), "unknown key 'retries'"),
        (("title: The", "title: The\n    title: The"), "duplicate key 'title'"),
        (("id: local.flux", "name: local.flux"), "needs id"),
        (("engine: 1", "engine: 99"), "upgrade triage"),
        (("do: Lower the flux", "run: x"), "needs do"),
        (("signature:\n", "signature:\n      where: a.b\n"), "isn't allowed"),
    ],
)
def test_broken_rules_say_what_and_where(change: tuple[str, str], message: str) -> None:
    with pytest.raises(RuleError, match=r"mine\.yaml:") as error:
        parse_rule_text(RULE.replace(*change), "mine.yaml")
    assert message in str(error.value)


def test_not_yaml_names_the_line() -> None:
    with pytest.raises(RuleError, match=r"x\.yaml:\d+: not valid YAML"):
        parse_rule_text("rules:\n  - id: [\n", "x.yaml")


def test_duplicate_ids_in_one_directory_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "r/a.yaml", RULE)
    write(tmp_path / "r/b.yaml", RULE)
    with pytest.raises(RuleError, match=r"b\.yaml:4: rule id 'local.flux' is already used at r/a\.yaml:4"):
        load_rules([tmp_path / "r"])


def test_missing_and_empty_directories_are_named(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no such file or directory"):
        load_rules([tmp_path / "none"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuleError, match="holds no rule files"):
        load_rules([tmp_path / "empty"])


def test_the_cache_is_private_keyed_by_content_and_rebuilt_when_damaged(tmp_path: Path) -> None:
    file = write(tmp_path / "r/a.yaml", RULE)
    load_rules([tmp_path / "r"], builtin=False)
    (cached,) = Path(cache_directory()).glob("rules-*.json")
    assert cached.stat().st_mode & 0o777 == 0o600
    assert Path(cache_directory()).stat().st_mode & 0o777 == 0o700
    cached.write_bytes(cached.read_bytes().replace(b"Lower", b"Xower"))
    assert load_rules([tmp_path / "r"], builtin=False)["local.flux"].remediation[0].do == "Lower the flux"
    file.write_text(RULE.replace("Lower", "Raise"))
    assert load_rules([tmp_path / "r"], builtin=False)["local.flux"].remediation[0].do == "Raise the flux"


def test_a_checkout_notices_that_its_rules_were_edited(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    shutil.copytree(root / "triage", tmp_path / "triage", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "pyproject.toml").touch()
    file = write(tmp_path / "rules/a.yaml", RULE)

    def shown() -> str:
        command = [sys.executable, "-m", "triage", "rules", "show", "local.flux"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert "Lower the flux" in shown()
    assert "Lower the flux" in shown()
    file.write_text(RULE.replace("Lower", "Raise"))
    assert "Raise the flux" in shown()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("local.flux", "Flux"), "id must be"),
        (("{flux}", "{fluxes}"), "placeholder {fluxes} is not a field"),
        (("{flux}", "by{flux|}"), "touches the word before it"),
        (("retry: after-fix", "explains: [no.such]"), "'no.such', which does not exist"),
        (('no_match: ["flux capacitor is fine"]', "no_match: []"), "near miss"),
        (("remediation: [{do: Lower the flux}]", "tags: [x]"), "needs remediation"),
        (("flux capacitor failed with flux (", "(a|b)+ ("), "without an anchor"),
        (("flux (?P<flux>\\d+)'", "flux (?P<flux>\\d+)(?:a+)+'"), "nested quantifiers"),
        (("references: [the manual]", "tags: [y]"), "needs references"),
        (
            ("{do: Lower the flux}", "{do: Lower the flux, run: 'python -c \"import f\"   # f.flux = 1'}"),
            "is gone when it ends",
        ),
        (
            ("{do: Lower the flux}", "{do: Lower the flux, run: 'echo ${API_TOKEN:-none}'}"),
            "held a secret",
        ),
    ],
)
def test_lint_refuses(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    write(tmp_path / "r/a.yaml", RULE.replace(*change))
    problems = [str(p) for p in lint(load_rules([tmp_path / "r"])) if "r/a.yaml" in str(p)]
    assert any(message in p for p in problems), problems


def test_causal_cycles_are_refused(tmp_path: Path) -> None:
    other = RULE.replace("local.flux", "local.time").replace("flux capacitor failed", "time machine failed")
    one = RULE.replace("retry: after-fix", "explains: [local.time]")
    two = other.replace("retry: after-fix", "explains: [local.flux]")
    write(tmp_path / "r/a.yaml", one)
    write(tmp_path / "r/b.yaml", two)
    assert any("causal cycle" in str(p) for p in lint(load_rules([tmp_path / "r"])))


def test_the_shipped_rules_are_clean() -> None:
    assert [str(p) for p in lint(load_rules())] == []


def test_without_the_built_in_rules_a_failure_is_still_told(tmp_path: Path) -> None:
    write(tmp_path / "r/a.yaml", RULE)
    rules = load_rules([tmp_path / "r"], builtin=False)
    assert list(rules) == ["local.flux"]
    found = Engine(rules).diagnose(
        text_source("all was quiet\nzork: FATAL: the grue ate the lantern\n", name="job.err")
    )
    assert found.verdict == "failed"


def test_no_remark_of_a_command_is_taken_for_one_of_yaml() -> None:
    plain = re.compile(r"^ +(?:- )?(?:run|do|verify|why): [^'\"|>&*#\s].*\s#")
    rules = Path(__file__).parents[2] / "rules"
    lost = [
        f"{file.relative_to(rules)}:{number}"
        for file in sorted(rules.rglob("*.yaml"))
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if plain.match(line)
    ]
    assert lost == []
