"""Programs that are right, set against programs of other puzzles of the same answer type."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge import Limits, Outcome, Verdict
from puzzles import Puzzle, puzzle_from_source
from selftrain.config import Config, JudgeConfig
from selftrain.judge import Judging
from selftrain.verifier.tasks.from_pairs import Solved, chosen, read_solved, tasks_of_pairs
from selftrain.verifier.tasks.results import is_error
from selftrain.verifier.tasks.sources import complete, outline
from selftrain.verifier.tasks.task import Task
from selftrain.verifier.tasks.under_head import input_types, under_head

JUDGING = Judging(Limits(fuel=1_000_000_000), "strict", False, JudgeConfig(num_workers=1))


def puzzle(name: str, inputs: str, body: str = "return x == 1", kind: str = "int") -> Puzzle:
    head = f"x: {kind}, {inputs}" if inputs else f"x: {kind}"
    return puzzle_from_source(f"def f({head}):\n    {body}", name=name)


def solved(name: str, target: int, *bodies: str, kind: str = "int") -> Solved:
    one = puzzle(name, f"n={target}", f"return x == {target!r} + 0 * n", kind)
    programs = tuple(f"def g(n={target}):\n    {body}" for body in bodies)
    return Solved(one, programs, (1,) * len(programs))


POOL = [
    solved("five", 5, "return 5", "return n"),
    solved("seven", 7, "return 7", "return n + 0"),
    solved("nine", 9, "return 9", "return 10 - 1"),
    solved("lone", 0, "return [0]", kind="List[int]"),
]


def tasks(
    some: Sequence[Solved], seed: int = 0, most: int = 16, pool: Sequence[Solved] = POOL
) -> list[Task]:
    return tasks_of_pairs(some, pool, JUDGING, seed=seed, advance=lambda _: None, most=most)


def test_labels_are_the_judges_even_for_a_program_of_another_puzzle() -> None:
    (five,) = tasks(POOL[:1], pool=POOL[:2])
    labels = {one.program.partition("return ")[2]: one.label for one in five.candidates}
    # What `n + 0` says of seven, it says of five as well: right by accident.
    assert labels == {"5": True, "n": True, "7": False, "n + 0": True}


def test_results_are_those_of_running_the_programs() -> None:
    (five,) = tasks(POOL[:1], pool=POOL[:2])
    results = {one.program.partition("return ")[2]: one.result for one in five.candidates}
    assert results == {"5": "5", "n": "5", "7": "7", "n + 0": "5"}


def test_a_program_that_asks_f_is_run_without_it() -> None:
    asks = solved("six", 6, "return next(i for i in range(99) if f(i, n))", "return 6")
    (six,) = tasks([asks], pool=POOL[:2])
    (one,) = (one for one in six.candidates if "f(i, n)" in one.program)
    assert one.label and one.result == "ERROR: raised: NameError: name 'f' is not defined"


def test_each_program_is_one_sample_and_tells_no_likelihood() -> None:
    for task in tasks(POOL):
        assert {(one.num_samples, one.sum_logprob) for one in task.candidates} == {(1, None)}
        assert task.gold_program is None and task.greedy is None


def test_a_puzzle_that_no_other_shares_its_answer_type_with_is_no_task() -> None:
    assert [task.task_id for task in tasks(POOL)] == ["five", "seven", "nine"]


def test_tasks_depend_on_the_seed_and_not_on_what_else_is_asked() -> None:
    together = tasks(POOL, seed=3)
    assert together == [task for one in POOL for task in tasks([one], seed=3)]
    orders = {
        tuple(one.program for one in tasks(POOL[:1], seed)[0].candidates) for seed in range(6)
    }
    assert len(orders) > 1


def test_no_more_wrong_programs_than_right_ones_are_shown() -> None:
    (five,) = tasks(POOL[:1], most=1)
    assert sum(not one.label for one in five.candidates) <= 1


def test_programs_that_give_an_answer_come_before_those_that_raise() -> None:
    raised = ("a", Verdict(Outcome.raised, None, "", 1))
    typed = ("b", Verdict(Outcome.wrong_answer, "3", "", 1))
    other = ("c", Verdict(Outcome.wrong_type, "'3'", "", 1))
    right = ("d", Verdict(Outcome.passed, "4", "", 1))
    assert list(chosen([raised, other, typed, right], 1)) == [right, typed]
    assert list(chosen([raised, other, typed, right], 2)) == [right, typed, raised]


@pytest.mark.parametrize(
    ("inputs", "other", "body", "moved"),
    [
        ("n=3", "k=4", "return n + 1", "return k + 1"),
        ("a=1, b=2", "b=5, a=6", "return a - b", "return b - a"),
        ("a=1, s='x'", "t='y', c=2", "return s * a", "return t * c"),
        ("a=1, b=2", "k=4", "return b", "return k"),
        ("n=3", "", "return 1", "return 1"),
        ("n=3", "k=4", "n += 1\n    return n", "k += 1\n    return k"),
        ("n=3", "k=4", "return [n for _ in 'é']", "return [k for _ in 'é']"),
        ("n=3", "n=4", "return f'{n}'", "return f'{n}'"),
        ("n: int=2 * 3", "k=4", "return n", "return k"),
    ],
)
def test_inputs_become_those_of_the_same_type_in_order(
    inputs: str, other: str, body: str, moved: str
) -> None:
    g = f"def g({inputs}):\n    {body}"
    assert under_head(g, puzzle("a", inputs), puzzle("b", other)) == f"def g({other}):\n    {moved}"


@pytest.mark.parametrize(
    ("inputs", "other", "body"),
    [
        ("n=3", "k='a'", "return n"),
        ("n=3", "", "return n"),
        ("n=3, m=4", "k=1", "return n + m"),
        ("n=2 * 3", "k=1", "return n"),
        ("n=3", "k=1", "k = 2\n    return n + k"),
        ("n=3", "k=1", "return [n + k for k in range(3)]"),
        ("n=3", "k=1", "return f'{n}'"),
    ],
)
def test_a_program_whose_names_would_come_to_mean_something_else_is_not_moved(
    inputs: str, other: str, body: str
) -> None:
    g = f"def g({inputs}):\n    {body}"
    assert under_head(g, puzzle("a", inputs), puzzle("b", other)) is None


def test_types_of_inputs_are_read_off_their_defaults() -> None:
    inputs = "n=-3, s='a', li=[1, 2], k: int = 2 * 3, z=range(3)"
    assert input_types(puzzle("a", inputs)) == {
        "n": "int",
        "s": "str",
        "li": "list[int]",
        "k": "int",
        "z": "",
    }


def test_a_file_gives_its_split_and_programs_of_no_other(tmp_path: Path) -> None:
    rows = [
        {"f": f"def f(x: int):\n    return x == {n}", "split": split, "p3_name": f"p{n}"}
        | {"bodies": [[f"\n    return {n}\n", 1]]}
        for n, split in ((1, "train"), (2, "train"), (3, "test"), (4, "test"))
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    c = Config(judge=JudgeConfig(num_workers=1, evaluation_fuel=1_000_000_000))
    whole = outline(f"pairs:{path}", "test", c)
    made = complete(whole, whole.items, c, _no_sampler, advance=lambda _: None)  # type: ignore[arg-type]
    assert {task.task_id for task in made} == {"p3", "p4"}
    programs = {one.program for task in made for one in task.candidates}
    assert programs == {"def g():\n    return 3", "def g():\n    return 4"}


def _no_sampler() -> None:
    raise AssertionError("nothing is sampled of a file of pairs")


def test_wrong_programs_for_p3_hardly_ever_raise(p3_folder: Path) -> None:
    # Else a verifier would only learn to see NameErrors.
    path = p3_folder / "codex_cushman_med.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    pool = read_solved(path, "train", lambda _: None)
    some = [one for one in pool if one.puzzle.answer_type == "int"][:4]
    made = tasks_of_pairs(some, pool, JUDGING, seed=0, advance=lambda _: None, most=3)
    wrong = [one for task in made for one in task.candidates if not one.label]
    assert len(wrong) >= 4
    assert sum(is_error(one.result) for one in wrong) <= len(wrong) / 4
