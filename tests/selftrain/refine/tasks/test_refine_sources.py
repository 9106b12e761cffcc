"""Which tasks are read, from where, and in which order."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge import FunctionProblem
from puzzles import Puzzle, puzzle_from_source
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.refine.tasks import sources as module
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.refine.tasks.sources import read_tasks
from selftrain.refine.tasks.task import HiddenTests, Kind

PROMPT = 'def one():\n    """ One.\n    >>> one()\n    1\n    """\n'
TEST = "def check(candidate):\n    assert candidate() == 1\n"


def config_of(*tasks: object, **more: object) -> Config:
    names = json.dumps([str(task) for task in tasks])
    return load_config(
        None, [f"refine.tasks={names}", *(f"{key}={value}" for key, value in more.items())]
    )


def write(path: Path, names: list[str]) -> Path:
    rows = [
        {"task_id": name, "prompt": PROMPT, "entry_point": "one", "test": TEST} for name in names
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def puzzle() -> Puzzle:
    return puzzle_from_source(
        "def f(x: int, a=17):\n    return x > a", name="more", more_inputs=("a=40",)
    )


def test_a_puzzle_is_a_task_without_a_canary_that_is_its_own_test() -> None:
    tasks, hidden = read_tasks(config_of("puzzles"), [puzzle()])
    (task,) = tasks
    assert (task.task_id, task.kind, task.statement) == ("more", Kind.puzzle, puzzle().f)
    assert (task.entry_point, task.parameters, task.head) == ("g", "a=17", "def g(a=17):")
    assert task.canary == ""
    assert hidden == [HiddenTests("more", puzzle())]


def test_sources_keep_their_order_and_a_file_may_be_named_as_humaneval(tmp_path: Path) -> None:
    first, second = write(tmp_path / "b.jsonl", ["b", "a"]), write(tmp_path / "c.jsonl", ["c"])
    tasks, hidden = read_tasks(config_of(f"humaneval:{first}", "puzzles", second), [puzzle()])
    assert [task.task_id for task in tasks] == ["b", "a", "more", "c"]
    assert [one.task_id for one in hidden] == ["b", "a", "more", "c"]


def test_num_tasks_takes_the_same_of_a_source_whatever_else_is_there(tmp_path: Path) -> None:
    names = [f"t{i}" for i in range(40)]
    path = write(tmp_path / "a.jsonl", names)
    few = {"refine.num_tasks": 5, "seed": 3}
    chosen = [task.task_id for task in read_tasks(config_of(path, **few), [])[0]]
    assert len(chosen) == 5
    assert chosen == sorted(chosen, key=names.index)
    assert chosen != names[:5]
    other = read_tasks(config_of(path, **{**few, "seed": 4}), [])[0]
    assert [task.task_id for task in other] != chosen
    write(path, [name for name in names if name in chosen or name > "t2"])
    again = read_tasks(config_of("puzzles", path, **few), [puzzle()])[0]
    assert [task.task_id for task in again] == ["more", *chosen]


def test_humaneval_of_the_hub_is_read_as_its_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.jsonl", ["HumanEval/1"])
    of_file = read_tasks(config_of(f"humaneval:{path}"), [])
    monkeypatch.setattr(
        module, "humaneval", lambda: {"HumanEval/1": FunctionProblem(PROMPT, "one", TEST)}
    )
    assert read_tasks(config_of("humaneval"), []) == of_file
    assert of_file[0][0].examples


def test_the_canary_is_in_the_hidden_test_and_in_no_other_field_of_the_task(
    tmp_path: Path,
) -> None:
    (task, other), (hidden, _) = read_tasks(config_of(write(tmp_path / "a", ["x", "y"])), [])
    assert isinstance(hidden.problem, FunctionProblem)
    assert hidden.problem.test.count(task.canary) >= 2
    assert task.canary.isidentifier()
    assert task.canary != other.canary
    assert str(task).count(task.canary) == 1
    assert "assert candidate() == 1" not in str(task)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "the file is empty"),
        ("[1]\n", "line 1: found a list"),
        ("{}\n", "line 1: there is no 'task_id'"),
        ('{"task_id": 3}\n', "line 1: task_id is 3"),
        ('{"question_id": "", "public_test_cases": "[]"}\n', "line 1: question_id is ''"),
        ('{"task_id": "a", "prompt": "x"}\n', "line 1: a row with the keys task_id, prompt is no"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_usage_error(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=found):
        read_tasks(config_of(path), [])


def test_no_file_no_task_and_one_id_twice_are_usage_errors(tmp_path: Path) -> None:
    for missing in (tmp_path / "none", f"humaneval:{tmp_path / 'none'}"):
        with pytest.raises(UsageError, match="there is no such file"):
            read_tasks(config_of(missing), [])
    with pytest.raises(UsageError, match="puzzles holds no task"):
        read_tasks(config_of("puzzles"), [])
    first, second = write(tmp_path / "a", ["x"]), write(tmp_path / "b", ["y", "x"])
    with pytest.raises(UsageError, match=r"b, line 2: the task_id 'x' is already in .*a, line 1"):
        read_tasks(config_of(first, second), [])


def test_what_is_not_chosen_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []

    def note(*row: Any) -> Any:
        built.append(row)
        return puzzle_task(puzzle())

    monkeypatch.setattr(module, "maker_of", lambda row, where: note)
    path = write(tmp_path / "a.jsonl", [f"t{i}" for i in range(9)])
    read_tasks(config_of(path, **{"refine.num_tasks": 2}), [])
    assert len(built) == 2


def test_a_tasks_source_is_its_entry_whatever_keys_a_row_has(tmp_path: Path) -> None:
    one = write(tmp_path / "HumanEvalPlus.jsonl", ["a", "b"])
    rows = one.read_text().splitlines()
    one.write_text(f"{rows[0]}\n" + rows[1].replace("{", '{"category": "x", ', 1))
    (tmp_path / "more").mkdir()
    again = write(tmp_path / "more" / "HumanEvalPlus.jsonl", ["c"])
    named = write(tmp_path / "v1.2-test.jsonl", ["d"])
    config = config_of(one, again, named, "puzzles", f"humaneval:{write(tmp_path / 'e', ['e'])}")
    assert {task.task_id: task.source for task in read_tasks(config, [puzzle()])[0]} == {
        "a": "HumanEvalPlus",
        "b": "HumanEvalPlus",
        "c": "HumanEvalPlus (2)",
        "d": "v1.2-test",
        "more": "puzzles",
        "e": "humaneval",
    }


@pytest.mark.parametrize(
    ("entry", "hint"),
    [("puzzle", "puzzles"), ("Puzzles", "puzzles"), ("human_eval", "humaneval"), ("x", None)],
)
def test_a_word_that_is_no_source_is_told_which_are(entry: str, hint: str | None) -> None:
    said = f"{entry}: there is no such file, and it is none of the words 'puzzles' and 'humaneval'"
    with pytest.raises(UsageError, match=f"refine.tasks: {said}") as caught:
        read_tasks(config_of(entry), [])
    assert str(caught.value).endswith(f"Did you mean {hint!r}?" if hint else "Check the path.")


@pytest.mark.parametrize("key", ["task_id", "prompt", "category", "difficulty", "something"])
def test_half_a_surrogate_pair_is_refused_by_file_and_line(tmp_path: Path, key: str) -> None:
    row = {"task_id": "a", "prompt": PROMPT, "entry_point": "one", "test": TEST}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row | {key: "\ud800"}))
    with pytest.raises(UsageError, match=r"a\.jsonl, line 1.*surrogate"):
        read_tasks(config_of(path), [])


def test_the_home_of_nobody_is_no_such_file() -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        read_tasks(config_of("~nosuchuser/x"), [])
