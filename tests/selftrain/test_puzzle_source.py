"""Naming puzzles: P3 fetched or local, what is refused there, and what is said without a network."""

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pooch
import pytest

from selftrain.check import check
from selftrain.errors import UsageError
from selftrain.humaneval import read_functions
from selftrain.puzzle_source import read_split

ROW: dict[str, Any] = {
    "name": "Equal:0",
    "sat": "def sat(x: int, n=3):\n    return x == n",
    "ans_type": "int",
    "sol_header": "def sol(n=3):",
    "sol_bodies": ["    return n"],
    "module": "study.py",
}
BROKEN = ROW | {"name": "Broken:0", "sat": "def sat(x: int, n): return x == n"}
SECOND = ROW | {"name": "Equal:1", "sat": "def sat(x: int, n=-4):\n    return x == n"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the empty folder that downloads are kept in; nothing can be fetched into it."""

    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("no route\nto host")

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", unreachable)
    return tmp_path / "selftrain"


def p3_of(folder: Path, *rows: dict[str, Any]) -> str:
    folder.mkdir(exist_ok=True)
    names = {row["name"].partition(":")[0] for row in rows}
    (folder / "puzzles.json").write_text(json.dumps(rows))
    (folder / "split.json").write_text(json.dumps({"train": sorted(names), "test": []}))
    return str(folder)


def test_p3_is_read_from_the_cache_where_it_was_fetched_before(
    p3_folder: Path, cache: Path
) -> None:
    (cache / "p3").mkdir(parents=True)
    for name in ("puzzles.json", "split.json"):
        shutil.copy(p3_folder / name, cache / "p3")
    assert read_split("p3", "held_out") == read_split(f"p3:{p3_folder}", "held_out")


@pytest.mark.parametrize("source", ["p3", "p3-all"])
def test_p3_without_a_network_is_one_sentence_with_the_way_out(source: str, cache: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_split(source, "train")
    assert str(caught.value) == (
        "p3: puzzles.json could not be fetched (ConnectionError: no route). Take puzzles.json and "
        "split.json from the folder puzzles of "
        "https://github.com/microsoft/PythonProgrammingPuzzles, and name their folder with "
        "p3:FOLDER."
    )


def test_a_file_that_was_changed_on_the_way_is_not_used(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another(_: object, url: str, output: str, *__: object) -> None:
        Path(output).write_text(json.dumps([ROW]))

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", another)
    with pytest.raises(
        UsageError, match=r"puzzles\.json could not be fetched \(ValueError: SHA256"
    ):
        read_split("p3", "train")


def test_humaneval_without_a_network_is_one_sentence_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("Couldn't reach the hub\nat all")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=unreachable))
    with pytest.raises(UsageError) as caught:
        read_functions("humaneval")
    assert str(caught.value) == (
        "humaneval: openai/openai_humaneval could not be fetched (ConnectionError: Couldn't reach "
        "the hub). Take HumanEval.jsonl.gz from https://github.com/openai/human-eval, and name it "
        "with humaneval:FILE."
    )


def test_what_p3_refuses_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    source = f"p3:{p3_of(tmp_path / 'p3', BROKEN, ROW)}"
    told: list[str] = []
    assert [puzzle.name for puzzle in read_split(source, "train", told.append)] == ["Equal:0"]
    why = "2 parameters have no default, and exactly the first must not"
    assert told == [f"{source}: refused puzzle 'Broken:0': {why}."]


def test_a_caller_that_does_not_count_has_it_said_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"p3:{p3_of(tmp_path / 'p3', BROKEN, ROW)}"
    read_split(source, "train")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{source}: refused puzzle 'Broken:0': ")


def test_a_file_of_which_all_is_refused_says_how_much(tmp_path: Path) -> None:
    source = f"p3:{p3_of(tmp_path / 'p3', BROKEN)}"
    with pytest.raises(UsageError, match=r"holds no puzzle \(1 are refused\)"):
        read_split(source, "train", lambda _: None)


def test_all_instances_of_a_problem_are_one_puzzle_where_asked(tmp_path: Path) -> None:
    folder = p3_of(tmp_path / "p3", ROW, SECOND)
    (first,) = read_split(f"p3:{folder}", "train")
    (every,) = read_split(f"p3-all:{folder}", "train")
    assert (first.more_inputs, every.more_inputs) == ((), ("n=-4",))
    assert (first.id, first.f) == (every.id, every.f)


def test_check_judges_references_on_all_instances_and_counts_what_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    always_3 = ROW | {"sol_bodies": ["    return 3", "    return n"]}
    folder = p3_of(tmp_path / "p3", always_3, SECOND, BROKEN)
    assert check(f"p3:{folder}", 1) == 1
    assert capsys.readouterr().out.splitlines()[-1] == (
        "2 of 2 reference solutions of 1 puzzles passed (0 puzzles have none);"
        " 1 puzzles or solutions could not be read"
    )
    assert check(f"p3-all:{p3_of(tmp_path / 'p3', always_3, SECOND)}", 1) == 1
    assert capsys.readouterr().out.splitlines() == [
        "'Equal:0': solution 1: wrong_answer on inputs 2: f returned False",
        "1 of 2 reference solutions of 1 puzzles passed (0 puzzles have none)",
    ]
