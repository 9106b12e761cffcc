"""What kind of value an expression gives, as far as its text alone tells. Nothing is run.

None is unknown, which is most: whoever asks may refuse only what is known to be wrong.
"""

import ast

DISPLAYS: dict[str, tuple[type[ast.expr], ...]] = {
    "tuple": (ast.Tuple,),
    "list": (ast.List, ast.ListComp),
    "set": (ast.Set, ast.SetComp),
    "dict": (ast.Dict, ast.DictComp),
    "str": (ast.JoinedStr,),
    "bool": (ast.Compare,),
    "generator": (ast.GeneratorExp,),
    "function": (ast.Lambda,),
}
CALLS = {
    "list": ("sorted",),
    "str": ("repr", "chr", "hex", "bin"),
    "int": ("len", "ord"),
    **dict.fromkeys(("tuple", "set", "frozenset", "dict", "bytes", "float", "bool"), ()),
    **dict.fromkeys(("range", "map", "filter", "zip", "enumerate", "reversed"), ()),
}
"""Built-in functions that give a kind, besides the one of its name."""
SEQUENCES = ("tuple", "list", "str", "bytes")
NUMBERS = ("int", "float", "bool")
NOT_PLAIN = ("generator", "function", "range", "map", "filter", "zip", "enumerate", "reversed")
"""Kinds that are no plain data, of which arguments have to be."""
TEXT_METHODS = ("join", "format", "lower", "upper", "replace", "strip")


def kind_of(node: ast.expr, known: dict[str, str]) -> str | None:
    """Name the kind of value, where the names that are known have these kinds."""
    match node:
        case ast.Constant(value):
            return type(value).__name__
        case ast.Name(name):
            return known.get(name)
        case ast.NamedExpr(value=value):
            return kind_of(value, known)
        case ast.Call(ast.Name(name)):
            return next((kind for kind, more in CALLS.items() if name in (kind, *more)), None)
        case ast.Call(ast.Attribute(ast.Constant(str()), method)):
            return "str" if method in TEXT_METHODS else None
        case ast.IfExp(body=first, orelse=second):
            kinds = {kind_of(first, known), kind_of(second, known)}
            return kinds.pop() if len(kinds) == 1 else None
        case ast.UnaryOp(ast.Not()):
            return "bool"
        case ast.BinOp(left, op, right):
            return _of_operation(kind_of(left, known), op, kind_of(right, known))
    return next((kind for kind, types in DISPLAYS.items() if isinstance(node, types)), None)


def named(kind: str) -> str:
    """Give the name of a kind with its article."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _of_operation(left: str | None, op: ast.operator, right: str | None) -> str | None:
    """Name what an operation gives: `[0] * n` is a list, and `n // 2` a number."""
    if left in NUMBERS and right in NUMBERS:
        return "float" if isinstance(op, ast.Div) or "float" in (left, right) else "int"
    if left == "str" and isinstance(op, ast.Mod):
        return "str"
    if isinstance(op, ast.Add | ast.Mult):
        return next((kind for kind in (left, right) if kind in SEQUENCES), None)
    return None
