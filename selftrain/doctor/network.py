"""What a model makes of prompts: padding, precision, and a row for every token.

The model is read in float32, so that differences are not those of rounding; nothing is sampled.
"""

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from selftrain.doctor.finding import Finding, State
from selftrain.doctor.texts import Text
from selftrain.sampling.local.reading import pad_left, positions_of

MOST_DIFFERENCE = 1e-3
"""Largest difference of log-probabilities that is taken for rounding; in float32 it is 1e-5."""
_NUM_READ = 8
"""Texts that a model reads for one check."""


@torch.inference_mode()
def padding(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Sequence[Text]
) -> Finding:
    """Read prompts alone, and padded on the left beside a longer one; compare what follows."""
    prompts = _spread(tokenizer, [text.prompt for text in texts if text.kind == "example"])
    alone = torch.cat([_after(model, [prompt]) for prompt in prompts])
    together = _after(model, prompts)
    if not (alone.isfinite().all() and together.isfinite().all()):
        return Finding(
            "padding",
            State.MEND,
            "the model's log-probabilities are not finite in float32",
            "Its weights are damaged: fetch them again.",
        )
    difference = (alone - together).abs().max().item()
    found = f"padding on the left changes log-probabilities by at most {difference:.1e}"
    if difference > MOST_DIFFERENCE:
        return Finding(
            "padding",
            State.MEND,
            found,
            "This model heeds no mask or no position_ids: set model.batch_size=1, which pads "
            "nothing.",
        )
    return Finding("padding", State.FINE, found)


@torch.inference_mode()
def precision(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[Text],
    dtype: torch.dtype,
) -> Finding:
    """Compare what follows prompts in the precision of sampling with float32. The model is cast."""
    name = str(dtype).removeprefix("torch.")
    if dtype == torch.float32:
        return Finding("precision", State.FINE, "sampling computes in float32")
    prompts = _spread(tokenizer, [text.prompt for text in texts if text.kind == "example"])
    exact = _after(model, prompts)
    cast = _after(model.to(dtype), prompts)  # type: ignore[arg-type]
    if not cast.isfinite().all():
        return Finding(
            "precision",
            State.MEND,
            f"in {name} log-probabilities are not finite",
            "Its numbers are too large for it: set model.dtype=bfloat16 or float32.",
        )
    likeliest = exact.argmax(dim=-1, keepdim=True)
    difference = (exact - cast).gather(1, likeliest).abs().max().item()
    return Finding(
        "precision",
        State.FINE,
        f"{name} changes the likeliest token's log-probability by at most {difference:.2f}",
    )


def embedding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Finding:
    """Look for tokens that have no row in the embedding."""
    rows = model.get_input_embeddings().weight.shape[0]  # type: ignore[index]
    largest = max(tokenizer.get_vocab().values())
    if largest >= rows:
        return Finding(
            "embedding",
            State.MEND,
            f"the tokenizer has tokens up to {largest:,}, the embedding {rows:,} rows",
            "Such a token ends a run: call model.resize_token_embeddings(len(tokenizer)) and save "
            "the model.",
        )
    spare = rows - largest - 1
    more = f", {spare:,} of them spare" if spare else ""
    return Finding("embedding", State.FINE, f"{largest + 1:,} tokens have {rows:,} rows{more}")


@torch.inference_mode()
def gain_of_begin(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Sequence[Text]
) -> float:
    """Give by how many nats a token examples are read better after the token that begins a text."""
    examples = [text.prompt + text.completion for text in texts if text.kind == "example"]
    plain, begun = 0.0, 0.0
    num_tokens = 0
    for tokens in _spread(tokenizer, examples):
        # What follows the first token is scored in both, so that both score the same tokens.
        plain += _score(model, tokens, 1)
        begun += _score(model, [tokenizer.bos_token_id, *tokens], 2)
        num_tokens += len(tokens) - 1
    return (begun - plain) / num_tokens


def _spread(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> list[list[int]]:
    """Tokenize some of the texts, of lengths as unlike as they have."""
    tokens: list[list[int]] = sorted(tokenizer(list(texts), verbose=False)["input_ids"], key=len)
    tokens = [one for one in tokens if len(one) > 1]
    step = max(1, (len(tokens) - 1) // (_NUM_READ - 1))
    return tokens[::step][:_NUM_READ]


def _after(model: PreTrainedModel, prompts: Sequence[list[int]]) -> torch.Tensor:
    """Give the log-probabilities of what follows each prompt: prompts x vocabulary, on the CPU.

    The model is called as sampling calls it.
    """
    ids, mask = pad_left(prompts, model.device)
    out = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions_of(mask),
        use_cache=False,
    )
    return torch.log_softmax(out.logits[:, -1].float(), dim=-1).cpu()


def _score(model: PreTrainedModel, tokens: list[int], first: int) -> float:
    """Sum the log-probabilities of tokens from the given place on, in nats."""
    ids = torch.tensor([tokens]).to(model.device)
    logprobs = torch.log_softmax(model(input_ids=ids, use_cache=False).logits[0].float(), dim=-1)
    chosen = logprobs[first - 1 : -1].gather(1, ids[0, first:, None])
    return float(chosen.sum().item())
