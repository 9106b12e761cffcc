"""Where a definition ends: the first line in column 0, found token by token in a batch.

The text is cut there later, in puzzles/cut.py.
"""

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

Flags = NDArray[np.bool_]


class DefinitionEnd:
    """A table of the vocabulary: which tokens end a line, begin a word, or do both in themselves.

    The last kind crosses into column 0 alone; else a word must follow the end of a line.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, vocabulary_size: int) -> None:
        texts = _token_texts(tokenizer, vocabulary_size)
        self._is_empty = np.array([text == "" for text in texts])
        self._ends_line = np.array([text.endswith("\n") for text in texts])
        self._begins_word = np.array([text != "" and not text[0].isspace() for text in texts])
        self._crosses = np.array([_crosses(text) for text in texts])

    def update(self, at_line_start: Flags, tokens: NDArray[np.int64]) -> tuple[Flags, Flags]:
        """Tell which rows just crossed into column 0, and which now stand at a line's start."""
        crossed = self._crosses[tokens] | (at_line_start & self._begins_word[tokens])
        return crossed, self._ends_line[tokens] | (at_line_start & self._is_empty[tokens])


def _crosses(text: str) -> bool:
    return any(line != "" and not line[0].isspace() for line in text.split("\n")[1:])


def _token_texts(tokenizer: PreTrainedTokenizerBase, size: int) -> list[str]:
    """Decode every token after an anchor: some tokenizers drop the blank that begins a text."""
    anchor = tokenizer.encode("x", add_special_tokens=False)[-1]
    prefix = tokenizer.decode([anchor])
    pairs = [[anchor, token] for token in range(size)]
    return [text[len(prefix) :] for text in tokenizer.batch_decode(pairs)]
