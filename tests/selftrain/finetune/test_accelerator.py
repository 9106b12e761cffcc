"""The Accelerator of each training in a process, whatever the one before it or the launcher chose."""

from pathlib import Path

import pytest
import tiny_networks
import torch
from lessons import losses, train

from selftrain.accelerator import make_accelerator
from selftrain.config import ModelConfig
from selftrain.verifier.learning.inputs import reads_of
from selftrain.verifier.learning.learn import learn
from selftrain.verifier.learning.network import load_base


def teach_verifier(base: Path) -> None:
    config = tiny_networks.settings(base, steps=2)
    verifier = load_base(config, reads_of(config, "full"), 3)
    tasks = tiny_networks.make_tasks()
    learn(verifier, tasks, tasks[:2], config, 3, advance=lambda _: None)


def test_verifiers_learn_before_and_after_a_training_in_bfloat16(
    tiny_config: ModelConfig, tmp_path: Path
) -> None:
    base = tiny_networks.make_network("llama", tmp_path / "base")
    teach_verifier(base)
    train(tiny_config, tmp_path / "a", batch_size=99, precision="bfloat16")
    teach_verifier(base)
    train(tiny_config, tmp_path / "b", batch_size=99, precision="bfloat16")
    assert losses(tmp_path / "a") == losses(tmp_path / "b")


def test_the_environment_does_not_divide_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4")
    weight = torch.ones((), requires_grad=True)
    make_accelerator(torch.device("cpu")).backward(3 * weight)
    assert weight.grad == 3


def test_the_model_stays_on_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    make_accelerator(torch.device("cuda:1"))
    assert chosen == [torch.device("cuda:1")]
    assert make_accelerator(torch.device("cpu")).device == torch.device("cpu")
