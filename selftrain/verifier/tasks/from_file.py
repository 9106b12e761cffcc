"""Tasks out of a task file: what its rows leave open is drawn, run and labelled here.

A task whose text is a puzzle's f is tried and judged as one. Any other is one of a program: the
source of a `g` without parameters, run alone and right where its result is the gold result; without
a gold result its label stays unknown.
"""

from collections.abc import Sequence
from dataclasses import replace

from puzzles import Rejection
from puzzles.cut import cut_solution
from selftrain.judge import Judging
from selftrain.prompts import solve_head, solve_prompt
from selftrain.verifier.tasks import from_puzzles
from selftrain.verifier.tasks.candidates import Asked, everyone, with_candidates
from selftrain.verifier.tasks.execute import run_all
from selftrain.verifier.tasks.from_puzzles import puzzle_of
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


def asked(task: Task) -> Asked:
    """Say how a sampler is asked a task: its text, and the head of a g."""
    puzzle = puzzle_of(task)
    head = HEAD if puzzle is None else solve_head(puzzle)
    prompt = f"{task.task}\n\n{HEAD}" if puzzle is None else solve_prompt(puzzle)

    def cut(completion: str) -> str | None:
        g = cut_solution(head, completion)
        return None if isinstance(g, Rejection) else g

    return Asked(task, prompt, cut)


def finish_by_gold(tasks: Sequence[Task], judging: Judging) -> list[Task]:
    """Run the candidates without a result, and compare with the gold result where there is one.

    Raises `judge.JudgeError`.
    """
    unknown = [one.program for t in tasks for one in everyone(t) if one.result is None]
    programs = list(dict.fromkeys(unknown))
    results = run_all([(program, None) for program in programs], judging)
    known = dict(zip(programs, results, strict=True))

    def finished(task: Task, one: Candidate) -> Candidate:
        result = known[one.program] if one.result is None else one.result
        label = one.label
        if label is None and task.gold_result is not None:
            label = same_value(result, task.gold_result)
        return replace(one, result=result, label=label)

    return [with_candidates(task, finished) for task in tasks]
