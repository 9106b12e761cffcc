"""Compare puzzles with the held-out ones by text: quoted, equal but for names, or near-duplicates.

The checks go from the cheapest to the dearest and run nothing; what puzzles do is compared in
`behaviour`. What is found is a sign, not a proof: two puzzles may mean the same in other words, and
two that mean something else may share most of their words.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from puzzles.minhash import MinHashIndex
from puzzles.near import NearIndex
from puzzles.normal import folded_form
from puzzles.puzzle import Puzzle
from puzzles.syntax import SyntaxFailure, parse


class Check(StrEnum):
    """Name a way to compare an example with a held-out puzzle, from the cheapest to the dearest."""

    TEXT = "text"
    """The example quotes the held-out f, but for indentation and spaces."""
    SYNTAX = "syntax"
    """The two have one syntax tree, names and docstrings apart."""
    NGRAMS = "ngrams"
    """Of the shorter one's runs of five tokens, most are in the other too; names apart."""
    MINHASH = "minhash"
    """As written, most pairs of tokens are in both."""
    BEHAVIOUR = "behaviour"
    """The example's answer satisfies the held-out f, or its g solves it."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Say in what an example is too near to a held-out puzzle."""

    reason: Check
    """The check that found it."""
    held_out: str
    """Name of the held-out puzzle."""
    detail: str
    """One sentence: what was found."""


@dataclass(frozen=True, slots=True)
class Bars:
    """From where on two puzzles are near-duplicates."""

    containment: float
    """Share of the shorter's runs of five tokens, from 0 to 1."""
    jaccard: float
    """Jaccard similarity of their pairs of tokens, from 0 to 1."""


class HeldOutTexts:
    """The held-out puzzles, indexed for every comparison of texts."""

    def __init__(self, held_out: Sequence[Puzzle], bars: Bars, lowest: Bars) -> None:
        """Index puzzles for `overlap` at `bars`, and for `all_near` at `lowest` or more."""
        self._bars = bars
        self._quotes = {
            # Without its own name: a copy may have another.
            _squeezed(puzzle.f).removeprefix("deff"): puzzle.name
            for puzzle in held_out
        }
        self._name_by_form = {folded_form(puzzle.f): puzzle.name for puzzle in held_out}
        self._ngrams = NearIndex(held_out)
        self._minhash = MinHashIndex(held_out, min(bars.jaccard, lowest.jaccard))

    def quoted_in(self, text: str) -> Overlap | None:
        """Find a held-out f that a program or a string in it quotes, but for name and blanks."""
        squeezed = "\n".join(map(_squeezed, (text, *_strings(text))))
        for quote, name in self._quotes.items():
            if quote in squeezed:
                return Overlap(Check.TEXT, name, f"it has the text of the held-out {name}")
        return None

    def overlap(
        self, puzzle: Puzzle, checks: Collection[str], *, keep_same_shape: bool
    ) -> Overlap | None:
        """Give the first of the checks of syntax trees, runs and pairs that a puzzle fails.

        With `keep_same_shape`, one that differs from a held-out puzzle in constants only is a new
        instance of a known family; one that differs in nothing is not.
        """
        equal = self._name_by_form.get(folded_form(puzzle.f))
        if Check.SYNTAX in checks and equal is not None:
            return _same_tree(equal)
        for found, same_shape in self._near_duplicates(puzzle, self._bars, checks):
            if not (keep_same_shape and same_shape):
                return found
        return None

    def all_near(self, puzzle: Puzzle, bars: Bars) -> Iterator[tuple[float, Overlap]]:
        """List every held-out puzzle that a puzzle comes near, with how near, from 0 to 1.

        Instances of one family are near to each other here, since they are no less known.
        """
        equal = self._name_by_form.get(folded_form(puzzle.f))
        if equal is not None:
            yield 1.0, _same_tree(equal)
        for number in self._ngrams.near(puzzle, bars.containment):
            yield number.containment, _shares_runs(number.name, number.containment)
        for similar in self._minhash.near(puzzle, bars.jaccard):
            yield similar.jaccard, _shares_pairs(similar.name, similar.jaccard)

    def _near_duplicates(
        self, puzzle: Puzzle, bars: Bars, checks: Collection[str]
    ) -> Iterator[tuple[Overlap, bool]]:
        if Check.NGRAMS in checks:
            for near in self._ngrams.near(puzzle, bars.containment):
                yield _shares_runs(near.name, near.containment), near.same_shape
        if Check.MINHASH in checks:
            for similar in self._minhash.near(puzzle, bars.jaccard):
                yield _shares_pairs(similar.name, similar.jaccard), similar.same_shape


def _squeezed(text: str) -> str:
    """Drop blanks and empty lines; lines stay, and each ends in a newline.

    Without their ends, `x == 1` would be quoted in `x == 17`.
    """
    lines = ("".join(line.split()) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def _strings(text: str) -> list[str]:
    """List the longer strings in a program: a puzzle may be hidden in one."""
    if "return" not in text or not ("'" in text or '"' in text):
        return []
    try:
        tree = parse(text)
    except SyntaxFailure:
        return []
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value
    ]


def _same_tree(name: str) -> Overlap:
    return Overlap(Check.SYNTAX, name, f"it equals the held-out {name}, but for names and layout")


def _shares_runs(name: str, containment: float) -> Overlap:
    detail = f"it shares {containment:.0%} of the shorter's runs of five tokens with the held-out"
    return Overlap(Check.NGRAMS, name, f"{detail} {name}")


def _shares_pairs(name: str, jaccard: float) -> Overlap:
    detail = f"it shares {jaccard:.0%} of their pairs of tokens with the held-out {name}"
    return Overlap(Check.MINHASH, name, detail)
