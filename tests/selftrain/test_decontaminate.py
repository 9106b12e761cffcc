"""Decontamination: each check gives its reason, chance is told from sameness, rows come back."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from puzzles import Puzzle, puzzle_from_source
from selftrain.config import DecontaminateConfig, JudgeConfig
from selftrain.curate import Example
from selftrain.decontaminate import CHECKED, Checked, HeldOutIndex, decontaminate, removed_row
from selftrain.judge import judging_in_rounds
from selftrain.near_training import near_rows
from selftrain.prompts import example_completion, example_prompt

HELD_OUT = {
    "sorted": "def f(ordered: List[int], nums=[9, 4, 7, 1]):\n    return ordered == sorted(nums)",
    "square": "def f(root: int):\n    return root * root == 152399025",
    "odd": "def f(value: int, low=-100):\n    return value % 2 == 1 and value > low",
    "word": "def f(s: str, parts=['ab', 'cd']):\n    return s == '-'.join(parts) + '-'.join(reversed(parts)) and len(s) > 3",
}
JUDGING = judging_in_rounds(JudgeConfig(num_workers=1, fuel=500_000_000))
UNRELATED = "def f(x: int, n={n}):\n    return x - 1 == n"


def puzzle(f: str, name: str) -> Puzzle:
    return puzzle_from_source(f, name=name)


HELD = [puzzle(f, name) for name, f in HELD_OUT.items()]


def example(f: str, body: str, answer: str | None, name: str = "001-000000") -> Example:
    one = puzzle(f, name)
    g = f"def g({one.inputs}):\n    return {body}"
    prompt, completion = example_prompt(one), example_completion(one, g)
    return Example(1, one.id, prompt, completion, name, 2, f, g, answer, 8, 3)


def check(*examples: Example, **settings: Any) -> list[Checked]:
    config = DecontaminateConfig(**settings)
    return decontaminate(examples, HeldOutIndex(HELD, config), config, JUDGING)


def fates(checked: Sequence[Checked]) -> list[tuple[str, str]]:
    return [
        (one.rejection.reason.value, one.rejection.held_out) if one.rejection else ("", "")
        for one in checked
    ]


RENAMED = HELD_OUT["word"].replace("parts", "p").replace("s:", "t:").replace("s ==", "t ==")
BY_CHECK = {
    "text": example(HELD_OUT["word"], "'ab-cdcd-ab'", "'ab-cdcd-ab'"),
    "syntax": example(RENAMED.replace("len(s)", "len(t)"), "'ab-cdcd-ab'", "'ab-cdcd-ab'"),
    "ngrams": example(
        HELD_OUT["word"].replace("len(s) > 3", "len(s) >= 2").replace("'cd'", "'xy'"),
        "'ab-xyxy-ab'",
        "'ab-xyxy-ab'",
    ),
    "minhash": example(
        HELD_OUT["word"].replace(" + ", " * 2 + ").replace("and", "or").replace("==", "!="),
        "'q'",
        "'q'",
    ),
    "behaviour": example("def f(x: int):\n    return 12345 == x", "12345", "12345"),
}
"""An example that only its check and those after it find."""


def test_each_check_gives_its_reason_and_the_name_of_the_held_out_puzzle() -> None:
    names = {check: "square" if check == "behaviour" else "word" for check in BY_CHECK}
    assert fates(check(*BY_CHECK.values())) == list(names.items())


@pytest.mark.parametrize("left_out", BY_CHECK)
def test_a_check_that_is_not_asked_for_removes_nothing(left_out: str) -> None:
    others = [one for one in BY_CHECK if one != left_out]
    found = check(*BY_CHECK.values(), checks=(left_out,))
    assert [fate[0] for fate in fates(found)][list(BY_CHECK).index(left_out)] == left_out
    again = fates(check(BY_CHECK[left_out], checks=tuple(others)))
    assert again[0][0] != left_out


def test_a_g_that_solves_a_held_out_puzzle_with_inputs_of_the_same_names_is_found() -> None:
    f = "def f(out: List[int], nums=[3, 8, 5]):\n    return out[0] == min(nums) and len(out) == 3"
    same = example(f, "sorted(nums)", "[3, 5, 8]")
    other_names = example(f.replace("nums", "items"), "sorted(items)", "[3, 5, 8]", "001-000001")
    search = example(f, "next(x for x in [[3], [1, 4, 7, 9], sorted(nums)] if f(x))", "[3, 5, 8]")
    found = check(same, other_names, search)
    assert fates(found) == [("behaviour", "sorted"), ("", ""), ("", "")]


def test_an_answer_is_judged_by_type_as_well() -> None:
    assert fates(check(example("def f(x: int):\n    return x == 7", "12345.0", "12345.0"))) == [
        ("", "")
    ]


def test_a_held_out_puzzle_that_unrelated_answers_solve_tells_nothing() -> None:
    examples = [
        example(UNRELATED.format(n=n), str(n + 1), str(n + 1), f"001-{n:06d}")
        for n in (200, 300, 401, 502)
    ]
    found = check(*examples)
    assert fates(found) == [("", "")] * 4
    assert [one.by_chance for one in found] == [("odd",), ("odd",), (), ("odd",)]


def test_a_held_out_puzzle_that_any_g_solves_tells_nothing() -> None:
    held_out = puzzle("def f(a: List[int], n=7):\n    return len(a) == n and a[0] > n * 9", "any")
    bodies = ["[n * 10] * n", "list(range(n * 20, n * 21))", "[99] * n", "[n * n * n] * n"]
    examples = [
        example(
            f"def f(a: List[int], n=5):\n    return a == {one}", one, f"[{k}, 9]", f"001-{k:06d}"
        )
        for k, one in enumerate(bodies, start=100)
    ]
    index = HeldOutIndex([held_out], DecontaminateConfig())
    found = decontaminate(examples, index, DecontaminateConfig(), JUDGING)
    assert [one.by_chance for one in found] == [("any",)] * 4
    alone = decontaminate(examples[:1], index, DecontaminateConfig(), JUDGING)
    assert fates(alone) == [("behaviour", "any")]


def test_many_examples_with_one_answer_do_not_make_it_chance() -> None:
    words = ["x == 12345", "12345 == x", "x + 1 == 12346", "x - 5 == 12340"]
    examples = [
        example(f"def f(x: int):\n    return {one}", "12345", "12345", f"001-{n:06d}")
        for n, one in enumerate(words)
    ]
    assert fates(check(*examples)) == [("behaviour", "square")] * 4


INSTANCE = example(
    "def f(out: List[int], nums=[5, 2]):\n    return out == sorted(nums)", "sorted(nums)", "[2, 5]"
)
"""Differs from a held-out puzzle in constants and a name only; its g solves both."""


def test_a_new_instance_of_a_known_family_is_kept_or_removed_as_asked() -> None:
    assert fates(check(INSTANCE)) == [("", "")]
    assert fates(check(INSTANCE, same_shape="remove"))[0][1] == "sorted"
    assert fates(check(INSTANCE, same_shape="remove", checks=("behaviour",))) == [
        ("behaviour", "sorted")
    ]


def test_the_same_examples_have_the_same_fate_and_rows_bring_it_back() -> None:
    examples = [*BY_CHECK.values(), INSTANCE]
    found = check(*examples)
    assert check(*examples) == found
    assert [CHECKED.from_row(CHECKED.to_row(one)) for one in found] == found


def test_the_row_of_a_removed_example_is_the_example_with_reason_name_and_detail() -> None:
    (one,) = check(BY_CHECK["syntax"])
    assert removed_row(CHECKED.to_row(one)) == {
        **asdict(BY_CHECK["syntax"]),
        "reason": "syntax",
        "held_out": "word",
        "detail": "it equals the held-out word, but for names and layout",
    }


def test_no_examples_need_no_judge() -> None:
    assert check() == []


def test_near_training_has_a_lower_bar_than_removal_and_counts_shown_puzzles() -> None:
    half = "def f(s: str, parts=['ab', 'cd']):\n    return s == '-'.join(parts) + parts[0] and s.count('a') * 2 == len(parts)"
    index = HeldOutIndex(HELD, DecontaminateConfig())
    train = [puzzle("def f(a: int):\n    return a * a == 152399025", "train-1")]
    kept = example(half, "'ab-cdab'", "'ab-cdab'", "001-000007")
    assert fates(check(kept, checks=("text", "syntax", "ngrams", "minhash"))) == [("", "")]
    checked = [{"by_chance": ["odd"]}, {"by_chance": ["odd", "word"]}]
    rows = {r["name"]: r for r in near_rows(index, train, [asdict(kept)], checked)}
    assert {name: row["near"] for name, row in rows.items()} == {
        "sorted": None,
        "square": "train puzzle train-1",
        "odd": None,
        "word": "example 001-000007, attempt 2",
    }
    assert rows["square"]["reason"] == "it equals the held-out square, but for names and layout"
    assert [row["num_by_chance"] for row in rows.values()] == [0, 0, 2, 1]


def test_training_that_is_removed_by_a_lower_bar_still_is_near() -> None:
    index = HeldOutIndex(HELD, DecontaminateConfig(max_containment=0.2, max_jaccard=0.2))
    assert (index.near.containment, index.near.jaccard) == (0.2, 0.2)
