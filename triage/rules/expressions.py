"""The small expression language of ``where``, ``when``, ``if`` and ``derive``.

An expression is parsed with :mod:`ast` and walked by the interpreter below; nothing is ever
handed to ``eval``. It knows numbers with units (``8GiB``, ``600s``), strings, tuples, arithmetic,
comparisons, ``and`` / ``or`` / ``not``, ``in``, conditional expressions and calls of the functions
that the caller offers. An unknown field is ``None``; arithmetic and ordering with ``None`` give
``None``, which is false, so a rule never fires on what a log did not say.
"""

from __future__ import annotations

import ast
import operator
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from triage.errors import ExpressionError
from triage.rules.exit_lists import odd_child, odd_code
from triage.rules.fields import to_bytes, to_seconds

_PARSING = threading.Lock()
"""Before Python 3.12 two threads that parse at once can fail each other."""
_UNITS = re.compile(r"(?<![\w.\"'])(\d+(?:\.\d+)?)\s?(KiB|MiB|GiB|TiB|EiB|ms|s|min|h)\b")
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.RShift: operator.rshift,
}
_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_PURE: dict[str, Callable[..., Any]] = {
    "min": lambda *v: min((x for x in v if x is not None), default=None),
    "max": lambda *v: max((x for x in v if x is not None), default=None),
    "abs": lambda v: None if v is None else abs(v),
    "len": lambda v: None if v is None else len(v),
    "listed": lambda v: None if v is None else tuple(part for part in str(v).split(",") if part.strip()),
    "lower": lambda v: None if v is None else str(v).lower(),
    "int": lambda v: None if v is None else int(v),
    "round": lambda v, n=0: None if v is None else round(v, n),
    "startswith": lambda v, p: v is not None and str(v).startswith(p),
    "endswith": lambda v, p: v is not None and str(v).endswith(p),
    "matches": lambda v, p: v is not None and re.search(p, str(v)) is not None,
    "coalesce": lambda *v: next((x for x in v if x is not None), None),
    "odd_child": odd_child,
    "odd_code": odd_code,
    "known": lambda v: v is not None,
}
_MAX_LENGTH = 2000


