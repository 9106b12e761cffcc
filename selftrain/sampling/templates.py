"""Prompts as tokens: a definition that breaks off as it is, a message in the model's chat template.

Templates are the model's own and are run by transformers, in jinja's sandbox. A model without one
reads a message as it is. A server has its own; nothing here is sent to it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError

from selftrain.errors import UsageError
from selftrain.sampling.completion import Request

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# What a template raises: by its own word, or where it meets what it does not expect.
_FAILURES = (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_ANSWERED = "Answered"


def encode_prompts(
    tokenizer: "PreTrainedTokenizerBase", requests: Sequence[Request]
) -> list[list[int]]:
    """Give the tokens of each request's prompt; equal ones are read once and are one list.

    Raises UsageError where a chat template fails or refuses a message.
    """
    plain = list(dict.fromkeys(one.prompt for one in requests if one.message is None))
    asked = list(dict.fromkeys(one.prompt for one in requests if one.message is not None))
    tokens = dict(zip(plain, _encode(tokenizer, plain), strict=True))
    if tokenizer.chat_template:
        messages = {prompt: _in_template(tokenizer, prompt) for prompt in asked}
    else:
        messages = dict(zip(asked, _encode(tokenizer, asked), strict=True))
    return [(tokens if one.message is None else messages)[one.prompt] for one in requests]


def end_of_turn(tokenizer: "PreTrainedTokenizerBase") -> int | None:
    """Find the token by which a chat template ends what a model says; None where it has none.

    A base model may come with a template whose end is not among those of its generation.
    """
    if not tokenizer.chat_template:
        return None
    turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": _ANSWERED}]
    try:
        text = str(tokenizer.apply_chat_template(turns, tokenize=False))
    except _FAILURES:
        return None  # Whether it takes a message at all is found out when there is one.
    behind = text.rpartition(_ANSWERED)[2]
    tokens: list[int] = tokenizer(behind, add_special_tokens=False)["input_ids"]
    special = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    return tokens[0] if tokens and tokens[0] in special else None


def _encode(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str]) -> list[list[int]]:
    if not texts:
        return []
    encoded: list[list[int]] = tokenizer(list(texts), verbose=False)["input_ids"]
    return encoded


def _in_template(tokenizer: "PreTrainedTokenizerBase", prompt: str) -> list[int]:
    message: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    try:
        text = tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False)
    except _FAILURES as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UsageError(
            f"model.name: the chat template of {tokenizer.name_or_path} does not take a message of "
            f"a user ({said}). Mend chat_template in a copy of the model, or take it out: messages "
            "are then read as they are."
        ) from None
    # The template writes the token that begins a text, where there is to be one.
    encoded: list[int] = tokenizer(str(text), add_special_tokens=False, verbose=False)["input_ids"]
    return encoded
