"""Fine-tuning: what is packed, what sees what, and that one seed writes one file."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import PreTrainedTokenizerBase

from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.files import read_rows
from selftrain.finetune import blocks, count_steps, fine_tune
from selftrain.models import load_for_training, load_model, load_tokenizer

TEXTS = [
    "def f(x: int):\n    return x + 2 == 5\n\ndef g():\n    return 5 - 2\n\nassert f(g())",
    "def f(s: str):\n    return s[::-1] == 'ab'\n\ndef g():\n    return 'ba'\n\nassert f(g())",
    "x = 1",
    "y = [1, 2, 3]\n" * 30,
    "def f(x: int):\n    return x == 9",
]
LORA = {"method": "lora", "lora": {"rank": 4, "alpha": 8}}


def train(config: ModelConfig, folder: Path, seed: int = 7, **settings: Any) -> list[float]:
    """Fine-tune the tiny model on TEXTS; give the losses."""
    how = FinetuneConfig.model_validate(
        {"learning_rate": 1e-2, "batch_size": 2, "block_tokens": 64, "warmup_steps": 1} | settings
    )
    data = list(blocks(load_tokenizer(config), TEXTS, how.block_tokens))
    folder.mkdir()
    model = load_for_training(config, how.method, None)
    fine_tune(model, data, how, seed, folder, advance=lambda _: None)
    return [row["loss"] for row in read_rows(folder / "training.jsonl")]


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def tokenizer(tiny_config: ModelConfig) -> PreTrainedTokenizerBase:
    return load_tokenizer(tiny_config)


def test_packing_drops_no_token(tokenizer: PreTrainedTokenizerBase) -> None:
    packed = list(blocks(tokenizer, TEXTS, 64))
    found: list[int] = []
    for block in packed:
        ids, positions = block["input_ids"].tolist(), block["position_ids"].tolist()
        padding = trailing_padding(block)
        found += ids[: len(ids) - padding]
        assert len(ids) == len(positions) == len(block["labels"]) == 64
    expected: list[int] = []
    for text in TEXTS:
        expected += [*tokenizer(text)["input_ids"], tokenizer.eos_token_id]
    assert found == expected


def trailing_padding(block: dict[str, torch.Tensor]) -> int:
    """Count the tokens at the end that are one unlearnt example of padding."""
    labels, positions = block["labels"].tolist(), block["position_ids"].tolist()
    count = 0
    while (
        count < len(labels) and labels[-1 - count] == -100 and block["input_ids"][-1 - count] == 0
    ):
        count += 1
        if positions[-count] == 0:
            break
    return count


def test_padding_is_not_learnt_nor_an_examples_first_token(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    (block,) = blocks(tokenizer, ["x = 1", "x = 2"], 32)
    one, two = (tokenizer(text)["input_ids"] for text in ("x = 1", "x = 2"))
    end = tokenizer.eos_token_id
    padding = 32 - len(one) - len(two) - 2
    assert block["labels"].tolist() == [-100, *one[1:], end, -100, *two[1:], end, *[-100] * padding]


@pytest.mark.parametrize("row", [0, 1])
def test_examples_in_one_block_do_not_see_each_other(tiny_config: ModelConfig, row: int) -> None:
    model, tokenizer = load_model(tiny_config), load_tokenizer(tiny_config)
    packed = [next(blocks(tokenizer, texts, 128)) for texts in (TEXTS[:3], TEXTS[1::-1])]
    batch = {key: torch.stack([block[key] for block in packed]) for key in packed[0]}
    with torch.no_grad():
        logits = model(**batch, use_cache=False).logits[row]
        texts = (TEXTS[:3], TEXTS[1::-1])[row]
        start = 0
        for text in texts:
            ids = torch.tensor([tokenizer(text)["input_ids"]])
            alone = model(ids).logits[0]
            torch.testing.assert_close(
                logits[start : start + ids.shape[1]], alone, atol=1e-4, rtol=1e-4
            )
            start += ids.shape[1] + 1
    assert len(texts) > 1


def test_steps_are_counted_as_they_are_made(tiny_config: ModelConfig, tmp_path: Path) -> None:
    losses = train(tiny_config, tmp_path / "a", epochs=2, batch_size=3)
    num_blocks = len(list(blocks(load_tokenizer(tiny_config), TEXTS, 64)))
    assert num_blocks % 3 > 0
    assert len(losses) == count_steps(num_blocks, FinetuneConfig(epochs=2, batch_size=3))


def test_loss_falls_on_a_repeated_text(tiny_config: ModelConfig, tmp_path: Path) -> None:
    losses = train(tiny_config, tmp_path / "a", epochs=12)
    assert sum(losses[-3:]) < 0.6 * sum(losses[:3])


@pytest.mark.parametrize("settings", [{}, LORA | {"lora": {"rank": 4, "dropout": 0.1}}])
def test_one_seed_writes_the_same_bytes(
    tiny_config: ModelConfig, tmp_path: Path, settings: dict[str, Any]
) -> None:
    train(tiny_config, tmp_path / "a", **settings)
    torch.rand(5)  # What was drawn before must not matter.
    train(tiny_config, tmp_path / "b", **settings)
    train(tiny_config, tmp_path / "c", seed=8, **settings)
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    assert hashes(tmp_path / "a") != hashes(tmp_path / "c")


def test_an_adapter_is_written_loaded_and_merged(tiny_config: ModelConfig, tmp_path: Path) -> None:
    how = FinetuneConfig.model_validate(LORA | {"learning_rate": 1e-2, "block_tokens": 64})
    model = load_for_training(tiny_config, "lora", None)
    tokenizer = load_tokenizer(tiny_config)
    data = list(blocks(tokenizer, TEXTS, 64))
    fine_tune(model, data, how, 7, tmp_path, advance=lambda _: None)
    assert not (tmp_path / "model.safetensors").exists()
    trained = PeftModel.from_pretrained(load_model(tiny_config), str(tmp_path)).eval()
    merged = load_model(tiny_config, tmp_path)
    ids = torch.tensor([tokenizer(TEXTS[0])["input_ids"]])
    with torch.no_grad():
        expected, found = trained(ids).logits, merged(ids).logits
        base = load_model(tiny_config)(ids).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert (found - base).abs().max() > 0.01


def test_an_adapter_is_trained_further_as_an_adapter(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    train(tiny_config, tmp_path / "a", **LORA)
    how = FinetuneConfig.model_validate(LORA | {"learning_rate": 1e-2, "block_tokens": 64})
    model = load_for_training(tiny_config, "lora", tmp_path / "a")
    data = list(blocks(load_tokenizer(tiny_config), TEXTS, 64))
    (tmp_path / "b").mkdir()
    fine_tune(model, data, how, 7, tmp_path / "b", advance=lambda _: None)
    first, last = (next(read_rows(tmp_path / x / "training.jsonl"))["loss"] for x in "ab")
    assert last < first
    assert (tmp_path / "b" / "adapter_model.safetensors").exists()


def test_adapter_config_does_not_depend_on_the_hash_seed(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    code = """
import sys
from pathlib import Path
from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.finetune import blocks, fine_tune
from selftrain.models import load_for_training, load_tokenizer
config = ModelConfig(name=sys.argv[1], device="cpu")
data = list(blocks(load_tokenizer(config), ["x = 1"], 16))
how = FinetuneConfig(method="lora", block_tokens=16)
fine_tune(load_for_training(config, "lora", None), data, how, 0, Path(sys.argv[2]), advance=print)
"""
    processes = []
    for hash_seed in ("1", "2"):
        folder = tmp_path / hash_seed
        folder.mkdir()
        command = [sys.executable, "-c", code, tiny_config.name, folder]
        env = os.environ | {"PYTHONHASHSEED": hash_seed}
        processes.append(subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL))
    assert [process.wait() for process in processes] == [0, 0]
    one, other = ((tmp_path / x / "adapter_config.json").read_bytes() for x in ("1", "2"))
    assert one == other
    assert len(json.loads(one)["target_modules"]) > 1


def test_a_round_of_one_step_is_not_all_warm_up(tiny_config: ModelConfig, tmp_path: Path) -> None:
    train(tiny_config, tmp_path / "a", batch_size=99, warmup_steps=10)
    (step,) = read_rows(tmp_path / "a" / "training.jsonl")
    assert step["learning_rate"] == 1e-2
