"""Tasks out of a task file: what its rows leave open is drawn, run and labelled here.

A task whose text is a puzzle's f is tried and judged as one. Any other is one of a program: the
source of a `g` without parameters, run alone and right where its result is the gold result, which a
gold program may give; without one its label stays unknown.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from selftrain.judge import Judging
from selftrain.verifier.tasks import from_puzzles
from selftrain.verifier.tasks.candidates import Wording, everyone, with_candidates, with_gold
from selftrain.verifier.tasks.execute import run_all
from selftrain.verifier.tasks.from_puzzles import END, cut_g, puzzle_of
from selftrain.verifier.tasks.results import same_value
from selftrain.verifier.tasks.task import Candidate, Task

HEAD = "def g():"
"""Head of the program that a task asks for which is no puzzle."""


def finish(tasks: Sequence[Task], judging: Judging) -> list[Task]:
    """Give each candidate a result, and a label where that is possible; what is there stays.

    Raises `judge.JudgeError`.
    """
    puzzles = [task for task in tasks if puzzle_of(task)]
    others = [task for task in tasks if not puzzle_of(task)]
    done = [*from_puzzles.finish(puzzles, judging), *finish_by_gold(others, judging)]
    by_id = {task.task_id: task for task in done}
    return [by_id[task.task_id] for task in tasks]


def wording(task: Task) -> Wording:
    """Word a task that is no puzzle as its text, and the head of a g."""
    puzzle = puzzle_of(task)
    if puzzle is not None:
        return from_puzzles.wording(puzzle)
    return Wording(f"{task.task}\n\n{HEAD}", partial(cut_g, HEAD), HEAD, END)


def finish_by_gold(tasks: Sequence[Task], judging: Judging) -> list[Task]:
    """Run the candidates without a result, and compare with the gold result where there is one.

    A gold program gives it where it is missing. Raises `judge.JudgeError`.
    """
    unknown = [one.program for t in tasks for one in everyone(t) if one.result is None]
    unknown += [t.gold_program for t in tasks if t.gold_program and t.gold_result is None]
    programs = list(dict.fromkeys(unknown))
    results = run_all([(program, None) for program in programs], judging)
    known = dict(zip(programs, results, strict=True))

    def finished(task: Task, one: Candidate) -> Candidate:
        result = known[one.program] if one.result is None else one.result
        label = one.label
        if label is None and task.gold_result is not None:
            label = same_value(result, task.gold_result)
        return replace(one, result=result, label=label)

    golden = [with_gold(task, known.get(task.gold_program or "")) for task in tasks]
    return [with_candidates(task, finished) for task in golden]
