"""Loading models: the built-in one, a local folder, a GGUF file, an id of the hub, with or without
an adapter.
One code path for all, but for a model that a server holds: it is sampled from, never loaded.
No code that comes with a model runs, and no weights are unpickled, unless `model` says so.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from selftrain.config import ModelConfig
from selftrain.device import pick_device, pick_dtype
from selftrain.errors import UsageError
from selftrain.files import Row, read_json
from selftrain.gguf_file import origin
from selftrain.loading import loading, may_run, quiet, refuse_pickles
from selftrain.model_source import base_of_adapter, is_adapter, source_of, tokenizer_source
from selftrain.processes import current_crew

if TYPE_CHECKING:
    import torch
    from peft import PeftModel
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from selftrain.sampling import Sampler

MOST_CONTEXT_TOKENS = 2048
"""Context used when the configuration names none and the model allows more, as in the paper."""


def load_tokenizer(config: ModelConfig) -> "PreTrainedTokenizerBase":
    """Load the tokenizer of the base model; a missing pad token becomes the end-of-text token."""
    tokenizer = load_any_tokenizer(config)
    if tokenizer.eos_token_id is None:
        raise UsageError(f"model.name: the tokenizer of {config.name} has no end-of-text token.")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_any_tokenizer(config: ModelConfig) -> "PreTrainedTokenizerBase":
    """Load a tokenizer as it is: an encoder's may have no end-of-text token."""
    refuse_served(config)
    quiet()
    from transformers import AutoTokenizer

    source = tokenizer_source(config.name)
    with loading(source):
        tokenizer = AutoTokenizer.from_pretrained(
            source, revision=config.revision, trust_remote_code=config.trust_remote_code
        )
    # How it was found is no part of it: saved, it would differ with and without a network.
    tokenizer.init_kwargs.pop("local_files_only", None)
    return tokenizer


def load_model(
    config: ModelConfig, trained: Path | None = None, *, training: bool = False
) -> "PreTrainedModel":
    """Load the base model, or what a round trained from it: weights, or an adapter that is merged
    into its base.

    In float32 for `training`, else in the configured precision. Raises UsageError where there is no
    such model, or a server holds it.
    """
    refuse_served(config)
    quiet()
    import torch

    device = pick_device(config.device)
    dtype = torch.float32 if training else pick_dtype(config.dtype, device)
    if trained is not None and is_adapter(trained):
        return _merged(load_adapter(config, trained, training=training))
    if trained is None:
        model = _load(source_of(config.name), config, dtype)
    else:
        model = _load(str(trained), config.model_copy(update={"revision": None}), dtype)
    model.to(device)  # type: ignore[arg-type]  # its decorator hides that it is a method
    return model


def load_adapter(config: ModelConfig, trained: Path, *, training: bool) -> "PeftModel":
    """Load the base model with the adapter that a round trained, to sample from or to train
    further.
    """
    from peft import PeftModel

    base = load_model(config, training=training)
    with loading(str(trained)):
        return PeftModel.from_pretrained(base, str(trained), is_trainable=training)


def refuse_served(config: ModelConfig) -> None:
    """Raise UsageError for a model that a server holds."""
    if config.server is not None:
        raise UsageError(
            f"model.server: {config.name} lies on {', '.join(config.servers)}, so it can "
            "neither be trained nor take what was trained. A server may hold propose.model and "
            "solve.model."
        )


def _merged(model: "PeftModel") -> "PreTrainedModel":
    """Add an adapter to its base's weights."""
    merged: PreTrainedModel = model.merge_and_unload()  # type: ignore[operator]
    return merged


def tidy_adapter(folder: Path) -> None:
    """Sort the names of layers in what PEFT has saved, so that one seed writes one file.

    PEFT writes them as sets, in another order in every process; and a card that nobody filled in,
    which is removed.
    """
    path = folder / "adapter_config.json"
    adapter: Row = read_json(path)
    for key in ("target_modules", "exclude_modules", "modules_to_save"):
        if isinstance(adapter[key], list):
            adapter[key].sort()
    if file := origin(Path(adapter["base_model_name_or_path"])):
        adapter["base_model_name_or_path"] = str(file)  # A cache may be emptied.
    path.write_text(json.dumps(adapter, indent=2, sort_keys=True) + "\n")
    (folder / "README.md").unlink(missing_ok=True)


