"""What tests of fine-tuning learn: a few texts of four puzzles, by a model of random weights."""

from pathlib import Path
from typing import Any

from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.files import read_rows
from selftrain.finetune.blocks import Block, blocks
from selftrain.finetune.lessons import Lessons, TrainingPaths
from selftrain.finetune.pieces import Text
from selftrain.finetune.train import fine_tune
from selftrain.models import load_for_training, load_tokenizer

F3 = "def f(x: int):\n    return x + 2 == 5\n\ndef g():"
TEXTS = [
    Text(F3, "\n    return 5 - 2\n\nassert f(g())", "three"),
    Text(F3, "\n    return 3\n\nassert f(g())", "three"),
    Text(F3, "\n    return 5 - 1 - 1\n\nassert f(g())", "three"),
    Text("def f(s: str):\n    return s[::-1] == 'ab'\n\ndef g():", "\n    return 'ba'", "ba"),
    Text("x =", " 1", "one"),
    Text("y = [1, 2, 3]\n", "y = [1, 2, 3]\n" * 29, "long"),
    Text("def f(x: int):\n    return x == 9\n\ndef g():", "\n    return 9", "nine"),
]
LORA = {"method": "lora", "lora": {"rank": 4, "alpha": 8}}


def settings(**more: Any) -> FinetuneConfig:
    """Configure a training of few steps, from which a tiny model learns."""
    few = {"learning_rate": 1e-2, "batch_size": 2, "block_tokens": 64, "warmup_steps": 1}
    return FinetuneConfig.model_validate(few | more)


def pack(config: ModelConfig, how: FinetuneConfig, texts: list[Text] = TEXTS) -> list[Block]:
    """Pack texts into blocks by a model's tokenizer."""
    return blocks(load_tokenizer(config), texts, how)


def paths_in(folder: Path) -> TrainingPaths:
    """Lay a training's folders into one."""
    return TrainingPaths(folder / "model", folder / "state", folder / "tracker")


def train(config: ModelConfig, folder: Path, seed: int = 7, **more: Any) -> list[float]:
    """Fine-tune a model on TEXTS; give the losses."""
    how = settings(**more)
    model = load_for_training(config, how.method, None)
    fine_tune(
        model,
        Lessons(pack(config, how)),
        how,
        seed,
        paths_in(folder),
        say=print,
        advance=lambda _: None,
    )
    return losses(folder)


def losses(folder: Path) -> list[float]:
    """Read the losses of a training's steps."""
    rows = read_rows(paths_in(folder).model / "training.jsonl")
    return [row["loss"] for row in rows if "loss" in row]
