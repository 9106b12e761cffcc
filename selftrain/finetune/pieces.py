"""Pieces: the tokens of an example, and which of them are learnt. No model is read here."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selftrain.config import FinetuneConfig
from selftrain.errors import RunError
from selftrain.files import Row
from selftrain.seeds import derive_seed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_TOGETHER = 1_000
"""Texts that are tokenized in one call."""
_ANCHORS = ("\n", "a", "1", "=")
"""Characters of different kinds: few tokens begin with two of them and the same after."""


@dataclass(frozen=True, slots=True)
class Text:
    """An example as it is written."""

    prompt: str
    completion: str
    puzzle_id: str = ""
    """Which puzzle it is of; examples of one puzzle are held back together."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens that a model reads by themselves: an example, or a part of one longer than a block."""

    tokens: tuple[int, ...]
    num_given: int
    """Tokens at its beginning that are read but not learnt: at least the first, which follows from
    nothing."""

    @property
    def num_learnt(self) -> int:
        """Count the tokens that are predicted."""
        return len(self.tokens) - self.num_given


def texts_of(rows: Iterable[Row]) -> list[Text]:
    """Read the texts of an examples file."""
    return [Text(row["prompt"], row["completion"], row["puzzle_id"]) for row in rows]


def hold_back(
    texts: Sequence[Text], config: FinetuneConfig, seed: int
) -> tuple[list[Text], list[Text]]:
    """Part texts into those that are learnt and those held back, which are of other puzzles.

    Which puzzles are held back depends on the seed and their ids, so that of a set that grows
    mostly the same are. Raises RunError where there is but one puzzle.
    """
    if config.held_back == 0:
        return list(texts), []
    puzzles = {text.puzzle_id for text in texts}
    if len(puzzles) < 2:
        raise RunError(
            f"finetune.held_back is {config.held_back}, but the examples are all of one puzzle, so "
            "nothing would be left to learn. Set it to 0, or keep more puzzles."
        )
    count = min(max(1, round(config.held_back * len(puzzles))), len(puzzles) - 1)
    drawn = sorted(puzzles, key=lambda puzzle: derive_seed(seed, "held back", puzzle))
    held = set(drawn[:count])
    learnt = [text for text in texts if text.puzzle_id not in held]
    return learnt, [text for text in texts if text.puzzle_id in held]


def pieces(
    tokenizer: "PreTrainedTokenizerBase", texts: Sequence[Text], config: FinetuneConfig
) -> Iterator[Piece]:
    """Turn texts into tokens with an end-of-text token after each; cut what exceeds a block.

    A part in which there is nothing to learn is left out.
    """
    size = config.block_tokens
    # Equal tokens are one number in memory: a token takes 8 bytes, not 36.
    known: dict[int, int] = {}
    for tokens, num_given in _tokens(tokenizer, texts, config):
        tokens = [known.setdefault(token, token) for token in (*tokens, tokenizer.eos_token_id)]
        for start in range(0, len(tokens), size):
            part = tuple(tokens[start : start + size])
            piece = Piece(part, max(1, num_given - start))
            if piece.num_learnt > 0:
                yield piece


def _tokens(
    tokenizer: "PreTrainedTokenizerBase", texts: Sequence[Text], config: FinetuneConfig
) -> Iterator[tuple[list[int], int]]:
    """Give each text's tokens, and how many of them are the prompt's where that is not learnt."""
    # A tokenizer tells much more of each token than its number.
    for start in range(0, len(texts), _TOGETHER):
        yield from _tokens_of_few(tokenizer, texts[start : start + _TOGETHER], config)


def _tokens_of_few(
    tokenizer: "PreTrainedTokenizerBase", texts: Sequence[Text], config: FinetuneConfig
) -> Iterator[tuple[list[int], int]]:
    whole = tokenizer([text.prompt + text.completion for text in texts], verbose=False)["input_ids"]
    if config.loss_on == "text":
        yield from ((tokens, 0) for tokens in whole)
        return
    prompts = tokenizer([text.prompt for text in texts], verbose=False)["input_ids"]
    for text, tokens, prompt in zip(texts, whole, prompts, strict=True):
        if tokens[: len(prompt)] != prompt:
            # One token would span the two, which sampling never sees: it reads the prompt alone.
            tokens = [*prompt, *_continuation(tokenizer, text.completion)]
        yield tokens, len(prompt)


def _continuation(tokenizer: "PreTrainedTokenizerBase", text: str) -> list[int]:
    """Give the tokens of a text that follows another one.

    A tokenizer of SentencePiece's kind puts a space before what begins, so something is put before
    it and cut off: the first of _ANCHORS that no token shares with the text.
    """
    for anchor in _ANCHORS:
        before, both = (
            tokenizer(some, add_special_tokens=False, verbose=False)["input_ids"]
            for some in (anchor, anchor + text)
        )
        if both[: len(before)] == before:
            rest: list[int] = both[len(before) :]
            return rest
    alone: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return alone
