"""A training that kills itself (SIGKILL) at chosen points, and again from its checkpoint. A program.

    python killed_training.py MODEL FOLDER POINT...

It prints what killed_runs.compare does.
"""

import shutil
import sys
from functools import partial
from pathlib import Path

from killed_runs import compare
from lessons import TEXTS, pack, places, settings

from selftrain.config import ModelConfig
from selftrain.files import replacing_folder
from selftrain.finetune.train import Lessons, Places, fine_tune
from selftrain.models import load_for_training


def command(model: Path, folder: Path) -> None:
    """Train as a round does, with all that there is to be lost: draws, epochs, a schedule."""
    config = ModelConfig(name=str(model), device="cpu")
    lora = {"rank": 4, "dropout": 0.2}
    how = settings(method="lora", lora=lora, epochs=3, checkpoint_steps=2, schedule="cosine")
    lessons = Lessons(pack(config, how, TEXTS[:5] * 2), pack(config, how, TEXTS[5:]))
    base, there = load_for_training(config, "lora", None), places(folder)
    train = partial(fine_tune, keep_epochs=True, say=print, advance=lambda _: None)
    if not there.model.exists():
        with replacing_folder(there.model) as made:
            train(base, lessons, how, 7, Places(made, there.state, there.tracker))
    shutil.rmtree(there.state, ignore_errors=True)


if __name__ == "__main__":
    compare(partial(command, Path(sys.argv[1])), Path(sys.argv[2]), lambda _: sys.argv[3:])
