"""Near-duplicates: by runs of five tokens without names, and by pairs of tokens as written."""

from __future__ import annotations

import pytest

from puzzles import Puzzle, puzzle_from_source
from puzzles.minhash import MinHashIndex, pairs
from puzzles.near import NearIndex

HELD_OUT = "def f(nums: List[int], n=5, words=['ab', 'c']):\n    return len(nums) == n and all(num in range(len(words)) for num in nums) and sum(nums) > 3"
RENAMED = "def f(xs: List[int], k=5, ws=['ab', 'c']):\n    return len(xs) == k and all(x in range(len(ws)) for x in xs) and sum(xs) > 3"
EDITED_IN_PLACES = "def f(nums: List[int], n=7, words=['ab', 'c']):\n    return len(nums) >= n and any(num in range(len(words)) for num in nums) or sum(nums) > 3"
OTHER = "def f(s: str, t='ba'):\n    return s[::-1] == t"


def puzzle(f: str, name: str = "p") -> Puzzle:
    return puzzle_from_source(f, name=name)


HELD = [puzzle(OTHER, "other"), puzzle(HELD_OUT, "held-out")]


@pytest.mark.parametrize(
    ("f", "by_runs", "by_pairs"),
    [
        (HELD_OUT, ["held-out"], ["held-out"]),
        (RENAMED, ["held-out"], []),
        (EDITED_IN_PLACES, [], ["held-out"]),
        (OTHER, ["other"], ["other"]),
        ("def f(x: int):\n    return x * x == 144", [], []),
    ],
)
def test_names_hide_a_copy_from_one_and_scattered_edits_from_the_other(
    f: str, by_runs: list[str], by_pairs: list[str]
) -> None:
    assert [near.name for near in NearIndex(HELD).near(puzzle(f))] == by_runs
    assert [near.name for near in MinHashIndex(HELD).near(puzzle(f))] == by_pairs


def test_similarity_is_counted_and_not_estimated() -> None:
    (near,) = MinHashIndex(HELD).near(puzzle(EDITED_IN_PLACES))
    one, other = pairs(HELD_OUT), pairs(EDITED_IN_PLACES)
    assert near.jaccard == len(one & other) / len(one | other)


def test_an_instance_of_the_same_family_is_known_by_its_shape() -> None:
    instance = puzzle(HELD_OUT.replace("n=5", "n=6").replace("> 3", "> 4"))
    assert [near.same_shape for near in NearIndex(HELD).near(instance)] == [True]
    assert [near.same_shape for near in MinHashIndex(HELD).near(instance)] == [True]
    assert [near.same_shape for near in MinHashIndex(HELD).near(puzzle(EDITED_IN_PLACES))] == [
        False
    ]


def test_asking_for_less_than_the_index_was_made_for_is_refused() -> None:
    with pytest.raises(ValueError, match=r"made for 0\.7 and more, not 0\.5"):
        MinHashIndex(HELD, 0.7).near(puzzle(OTHER), 0.5)


def test_lone_surrogates_and_words_of_any_script_are_tokens() -> None:
    source = "def f(größe: str):\n    return größe == '\ud800'"
    assert {"größe =", "' \ud800"} <= pairs(source)
    index = MinHashIndex([puzzle("def f(größe: str):\n    return größe == '\\ud800é'", "é")])
    assert index.near(puzzle(OTHER)) == []
