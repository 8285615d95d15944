"""The rule model, and how a mapping from a rule file becomes a rule.

Every problem is a :class:`~triage.errors.RuleError` that names file, line and the offending key.
The same vocabulary is published as a JSON Schema in ``docs/schema/rule.schema.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from triage.errors import RuleError
from triage.model import CATEGORIES, OWNERS, PHASES, RETRIES, ROLES, Owner, Retry, Role
from triage.rules.expressions import Expression
from triage.rules.fields import CONVERTERS

ENGINE_VERSION = 1
"""Version of the rule language; a rule file states the one it needs as ``engine:``."""

ORIGINS = ("speaker", "node", "job")
"""Who a finding blames when its rule names no field: the rank that printed it, its node, nobody."""

ORIGIN_FIELDS = ("rank", "ranks", "local_rank", "host", "gpu", "pci", "uuid")


@dataclass(slots=True, eq=False, repr=False)
class Signature:
    """How a rule is recognised: literals for the scan, patterns and conditions for the line."""

    anchors: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    derive: Mapping[str, Expression] = field(default_factory=dict)
    where: Expression | None = None
    lines: int = 0
    """Further lines of the same writer that a pattern may reach, stamped ones included."""
    before: int = 0
    """Lines before the anchor's that a pattern may start on (wrapped messages)."""
    frequent: bool = False
    """True for facts that many lines carry; the scan samples them."""
    reader: str | None = None
    """Kind of structured input whose reader emits this finding; such a rule has no anchors."""


@dataclass(slots=True, eq=False, repr=False)
class Remedy:
    """A remediation step as written: templates over the finding's fields, and a condition."""

    do: str
    run: str | None = None
    verify: str | None = None
    owner: Owner | None = None
    condition: Expression | None = None


@dataclass(slots=True, eq=False, repr=False)
class Advice:
    """Something that does not help, as written."""

    do: str
    why: str
    condition: Expression | None = None


@dataclass(slots=True, eq=False, repr=False)
class Example:
    """A piece of log that a rule must match, with the fields it must capture."""

    log: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    beaten_by: str | None = None
    """Rule that explains this example better, when this one matches and is not the verdict."""


@dataclass(slots=True, eq=False, repr=False)
class Rule:
    """One signature with its meaning."""

    id: str
    title: str
    role: Role
    category: str | None = None
    owner: Owner = "user"
    summary: str = ""
    confidence: float = 0.7
    phase: str | None = None
    signature: Signature | None = None
    when: Expression | None = None
    fact: str | None = None
    origin: str = "speaker"
    origin_fields: Mapping[str, str] = field(default_factory=dict)
    explains: tuple[str, ...] = ()
    refines: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    retry: Retry = "unknown"
    remediation: tuple[Remedy, ...] = ()
    does_not_help: tuple[Advice, ...] = ()
    versions: str | None = None
    references: tuple[str, ...] = ()
    positive: tuple[Example, ...] = ()
    negative: tuple[str, ...] = ()
    path: str | None = None
    line: int | None = None
    pack: str = "triage"
    """Where the rule came from: the built-in pack, an installed package, a directory."""

    @property
    def stack(self) -> str:
        """The stack that the rule belongs to: the first part of its id."""
        return self.id.partition(".")[0]


_RULE_KEYS = frozenset(
    [
        "id",
        "title",
        "role",
        "category",
        "owner",
        "summary",
        "confidence",
        "phase",
        "signature",
        "when",
        "fact",
        "origin",
        "explains",
        "refines",
        "tags",
        "retry",
        "remediation",
        "does_not_help",
        "versions",
        "references",
        "examples",
    ]
)
_SIGNATURE_KEYS = frozenset(
    ["anchor", "patterns", "fields", "derive", "where", "lines", "before", "frequent", "reader"]
)


class _Reader:
    """Reads the keys of one mapping and complains with file and line."""

    def __init__(self, data: Any, what: str, path: str | None, line: int | None, check: bool = True) -> None:
        self.what, self.path, self.check = what, path, check
        self.line = getattr(data, "line", None) or line
        if not isinstance(data, Mapping):
            raise self.error(f"{what} must be a mapping, not {_kind(data)}")
        self.data = data

    def error(self, message: str) -> RuleError:
        return RuleError(message, self.path, self.line)

    def only(self, allowed: frozenset[str] | Sequence[str]) -> None:
        unknown = sorted(str(k) for k in self.data if k not in allowed)
        if unknown:
            raise self.error(
                f"{self.what} has unknown key {unknown[0]!r}; known: {', '.join(sorted(allowed))}"
            )

    def text(self, key: str, default: str | None = None) -> str | None:
        value = self.data.get(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.error(f"{self.what}: {key} must be text, not {_kind(value)}")
        return str(value).strip("\n")

    def required(self, key: str) -> str:
        value = self.text(key)
        if not value:
            raise self.error(f"{self.what} needs {key}")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str | None) -> str | None:
        value = self.text(key, default)
        if value is not None and value not in allowed:
            raise self.error(f"{self.what}: {key} is {value!r}; allowed: {', '.join(allowed)}")
        return value

    def number(self, key: str, default: float) -> float:
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{self.what}: {key} must be a number, not {_kind(value)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key)
        if value is None:
            return ()
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
            raise self.error(f"{self.what}: {key} must be text or a list of texts")
        return tuple(values)

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.data.get(key) or {}
        if not isinstance(value, Mapping):
            raise self.error(f"{self.what}: {key} must be a mapping, not {_kind(value)}")
        return value

    def expression(self, key: str) -> Expression | None:
        text = self.text(key)
        return None if text is None else Expression(text, self.path, self.line, check=self.check)

    def items(self, key: str, build: Callable[[_Reader], Any]) -> tuple[Any, ...]:
        value = self.data.get(key) or []
        if not isinstance(value, list | tuple):
            raise self.error(f"{self.what}: {key} must be a list")
        return tuple(
            build(_Reader(item, f"{self.what}: {key}[{i}]", self.path, self.line, self.check))
            for i, item in enumerate(value)
        )


