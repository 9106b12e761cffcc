"""Clues: where a g, by its syntax, doesn't do what undoes its puzzle's f.

Two trees are read and compared; nothing is run, and no solution is known. A clue names one step,
constant or input that is missing or out of place. It may be mistaken, since a g can be right in
quite another way: clues are for a g that was rejected.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from puzzles import Puzzle
from puzzles.syntax import SyntaxFailure, parse
from selftrain.refine.critic.steps import SIGNS, Step, steps_of, walk, wanted_steps

LONGEST = 60
"""Characters of a constant that an edit may say."""
MOST = 20
"""Constants of a g that are compared with f's."""
ONE_SIDED = {"-", "/", "//", "%", "**"}
"""Signs whose sides can't be swapped."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One step that is missing or out of place."""

    line: int
    """Line of g."""
    action: str
    """What to do there."""
    missing: bool = False
    """Whether something is lacking, rather than wrong."""


def find_clues(puzzle: Puzzle, source: str) -> list[Clue]:
    """Say what of g's syntax doesn't undo f, the likeliest first; empty where nothing tells."""
    try:
        f, g = _function(parse(puzzle.f)), _function(parse(source))
    except (SyntaxFailure, RecursionError):
        return []
    if f is None or g is None or not f.args.args:
        return []
    try:
        values = [*_values(f, g), *_names(f, g)]
        steps = _compared(list(wanted_steps(f, puzzle.answer_type)), list(steps_of(g.body)))
    except (RecursionError, SyntaxFailure):
        return []
    return list(dict.fromkeys([*values, *steps]))


def order_clue(source: str, answer_type: str) -> Clue | None:
    """Name the first step of a g whose sides may be swapped: what is left where f rejects an
    answer though all steps are there.
    """
    swappable = ONE_SIDED if "str" not in answer_type else {"+"}
    try:
        nodes = list(ast.walk(parse(source)))
    except (SyntaxFailure, RecursionError):
        return None
    for node in nodes:
        if isinstance(node, ast.BinOp) and SIGNS.get(type(node.op)) in swappable:
            return Clue(node.lineno, f"swap the sides of {SIGNS[type(node.op)]}")
    return None


def unknown_names(source: str) -> list[tuple[int, str]]:
    """List the lines and names that a source reads and nothing binds, each name once."""
    try:
        nodes = list(ast.walk(parse(source)))
    except (SyntaxFailure, RecursionError):
        return []
    bound = set(dir(builtins))
    for node in nodes:
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    read = [n for n in nodes if isinstance(n, ast.Name) and n.id not in bound]
    first: dict[str, int] = {}
    for name in read:
        first.setdefault(name.id, name.lineno)
    return [(line, name) for name, line in first.items()]


def _function(tree: ast.Module) -> ast.FunctionDef | None:
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef)), None)


def _values(f: ast.FunctionDef, g: ast.FunctionDef) -> Iterator[Clue]:
    """Compare constants: one that f doesn't have was miscopied, or made up."""
    own = {_spelt(c): c for c in _constants(g.body)}
    known = {_spelt(c) for c in _constants([*f.body, *f.args.defaults])}
    bounds = {id(c) for c in _constants([n for n in walk(f.body) if _is_bound(n)])}
    equal = [c for c in _constants(f.body) if id(c) not in bounds]
    texts = dict.fromkeys(_spelt(c) for c in equal if not _is_small(c))
    lacking = [text for text in texts if text not in own]
    unknown = [(text, one) for text, one in own.items() if text not in known]
    for text, constant in unknown[:MOST]:
        near = get_close_matches(text, lacking, n=1, cutoff=0.0)
        if near:
            lacking.remove(near[0])
            yield Clue(constant.lineno, f"change {text} to {near[0]}")
        elif len(text) > 2 and not _is_small(constant):
            yield Clue(constant.lineno, f"{text} is not in f")
    for text in lacking:
        yield Clue(_line(g), f"use {text}", missing=True)


def _spelt(constant: ast.Constant) -> str:
    """Spell a constant as puzzles do: words in double quotes where they can be."""
    value = constant.value
    return f'"{value}"' if isinstance(value, str) and value.isalnum() else repr(value)


def _is_small(constant: ast.Constant) -> bool:
    """Tell whether a constant may as well be counted with as copied."""
    value = constant.value
    return isinstance(value, int | float) and abs(value) <= 2


def _is_bound(node: ast.AST) -> bool:
    """Tell whether a condition leaves room, so that its constants need not be in g."""
    return isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Eq | ast.In)


def _constants(body: Sequence[ast.AST]) -> list[ast.Constant]:
    """List the numbers and the words of a body."""
    return [
        node
        for node in walk(body)
        if isinstance(node, ast.Constant)
        and (
            (type(node.value) is str and 2 <= len(node.value) <= LONGEST)
            or (type(node.value) in (int, float) and len(repr(node.value)) <= LONGEST)
        )
    ]


def _names(f: ast.FunctionDef, g: ast.FunctionDef) -> Iterator[Clue]:
    """Compare how often each input is read: each that f reads is wanted."""
    inputs = [one.arg for one in (*g.args.args, *g.args.kwonlyargs)]
    wanted, read = _reads(f.body), _reads(g.body)
    lacking = [name for name in inputs if wanted[name] and not read[name]]
    for name in list(lacking):
        twice = next((n for n in inputs if read[n] > max(1, wanted[n])), None)
        if twice is None:
            yield Clue(_line(g), f"use {name}", missing=True)
        else:
            read[twice] -= 1
            yield Clue(_line(g), f"change one {twice} to {name}")


def _reads(body: Sequence[ast.AST]) -> Counter[str]:
    return Counter(
        node.id
        for node in walk(body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )


def _compared(wanted: Sequence[str], steps: Sequence[Step]) -> Iterator[Clue]:
    """Pair the steps that are too many with those that are lacking, of one kind each."""
    # A sign is wanted as often as it stands in f; one call is enough.
    lacking = Counter(wanted)
    lacking.update({name: 1 - lacking[name] for name in lacking if name.isidentifier()})
    extra = []
    for step in steps:
        if lacking[step.name] > 0:
            lacking[step.name] -= 1
        else:
            extra.append(step)
    line = steps[0].line if steps else 2
    for name in dict.fromkeys(wanted):
        if lacking[name] <= 0:
            continue
        kind = Step(name, 0).kind
        other = next((step for step in extra if step.kind == kind), None)
        if other is None:
            yield Clue(line, f"use {name}", missing=True)
        else:
            extra.remove(other)
            yield Clue(other.line, f"change {other.name} to {name}")


def _line(g: ast.FunctionDef) -> int:
    """Give the line on which g gives its answer."""
    last = [node.lineno for node in walk(g.body) if isinstance(node, ast.Return)]
    return last[-1] if last else g.lineno + 1
