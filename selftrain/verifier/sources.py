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
from selftrain.dev import split_dev
from selftrain.errors import UsageError
from selftrain.evaluate import Evaluation
from selftrain.judge import judging_in_evaluation
from selftrain.progress import Progress
from selftrain.prompts import few_shot_puzzles
from selftrain.puzzle_source import read_splits
from selftrain.references import with_sound_references
from selftrain.sampling import Sampler
from selftrain.seeds import derive_seed
from selftrain.solve import Attempts
from selftrain.verifier.directory import Split
from selftrain.verifier.from_file import complete_tasks
from selftrain.verifier.from_pairs import Solved, read_solved, tasks_of_pairs
from selftrain.verifier.from_puzzles import (
    named_of_run,
    sample_puzzles,
    tasks_of_rows,
)
from selftrain.verifier.likelihood import Reader
from selftrain.verifier.reread import reread, wording_of
from selftrain.verifier.task import Task
from selftrain.verifier.task_file import read_tasks

SOURCES = (
    "puzzles, run:FOLDER, humaneval:FILE, mbpp:FILE, questions:FILE, pairs:FILE, or a task file"
)


@dataclass(frozen=True, slots=True)
class Outline:
    """What a source holds for one split."""

    kind: Literal["puzzles", "run", "functions", "questions", "pairs", "file"]
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
        return replace(_puzzles(split, config), reader=reader)
    if kind == "run" and name:
        return Outline("run", named_of_run(path, held_out=split == "test"), 0, reader=reader)
    if kind == "pairs" and name:
        say = partial(_say, f"lever.{split}")
        return Outline("pairs", read_solved(path, split, say), 0, reader=reader)
    tasks = read_tasks(Path(source).expanduser(), split)
    bare = any(not task.candidates for task in tasks)
    return Outline("file", tasks, config.lever.num_samples + 1 if bare else 0, reader=reader)


def _say(split: str, line: str) -> None:
    Progress().say(f"{split}: {line}")


def _reader(config: Config) -> Reader:
    if config.model.server is not None:
        raise UsageError(
            f"lever.logprobs: {config.model.name} lies on {config.model.server}, and a server is "
            "not asked how likely a given program is. Name a model here, or lever.logprobs=given."
        )
    return Reader(config.model)


def _puzzles(split: Split, config: Config) -> Outline:
    """Outline the puzzles of a configuration; those that prompts show solved are no tasks.

    Reference solutions are judged first, as before a run: they are shown, and learnt from.
    """
    progress = Progress()
    train, held_out = read_splits(config.puzzles)
    rest: Sequence[Puzzle] = ()
    dev: Sequence[Puzzle] = ()
    if split != "test" or config.solve.num_few_shot:
        sound = with_sound_references(train, config, progress)
        rest, dev = split_dev(sound, config.puzzles.num_dev, config.seed)
    shown = few_shot_puzzles(rest, config.solve.num_few_shot)
    if split == "test":
        items: Sequence[Puzzle] = with_sound_references(held_out, config, progress)
    elif split == "dev":
        items = dev
    else:
        items = [puzzle for puzzle in rest if puzzle not in shown]
        if shown:
            progress.say(
                f"lever.train: {len(shown)} puzzles are shown solved, so they are no tasks"
            )
    if not items:
        why = "puzzles.num_dev is 0" if split == "dev" else "none is left"
        raise UsageError(f"lever.{split}: puzzles holds no task ({why}). Name another source.")
    return Outline("puzzles", items, config.lever.num_samples + 1, shown)


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
    if isinstance(item, Task):
        return item.family or item.task_id
    if isinstance(item, tuple):  # of a run
        return item[1].family or item[0]
    puzzle: Puzzle = item.puzzle if isinstance(item, Solved) else item
    return puzzle.family or puzzle.name


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
    attempts = _attempts(config, whole.few_shot)
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
        tasks = complete_tasks(items, sampler, attempts, judging, advance=advance)
    if whole.reader is None:
        return tasks
    wordings = {task.task_id: wording_of(task, whole.few_shot) for task in tasks}
    read = partial(whole.reader.read, advance=lambda _: None)
    return reread(tasks, wordings, read, Progress().say)


def _attempts(config: Config, few_shot: Sequence[Puzzle]) -> Attempts:
    return Attempts(
        count=config.lever.num_samples,
        temperature=config.lever.temperature,
        max_new_tokens=config.solve.max_new_tokens,
        few_shot=few_shot,
        seed=config.seed,
        place=("lever",),
    )
