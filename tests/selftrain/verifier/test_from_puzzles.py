"""Tasks of puzzles: f's verdict is the label, and nothing else of a task tells of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedSampler, few_held_out

from judge import Limits
from puzzles import Puzzle, puzzle_from_source, to_row
from selftrain.config import JudgeConfig
from selftrain.errors import UsageError
from selftrain.evaluate import Evaluation
from selftrain.files import Row, write_json, write_rows
from selftrain.judge import Judging
from selftrain.run_directory import RunDirectory
from selftrain.solve import Attempts
from selftrain.verifier.tasks.from_puzzles import (
    finish,
    puzzle_of,
    result_of_judged,
    sample_puzzles,
    tasks_of_rows,
)
from selftrain.verifier.tasks.results import is_error
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.tried_puzzles import named_of_run

JUDGING = Judging(Limits(fuel=1_000_000_000), "strict", False, JudgeConfig(num_workers=1))
PUZZLE = puzzle_from_source("def f(x: int, n=3):\n    return x == n", name="three", family="is")


def row(index: int, g: str | None, **said: Any) -> Row:
    return {
        "puzzle_id": PUZZLE.id,
        "f": PUZZLE.f,
        "more_inputs": [],
        "index": index,
        "text": "\n    return (\nassert" if g is None else f"{g.partition(':')[2]}\n\nassert",
        "finish_reason": "stop",
        "num_tokens": 9,
        "sum_logprob": -float(index + 2),
        "g": g,
        "outcome": "wrong_answer",
        "passed": False,
        "answer": None,
        "detail": "",
        "fuel": 1,
        **said,
    }


ROWS = [
    row(0, "def g(n=3):\n    return n", outcome="passed", passed=True, answer="3"),
    row(1, "def g(n=3):\n    return 4", answer="4"),
    row(2, "def g(n=3):\n    return n", outcome="passed", passed=True, answer="3"),
    row(3, None, outcome="syntax", detail="it does not parse"),
    row(4, "def g(n=3):\n    return '3'", outcome="wrong_type", answer="'3'"),
    row(5, "def g(n=3):\n    return g", outcome="wrong_type", detail="function is no plain data"),
    row(6, "def g(n=3):\n    return 1 / 0", outcome="raised", detail="ZeroDivisionError: division"),
    row(7, "def g(n=3):\n    while 1: pass", outcome="timed_out"),
    row(-1, "def g(n=3):\n    return 3", outcome="passed", passed=True, answer="3"),
]


def task_of(rows: list[Row], puzzle: Puzzle = PUZZLE) -> Task:
    (task,) = tasks_of_rows([("t", puzzle, rows)], JUDGING)
    return task


def without_labels(task: Task) -> Task:
    greedy = task.greedy and replace(task.greedy, label=None)
    candidates = tuple(replace(one, label=None) for one in task.candidates)
    return replace(task, candidates=candidates, greedy=greedy)


def test_equal_programs_are_one_candidate_with_the_likelier_sum() -> None:
    first = task_of(ROWS).candidates[0]
    assert first == Candidate("def g(n=3):\n    return n", -2.0, 9, "3", True, num_samples=2)


def test_the_greedy_row_stands_apart() -> None:
    task = task_of(ROWS)
    assert task.greedy is not None and task.greedy.program == "def g(n=3):\n    return 3"
    assert all(one.program != task.greedy.program for one in task.candidates)


def test_a_choice_at_random_is_right_as_often_as_pass_at_1_says() -> None:
    task = task_of(ROWS)
    assert sum(one.num_samples for one in task.candidates) == 8
    assert sum(one.num_samples for one in task.candidates if one.label) == 2


def test_results_say_what_g_did() -> None:
    results = [one.result for one in task_of(ROWS).candidates]
    assert results == [
        "3",
        "4",
        "ERROR: syntax_error: it does not parse",
        "'3'",
        "ERROR: wrong_type: function is no plain data",
        "ERROR: raised: ZeroDivisionError: division",
        "ERROR: timed_out",
    ]


@pytest.mark.parametrize(
    "outcome", ["wrong_answer", "f_raised", "f_timed_out", "wrong_type", "flaky", "passed"]
)
def test_an_answer_is_the_result_whatever_f_said_of_it(outcome: str) -> None:
    assert result_of_judged(outcome, "[1]", "what f said of it") == "[1]"


def test_a_completion_without_a_definition_has_its_reason_for_a_result() -> None:
    said = result_of_judged("no_definition", None, "more than one statement")
    assert said == "ERROR: no_g: no_definition: more than one statement"


def test_a_completion_without_a_g_is_a_program_under_the_head() -> None:
    assert task_of(ROWS).candidates[2].program == "def g(n=3):\n    return ("


def flipped(one: Row) -> Row:
    """Turn f's verdict around, where f was asked at all."""
    if one["outcome"] == "passed":
        return {**one, "outcome": "wrong_answer", "passed": False, "detail": "f returned False"}
    if one["answer"] is not None:
        return {**one, "outcome": "passed", "passed": True, "detail": ""}
    return one


