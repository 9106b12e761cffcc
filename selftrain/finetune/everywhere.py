"""Fine-tuning in all processes of a launch at once: each loads the model and calls `fine_tune`.

Alone, a process does the same by itself. How processes share a step is in train.py.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.finetune.train import Lessons, Places, fine_tune
from selftrain.models import load_for_training
from selftrain.processes import everywhere


def fine_tune_everywhere(
    base: ModelConfig,
    start: Path | None,
    lessons: Lessons,
    config: FinetuneConfig,
    seed: int,
    places: Places,
    *,
    keep_epochs: bool,
    say: Callable[[str], object],
    advance: Callable[[int], object],
) -> None:
    """Train the base model, or what an earlier round made of it in `start`; see `fine_tune`."""
    # Another machine may work in another folder, but sees these by the same names.
    there = Places(places.model.resolve(), places.state.resolve(), places.tracker.resolve())
    start = start.resolve() if start else None
    arguments = (base, start, lessons, config, seed, there, keep_epochs)
    everywhere(_fine_tune, *arguments, say=say, advance=advance)


def _fine_tune(
    base: ModelConfig,
    start: Path | None,
    lessons: Lessons,
    config: FinetuneConfig,
    seed: int,
    places: Places,
    keep_epochs: bool,
    *,
    say: Callable[[str], object],
    advance: Callable[[int], object],
) -> None:
    """Do one process's part."""
    model = load_for_training(base, config.method, start)
    how = partial(fine_tune, keep_epochs=keep_epochs, say=say, advance=advance)
    how(model, lessons, config, seed, places)
