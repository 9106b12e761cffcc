"""Reading P3 as published, in all its instances, and files of other versions and hands."""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from puzzles import Puzzle, instances
from puzzles.files import PuzzleFileError
from puzzles.near import NearIndex, too_close
from puzzles.p3 import read_p3

ROW: dict[str, Any] = {
    "name": "Equal:0",
    "sat": "def sat(x: int, n=3, m=4):\n    return x == n",
    "ans_type": "int",
    "sol_header": "def sol(m=4, n=3):",
    "sol_docstring": "",
    "sol_bodies": ["    sol = 1\n    return n", "    return n if sat(n, n) else sol(m, n)"],
    "module": "study.py",
    "notes": "",
    "weight": 1.0,
}


def write(folder: Path, content: object, name: str = "puzzles.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def every_instance(p3_folder: Path) -> list[Puzzle]:
    reading = read_p3(p3_folder / "puzzles.json", instances="apart")
    assert reading.refused == []
    return reading.puzzles


def test_the_published_splits_are_read(p3_folder: Path) -> None:
    files = (p3_folder / "puzzles.json", p3_folder / "split.json")
    train, held_out, whole = read_p3(*files, "train"), read_p3(*files, "held_out"), read_p3(*files)
    assert (len(train.puzzles), len(held_out.puzzles), len(whole.puzzles)) == (155, 228, 397)
    assert train.refused == held_out.refused == whole.refused == []
    assert sum(not puzzle.solutions for puzzle in train.puzzles) == 10
    assert sum(not puzzle.solutions for puzzle in held_out.puzzles) == 1


def test_every_instance_is_read_and_the_digit_limit_is_as_before(
    every_instance: list[Puzzle],
) -> None:
    assert len(every_instance) == 1_715
    assert sum(len(puzzle.solutions) for puzzle in every_instance) == 1_698
    (box,) = [puzzle for puzzle in every_instance if puzzle.name == "BoxVolume:1"]
    assert len(box.inputs) > 8_844
    assert len(box.id) == 12
    with pytest.raises(ValueError, match="4300 digits"):
        int("1" * 4_301)


def test_the_inputs_of_all_instances_are_those_published(
    p3_folder: Path, every_instance: list[Puzzle], tmp_path: Path
) -> None:
    """Every tenth problem, and the one with the long number, for time."""
    published: dict[str, list[str]] = {}
    for puzzle in every_instance:
        published.setdefault(puzzle.family, []).append(puzzle.f)
    chosen = {*list(published)[::10], "BoxVolume"}
    rows = json.loads((p3_folder / "puzzles.json").read_text(encoding="utf-8"))
    some = [row for row in rows if row["name"].partition(":")[0] in chosen]
    reading = read_p3(write(tmp_path, some), instances="together")
    found = {puzzle.family: instances(puzzle) for puzzle in reading.puzzles}
    assert found == {family: published[family] for family in chosen}
    assert sum(map(len, found.values())) == len(some) > 150


def test_f_is_as_in_the_codex_programs(p3_folder: Path, every_instance: list[Puzzle]) -> None:
    by_name = {puzzle.name: puzzle for puzzle in every_instance}
    with gzip.open(p3_folder / "codex_cushman_med.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            assert by_name[row["p3_name"]].f == row["f"]


def test_inputs_keep_the_order_of_f_and_solutions_their_own(every_instance: list[Puzzle]) -> None:
    (pouring,) = [puzzle for puzzle in every_instance if puzzle.name == "WaterPouring:1"]
    assert pouring.inputs == "capacities=[724, 43, 611], init=[72, 2, 269], goal=[56, 0, 287]"
    assert pouring.solutions[0].startswith("def g(init=[72, 2, 269], goal=[56, 0, 287], ")


def test_every_solution_is_one_definition_of_g_that_calls_f(p3_folder: Path) -> None:
    for puzzle in read_p3(p3_folder / "puzzles.json").puzzles:
        for solution in puzzle.solutions:
            (g,) = ast.parse(solution).body
            assert isinstance(g, ast.FunctionDef) and g.name == "g"


def test_near_duplicates_across_the_published_split_are_found(p3_folder: Path) -> None:
    files = (p3_folder / "puzzles.json", p3_folder / "split.json")
    index = NearIndex(read_p3(*files, "held_out").puzzles)
    found = {
        (train.family, near.name.partition(":")[0]): round(near.containment, 2)
        for train in read_p3(*files, "train").puzzles
        for near in index.near(train)
    }
    assert found == {
        ("Study_1", "Study_2"): 0.96,
        ("Study_29", "Study_28"): 0.85,
        ("Sstriiinggssuubb", "Sssuubbstriiingg"): 0.84,
        ("ReverseLifeStep", "Oscillators"): 0.77,
        ("Nash", "ZeroSum"): 0.75,
    }


def read(folder: Path, *rows: dict[str, Any]) -> Puzzle:
    """Read the one puzzle that the rows hold, of which none is refused."""
    reading = read_p3(write(folder, list(rows)))
    assert reading.refused == []
    (puzzle,) = reading.puzzles
    return puzzle


def test_sat_and_sol_become_f_and_g_but_local_variables_stay(tmp_path: Path) -> None:
    puzzle = read(tmp_path, ROW)
    assert puzzle.f == "def f(x: int, n=3, m=4):\n    return x == n"
    assert puzzle.inputs == "n=3, m=4"
    assert puzzle.solutions == (
        "def g(m=4, n=3):\n    sol = 1\n    return n",
        "def g(m=4, n=3):\n    return n if f(n, n) else g(m, n)",
    )
    assert (puzzle.name, puzzle.family, puzzle.category) == ("Equal:0", "Equal", "study")


HEAD = "def sat(x: int, n=3, m=4):"
PLAIN = "def f(x: int, n=3, m=4):\n    return x == n"


@pytest.mark.parametrize(
    ("sat", "f"),
    [
        (f'{HEAD}\n    """Find n."""\n    return x == n', PLAIN),
        (f'{HEAD}\n    """Find n.\n\n    And then?\n    """\n\n    return x == n', PLAIN),
        (f'"""Find n."""\n{HEAD}\n    return x == n', PLAIN),
        (f"# Find n.\n\n{HEAD}\n    return x == n\n", PLAIN),
        (f"from typing import List\n\n\n{HEAD}\n    return x == n", PLAIN),
        (f"import typing\n{HEAD}\n    return x == n", PLAIN),
        (f"{HEAD}\r\n    return x == n\r\n", PLAIN),
        ("def  sat (x: 'int', n=3, m=4):\n    return x == n", PLAIN),
        (f'{HEAD}  # n!\n    """Find n."""\n    return x == n', PLAIN.replace(":\n", ":  # n!\n")),
        (
            f'{HEAD}\n    # n!\n    """Find n."""\n    return x == n',
            PLAIN.replace("\n", "\n    # n!\n"),
        ),
        (f"    {HEAD}\n        return x == n", PLAIN),
        (f"{HEAD}\n\treturn x == n", PLAIN.replace("    ", "\t")),
    ],
)
def test_layout_docstrings_and_imports_do_not_matter(sat: str, f: str, tmp_path: Path) -> None:
    puzzle = read(tmp_path, ROW | {"sat": sat})
    assert (puzzle.f, puzzle.inputs) == (f, "n=3, m=4")


@pytest.mark.parametrize(
    ("annotation", "ans_type"),
    [
        ("List[int]", "List[int]"),
        ("list[int]", "List[int]"),
        ("List[int]", "list[int]"),
        ("typing.List[int]", "typing.List[int]"),
        ("'List[int]'", "List[int]"),
        ("'typing.List[int]'", "List[int]"),
        ("List['int']", "List[int]"),
        ("List[int]", None),
    ],
)
def test_a_type_is_read_in_every_spelling_and_shown_in_one(
    annotation: str, ans_type: str | None, tmp_path: Path
) -> None:
    sat = f"def sat(x: {annotation}, n: typing.List[int] = [3]):\n    return x == n"
    puzzle = read(tmp_path, ROW | {"sat": sat, "ans_type": ans_type, "sol_bodies": []})
    assert puzzle.f == "def f(x: List[int], n: List[int] = [3]):\n    return x == n"
    assert puzzle.answer_type == "List[int]"


def without(*keys: str) -> dict[str, Any]:
    return {name: value for name, value in ROW.items() if name not in keys}


def test_a_row_of_an_older_version_is_read(tmp_path: Path) -> None:
    sols = ["def sol(m=4, n=3):\n    return n"]
    old = {
        "name": "Study_1_0",
        "sat": f'{HEAD}\n    """Find n."""\n    return x == n',
        "sols": sols,
    }
    puzzle = read(tmp_path, old)
    assert (puzzle.family, puzzle.answer_type, puzzle.category) == ("Study_1", "int", "")
    assert puzzle.solutions == ("def g(m=4, n=3):\n    return n",)


@pytest.mark.parametrize("row", [without("sol_bodies", "sol_header"), ROW | {"sol_bodies": None}])
def test_a_row_without_bodies_is_a_puzzle_without_solutions(
    row: dict[str, Any], tmp_path: Path
) -> None:
    assert read(tmp_path, row).solutions == ()


GOOD = ROW | {"name": "Good:0", "sol_bodies": []}


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (without("sat"), "puzzle 'Equal:0': it has no text 'sat'"),
        (ROW | {"sat": 3}, "puzzle 'Equal:0': it has no text 'sat'"),
        ({"sat": ROW["sat"]}, "item 1 of the list: it has no name"),
        (GOOD, "item 1 of the list: an earlier puzzle has the name 'Good:0'"),
        (
            ROW | {"ans_type": "str"},
            "puzzle 'Equal:0': 'ans_type' is 'str', but its sat asks for int",
        ),
        (
            ROW | {"sat": "def sat(x: int, n): return x == n"},
            "puzzle 'Equal:0': 2 parameters have no default, and exactly the first must not",
        ),
        (
            ROW | {"sat": "def sat(x, n=3): return x == n"},
            "puzzle 'Equal:0': the answer x has no annotation",
        ),
        (
            ROW | {"sat": "def sat(x: Set[int]): return x == {1}", "ans_type": "Set[int]"},
            "puzzle 'Equal:0': the answer's type is Set[int], not int, str, float, bool or a"
            " (nested) List of them",
        ),
        (
            ROW | {"sat": "def sat(x: int):\n    if x:\n\treturn True"},
            "puzzle 'Equal:0': line 3: inconsistent use of tabs and spaces in indentation",
        ),
        (
            ROW | {"sat": "@cache\ndef sat(x: int): return x == 1"},
            "puzzle 'Equal:0': its 'sat' is no plain function",
        ),
        (ROW | {"sat": "x = 1"}, "puzzle 'Equal:0': its 'sat' is no plain function"),
        (
            ROW | {"sat": "def sol(x: int): return x == 1"},
            "puzzle 'Equal:0': its 'sat' defines 'sol'",
        ),
        (
            ROW | {"sat": "def h(): pass\ndef sat(x: int): return x == 1"},
            "puzzle 'Equal:0': more than one definition stands in its 'sat'",
        ),
    ],
)
def test_a_puzzle_that_cannot_be_used_costs_no_other_one(
    row: dict[str, Any], why: str, tmp_path: Path
) -> None:
    reading = read_p3(write(tmp_path, [GOOD, row, GOOD | {"name": "Last:0"}]))
    assert [puzzle.name for puzzle in reading.puzzles] == ["Good:0", "Last:0"]
    assert reading.refused == [why]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"sol_bodies": ["    return (", "    return n"]}, "line 2: '(' was never closed"),
        ({"sol_bodies": ["", "    return n"]}, "line 1: expected an indented block after function"),
        ({"sol_bodies": [3, "    return n"]}, "it is no text, or has no 'sol_header'"),
        (
            {"sols": ["def g(m=4, n=3): return n", "def sol(m=4, n=3):\n    return n"]},
            "it defines no sol",
        ),
    ],
)
def test_a_solution_that_is_none_costs_neither_its_puzzle_nor_the_next(
    change: dict[str, Any], why: str, tmp_path: Path
) -> None:
    reading = read_p3(write(tmp_path, [ROW | change]))
    assert [puzzle.solutions for puzzle in reading.puzzles] == [("def g(m=4, n=3):\n    return n",)]
    (sentence,) = reading.refused
    assert sentence.startswith(f"solution 1 of puzzle 'Equal:0': {why}")


