"""Which names in a tree mean the same variable: Python's scoping rules, for renaming.

It resolves functions, lambdas, comprehensions, classes, `global` and `nonlocal`. Names bound in a
class body are attributes and are reported as such; attribute names and keyword arguments are not
variables, except keywords in a call of a function that the source itself defines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from puzzles.syntax import SyntaxFailure

MAX_DEPTH = 100
"""Levels of a tree that are read; P3's deepest source has 15. A fixed number, since where Python
itself gives up depends on how deep the caller stands."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """One module, function, class or comprehension, and the names bound in it."""

    __slots__ = ("globals", "kind", "names", "parent")

    def __init__(self, kind: str, parent: Scope | None, body: Iterable[ast.AST]) -> None:
        self.kind = kind
        self.parent = parent
        self.names, self.globals = _bound(body)

    def owner(self, name: str) -> Scope | None:
        """Find the scope that binds `name` as seen from here; None where it is free."""
        if name in self.globals:
            return None
        scope: Scope | None = self
        while scope is not None:
            # What a class body binds is seen in that body, not in its methods.
            if name in scope.names and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None


@dataclass(slots=True)
class Use:
    """One place where a name is written."""

    node: ast.AST
    """The node that holds the name."""
    attribute: str
    """The node's attribute that holds it: `id`, `name`, `arg`, `asname`, `rest` or `names`."""
    index: int
    """The position in the list where the attribute is one (`nonlocal a, b`), else -1."""
    name: str
    """The name as written."""
    scope: Scope
    """Where it is written."""
    owner: Scope | None
    """The scope that binds it; None where nothing in the source does."""


def uses(tree: ast.Module) -> list[Use]:
    """List every use of a name in a fixed order that does not depend on the names.

    Raises `SyntaxFailure` where the tree is deeper than `MAX_DEPTH`.
    """
    module = Scope("module", None, tree.body)
    walk = _Walk()
    for statement in tree.body:
        walk.visit(statement, module)
    return walk.found


def _bound(nodes: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """Collect the names that these nodes bind in their own scope, and those they declare global."""
    names: set[str] = set()
    foreign: set[str] = set()
    globals_: set[str] = set()
    # The flag says: inside a comprehension, where only `:=` binds in the scope around it.
    stack: list[tuple[ast.AST, bool]] = [(node, False) for node in nodes]
    while stack:
        node, inside = stack.pop()
        if isinstance(node, ast.Name):
            if not inside and not isinstance(node.ctx, ast.Load):
                names.add(node.id)
            continue
        if isinstance(node, ast.Constant):
            continue
        if isinstance(node, ast.NamedExpr):
            names.add(node.target.id)
            stack.append((node.value, inside))
            continue
        if isinstance(node, _FUNCTIONS):
            if not isinstance(node, ast.Lambda):
                names.add(node.name)
            stack.extend((default, inside) for default in node.args.defaults)
            continue
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.alias):
            if node.asname:
                names.add(node.asname)
            elif "." not in node.name:
                names.add(node.name)
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            foreign.update(node.names)
            if isinstance(node, ast.Global):
                globals_.update(node.names)
            continue
        if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        inside = inside or isinstance(node, _COMPREHENSIONS)
        stack.extend((child, inside) for child in ast.iter_child_nodes(node))
    return names - foreign, globals_


class _Walk:
    """Visit nodes with the scope they stand in, and note each use of a name."""

    def __init__(self) -> None:
        self.found: list[Use] = []
        self._depth = 0
        self._defined: dict[tuple[int, str], Scope] = {}

    def note(self, node: ast.AST, attribute: str, name: str, scope: Scope, index: int = -1) -> None:
        self.found.append(Use(node, attribute, index, name, scope, scope.owner(name)))

    def visit_all(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node, scope)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SyntaxFailure(f"it nests more than {MAX_DEPTH} levels deep")
        self.dispatch(node, scope)
        self._depth -= 1

    def dispatch(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Name):
            self.note(node, "id", node.id, scope)
        elif isinstance(node, ast.Constant):
            pass
        elif isinstance(node, _FUNCTIONS):
            self.function(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self.comprehension(node, scope)
        elif isinstance(node, ast.ClassDef):
            self.note(node, "name", node.name, scope)
            self.visit_all([*node.decorator_list, *node.bases, *node.keywords], scope)
            self.visit_all(node.body, Scope("class", scope, node.body))
        elif isinstance(node, ast.Call):
            self.call(node, scope)
        else:
            self.other(node, scope)

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope
    ) -> None:
        if not isinstance(node, ast.Lambda):
            self.note(node, "name", node.name, scope)
            self.visit_all(node.decorator_list, scope)
        spec = node.args
        everyone = [*spec.posonlyargs, *spec.args, spec.vararg, *spec.kwonlyargs, spec.kwarg]
        arguments = [argument for argument in everyone if argument is not None]
        self.visit_all([*spec.defaults, *spec.kw_defaults], scope)
        self.visit_all([argument.annotation for argument in arguments], scope)
        body: Sequence[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
        inner = Scope("function", scope, body)
        inner.names.update(argument.arg for argument in arguments)
        for argument in arguments:
            self.note(argument, "arg", argument.arg, inner)
        if not isinstance(node, ast.Lambda):
            self.visit_all([node.returns], scope)
            self._defined[id(scope.owner(node.name)), node.name] = inner
        self.visit_all(body, inner)

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: Scope
    ) -> None:
        inner = Scope("comprehension", scope, [part.target for part in node.generators])
        for position, generator in enumerate(node.generators):
            # The first iterable is evaluated outside.
            self.visit(generator.iter, inner if position else scope)
            self.visit(generator.target, inner)
            self.visit_all(generator.ifs, inner)
        if isinstance(node, ast.DictComp):
            self.visit_all([node.key, node.value], inner)
        else:
            self.visit(node.elt, inner)

    def call(self, node: ast.Call, scope: Scope) -> None:
        self.visit_all([node.func, *node.args], scope)
        called = None
        if isinstance(node.func, ast.Name):
            called = self._defined.get((id(scope.owner(node.func.id)), node.func.id))
        for keyword in node.keywords:
            if called is not None and keyword.arg is not None and keyword.arg in called.names:
                self.found.append(Use(keyword, "arg", -1, keyword.arg, called, called))
            self.visit(keyword.value, scope)

    def other(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.alias):
            if node.asname or "." not in node.name:
                self.note(node, "asname", node.asname or node.name, scope)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for index, name in enumerate(node.names):
                self.note(node, "names", name, scope, index)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            self.note(node, "name", node.name, scope)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self.note(node, "rest", node.rest, scope)
        for child in ast.iter_child_nodes(node):
            self.visit(child, scope)
