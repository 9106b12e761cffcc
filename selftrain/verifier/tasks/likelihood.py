"""How likely given programs are under a causal language model: read, not sampled.

Teacher forcing at temperature 1, without any warping, summed in float64: what the sampler itself
tells of the same tokens. Two things differ. A sampler may draw a text in other tokens than the
tokenizer would write it in; and it counts the end-of-text token that it drew, which no text holds.
Whoever wants the end of a program counted gives it as part of the completion.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from selftrain.config import ModelConfig
from selftrain.models import context_tokens, load_model, load_tokenizer

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MOST_LOGITS = 2**28
"""Numbers that the logits of one batch may have: a gigabyte in float32."""


class Logprob(NamedTuple):
    """What a model says of one completion."""

    sum_logprob: float
    """Sum of its tokens' log-probabilities in nats."""
    num_tokens: int
    """Tokens of that sum."""


class Reader:
    """A model that reads programs: loaded when first asked, and kept until it is released."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._loaded: tuple[PreTrainedModel, PreTrainedTokenizerBase] | None = None

    def read(
        self, pairs: Sequence[tuple[str, str]], *, advance: Callable[[int], object]
    ) -> list[Logprob | None]:
        """Read each (prompt, completion); see `read_logprobs`.

        Raises UsageError where there is no such model, or a server holds it.
        """
        if self._loaded is None:
            self._loaded = load_model(self._config), load_tokenizer(self._config)
        model, tokenizer = self._loaded
        return read_logprobs(
            model,
            tokenizer,
            pairs,
            batch_size=self._config.batch_size,
            context_tokens=context_tokens(model, self._config),
            advance=advance,
        )

    def release(self) -> None:
        """Give the model's memory back; it is loaded again when next asked."""
        self._loaded = None


@dataclass(frozen=True, slots=True)
class _Row:
    index: int
    prompt: list[int]
    completion: list[int]


def read_logprobs(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    pairs: Sequence[tuple[str, str]],
    *,
    batch_size: int,
    context_tokens: int,
    advance: Callable[[int], object],
) -> list[Logprob | None]:
    """Read each (prompt, completion) and give the completion's log-probability, in order.

    None where the two have more than `context_tokens` tokens, or the prompt none. A prompt that
    completions share is read once a batch, and its key-value cache copied.
    """
    import torch

    found: list[Logprob | None] = [None] * len(pairs)
    rows = []
    for row in _tokenized(tokenizer, pairs):
        if row.prompt and len(row.prompt) + len(row.completion) <= context_tokens:
            rows.append(row)
        else:
            advance(1)
    vocabulary: int = model.config.get_text_config().vocab_size
    model.eval()  # type: ignore[no-untyped-call]
    with torch.inference_mode():
        for batch in _batches(rows, batch_size, vocabulary):
            for row, total in zip(batch, _read(model, batch), strict=True):
                found[row.index] = Logprob(total, len(row.completion))
            advance(len(batch))
    return found


def _tokenized(
    tokenizer: "PreTrainedTokenizerBase", pairs: Sequence[tuple[str, str]]
) -> Iterator[_Row]:
    """Tokenize each prompt as a sampler does, and what follows it by itself."""
    prompts = list(dict.fromkeys(prompt for prompt, _ in pairs))
    encoded = tokenizer(prompts, verbose=False)["input_ids"] if prompts else []
    tokens = dict(zip(prompts, encoded, strict=True))
    for index, (prompt, completion) in enumerate(pairs):
        yield _Row(index, tokens[prompt], _continuation(tokenizer, tokens[prompt], completion))


def _continuation(
    tokenizer: "PreTrainedTokenizerBase", prompt: list[int], completion: str
) -> list[int]:
    """Give tokens that, drawn after the prompt's last, are decoded to the completion.

    Some tokenizers put a blank before whatever they are given; then the completion is tokenized
    after a line break, which no other token begins with, and the line break is taken off.
    """
    alone: list[int] = tokenizer(completion, add_special_tokens=False, verbose=False)["input_ids"]
    anchor = prompt[-1:]
    text = str(tokenizer.decode([*anchor, *alone]))[len(tokenizer.decode(anchor)) :]
    if text == completion:
        return alone
    start: list[int] = tokenizer("\n", add_special_tokens=False, verbose=False)["input_ids"]
    joint: list[int] = tokenizer(f"\n{completion}", add_special_tokens=False, verbose=False)[
        "input_ids"
    ]
    return joint[len(start) :] if joint[: len(start)] == start else alone


def _batches(rows: list[_Row], batch_size: int, vocabulary: int) -> Iterator[list[_Row]]:
    """Batch rows of like length that share prompts, longest first; bound what their logits take."""
    rows = sorted(rows, key=lambda row: (-len(row.prompt), row.prompt, -len(row.completion)))
    batch: list[_Row] = []
    longest = 0
    for row in rows:
        longest = max(longest, len(row.completion))
        if batch and (
            len(batch) == batch_size or (len(batch) + 1) * longest * vocabulary > MOST_LOGITS
        ):
            yield batch
            batch, longest = [], len(row.completion)
        batch.append(row)
    if batch:
        yield batch


def _read(model: "PreTrainedModel", batch: Sequence[_Row]) -> list[float]:
    """Give the sum of each row's log-probabilities."""
    import torch

    from selftrain.sampling.local.reading import read_prompts

    first, cache, mask = read_prompts(model, [row.prompt for row in batch])
    longest = max(len(row.completion) for row in batch)
    totals = [0.0] * len(batch)
    if longest == 0:
        return totals
    logits = first[:, None]
    if longest > 1:
        ids = torch.zeros(len(batch), longest - 1, dtype=torch.long)
        for i, row in enumerate(batch):
            ids[i, : len(row.completion[:-1])] = torch.tensor(row.completion[:-1], dtype=torch.long)
        # Padded on the right, where causal attention keeps padding out of what precedes it.
        places = mask.sum(dim=1, keepdim=True) + torch.arange(longest - 1, device=mask.device)
        mask = torch.nn.functional.pad(mask, (0, longest - 1), value=1)
        rest = model(
            input_ids=ids.to(mask.device),
            attention_mask=mask,
            position_ids=places,
            cache=cache,
            use_cache=True,
        ).logits
        logits = torch.cat([logits, rest], dim=1)
    return [_sum(logits[i], row.completion) for i, row in enumerate(batch)]


def _sum(logits: "torch.Tensor", completion: Sequence[int]) -> float:
    """Add up the log-probabilities of a completion's tokens (logits: tokens x vocabulary)."""
    import torch

    if not completion:
        return 0.0
    chosen = torch.tensor(completion, device=logits.device)[:, None]
    logprobs = torch.log_softmax(logits[: len(completion)].float(), dim=-1).gather(1, chosen)
    return float(logprobs.double().cpu().sum())
