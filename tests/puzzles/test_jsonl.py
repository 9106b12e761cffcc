"""Reading puzzles from JSONL: what is read, and the one sentence for each thing that is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from puzzles import from_row, instances, to_row
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects, read_puzzles

WANTED_F = " Write one 'def f(answer: type, inputs with defaults): ...'."
GOOD = {"name": "a", "f": "def f(x: int, n=3):\n    return x == n"}


def write(folder: Path, *rows: object) -> Path:
    path = folder / "puzzles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_full_row_is_read(tmp_path: Path) -> None:
    row = GOOD | {
        "solutions": ["def g(n=3):\n    return n"],
        "category": "numbers",
        "difficulty": "easy",
        "family": "equal",
        "other": 1,
    }
    (puzzle,) = read_puzzles(write(tmp_path, row))
    assert (puzzle.name, puzzle.f) == (GOOD["name"], GOOD["f"])
    assert (puzzle.answer_type, puzzle.inputs, puzzle.origin) == ("int", "n=3", "file")
    assert (puzzle.category, puzzle.difficulty, puzzle.family) == ("numbers", "easy", "equal")
    assert puzzle.solutions == ("def g(n=3):\n    return n",)


def test_gzip_blank_lines_and_odd_line_ends_inside_strings(tmp_path: Path) -> None:
    path = tmp_path / "puzzles.jsonl.gz"
    f = "def f(s: str):\n    return s == '\u2028'"
    text = (
        json.dumps({"name": "a", "f": f}, ensure_ascii=False)
        + "\n\n"
        + json.dumps(GOOD | {"name": "b"})
    )
    path.write_bytes(gzip.compress(text.encode()))
    assert [puzzle.name for puzzle in read_puzzles(path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1], "line 2: found a list instead of a JSON object."),
        (None, "line 2: found null instead of a JSON object."),
        (
            {"f": GOOD["f"]},
            "line 2: there is no 'name'. Each puzzle needs 'name' and 'f', the source of f.",
        ),
        (
            {"name": "b"},
            "line 2: there is no 'f'. Each puzzle needs 'name' and 'f', the source of f.",
        ),
        ({"name": 3, "f": GOOD["f"]}, "line 2: 'name' is a number. Make it a string."),
        ({"name": "b", "f": None}, "line 2: 'f' is null. Make it a string."),
        ({"name": "", "f": GOOD["f"]}, "line 2: 'name' is empty. Fill it in."),
        (
            {"name": "b", "f": "def f(x: int"},
            "line 2: 'f' of 'b' is no puzzle: it does not parse: line 1: '(' was never closed."
            + WANTED_F,
        ),
        (
            {"name": "b", "f": "def f(x): return x"},
            "line 2: 'f' of 'b' is no puzzle: the answer x has no annotation." + WANTED_F,
        ),
        (GOOD, "line 2: the name 'a' is already on line 1. Give each puzzle its own name."),
        (
            GOOD | {"name": "b", "difficulty": "tricky"},
            "line 2: 'difficulty' is 'tricky'. Write easy, medium or hard, or leave it out.",
        ),
        (
            GOOD | {"name": "b", "solutions": "def g(n=3): return n"},
            "line 2: 'solutions' is a string. Make it a list of sources 'def g(...): ...'.",
        ),
        (
            GOOD | {"name": "b", "solutions": ["def g(n=3): return n", "return n"]},
            "line 2: solution 2 defines no g. Give the complete source 'def g(...): ...'.",
        ),
        (
            GOOD | {"name": "b", "solutions": ["def g("]},
            (
                "line 2: solution 1 does not parse (line 1: '(' was never closed)."
                " Give the complete source 'def g(...): ...'."
            ),
        ),
    ],
)
def test_a_wrong_row_is_one_sentence_with_file_and_line(
    row: object, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path, GOOD, row)
    with pytest.raises(PuzzleFileError) as caught:
        read_puzzles(path)
    assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": the file is empty, and at least one row is needed."),
        (b"\n \n", ": the file is empty, and at least one row is needed."),
        (b'{"name": "\xff"}', ": byte 10 is not UTF-8. Save the file as UTF-8."),
        (b' \n\n{"name": "\xff"}', ": byte 13 is not UTF-8. Save the file as UTF-8."),
        (
            b'\n{"name":\n',
            (", line 2: no JSON at column 9 (Expecting value). Each line must be one JSON object."),
        ),
        (
            b'{"name" "a"}\n',
            (
                ", line 1: no JSON at column 9 (Expecting ':' delimiter)."
                " Each line must be one JSON object."
            ),
        ),
        (
            b'{"name": ' + b"[" * 100_000,
            ", line 1: the JSON nests too deep or holds a number too long to be read.",
        ),
        (
            b'{"name": ' + b"1" * 10_000 + b"}",
            ", line 1: the JSON nests too deep or holds a number too long to be read.",
        ),
    ],
)
def test_a_wrong_file_is_one_sentence(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "puzzles.jsonl"
    path.write_bytes(content)
    with pytest.raises(PuzzleFileError) as caught:
        read_puzzles(path)
    assert str(caught.value) == f"{path}{message}"


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_a_row(tmp_path: Path) -> None:
    path = tmp_path / "puzzles.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n")
    assert [puzzle.name for puzzle in read_puzzles(path)] == ["a"]


def test_rows_are_given_before_the_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2}\n\xff')
    rows = read_objects(path)
    assert [next(rows), next(rows)] == [
        (f"{path}, line 1", {"n": 1}),
        (f"{path}, line 2", {"n": 2}),
    ]
    with pytest.raises(PuzzleFileError, match="byte 18 is not UTF-8"):
        next(rows)


def test_a_missing_file_a_folder_and_a_broken_gzip(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress(json.dumps(GOOD).encode())[:-9])
    for path, message in (
        (tmp_path / "none.jsonl", "there is no such file. Check the path."),
        (tmp_path, "this is a folder. Name a file in it."),
        (broken, "this is no complete gzip file. Download or compress it again."),
    ):
        with pytest.raises(PuzzleFileError) as caught:
            read_puzzles(path)
        assert str(caught.value) == f"{path}: {message}"


def test_further_inputs_are_read_and_give_f_at_each(tmp_path: Path) -> None:
    row = GOOD | {
        "f": "def f(x: int, n=3, m=[1, 2],):\n    return x == n",
        "more_inputs": ["n=4, m=[]"],
    }
    (puzzle,) = read_puzzles(write(tmp_path, row))
    assert puzzle.inputs == "n=3, m=[1, 2]"
    assert instances(puzzle) == [
        "def f(x: int, n=3, m=[1, 2],):\n    return x == n",
        "def f(x: int, n=4, m=[]):\n    return x == n",
    ]
    assert from_row(json.loads(json.dumps(to_row(puzzle)))) == puzzle


@pytest.mark.parametrize(
    "inputs",
    [
        "n=4, m=5",
        "m=4",
        "n",
        "",
        "n=",
        "4",
        "n=4): return x == 4 #",
        "n=4 # four",
        "n=4): pass\ndef g(n=4",
        "n: int = 4",
        "*, n=4",
    ],
)
def test_further_inputs_that_change_more_than_defaults_are_refused(
    inputs: str, tmp_path: Path
) -> None:
    with pytest.raises(PuzzleFileError, match=r"line 1: 'f' of 'a' is no puzzle: the inputs "):
        read_puzzles(write(tmp_path, GOOD | {"more_inputs": [inputs]}))


def test_an_f_without_inputs_has_no_further_ones(tmp_path: Path) -> None:
    row = {"name": "a", "f": "def f(x: int):\n    return x == 3", "more_inputs": ["n=4"]}
    with pytest.raises(PuzzleFileError, match=r"f has no inputs, so 'n=4' can't stand for them"):
        read_puzzles(write(tmp_path, row))
