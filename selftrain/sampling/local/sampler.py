"""Sampling by transformers, in this process.

A prompt that is sampled many times is read once, and what prompts have in common too (decoding.py).
Finished rows leave the batch. Every row draws from numbers of its own seed (drawing.py), so a
sample does not depend on what else is in its batch, but for rounding. Where memory runs out,
batches become smaller. Where a definition ends is decided in stopping.py; a message is answered to
the end of the model's turn, and how it reaches the model stands in templates.py.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import takewhile

import numpy as np
import torch
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from selftrain.errors import RunError
from selftrain.sampling.completion import TOO_LONG, Completion, FinishReason, Request, Tell, ignore
from selftrain.sampling.local.batch import Batch, Row, Told
from selftrain.sampling.local.decoding import (
    CommonPrefix,
    Decoder,
    RepeatedDecoder,
    SharedDecoder,
    can_share,
    read_common,
)
from selftrain.sampling.local.drawing import draw
from selftrain.sampling.local.stopping import DefinitionEnd
from selftrain.sampling.templates import encode_prompts, end_of_turn

_LOG = logging.getLogger(__name__)
FEWEST_COMMON = 16
"""Tokens that all prompts must begin with for these to be read apart."""


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
        if not self._shares:
            _warn_once(
                f"{type(model).__name__} attends in a way of its own: what was read of a prompt is "
                "copied to each of its samples, which is slower."
            )
        self._common: CommonPrefix | None = None
        self._end = DefinitionEnd(tokenizer, model.config.get_text_config().vocab_size)
        ends = _end_tokens(model, tokenizer)
        self._end_of_text = np.array(sorted(ends), dtype=np.int64)
        turn = end_of_turn(tokenizer)
        self._end_of_turn = np.array(
            sorted(ends if turn is None else ends | {turn}), dtype=np.int64
        )

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
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`."""
        prompts = encode_prompts(self._tokenizer, requests)
        completions: list[Completion | None] = [None] * len(requests)
        fitting: list[Row] = []
        for index, (request, prompt) in enumerate(zip(requests, prompts, strict=True)):
            if len(prompt) + max_new_tokens > self._context_tokens:
                completions[index] = TOO_LONG
                tell(index, TOO_LONG)
                advance(1)
            else:
                fitting.append(Row(index, prompt, request.seed, request.message is not None))
        for rows, batch in self._batches(fitting, temperature, max_new_tokens, advance):
            for row, completion in zip(rows, self._completions(batch), strict=True):
                completions[row.index] = completion
                tell(row.index, completion)
        return [completion for completion in completions if completion is not None]

    def _batches(
        self,
        rows: list[Row],
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
    ) -> Iterator[tuple[list[Row], Batch]]:
        """Draw rows of like length together, longest first: what is too large fails at once.

        Where memory runs out, the batch is halved and drawn again; later ones stay as small.
        """
        common = self._common_prefix([row.prompt for row in rows])
        rows = sorted(rows, key=lambda row: (-len(row.prompt), row.prompt))
        told = Told(advance)
        while rows:
            some = rows[: self._batch_size]
            batch = Batch(some, max_new_tokens)
            try:
                self._decode(batch, common, temperature, max_new_tokens, told.finished)
            except RuntimeError as error:
                if not should_reduce_batch_size(error):
                    raise
            else:
                told.batch_done()
                yield some, batch
                rows = rows[len(some) :]
                continue
            # Here, since what the failed batch holds goes with its exception.
            self._halve(some)
            told.batch_failed()

    def _halve(self, rows: list[Row]) -> None:
        size = len(rows)
        where = f"{self._model.device} at {size} x {len(rows[0].prompt):,} tokens of prompt"
        if size == 1:
            raise RunError(
                f"memory ran out on {where}: not even one sample fits. Lower model.context_tokens, "
                "or take a smaller model."
            )
        clear_device_cache(garbage_collection=True)
        self._batch_size = size // 2
        _warn_once(f"memory ran out on {where}; going on with {self._batch_size} at a time.")

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
        batch: Batch,
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
            drawn, logprobs = draw(decoder.logits, batch.uniforms[batch.places, step], temperature)
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
        batch: Batch,
        drawn: NDArray[np.int64],
        logprobs: NDArray[np.float64],
        step: int,
        *,
        last: bool,
    ) -> int:
        """Note what was drawn for the rows that go on; give how many of them are now finished."""
        going = batch.going
        crossed, batch.at_line_start = self._end.update(batch.at_line_start, drawn)
        are_messages = batch.are_messages[batch.places]
        stopped = np.where(
            are_messages,
            np.isin(drawn, self._end_of_turn),
            crossed | np.isin(drawn, self._end_of_text),
        )
        places = batch.places[going]
        batch.tokens[places, step] = drawn[going]
        batch.num_tokens[places] = step + 1
        batch.sum_logprob[places] += logprobs[going]
        batch.stopped[batch.places[going & stopped]] = True
        batch.going = np.zeros_like(going) if last else going & ~stopped
        return int(going.sum() - batch.going.sum())

    def _completions(self, batch: Batch) -> Iterator[Completion]:
        """Decode each row after its prompt's last token, so that no leading blank is dropped."""
        for place, row in enumerate(batch.rows):
            tokens = batch.tokens[place, : batch.num_tokens[place]].tolist()
            ends = self._end_of_turn if row.is_message else self._end_of_text
            ended = bool(tokens) and tokens[-1] in ends
            anchor = row.prompt[-1:]
            text = str(self._tokenizer.decode([*anchor, *(tokens[:-1] if ended else tokens)]))
            yield Completion(
                text=text[len(self._tokenizer.decode(anchor)) :],
                finish_reason=FinishReason.STOP if batch.stopped[place] else FinishReason.LENGTH,
                num_tokens=len(tokens),
                sum_logprob=float(batch.sum_logprob[place]),
            )


def _end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> set[int]:
    named = model.generation_config.eos_token_id if model.generation_config else None
    ends = set(named if isinstance(named, list) else [named]) | {tokenizer.eos_token_id}
    return {int(token) for token in ends if token is not None}


@cache
def _warn_once(sentence: str) -> None:
    """Log a warning the first time only: a model is loaded anew in every round."""
    _LOG.warning(sentence)
