"""Files of tasks: what is read, what is refused and in which words."""

import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from selftrain.errors import UsageError
from selftrain.files import write_rows
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import (
    TASKS,
    distinct,
    read_as_tasks,
    read_tasks,
    refuse_overlap,
    task_to_row,
)

KNOWN = Candidate("def g(): return 1", -3.5, 7, "1", True, 2)
UNKNOWN = Candidate("def g(): return 2", None, None, None, None)
WHOLE = Task(
    "a",
    "def f(x: int): return x == 1",
    (KNOWN, UNKNOWN),
    greedy=KNOWN,
    gold_program="def g(): return 1",
    gold_result="1",
    family="ones",
)


def task_row(**more: Any) -> dict[str, Any]:
    return {"task_id": "a", "task": "Give 1.", "candidates": [], **more}


def candidate_row(**more: Any) -> dict[str, Any]:
    return task_row(candidates=[{"program": "p", **more}])


def file_of(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def refusal(tmp_path: Path, *rows: Any, split: str | None = None) -> str:
    """Give the one sentence that a file is refused in, without the path."""
    path = file_of(tmp_path, *rows)
    with pytest.raises(UsageError) as refused:
        read_tasks(path, split)
    assert str(refused.value).startswith(str(path))
    return str(refused.value).removeprefix(f"{path}, ").removeprefix(f"{path}: ")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    tasks = [WHOLE, Task("b", "Give 2.", ())]
    write_rows(tmp_path / "tasks.jsonl", map(task_to_row, tasks))
    assert read_tasks(tmp_path / "tasks.jsonl") == tasks
    rows = json.loads(json.dumps([TASKS.to_row(task) for task in tasks]))
    assert [TASKS.from_row(row) for row in rows] == tasks


def test_what_is_null_or_absent_is_unknown(tmp_path: Path) -> None:
    nulls = dict.fromkeys(("sum_logprob", "num_tokens", "result", "label"))
    row = task_row(candidates=[{"program": "p"}, {"program": "q", **nulls}])
    (task,) = read_tasks(file_of(tmp_path, row))
    assert task.candidates == tuple(Candidate(text, None, None, None, None) for text in "pq")
    assert (task.greedy, task.gold_program, task.gold_result, task.family) == (None, None, None, "")


def test_a_gzip_file_and_other_keys_of_a_row_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(task_row(source="elsewhere")).encode()))
    assert read_tasks(path) == [Task("a", "Give 1.", ())]


def test_a_whole_number_is_a_log_probability(tmp_path: Path) -> None:
    (task,) = read_tasks(file_of(tmp_path, candidate_row(sum_logprob=-768, num_tokens=256)))
    assert task.candidates == (Candidate("p", -768.0, 256, None, None),)


def test_candidates_of_a_row_are_made_distinct(tmp_path: Path) -> None:
    twice = [{"program": "p", "num_samples": 3}, {"program": "p"}]
    (task,) = read_tasks(file_of(tmp_path, task_row(candidates=twice)))
    assert task.candidates == (Candidate("p", None, None, None, None, 4),)


