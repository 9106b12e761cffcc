"""Sampling by transformers, in this process.

A prompt that is sampled many times is read once (prompts.py).
Finished rows leave the batch. Every row draws from numbers of its own seed, so a sample does not
depend on what else is in its batch, but for rounding in the last bit of a probability.
Where a definition ends is decided in stopping.py.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from selftrain.sampling.completion import Completion, FinishReason, Request
from selftrain.sampling.decoding import (
    CommonPrefix,
    Decoder,
    RepeatedDecoder,
    SharedDecoder,
    can_share,
    read_common,
)
from selftrain.sampling.stopping import DefinitionEnd

FEWEST_COMMON = 16
"""Tokens that all prompts must begin with for these to be read apart."""
COMPACT_BELOW = 0.75
"""Finished rows leave when less than this share goes on: leaving costs a copy of the cache."""


class TransformersSampler:
    """Samples from a causal language model of transformers."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        batch_size: int,
        context_tokens: int,
    ) -> None:
        self._model = model.eval()  # type: ignore[no-untyped-call]
        self._tokenizer = tokenizer
        self._batch_size = batch_size
        self._context_tokens = context_tokens
        self._shares = can_share(model)
        self._common: CommonPrefix | None = None
        self._end = DefinitionEnd(tokenizer, model.config.get_text_config().vocab_size)
        self._end_of_text = np.array(sorted(_end_tokens(model, tokenizer)), dtype=np.int64)

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        return self._context_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, as the model reads it."""
        return [len(tokens) for tokens in self._tokenizer(list(texts), verbose=False)["input_ids"]]

    @torch.inference_mode()
    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`."""
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        tokens = (
            dict(zip(prompts, self._tokenizer(prompts, verbose=False)["input_ids"], strict=True))
            if prompts
            else {}
        )
        completions: list[Completion | None] = [None] * len(requests)
        fitting: list[_Row] = []
        for index, request in enumerate(requests):
            prompt = tokens[request.prompt]
            if len(prompt) + max_new_tokens > self._context_tokens:
                completions[index] = Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)
                advance(1)
            else:
                fitting.append(_Row(index, prompt, request.seed))
        common = self._common_prefix([row.prompt for row in fitting])
        for batch in self._batches(fitting):
            run = _Batch(batch, max_new_tokens)
            self._decode(run, common, temperature, max_new_tokens, advance)
            for row, completion in zip(batch, self._completions(run), strict=True):
                completions[row.index] = completion
        return [completion for completion in completions if completion is not None]

    def _batches(self, rows: list["_Row"]) -> Iterator[list["_Row"]]:
        """Batch rows of like length, longest first: what is too large for memory fails at once."""
        rows = sorted(rows, key=lambda row: (-len(row.prompt), row.prompt))
        for start in range(0, len(rows), self._batch_size):
            yield rows[start : start + self._batch_size]

    def _common_prefix(self, prompts: Sequence[list[int]]) -> CommonPrefix | None:
        """Read what all prompts begin with, if it is worth it; the last one read is kept."""
        if not self._shares or not prompts:
            return None
        # A prompt's last token is read with its rows, since something must say what follows.
        first, last = min(prompts), max(prompts)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(first[:-1], last[:-1], strict=False))
        tokens = [token for token, _ in same]
        if first == last or len(tokens) < FEWEST_COMMON:
            return None
        if self._common is None or self._common.tokens != tokens:
            self._common = None
            self._common = read_common(self._model, tokens)
        return self._common

    def _decode(
        self,
        batch: "_Batch",
        common: CommonPrefix | None,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
    ) -> None:
        prompts = [row.prompt for row in batch.rows]
        decoder: Decoder
        if self._shares:
            decoder = SharedDecoder(self._model, prompts, common)
        else:
            decoder = RepeatedDecoder(self._model, prompts)
        for step in range(max_new_tokens):
            drawn, logprobs = _draw(decoder.logits, batch.uniforms[batch.places, step], temperature)
            num_finished = self._record(
                batch, drawn, logprobs, step, last=step + 1 == max_new_tokens
            )
            if num_finished:
                advance(num_finished)
            if not batch.going.any():
                return
            kept = batch.compact()
            if kept is not None:
                decoder.keep_rows(torch.from_numpy(kept).to(self._model.device))
                drawn = drawn[kept]
            decoder.step(torch.from_numpy(drawn).to(self._model.device))

    def _record(
        self,
        batch: "_Batch",
        drawn: NDArray[np.int64],
        logprobs: NDArray[np.float64],
        step: int,
        *,
        last: bool,
    ) -> int:
        """Note what was drawn for the rows that go on; give how many of them are now finished."""
        going = batch.going
        crossed, batch.at_line_start = self._end.update(batch.at_line_start, drawn)
        stopped = crossed | np.isin(drawn, self._end_of_text)
        places = batch.places[going]
        batch.tokens[places, step] = drawn[going]
        batch.num_tokens[places] = step + 1
        batch.sum_logprob[places] += logprobs[going]
        batch.stopped[batch.places[going & stopped]] = True
        batch.going = np.zeros_like(going) if last else going & ~stopped
        return int(going.sum() - batch.going.sum())

    def _completions(self, batch: "_Batch") -> Iterator[Completion]:
        """Decode each row after its prompt's last token, so that no leading blank is dropped."""
        for place, row in enumerate(batch.rows):
            tokens = batch.tokens[place, : batch.num_tokens[place]].tolist()
            ended = bool(tokens) and tokens[-1] in self._end_of_text
            anchor = row.prompt[-1:]
            text = str(self._tokenizer.decode([*anchor, *(tokens[:-1] if ended else tokens)]))
            yield Completion(
                text=text[len(self._tokenizer.decode(anchor)) :],
                finish_reason=FinishReason.STOP if batch.stopped[place] else FinishReason.LENGTH,
                num_tokens=len(tokens),
                sum_logprob=float(batch.sum_logprob[place]),
            )


