"""Steps: the operators, calls and slices of a program by its syntax, and what undoes those of an f.

Nothing is run. `x + a == b` wants a minus, since what f does to the answer has to be undone;
`x == sum(nums)` wants a sum, since what f does to its inputs is wanted as it is.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from puzzles.syntax import unparse

SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitXor: "^",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
UNDO_SIGN = {"//": "*", "/": "*", "**": "**", "^": "^", "<<": ">>", ">>": "<<"}
UNDO_CALL = {
    "split": "join",
    "join": "split",
    "swapcase": "swapcase",
    "replace": "replace",
    "count": "*",
    "sorted": "sorted",
    "reversed": "reversed",
    "str": "int",
    "ord": "chr",
    "chr": "ord",
}
CHECKS = {"all", "any", "isdigit", "isinstance", "zip", "abs", "enumerate", "range", "len", "set"}
"""Calls by which an f looks at an answer; a g needs none of them to give it."""


@dataclass(frozen=True, slots=True)
class Step:
    """An operator, a call or a slice, by its name: `+`, `max`, `[::-1]`."""

    name: str
    line: int

    @property
    def kind(self) -> str:
        """Tell what it can stand in place of."""
        if self.name[0] == "[":
            return "slice"
        if self.name in COMPARED.values():
            return "comparison"
        return "call" if self.name.isidentifier() else "sign"


def walk(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Give all nodes of the trees of a body."""
    for node in body:
        yield from ast.walk(node)


def steps_of(body: Sequence[ast.AST]) -> Iterator[Step]:
    """Give the steps of a body, in no order that matters."""
    for node in walk(body):
        name = _name(node)
        if name:
            yield Step(name, getattr(node, "lineno", 2))


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.BinOp):
        return SIGNS.get(type(node.op))
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute):
            return function.attr
        return function.id if isinstance(function, ast.Name) else None
    if isinstance(node, ast.Compare):
        return COMPARED.get(type(node.ops[0]))
    if isinstance(node, ast.Subscript):
        return _slice_name(node.slice)
    return None


def _slice_name(index: ast.expr) -> str:
    if not isinstance(index, ast.Slice):
        return f"[{unparse(index)}]"[:12]
    if index.step is not None:
        return "[::-1]" if unparse(index.step) == "-1" else "[::n]"
    return "[:n]" if index.lower is None else "[n:]"


def wanted_steps(f: ast.FunctionDef, answer_type: str) -> Iterator[str]:
    """Give the steps that undo what f does to the answer, and those that it does to its inputs."""
    parents = {child: node for node in ast.walk(f) for child in ast.iter_child_nodes(node)}
    answers = _answers(f)
    on_path: set[ast.AST] = set()
    for name in answers:
        child: ast.AST = name
        scalar = answer_type
        if name.id != f.args.args[0].arg:
            scalar = answer_type.removeprefix("List[").removesuffix("]")
        while child in parents and not isinstance(child, ast.stmt):
            node = parents[child]
            first = node not in on_path
            on_path.add(node)
            if first and not _is_difference(node, parents.get(node)):
                yield from _undone(node, child, scalar)
            child = node
    for node in walk(f.body):
        step = _name(node)
        if step and step not in CHECKS and node not in on_path and not _counts(node, parents):
            yield step


def _counts(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Tell whether a step only compares, or only counts through an answer: a g needs no such."""
    above = list(_above(node, parents))
    if any(_name(one) == "range" for one in above):
        return True
    in_list = any(isinstance(one, ast.ListComp) for one in above)
    return isinstance(node, ast.Compare) and not in_list


def _answers(f: ast.FunctionDef) -> list[ast.Name]:
    """List where f reads the answer, or an element of it by a comprehension's name."""
    names = {f.args.args[0].arg}
    for node in walk(f.body):
        if isinstance(node, ast.comprehension) and isinstance(node.target, ast.Name):
            over = node.iter
            if isinstance(over, ast.Call) and _name(over) in ("str", "list", "sorted", "reversed"):
                over = over.args[0] if over.args else over
            if isinstance(over, ast.Name) and over.id in names:
                names.add(node.target.id)
    return [
        node
        for node in walk(f.body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
    ]


def _is_difference(node: ast.AST, parent: ast.AST | None) -> bool:
    """Tell whether a minus only compares: `abs(a - b) < 0.001`."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and isinstance(parent, ast.Call)
        and _name(parent) == "abs"
    )


def _above(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def _undone(node: ast.AST, child: ast.AST, answer_type: str) -> Iterator[str]:
    """Give what undoes one step, whose operand is `child`."""
    name = _name(node)
    if isinstance(node, ast.BinOp) and name:
        number = answer_type in ("int", "float")
        if name == "+":
            yield "-" if number else "[n:]" if child is node.right else "[:n]"
        elif name == "-":
            yield "+" if child is node.left else "-"
        elif name == "*" and unparse(node.left) == unparse(node.right):
            yield "**"
        elif name == "*":
            yield {"int": "//", "float": "/"}.get(answer_type, "[:n]")
        elif name in UNDO_SIGN:
            yield UNDO_SIGN[name]
    elif isinstance(node, ast.Call) and name in UNDO_CALL:
        yield UNDO_CALL[name]
    elif isinstance(node, ast.Subscript) and name == "[::-1]":
        yield name
