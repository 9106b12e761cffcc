"""What is learnt: every token once, after the first, in pieces no longer than a block."""

from collections import Counter

import pytest
from lessons import TEXTS, settings
from tokenizers import Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from selftrain.config import ModelConfig
from selftrain.errors import RunError
from selftrain.finetune.blocks import Block, blocks, deal
from selftrain.finetune.pieces import Piece, Text, hold_back, pieces
from selftrain.models import load_tokenizer


@pytest.fixture(scope="module")
def tokenizer(tiny_config: ModelConfig) -> PreTrainedTokenizerBase:
    return load_tokenizer(tiny_config)


def test_packing_drops_no_token_and_keeps_the_order(tokenizer: PreTrainedTokenizerBase) -> None:
    packed = blocks(tokenizer, TEXTS, settings())
    found = [token for block in packed for piece in block for token in piece.tokens]
    expected: list[int] = []
    for text in TEXTS:
        ids = tokenizer(text.prompt + text.completion)["input_ids"]
        expected += [*ids, tokenizer.eos_token_id]
    assert found == expected


def test_no_block_is_longer_than_asked(tokenizer: PreTrainedTokenizerBase) -> None:
    packed = blocks(tokenizer, TEXTS, settings(block_tokens=48))
    assert max(sum(len(piece.tokens) for piece in block) for block in packed) <= 48
    assert len(packed) > 3


def test_all_but_the_first_token_is_learnt(tokenizer: PreTrainedTokenizerBase) -> None:
    (piece,) = pieces(tokenizer, [Text("x =", " 1")], settings())
    assert piece == Piece((*tokenizer("x = 1")["input_ids"], tokenizer.eos_token_id), 1)


def test_of_completions_only_no_token_of_a_prompt_is_learnt(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    (piece,) = pieces(tokenizer, TEXTS[:1], settings(loss_on="completion"))
    prompt = tokenizer(TEXTS[0].prompt)["input_ids"]
    assert list(piece.tokens[: piece.num_given]) == prompt
    learnt = [*piece.tokens[piece.num_given :]]
    assert learnt == [*tokenizer(TEXTS[0].completion)["input_ids"], tokenizer.eos_token_id]


def test_a_token_that_spans_prompt_and_completion_is_not_made(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    prompt, completion = "def f(x: i", "nt):\n    return x == 1"
    (ids,) = tokenizer([prompt + completion])["input_ids"]
    first = tokenizer(prompt)["input_ids"]
    assert ids[: len(first)] != first
    (piece,) = pieces(tokenizer, [Text(prompt, completion)], settings(loss_on="completion"))
    assert list(piece.tokens[: piece.num_given]) == first
    assert tokenizer.decode(piece.tokens[:-1]) == prompt + completion


@pytest.mark.parametrize("completion", ["nt):\n    return x == 1", " nt", "\n  nt", "9", "=nt"])
def test_no_space_is_learnt_that_a_tokenizer_puts_before_a_text(completion: str) -> None:
    tokenizer, prompt = like_llama_2(), "def f(x: i"
    text = Text(prompt, completion)
    whole, first = (tokenizer(some)["input_ids"] for some in (prompt + completion, prompt))
    assert whole[: len(first)] != first, "else this shows nothing"
    (piece,) = pieces(tokenizer, [text], settings(loss_on="completion"))
    assert list(piece.tokens[: piece.num_given]) == first
    assert tokenizer.decode(piece.tokens[:-1]) == prompt + completion


def like_llama_2() -> PreTrainedTokenizerBase:
    """Make a tokenizer as SentencePiece's are converted: a space before all, and no words apart."""
    characters = sorted({*"▁def(x:int)\nrus=19"})
    vocab = {token: at for at, token in enumerate(["</s>", *characters])}
    merges = [("▁", "d"), ("▁", "n"), ("i", "▁n"), ("i", "n"), ("i", "\n"), ("i", "9"), ("i", "=")]
    vocab |= {one + other: len(vocab) + at for at, (one, other) in enumerate(merges)}
    made = Tokenizer(models.BPE(vocab, merges))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>")


def test_the_part_of_a_long_prompt_that_fills_a_block_is_not_learnt_from(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    text = Text("y = [1, 2, 3]\n" * 10, "z = 1")
    found = list(pieces(tokenizer, [text], settings(block_tokens=16, loss_on="completion")))
    whole = [*tokenizer(text.prompt)["input_ids"], *tokenizer("z = 1")["input_ids"]]
    learnt = [token for piece in found for token in piece.tokens[piece.num_given :]]
    assert learnt[-1] == tokenizer.eos_token_id
    assert learnt[:-1] == whole[-len(learnt) + 1 :]


def test_whole_puzzles_are_held_back() -> None:
    learnt, held = hold_back(TEXTS, settings(held_back=0.4), seed=1)
    assert sorted(learnt + held, key=repr) == sorted(TEXTS, key=repr)
    assert not {text.puzzle_id for text in learnt} & {text.puzzle_id for text in held}
    assert len({text.puzzle_id for text in held}) == 2


def test_the_seed_chooses_which_puzzles_are_held_back() -> None:
    chosen = {
        frozenset(text.puzzle_id for text in hold_back(TEXTS, settings(held_back=0.4), seed)[1])
        for seed in range(8)
    }
    assert len(chosen) > 2


def test_one_puzzle_alone_cannot_be_held_back() -> None:
    with pytest.raises(RunError, match=r"finetune\.held_back is 0\.1, but the examples are all of"):
        hold_back(TEXTS[:3], settings(held_back=0.1), seed=1)


@pytest.mark.parametrize("num_processes", [1, 2, 3])
@pytest.mark.parametrize("num_parts", [1, 2, 4])
@pytest.mark.parametrize("num_blocks", [1, 2, 5, 8])
def test_every_block_of_a_step_is_dealt_once_and_each_process_gets_as_many_parts(
    num_processes: int, num_parts: int, num_blocks: int
) -> None:
    step: list[Block] = [(Piece((number, 0), 1),) for number in range(num_blocks)]
    dealt = [
        list(deal(step, num_processes, process, num_parts)) for process in range(num_processes)
    ]
    assert Counter(block for parts in dealt for part in parts for block in part) == Counter(step)
    assert len({len(parts) for parts in dealt}) == 1
    assert len(dealt[0]) <= num_parts
