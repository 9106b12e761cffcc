"""Tasks out of puzzles, the checker withheld: what a verifier is shown of a run's own candidates.

f is the task, g the program, what g returned the result, and f's verdict the label, which reaches
nothing else here: a result tells what g did, never what f said of it. With f at hand there would be
nothing to rank, so what is measured on these tasks says so. How a sampler draws and a judge judges
is not known here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Literal

from judge import Outcome
from puzzles import Puzzle, PuzzleError, Reason, from_row, puzzle_from_source
from selftrain.config import Config
from selftrain.dev import split_dev
from selftrain.errors import UsageError
from selftrain.evaluate import GREEDY, Evaluation, evaluate
from selftrain.files import Row, read_rows
from selftrain.judge import Judging
from selftrain.progress import Progress
from selftrain.prompts import few_shot_puzzles, solve_head
from selftrain.puzzle_source import read_splits
from selftrain.references import with_sound_references
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.sampling import Sampler
from selftrain.verifier.tasks.candidates import everyone, with_candidates
from selftrain.verifier.tasks.execute import run_all
from selftrain.verifier.tasks.results import error_of
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import distinct

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
    verdicts that tell how far f went, so its programs are executed anew on the first inputs. Raises
    `judge.JudgeError`.
    """
    again = {
        (puzzle.f, row["g"]): ""
        for _, puzzle, rows in named
        if puzzle.more_inputs
        for row in rows
        if row["g"] is not None
    }
    results = run_all([(g, f) for f, g in again], judging)
    known = dict(zip(again, results, strict=True))
    return [_task(task_id, puzzle, rows, known) for task_id, puzzle, rows in named]


def _task(
    task_id: str, puzzle: Puzzle, rows: Sequence[Row], known: Mapping[tuple[str, str], str]
) -> Task:
    # Where attempts were screened together, the words of an error may depend on those before it.
    results: dict[str, str] = {}
    candidates = [(row["index"], _candidate(puzzle, row, known, results)) for row in rows]
    return replace(
        bare_task(puzzle, task_id),
        candidates=distinct(one for index, one in candidates if index != GREEDY),
        greedy=next((one for index, one in candidates if index == GREEDY), None),
    )


def _candidate(
    puzzle: Puzzle, row: Row, known: Mapping[tuple[str, str], str], results: dict[str, str]
) -> Candidate:
    """Take a row's program and result, the first of its text; of f's verdict the label alone."""
    program = _text(puzzle, row["text"]) if row["g"] is None else row["g"]
    result = known.get((puzzle.f, row["g"]))
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


def puzzles_to_try(
    split: Literal["train", "dev", "test"], config: Config, progress: Progress
) -> tuple[Sequence[Puzzle], Sequence[Puzzle]]:
    """Read a configuration's puzzles of a split, and those that prompts show solved: no tasks.

    Reference solutions are judged first, as before a run: they are shown, and learnt from. Raises
    UsageError where no puzzle is left, RunError where references fail.
    """
    train, held_out = read_splits(config.puzzles)
    rest: Sequence[Puzzle] = ()
    dev: Sequence[Puzzle] = ()
    if split != "test" or config.solve.num_few_shot:
        sound = with_sound_references(train, config, progress)
        rest, dev = split_dev(sound, config.puzzles.num_dev, config.seed)
    shown = few_shot_puzzles(rest, config.solve.num_few_shot)
    if split == "test":
        return with_sound_references(held_out, config, progress), shown
    if split == "train" and shown:
        progress.say(f"lever.train: {len(shown)} puzzles are shown solved, so they are no tasks")
    puzzles = dev if split == "dev" else [puzzle for puzzle in rest if puzzle not in shown]
    if not puzzles:
        why = "puzzles.num_dev is 0" if split == "dev" else "all are shown solved"
        raise UsageError(f"lever.{split}: puzzles holds no task ({why}). Name another source.")
    return puzzles, shown


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


def named_of_run(folder: Path, *, held_out: bool) -> list[Named]:
    """Read what a run tried: its own puzzles of all rounds, or the held-out ones of its last.

    The former were drawn by the model that each round began with, the latter by the one that the
    last complete round ended with. A puzzle that several rounds hold is of the first. Raises
    UsageError where there is no such run.
    """
    rounds = RunDirectory(folder.expanduser()).complete_rounds()
    if not rounds:
        raise UsageError(f"run:{folder}: no complete round is there. Name the folder of a run.")
    if held_out:
        return list(_held_out(rounds[-1]))
    found: dict[str, Named] = {}
    for here in rounds:
        if here.candidates.exists():
            for puzzle, rows in _own(here):
                named = (f"{here.path.name}/{puzzle.id}", puzzle, rows)
                found.setdefault(puzzle.id, named)
    if not found:
        raise UsageError(
            f"run:{folder}: no round tried puzzles of its own. Name a run of a round or more, "
            "or lever.train=puzzles."
        )
    return list(found.values())


def _own(here: RoundDirectory) -> Iterator[tuple[Puzzle, list[Row]]]:
    puzzles = {puzzle.id: puzzle for puzzle in map(from_row, read_rows(here.puzzles))}
    for puzzle_id, group in groupby(read_rows(here.candidates), key=lambda row: row["puzzle_id"]):
        rows = list(group)
        if not rows[0].get("ordered", False):  # Else some of them were spared their verdict.
            yield puzzles[puzzle_id], rows


def _held_out(here: RoundDirectory) -> Iterator[Named]:
    families = {row["name"]: row["family"] for row in read_rows(here.evaluation)}
    rows = read_rows(here.evaluation_candidates)
    for name, group in groupby(rows, key=lambda row: row["name"]):
        tried = list(group)
        puzzle = puzzle_from_source(
            tried[0]["f"],
            name=name,
            family=families[name],
            more_inputs=tuple(tried[0]["more_inputs"]),
            any_answer=True,
        )
        yield name, puzzle, tried


def puzzle_of(task: Task) -> Puzzle | None:
    """Read the puzzle whose f is a task's text; None where the text is no f."""
    try:
        return puzzle_from_source(task.task, name=task.task_id, family=task.family, any_answer=True)
    except PuzzleError:
        return None


def finish(tasks: Sequence[Task], judging: Judging) -> list[Task]:
    """Judge the candidates whose result or label is missing; the task's text is their f.

    What is there stays. Raises `judge.JudgeError`.
    """
    asked = [(task.task, one.program) for task in tasks for one in everyone(task) if _is_open(one)]
    verdicts = dict(zip(asked, judging.judge(asked), strict=True))

    def finished(task: Task, one: Candidate) -> Candidate:
        if not _is_open(one):
            return one
        v = verdicts[task.task, one.program]
        result = result_of_judged(v.outcome, v.answer, v.detail)
        return replace(
            one,
            result=result if one.result is None else one.result,
            label=v.passed if one.label is None else one.label,
        )

    return [with_candidates(task, finished) for task in tasks]


def _is_open(one: Candidate) -> bool:
    return one.result is None or one.label is None
