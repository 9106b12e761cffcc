"""Where tasks come from: each source's outline, and its tasks with their candidates.

A slice of an outline is completed once, shard by shard: candidates are drawn where there are none,
executed and labelled. Each source does that in a file of its own. Which source is which is told in
LeverConfig.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from puzzles import Puzzle
from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.evaluate import Evaluation
from selftrain.humaneval import with_room
from selftrain.judge import Judging, judging_in_evaluation
from selftrain.progress import Progress
from selftrain.sampling import Sampler
from selftrain.solve import Attempts
from selftrain.verifier.directory import Split
from selftrain.verifier.tasks import (
    from_file,
    from_functions,
    from_puzzles,
    from_questions,
    tried_puzzles,
)
from selftrain.verifier.tasks.candidates import Wording, draw_missing
from selftrain.verifier.tasks.from_pairs import read_solved, tasks_of_pairs
from selftrain.verifier.tasks.from_puzzles import bare_task
from selftrain.verifier.tasks.likelihood import Reader
from selftrain.verifier.tasks.outline import Means, Outline, split_outline
from selftrain.verifier.tasks.reread import reread
from selftrain.verifier.tasks.task import Task
from selftrain.verifier.tasks.task_file import read_tasks, refuse_overlap

SOURCES = (
    "puzzles, run:FOLDER, humaneval:FILE, mbpp:FILE, questions:FILE, pairs:FILE, or a task file"
)


def outlines(config: Config) -> dict[Split, Outline]:
    """Outline the three splits; without `lever.dev`, whole families of the train tasks are dev.

    Raises UsageError where a source cannot be read, RunError where reference solutions fail.
    """
    c = config.lever
    train, test = outline(c.train, "train", config), outline(c.test, "test", config)
    if c.dev is not None:
        return {"train": train, "dev": outline(c.dev, "dev", config), "test": test}
    train, dev = split_outline(train, c.num_dev, config.seed, by_family=c.dev_families == "apart")
    return {"train": train, "dev": dev, "test": test}


def refuse_overlapping(there: Mapping[Split, Outline]) -> None:
    """Raise UsageError where two splits share a task, by its task_id or its text.

    Both are known before anything is drawn or run.
    """
    refuse_overlap({str(split): whole.items for split, whole in there.items()})


def outline(source: str, split: Split, config: Config) -> Outline:
    """Read what a source holds for a split: one of `SOURCES`. Raises UsageError or RunError."""
    reader = _reader(config) if config.lever.logprobs == "model" else None
    return replace(_outline(source, split, config), reader=reader)


def _outline(source: str, split: Split, config: Config) -> Outline:
    kind, _, name = source.partition(":")
    path = Path(name).expanduser()
    match kind if name or source == "puzzles" else "":
        case "puzzles" if not name:
            return _puzzles(split, config)
        case "run":
            return _run(path, split)
        case "pairs":
            return _pairs(path, split)
        case "questions":
            return _questions(path, split, config)
        case "humaneval" | "mbpp" as functions:
            return _functions(path, functions, split, config)
    if not Path(source).expanduser().is_file():
        raise UsageError(f"lever.{split}: there is no file {source!r}. A source is {SOURCES}.")
    tasks = read_tasks(Path(source).expanduser(), split)
    return _asked(tasks, tasks, from_file.wording, from_file.finish, config)


def _puzzles(split: Split, config: Config) -> Outline:
    puzzles, shown = tried_puzzles.puzzles_to_try(split, config, Progress())
    by_name = {puzzle.name: puzzle for puzzle in puzzles}

    def make(tasks: Sequence[Task], means: Means) -> list[Task]:
        samples = _attempts(means.config, shown)
        greedy = replace(samples, count=1, temperature=0.0)
        evaluation = Evaluation(samples, greedy, means.judging)
        some = [by_name[task.task_id] for task in tasks]
        return from_puzzles.sample_puzzles(means.sampler, some, evaluation, advance=means.advance)

    return Outline(
        items=[bare_task(puzzle) for puzzle in puzzles],
        read=puzzles,
        make=make,
        wording=lambda task: from_puzzles.wording(by_name[task.task_id], shown),
        num_samples=config.lever.num_samples + 1,
        few_shot=shown,
    )


def _run(folder: Path, split: Split) -> Outline:
    named = tried_puzzles.named_of_run(folder, held_out=split == "test")
    by_id = {one[0]: one for one in named}

    def make(tasks: Sequence[Task], means: Means) -> list[Task]:
        some = [by_id[task.task_id] for task in tasks]
        made = from_puzzles.tasks_of_rows(some, means.judging)
        means.advance(len(some))
        return made

    tasks = [bare_task(puzzle, task_id) for task_id, puzzle, _ in named]
    return Outline(tasks, named, make, lambda t: from_puzzles.wording(by_id[t.task_id][1]))


def _pairs(path: Path, split: Split) -> Outline:
    solved = read_solved(path, split, lambda line: Progress().say(f"lever.{split}: {line}"))
    by_name = {one.puzzle.name: one for one in solved}

    def make(tasks: Sequence[Task], means: Means) -> list[Task]:
        some, pool = ([by_name[t.task_id] for t in part] for part in (tasks, means.split))
        seed = means.config.seed
        return tasks_of_pairs(some, pool, means.judging, seed=seed, advance=means.advance)

    tasks = [bare_task(one.puzzle) for one in solved]
    return Outline(tasks, solved, make, lambda t: from_puzzles.wording(by_name[t.task_id].puzzle))


def _questions(path: Path, split: Split, config: Config) -> Outline:
    read = from_questions.read_questions(path, split)
    by_id = {one.task.task_id: one for one in read}

    def finish(tasks: Sequence[Task], judging: Judging) -> list[Task]:
        drawn = [replace(by_id[task.task_id], task=task) for task in tasks]
        return from_questions.execute(drawn, judging)

    def wording(task: Task) -> Wording:
        return from_questions.wording(by_id[task.task_id])

    return _asked([one.task for one in read], read, wording, finish, config)


def _functions(
    path: Path, kind: Literal["humaneval", "mbpp"], split: Split, config: Config
) -> Outline:
    read = from_functions.read_functions_as_tasks(path, kind, split)
    by_id = {one.task.task_id: one for one in read}

    def finish(tasks: Sequence[Task], judging: Judging) -> list[Task]:
        drawn = [replace(by_id[task.task_id], task=task) for task in tasks]
        return from_functions.execute(drawn, judging)

    def wording(task: Task) -> Wording:
        return from_functions.wording(by_id[task.task_id])

    return _asked([one.task for one in read], read, wording, finish, config, are_long=True)


def _asked(
    tasks: Sequence[Task],
    read: object,
    wording: Callable[[Task], Wording],
    finish: Callable[[Sequence[Task], Judging], list[Task]],
    config: Config,
    *,
    are_long: bool = False,
) -> Outline:
    """Outline tasks of which those without candidates are asked by a prompt.

    Programs that `are_long` may be longer than solutions of puzzles.
    """
    has_all = all(task.candidates for task in tasks)
    num_samples = 0 if has_all else config.lever.num_samples + 1

    def make(some: Sequence[Task], means: Means) -> list[Task]:
        c = means.config
        if are_long and not has_all:
            c = with_room(c, means.sampler.context_tokens)
        asked = [(task, wording(task)) for task in some]
        units = max(1, num_samples)
        drawn = draw_missing(means.sampler, asked, _attempts(c), units=units, advance=means.advance)
        return finish(drawn, means.judging)

    return Outline(tasks, read, make, wording, num_samples)


def _attempts(config: Config, few_shot: Sequence[Puzzle] = ()) -> Attempts:
    return Attempts(
        count=config.lever.num_samples,
        temperature=config.lever.temperature,
        max_new_tokens=config.solve.max_new_tokens,
        few_shot=few_shot,
        seed=config.seed,
        place=("lever",),
    )


def _reader(config: Config) -> Reader:
    if config.model.server is not None:
        raise UsageError(
            f"lever.logprobs: {config.model.name} lies on {', '.join(config.model.servers)}, and a "
            "server is not asked how likely a given program is. Name a model here, or "
            "lever.logprobs=given."
        )
    return Reader(config.model)


def complete(
    whole: Outline,
    items: Sequence[Task],
    config: Config,
    sampler: Sampler,
    *,
    advance: Callable[[int], object],
) -> list[Task]:
    """Make the tasks of a slice of an outline, their candidates drawn, executed and labelled.

    What comes out does not depend on how an outline is sliced. Raises `judge.JudgeError`.
    """
    judging = judging_in_evaluation(config.judge)
    tasks = whole.make(items, Means(config, sampler, judging, whole.items, advance))
    if whole.reader is None:
        return tasks
    wordings = {task.task_id: whole.wording(task) for task in tasks}
    read = partial(whole.reader.read, advance=lambda _: None)
    return reread(tasks, wordings, read, Progress().say)
