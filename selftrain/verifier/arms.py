"""The verifiers that are compared: what each reads, and how many candidates each learns from.

How they learn is in learn.py; all else is equal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from selftrain.config import Config, VerifierConfig
from selftrain.seeds import derive_seed
from selftrain.verifier.learning.inputs import Reads, reads_of
from selftrain.verifier.tasks.task import Arm, Candidate, Task
from selftrain.verifier.tasks.task_file import distinct

_SAYS: dict[Arm, str] = {
    "full": "reads task, program and result",
    "no-execution": "reads no result",
    "type-only": "reads the result's type alone",
    "no-program": "reads no program",
    "no-gold": "learns from sampled candidates alone",
}


@dataclass(frozen=True, slots=True)
class Learner:
    """One verifier to be trained."""

    arm: Arm
    """What it reads and learns from."""
    size: int | None = None
    """Samples of each train task that it learns from; None takes all."""

    @property
    def name(self) -> str:
        """Name its folder."""
        return self.arm if self.size is None else f"{self.arm}-{self.size}"

    def describe(self) -> str:
        """Say what makes it another than the others."""
        return _SAYS[self.arm] + (f", {self.size} samples a task" if self.size else "")

    def settings(self, config: VerifierConfig) -> VerifierConfig:
        """Give its own settings."""
        gold = config.gold and self.arm != "no-gold"
        return config.model_copy(update={"gold": gold})

    def reads(self, config: VerifierConfig) -> Reads:
        """Say what it reads."""
        return reads_of(config, self.arm)

    def choose(self, tasks: Sequence[Task], seed: int) -> list[Task]:
        """Draw the samples that it learns from, the first of one shuffled list a task."""
        if self.size is None:
            return list(tasks)
        return [_first(task, self.size, seed) for task in tasks]


def learners(config: Config) -> Iterator[Learner]:
    """Give the arms, and after them the first arm with fewer candidates to learn from."""
    arms = dict.fromkeys(config.lever.arms)
    yield from map(Learner, arms)
    for size in dict.fromkeys(config.lever.train_sizes):
        yield Learner(config.lever.arms[0], size)


def _first(task: Task, size: int, seed: int) -> Task:
    """Keep so many of a task's samples, equal ones of which are one candidate again."""
    samples = [one for one in task.candidates for _ in range(one.num_samples)]
    Random(derive_seed(seed, "train size", task.task_id)).shuffle(samples)
    once: Iterator[Candidate] = (replace(one, num_samples=1) for one in samples[:size])
    return replace(task, candidates=distinct(once))
