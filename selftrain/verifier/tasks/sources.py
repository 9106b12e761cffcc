"""Where tasks come from: what a source holds (an outline), and its tasks with their candidates.

An outline is cheap and is made at each start; a slice of it is completed once, shard by shard:
candidates are drawn where there are none, executed and labelled. Each source does that in a file of
its own, named in `complete`. Which source is which is told in LeverConfig.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal

from puzzles import Puzzle
from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.evaluate import Evaluation
from selftrain.humaneval import with_room
from selftrain.judge import Judging, judging_in_evaluation
from selftrain.progress import Progress
from selftrain.sampling import Sampler
from selftrain.seeds import derive_seed
from selftrain.solve import Attempts
from selftrain.verifier.directory import Split
from selftrain.verifier.tasks import from_file, from_functions, from_questions
from selftrain.verifier.tasks.candidates import Asked, draw_missing
from selftrain.verifier.tasks.from_functions import FunctionTask
from selftrain.verifier.tasks.from_pairs import Solved, read_solved, tasks_of_pairs
from selftrain.verifier.tasks.from_puzzles import (
    named_of_run,
    puzzles_to_try,
    sample_puzzles,
    tasks_of_rows,
)
from selftrain.verifier.tasks.from_questions import Question
from selftrain.verifier.tasks.likelihood import Reader
from selftrain.verifier.tasks.reread import reread, wording_of, wording_of_item
from selftrain.verifier.tasks.task import Task
from selftrain.verifier.tasks.task_file import read_tasks

SOURCES = (
    "puzzles, run:FOLDER, humaneval:FILE, mbpp:FILE, questions:FILE, pairs:FILE, or a task file"
)
_FUNCTIONS: dict[str, Literal["humaneval", "mbpp"]] = {"humaneval": "humaneval", "mbpp": "mbpp"}


@dataclass(frozen=True, slots=True)
class Outline:
    """What a source holds for one split."""

    kind: Literal["puzzles", "run", "functions", "questions", "pairs", "file"]
    """Which file knows how its tasks are completed."""
    items: Sequence[Any]
    """Puzzles to be tried, rows of a run by puzzle, puzzles with programs, or tasks."""
    num_samples: int
    """Samples that are drawn of each item, the greedy one among them; 0 where none is."""
    few_shot: Sequence[Puzzle] = ()
    """Puzzles that are shown with their solutions before the one to solve; no item is among them.
    """
    reader: Reader | None = field(default=None, compare=False)
    """Reads log-probabilities, where a model is to tell them that did not draw the candidates."""

    @property
    def needs_model(self) -> bool:
        """Tell whether anything is to be sampled."""
        return self.num_samples > 0

    def num_units(self, num_items: int) -> int:
        """Count what `complete` advances by for so many items."""
        return num_items * max(1, self.num_samples)

    def release(self) -> None:
        """Give the memory of a model back that read log-probabilities."""
        if self.reader:
            self.reader.release()


def outlines(config: Config) -> dict[Split, Outline]:
    """Outline the three splits; without `lever.dev`, whole families of the train tasks are dev.

    Raises UsageError where a source cannot be read, RunError where reference solutions fail.
    """
    c = config.lever
    train, test = outline(c.train, "train", config), outline(c.test, "test", config)
    if c.dev is not None:
        return {"train": train, "dev": outline(c.dev, "dev", config), "test": test}
    train, dev = split_outline(train, c.num_dev, config.seed)
    return {"train": train, "dev": dev, "test": test}


def outline(source: str, split: Split, config: Config) -> Outline:
    """Read what a source holds for a split: one of `SOURCES`. Raises UsageError or RunError."""
    kind, _, name = source.partition(":")
    path = Path(name).expanduser()
    reader = _reader(config) if config.lever.logprobs == "model" else None
    if source == "puzzles":
        puzzles, shown = puzzles_to_try(split, config, Progress())
        return Outline("puzzles", puzzles, config.lever.num_samples + 1, shown, reader)
    if kind == "run" and name:
        return Outline("run", named_of_run(path, held_out=split == "test"), 0, reader=reader)
    if kind == "pairs" and name:
        say = partial(_say, f"lever.{split}")
        return Outline("pairs", read_solved(path, split, say), 0, reader=reader)
    if kind == "questions" and name:
        read = Outline("questions", from_questions.read_questions(path, split), 0, reader=reader)
        return _sampled(read, config)
    if kind in _FUNCTIONS and name:
        functions = from_functions.read_functions_as_tasks(path, _FUNCTIONS[kind], split)
        return _sampled(Outline("functions", functions, 0, reader=reader), config)
    if not Path(source).expanduser().is_file():
        raise UsageError(f"lever.{split}: there is no file {source!r}. A source is {SOURCES}.")
    tasks = read_tasks(Path(source).expanduser(), split)
    return _sampled(Outline("file", tasks, 0, reader=reader), config)


def _sampled(given: Outline, config: Config) -> Outline:
    """Say how many samples are drawn, where any task comes without candidates."""
    if all(_task_of(item).candidates for item in given.items):
        return given
    return replace(given, num_samples=config.lever.num_samples + 1)


def _task_of(item: Any) -> Task:
    """Give the task of an item that is one, or that has one."""
    task: Task = item if isinstance(item, Task) else item.task
    return task


def _say(split: str, line: str) -> None:
    Progress().say(f"{split}: {line}")


def _reader(config: Config) -> Reader:
    if config.model.server is not None:
        raise UsageError(
            f"lever.logprobs: {config.model.name} lies on {config.model.server}, and a server is "
            "not asked how likely a given program is. Name a model here, or lever.logprobs=given."
        )
    return Reader(config.model)


def split_outline(whole: Outline, num_dev: int, seed: int) -> tuple[Outline, Outline]:
    """Set whole families of tasks aside, `num_dev` tasks at least; both parts keep their order.

    Raises UsageError where nothing is left to learn from.
    """
    families: dict[str, list[int]] = {}
    for index, item in enumerate(whole.items):
        families.setdefault(_family(item), []).append(index)
    order = list(families)
    Random(derive_seed(seed, "lever", "dev")).shuffle(order)
    chosen: set[int] = set()
    while order and len(chosen) < num_dev:
        chosen.update(families[order.pop()])
    if len(chosen) == len(whole.items):
        raise UsageError(
            f"lever.num_dev is {num_dev}, which leaves none of the {len(whole.items)} train tasks "
            "to learn from. Lower it, or name tasks in lever.dev."
        )
    parts: tuple[list[Any], list[Any]] = ([], [])
    for index, item in enumerate(whole.items):
        parts[index in chosen].append(item)
    return replace(whole, items=parts[0]), replace(whole, items=parts[1])


def _family(item: Any) -> str:
    """Name what an item is an instance of, else the item itself."""
    if isinstance(item, Puzzle):
        return item.family or item.name
    if isinstance(item, tuple):  # of a run: id, puzzle, rows
        return str(item[1].family or item[0])
    if isinstance(item, Solved):
        return item.puzzle.family or item.puzzle.name
    task = _task_of(item)
    return task.family or task.task_id


def digest(whole: Outline) -> str:
    """Hash what an outline holds, so that a command goes on with the same tasks only."""
    text = json.dumps([whole.items, whole.few_shot], default=_plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def complete(
    whole: Outline,
    items: Sequence[Any],
    config: Config,
    sampler: Sampler,
    *,
    advance: Callable[[int], object],
) -> list[Task]:
    """Make the tasks of a slice of an outline, their candidates drawn, executed and labelled.

    What comes out does not depend on how an outline is sliced. Raises `judge.JudgeError`.
    """
    judging = judging_in_evaluation(config.judge)
    attempts = _attempts(whole, config, sampler)
    if whole.kind == "puzzles":
        greedy = replace(attempts, count=1, temperature=0.0)
        evaluation = Evaluation(attempts, greedy, judging)
        tasks = sample_puzzles(sampler, items, evaluation, advance=advance)
    elif whole.kind == "run":
        tasks = tasks_of_rows(items, judging)
        advance(len(items))
    elif whole.kind == "pairs":
        tasks = tasks_of_pairs(items, whole.items, judging, seed=config.seed, advance=advance)
    else:
        asked = [_asked(item) for item in items]
        units = whole.num_units(1)
        drawn = draw_missing(sampler, asked, attempts, advance=advance, units=units)
        tasks = _executed(whole, items, drawn, judging)
    if whole.reader is None:
        return tasks
    if whole.kind in ("questions", "functions"):
        wordings = {item.task.task_id: wording_of_item(item) for item in items}
    else:
        wordings = {task.task_id: wording_of(task, whole.few_shot) for task in tasks}
    read = partial(whole.reader.read, advance=lambda _: None)
    return reread(tasks, wordings, read, Progress().say)


def _asked(item: Any) -> Asked:
    """Say how a sampler is asked a task, a question or a function."""
    if isinstance(item, Question):
        prompt, cut = from_questions.prompt(item), partial(from_questions.cut, item)
        return Asked(item.task, prompt, cut)
    if isinstance(item, FunctionTask):
        prompt, cut = from_functions.prompt(item), partial(from_functions.cut, item)
        return Asked(item.task, prompt, cut)
    return from_file.asked(item)


def _executed(
    whole: Outline, items: Sequence[Any], drawn: Sequence[Task], judging: Judging
) -> list[Task]:
    """Run and label candidates, each source in its own way."""
    if whole.kind == "file":
        return from_file.finish(drawn, judging)
    full = [replace(item, task=task) for item, task in zip(items, drawn, strict=True)]
    if whole.kind == "questions":
        return from_questions.execute(full, judging)
    return from_functions.execute(full, judging)


def _attempts(whole: Outline, config: Config, sampler: Sampler) -> Attempts:
    """Say how candidates are drawn; functions may be longer than solutions of puzzles."""
    if whole.kind == "functions" and whole.needs_model:
        config = with_room(config, sampler.context_tokens)
    return Attempts(
        count=config.lever.num_samples,
        temperature=config.lever.temperature,
        max_new_tokens=config.solve.max_new_tokens,
        few_shot=whole.few_shot,
        seed=config.seed,
        place=("lever",),
    )
