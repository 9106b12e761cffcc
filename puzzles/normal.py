"""The normal form of a source, in which names and layout no longer matter, and its shape.

Two sources have one normal form where they differ only in the names of what they define, in
layout, comments and docstrings. Nothing is simplified: `a + b` and `b + a` stay apart.
"""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache

from puzzles import scopes
from puzzles.syntax import is_docstring, parse, unparse

_WITH_DOCSTRING = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


@lru_cache(maxsize=1_024)  # a puzzle's id and its runs of tokens both ask for it
def normal_form(source: str) -> str:
    """Print `source` without docstrings, its own names replaced by v0, v1, ... in order.

    Raises `SyntaxFailure` where the text is no Python.
    """
    return unparse(_normal_tree(source))


def shape(source: str) -> str:
    """Print the normal form with every constant replaced: equal for the instances of a family.

    A constant is a literal with its sign, and a list, tuple, set or dict of constants, so that
    inputs of another length do not make another family.
    """
    return unparse(_Blank().visit(_normal_tree(source)))


def folded_form(source: str) -> str:
    """Print the normal form with numbers spelt in one way: `+5`, `--5` and `5.0` are 5."""
    return unparse(_Fold().visit(_normal_tree(source)))


@lru_cache(maxsize=16_384)
def content_id(source: str) -> str:
    """Hash the normal form to 12 hexadecimal digits."""
    # An f-string may hold a lone surrogate, which UTF-8 has no bytes for.
    text = normal_form(source).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()[:12]


def _normal_tree(source: str) -> ast.Module:
    tree = parse(source)
    _drop_docstrings(tree)
    _rename(scopes.uses(tree))
    return tree


def _drop_docstrings(tree: ast.Module) -> None:
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, _WITH_DOCSTRING) and node.body and is_docstring(node.body[0]):
            # A second string would be the docstring once the first is gone.
            while node.body and is_docstring(node.body[0]):
                del node.body[0]
            if not node.body and not isinstance(node, ast.Module):
                node.body.append(ast.Pass())
        # Statements only: no expression holds one, and most nodes are expressions.
        stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, _BLOCKS))


def _rename(found: list[scopes.Use]) -> None:
    kept = {use.name for use in found if use.owner is None or use.owner.kind == "class"}
    fresh: dict[tuple[int, str], str] = {}
    number = 0
    for use in found:
        if use.owner is None or use.owner.kind == "class":
            continue
        key = (id(use.owner), use.name)
        if key not in fresh:
            # A name that the source uses without defining it may itself look like ours.
            while f"v{number}" in kept:
                number += 1
            fresh[key] = f"v{number}"
            number += 1
        if use.index >= 0:
            getattr(use.node, use.attribute)[use.index] = fresh[key]
        else:
            setattr(use.node, use.attribute, fresh[key])


class _Fold(ast.NodeTransformer):
    """Take signs and whole floats into the number."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, float) and node.value.is_integer():
            return ast.Constant(int(node.value))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        value = operand.value if isinstance(operand, ast.Constant) else None
        if type(value) is int or type(value) is float:
            if isinstance(node.op, ast.UAdd):
                return ast.Constant(value)
            if isinstance(node.op, ast.USub):
                return ast.Constant(-value)
        return ast.UnaryOp(node.op, operand)


class _Blank(ast.NodeTransformer):
    """Replace constants by 0, and text inside f-strings by nothing."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(0)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, (ast.USub, ast.UAdd)) and isinstance(operand, ast.Constant):
            return ast.Constant(0)
        return ast.UnaryOp(node.op, operand)

    def visit_List(self, node: ast.List) -> ast.expr:
        return self._display(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return self._display(node)

    def visit_Set(self, node: ast.Set) -> ast.expr:
        return self._display(node)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        return self._display(node)

    def _display(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        fields = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        store = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        if not store and all(isinstance(child, ast.Constant) for child in fields):
            return ast.Constant(0)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        node.values = [
            self.visit(value) for value in node.values if isinstance(value, ast.FormattedValue)
        ]
        return node
