"""The short cuts: a packed row gives the loss and the gradient of its examples read one by one."""

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPTNeoConfig,
    GPTNeoXConfig,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    PreTrainedConfig,
    Qwen2Config,
)

from selftrain.finetune import loss
from selftrain.finetune.batch import packed, padded
from selftrain.finetune.learner import Learner, try_shortcuts
from selftrain.finetune.pieces import Piece

SIZES = {
    "vocab_size": 50,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "initializer_range": 0.3,
}
SHARED = {**SIZES, "num_key_value_heads": 2}
PACKING: dict[str, PreTrainedConfig] = {
    "llama": LlamaConfig(**SHARED, tie_word_embeddings=True),
    "qwen2": Qwen2Config(**SHARED),
    "gpt_neox": GPTNeoXConfig(**SIZES),
    "gpt2": GPT2Config(vocab_size=50, n_embd=24, n_layer=2, n_head=2, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0),
    "mistral": MistralConfig(**SHARED, sliding_window=5),
}  # fmt: skip
ROWS: dict[str, PreTrainedConfig] = {
    "gpt_neo": GPTNeoConfig(
        vocab_size=50, hidden_size=24, num_layers=2, num_heads=2, window_size=4, resid_dropout=0,
        attention_types=[[["global", "local"], 1]], initializer_range=0.3,
    ),
    "mamba": MambaConfig(vocab_size=50, hidden_size=8, num_hidden_layers=1, state_size=4),
}  # fmt: skip
PIECES = [
    Piece((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14), 1),
    Piece((1, 2, 3, 4, 5, 6, 20, 21, 22), 5),
    Piece((1, 2, 3, 4, 5, 6, 20, 21, 22), 5),
    Piece((7, 8), 1),
    Piece((30, 2, 3, 4, 31, 32, 33, 34, 35, 36), 1),
]


def make(config: PreTrainedConfig) -> Learner:
    torch.manual_seed(0)
    return Learner(AutoModelForCausalLM.from_config(config))


def one_by_one(learner: Learner) -> torch.Tensor:
    """Sum the losses of the pieces as transformers has them, each in a batch of its own."""
    total = torch.zeros(())
    for piece in PIECES:
        logits = learner.model(input_ids=torch.tensor([piece.tokens])).logits[0]
        before, after = slice(piece.num_given - 1, -1), piece.tokens[piece.num_given :]
        total = total + cross_entropy(logits[before], torch.tensor(after), reduction="sum")
    return total


def gradients(learner: Learner, total: torch.Tensor) -> dict[str, torch.Tensor]:
    learner.zero_grad()
    total.backward()
    return {name: weight.grad.clone() for name, weight in learner.named_parameters()}  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", [*PACKING, *ROWS])
def test_a_batch_has_the_loss_and_gradient_of_its_pieces_one_by_one(kind: str) -> None:
    learner = make((PACKING | ROWS)[kind])
    expected = one_by_one(learner)
    wanted = gradients(learner, expected)
    sentence = try_shortcuts(learner, PIECES)
    assert (learner.packs, sentence == "", learner.own_head) == (
        kind in PACKING,
        kind in PACKING,
        True,
    )
    found = learner(learner.shape(PIECES, 1.0))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    for name, gradient in gradients(learner, found).items():
        torch.testing.assert_close(gradient, wanted[name], rtol=1e-4, atol=1e-5)


def test_a_beginning_that_pieces_share_is_read_once() -> None:
    batch = packed(PIECES, 1.0)
    # 13 of the first, of the second two more beyond the shared six, none of its copy, 1 and 9.
    assert batch.ids.shape == (1, 13 + 2 + 1 + 9)
    assert batch.weights.sum() == sum(piece.num_learnt for piece in PIECES)


def test_the_model_that_reads_rows_keeps_its_own_attention() -> None:
    learner = make(ROWS["gpt_neo"])
    before = learner.transformer.config._attn_implementation
    try_shortcuts(learner, PIECES)
    assert learner.transformer.config._attn_implementation == before


def test_a_model_that_scales_its_scores_uses_its_own_head() -> None:
    learner = make(PACKING["llama"])
    own = learner.model.forward

    def scaled(*args: object, **kwargs: object) -> object:
        out = own(*args, **kwargs)
        out.logits = 7 * torch.tanh(out.logits / 7)
        return out

    learner.model.forward = scaled
    try_shortcuts(learner, PIECES)
    assert not learner.own_head
    torch.testing.assert_close(learner(padded(PIECES, 1.0)), one_by_one(learner))


@pytest.mark.parametrize("chunk", [1, 120, 10_000])
def test_the_loss_of_chunks_is_that_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(loss, "CHUNK", chunk)
    torch.manual_seed(0)
    hidden = torch.randn(7, 6, dtype=torch.double, requires_grad=True)
    head = torch.nn.Linear(6, 50).double()
    targets, weights = torch.randint(50, (7,)), torch.rand(7).double()
    inputs = (hidden, head.weight, head.bias)
    whole = (cross_entropy(head(hidden), targets, reduction="none") * weights).sum()
    found = loss.linear_cross_entropy(hidden, head, targets, weights)
    torch.testing.assert_close(found.float(), whole.float())
    for one, other in zip(
        torch.autograd.grad(3 * found, inputs), torch.autograd.grad(3 * whole, inputs), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("of_weights", [torch.bfloat16, torch.float32])
def test_gradients_of_many_chunks_are_added_up_in_float32(
    monkeypatch: pytest.MonkeyPatch, of_weights: torch.dtype
) -> None:
    monkeypatch.setattr(loss, "CHUNK", 1)
    num_tokens = 2_000
    hidden = torch.ones(num_tokens, 4, requires_grad=True)
    head = torch.nn.Linear(4, 2, bias=False)
    torch.nn.init.zeros_(head.weight)
    head.to(of_weights)
    with torch.autocast("cpu", torch.bfloat16):
        found = loss.linear_cross_entropy(
            hidden, head, torch.zeros(num_tokens).long(), torch.ones(2_000)
        )
    found.backward()
    assert head.weight.grad is not None
    assert head.weight.grad.dtype == of_weights
    # Half of every token's weight; bfloat16 would add ones to 256 in vain.
    expected = torch.tensor([[-1000.0] * 4, [1000.0] * 4])
    torch.testing.assert_close(head.weight.grad.float(), expected)


def test_under_autocast_scores_are_computed_in_its_type() -> None:
    torch.manual_seed(0)
    hidden, head = torch.randn(5, 6), torch.nn.Linear(6, 50)
    targets, ones = torch.randint(50, (5,)), torch.ones(5)
    with torch.autocast("cpu", torch.bfloat16):
        found = loss.linear_cross_entropy(hidden, head, targets, ones)
        expected = cross_entropy(head(hidden).float(), targets, reduction="sum")
    torch.testing.assert_close(found, expected)
    assert found != loss.linear_cross_entropy(hidden, head, targets, ones)


def test_a_frozen_head_gets_no_gradient() -> None:
    hidden, head = (
        torch.randn(3, 6, requires_grad=True),
        torch.nn.Linear(6, 50).requires_grad_(False),
    )
    loss.linear_cross_entropy(hidden, head, torch.tensor([1, 2, 3]), torch.ones(3)).backward()
    assert head.weight.grad is None
    assert hidden.grad is not None
