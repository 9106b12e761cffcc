"""GGUF files: converted once, exactly, and named by what is trained from them."""

import json
from pathlib import Path

import pytest
import torch
from ggufs import write_gguf

from scripts.fetch_smollm2 import FOLDER
from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.errors import UsageError
from selftrain.gguf_file import converted, sha256_of
from selftrain.model_source import resolve
from selftrain.models import load_model, load_sampler, load_tokenizer, tidy_adapter
from selftrain.plan.weights import are_local, measure_weights
from selftrain.provenance import describe_model
from selftrain.sampling import Request

TEXT = "def f(x: int):\n    return x +     964 == 1853\t é \U0001f600"


@pytest.fixture(scope="session")
def tiny_gguf(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the tiny model as a GGUF file."""
    return write_gguf(tiny_model, tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def config_of(path: Path) -> ModelConfig:
    return ModelConfig(name=str(path), device="cpu", dtype="float32")


def test_a_gguf_file_has_the_weights_and_tokens_of_the_model_it_was_made_from(
    tiny_gguf: Path, tiny_model: Path
) -> None:
    theirs, ours = load_tokenizer(config_of(tiny_model)), load_tokenizer(config_of(tiny_gguf))
    ids = ours(TEXT)["input_ids"]
    assert ids == theirs(TEXT)["input_ids"] and ours.decode(ids) == TEXT
    assert ours.eos_token == "<|endoftext|>"
    with torch.inference_mode():
        expected = load_model(config_of(tiny_model))(torch.tensor([ids])).logits
        found = load_model(config_of(tiny_gguf))(torch.tensor([ids])).logits
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_it_is_converted_once_and_says_so_once(
    tiny_gguf: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = converted(tiny_gguf)
    assert capsys.readouterr().err == (
        f"{tiny_gguf}: converting it once, into {folder}; half a minute or more.\n"
    )
    before = (folder / "model.safetensors").stat()
    assert converted(tiny_gguf) == folder
    assert capsys.readouterr().err == ""
    assert (folder / "model.safetensors").stat().st_ino == before.st_ino


def test_a_copy_under_another_name_is_not_converted_again(tiny_gguf: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(tiny_gguf.read_bytes())
    before = (converted(tiny_gguf) / "model.safetensors").stat()
    assert (converted(copy) / "model.safetensors").stat().st_ino == before.st_ino


def test_it_is_sampled_from(tiny_gguf: Path) -> None:
    sampler = load_sampler(config_of(tiny_gguf))
    (drawn,) = sampler.sample(
        [Request("def f(", 1)], temperature=0.9, max_new_tokens=8, advance=lambda _: None
    )
    assert 1 <= drawn.num_tokens <= 8


def test_an_adapter_trained_from_it_names_the_file_and_outlives_the_cache(
    tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from peft import LoraConfig, get_peft_model

    lora = LoraConfig(target_modules="all-linear", init_lora_weights=False)
    adapter = get_peft_model(load_model(config_of(tiny_gguf)), lora)
    folder = tmp_path / "adapter"
    adapter.save_pretrained(folder)
    tidy_adapter(folder)
    about = json.loads((folder / "adapter_config.json").read_text())
    assert about["base_model_name_or_path"] == str(tiny_gguf)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    ids = torch.tensor([load_tokenizer(config_of(folder))(TEXT)["input_ids"]])
    with torch.inference_mode():
        expected, found = adapter(ids).logits, load_model(config_of(folder))(ids).logits
        again = load_model(config_of(tiny_gguf), folder)(ids).logits
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(again, expected, rtol=1e-4, atol=1e-4)


def test_a_run_is_made_with_the_file_by_its_hash(tiny_gguf: Path) -> None:
    assert describe_model(config_of(tiny_gguf)) == {
        "name": str(tiny_gguf),
        "files": {"tiny.gguf": sha256_of(tiny_gguf)},
    }


def test_a_plan_measures_it(tiny_gguf: Path, tiny_model: Path) -> None:
    found = measure_weights(config_of(tiny_gguf), FinetuneConfig())
    assert found == measure_weights(config_of(tiny_model), FinetuneConfig())
    assert are_local(config_of(tiny_gguf))


def test_a_file_without_a_part_of_its_model_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    path = write_gguf(tiny_model, tmp_path / "a.gguf", without=["blk.1.ffn_up.weight"])
    with pytest.raises(
        UsageError, match=r"it lacks model\.layers\.1\.mlp\.up_proj\.weight"
    ) as caught:
        converted(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [0, 3, 11, 24, 100, 1_000, 20_000, -5])
def test_a_file_cut_short_is_refused_in_one_sentence(
    tiny_gguf: Path, tmp_path: Path, size: int
) -> None:
    path = tmp_path / "short.gguf"
    path.write_bytes(tiny_gguf.read_bytes()[:size])
    with pytest.raises(UsageError, match="Is it a whole GGUF file") as caught:
        converted(path)
    assert "\n" not in str(caught.value)


def test_an_unknown_way_to_split_text_is_told(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    converted(write_gguf(tiny_model, tmp_path / "a.gguf", split="of-tomorrow"))
    assert "its way to split text, 'of-tomorrow', is not known here" in capsys.readouterr().err


def test_a_gguf_file_that_is_not_there_is_no_hub_id() -> None:
    with pytest.raises(UsageError, match=r"there is no folder 'models/none\.gguf'"):
        resolve("models/none.gguf")


def test_smollm2_ends_texts_as_completions_do_and_parts_digits() -> None:
    if not FOLDER.is_dir():
        pytest.skip(f"{FOLDER} is not there; python -m scripts.fetch_smollm2 writes it")
    tokenizer = load_tokenizer(config_of(FOLDER))
    assert (tokenizer.eos_token, tokenizer.eos_token_id) == ("<|endoftext|>", 0)
    assert tokenizer.convert_ids_to_tokens(tokenizer("    12")["input_ids"]) == ["ĠĠĠĠ", "1", "2"]
    assert tokenizer.decode(tokenizer(TEXT)["input_ids"]) == TEXT
    assert json.loads((FOLDER / "generation_config.json").read_text())["eos_token_id"] == [0, 2]
