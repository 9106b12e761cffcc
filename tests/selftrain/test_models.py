"""Finding a model: what is none is one sentence that says what was found."""

from pathlib import Path

import pytest
import torch

from selftrain.cli import main
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


@pytest.mark.parametrize("command", ["run", "ablate", "sweep"])
@pytest.mark.parametrize(
    ("settings", "cuda", "found"),
    [
        (["model.engine=vllm"], False, "needs a GPU with CUDA, and torch finds none here"),
        (["model.engine=vllm"], True, "pip install 'selftrain[vllm]'"),
        (["model.engine=vllm", "model.device=cpu"], True, "but model.device is cpu"),
        (["model.device=nowhere"], False, "'nowhere' cannot be used here"),
    ],
)
def test_a_model_that_cannot_be_sampled_from_here_is_refused_before_anything_is_written(
    command: str,
    settings: list[str],
    cuda: bool,
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr("selftrain.sampling.vllm_start.find_spec", lambda _: None)
    Path("a.yaml").touch()
    what = "builtin:tiny" if command == "sweep" else "a.yaml"
    assert main([command, what, "puzzles.num_dev=20", *settings]) == 2
    assert found in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_what_several_processes_cannot_share_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Crew:
        size = 2

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("selftrain.models.current_crew", Crew)
    Path("a.yaml").write_text("model:\n  device: cuda:0\n")
    assert main(["run", "a.yaml"]) == 2
    assert "which all 2 processes would share" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


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