def _load(source: str, config: ModelConfig, dtype: "torch.dtype") -> "PreTrainedModel":
    if is_adapter(Path(source)):
        from peft import PeftModel

        base = _load(source_of(base_of_adapter(Path(source))), config, dtype)
        refuse_pickles(Path(source), config)
        with loading(source):
            return _merged(PeftModel.from_pretrained(base, source))
    return load_pretrained(source, config, dtype)


def load_pretrained(source: str, config: ModelConfig, dtype: "torch.dtype") -> "PreTrainedModel":
    """Load causal language model weights by transformers."""
    from transformers import AutoModelForCausalLM

    refuse_pickles(Path(source), config)
    with loading(source):
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            source, revision=config.revision, dtype=dtype, **may_run(config)
        )
    return model


def load_for_training(
    config: ModelConfig, method: str, trained: Path | None
) -> "PreTrainedModel | PeftModel":
    """Load what a round trains: the base model, or what an earlier round made of it.

    An earlier adapter is trained further as an adapter, and merged first where all weights learn.
    """
    if trained is not None and method == "lora" and is_adapter(trained):
        return load_adapter(config, trained, training=True)
    return load_model(config, trained, training=True)


def load_sampler(config: ModelConfig, trained: Path | None = None) -> "Sampler":
    """Load a model for sampling, in every process of the launch, or find it on its server.

    Raises UsageError where it is not there, RunError where its server does not answer.
    """
    if config.server is not None and trained is None:
        from selftrain.sampling.server.connect import connect

        return connect(config)
    crew = current_crew()
    if crew is not None:
        from selftrain.sampling.launched import load_spread

        return load_spread(crew, config, trained)
    return load_local_sampler(config, trained)


def check_samplers(*configs: ModelConfig | None) -> None:
    """Raise UsageError where one cannot be sampled from here, by its settings; nothing is loaded.

    None, and what a server holds, are passed over.
    """
    crew = current_crew()
    for config in configs:
        if config is None or config.server is not None:
            continue
        if crew is not None:
            from selftrain.sampling.launched import refuse_to_spread

            refuse_to_spread(crew, config)
        if config.engine == "vllm":
            from selftrain.sampling.vllm_start import find_gpu

            find_gpu(config)
        else:
            pick_device(config.device)


def load_local_sampler(config: ModelConfig, trained: Path | None = None) -> "Sampler":
    """Load a model for sampling in this process alone. Raises UsageError where it is not there."""
    refuse_served(config)
    if config.engine == "vllm":
        from selftrain.sampling.vllm_start import load_vllm

        return load_vllm(config, trained)
    from selftrain.sampling.local.sampler import TransformersSampler

    model = load_model(config, trained)
    return TransformersSampler(
        model,
        load_tokenizer(config),
        batch_size=config.batch_size,
        context_tokens=context_tokens(model, config),
    )


def context_tokens(model: "PreTrainedModel", config: ModelConfig) -> int:
    """Give the context in use: the configured one, else the model's own, at most 2,048 tokens."""
    return context_of(model.config, config)


def context_of(shape: "PreTrainedConfig", config: ModelConfig) -> int:
    """Give it where only the model's shape is at hand."""
    # Some classes know no limit: their positions are not learnt, or they have none.
    own: int = getattr(shape.get_text_config(), "max_position_embeddings", MOST_CONTEXT_TOKENS)
    if config.context_tokens is None:
        return min(own, MOST_CONTEXT_TOKENS)
    if config.context_tokens > own:
        raise UsageError(
            f"model.context_tokens is {config.context_tokens}, "
            f"but {config.name} reads at most {own}."
        )
    return config.context_tokens
