"""A low-rank adapter of a verifier: a new head learns by all its weights, the rest by the adapter.

An adapter of a generator is made in finetune.py.
"""

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

from selftrain.config import LoraConfig as LoraSettings


def with_adapter(model: PreTrainedModel, settings: LoraSettings, *, says: bool) -> PeftModel:
    """Add an adapter, drawn by torch's generator; `says` is a model without a new head."""
    modules = settings.target_modules
    heads = [] if says else _heads(model)
    return get_peft_model(
        model,
        LoraConfig(
            task_type="SEQ_2_SEQ_LM" if says else "SEQ_CLS",
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules=modules if isinstance(modules, str) else list(modules),
            modules_to_save=heads or None,
            # PEFT knows heads by two names only, and would adapt what learns by itself.
            exclude_modules=_linear(model, heads) or None,
        ),
    )


def _heads(model: PreTrainedModel) -> list[str]:
    """Name the layers on top of the base model: `score`, `classifier`, `classification_head`."""
    return [
        name
        for name, module in model.named_children()
        if name != model.base_model_prefix and any(True for _ in module.parameters())
    ]


def _linear(model: PreTrainedModel, heads: list[str]) -> list[str]:
    return [
        f"{head}.{name}".rstrip(".")
        for head in heads
        for name, module in model.get_submodule(head).named_modules()
        if isinstance(module, torch.nn.Linear)
    ]
