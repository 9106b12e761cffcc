"""Fine-tuning in all processes of a launch at once: each loads the model and calls `fine_tune`.

Alone, a process does the same by itself. How processes share a step is in train.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from accelerate.utils.memory import clear_device_cache

from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.files import replacing_folder
from selftrain.finetune.lessons import Lessons, TrainingPaths
from selftrain.finetune.train import fine_tune
from selftrain.models import load_for_training
from selftrain.processes import everywhere

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Training:
    """What every process is told of a training."""

    base: ModelConfig
    """The model, how it is loaded, and where it lies."""
    start: Path | None
    """What an earlier round made of it, which is trained further instead."""
    lessons: Lessons
    config: FinetuneConfig
    seed: int
    keep_epochs: bool
    """See `TrainingPaths.model`."""


def train_into(
    paths: TrainingPaths,
    training: Training,
    tokenizer: "PreTrainedTokenizerBase",
    *,
    say: Callable[[str], object],
    advance: Callable[[int], object],
) -> None:
    """Make a model's folder, which is there whole or not at all; see `fine_tune`."""
    with replacing_folder(paths.model) as folder:
        # Another machine may work in another folder, but sees these by the same names.
        there = TrainingPaths(folder.resolve(), paths.state.resolve(), paths.tracker.resolve())
        start = training.start.resolve() if training.start else None
        everywhere(_train, replace(training, start=start), there, say=say, advance=advance)
        for saved in (folder, *folder.glob("epoch-*")):
            tokenizer.save_pretrained(saved)


def _train(
    training: Training,
    paths: TrainingPaths,
    *,
    say: Callable[[str], object],
    advance: Callable[[int], object],
) -> None:
    """Do one process's part, and give back the memory, which a sampler needs next."""
    model = load_for_training(training.base, training.config.method, training.start)
    how = partial(fine_tune, keep_epochs=training.keep_epochs, say=say, advance=advance)
    how(model, training.lessons, training.config, training.seed, paths)
    del model
    # Layers, hooks and optimizer name each other.
    clear_device_cache(garbage_collection=True)
