"""Trainings in several processes, started by `accelerate launch`. A program.

    accelerate launch ... launched_training.py MODEL FOLDER

Each of CASES is trained into a folder of its own.
"""

import sys
from pathlib import Path
from typing import Any

from lessons import TEXTS, pack, paths_in, settings

from selftrain.config import ModelConfig
from selftrain.finetune.lessons import Lessons
from selftrain.finetune.train import fine_tune
from selftrain.models import load_for_training

CASES: dict[str, dict[str, Any]] = {
    "in parts": {"batch_size": 4, "gradient_accumulation_steps": 2, "checkpoint_steps": 1},
    "one block a step": {"batch_size": 1, "loss_on": "completion"},
    "adapter": {"batch_size": 3, "method": "lora", "lora": {"rank": 4}},
}


def train_case(model: str, folder: Path, name: str) -> None:
    """Train on all texts but two, which are held back; every process calls it."""
    config = ModelConfig(name=model, device="cpu")
    how = settings(epochs=2, **CASES[name])
    # Five blocks, so that in no case they go round.
    lessons = Lessons(pack(config, how, TEXTS * 2)[:5], pack(config, how, TEXTS[5:]))
    base = load_for_training(config, how.method, None)
    said = {"say": print, "advance": lambda _: None}
    fine_tune(
        base,
        lessons,
        how,
        7,
        paths_in(folder / name),
        keep_epochs=name == "one block a step",
        **said,
    )


if __name__ == "__main__":
    for case in CASES:
        train_case(sys.argv[1], Path(sys.argv[2]), case)
