"""YAML with the line of every mapping kept and duplicate keys refused."""

from __future__ import annotations

from typing import Any

import yaml

from triage.errors import RuleError

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

_MAX_DEPTH = 40


class LineDict(dict[str, Any]):
    """A mapping that remembers the line (from 1) it started on."""

    line: int = 0


def parse(text: str, path: str | None = None) -> list[Any]:
    """The documents of a YAML text, mappings as :class:`LineDict`.

    Raises:
        RuleError: for text that isn't YAML, a duplicate key or nesting beyond reason.
    """
    try:
        nodes = list(yaml.compose_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part)
        raise RuleError(f"not valid YAML: {reason}", path, mark.line + 1 if mark else None) from None
    except yaml.YAMLError as error:
        raise RuleError(f"not valid YAML: {error}", path) from None
    constructor = yaml.SafeLoader("")
    return [_build(node, constructor, path, 0) for node in nodes if node is not None]


def _build(node: yaml.Node, constructor: yaml.SafeLoader, path: str | None, depth: int) -> Any:
    line = node.start_mark.line + 1
    if depth > _MAX_DEPTH:
        raise RuleError(f"nested deeper than {_MAX_DEPTH} levels", path, line)
    if isinstance(node, yaml.MappingNode):
        result = LineDict()
        result.line = line
        for key_node, value_node in node.value:
            key = _build(key_node, constructor, path, depth + 1)
            if not isinstance(key, str | int | float | bool):
                raise RuleError("a key must be plain text", path, key_node.start_mark.line + 1)
            if key in result:
                raise RuleError(f"duplicate key {key!r}", path, key_node.start_mark.line + 1)
            result[key] = _build(value_node, constructor, path, depth + 1)  # type: ignore[index]
        return result
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, constructor, path, depth + 1) for item in node.value]
    try:
        return constructor.construct_object(node)
    except (yaml.YAMLError, ValueError) as error:
        raise RuleError(f"can't read this value: {error}", path, line) from None
