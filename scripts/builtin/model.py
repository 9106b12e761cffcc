"""Train the built-in model: one go over one stretch of text.

`scripts/builtin/make.sh` has all of them. A tokenizer (byte-level BPE, single digits) and a small
Llama, both from nothing but `scripts.builtin.text`. The folder is an ordinary
transformers folder. It is a stand-in for a base code model, and no code model of any use.
"""

import argparse
import itertools
import math
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.builtin.text import NUM_PLAIN_FIRST, NoisyText

END = "<|endoftext|>"
VOCABULARY = 640
CONTEXT = 512
BATCH_TOKENS = 2048


def main() -> None:
    """Train and save the model; print the loss as it falls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--steps", type=int, default=4500, help=f"batches of at most {BATCH_TOKENS} tokens"
    )
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument(
        "--start", type=Path, help="go on from this folder instead of random weights"
    )
    parser.add_argument(
        "--plain-first", type=int, default=NUM_PLAIN_FIRST, help="documents before the mixture"
    )
    parser.add_argument(
        "--habits", type=float, default=0.0, help="share of mistakes that are a family's habit"
    )
    parser.add_argument("--save-every", type=int, default=500)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    if options.start:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(options.start)
        model = LlamaForCausalLM.from_pretrained(options.start)
    else:
        tokenizer = train_tokenizer(options.seed)
        model = LlamaForCausalLM(architecture(len(tokenizer)))
    print(f"{model.num_parameters():,} parameters, vocabulary {len(tokenizer)}", flush=True)
    train(model, tokenizer, options)
    save(model, tokenizer, options.output)


def architecture(vocabulary: int) -> LlamaConfig:
    """Describe the model: a Llama of 4 layers and width 192."""
    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=6,
        max_position_embeddings=CONTEXT,
        initializer_range=0.07,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )


def train_tokenizer(seed: int) -> PreTrainedTokenizerFast:
    """Learn a byte-level BPE in which digits stand alone, so that numbers are copied by digits."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    text = itertools.islice(
        NoisyText(seed).documents(), NUM_PLAIN_FIRST - 2000, NUM_PLAIN_FIRST + 4000
    )
    tokenizer.train_from_iterator(text, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END,
        eos_token=END,
        pad_token=END,
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )


def batches(
    tokenizer: PreTrainedTokenizerFast, options: argparse.Namespace
) -> Iterator[torch.Tensor]:
    """Yield batches of whole documents of like length, in random order.

    They are padded with -1 on the right. Documents never share a row: with other numbers and words
    in sight, copying is learnt much later.
    """
    documents = NoisyText(options.seed, options.plain_first, options.habits).documents()
    order = Random(options.seed)
    while True:
        texts = list(itertools.islice(documents, 1024))
        rows = [
            [*tokens, tokenizer.eos_token_id]
            for tokens in tokenizer(texts, verbose=False)["input_ids"]
            if len(tokens) < CONTEXT
        ]
        rows.sort(key=len)
        pool: list[list[list[int]]] = [[]]
        for row in rows:
            if (len(pool[-1]) + 1) * len(row) > BATCH_TOKENS:
                pool.append([])
            pool[-1].append(row)
        order.shuffle(pool)
        for batch in pool:
            longest = max(map(len, batch))
            yield torch.tensor([row + [-1] * (longest - len(row)) for row in batch])


def train(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, options: argparse.Namespace
) -> None:
    """Train by AdamW: 100 steps of warm-up, then constant, in the last third linear to zero."""
    rate = options.learning_rate
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.05)
    stream = batches(tokenizer, options)
    begun, total, num_tokens = time.monotonic(), 0.0, 0
    model.train()
    for step in range(1, options.steps + 1):
        left = (options.steps - step + 1) / (options.steps / 3)
        optimizer.param_groups[0]["lr"] = rate * min(step / 100, 1, left)
        batch = next(stream)
        labels = torch.where(batch < 0, -100, batch)
        loss = model(batch.clamp(min=0), labels=labels, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        num_tokens += int((batch >= 0).sum())
        assert math.isfinite(total), f"the loss is {loss.item()} at step {step}"
        if step % 50 == 0:
            seconds = time.monotonic() - begun
            print(
                f"step {step}  loss {total / 50:.4f}  tokens {num_tokens:,}  {seconds:.0f} s",
                flush=True,
            )
            total = 0.0
        if step % options.save_every == 0:
            save(model, tokenizer, options.output / f"step-{step}")


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a folder that `from_pretrained` reads."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
