"""Where a definition ends: at the first line that begins in column 0. Decided a token at a time,
for a whole batch.
"""

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

Flags = NDArray[np.bool_]


class DefinitionEnd:
    """A table of the vocabulary: which tokens end a line, begin a word, or cross into column 0 by
    themselves.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, vocabulary_size: int) -> None:
        texts = _token_texts(tokenizer, vocabulary_size)
        self._ends_line = np.array([text.endswith("\n") for text in texts])
        self._begins_word = np.array([text != "" and not text[0].isspace() for text in texts])
        self._crosses = np.array([_crosses(text) for text in texts])

    def update(self, at_line_start: Flags, tokens: NDArray[np.int64]) -> tuple[Flags, Flags]:
        """Give (which rows have just crossed into column 0, which rows now stand at the start of a
        line).
        """
        crossed = self._crosses[tokens] | (at_line_start & self._begins_word[tokens])
        return crossed, self._ends_line[tokens]


def _crosses(text: str) -> bool:
    return any(line != "" and not line[0].isspace() for line in text.split("\n")[1:])


def _token_texts(tokenizer: PreTrainedTokenizerBase, size: int) -> list[str]:
    """Decode every token after an anchor: some tokenizers drop the blank that begins a text."""
    anchor = tokenizer.encode("x", add_special_tokens=False)[-1]
    prefix = tokenizer.decode([anchor])
    pairs = [[anchor, token] for token in range(size)]
    return [text[len(prefix) :] for text in tokenizer.batch_decode(pairs)]
