"""Finding a model: what is none is one sentence that says what was found."""

from pathlib import Path

import pytest
import torch

from selftrain.config import ModelConfig
from selftrain.device import pick_device, pick_dtype
from selftrain.errors import UsageError
from selftrain.model_source import resolve
from selftrain.models import context_tokens, load_model, load_tokenizer


def refusal(name: str) -> str:
    with pytest.raises(UsageError) as caught:
        load_model(ModelConfig(name=name, device="cpu"))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_without_config_json_is_no_model(tmp_path: Path) -> None:
    assert f"the folder {tmp_path} holds no config.json" in refusal(str(tmp_path))


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_text("weights")
    assert "model.gguf is a file" in refusal(str(tmp_path / "model.gguf"))


@pytest.mark.parametrize("name", ["builtin:large", "builtin:", "builtin:../builtin_model"])
def test_an_unknown_builtin_model_is_named(name: str) -> None:
    assert refusal(name) == f"model.name: {name!r} is not built in. There is builtin:tiny."


@pytest.mark.parametrize("name", ["./missing", "/missing/model", "~/missing", "a/b/c", " ", ""])
def test_a_path_that_does_not_exist_is_no_hub_id(name: str) -> None:
    assert f"there is no folder {name!r}" in refusal(name)


def test_a_hub_id_out_of_reach_is_one_sentence() -> None:
    assert "'nobody/no-such-model' cannot be loaded" in refusal("nobody/no-such-model")


def test_the_tokenizer_of_a_hub_id_out_of_reach_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="'nobody/no-such-model' cannot be loaded"):
        load_tokenizer(ModelConfig(name="nobody/no-such-model"))


@pytest.mark.parametrize("name", ["weights", "config"])
def test_a_model_folder_with_a_broken_file_is_one_sentence(
    tiny_model: Path, tmp_path: Path, name: str
) -> None:
    for path in tiny_model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    broken = {"weights": "model.safetensors", "config": "config.json"}[name]
    (tmp_path / broken).write_bytes((tmp_path / broken).read_bytes()[:100])
    assert "cannot be loaded" in refusal(str(tmp_path))


def test_a_model_folder_without_a_tokenizer_is_one_sentence(
    tiny_model: Path, tmp_path: Path
) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((tiny_model / name).read_bytes())
    with pytest.raises(UsageError, match="cannot be loaded"):
        load_tokenizer(ModelConfig(name=str(tmp_path)))


def test_more_context_than_the_model_reads_is_refused(tiny_config: ModelConfig) -> None:
    config = tiny_config.model_copy(update={"context_tokens": 513})
    with pytest.raises(UsageError, match="reads at most 512"):
        context_tokens(load_model(tiny_config), config)


def test_a_device_that_is_not_here_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"model\.device: 'nowhere' cannot be used here"):
        pick_device("nowhere")


def test_the_builtin_model_is_small_and_reads_single_digits() -> None:
    folder = Path(resolve("builtin:tiny"))
    assert (folder / "model.safetensors").stat().st_size <= 8_000_000
    tokenizer = load_tokenizer(ModelConfig())
    assert len(tokenizer("2024")["input_ids"]) == 4
    text = "def f(x: int):\n    return x + 964 == 1853\t é \U0001f600"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"avx512_bf16": True, "amx_bf16": True}, torch.bfloat16),
        # It converts and multiplies in float32's units: slower than float32 itself.
        ({"avx512_bf16": True, "amx_bf16": False}, torch.float32),
        ({"architecture": "aarch64"}, torch.float32),
    ],
)
def test_a_cpu_samples_in_bfloat16_only_where_it_has_units_for_it(
    monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, bool], expected: torch.dtype
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert pick_dtype("auto", torch.device("cpu")) is expected
    assert pick_dtype("bfloat16", torch.device("cpu")) is torch.bfloat16