@dataclass(frozen=True, slots=True)
class _Row:
    index: int
    prompt: list[int]
    seed: int


class _Batch:
    """Rows that are drawn together: what was drawn so far, and which rows go on."""

    def __init__(self, rows: list[_Row], max_new_tokens: int) -> None:
        self.rows = rows
        self.tokens = np.zeros((len(rows), max_new_tokens), dtype=np.int64)
        self.num_tokens = np.zeros(len(rows), dtype=np.int64)
        self.sum_logprob = np.zeros(len(rows))
        self.stopped = np.zeros(len(rows), dtype=np.bool_)
        self.uniforms = np.stack([_uniforms(row.seed, max_new_tokens) for row in rows])
        self.places = np.arange(len(rows))
        self.going = np.ones(len(rows), dtype=np.bool_)
        self.at_line_start = np.zeros(len(rows), dtype=np.bool_)

    def compact(self) -> NDArray[np.intp] | None:
        """Drop finished rows once they are many; give the positions that stay, None if all do."""
        if self.going.mean() >= COMPACT_BELOW:
            return None
        kept = np.flatnonzero(self.going)
        self.places, self.at_line_start = self.places[kept], self.at_line_start[kept]
        self.going = self.going[kept]
        return kept


def _uniforms(seed: int, count: int) -> NDArray[np.float64]:
    """Draw a row's random numbers from its seed alone, by a counter-based generator."""
    return np.random.Generator(np.random.Philox(key=seed)).random(count)


def _draw(
    logits: torch.Tensor, uniforms: NDArray[np.float64], temperature: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw a token a row by inverting the cumulative distribution.

    Temperature 0 takes the likeliest. Gives the tokens, and their log-probabilities at
    temperature 1.
    """
    logits = logits.float()
    if logits.device.type == "mps":
        logits = logits.cpu()  # mps has no float64
    if temperature == 0:
        tokens = logits.argmax(dim=-1)
    else:
        cumulative = torch.softmax(logits / temperature, dim=-1).double().cumsum(dim=-1)
        aims = torch.from_numpy(uniforms).to(logits.device)[:, None] * cumulative[:, -1:]
        tokens = torch.searchsorted(cumulative, aims, right=True)[:, 0].clamp(
            max=logits.shape[-1] - 1
        )
    chosen = torch.log_softmax(logits, dim=-1).gather(1, tokens[:, None])[:, 0]
    return tokens.cpu().numpy(), chosen.double().cpu().numpy()


def _end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    named = model.generation_config.eos_token_id if model.generation_config else None
    ends = set(named if isinstance(named, list) else [named]) | {tokenizer.eos_token_id}
    return {int(token) for token in ends if token is not None}
