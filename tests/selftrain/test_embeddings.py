"""Embeddings of puzzles: each text alone decides on its row."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from selftrain.config import ModelConfig
from selftrain.embeddings import embed
from selftrain.models import load_model, load_tokenizer

TEXTS = (
    "def f(x: int):\n    return x + 1 == 3",
    "def f(s: str, a='word'):\n    return s[::-1] == a",
    "def f(li: List[int]):\n    return sum(li) == 17 and len(li) == 3 and li[0] == max(li)",
    "def f(x: int):\n    return x + 1 == 4",
    "def f(b: bool):\n    return b",
)


@pytest.fixture(scope="module")
def in_one_batch(tiny_config: ModelConfig) -> NDArray[np.float32]:
    return embed(tiny_config, TEXTS)


def test_different_puzzles_have_different_embeddings(in_one_batch: NDArray[np.float32]) -> None:
    assert in_one_batch.dtype == np.float32
    apart = [np.abs(a - b).max() for i, a in enumerate(in_one_batch) for b in in_one_batch[:i]]
    assert min(apart) > 0.01


def test_the_order_of_texts_does_not_matter(
    tiny_config: ModelConfig, in_one_batch: NDArray[np.float32]
) -> None:
    np.testing.assert_allclose(embed(tiny_config, TEXTS[::-1])[::-1], in_one_batch, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 2])
def test_batch_size_and_so_padding_does_not_matter(
    tiny_config: ModelConfig, in_one_batch: NDArray[np.float32], batch_size: int
) -> None:
    config = tiny_config.model_copy(update={"batch_size": batch_size})
    np.testing.assert_allclose(embed(config, TEXTS), in_one_batch, atol=1e-5)


def test_an_equal_text_has_an_equal_embedding(tiny_config: ModelConfig) -> None:
    once, other, again = embed(tiny_config, [TEXTS[0], TEXTS[1], TEXTS[0]])
    assert (once == again).all()
    assert (once != other).any()


def test_the_last_hidden_state_is_averaged_over_the_tokens_of_f(
    tiny_config: ModelConfig, in_one_batch: NDArray[np.float32]
) -> None:
    model, tokenizer = load_model(tiny_config), load_tokenizer(tiny_config)
    ids = torch.tensor([tokenizer(TEXTS[2], add_special_tokens=False)["input_ids"]])
    with torch.inference_mode():
        states = model(input_ids=ids, output_hidden_states=True).hidden_states[-1]
    np.testing.assert_allclose(states[0].mean(dim=0).numpy(), in_one_batch[2], atol=1e-5)


def test_a_text_beyond_the_context_counts_by_its_beginning(tiny_config: ModelConfig) -> None:
    config = tiny_config.model_copy(update={"context_tokens": 64})
    begin = "def f(x: int):\n    return x == " + "1 + " * 200
    long, longer = embed(config, [begin + "2", begin + "3 + 4"])
    assert (long == longer).all()
