"""Drawing a token from logits and a number between 0 and 1."""

import numpy as np
import pytest
import torch

from selftrain.errors import RunError
from selftrain.sampling.local.drawing import draw


def drawn(logits: torch.Tensor, uniform: float, temperature: float = 1.0) -> int:
    tokens, _ = draw(logits[None], np.array([uniform]), temperature)
    return int(tokens[0])


@pytest.mark.parametrize("size", [2, 127, 128, 129, 1000])
def test_a_token_is_where_the_cumulative_sum_passes_the_number(size: int) -> None:
    random = np.random.Generator(np.random.Philox(key=size))
    logits = torch.from_numpy(random.normal(0, 3, size).astype(np.float32))
    ends = np.cumsum(torch.softmax(logits.double(), dim=0).numpy())
    for token, end in enumerate(ends):
        begin = ends[token - 1] if token else 0.0
        if end - begin > 1e-5:
            assert drawn(logits, begin + 0.5 * (end - begin)) == token


def test_what_is_impossible_is_never_drawn() -> None:
    logits = torch.full((300,), -torch.inf)
    logits[[5, 140, 141]] = 0.0
    nearly_1 = float(np.nextafter(1.0, 0.0))
    assert [drawn(logits, uniform) for uniform in (0.0, 0.34, nearly_1)] == [5, 140, 141]


def test_temperature_0_takes_the_likeliest_and_tells_its_log_probability() -> None:
    tokens, logprobs = draw(torch.tensor([[0.0, 2.0, 1.0]]), np.array([0.999]), 0)
    assert tokens.tolist() == [1]
    assert logprobs[0] == pytest.approx(2 - np.log(1 + np.e + np.e**2), abs=1e-6)


def test_log_probabilities_are_at_temperature_1_whatever_is_drawn_at() -> None:
    _, logprobs = draw(torch.tensor([[0.0, 1.0]]), np.array([0.0]), 0.1)
    assert logprobs[0] == pytest.approx(-np.log(1 + np.e), abs=1e-6)


@pytest.mark.parametrize("temperature", [0, 1.0])
@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_refused(spoilt: float, temperature: float) -> None:
    with pytest.raises(RunError, match="no numbers"):
        draw(torch.tensor([[0.0, spoilt, 1.0]]), np.array([0.5]), temperature)


def test_a_temperature_next_to_none_takes_the_likeliest() -> None:
    assert drawn(torch.tensor([0.0, 2.0, 1.0]), 0.999, temperature=1e-45) == 1