def test_the_first_instance_that_can_be_used_is_taken(tmp_path: Path) -> None:
    broken = ROW | {"sat": "def sat(x: int", "name": "Equal:0"}
    reading = read_p3(
        write(tmp_path, [broken, ROW | {"name": "Equal:1"}, ROW | {"name": "Equal:2"}])
    )
    assert [puzzle.name for puzzle in reading.puzzles] == ["Equal:1"]
    assert reading.refused == ["puzzle 'Equal:0': line 1: '(' was never closed"]


def test_an_instance_that_differs_in_more_than_its_inputs_is_refused(tmp_path: Path) -> None:
    rows = [
        ROW,
        ROW | {"name": "Equal:1", "sat": "def sat(x: int, n=5, m=6):\n    return x == n"},
        ROW | {"name": "Equal:2", "sat": "def sat(x: int, n=5, m=6):\n    return x == m"},
        ROW | {"name": "Equal:3"},
    ]
    reading = read_p3(write(tmp_path, rows), instances="together")
    (puzzle,) = reading.puzzles
    assert puzzle.more_inputs == ("n=5, m=6",)
    assert reading.refused == [
        "puzzle 'Equal:2': it differs from 'Equal:0' in more than its inputs"
    ]


@pytest.mark.parametrize("content", [{}, [], [{"sat": ""}], [{"name": "Equal:0"}], [1, "a"]])
def test_a_file_of_another_kind_is_one_sentence(content: object, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    with pytest.raises(PuzzleFileError) as caught:
        read_p3(path)
    assert str(caught.value) == f"{path}: found no list of puzzles. Is this P3's puzzles.json?"


def test_a_split_of_another_version_is_one_sentence(tmp_path: Path) -> None:
    puzzles = write(tmp_path, [ROW])
    split = write(tmp_path, {"train": ["Equal", "Gone"]}, "split.json")
    with pytest.raises(PuzzleFileError, match=r"'Gone' in 'train' is no problem of .* \(1 such\)"):
        read_p3(puzzles, split, "train")
    with pytest.raises(PuzzleFileError, match=r"found no list 'test' of names"):
        read_p3(puzzles, split, "held_out")


def test_a_solved_puzzle_is_close_to_itself_and_a_new_instance_can_be_told(tmp_path: Path) -> None:
    held_out = read(tmp_path, ROW)
    sat = "def sat(y: int, n=30, m=40):\n    return y == n"
    instance = read(tmp_path, ROW | {"name": "Equal:1", "sat": sat})
    index = NearIndex([held_out])
    assert index.near(instance, threshold=0.0)[0].same_shape
    assert too_close(instance, index, 0.2) is not None
    assert too_close(instance, index, 0.2, same_shape_is_new=True) is None
