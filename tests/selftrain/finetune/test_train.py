"""Fine-tuning: the loss falls, one seed writes one file, and how a step is cut up changes nothing."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from lessons import LORA, TEXTS, losses, pack, places, settings, train
from peft import PeftModel

from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.files import read_rows
from selftrain.finetune.blocks import count_steps
from selftrain.finetune.log import read_training
from selftrain.finetune.tracker import check_tracker
from selftrain.finetune.train import Lessons, fine_tune
from selftrain.models import load_for_training, load_model, load_tokenizer


def hashes(folder: Path) -> dict[str, str]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in found
    }


def test_steps_are_counted_as_they_are_made(tiny_config: ModelConfig, tmp_path: Path) -> None:
    found = train(tiny_config, tmp_path, epochs=2, batch_size=3)
    num_blocks = len(pack(tiny_config, settings()))
    assert num_blocks % 3 > 0
    assert len(found) == count_steps(num_blocks, settings(epochs=2, batch_size=3))


def test_loss_falls_on_repeated_texts(tiny_config: ModelConfig, tmp_path: Path) -> None:
    found = train(tiny_config, tmp_path, epochs=12)
    assert sum(found[-3:]) < 0.6 * sum(found[:3])


def test_the_first_loss_is_the_mean_over_the_tokens_of_the_step(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    model, tokenizer = load_model(tiny_config), load_tokenizer(tiny_config)
    total, count = 0.0, 0
    for text in TEXTS[:4]:
        ids = torch.tensor(
            [[*tokenizer(text.prompt + text.completion)["input_ids"], tokenizer.eos_token_id]]
        )
        total += float(model(input_ids=ids, labels=ids).loss.detach()) * (ids.shape[1] - 1)
        count += ids.shape[1] - 1
    lessons = Lessons(pack(tiny_config, settings(), TEXTS[:4]))
    fine_tune(model, lessons, settings(batch_size=9), 7, places(tmp_path), say=print, advance=print)
    assert losses(tmp_path) == [pytest.approx(total / count, rel=1e-5)]


@pytest.mark.parametrize("more", [{}, LORA | {"lora": {"rank": 4, "dropout": 0.1}}])
def test_one_seed_writes_the_same_bytes(
    tiny_config: ModelConfig, tmp_path: Path, more: dict[str, Any]
) -> None:
    train(tiny_config, tmp_path / "a", **more)
    torch.rand(5)  # What was drawn before must not matter.
    train(tiny_config, tmp_path / "b", **more)
    train(tiny_config, tmp_path / "c", seed=8, **more)
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    assert hashes(tmp_path / "a") != hashes(tmp_path / "c")


@pytest.mark.parametrize(
    "more",
    [
        {"gradient_accumulation_steps": 3},
        {"gradient_accumulation_steps": 2, "loss_on": "completion"},
        {"gradient_checkpointing": True},
        LORA | {"gradient_checkpointing": True},
    ],
)
def test_a_way_to_need_less_memory_changes_no_loss(
    tiny_config: ModelConfig, tmp_path: Path, more: dict[str, Any]
) -> None:
    saving = ("gradient_accumulation_steps", "gradient_checkpointing")
    plain = {key: value for key, value in more.items() if key not in saving}
    expected = train(tiny_config, tmp_path / "a", batch_size=3, epochs=2, **plain)
    found = train(tiny_config, tmp_path / "b", batch_size=3, epochs=2, **more)
    assert found == pytest.approx(expected, rel=1e-4)


def test_learning_completions_alone_has_another_loss(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    text = train(tiny_config, tmp_path / "a", batch_size=99)
    completion = train(tiny_config, tmp_path / "b", batch_size=99, loss_on="completion")
    assert abs(text[0] - completion[0]) > 0.01


def test_bfloat16_computes_roughly_and_keeps_float32_weights(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    exact = train(tiny_config, tmp_path / "a", batch_size=99)
    rough = train(tiny_config, tmp_path / "b", batch_size=99, precision="bfloat16")
    assert rough != exact
    assert rough == pytest.approx(exact, rel=0.01)
    saved = load_model(tiny_config.model_copy(update={"name": str(places(tmp_path / "b").model)}))
    assert {weight.dtype for weight in saved.parameters()} == {torch.float32}


def test_an_adapter_is_written_loaded_and_merged(tiny_config: ModelConfig, tmp_path: Path) -> None:
    train(tiny_config, tmp_path, **LORA)
    folder = places(tmp_path).model
    assert not (folder / "model.safetensors").exists()
    trained = PeftModel.from_pretrained(load_model(tiny_config), str(folder)).eval()
    merged = load_model(tiny_config, folder)
    ids = torch.tensor([load_tokenizer(tiny_config)(TEXTS[0].prompt)["input_ids"]])
    with torch.no_grad():
        expected, found = trained(ids).logits, merged(ids).logits
        base = load_model(tiny_config)(ids).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert (found - base).abs().max() > 0.01


def test_an_adapter_is_trained_further_as_an_adapter(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    first = train(tiny_config, tmp_path / "a", **LORA)
    how = settings(**LORA)
    model = load_for_training(tiny_config, "lora", places(tmp_path / "a").model)
    lessons, there = Lessons(pack(tiny_config, how)), places(tmp_path / "b")
    fine_tune(model, lessons, how, 7, there, say=print, advance=lambda _: None)
    assert losses(tmp_path / "b")[0] < first[0]
    assert (there.model / "adapter_model.safetensors").exists()


def test_adapter_config_does_not_depend_on_the_hash_seed(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    code = """
import sys
from pathlib import Path
from lessons import LORA, train
from selftrain.config import ModelConfig
train(ModelConfig(name=sys.argv[1], device="cpu"), Path(sys.argv[2]), **LORA)
"""
    processes = []
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", code, tiny_config.name, str(tmp_path / hash_seed)]
        where = str(Path(__file__).parents[1])
        env = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": where}
        processes.append(subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL))
    assert [process.wait() for process in processes] == [0, 0]
    one, other = (
        (places(tmp_path / x).model / "adapter_config.json").read_bytes() for x in ("1", "2")
    )
    assert one == other
    assert len(json.loads(one)["target_modules"]) > 1


def test_a_round_of_one_step_is_not_all_warm_up(tiny_config: ModelConfig, tmp_path: Path) -> None:
    train(tiny_config, tmp_path, batch_size=99, warmup_steps=10)
    (step,) = read_rows(places(tmp_path).model / "training.jsonl")
    assert step["learning_rate"] == 1e-2


def test_a_loss_that_is_not_finite_is_told_in_a_sentence(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    with pytest.raises(
        RunError, match=r"diverged: the loss is nan at step \d+\. Lower finetune\.l"
    ):
        train(tiny_config, tmp_path, epochs=3, learning_rate=1e30)


def test_what_is_held_back_is_measured_after_each_epoch_and_not_learnt(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    how = settings(epochs=2, gradient_accumulation_steps=2)
    learnt, held = pack(tiny_config, how, TEXTS[4:]), pack(tiny_config, how, TEXTS[:4])
    model = load_for_training(tiny_config, "full", None)
    fine_tune(
        model,
        Lessons(learnt, held),
        how,
        7,
        places(tmp_path / "a"),
        say=print,
        advance=lambda _: None,
    )
    model = load_for_training(tiny_config, "full", None)
    fine_tune(
        model, Lessons(learnt), how, 7, places(tmp_path / "b"), say=print, advance=lambda _: None
    )
    with_held, without = (
        read_training(places(tmp_path / x).model / "training.jsonl") for x in ("a", "b")
    )
    assert with_held.steps == without.steps
    per_epoch = count_steps(len(learnt), how) // 2
    assert [(row["epoch"], row["step"]) for row in with_held.evaluations] == [
        (1, per_epoch),
        (2, 2 * per_epoch),
    ]
    again = places(tmp_path / "a").model
    trained = load_for_training(tiny_config, "full", again)
    fine_tune(
        trained,
        Lessons(held),
        settings(batch_size=99),
        7,
        places(tmp_path / "c"),
        say=print,
        advance=print,
    )
    assert losses(tmp_path / "c")[0] == pytest.approx(
        with_held.evaluations[-1]["evaluation_loss"], rel=1e-5
    )


def test_a_tracker_is_told_the_losses(tiny_config: ModelConfig, tmp_path: Path) -> None:
    from tensorboardX.proto.event_pb2 import Event

    found = train(tiny_config, tmp_path, tracker="tensorboard")
    (file,) = places(tmp_path).tracker.rglob("events.*")
    told = []
    data = file.read_bytes()
    while data:
        length = int.from_bytes(data[:8], "little")
        event = Event.FromString(data[12 : 12 + length])
        told += [v.simple_value for v in event.summary.value if v.tag == "train/loss"]
        data = data[12 + length + 4 :]
    assert told == pytest.approx(found)


def test_an_unknown_tracker_or_one_that_is_not_installed_is_a_sentence() -> None:
    check_tracker(None)
    check_tracker("tensorboard")
    with pytest.raises(
        UsageError, match=r"finetune\.tracker: 'weights' is no tracker of accelerate"
    ):
        check_tracker("weights")
    with pytest.raises(UsageError, match=r"the package of aim is not installed\. Try: pip install"):
        check_tracker("aim")
