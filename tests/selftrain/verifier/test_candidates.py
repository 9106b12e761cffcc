"""Candidates of tasks: drawn where there are none, executed, labelled, whatever the source."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import ScriptedSampler, few_held_out, few_train, write_puzzles

from puzzles.builtin.read import read_builtin
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.errors import UsageError
from selftrain.files import write_rows
from selftrain.solve import Attempts
from selftrain.verifier.tasks.candidates import Wording, draw
from selftrain.verifier.tasks.outline import Outline, digest, split_outline
from selftrain.verifier.tasks.sources import complete, outline, outlines, refuse_overlapping
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import TASKS

ATTEMPTS = Attempts(8, 0.9, 40, (), 0, ("lever",))
F = few_train()[0].f
FUEL = "judge.evaluation_fuel=1000000000"


def draw_with_seed(seed: int) -> Task:
    asked = Task("t", F, ()), Wording(f"{F}\n\ndef g():", lambda text: text.strip() or None)
    attempts = Attempts(8, 0.9, 40, (), seed, ("lever",))
    (task,) = draw(ScriptedSampler(), [asked], attempts, advance=lambda _: None)
    return task


def test_equal_samples_are_one_candidate_and_none_is_lost() -> None:
    task = draw_with_seed(0)
    texts = [one.program for one in task.candidates]
    assert len(set(texts)) == len(texts)
    assert sum(one.num_samples for one in task.candidates) == 8
    assert task.greedy is not None and task.greedy.num_samples == 1


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    assert draw_with_seed(1) == draw_with_seed(1)
    assert draw_with_seed(1) != draw_with_seed(2)


def test_a_completion_without_a_program_stays_a_sample() -> None:
    asked = Task("t", F, ()), Wording(f"{F}\n\ndef g():", lambda _: None)
    (task,) = draw(ScriptedSampler(), [asked], ATTEMPTS, advance=lambda _: None)
    assert sum(one.num_samples for one in task.candidates) == 8


def config(tmp_path: Path, *settings: str) -> Config:
    """Name small files of puzzles; a second of work is enough for them."""
    train = write_puzzles(tmp_path / "train.jsonl", few_train())
    held_out = write_puzzles(tmp_path / "held_out.jsonl", few_held_out())
    here = (f"puzzles.train={train}", f"puzzles.held_out={held_out}", "judge.num_workers=1", FUEL)
    return load_config(None, [*here, "lever.num_samples=4", "solve.num_few_shot=0", *settings])


def completed(whole: Outline, c: Config, items: Sequence[Task] | None = None) -> list[Task]:
    items = whole.items if items is None else items
    return complete(whole, items, c, ScriptedSampler(), advance=lambda _: None)


def test_puzzles_do_not_depend_on_how_they_are_sliced(tmp_path: Path) -> None:
    c = config(tmp_path)
    whole = outline("puzzles", "test", c)
    one_by_one = [task for item in whole.items for task in completed(whole, c, [item])]
    assert one_by_one == completed(whole, c)
    assert whole.needs_model and whole.num_units(3) == 15


def test_a_puzzle_that_a_prompt_shows_solved_is_no_task(tmp_path: Path) -> None:
    c = config(tmp_path, "solve.num_few_shot=2")
    whole = outline("puzzles", "train", c)
    assert len(whole.few_shot) == 2
    assert not {p.name for p in whole.few_shot} & {task.task_id for task in whole.items}
    assert len(whole.items) == len(few_train()) - 2


def test_dev_is_whole_families_of_the_train_tasks(tmp_path: Path) -> None:
    c = config(tmp_path, "lever.num_dev=5")
    there = outlines(c)
    train = {task.family for task in there["train"].items}
    dev = {task.family for task in there["dev"].items}
    assert len(there["dev"].items) >= 5 and not train & dev
    whole = outline("puzzles", "train", c)
    assert [*split_outline(whole, 5, 0)] == [there["train"], there["dev"]]
    assert len(whole.items) == len(there["train"].items) + len(there["dev"].items)


def test_dev_may_be_single_tasks_of_families_that_are_learnt_from(tmp_path: Path) -> None:
    puzzles = write_puzzles(tmp_path / "all.jsonl", read_builtin("train")[:24])
    there = outlines(
        config(tmp_path, f"puzzles.train={puzzles}", "lever.num_dev=5", "lever.dev_families=shared")
    )
    assert len(there["dev"].items) == 5
    train = {task.family for task in there["train"].items}
    assert [task.family in train for task in there["dev"].items].count(True) > 0


def test_splits_that_overlap_are_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    same = f"lever.test={task_file(tmp_path)}"
    apart = tmp_path / "others.jsonl"
    write_rows(apart, map(TASKS.to_row, [Task("new", f" {F}", ()), Task("other", "?", ())]))
    c = config(tmp_path, f"lever.train={tmp_path / 'tasks.jsonl'}", "lever.num_dev=1", same)
    with pytest.raises(UsageError, match=r"train and test have 3 tasks in common, such as"):
        refuse_overlapping(outlines(c))
    by_text = {"train": outline("puzzles", "train", c), "test": outline(str(apart), "test", c)}
    with pytest.raises(UsageError, match=r"1 tasks in common, such as .* \(the text of 'new'\)"):
        refuse_overlapping({"train": by_text["train"], "test": by_text["test"]})
    refuse_overlapping(outlines(config(tmp_path, "lever.num_dev=5")))


def test_dev_that_leaves_nothing_to_learn_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"lever\.num_dev is 500, which leaves none"):
        outlines(config(tmp_path, "lever.num_dev=500"))


def task_file(tmp_path: Path) -> Path:
    """Write a puzzle without candidates, a question with a gold result, and a judged candidate."""
    puzzle, other = few_train()[:2]
    answer = Candidate("def g():\n    return 6 * 7.0", -1.0, 4, None, None)
    given = Candidate(other.solutions[0], -2.0, 9, "'as given'", None)
    tasks = [
        Task("bare", puzzle.f, ()),
        Task("question", "What is 6 times 7?", (answer,), gold_result="42"),
        Task("open", "Who knows?", (answer,)),
        Task("puzzle", other.f, (given,)),
    ]
    write_rows(tmp_path / "tasks.jsonl", map(TASKS.to_row, tasks))
    return tmp_path / "tasks.jsonl"


def test_a_task_file_is_completed_where_it_says_nothing(tmp_path: Path) -> None:
    c = config(tmp_path)
    whole = outline(str(task_file(tmp_path)), "test", c)
    bare, question, open_, puzzle = completed(whole, c)
    assert sum(one.num_samples for one in bare.candidates) == 4
    assert all(one.result is not None and one.label is not None for one in bare.candidates)
    assert (question.candidates[0].result, question.candidates[0].label) == ("42.0", True)
    assert (open_.candidates[0].result, open_.candidates[0].label) == ("42.0", None)
    assert (puzzle.candidates[0].result, puzzle.candidates[0].label) == ("'as given'", True)


def test_humaneval_is_sampled_run_and_labelled(tmp_path: Path) -> None:
    row = {
        "task_id": "one/1",
        "prompt": 'def double(n):\n    """Double it."""\n',
        "entry_point": "double",
        "test": "def check(candidate):\n    assert candidate(2) == 4\n",
        "canonical_solution": "    return 2 * n\n",
    }
    path = tmp_path / "functions.jsonl"
    given = {"program": "    return n + n\n"}
    wrong = {"program": "    return n * n * n\n"}
    path.write_text(json.dumps({**row, "candidates": [given, wrong]}) + "\n", encoding="utf-8")
    c = config(tmp_path)
    (task,) = completed(outline(f"humaneval:{path}", "test", c), c)
    assert [one.label for one in task.candidates] == [True, False]


def test_questions_are_run_and_labelled(tmp_path: Path) -> None:
    row = {
        "task_id": "legs",
        "question": "How many legs have 3 spiders?",
        "language": "python",
        "gold_result": "24",
        "candidates": [{"program": "answer = 3 * 8"}, {"program": "answer = 3 * 6"}],
    }
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    c = config(tmp_path)
    whole = outline(f"questions:{path}", "test", c)
    assert not whole.needs_model
    (task,) = completed(whole, c)
    assert [(one.result, one.label) for one in task.candidates] == [("24", True), ("18", False)]


def test_a_source_that_is_none_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"there is no file 'humaneva'\. A source is puzzles, run:"
    ):
        outline("humaneva", "test", config(tmp_path))


def test_a_server_is_not_asked_how_likely_a_program_is(tmp_path: Path) -> None:
    server = ("lever.logprobs=model", "model.server=http://localhost:1/v1", "model.name=m")
    with pytest.raises(UsageError, match=r"lever\.logprobs: m lies on"):
        outline(str(task_file(tmp_path)), "test", config(tmp_path, *server))


def test_a_digest_tells_other_tasks_apart(tmp_path: Path) -> None:
    c = config(tmp_path)
    whole = outline(str(task_file(tmp_path)), "test", c)
    again = outline(str(task_file(tmp_path)), "test", c)
    assert digest(whole) == digest(again)
    assert digest(whole) != digest(replace(whole, items=whole.items[1:]))


def test_a_digest_tells_another_database_of_the_same_name_apart(tmp_path: Path) -> None:
    row = {"task_id": "a", "question": "?", "language": "sql", "database": "a.sqlite"}
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({**row, "context": "the same"}) + "\n", encoding="utf-8")
    digests = []
    for value in (1, 1, 2):
        (tmp_path / "a.sqlite").unlink(missing_ok=True)
        with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database, database:
            database.execute("CREATE TABLE t (a INT)")
            database.execute("INSERT INTO t VALUES (?)", (value,))
        digests.append(digest(outline(f"questions:{path}", "test", config(tmp_path))))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(("gold", "known"), [("return 42", True), ("return 1 / 0", False)])
def test_a_gold_program_of_a_task_file_gives_the_result_or_is_none(
    tmp_path: Path, gold: str, known: bool
) -> None:
    program = f"def g():\n    {gold}"
    given = (
        Candidate("def g():\n    return 42.0", None, None, None, None),
        Candidate("", None, None, None, None),
    )
    task = Task("t", "What is 6 times 7?", given, gold_program=program)
    write_rows(tmp_path / "gold.jsonl", [TASKS.to_row(task)])
    c = config(tmp_path)
    (done,) = completed(outline(str(tmp_path / "gold.jsonl"), "test", c), c)
    assert (done.gold_program, done.gold_result) == ((program, "42") if known else (None, None))
    assert [one.label for one in done.candidates] == ([True, False] if known else [None, None])


def test_a_model_tells_log_probabilities_where_it_is_asked_to(tmp_path: Path) -> None:
    c = config(tmp_path, "lever.logprobs=model", "model.device=cpu")
    whole = outline(str(task_file(tmp_path)), "test", c)
    (task,) = completed(whole, c, whole.items[1:2])
    (one,) = task.candidates
    assert one.sum_logprob is not None and one.sum_logprob < -1 and one.num_tokens != 4
    whole.release()
