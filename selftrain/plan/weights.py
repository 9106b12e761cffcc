"""How large a model is, from its shape alone: no weights are loaded, and none are downloaded.

Of a model of the hub, its config.json and its tokenizer are fetched where they are not there yet.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selftrain.config import FinetuneConfig, ModelConfig
from selftrain.errors import UsageError
from selftrain.files import read_json
from selftrain.loading import loading
from selftrain.model_source import is_adapter, source_of
from selftrain.models import MOST_CONTEXT_TOKENS

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

TRAINED_BYTES = 4
"""Bytes of a trained weight: training is in float32, and so is what it saves."""
HUB_SECONDS = 10.0
"""Longest wait for the hub before a plan leaves out what only the hub knows."""
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")


class NotWithinReach(Exception):
    """The model is on the hub, not on this machine, and the hub does not answer. One sentence."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's size."""

    parameters: int
    """All of them; weights that two layers share count once."""
    trained_parameters: int
    """Those that fine-tuning changes and saves: all, or the adapter's."""
    context_tokens: int
    """Tokens of prompt and completion together."""

    @property
    def saved_bytes(self) -> int:
        """Bytes of a model that a round saves."""
        return self.trained_parameters * TRAINED_BYTES


def measure_weights(model: ModelConfig, finetune: FinetuneConfig) -> Weights:
    """Build the model without memory, and count. Raises NotWithinReach or UsageError."""
    config = _shape(model)
    built = _build(config, trust=model.trust_remote_code)
    parameters = sum(weight.numel() for weight in built.parameters())
    trained = parameters if finetune.method == "full" else _adapter(built, finetune)
    own: int = config.get_text_config().max_position_embeddings
    context = model.context_tokens or min(own, MOST_CONTEXT_TOKENS)
    return Weights(parameters, trained, context)


def are_local(model: ModelConfig) -> bool:
    """Tell whether a model's weights are on this machine: built in, a folder, or downloaded."""
    from huggingface_hub import try_to_load_from_cache

    source = _base(model.name)
    if Path(source).is_dir():
        return any((Path(source) / name).is_file() for name in _WEIGHTS)
    revision = model.revision or "main"
    return any(
        isinstance(try_to_load_from_cache(source, name, revision=revision), str)
        for name in _WEIGHTS
    )


def reach(model: ModelConfig) -> None:
    """Ask the hub for a model, once. Raises NotWithinReach where it does not answer in time.

    transformers would try for half a minute.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(_base(model.name), revision=model.revision, timeout=HUB_SECONDS)
    except HfHubHTTPError as error:
        said = " ".join(str(error).split())[:120]
        raise UsageError(f"model.name: the hub gives no model {model.name!r} ({said})") from None
    except Exception as error:  # whatever the HTTP library of the day raises
        raise NotWithinReach(
            f"{model.name} is not on this machine and the hub does not answer "
            f"({type(error).__name__})"
        ) from None


def _base(name: str) -> str:
    """Give the folder or hub id of the weights that an adapter stands on, or of the model."""
    source = source_of(name)
    if Path(source).is_dir() and is_adapter(Path(source)):
        adapter = read_json(Path(source) / "adapter_config.json")
        return _base(str(adapter["base_model_name_or_path"]))
    return source


def _shape(model: ModelConfig) -> "PretrainedConfig":
    from transformers import AutoConfig

    source = _base(model.name)
    settings = {"revision": model.revision, "trust_remote_code": model.trust_remote_code}
    config: PretrainedConfig
    try:
        config = AutoConfig.from_pretrained(source, local_files_only=True, **settings)
    except (OSError, ValueError) as error:
        if Path(source).is_dir() and "trust_remote_code" not in str(error):
            said = " ".join(str(error).split())[:200]
            raise UsageError(f"model.name: {model.name} has no shape to be read ({said})") from None
        if not Path(source).is_dir():
            reach(model)
        with loading(source):
            config = AutoConfig.from_pretrained(source, **settings)
    return config


def _build(config: "PretrainedConfig", *, trust: bool) -> "PreTrainedModel":
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model: PreTrainedModel = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]
            config, trust_remote_code=trust
        )
    return model


def _adapter(model: "PreTrainedModel", finetune: FinetuneConfig) -> int:
    import torch
    from peft import LoraConfig, get_peft_model

    modules = finetune.lora.target_modules
    lora = LoraConfig(
        task_type="CAUSAL_LM",
        r=finetune.lora.rank,
        target_modules=modules if isinstance(modules, str) else list(modules),
    )
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of one library about another
        adapted = get_peft_model(model, lora)
    return sum(weight.numel() for weight in adapted.parameters() if weight.requires_grad)