def rule_from_mapping(
    data: Any,
    path: str | None = None,
    line: int | None = None,
    pack: str = "triage",
    *,
    check: bool = True,
) -> Rule:
    """The rule that ``data`` describes. Without ``check``, expressions are parsed on first use.

    Raises:
        RuleError: when a key is missing, unknown or has a value that isn't allowed.
    """
    reader = _Reader(data, "rule", path, line, check)
    rule_id = reader.required("id")
    reader.what = f"rule {rule_id}"
    reader.only(_RULE_KEYS)
    role = reader.choice("role", ROLES, None)
    if role is None:
        raise reader.error(f"rule {rule_id} needs role: one of {', '.join(ROLES)}")
    origin, origin_fields = _origin(reader)
    confidence = reader.number("confidence", 0.7)
    if not 0 < confidence <= 1:
        raise reader.error(f"rule {rule_id}: confidence must be in (0, 1], not {confidence}")
    positive, negative = _examples(reader)
    return Rule(
        id=rule_id,
        title=reader.required("title"),
        role=cast(Role, role),
        category=reader.choice("category", CATEGORIES, None),
        owner=cast(Owner, reader.choice("owner", OWNERS, "user")),
        summary=reader.text("summary") or "",
        confidence=confidence,
        phase=reader.choice("phase", PHASES, None),
        signature=_signature(reader),
        when=reader.expression("when"),
        fact=reader.text("fact"),
        origin=origin,
        origin_fields=origin_fields,
        explains=reader.texts("explains"),
        refines=reader.texts("refines"),
        tags=reader.texts("tags"),
        retry=cast(Retry, reader.choice("retry", RETRIES, "unknown")),
        remediation=reader.items("remediation", _remedy),
        does_not_help=reader.items("does_not_help", _advice),
        versions=reader.text("versions"),
        references=reader.texts("references"),
        positive=positive,
        negative=negative,
        path=path,
        line=reader.line,
        pack=pack,
    )


def _origin(reader: _Reader) -> tuple[str, Mapping[str, str]]:
    value = reader.data.get("origin", "speaker")
    if isinstance(value, Mapping):
        names = _Reader(value, f"{reader.what}: origin", reader.path, reader.line)
        names.only(ORIGIN_FIELDS)
        return "speaker", {str(k): str(v) for k, v in value.items()}
    return cast(str, reader.choice("origin", ORIGINS, "speaker")), {}


def _signature(reader: _Reader) -> Signature | None:
    if "signature" not in reader.data:
        return None
    part = _Reader(
        reader.data["signature"], f"{reader.what}: signature", reader.path, reader.line, reader.check
    )
    part.only(_SIGNATURE_KEYS)
    fields = {str(k): str(v) for k, v in part.mapping("fields").items()}
    for name, kind in fields.items():
        if kind not in CONVERTERS:
            known = ", ".join(CONVERTERS)
            raise part.error(f"{part.what}: field {name} has unknown type {kind!r}; known: {known}")
    return Signature(
        anchors=part.texts("anchor"),
        patterns=part.texts("patterns"),
        fields=fields,
        derive={
            str(name): Expression(str(text), part.path, part.line, check=part.check)
            for name, text in part.mapping("derive").items()
        },
        where=part.expression("where"),
        lines=int(part.number("lines", 0)),
        before=int(part.number("before", 0)),
        frequent=bool(part.data.get("frequent", False)),
        reader=part.text("reader"),
    )


def _remedy(part: _Reader) -> Remedy:
    part.only(("do", "run", "verify", "owner", "if"))
    return Remedy(
        do=part.required("do"),
        run=part.text("run"),
        verify=part.text("verify"),
        owner=cast("Owner | None", part.choice("owner", OWNERS, None)),
        condition=part.expression("if"),
    )


def _advice(part: _Reader) -> Advice:
    part.only(("do", "why", "if"))
    return Advice(part.required("do"), part.required("why"), part.expression("if"))


def _examples(reader: _Reader) -> tuple[tuple[Example, ...], tuple[str, ...]]:
    examples = reader.mapping("examples")
    part = _Reader(examples, f"{reader.what}: examples", reader.path, reader.line)
    part.only(("match", "no_match"))
    matches = examples.get("match") or []
    if not isinstance(matches, list | tuple):
        raise part.error(f"{part.what}: match must be a list")
    return tuple(_example(item, part) for item in matches), part.texts("no_match")


def _example(item: Any, parent: _Reader) -> Example:
    if isinstance(item, str):
        return Example(item)
    part = _Reader(item, f"{parent.what}: match", parent.path, parent.line)
    part.only(("log", "fields", "beaten_by"))
    return Example(part.required("log"), dict(part.mapping("fields")), part.text("beaten_by"))


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", int: "a number", type(None): "nothing"}
    return names.get(type(value), type(value).__name__)
