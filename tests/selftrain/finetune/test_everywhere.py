"""What all processes do of a training: they load, learn, and leave nothing in memory."""

import gc
from pathlib import Path

import torch
from lessons import LORA, TEXTS, losses, pack, paths_in, settings

from selftrain.config import ModelConfig
from selftrain.finetune.everywhere import Training, train_into
from selftrain.finetune.learner import Learner
from selftrain.finetune.lessons import Lessons, read_lessons
from selftrain.models import load_tokenizer


def in_memory() -> int:
    """Count models in training, and optimizers, that no one has let go of."""
    kinds = (Learner, torch.optim.Optimizer)
    return sum(issubclass(type(one), kinds) for one in gc.get_objects())


def test_a_training_leaves_nothing_in_memory(tiny_config: ModelConfig, tmp_path: Path) -> None:
    tokenizer, how = load_tokenizer(tiny_config), settings(**LORA)
    training = Training(tiny_config, None, Lessons(pack(tiny_config, how)), how, 7, False)
    gc.collect()
    before = in_memory()
    gc.disable()
    try:
        train_into(paths_in(tmp_path), training, tokenizer, say=print, advance=lambda _: None)
        assert in_memory() == before
    finally:
        gc.enable()
    assert len(losses(tmp_path)) > 0
    assert load_tokenizer(ModelConfig(name=str(paths_in(tmp_path).model))).eos_token


def test_no_token_of_an_examples_file_is_lost_by_holding_back(tiny_config: ModelConfig) -> None:
    tokenizer, how = load_tokenizer(tiny_config), settings(held_back=0.4)
    rows = [
        {"prompt": text.prompt, "completion": text.completion, "puzzle_id": text.puzzle_id}
        for text in TEXTS
    ]
    lessons = read_lessons(tokenizer, rows, how, 7)
    found = [piece for block in (*lessons.learnt, *lessons.held_back) for piece in block]
    expected = [piece for block in pack(tiny_config, how) for piece in block]
    assert lessons.held_back
    assert sorted(found, key=repr) == sorted(expected, key=repr)
