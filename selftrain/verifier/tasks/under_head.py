"""A program put under the head of another puzzle, whose inputs of the same types it then reads.

Only text changes, and only where a name stands, so that what comes out looks as it was written.
Whether it runs, or is right, is for the judge.
"""

import ast
from collections.abc import Mapping, Sequence

from puzzles import Puzzle
from puzzles.scopes import Scope, Use, uses
from puzzles.signature import canonical_type
from puzzles.syntax import Positions, SyntaxFailure, parse
from selftrain.prompts import solve_head
from selftrain.verifier.tasks.results import type_of


def under_head(g: str, puzzle: Puzzle, other: Puzzle) -> str | None:
    """Put the body of a puzzle's g under the head of another puzzle's.

    The inputs that it reads become the other's of the same types, in order. None where the other
    has too few of them, or where a name would come to mean something else.
    """
    head, mine = solve_head(puzzle), input_types(puzzle)
    try:
        tree = parse(g)
        read = _reads(tree, mine)
        names = _renaming(read, mine, input_types(other))
        renamed = None if names is None else _rename(g, tree, read, names, mine)
    except SyntaxFailure:
        return None
    return None if renamed is None else solve_head(other) + renamed[len(head) :]


def input_types(puzzle: Puzzle) -> dict[str, str]:
    """Give the type of each input by its name: that of its default, else the annotated one.

    Empty where neither can be read without running anything.
    """
    function = parse(f"{solve_head(puzzle)} pass").body[0]
    assert isinstance(function, ast.FunctionDef), "it is the head of one"
    pairs = zip(function.args.args, function.args.defaults, strict=True)
    return {argument.arg: _type(argument, default) for argument, default in pairs}


def _type(argument: ast.arg, default: ast.expr) -> str:
    try:
        return type_of(repr(ast.literal_eval(default)))
    except ValueError:
        named = argument.annotation and canonical_type(argument.annotation)
        return named.lower() if named else ""


def _reads(tree: ast.Module, inputs: Mapping[str, str]) -> list[Use]:
    """List where the body of g names one of its inputs."""
    return [
        use
        for use in uses(tree)
        if use.name in inputs
        and _is_of_g(use.owner)
        and not (use.attribute == "arg" and use.scope is use.owner)
    ]


def _is_of_g(scope: Scope | None) -> bool:
    """Tell whether a scope is that of the one definition in column 0."""
    return scope is not None and scope.parent is not None and scope.parent.kind == "module"


def _renaming(
    read: Sequence[Use], mine: Mapping[str, str], theirs: Mapping[str, str]
) -> dict[str, str] | None:
    """Map the inputs that are read to others of the same types, in order."""
    names = {use.name for use in read}
    left = list(theirs.items())
    mapped: dict[str, str] = {}
    for name, kind in mine.items():
        if name in names:
            match = next((pair for pair in left if kind and pair[1] == kind), None)
            if match is None:
                return None
            left.remove(match)
            mapped[name] = match[0]
    return mapped


def _rename(
    g: str,
    tree: ast.Module,
    read: Sequence[Use],
    names: Mapping[str, str],
    inputs: Mapping[str, str],
) -> str | None:
    """Write new names of inputs into the text, all at once; no other character changes.

    None where a new name is a variable already, or where Python does not say where a name stands.
    """
    # Before Python 3.12, names inside f-strings have positions of their own counting.
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    uncertain = {id(node) for text in texts for node in ast.walk(text)}
    positions = Positions(g)
    edits: list[tuple[int, int, str]] = []
    for use in read:
        new = names[use.name]
        if new == use.name:
            continue
        taken = use.scope.owner(new)
        if taken is not None and not (_is_of_g(taken) and new in inputs):
            return None
        if not isinstance(use.node, ast.Name) or id(use.node) in uncertain:
            return None
        edits.append((*positions.span(use.node), new))
    for start, end, new in sorted(edits, reverse=True):
        g = g[:start] + new + g[end:]
    return g
