"""Fine-tuning: the loss falls, one seed writes one file, and how a step is cut up changes nothing."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from lessons import LORA, TEXTS, losses, pack, paths_in, settings, train
from peft import LoraConfig, PeftModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.files import read_json, read_rows, write_json
from selftrain.finetune.attention import WITHIN_PIECES, attend_within_pieces
from selftrain.finetune.blocks import count_steps
from selftrain.finetune.lessons import Lessons
from selftrain.finetune.log import read_training
from selftrain.finetune.tracker import check_tracker
from selftrain.finetune.train import fine_tune
from selftrain.models import load_for_training, load_model, load_tokenizer, tidy_adapter


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


@pytest.mark.parametrize("loss_on", ["text", "completion"])
def test_the_first_loss_is_the_mean_over_the_learnt_tokens_of_the_step(
    tiny_config: ModelConfig, tmp_path: Path, loss_on: str
) -> None:
    model, tokenizer = load_model(tiny_config), load_tokenizer(tiny_config)
    total, count = 0.0, 0
    for text in TEXTS[:4]:
        whole = tokenizer(text.prompt + text.completion)["input_ids"]
        given = len(tokenizer(text.prompt)["input_ids"]) if loss_on == "completion" else 1
        ids = torch.tensor([[*whole, tokenizer.eos_token_id]])
        labels = ids.clone()
        labels[0, :given] = -100
        num_learnt = ids.shape[1] - given
        total += float(model(input_ids=ids, labels=labels).loss.detach()) * num_learnt
        count += num_learnt
    how = settings(batch_size=9, loss_on=loss_on)
    lessons = Lessons(pack(tiny_config, how, TEXTS[:4]))
    fine_tune(model, lessons, how, 7, paths_in(tmp_path), say=print, advance=print)
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


@pytest.mark.parametrize("more", [{}, LORA])
def test_checkpointed_activations_are_computed_again(
    tiny_config: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    calls = 0

    def counted(*args: Any, **kwargs: Any) -> object:
        nonlocal calls
        calls += torch.is_grad_enabled()
        return attend_within_pieces(*args, **kwargs)

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS, WITHIN_PIECES, counted)
    train(tiny_config, tmp_path / "a", batch_size=99, **more)
    plain, calls = calls, 0
    train(tiny_config, tmp_path / "b", batch_size=99, gradient_checkpointing=True, **more)
    assert (plain > 0, calls) == (True, 2 * plain)


def test_an_order_is_drawn_once_an_epoch(
    tiny_config: ModelConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, own = [], torch.randperm

    def noted(*args: Any, **kwargs: Any) -> torch.Tensor:
        drawn.append(args)
        return own(*args, **kwargs)

    monkeypatch.setattr(torch, "randperm", noted)
    found = train(tiny_config, tmp_path, epochs=2, batch_size=1)
    assert len(found) > len(drawn) == 2


def test_bfloat16_computes_roughly_and_keeps_float32_weights(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    exact = train(tiny_config, tmp_path / "a", batch_size=99)
    rough = train(tiny_config, tmp_path / "b", batch_size=99, precision="bfloat16")
    assert rough != exact
    assert rough == pytest.approx(exact, rel=0.01)
    saved = load_model(tiny_config.model_copy(update={"name": str(paths_in(tmp_path / "b").model)}))
    assert {weight.dtype for weight in saved.parameters()} == {torch.float32}


def test_an_adapter_is_written_loaded_and_merged(tiny_config: ModelConfig, tmp_path: Path) -> None:
    train(tiny_config, tmp_path, **LORA)
    folder = paths_in(tmp_path).model
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
    model = load_for_training(tiny_config, "lora", paths_in(tmp_path / "a").model)
    lessons, there = Lessons(pack(tiny_config, how)), paths_in(tmp_path / "b")
    fine_tune(model, lessons, how, 7, there, say=print, advance=lambda _: None)
    assert losses(tmp_path / "b")[0] < first[0]
    assert (there.model / "adapter_model.safetensors").exists()


def test_layers_that_peft_names_in_any_order_make_one_adapter_config(tmp_path: Path) -> None:
    written = []
    for names in (["up_proj", "q_proj", "lm_head"], ["lm_head", "up_proj", "q_proj"]):
        LoraConfig(base_model_name_or_path="base").save_pretrained(str(tmp_path))
        path = tmp_path / "adapter_config.json"
        sets = dict.fromkeys(("target_modules", "exclude_modules", "modules_to_save"), names)
        write_json(path, read_json(path) | sets)
        tidy_adapter(tmp_path)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert read_json(path)["target_modules"] == ["lm_head", "q_proj", "up_proj"]


def test_a_round_of_one_step_is_not_all_warm_up(tiny_config: ModelConfig, tmp_path: Path) -> None:
    train(tiny_config, tmp_path, batch_size=99, warmup_steps=10)
    (step,) = read_rows(paths_in(tmp_path).model / "training.jsonl")
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
        paths_in(tmp_path / "a"),
        say=print,
        advance=lambda _: None,
    )
    model = load_for_training(tiny_config, "full", None)
    fine_tune(
        model, Lessons(learnt), how, 7, paths_in(tmp_path / "b"), say=print, advance=lambda _: None
    )
    with_held, without = (
        read_training(paths_in(tmp_path / x).model / "training.jsonl") for x in ("a", "b")
    )
    assert with_held.steps == without.steps
    per_epoch = count_steps(len(learnt), how) // 2
    assert [(row["epoch"], row["step"]) for row in with_held.evaluations] == [
        (1, per_epoch),
        (2, 2 * per_epoch),
    ]
    again = paths_in(tmp_path / "a").model
    trained = load_for_training(tiny_config, "full", again)
    fine_tune(
        trained,
        Lessons(held),
        settings(batch_size=99),
        7,
        paths_in(tmp_path / "c"),
        say=print,
        advance=print,
    )
    assert losses(tmp_path / "c")[0] == pytest.approx(
        with_held.evaluations[-1]["held_back_loss"], rel=1e-5
    )


def test_a_tracker_is_told_the_losses_and_what_is_trained_how(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    found = train(tiny_config, tmp_path, seed=8, tracker="tensorboard")
    events = [
        event
        for file in paths_in(tmp_path).tracker.rglob("events.*")
        for event in read_events(file)
    ]
    told = [v.simple_value for e in events for v in e.summary.value if v.tag == "train/loss"]
    assert told == pytest.approx(found)
    (file,) = paths_in(tmp_path).tracker.rglob("hparams.yml")
    config = yaml.safe_load(file.read_text())
    assert config["folder"] == str(paths_in(tmp_path).tracker)
    assert (config["seed"], config["learning_rate"], config["method"]) == (8, 1e-2, "full")


def read_events(file: Path) -> Iterator[Any]:
    """Read what tensorboard was told: a length of 8 bytes, 4 to check it, an event, 4 again."""
    from tensorboardX.proto.event_pb2 import Event

    data = file.read_bytes()
    while data:
        length = int.from_bytes(data[:8], "little")
        yield Event.FromString(data[12 : 12 + length])
        data = data[12 + length + 4 :]


def test_an_unknown_tracker_or_one_that_is_not_installed_is_a_sentence() -> None:
    check_tracker(None)
    check_tracker("tensorboard")
    with pytest.raises(
        UsageError, match=r"finetune\.tracker: 'weights' is no tracker of accelerate"
    ):
        check_tracker("weights")
    with pytest.raises(UsageError, match=r"the package of aim is not installed\. Try: pip install"):
        check_tracker("aim")
