"""What a comparison of rankings stands on: what its tasks hold, and how its verifiers were trained.

Read from tasks, training logs and tokenizers; no score is looked at and nothing is measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from selftrain.config import ModelConfig
from selftrain.files import Row, read_json, read_rows
from selftrain.models import load_any_tokenizer
from selftrain.verifier.directory import Split
from selftrain.verifier.learning.inputs import Reads, read, shares_cut
from selftrain.verifier.tasks.results import is_error
from selftrain.verifier.tasks.task import Task


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """What a split holds."""

    num_tasks: int
    num_unlabelled: int
    """Tasks some of whose candidates have no label; nothing is measured on them."""
    num_samples: int
    """Programs that were sampled, equal ones counted each time."""
    num_candidates: int
    """Distinct programs of all tasks."""
    num_right: int
    """How many of these are right."""
    num_errors: int
    """How many of these end in an error."""


@dataclass(frozen=True, slots=True)
class Trained:
    """How one verifier came to its weights."""

    name: str
    """Its folder's."""
    num_examples: int
    """Candidates of the train tasks that it learnt from, gold programs among them."""
    num_right: int
    """How many of these are right."""
    num_gold: int
    """Gold programs that were added."""
    steps: int
    """Steps that were trained."""
    chosen_step: int
    """The step whose weights were kept, by the dev loss."""
    dev_loss: float
    """Equation 4 on the dev tasks at that step, in nats."""
    first_dev_loss: float
    """The same before training."""
    cut: Mapping[str, float]
    """Share of the test candidates of which it did not read all, by segment: task, program,
    result."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All of that."""

    splits: Mapping[Split, SplitCounts]
    """What was learnt from, chosen on, and measured on."""
    verifiers: tuple[Trained, ...]
    """In the order of their comparison."""


def count_split(tasks: Sequence[Task]) -> SplitCounts:
    """Count what a split holds."""
    candidates = list(chain.from_iterable(task.candidates for task in tasks))
    return SplitCounts(
        num_tasks=len(tasks),
        num_unlabelled=sum(not is_labelled(task) for task in tasks),
        num_samples=sum(one.num_samples for one in candidates),
        num_candidates=len(candidates),
        num_right=sum(bool(one.label) for one in candidates),
        num_errors=sum(is_error(one.result) for one in candidates),
    )


def is_labelled(task: Task) -> bool:
    """Tell whether it is known of every candidate whether it is right."""
    return all(one.label is not None for one in task.candidates)


def read_trained(folder: Path, test: Sequence[Task], how: ModelConfig) -> Trained:
    """Read a verifier's training log, and count what it does not read of the test tasks.

    `how` is the model it started from, and says what may run when its tokenizer is loaded.
    """
    log = list(read_rows(folder / "training.jsonl"))
    learnt = log[0]["train"]
    looks = [row for row in log[1:] if row["dev_loss"] is not None]
    # The first of equal ones, as learning/learn.py keeps it.
    best = min(looks, key=lambda row: float(row["dev_loss"]))
    return Trained(
        name=folder.name,
        num_examples=learnt["num_examples"],
        num_right=learnt["num_right"],
        num_gold=learnt["num_gold"],
        steps=log[-1]["step"],
        chosen_step=best["step"],
        dev_loss=best["dev_loss"],
        first_dev_loss=log[0]["dev_loss"],
        cut=_shares_cut(folder, test, how),
    )


def facts_to_row(facts: Facts) -> Row:
    """Flatten for JSON."""
    return asdict(facts)


def _shares_cut(folder: Path, tasks: Sequence[Task], how: ModelConfig) -> dict[str, float]:
    reads = Reads(**read_json(folder / "verifier.json")["reads"])
    own = how.model_copy(update={"name": str(folder), "revision": None})
    tokenizer = load_any_tokenizer(own)
    return shares_cut(
        [
            read(tokenizer, reads, task.task, one.program, one.result)
            for task in tasks
            for one in task.candidates
        ]
    )
