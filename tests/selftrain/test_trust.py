"""What comes with a model and could run: its Python files and pickled weights, refused by default."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from selftrain.config import FinetuneConfig, ModelConfig, VerifierConfig
from selftrain.errors import UsageError
from selftrain.models import load_model, load_tokenizer
from selftrain.plan.weights import measure_weights
from selftrain.verifier.learning.inputs import reads_of
from selftrain.verifier.learning.network import load_base

CODE = """
from pathlib import Path
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

Path({mark!r}).write_text("it ran")

class OwnConfig(LlamaConfig):
    model_type = "own"

class OwnModel(LlamaForCausalLM):
    config_class = OwnConfig

class OwnTokenizer(PreTrainedTokenizerFast):
    pass
"""


@pytest.fixture(autouse=True)
def modules(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let transformers copy a model's code into a folder of the test's."""
    folder = str(tmp_path_factory.mktemp("modules"))
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", folder)


def change(path: Path, **keys: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def with_code(model: Path, folder: Path, model_type: str = "own") -> Path:
    """Copy a model into a folder whose own code leaves a file beside it when it runs."""
    shutil.copytree(model, folder)
    mark = folder.parent / "it-ran"
    (folder / "own.py").write_text(CODE.format(mark=str(mark)))
    classes = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    change(folder / "config.json", model_type=model_type, auto_map=classes)
    change(
        folder / "tokenizer_config.json",
        tokenizer_class="OwnTokenizer",
        auto_map={"AutoTokenizer": [None, "own.OwnTokenizer"]},
    )
    return mark


def pickled(model: Path, folder: Path) -> None:
    """Copy a model with its weights pickled."""
    from safetensors.torch import load_file

    shutil.copytree(model, folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def refusal(load: object, config: object, *others: object) -> str:
    with pytest.raises(UsageError) as caught:
        load(config, *others)  # type: ignore[operator]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_models_own_code_does_not_run_and_the_refusal_names_the_setting(
    tiny_model: Path, tmp_path: Path
) -> None:
    mark = with_code(tiny_model, tmp_path / "model")
    config = ModelConfig(name=str(tmp_path / "model"), device="cpu")
    asked = "brings Python code of its own, which would run with all your rights."
    assert asked in refusal(load_model, config)
    assert "model.trust_remote_code=true" in refusal(load_tokenizer, config)
    assert asked in refusal(measure_weights, config, FinetuneConfig())
    learner = VerifierConfig(model=config)
    assert asked in refusal(load_base, learner, reads_of(learner, "full"), 0)
    assert not mark.exists()


def test_a_model_that_transformers_knows_is_loaded_without_the_code_beside_it(
    tiny_model: Path, tmp_path: Path
) -> None:
    mark = with_code(tiny_model, tmp_path / "model", model_type="llama")
    load_model(ModelConfig(name=str(tmp_path / "model"), device="cpu"))
    assert not mark.exists()


def test_a_models_own_code_runs_where_it_is_trusted(tiny_model: Path, tmp_path: Path) -> None:
    mark = with_code(tiny_model, tmp_path / "model")
    config = ModelConfig(name=str(tmp_path / "model"), device="cpu", trust_remote_code=True)
    assert type(load_model(config)).__name__ == "OwnModel"
    assert mark.exists()
    assert load_tokenizer(config)("f")["input_ids"]
    assert measure_weights(config, FinetuneConfig()).parameters > 0


def test_pickled_weights_are_refused_and_loaded_where_allowed(
    tiny_model: Path, tmp_path: Path
) -> None:
    pickled(tiny_model, tmp_path / "model")
    config = ModelConfig(name=str(tmp_path / "model"), device="cpu")
    said = refusal(load_model, config)
    assert "has only pickled weights (pytorch_model.bin)" in said and "model.weights=any" in said
    load_model(config.model_copy(update={"weights": "any"}))


def test_a_verifier_does_not_start_from_pickled_weights_either(
    tiny_model: Path, tmp_path: Path
) -> None:
    pickled(tiny_model, tmp_path / "model")
    config = VerifierConfig(model=ModelConfig(name=str(tmp_path / "model"), device="cpu"))
    assert "model.weights=any" in refusal(load_base, config, reads_of(config, "full"), 0)


def test_an_adapters_pickled_weights_are_refused(tiny_model: Path, tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model

    base = load_model(ModelConfig(name=str(tiny_model), device="cpu", dtype="float32"))
    adapter = get_peft_model(base, LoraConfig(target_modules="all-linear"))
    adapter.save_pretrained(tmp_path, safe_serialization=False)
    assert (tmp_path / "adapter_model.bin").is_file()
    config = ModelConfig(name=str(tmp_path), device="cpu")
    assert "has only pickled weights (adapter_model.bin)" in refusal(load_model, config)
    load_model(config.model_copy(update={"weights": "any"}))
