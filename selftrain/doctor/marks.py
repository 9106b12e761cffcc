"""The tokens that stand for no text: where a text begins and ends, and what pads it; and chats."""

from itertools import takewhile
from typing import TYPE_CHECKING

from selftrain.doctor.finding import Finding, State

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedTokenizerBase

MOST_GAIN = 0.1
"""Nats a token by which a model may read texts better after the token that begins one; any first
token helps a little, as what attention may rest on."""


def end(tokenizer: "PreTrainedTokenizerBase") -> Finding:
    """Look for the end-of-text token, and whether prompts end in it."""
    token, number = tokenizer.eos_token, tokenizer.eos_token_id
    if number is None:
        return Finding(
            "end",
            State.MEND,
            "the tokenizer names no end-of-text token"
            + (f" in its vocabulary ({token!r})" if token else ""),
            "A run refuses such a model: set eos_token in tokenizer_config.json.",
        )
    if tokenizer("x", verbose=False)["input_ids"][-1:] == [number]:
        return Finding(
            "end",
            State.MEND,
            f"the tokenizer puts {token!r} after every prompt",
            "A model would begin a new text there: set add_eos_token to false in "
            "tokenizer_config.json, or take it out of the post_processor in tokenizer.json.",
        )
    return Finding("end", State.FINE, f"{token!r} ends each example, and a completion")


def pad(tokenizer: "PreTrainedTokenizerBase") -> Finding:
    """Look for the pad token. None is needed: all that pads is masked by its place."""
    token, end_of_text = tokenizer.pad_token, tokenizer.eos_token
    if token is None:
        found = "none, so end-of-text pads"
    elif token == end_of_text:
        found = f"it is end-of-text, {token!r}"
    else:
        return Finding("pad", State.FINE, repr(token))
    return Finding(
        "pad", State.FINE, f"{found}; padding is masked by its place, so the end is learnt"
    )


def begin(tokenizer: "PreTrainedTokenizerBase", gain: float | None) -> Finding:
    """Look for the token that begins a text: put once, twice or not at all.

    `gain` is by how many nats a token the model reads texts better after it, where it is not put;
    None where that was not measured.
    """
    token, times = tokenizer.bos_token, _times_put(tokenizer)
    if tokenizer.bos_token_id is None:
        return Finding("begin", State.FINE, "no token begins a text")
    if times > 1:
        return Finding(
            "begin",
            State.MEND,
            f"{token!r} is put before a prompt {times} times",
            "Models were trained with one: set add_bos_token to false in tokenizer_config.json, or "
            "take one out of the post_processor in tokenizer.json.",
        )
    if times == 1:
        return Finding("begin", State.FINE, f"{token!r} is put before each prompt once")
    return _not_put(token, gain)


def _not_put(token: str, gain: float | None) -> Finding:
    """Say what it costs that no token begins a text."""
    found = f"{token!r} is not put before prompts"
    if gain is None:
        return Finding("begin", State.NOTE, found, "Whether the model misses it was not measured.")
    if gain <= MOST_GAIN:
        better = "hardly" if gain > 0 else "no"
        found += f", and examples are read {better} better after it ({gain:+.3f} nats a token)"
        return Finding("begin", State.FINE, found)
    return Finding(
        "begin",
        State.MEND,
        f"{found}, but examples are read better after it ({gain:+.3f} nats a token)",
        "Set add_bos_token to true in tokenizer_config.json.",
    )


def is_put_first(tokenizer: "PreTrainedTokenizerBase") -> bool:
    """Tell whether the token that begins a text, if there is one, is put before a prompt."""
    return tokenizer.bos_token_id is None or _times_put(tokenizer) > 0


def _times_put(tokenizer: "PreTrainedTokenizerBase") -> int:
    """Count the tokens before a prompt that begin a text."""
    tokens = tokenizer("x", verbose=False)["input_ids"]
    return sum(1 for _ in takewhile(lambda one: one == tokenizer.bos_token_id, tokens))


def ends(tokenizer: "PreTrainedTokenizerBase", generation: "GenerationConfig | None") -> Finding:
    """Compare the tokens at which generation_config.json ends a text with the tokenizer's."""
    named = generation.eos_token_id if generation is not None else None
    numbers: list[int] = named if isinstance(named, list) else [] if named is None else [named]
    others = [number for number in numbers if number != tokenizer.eos_token_id]
    if not others:
        return Finding("ends", State.FINE, "generation_config.json names no other end of text")
    tokens = ", ".join(map(repr, tokenizer.convert_ids_to_tokens(others)))
    if tokenizer.eos_token_id in numbers:
        found = f"generation_config.json ends texts at {tokens} too"
    else:
        found = f"generation_config.json ends texts at {tokens}, not at {tokenizer.eos_token!r}"
    return Finding(
        "ends",
        State.NOTE,
        found,
        "Sampling stops at each of them; examples are ended with the tokenizer's.",
    )


def chat(tokenizer: "PreTrainedTokenizerBase") -> Finding:
    """Look for a chat template: prompts here are plain code, with nothing around them."""
    if not tokenizer.chat_template:
        return Finding("chat", State.FINE, "no chat template: a model that completes text")
    return Finding(
        "chat",
        State.NOTE,
        "it has a chat template, so it may have been tuned to chat",
        "Prompts here are plain code. Its base model may do better: compare the two by "
        "selftrain evaluate.",
    )