def test_flipping_every_hidden_verdict_changes_labels_alone() -> None:
    before, after = task_of(ROWS), task_of([flipped(one) for one in ROWS])
    assert [one.label for one in before.candidates] != [one.label for one in after.candidates]
    assert repr(without_labels(before)).encode() == repr(without_labels(after)).encode()


def test_of_a_puzzle_with_more_inputs_the_result_is_that_on_the_first() -> None:
    # The verdict's own answer is that on the inputs where f failed, which tells how far it went.
    puzzle = puzzle_from_source(
        "def f(x: int, n=3):\n    return x == 2 * n", name="double", more_inputs=("n=5",)
    )
    g = "def g(n=3):\n    return 6"
    said = row(0, g, f=puzzle.f, answer="6", detail="on inputs 2: False", more_inputs=["n=5"])
    by_n = row(1, "def g(n=3):\n    return n + 3", answer="8", detail="on inputs 2: False")
    assert [one.result for one in task_of([said, by_n], puzzle).candidates] == ["6", "6"]
    raises = row(2, "def g(n=3):\n    return 6 // (5 - n)", outcome="raised", detail="on inputs 2")
    assert task_of([raises], puzzle).candidates[0].result == "3"


@pytest.mark.parametrize(
    ("gold", "result"), [("return n + 1", "4"), ("return n", "3"), ("return 1 // 0", None)]
)
def test_a_gold_result_is_what_the_reference_returns_and_the_checker_is_not_asked(
    gold: str, result: str | None
) -> None:
    g = f"def g(n=3):\n    {gold}"
    task = task_of(ROWS, replace(PUZZLE, solutions=(g,), more_inputs=("n=5",)))
    assert (task.gold_program, task.gold_result) == (g if result else None, result)


def test_finish_judges_a_gold_program_and_keeps_a_gold_result() -> None:
    right, wrong = "def g(n=3):\n    return n", "def g(n=3):\n    return 4"
    tasks = [Task(g, PUZZLE.f, (), gold_program=g) for g in (right, wrong)]
    told = Task("told", PUZZLE.f, (), gold_program=wrong, gold_result="4")
    assert finish([*tasks, told], JUDGING) == [
        replace(tasks[0], gold_result="3"),
        replace(tasks[1], gold_program=None),
        told,
    ]


def test_equal_programs_with_errors_in_other_words_are_one_candidate() -> None:
    g = "def g(n=3):\n    return [0] * n"
    rows = [row(i, g, outcome="raised", detail=f"E: {i}") for i in range(2)]
    (one,) = task_of(rows).candidates
    assert one.result == "ERROR: raised: E: 0" and one.num_samples == 2


def test_sampled_puzzles_have_all_samples_and_a_greedy_one() -> None:
    samples = Attempts(6, 0.9, 80, (), 0, ("lever",))
    evaluation = Evaluation(samples, replace(samples, count=1, temperature=0.0), JUDGING)
    puzzles = few_held_out()[:2]
    tasks = sample_puzzles(ScriptedSampler(), puzzles, evaluation, advance=lambda _: None)
    assert [task.task_id for task in tasks] == [puzzle.name for puzzle in puzzles]
    for task, puzzle in zip(tasks, puzzles, strict=True):
        assert sum(one.num_samples for one in task.candidates) == 6
        assert task.greedy is not None
        assert task.gold_program == puzzle.solutions[0] and task.family == puzzle.family
        assert task.gold_result is not None and not is_error(task.gold_result)
        assert not any(one.label for one in task.candidates if is_error(one.result))


def test_finish_fills_what_is_not_known_and_nothing_else() -> None:
    right, wrong = "def g(n=3):\n    return n", "def g(n=3):\n    return 1 // 0"
    given = Candidate("def g(n=3):\n    return 8", -1.0, 3, "'as given'", True)
    unknown = [Candidate(text, None, None, None, None) for text in (right, wrong)]
    (task,) = finish([Task("t", PUZZLE.f, (given, *unknown))], JUDGING)
    assert task.candidates[0] == given
    assert [one.label for one in task.candidates[1:]] == [True, False]
    assert task.candidates[1].result == "3"
    assert (task.candidates[2].result or "").startswith("ERROR: raised: ZeroDivisionError")


