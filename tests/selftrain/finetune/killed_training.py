"""A training that kills itself (SIGKILL) at chosen points, and again from its checkpoint. A program.

    python killed_training.py MODEL FOLDER POINT...

It prints what killed_runs.compare does.
"""

import shutil
import sys
from functools import partial
from pathlib import Path

from killed_runs import compare
from lessons import TEXTS, pack, paths_in, settings

from selftrain.config import ModelConfig
from selftrain.finetune.everywhere import Training, train_into
from selftrain.finetune.lessons import Lessons
from selftrain.models import load_tokenizer


def command(model: Path, folder: Path) -> None:
    """Train as a round does, with all that there is to be lost: draws, epochs, a schedule."""
    config = ModelConfig(name=str(model), device="cpu")
    lora = {"rank": 4, "dropout": 0.2}
    how = settings(method="lora", lora=lora, epochs=2, checkpoint_steps=2, schedule="cosine")
    lessons = Lessons(pack(config, how, TEXTS[:5] * 2), pack(config, how, TEXTS[5:]))
    paths, training = paths_in(folder), Training(config, None, lessons, how, 7, keep_epochs=True)
    if not paths.model.exists():
        train_into(paths, training, load_tokenizer(config), say=print, advance=lambda _: None)
    shutil.rmtree(paths.state, ignore_errors=True)


if __name__ == "__main__":
    compare(partial(command, Path(sys.argv[1])), Path(sys.argv[2]), lambda _: sys.argv[3:])