PLACE = "line 1, task 'a': candidates[0]"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            candidate_row(num_tokens=True),
            f"{PLACE}.num_tokens is true. Make it a whole number from 1, or null.",
        ),
        (
            candidate_row(num_tokens=7.0),
            f"{PLACE}.num_tokens is 7.0. Make it a whole number from 1, or null.",
        ),
        (
            candidate_row(num_tokens=0),
            f"{PLACE}.num_tokens is 0. Make it a whole number from 1, or null.",
        ),
        (
            candidate_row(sum_logprob=0.25),
            f"{PLACE}.sum_logprob is 0.25. Make it a sum of log-probabilities in nats, which is "
            "never above 0, or null.",
        ),
        (
            candidate_row(sum_logprob=float("nan")),
            f"{PLACE}.sum_logprob is NaN. Make it a sum of log-probabilities in nats, which is "
            "never above 0, or null.",
        ),
        (
            candidate_row(sum_logprob="-1"),
            f'{PLACE}.sum_logprob is "-1". Make it a sum of log-probabilities in nats, which is '
            "never above 0, or null.",
        ),
        (
            candidate_row(sum_logprob=False),
            f"{PLACE}.sum_logprob is false. Make it a sum of log-probabilities in nats, which is "
            "never above 0, or null.",
        ),
        (
            candidate_row(label=-1),
            f"{PLACE}.label is -1. Make it true, false, or null where it is unknown.",
        ),
        (
            candidate_row(label=1),
            f"{PLACE}.label is 1. Make it true, false, or null where it is unknown.",
        ),
        (
            candidate_row(label=True, result="ERROR: timed_out"),
            f"{PLACE}.label is true, but its result is an error. A program that returns nothing is "
            "never right: make the label false.",
        ),
        (
            candidate_row(result=1),
            f"{PLACE}.result is 1. Make it a Python literal or 'ERROR: ...', as text, or null.",
        ),
        (
            candidate_row(num_samples=0),
            f"{PLACE}.num_samples is 0. Make it a whole number from 1 to 1,000,000.",
        ),
        (
            candidate_row(num_samples=1_000_001),
            f"{PLACE}.num_samples is 1000001. Make it a whole number from 1 to 1,000,000.",
        ),
        (
            candidate_row(sum_logprobs=-1),
            f"{PLACE}.sum_logprobs is no key of a candidate. Did you mean sum_logprob?",
        ),
        (
            candidate_row(index=0),
            f"{PLACE}.index is no key of a candidate. There is: program, sum_logprob, num_tokens, "
            "result, label, num_samples.",
        ),
        (
            candidate_row(result="\ud800"),
            f"{PLACE}.result holds half a surrogate pair, which no tokenizer reads. Leave it out.",
        ),
        (task_row(candidates=["p"]), f'{PLACE} is "p". Make it an object.'),
        (
            task_row(candidates=[{}]),
            "line 1, task 'a': there is no 'candidates[0].program'. Give the whole source, as text.",
        ),
        (
            task_row(candidates=None),
            "line 1, task 'a': candidates is null. Make it a list of objects.",
        ),
        (
            {"task_id": "a", "task": "t", "candidate": []},
            "line 1, task 'a': there is no 'candidates'. Give a list of objects.",
        ),
        (
            {"task": "t", "candidates": []},
            "line 1: there is no 'task_id'. Give text that is not blank.",
        ),
        (
            task_row(task_id=7),
            "line 1, task 7: task_id is 7. Make it text that is not blank.",
        ),
        (task_row(task=" \n"), "line 1, task 'a': task is \" \\n\". Make it text that is not blank."),
        (
            task_row(greedy={"program": "p", "label": True, "result": "ERROR: raised"}),
            "line 1, task 'a': greedy.label is true, but its result is an error. A program that "
            "returns nothing is never right: make the label false.",
        ),
        (
            task_row(gold_result="Paris"),
            "line 1, task 'a': gold_result is 'Paris', which no program can return. Write a Python "
            "literal, with quotes of its own around text.",
        ),
        (task_row(family=3), "line 1, task 'a': family is 3. Make it text, or null."),
        (
            task_row(candidates=[{"program": "p", "label": True}, {"program": "p", "label": False}]),
            "line 1, task 'a': the program 'p' is labelled both true and false. Give each text one "
            "label.",
        ),
        ([], "line 1: found a list instead of a JSON object."),
    ],
)  # fmt: skip
def test_a_row_that_is_no_task_is_refused_in_one_sentence(
    row: Any, sentence: str, tmp_path: Path
) -> None:
    assert refusal(tmp_path, row) == sentence


def test_a_log_probability_beyond_a_float_is_refused(tmp_path: Path) -> None:
    row = candidate_row(sum_logprob=-(10**400))
    assert refusal(tmp_path, row).startswith(f"{PLACE}.sum_logprob is -1000")


def test_a_task_id_that_comes_twice_is_refused(tmp_path: Path) -> None:
    rows = (task_row(split="train"), task_row(task_id="b"), task_row(split="test"))
    told = "line 3: the task_id 'a' is already on line 1. Give each task its own."
    assert refusal(tmp_path, *rows) == told


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        read_tasks(tmp_path / "tasks.jsonl")


def test_rows_of_another_format_are_held_to_the_same(tmp_path: Path) -> None:
    def as_task(row: Any, where: str) -> Any:
        return {"task_id": row["id"], "task": row["question"], "candidates": []}

    rows = [{"id": "a", "question": "How many?"}, {"id": "b", "question": " "}]
    assert read_as_tasks(file_of(tmp_path, rows[0]), None, as_task) == [
        (rows[0], Task("a", "How many?", ()))
    ]
    with pytest.raises(UsageError, match="line 2, task 'b': task is \" \""):
        read_as_tasks(file_of(tmp_path, *rows), None, as_task)


def test_of_a_file_with_splits_one_is_read(tmp_path: Path) -> None:
    rows = [task_row(task_id=f"{i}", split=("train", "dev")[i % 2]) for i in range(4)]
    path = file_of(tmp_path, *rows)
    assert [task.task_id for task in read_tasks(path, "dev")] == ["1", "3"]
    assert len(read_tasks(path)) == 4


