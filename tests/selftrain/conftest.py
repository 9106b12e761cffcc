"""A model small enough to be made on the spot: random weights, the built-in model's tokenizer."""

from pathlib import Path

import pytest

from selftrain.config import ModelConfig


@pytest.fixture(autouse=True)
def no_known_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test judge its reference solutions anew, and leave the user's cache alone."""
    file = tmp_path / "known" / "references.txt"
    monkeypatch.setattr("selftrain.known_references.known_file", lambda: file)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a Llama of random weights, large enough to make its draws differ; give its folder."""
    from scripted import make_model

    return make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny_config(tiny_model: Path) -> ModelConfig:
    """Configure the tiny model on a CPU in float32."""
    return ModelConfig(name=str(tiny_model), device="cpu", dtype="float32", batch_size=64)
