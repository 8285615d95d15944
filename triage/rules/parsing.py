"""Rule files: found below a directory, read and checked. Needed where nothing is kept of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from triage.errors import RuleError
from triage.rules.files import rule_files
from triage.rules.patterns import infer_anchors
from triage.rules.schema import ENGINE_VERSION, rule_from_mapping

_MAX_FILE = 4 << 20


def parse_rule_files(root: Path) -> list[dict[str, Any]]:
    """The checked raw mappings of every rule below ``root``, in path order.

    Raises:
        RuleError: for the first thing that is wrong, duplicate ids within ``root`` included.
    """
    found: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for path in rule_paths(root):
        name = path.relative_to(root.parent if root.is_dir() else path.parent).as_posix()
        for raw in parse_rule_text(_read(path), name):
            where = f"{name}:{raw['_line']}"
            if raw["id"] in seen:
                raise RuleError(
                    f"rule id {raw['id']!r} is already used at {seen[raw['id']]}", name, raw["_line"]
                )
            seen[raw["id"]] = where
            found.append(raw)
    return found


def parse_rule_text(text: str, path: str | None = None) -> list[dict[str, Any]]:
    """The checked raw mappings of the rules in one YAML text.

    A file is a mapping with ``engine`` and ``rules``, a list of rules, or one rule a document.

    Raises:
        RuleError: for the first thing that is wrong.
    """
    from triage.rules.yamlfile import parse

    found: list[dict[str, Any]] = []
    for document in parse(text, path):
        for data in _rules_of(document, path):
            rule = rule_from_mapping(data, path)
            signature = rule.signature
            anchors: tuple[str, ...] = ()
            if signature is not None and signature.reader is None:
                anchors = signature.anchors
                if not (signature.frequent and anchors):
                    anchors = infer_anchors(signature.patterns, anchors)
            found.append({**data, "_path": path, "_line": rule.line, "_anchors": list(anchors)})
    return found


def _rules_of(document: Any, path: str | None) -> list[Any]:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise RuleError("a rule file holds a mapping with 'rules', or a list of rules", path, 1)
    if "rules" not in document:
        return [document]
    line = getattr(document, "line", None)
    unknown = sorted(set(document) - {"engine", "rules"})
    if unknown:
        raise RuleError(f"unknown key {unknown[0]!r}; known: engine, rules", path, line)
    needed = document.get("engine", 1)
    if not isinstance(needed, int) or isinstance(needed, bool):
        raise RuleError(f"engine must be a whole number, not {needed!r}", path, line)
    if needed > ENGINE_VERSION:
        raise RuleError(
            f"needs rule engine {needed}, this triage has {ENGINE_VERSION}: upgrade triage", path, line
        )
    rules = document["rules"]
    if not isinstance(rules, list):
        raise RuleError("rules must be a list", path, line)
    return rules


def rule_paths(root: Path) -> list[Path]:
    """The rule file ``root``, or those below it, in order."""
    if root.is_file():
        return [root]
    return sorted(path for path in map(Path, rule_files(root)) if path.is_file())


def _read(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_FILE + 1)
        if len(data) > _MAX_FILE:
            raise RuleError(f"larger than {_MAX_FILE >> 20} MiB, which no rule file is", str(path))
        return data.decode("utf-8")
    except OSError as error:
        raise RuleError(f"can't read it: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        raise RuleError(f"not UTF-8 at byte {error.start}", str(path)) from None
