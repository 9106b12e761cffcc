"""An evaluation by category and difficulty, literal in, literal out."""

from typing import Any

from selftrain.report.strata import Stratum, strata, strata_text


def rows(count: int, num_correct: int, category: str = "", difficulty: str = "") -> list[Any]:
    return [
        {"category": category, "difficulty": difficulty, "n": 4, "num_correct": num_correct, "greedy_passed": i == 0}
        for i in range(count)
    ]  # fmt: skip


def test_a_stratum_has_numerators_and_denominators() -> None:
    assert strata([*rows(3, 1, "lists"), *rows(2, 4, "words")], "category") == [
        Stratum("lists", 3, 3, 12, 1),
        Stratum("words", 2, 8, 8, 1),
    ]


def test_difficulties_go_from_easy_to_hard() -> None:
    some = [
        *rows(1, 0, "", "hard"),
        *rows(1, 0),
        *rows(1, 0, "", "medium"),
        *rows(1, 0, "", "easy"),
    ]
    assert [one.name for one in strata(some, "difficulty")] == ["easy", "medium", "hard", ""]


def test_strata_under_ten_puzzles_are_marked() -> None:
    assert strata_text([*rows(9, 1, "lists"), *rows(10, 2, "words")]) == (
        "category  puzzles  right / samples  Pass@1  greedy right / puzzles\n"
        "lists †         9           9 / 36   25.0%                   1 / 9\n"
        "words          10          20 / 40   50.0%                  1 / 10\n"
        "\n"
        "† fewer than 10 puzzles"
    )


def test_puzzles_without_a_name_are_a_stratum_of_their_own_where_others_have_one() -> None:
    text = strata_text([*rows(10, 1), *rows(10, 1, "words")])
    assert [line.split()[0] for line in text.splitlines()] == ["category", "unnamed", "words"]


def test_nothing_is_said_where_no_puzzle_names_its_kind() -> None:
    assert strata_text(rows(12, 1)) == ""
