"""Small ablations with a scripted sampler, for tests: settings, and where their model lies."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedSampler, few_held_out, write_puzzles

from puzzles import Puzzle
from puzzles.builtin.read import read_builtin
from selftrain import experiment, models
from selftrain.ablation.ablate import ablate
from selftrain.ablation.directory import AblationDirectory
from selftrain.config import Config, ModelConfig
from selftrain.config_file import load_config
from selftrain.decontaminate import HeldOutIndex
from selftrain.errors import UsageError
from selftrain.files import Row, read_rows
from selftrain.sampling import Request

SMALL = (
    "propose.num_proposals=24",
    "propose.shard_size=12",
    "solve.num_attempts=4",
    "solve.num_few_shot=0",
    "judge.num_workers=1",
    "decontaminate.checks=[text, syntax]",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "evaluate.shard_size=2",
    "finetune.block_tokens=256",
    "finetune.learning_rate=1e-2",
    "model.device=cpu",
)


@cache
def shown() -> list[Puzzle]:
    """Give a few train puzzles, whose reference solutions are soon judged."""
    return read_builtin("train")[::40]


@dataclass
class Ablations:
    """Runs small ablations in one folder, and knows what their samplers were asked."""

    folder: Path
    train: Path
    held_out: Path
    model: Path
    asked: dict[str, list[Request]] = field(default_factory=dict)
    """Requests by model: a generator's name, or the folder of a trained model in the ablation."""
    wrong_share: float = 0.5
    missing: str = ""
    """A model that cannot be loaded."""
    num_indices: int = 0
    """How often the held-out puzzles were indexed."""

    def config(self, *settings: str) -> Config:
        here = (
            f"puzzles.train={self.train}",
            f"puzzles.held_out={self.held_out}",
            f"model.name={self.model}",
        )
        return load_config(None, [*SMALL, *here, *settings])

    def run(self, *settings: str) -> AblationDirectory:
        with self._scripted():
            assert ablate(self.config(*settings), self.folder) == 0
        return AblationDirectory(self.folder)

    @contextmanager
    def _scripted(self) -> Iterator[None]:
        def load(config: ModelConfig, trained: Path | None = None) -> ScriptedSampler:
            if config.name == self.missing:
                raise UsageError(f"there is no {config.name}")
            sampler = ScriptedSampler(wrong_share=self.wrong_share)
            name = str(trained.relative_to(self.folder)) if trained else config.name
            sampler.requests = self.asked.setdefault(name, [])
            return sampler

        def index(*args: Any) -> HeldOutIndex:
            self.num_indices += 1
            return HeldOutIndex(*args)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(models, "load_sampler", load)
            patch.setattr(experiment, "HeldOutIndex", index)
            yield


def small_ablations(folder: Path, model: Path) -> Ablations:
    """Write the puzzles of a small ablation beside its folder."""
    train = write_puzzles(folder / "train.jsonl", shown())
    held_out = write_puzzles(folder / "held_out.jsonl", few_held_out())
    return Ablations(folder / "ablation", train, held_out, model)


def rows(path: Path) -> list[Row]:
    """Read all rows of a file."""
    return list(read_rows(path))
