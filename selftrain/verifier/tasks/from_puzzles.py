"""Tasks out of puzzles, the checker withheld: what a verifier is shown of a run's own candidates.

f is the task, g the program, what g returned the result, and f's verdict the label, which reaches
nothing else here: a result tells what g did, never what f said of it, not even to g (withheld.py).
With f at hand there would be nothing to rank, so what is measured on these tasks says so. How a
sampler draws and a judge judges is not known here.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from judge import Outcome
from puzzles import Puzzle, PuzzleError, Reason, Rejection, puzzle_from_source
from puzzles.cut import cut_solution
from selftrain.evaluate import GREEDY, Evaluation, evaluate
from selftrain.files import Row
from selftrain.judge import Judging
from selftrain.prompts import solve_head, solve_prompt
from selftrain.sampling import Sampler
from selftrain.verifier.tasks.candidates import Wording, everyone, with_candidates, with_gold
from selftrain.verifier.tasks.execute import run_all
from selftrain.verifier.tasks.results import error_of
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import distinct
from selftrain.verifier.tasks.withheld import may_ask, withheld

END = "\n\nassert"
"""What follows a solution in a prompt to solve, so that it ends there."""
_COLUMN_ZERO = re.compile(r"\n(?=\S)")
Named = tuple[str, Puzzle, Sequence[Row]]
"""A task's id, its puzzle, and the rows of its candidates."""


def result_of_judged(outcome: str, answer: str | None, detail: str) -> str:
    """Say what g did: its answer, whatever f made of it, or how g failed to give one.

    Where there is no answer f was never asked about one, so that outcome and detail are g's own. A
    completion that no g could be cut from has the reason for its outcome.
    """
    if answer is not None:
        return answer
    if outcome == Reason.SYNTAX:
        return error_of(Outcome.syntax_error, detail)
    if outcome in list(Outcome):
        return error_of(outcome, detail)
    return error_of(Outcome.no_g, f"{outcome}: {detail}")


def tasks_of_rows(named: Sequence[Named], judging: Judging) -> list[Task]:
    """Make a task a puzzle of the rows of `judged_to_row`; those of index -1 are greedy.

    A completion without a g stays, as a program that errs: whoever draws n samples has it among
    them, and so a choice at random is right as often as Pass@1 says. A puzzle with more inputs has
    verdicts that tell how far f went, so its programs are executed anew on the first inputs, as the
    gold programs are, and those that might ask f. Raises `judge.JudgeError`.
    """
    again = [
        (row["g"], puzzle.f)
        for _, puzzle, rows in named
        for row in rows
        if row["g"] is not None and (puzzle.more_inputs or may_ask(row["g"]))
    ]
    golds = [(g, puzzle.f) for _, puzzle, _ in named for g in puzzle.solutions[:1]]
    known = run_unchecked([*again, *golds], judging)
    return [_task(task_id, puzzle, rows, known) for task_id, puzzle, rows in named]


def run_unchecked(
    programs: Sequence[tuple[str, str]], judging: Judging
) -> dict[tuple[str, str], str]:
    """Run each (g, f) once on the inputs of f, which it cannot ask."""
    distinct_ones = list(dict.fromkeys(programs))
    results = run_all([(g, withheld(f)) for g, f in distinct_ones], judging)
    return dict(zip(distinct_ones, results, strict=True))


def _task(
    task_id: str, puzzle: Puzzle, rows: Sequence[Row], known: Mapping[tuple[str, str], str]
) -> Task:
    # Where attempts were screened together, the words of an error may depend on those before it.
    results: dict[str, str] = {}
    candidates = [(row["index"], _candidate(puzzle, row, known, results)) for row in rows]
    task = bare_task(puzzle, task_id)
    return replace(
        with_gold(task, known.get((task.gold_program or "", puzzle.f))),
        candidates=distinct(one for index, one in candidates if index != GREEDY),
        greedy=next((one for index, one in candidates if index == GREEDY), None),
    )