class Expression:
    """An expression, parsed on first use or, with ``check``, at once.

    Rules that ship were checked when they were packed, so loading them parses nothing.
    """

    __slots__ = ("_calls", "_checked", "_line", "_names", "_path", "_tree", "text")

    def __init__(
        self, text: str, path: str | None = None, line: int | None = None, *, check: bool = True
    ) -> None:
        self.text = text
        self._path, self._line = path, line
        self._tree: ast.expr | None = None
        self._names: set[str] = set()
        self._calls: set[tuple[str, tuple[str, ...]]] = set()
        self._checked = False
        if check:
            self._check()

    def _check(self) -> None:
        """Refuse what the language does not have, and note the names and calls."""
        if self._checked:
            return
        tree = self._parsed()
        try:
            _check(tree, self._names, self._calls)
        except (ExpressionError, RecursionError) as error:
            reason = error.reason if isinstance(error, ExpressionError) else "nested too deeply"
            raise ExpressionError(f"{reason} in {self.text!r}", self._path, self._line) from None
        self._checked = True

    def _parsed(self) -> ast.expr:
        if self._tree is not None:
            return self._tree
        if len(self.text) > _MAX_LENGTH:
            raise ExpressionError(f"expression longer than {_MAX_LENGTH} characters", self._path, self._line)
        try:
            with _PARSING:
                tree = ast.parse(_with_units(" ".join(self.text.split())), mode="eval").body
        except ExpressionError as error:
            reason = f"{error.reason} in {self.text!r}"
            raise ExpressionError(reason, self._path, self._line) from None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ExpressionError(f"can't parse {self.text!r}: {error}", self._path, self._line) from None
        self._tree = tree
        return tree

    @property
    def names(self) -> frozenset[str]:
        """The fields that the expression refers to."""
        self._check()
        return frozenset(self._names)

    @property
    def calls(self) -> frozenset[tuple[str, tuple[str, ...]]]:
        """``(function, string arguments)`` of every call, so that lint can check rule ids."""
        self._check()
        return frozenset(self._calls)

    def evaluate(
        self, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> Any:
        """The value of the expression; type clashes give None instead of an exception."""
        try:
            return _walk(self._parsed(), names, functions or {})
        except (TypeError, ValueError, ZeroDivisionError, OverflowError, IndexError, re.error):
            return None

    def holds(
        self, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> bool:
        """True when the expression is known to be true."""
        return bool(self.evaluate(names, functions))

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


PURE_FUNCTIONS = frozenset(_PURE)
"""Functions that every expression may call; ``when`` offers more (see triage.diagnosis)."""


def _with_units(text: str) -> str:
    """Turn ``8GiB`` and ``600s`` into plain numbers outside of quoted strings, and those into raw ones."""

    def number(match: re.Match[str]) -> str:
        convert = to_bytes if match[2].endswith("iB") else to_seconds
        return repr(convert(match[0]))

    parts = re.split(r"(\"[^\"]*\"|'[^']*')", text)
    # strings are taken as they stand: a backslash in a pattern is a backslash
    return "".join(f"r{p}" if i % 2 else _UNITS.sub(number, p) for i, p in enumerate(parts))


def _check(node: ast.AST, names: set[str], calls: set[tuple[str, tuple[str, ...]]]) -> None:
    if isinstance(node, ast.Name):
        names.add(node.id)
    elif isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name):
            raise ExpressionError("only plain function names can be called")
        strings = tuple(
            a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
        )
        calls.add((node.func.id, strings))
        if node.func.id == "matches":
            _check_pattern(strings)
        for child in (*node.args, *(k.value for k in node.keywords)):
            _check(child, names, calls)
        return
    elif isinstance(node, ast.Constant):
        if not isinstance(node.value, str | int | float | bool | type(None)):
            raise ExpressionError(f"constant of type {type(node.value).__name__} isn't allowed")
    elif isinstance(node, ast.BinOp):
        if type(node.op) not in _ARITHMETIC:
            raise ExpressionError(f"operator {type(node.op).__name__} isn't allowed")
    elif not isinstance(
        node,
        ast.BoolOp | ast.UnaryOp | ast.Compare | ast.IfExp | ast.Tuple | ast.List | ast.Set
        | ast.operator | ast.cmpop | ast.boolop | ast.unaryop | ast.expr_context,
    ):  # fmt: skip
        raise ExpressionError(f"{type(node).__name__} isn't allowed")
    for inner in ast.iter_child_nodes(node):
        _check(inner, names, calls)


def _check_pattern(strings: tuple[str, ...]) -> None:
    for pattern in strings:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ExpressionError(f"pattern {pattern!r} doesn't compile: {error}") from None


def _walk(node: ast.expr, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return tuple(_walk(element, names, functions) for element in node.elts)
    if isinstance(node, ast.BoolOp):
        return _boolean(node, names, functions)
    if isinstance(node, ast.UnaryOp):
        value = _walk(node.operand, names, functions)
        if isinstance(node.op, ast.Not):
            return not value
        return None if value is None else -value if isinstance(node.op, ast.USub) else +value
    if isinstance(node, ast.BinOp):
        left, right = _walk(node.left, names, functions), _walk(node.right, names, functions)
        return None if left is None or right is None else _ARITHMETIC[type(node.op)](left, right)
    if isinstance(node, ast.Compare):
        return _compare(node, names, functions)
    if isinstance(node, ast.IfExp):
        branch = node.body if _walk(node.test, names, functions) else node.orelse
        return _walk(branch, names, functions)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = functions.get(node.func.id) or _PURE.get(node.func.id)
        if function is None:
            return None
        keywords = {k.arg: _walk(k.value, names, functions) for k in node.keywords if k.arg}
        return function(*(_walk(a, names, functions) for a in node.args), **keywords)
    raise ExpressionError(f"{type(node).__name__} isn't allowed")


def _boolean(node: ast.BoolOp, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    wants_all = isinstance(node.op, ast.And)
    value: Any = None
    for operand in node.values:
        value = _walk(operand, names, functions)
        if bool(value) != wants_all:
            return value
    return value


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compare(
    node: ast.Compare, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]
) -> bool | None:
    left = _walk(node.left, names, functions)
    for op, operand in zip(node.ops, node.comparators, strict=True):
        right = _walk(operand, names, functions)
        if isinstance(op, ast.Is | ast.Eq):
            holds = left == right
        elif isinstance(op, ast.IsNot | ast.NotEq):
            # "state != 'x'" says nothing when the state is unknown; "state is not None" does.
            if left is None and not _is_none(operand):
                return None
            holds = left != right
        elif isinstance(op, ast.In | ast.NotIn):
            if right is None:
                return None
            holds = (left in right) == isinstance(op, ast.In)
        elif left is None or right is None:
            return None
        else:
            holds = _ORDER[type(op)](left, right)
        if not holds:
            return False
        left = right
    return True
