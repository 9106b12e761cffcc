"""Decoding: a model reads the prompts of a batch of rows, then takes a token a row, step by step.

There are two ways. `SharedDecoder` keeps what was read of a prompt once for all its rows, and what
all prompts begin with once for the batch (shared_prefix.py). `RepeatedDecoder` copies it to each
row, for classes of models that attend in a way of their own; `can_share` tries out which are not.
Nothing is drawn here; sampler.py does that.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from transformers import PreTrainedConfig, PreTrainedModel

from selftrain.errors import UsageError
from selftrain.sampling.local import gpt_neo
from selftrain.sampling.local.attention_parts import KeysValues
from selftrain.sampling.local.reading import owners_of, pad_left, positions_of, read_prompts
from selftrain.sampling.local.shared_prefix import NAME, SharedPrefixCache

PIECE_TOKENS = 8192
"""Prompt tokens that go through the model together."""
# Attention functions take a mask of four dimensions as it is; this one is looked at by nobody.
_NO_MASK = torch.ones(1, 1, 1, 1, dtype=torch.bool)


_TRIED = ((0, 1), (1, 0), (1, 1))
"""Tokens drawn for three rows when a class of models is tried."""


class Decoder(Protocol):
    """Rows in the middle of being drawn."""

    logits: torch.Tensor
    """What may follow each row: rows x vocabulary."""

    def step(self, drawn: torch.Tensor) -> None:
        """Take in a token a row (rows, int64)."""
        ...

    def keep_rows(self, kept: torch.Tensor) -> None:
        """Drop all rows but these, in this order."""
        ...


class CommonPrefix(NamedTuple):
    """What all prompts of many batches begin with, read."""

    tokens: list[int]
    layers: list[KeysValues]
    """A layer each, a single row."""


def read_common(model: PreTrainedModel, tokens: list[int]) -> CommonPrefix:
    """Read what prompts begin with; the model attends by `shared_prefix.NAME`."""
    cache = SharedPrefixCache()
    ids, mask = pad_left([tokens], model.device)
    _read(model, cache, ids, mask, start=0)
    return CommonPrefix(tokens, cache.prompts)


class SharedDecoder:
    """Reads each prompt once for all its rows; the model attends by `shared_prefix.NAME`."""

    def __init__(
        self,
        model: PreTrainedModel,
        prompts: Sequence[list[int]],
        common: CommonPrefix | None = None,
    ) -> None:
        """Read the prompts, a row each; equal ones lie beside each other. With `common` they all
        begin with it and go on.
        """
        self._model = model
        start = len(common.tokens) if common else 0
        self._cache = SharedPrefixCache(common.layers if common else None)
        distinct, owner = owners_of(prompts, model.device)
        ids, mask = pad_left([prompt[start:] for prompt in distinct], model.device)
        logits = [
            _read(model, self._cache, ids[some], mask[some], start) for some in _pieces(*ids.shape)
        ]
        self._cache.begin_drawing(owner, mask)
        self._positions = (start + mask.sum(dim=1))[owner]
        self.logits = torch.cat(logits)[owner]

    def step(self, drawn: torch.Tensor) -> None:
        """Take in a token a row (rows, int64)."""
        self.logits = self._model(
            input_ids=drawn[:, None],
            attention_mask=_NO_MASK,
            position_ids=self._positions[:, None],
            cache=self._cache,
            use_cache=True,
            shared_prefix=self._cache,
        ).logits[:, -1]
        self._positions += 1

    def keep_rows(self, kept: torch.Tensor) -> None:
        """Drop all rows but these, in this order."""
        self._cache.keep_rows(kept)
        self._positions = self._positions[kept]

    def knows_windows(self, model: PreTrainedModel) -> bool:
        """Tell whether layers that see some tokens back only have said so while they attended.

        Some classes put their window into a mask, which is made here instead.
        """
        return self._cache.heard_of_window or not _has_windows(model.config.get_text_config())


class RepeatedDecoder:
    """Copies what was read of a prompt to each of its rows."""

    def __init__(self, model: PreTrainedModel, prompts: Sequence[list[int]]) -> None:
        """Read the prompts, a row each; equal ones lie beside each other."""
        self._model = model
        self.logits, self._cache, self._mask = read_prompts(model, prompts)

    def step(self, drawn: torch.Tensor) -> None:
        """Take in a token a row (rows, int64)."""
        self._mask = torch.nn.functional.pad(self._mask, (0, 1), value=1)
        self.logits = self._model(
            input_ids=drawn[:, None],
            attention_mask=self._mask,
            position_ids=self._mask.sum(dim=1, keepdim=True) - 1,
            cache=self._cache,
            use_cache=True,
        ).logits[:, -1]

    def keep_rows(self, kept: torch.Tensor) -> None:
        """Drop all rows but these, in this order."""
        self._cache.batch_select_indices(kept)
        self._mask = self._mask[kept]


@torch.inference_mode()
def can_share(model: PreTrainedModel) -> bool:
    """Try whether a model's class takes shared prefixes; if so it attends by them from now on.

    Two prompts that begin alike, one of them with two rows, are decoded for two steps and compared
    with the same tokens read in one go. Raises UsageError where a repeated cache gives something
    else, too: an encoder, or a model with a state of another kind.
    """
    before = model.config._attn_implementation
    size = model.config.get_text_config().vocab_size
    rows = [
        [token % size for token in row] for row in ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 6])
    ]
    plain = torch.cat(
        [
            model(input_ids=torch.tensor([[*row, *new]], device=model.device)).logits[:, -1]
            for row, new in zip(rows, _TRIED, strict=True)
        ]
    )
    neo = gpt_neo.share(model)

    def shared() -> SharedDecoder:
        if not neo:
            model.set_attn_implementation(NAME)
        return SharedDecoder(model, rows, read_common(model, rows[0][:2]))

    if _fits(model, shared, plain):
        return True
    if not neo:
        model.set_attn_implementation(before)
    if not _fits(model, lambda: RepeatedDecoder(model, rows), plain):
        raise UsageError(
            f"model.name: {type(model).__name__} cannot be sampled from here: read token by token "
            "it answers otherwise than read in one go. Is it a causal language model with a cache "
            "of keys and values? A server may hold others."
        )
    return False


def _fits(
    model: PreTrainedModel,
    begin: Callable[[], SharedDecoder | RepeatedDecoder],
    plain: torch.Tensor,
) -> bool:
    """Tell whether a decoder gives what the plain way does."""
    try:
        decoder = begin()
        for tokens in torch.tensor(_TRIED, device=model.device).T:
            decoder.step(tokens)
    except (TypeError, AttributeError, ValueError, IndexError, RuntimeError):
        return False
    knows = not isinstance(decoder, SharedDecoder) or decoder.knows_windows(model)
    # What is no number agrees with nothing, and is told of when it is drawn from.
    return not plain.isfinite().all() or (knows and _agree(decoder.logits, plain))


def _has_windows(config: PreTrainedConfig) -> bool:
    kinds = getattr(config, "layer_types", None)
    if kinds:
        return any(kind != "full_attention" for kind in kinds)
    names = ("sliding_window", "attention_chunk_size")
    return any(getattr(config, name, None) for name in names)


def _agree(ours: torch.Tensor, plain: torch.Tensor) -> bool:
    """Tell whether logits differ by rounding alone, which is coarse in half precision."""
    tolerance = 1e-4 if plain.dtype == torch.float32 else 0.03
    return bool((ours - plain).abs().max() <= tolerance * plain.abs().max())


def _pieces(num_prompts: int, tokens: int) -> Iterator[slice]:
    size = max(1, PIECE_TOKENS // tokens)
    for begin in range(0, num_prompts, size):
        yield slice(begin, begin + size)


def _read(
    model: PreTrainedModel,
    cache: SharedPrefixCache,
    ids: torch.Tensor,
    mask: torch.Tensor,
    start: int,
) -> torch.Tensor:
    """Read prompts (rows x tokens) that go on from `start` common tokens; give the last logits."""
    positions = start + positions_of(mask)
    cache.begin_reading(positions)
    out = model(
        input_ids=ids,
        # Without one torch's kernel sees by itself what is causal, which is faster.
        attention_mask=None if start == 0 and mask.all() else _visible(mask, start),
        position_ids=positions,
        cache=cache,
        use_cache=True,
        logits_to_keep=1,
        shared_prefix=cache,
    )
    logits: torch.Tensor = out.logits[:, -1]
    return logits


def _visible(mask: torch.Tensor, start: int) -> torch.Tensor:
    """Say which keys each token sees: rows x 1 x tokens x (common tokens and tokens)."""
    rows, tokens = mask.shape
    causal = torch.ones(tokens, tokens, dtype=torch.bool, device=mask.device).tril()
    # Padding sees itself: attention to nothing would be no number.
    itself = torch.eye(tokens, dtype=torch.bool, device=mask.device)
    own = causal & mask.bool()[:, None] | itself
    return torch.cat([own.new_ones(rows, tokens, start), own], dim=2)[:, None]