def test_a_file_without_splits_is_read_whole(tmp_path: Path) -> None:
    path = file_of(tmp_path, task_row(task_id="a"), task_row(task_id="b", split=None))
    assert len(read_tasks(path, "dev")) == 2


def test_a_split_that_no_row_names_is_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, task_row(split="train"), split="dev")
    assert told == "no row is of the split 'dev'. There is 'train' (1)."


def test_rows_some_of_which_name_no_split_are_refused(tmp_path: Path) -> None:
    told = refusal(tmp_path, task_row(split="dev"), task_row(task_id="b"), split="dev")
    assert told == "1 rows name no 'split', and others do. Name it in each, or in none."


def test_equal_texts_are_one_candidate_of_all_their_samples() -> None:
    candidates = [
        Candidate("p", -9.0, 9, "1", None, 2),
        Candidate("q", -1.0, 3, "2", False),
        Candidate("p", None, None, None, True),
        Candidate("p", -4.0, 8, None, None, 5),
    ]
    assert distinct(candidates) == (
        Candidate("p", -4.0, 8, "1", True, 8),
        Candidate("q", -1.0, 3, "2", False),
    )


def test_of_two_results_of_one_text_that_of_the_labelled_one_stays() -> None:
    candidates = [
        Candidate("p", -1.0, 3, "ERROR: timed_out", None),
        Candidate("p", -1.0, 3, "7", True),
    ]
    assert distinct(candidates) == (Candidate("p", -1.0, 3, "7", True, 2),)


@pytest.mark.parametrize(
    ("copies", "joined"),
    [
        (
            [("p", -1.0, 9, "1", None), ("p", -1.0, 3, "2", None), ("p", -1.0, None, None, None)],
            ("p", -1.0, 3, "1", None, 3),
        ),
        (
            [("p", -1.0, 3, "7", True), ("p", -2.0, 1, "6", True), ("p", None, None, "5", None)],
            ("p", -1.0, 3, "6", True, 3),
        ),
        (
            [("p", -1.0, 3, None, True), ("p", -2.0, 1, "6", None), ("p", -2.0, 1, "9", True)],
            ("p", -1.0, 3, "9", True, 3),
        ),
    ],
)
def test_what_is_kept_of_equal_texts_does_not_depend_on_their_order(
    copies: list[Any], joined: Any
) -> None:
    for order in permutations(copies):
        assert distinct(Candidate(*one) for one in order) == (Candidate(*joined),)


def test_texts_that_differ_in_a_space_are_two_candidates() -> None:
    candidates = (Candidate("p", None, None, None, None), Candidate("p ", None, None, None, None))
    assert distinct(candidates) == candidates


def test_splits_that_share_a_task_id_are_refused() -> None:
    train = [Task("a", "1", ()), Task("b", "2", ())]
    test = [Task("c", "3", ()), Task("b", "4", ())]
    with pytest.raises(UsageError) as refused:
        refuse_overlap({"train": train, "dev": [], "test": test})
    assert str(refused.value) == (
        "train and test have 1 tasks in common, such as 'b'. Split by task, so that none is in "
        "both."
    )


def test_splits_that_share_a_text_are_refused() -> None:
    with pytest.raises(UsageError, match=r"dev and test .* such as 'a' \(the text of 'b'\)"):
        refuse_overlap({"dev": [Task("a", "1\n", ())], "test": [Task("b", "1", ())]})


F = "def f(x: int, n=3):\n    return x == n"


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("2 + 2", "2  + 2"),
        ("2 +\n2", "2 +\r\n\t2 "),
        ("caf\u00e9", "cafe\u0301"),
        ("2 + 2", "\ufeff2 +\u200b 2"),
        (F, F.replace("\n", "\r\n")),
        (F, F.replace("    ", "\t")),
        (F, "\ufeff" + F + "  # easy"),
        (F, F.replace("x", "y").replace("n=", "m=").replace("== n", "== m")),
        (F, F.replace("\n", '\n    """Find n."""\n', 1)),
    ],
)
def test_splits_that_share_a_task_in_another_spelling_are_refused(text: str, twin: str) -> None:
    with pytest.raises(UsageError, match=r"train and test .* such as 'a' \(the text of 'b'\)"):
        refuse_overlap({"train": [Task("a", text, ())], "test": [Task("b", twin, ())]})


def test_splits_whose_puzzles_differ_in_a_number_pass() -> None:
    other = F.replace("3", "4")
    refuse_overlap({"train": [Task("a", F, ())], "test": [Task("b", other, ())]})


def test_splits_that_share_nothing_pass_whatever_repeats_within_one() -> None:
    train = [Task("a", "1", ()), Task("b", "1", ())]
    refuse_overlap({"train": train, "dev": [Task("c", "2", ())], "test": [Task("d", "3", ())]})
