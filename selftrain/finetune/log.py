"""The training log: a row a step with its loss, a row an epoch with the loss on held-back examples.

`training.jsonl` of a verifier is another file, written in verifier/learning/train.py.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from selftrain.errors import RunError
from selftrain.files import Row, read_rows


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """What a training log holds."""

    steps: list[Row]
    """Of each step: `step` from 1 on, `loss` before it, `learning_rate`."""
    evaluations: list[Row]
    """After each epoch: `epoch` from 1 on, `step`, `held_back_loss`; none where nothing is held
    back."""


def read_training(path: Path) -> TrainingRows:
    """Read a training log."""
    rows = list(read_rows(path))
    return TrainingRows(
        steps=[row for row in rows if "loss" in row],
        evaluations=[row for row in rows if "held_back_loss" in row],
    )


def training_metrics(log: TrainingRows) -> Row:
    """Give the metrics of a training: its steps, and how it ended."""
    metrics: Row = {"train/steps": len(log.steps), "train/final_loss": log.steps[-1]["loss"]}
    for row in log.evaluations:
        # The last one stays: each is of a later epoch.
        metrics["train/held_back_loss"] = row["held_back_loss"]
    return metrics


class TrainingLog:
    """Rows as they are made, told to a tracker too. A step's loss comes later than its row."""

    def __init__(self, rows: list[Row], tell: Callable[[Row], object]) -> None:
        self.rows = rows
        self._open: list[Row] = []
        self._tell = tell

    def begin_step(self, step: int, learning_rate: float) -> None:
        """Note a step whose loss is still being computed."""
        self._open.append({"step": step, "loss": math.nan, "learning_rate": learning_rate})

    def end_steps(self, losses: Sequence[float]) -> None:
        """Fill in the losses of all steps begun since. Raises RunError where one is not finite."""
        for row, loss in zip(self._open, losses, strict=True):
            if not math.isfinite(loss):
                raise RunError(
                    f"fine-tuning diverged: the loss is {loss} at step {row['step']}. "
                    "Lower finetune.learning_rate."
                )
            self._add(row | {"loss": loss})
        self._open.clear()

    def end_epoch(self, epoch: int, step: int, loss: float) -> None:
        """Note the loss on what is held back."""
        self._add({"epoch": epoch, "step": step, "held_back_loss": loss})

    def _add(self, row: Row) -> None:
        self.rows.append(row)
        self._tell(row)
