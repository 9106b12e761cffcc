"""Where a prompt ends: in white space, or in the middle of what the tokenizer makes one token.

Only tokens are looked at; what a model makes of them is network.py's business.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selftrain.doctor.finding import Finding, State
from selftrain.doctor.texts import Text

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(slots=True)
class _Merges:
    """Of one kind of prompt."""

    num_texts: int = 0
    spanning: Counter[str] = field(default_factory=Counter)
    """Text of the token that spans the boundary: how often it does."""


def prompts_end(texts: Sequence[Text]) -> Finding:
    """Look for prompts that end in white space, which most tokenizers put before the next word."""
    ending = [text for text in texts if text.prompt != text.prompt.rstrip()]
    if not ending:
        return Finding("prompts", State.FINE, f"none of {len(texts):,} prompts ends in white space")
    kinds = ", ".join(dict.fromkeys(text.kind for text in ending))
    return Finding(
        "prompts",
        State.MEND,
        f"{len(ending):,} of {len(texts):,} prompts ({kinds}) end in white space, such as "
        f"{ending[0].prompt[-12:]!r}",
        "A model expects that blank in its next token: take it off the puzzles that are shown.",
    )


def boundary(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[Text], loss_on: str) -> Finding:
    """Look for prompts whose tokens are no prefix of the tokens of prompt and completion."""
    merges = _merges(tokenizer, texts)
    if not any(merge.spanning for merge in merges.values()):
        return Finding(
            "boundary",
            State.FINE,
            f"the tokens of each of {len(texts):,} prompts stay as they are when a completion "
            "follows",
        )
    found = "; ".join(_tell(kind, merge) for kind, merge in merges.items())
    if loss_on == "completion":
        return Finding(
            "boundary",
            State.NOTE,
            f"one token spans prompt and completion ({found})",
            "Training parts it there, as sampling does; the base model has mostly read it whole.",
        )
    return Finding(
        "boundary",
        State.MEND,
        f"one token spans prompt and completion ({found})",
        "It is learnt whole but must be sampled in parts. Set finetune.loss_on=completion, which "
        "parts it.",
    )


def _merges(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[Text]) -> dict[str, _Merges]:
    prompts = tokenizer([text.prompt for text in texts], verbose=False)["input_ids"]
    wholes = tokenizer([text.prompt + text.completion for text in texts], verbose=False)[
        "input_ids"
    ]
    merges: dict[str, _Merges] = {}
    for text, prompt, whole in zip(texts, prompts, wholes, strict=True):
        merge = merges.setdefault(text.kind, _Merges())
        merge.num_texts += 1
        # One that ends every text with a token of its own is told of elsewhere.
        if prompt and prompt[-1] == tokenizer.eos_token_id:
            prompt = prompt[:-1]
        same = 0
        while same < min(len(prompt), len(whole)) and prompt[same] == whole[same]:
            same += 1
        if same < len(prompt):
            merge.spanning[str(tokenizer.decode(whole[same : same + 1]))] += 1
    return merges


def _tell(kind: str, merge: _Merges) -> str:
    if not merge.spanning:
        return f"{kind}: none of {merge.num_texts:,}"
    token, _ = merge.spanning.most_common(1)[0]
    often = f"{merge.spanning.total():,} of {merge.num_texts:,}"
    more = f" and {len(merge.spanning) - 1} others" if len(merge.spanning) > 1 else ""
    return f"{kind}: {often}, as {token!r}{more}"
