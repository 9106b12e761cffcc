"""Reading P3 as published, to the byte of its golden prompts, and files that are not so."""

from __future__ import annotations

import ast
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

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


def test_the_published_splits_are_read(p3_folder: Path) -> None:
    files = (p3_folder / "puzzles.json", p3_folder / "split.json")
    train, held_out = read_p3(*files, "train"), read_p3(*files, "held_out")
    assert (len(train), len(held_out), len(read_p3(files[0]))) == (155, 228, 397)
    assert sum(not puzzle.solutions for puzzle in train) == 10
    assert sum(not puzzle.solutions for puzzle in held_out) == 1


def test_every_instance_is_read_and_the_digit_limit_is_as_before(p3_folder: Path) -> None:
    before = sys.get_int_max_str_digits()
    puzzles = read_p3(p3_folder / "puzzles.json", every_instance=True)
    assert len(puzzles) == 1_715
    assert sum(len(puzzle.solutions) for puzzle in puzzles) == 1_698
    (box,) = [puzzle for puzzle in puzzles if puzzle.name == "BoxVolume:1"]
    assert len(box.inputs) > 8_844
    assert len(box.id) == 12
    assert sys.get_int_max_str_digits() == before


def test_golden_prompts_are_equal_to_the_byte(p3_folder: Path) -> None:
    golden = json.loads((p3_folder / "golden_prompts.json").read_text(encoding="utf-8"))
    by_family = {puzzle.family: puzzle for puzzle in read_p3(p3_folder / "puzzles.json")}

    def numbered(name: str, number: int) -> str:
        return by_family[name].f.replace("def f(", f"def f{number}(", 1)

    shown = [numbered(name, i) for i, name in enumerate(golden["propose"]["puzzles"], start=1)]
    assert "\n\n".join([*shown, f"def f{len(shown) + 1}("]) == golden["propose"]["prompt"]
    for case in golden["solve"]:
        name = case["puzzle"]
        head = f"def g6({by_family[name].inputs}):"
        prompt = f"{golden['few_shot_prefix']}{numbered(name, 6)}\n\n{head}"
        assert prompt == case["prompt"]


def test_f_is_as_in_the_codex_programs(p3_folder: Path) -> None:
    by_name = {p.name: p for p in read_p3(p3_folder / "puzzles.json", every_instance=True)}
    with gzip.open(p3_folder / "codex_cushman_med.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            assert by_name[row["p3_name"]].f == row["f"]


def test_inputs_keep_the_order_of_f_and_solutions_their_own(p3_folder: Path) -> None:
    puzzles = read_p3(p3_folder / "puzzles.json", every_instance=True)
    (pouring,) = [puzzle for puzzle in puzzles if puzzle.name == "WaterPouring:1"]
    assert pouring.inputs == "capacities=[724, 43, 611], init=[72, 2, 269], goal=[56, 0, 287]"
    assert pouring.solutions[0].startswith("def g(init=[72, 2, 269], goal=[56, 0, 287], ")


def test_every_solution_is_one_definition_of_g_that_calls_f(p3_folder: Path) -> None:
    for puzzle in read_p3(p3_folder / "puzzles.json"):
        for solution in puzzle.solutions:
            (g,) = ast.parse(solution).body
            assert isinstance(g, ast.FunctionDef) and g.name == "g"


def test_near_duplicates_across_the_published_split_are_found(p3_folder: Path) -> None:
    files = (p3_folder / "puzzles.json", p3_folder / "split.json")
    index = NearIndex(read_p3(*files, "held_out"))
    found = {
        (train.family, near.name.partition(":")[0]): round(near.containment, 2)
        for train in read_p3(*files, "train")
        for near in index.near(train)
    }
    assert found == {
        ("Study_1", "Study_2"): 0.96,
        ("Study_29", "Study_28"): 0.85,
        ("Sstriiinggssuubb", "Sssuubbstriiingg"): 0.84,
        ("ReverseLifeStep", "Oscillators"): 0.77,
        ("Nash", "ZeroSum"): 0.75,
    }


def test_sat_and_sol_become_f_and_g_but_local_variables_stay(tmp_path: Path) -> None:
    (puzzle,) = read_p3(write(tmp_path, [ROW]))
    assert puzzle.f == "def f(x: int, n=3, m=4):\n    return x == n"
    assert puzzle.inputs == "n=3, m=4"
    assert puzzle.solutions == (
        "def g(m=4, n=3):\n    sol = 1\n    return n",
        "def g(m=4, n=3):\n    return n if f(n, n) else g(m, n)",
    )
    assert (puzzle.name, puzzle.family, puzzle.category) == ("Equal:0", "Equal", "study")


def test_a_docstring_in_sat_is_dropped(tmp_path: Path) -> None:
    row = ROW | {"sat": 'def sat(x: int, n=3, m=4):\n    """Find n."""\n    return x == n'}
    assert read_p3(write(tmp_path, [row])) == read_p3(write(tmp_path, [ROW]))


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in ROW.items() if name != key}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "found no list of puzzles. Is this P3's puzzles.json?"),
        ([], "found no list of puzzles. Is this P3's puzzles.json?"),
        ([{"sat": ""}], "item 0 of the list has no 'name'. Is this P3's puzzles.json?"),
        (
            [without("ans_type")],
            "puzzle 'Equal:0' has no 'ans_type'. Is this a P3 file from before ans_type was added?",
        ),
        ([ROW | {"sat": 3}], "'sat' of puzzle 'Equal:0' is no string. Is this P3's puzzles.json?"),
        (
            [ROW | {"sol_bodies": None}],
            "'sol_bodies' of puzzle 'Equal:0' is no list of strings. Is this P3's puzzles.json?",
        ),
        ([ROW, ROW], "two puzzles have the name 'Equal:0'. Remove one."),
        (
            [ROW | {"ans_type": "str"}],
            "puzzle 'Equal:0' has 'ans_type' str, but its sat asks for int. Correct one of the two.",
        ),
        (
            [ROW | {"sat": "def sat(x: int, n): return x == n"}],
            (
                "puzzle 'Equal:0' cannot be used: 2 parameters have no default,"
                " and exactly the first must not."
            ),
        ),
        (
            [ROW | {"sol_bodies": ["    return ("]}],
            "puzzle 'Equal:0' cannot be used: line 2: '(' was never closed.",
        ),
    ],
)
def test_a_file_of_another_kind_is_one_sentence(
    content: object, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(PuzzleFileError) as caught:
        read_p3(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_split_of_another_version_is_one_sentence(tmp_path: Path) -> None:
    puzzles = write(tmp_path, [ROW])
    split = write(tmp_path, {"train": ["Equal", "Gone"]}, "split.json")
    with pytest.raises(PuzzleFileError, match=r"'Gone' in 'train' is no problem of .* \(1 such\)"):
        read_p3(puzzles, split, "train")
    with pytest.raises(PuzzleFileError, match=r"found no list 'test' of names"):
        read_p3(puzzles, split, "held_out")


def test_a_solved_puzzle_is_close_to_itself_and_a_new_instance_can_be_told(tmp_path: Path) -> None:
    held_out = read_p3(write(tmp_path, [ROW]))
    sat = "def sat(y: int, n=30, m=40):\n    return y == n"
    (instance,) = read_p3(write(tmp_path, [ROW | {"name": "Equal:1", "sat": sat}]))
    index = NearIndex(held_out)
    nearest = index.nearest(instance)
    assert nearest is not None and nearest.same_shape
    assert too_close(instance, index, 0.2) is not None
    assert too_close(instance, index, 0.2, same_shape_is_new=True) is None
