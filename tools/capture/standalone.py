"""Write a scenario as a program that stands alone: what it needs of the shared modules, itself as ``main``.

``python standalone.py NAME`` prints it. Nothing in it tells what is injected: no docstrings, no other scenarios.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent / "scenarios"
SHARED = (HERE / "common.py", HERE / "programs" / "house.py", HERE / "programs" / "trainers.py")


def scenario_of(node: ast.stmt) -> str | None:
    """The name that a scenario is registered under."""
    for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name):
            name = decorator.args[0]
            if decorator.func.id == "scenario" and isinstance(name, ast.Constant):
                return str(name.value)
    return None


def find(name: str) -> tuple[Path, ast.FunctionDef]:
    """The module and the function of a scenario, found in the text."""
    for module in sorted((HERE / "programs").glob("*.py")):
        for node in ast.parse(module.read_text()).body:
            if isinstance(node, ast.FunctionDef) and scenario_of(node) == name:
                return module, node
    raise KeyError(name)


def statements(path: Path) -> Iterator[ast.stmt]:
    """What a module consists of but for scenarios and what it takes from the others."""
    for node in ast.parse(path.read_text()).body:
        inner = isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in (
            "scenarios",
            "__future__",
        )
        if not inner and scenario_of(node) is None:
            yield node


def bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds at the top level."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, (ast.If, ast.Try)):
        return {name for part in node.body for name in bound(part)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def needed(body: list[ast.stmt], wanted: ast.stmt) -> list[ast.stmt]:
    """The statements that ``wanted`` leads to, in order."""
    kept: list[ast.stmt] = []
    open_ends = [wanted]
    while open_ends:
        used = {n.id for n in ast.walk(open_ends.pop()) if isinstance(n, ast.Name)}
        for node in body:
            if node not in kept and bound(node) & used:
                kept.append(node)
                open_ends.append(node)
    return [node for node in body if node in kept]


def render(name: str) -> str:
    """Imports, shared parts, the scenario as ``main``, the call."""
    module, main = find(name)
    body: dict[str, ast.stmt] = {}
    for node in (node for path in (*SHARED, module) for node in statements(path)):
        # a later function of the same name stands for the earlier one
        body[node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node)] = node
    main.name, main.decorator_list = "main", []
    parts = [*needed(list(body.values()), main), main]
    for node in (inner for part in parts for inner in ast.walk(part)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    imports = [p for p in parts if isinstance(p, (ast.Import, ast.ImportFrom))]
    rest = [p for p in parts if p not in imports]
    blocks = ["\n".join(map(ast.unparse, imports)), *map(ast.unparse, rest)]
    return (
        "from __future__ import annotations\n\n"
        + "\n\n".join(blocks)
        + '\n\nif __name__ == "__main__":\n    main()\n'
    )


if __name__ == "__main__":
    sys.stdout.write(render(sys.argv[1]))
