"""Whether a model can be a verifier at all, told in a sentence before it learns for hours.

Models are loaded in network.py; how well one does is nothing that could be known here.
"""

from dataclasses import dataclass

import torch
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING

from selftrain.config import ModelConfig
from selftrain.errors import UsageError
from selftrain.models import refuse_served
from selftrain.verifier.learning.inputs import Reads


@dataclass(frozen=True, slots=True)
class YesNo:
    """The two words, and how a decoder begins."""

    yes: int
    """First token of `yes`."""
    no: int
    """First token of `no`."""
    start: int
    """What a decoder reads before its first step."""


def find_yes_no(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> YesNo:
    """Find what a decoder says and begins with. Raises UsageError where it has no such words."""
    yes, no = (tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in ("yes", "no"))
    start = model.config.to_dict().get("decoder_start_token_id")
    if start is None and model.generation_config is not None:  # files of today hold it there
        start = model.generation_config.decoder_start_token_id
    if yes == no or start is None:
        raise UsageError(
            f"verifier.output: {name} cannot say yes or no at its first step: the words begin with "
            "the same token, or it names no token to begin with. Set verifier.output=head."
        )
    return YesNo(yes, no, start)


def refuse_settings(how: ModelConfig) -> None:
    """Raise UsageError for settings of a generator that would have no effect on a verifier."""
    refuse_served(how)
    if how.dtype not in ("auto", "float32"):
        raise UsageError(
            f"verifier.model.dtype is {how.dtype}, but a verifier learns and scores in float32. "
            "Leave it out."
        )
    if how.context_tokens is not None:
        raise UsageError(
            "verifier.model.context_tokens: what a verifier reads is bounded by "
            "verifier.max_tokens. Set that instead."
        )


def refuse_kind(
    config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase, name: str, *, says: bool
) -> None:
    """Raise UsageError where a kind of model has no such output; `says` is yes or no."""
    kind = config.model_type
    if says and not config.is_encoder_decoder:
        raise UsageError(
            f"verifier.output is yes_no, but {name} ({kind}) is no encoder-decoder. "
            "Set verifier.output=head."
        )
    if not says and type(config) not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        raise UsageError(
            f"verifier.model.name: transformers has no {kind} with a head of labels, so {name} "
            "can be no verifier. Name a model of another kind."
        )
    if not says and config.is_encoder_decoder:
        ends = tokenizer("x")["input_ids"][-1] == tokenizer.eos_token_id
        if not ends or tokenizer.pad_token_id == tokenizer.eos_token_id:
            raise UsageError(
                f"verifier.output: the head of an encoder-decoder reads at the end-of-text token, "
                f"which the tokenizer of {name} does not set. Set verifier.output=yes_no."
            )


def refuse_long(model: PreTrainedModel, reads: Reads, name: str) -> None:
    """Raise UsageError where a row may be longer than the model reads."""
    most = _most_tokens(model)
    if most is not None and reads.max_tokens > most:
        raise UsageError(
            f"verifier.max_tokens is {reads.max_tokens}, but {name} reads at most {most}."
        )


def _most_tokens(model: PreTrainedModel) -> int | None:
    """Count the positions that a model knows; T5 and others know no such bound."""
    text = model.config.get_text_config()
    if not hasattr(text, "max_position_embeddings"):
        return None
    most: int = text.max_position_embeddings
    for name, module in model.named_modules():
        # RoBERTa and its kin count positions from the padding token's number on.
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            return most if module.padding_idx is None else most - module.padding_idx - 1
    return most
