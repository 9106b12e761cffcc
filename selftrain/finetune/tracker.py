"""Trackers of accelerate: who else is told the losses. None has code of its own here."""

from pathlib import Path
from typing import TYPE_CHECKING

from selftrain.config import FinetuneConfig
from selftrain.errors import UsageError
from selftrain.files import Row

if TYPE_CHECKING:
    from accelerate import Accelerator


def check_tracker(name: str | None) -> None:
    """Refuse a tracker that accelerate does not know, or whose package is missing.

    Raises UsageError; accelerate would say nothing of the latter and track nothing.
    """
    if name is None:
        return
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

    if name not in LOGGER_TYPE_TO_CLASS:
        known = ", ".join(sorted(LOGGER_TYPE_TO_CLASS))
        raise UsageError(
            f"finetune.tracker: {name!r} is no tracker of accelerate. There are {known}."
        )
    if name not in map(str, get_available_trackers()):
        raise UsageError(
            f"finetune.tracker: the package of {name} is not installed. Try: pip install {name}"
        )


def begin(accelerator: "Accelerator", config: FinetuneConfig, seed: int, folder: Path) -> None:
    """Begin a run of the tracker, if there is one, and tell it what makes this training another."""
    if config.tracker is None:
        return
    # Trackers differ in what else they take; these all do.
    simple = {
        k: v for k, v in config.model_dump().items() if isinstance(v, bool | int | float | str)
    }
    told = {"folder": str(folder), "seed": seed, **simple}
    accelerator.init_trackers("selftrain", config=told)


def tell(accelerator: "Accelerator", row: Row) -> None:
    """Tell the tracker, if there is one, the numbers of a row of the training log."""
    numbers = {f"train/{key}": value for key, value in row.items() if isinstance(value, float)}
    accelerator.log(numbers, step=row["step"])