def _candidate(
    puzzle: Puzzle, row: Row, known: Mapping[tuple[str, str], str], results: dict[str, str]
) -> Candidate:
    """Take a row's program and result, the first of its text; of f's verdict the label alone."""
    program = _text(puzzle, row["text"]) if row["g"] is None else row["g"]
    result = known.get((row["g"], puzzle.f))
    if result is None:
        result = result_of_judged(row["outcome"], row["answer"], row["detail"])
    return Candidate(
        program=program,
        sum_logprob=row["sum_logprob"],
        # A mean is taken over them; none is drawn where a prompt is too long.
        num_tokens=max(1, row["num_tokens"]),
        result=results.setdefault(program, result),
        label=row["passed"],
    )


def _text(puzzle: Puzzle, completion: str) -> str:
    """Give what a completion without a g went on to say under the head, to where it left it."""
    return _COLUMN_ZERO.split(solve_head(puzzle) + completion, maxsplit=1)[0].rstrip()


def bare_task(puzzle: Puzzle, task_id: str = "") -> Task:
    """Make the task of a puzzle, without candidates; its first reference solution is the gold."""
    return Task(
        task_id=task_id or puzzle.name,
        task=puzzle.f,
        candidates=(),
        gold_program=next(iter(puzzle.solutions), None),
        family=puzzle.family,
    )


def wording(puzzle: Puzzle, few_shot: Sequence[Puzzle] = ()) -> Wording:
    """Word a puzzle as a prompt to solve it does."""
    head = solve_head(puzzle)
    return Wording(solve_prompt(puzzle, few_shot), partial(cut_g, head), head, END)


def cut_g(head: str, completion: str) -> str | None:
    """Cut a g out of what follows its head; None where there is none."""
    g = cut_solution(head, completion)
    return None if isinstance(g, Rejection) else g


def sample_puzzles(
    sampler: Sampler,
    puzzles: Sequence[Puzzle],
    evaluation: Evaluation,
    *,
    advance: Callable[[int], object],
) -> list[Task]:
    """Try puzzles as they are tried in an evaluation, a greedy attempt included; give their tasks.

    `advance` is told of each sample drawn. Raises `judge.JudgeError`.
    """
    rows = evaluate(sampler, puzzles, evaluation, advance=advance)
    size = evaluation.samples.count + 1
    named = [(p.name, p, rows[i * size : (i + 1) * size]) for i, p in enumerate(puzzles)]
    return tasks_of_rows(named, evaluation.judging)


def puzzle_of(task: Task) -> Puzzle | None:
    """Read the puzzle whose f is a task's text; None where the text is no f."""
    try:
        return puzzle_from_source(task.task, name=task.task_id, family=task.family, any_answer=True)
    except PuzzleError:
        return None


def finish(tasks: Sequence[Task], judging: Judging) -> list[Task]:
    """Judge the candidates whose result or label is missing, and gold programs without a result.

    The task's text is their f; what is there stays. Raises `judge.JudgeError`.
    """
    asked = [(task.task, one.program) for task in tasks for one in everyone(task) if _is_open(one)]
    asked += [
        (t.task, t.gold_program)
        for t in tasks
        if t.gold_program is not None and t.gold_result is None
    ]
    verdicts = dict(zip(asked, judging.judge(asked), strict=True))
    known = run_unchecked([(g, f) for f, g in asked if may_ask(g)], judging)

    def result(task: Task, program: str) -> str:
        v = verdicts[task.task, program]
        judged = result_of_judged(v.outcome, v.answer, v.detail)
        return known.get((program, task.task), judged)

    def finished(task: Task, one: Candidate) -> Candidate:
        if not _is_open(one):
            return one
        passed = verdicts[task.task, one.program].passed
        return replace(
            one,
            result=result(task, one.program) if one.result is None else one.result,
            label=passed if one.label is None else one.label,
        )

    def golden(task: Task) -> Task:
        if task.gold_program is None or task.gold_result is not None:
            return task
        is_right = verdicts[task.task, task.gold_program].passed
        return with_gold(task, result(task, task.gold_program), is_right=is_right)

    return [with_candidates(golden(task), finished) for task in tasks]


def _is_open(one: Candidate) -> bool:
    return one.result is None or one.label is None