def test_a_text_that_is_no_f_is_no_puzzle() -> None:
    assert puzzle_of(Task("t", "How many legs has a spider?", ())) is None


def write_run(folder: Path) -> Path:
    """Write two complete rounds, which share a puzzle, and their evaluations."""
    directory = RunDirectory(folder)
    for number in range(3):
        here = directory.round(number)
        if number:
            write_rows(here.puzzles, [to_row(PUZZLE)])
            write_rows(
                here.candidates, [row(number, f"def g(n=3):\n    return {number}", answer="0")]
            )
        g = f"def g(n=3):\n    return {10 + number}"
        write_rows(
            here.evaluation_candidates, [{"name": "held", **row(i, g, answer="0")} for i in (0, -1)]
        )
        write_rows(here.evaluation, [{"name": "held", "family": "is"}])
        write_json(here.metrics, {})
    return folder


def test_a_run_gives_its_own_puzzles_and_the_last_rounds_evaluation(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    (own,) = tasks_of_rows(named_of_run(folder, held_out=False), JUDGING)
    assert own.task_id == f"round-001/{PUZZLE.id}"
    assert [one.program for one in own.candidates] == ["def g(n=3):\n    return 1"]
    (held_out,) = tasks_of_rows(named_of_run(folder, held_out=True), JUDGING)
    assert (held_out.task_id, held_out.family) == ("held", "is")
    assert held_out.greedy is not None and held_out.greedy.program.endswith("return 12")


def test_a_folder_without_a_round_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no complete round"):
        named_of_run(tmp_path, held_out=True)


ASKING = [
    "def g(n=3):\n    assert f(3, n)\n    return 3",
    "def g(n=3):\n    for i in range(9):\n        if f(i, n):\n            return i",
    "def g(n=3):\n    try:\n        return f(3, n)\n    except Exception as error:\n"
    "        return str(error)",
    "def g(n=3):\n    return int(eval('f')(3, n))",
    "def g(n=3):\n    return int(globals()['f'](3, n))",
    "def g(n=3):\n    return int(g.__globals__[chr(102)](3, n))",
    "def g(n=3):\n    import sys\n    return int(sys._getframe().f_globals[chr(102)](3, n))",
]


def results_beside(f: str, more_inputs: tuple[str, ...]) -> list[str | None]:
    """Give what becomes of asking programs: judged by an evaluation, judged late, and as gold."""
    puzzle = puzzle_from_source(f, name="t", more_inputs=more_inputs)
    verdicts = JUDGING.judge([(puzzle.f, g) for g in ASKING])
    rows = [
        row(i, g, outcome=v.outcome, passed=v.passed, answer=v.answer, detail=v.detail)
        for i, (g, v) in enumerate(zip(ASKING, verdicts, strict=True))
    ]
    late = [Candidate(g, None, None, None, None) for g in ASKING]
    tasks = [task_of(rows, puzzle), *finish([Task("t", puzzle.f, tuple(late))], JUDGING)]
    tasks += [task_of([], replace(puzzle, solutions=(g,))) for g in ASKING]
    return [one.result for t in tasks for one in t.candidates] + [t.gold_result for t in tasks]


@pytest.mark.parametrize("more_inputs", [(), ("n=5",)])
def test_a_program_that_asks_f_has_the_same_result_whatever_f_says(
    more_inputs: tuple[str, ...],
) -> None:
    is_n = results_beside("def f(x: int, n=3):\n    return x == n", more_inputs)
    is_not_n = results_beside("def f(x: int, n=3):\n    return x != n", more_inputs)
    assert repr(is_n).encode() == repr(is_not_n).encode()
    assert is_n[0] == "ERROR: raised: NameError: name 'f' is not defined"


def test_the_label_of_a_program_that_asks_f_is_the_judges() -> None:
    right = Candidate(ASKING[0], None, None, None, None)
    (task,) = finish([Task("t", PUZZLE.f, (right,))], JUDGING)
    assert task.candidates[0].label is True


@pytest.mark.parametrize(
    "g", ["def g(n=3):\n    return [_ for _ in range(n)]", "def g(n=3):\n    return f'{n}'"]
)
def test_a_program_that_names_no_f_keeps_the_result_it_was_judged_by(g: str) -> None:
    assert task_of([row(0, g, answer="'as judged'")]).candidates[0].result == "'as judged'"
