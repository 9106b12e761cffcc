"""The five puzzles that the paper shows solved before the one to solve, made from P3's own file.

P3's file prints the same programs with blanks around every operator; the paper's prompt has none
where a text is repeated (`"0"*9`). A prompt that differs by a blank is another prompt, so these
blanks are taken out again. Nothing of P3 is in this package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from puzzles.puzzle import Puzzle
from puzzles.syntax import Positions, parse

FAMILIES = tuple(f"Tutorial{number}" for number in range(1, 6))


def tutorials(puzzles: Sequence[Puzzle]) -> list[Puzzle]:
    """Find P3's tutorials among the puzzles, in order, their solutions written as in the paper."""
    found = {
        puzzle.family: puzzle
        for puzzle in reversed(puzzles)
        if puzzle.origin == "p3" and puzzle.family in FAMILIES
    }
    return [
        replace(found[family], solutions=tuple(map(_as_in_the_paper, found[family].solutions)))
        for family in FAMILIES
        if family in found
    ]


def _as_in_the_paper(source: str) -> str:
    """Print a text's repetition, and what is added to it, without blanks: `"a"*(i+2)+"b"`."""
    for start, end in sorted(_spans_without_blanks(source), reverse=True):
        source = source[:start] + source[start:end].replace(" ", "") + source[end:]
    return source


def _spans_without_blanks(source: str) -> Iterator[tuple[int, int]]:
    """Yield what stands between two texts, as far as all its blanks lie between tokens."""
    span = Positions(source).span
    for node in ast.walk(parse(source)):
        if _repeats_a_text(node):
            yield span(node.left)[1], span(node)[1]
        elif isinstance(node, ast.BinOp) and _repeats_a_text(node.left):
            yield span(node.left)[1], span(node.right)[0]


def _repeats_a_text(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """Tell whether a node is a text times what has no text in it, where a blank would count."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and _is_text(node.left)
        and not any(map(_is_text, ast.walk(node.right)))
    )


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
