"""Measure sampling against transformers' `generate`, from the same prompts, in one run.

    python -m scripts.bench_sampling long --model models/smollm2-135m
    python -m scripts.bench_sampling short

`long`: one prompt of 1,500 tokens, 32 and 64 samples of 64 tokens, which nothing ends sooner;
generate reads the prompt once a sample (`num_return_sequences`), as the paper's code does. `short`:
4,096 samples of puzzles' heads, first of equal lengths, then until a definition ends, where
generate is given stop strings; it may have the batch size that suits it best. The share of the
limit is what the matrix products of the drawn tokens would take at the speed of a bare one, over
what it all took. With stops only samples a second compare: this project ends a sample at any line
in column 0, generate at four strings. On a GPU: --device cuda --dtype bfloat16, some four minutes.
No test runs this; numbers go into LOG.md.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from transformers import PreTrainedModel

from scripts.bench_finetune import matrix_speed
from selftrain.config import Config, ModelConfig
from selftrain.models import load_model, load_sampler, load_tokenizer
from selftrain.prompts import propose_prompt, solve_prompt
from selftrain.puzzle_source import read_splits
from selftrain.sampling import Request
from selftrain.sampling.local.sampler import TransformersSampler
from selftrain.sampling.server.asking import STOP

TEMPERATURE = 0.8
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Measured:
    """Sampling once."""

    way: str
    samples: int
    tokens: int
    """Drawn, those after a sample's end left out."""
    seconds: float


def main(arguments: Sequence[str]) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("long", "short"))
    parser.add_argument("--model", default="builtin:tiny", help="as model.name in a configuration")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--repetitions", type=int, default=3, help="but long generate: once")
    parser.add_argument("--samples", type=int, default=4096, help="of the short task")
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="one thread, by the seconds that this process has of a processor: for a busy machine",
    )
    given = parser.parse_args(arguments)
    clock = time.process_time if given.cpu_time else time.perf_counter
    if given.cpu_time:
        torch.set_num_threads(1)
    config = ModelConfig(name=given.model, device=given.device, dtype=given.dtype)
    before = matrix_speed(given.device, given.dtype, clock)
    found = (long if given.task == "long" else short)(config, given, clock)
    speed = statistics.mean([before, matrix_speed(given.device, given.dtype, clock)])
    _print(config, found, speed)


def long(config: ModelConfig, given: argparse.Namespace, clock: Clock) -> list[list[Measured]]:
    """Measure samples of one long prompt, of equal lengths."""
    train, _ = read_splits(Config().puzzles, print)
    tokenizer = load_tokenizer(config)
    prompt = tokenizer.decode(tokenizer(propose_prompt(train[:120]))["input_ids"][:1500])
    return [
        [
            *(
                _ours(config, [prompt], n, n, 64, ends=False, clock=clock)
                for _ in range(given.repetitions)
            ),
            _generate(config, [prompt], n, n, 64, ends=False, clock=clock),
        ]
        for n in (32, 64)
    ]


def short(config: ModelConfig, given: argparse.Namespace, clock: Clock) -> list[list[Measured]]:
    """Measure 16 samples of each of many short prompts."""
    _, held_out = read_splits(Config().puzzles, print)
    count = given.samples // 16
    puzzles = [*held_out, *read_splits(Config().puzzles, print)[0]][:count]
    prompts = [solve_prompt(puzzle, []) for puzzle in puzzles]
    sizes = (32, 64, 128, 256, 512)
    return [
        [
            *(
                _ours(config, prompts, 16, 512, 80, ends=ends, clock=clock)
                for _ in range(given.repetitions)
            ),
            *(
                _generate(config, prompts, 16, size, 80, ends=ends, clock=clock)
                for size in sizes
                for _ in range(given.repetitions)
            ),
        ]
        for ends in (False, True)
    ]


def _ours(
    config: ModelConfig,
    prompts: Sequence[str],
    each: int,
    size: int,
    new: int,
    *,
    ends: bool,
    clock: Clock,
) -> Measured:
    sampler = load_sampler(config.model_copy(update={"batch_size": size}))
    assert isinstance(sampler, TransformersSampler)
    if not ends:
        _never_end(sampler)
    requests = [Request(prompt, seed) for prompt in prompts for seed in range(each)]

    def sample() -> list[int]:
        completions = sampler.sample(
            requests, temperature=TEMPERATURE, max_new_tokens=new, advance=lambda _: None
        )
        return [one.num_tokens for one in completions]

    # What loads late is not sampling.
    sampler.sample(requests[:1], temperature=0, max_new_tokens=1, advance=lambda _: None)
    return _timed(f"selftrain, {size} at a time", sample, clock)


def _never_end(sampler: TransformersSampler) -> None:
    """Let every sample have all its tokens, so that both sides draw as many."""
    nothing = np.zeros(0, dtype=np.int64)
    sampler._end_of_text = nothing
    sampler._end.update = lambda at, tokens: (at & False, at)  # type: ignore[method-assign]


def _generate(
    config: ModelConfig,
    prompts: Sequence[str],
    each: int,
    size: int,
    new: int,
    *,
    ends: bool,
    clock: Clock,
) -> Measured:
    model, tokenizer = load_model(config), load_tokenizer(config)
    tokenizer.padding_side = "left"
    how: dict[str, Any] = {
        "do_sample": True, "temperature": TEMPERATURE, "top_k": 0, "top_p": 1.0,
        "max_new_tokens": new,
        "num_return_sequences": each, "pad_token_id": tokenizer.pad_token_id,
    }  # fmt: skip
    if ends:
        how |= {"stop_strings": list(STOP), "tokenizer": tokenizer}
    else:
        how |= {"min_new_tokens": new}
    together = max(1, size // each)
    # Prompts of like length together, as a careful user would have them: less padding.
    prompts = sorted(prompts, key=len)

    def sample() -> list[int]:
        lengths: list[int] = []
        for start in range(0, len(prompts), together):
            batch = tokenizer(
                prompts[start : start + together], return_tensors="pt", padding=True
            ).to(model.device)
            with torch.inference_mode():
                drawn = model.generate(**batch, **how)[:, batch["input_ids"].shape[1] :]
            lengths += (
                (drawn != tokenizer.pad_token_id).sum(dim=1).tolist()
                if ends
                else [new] * len(drawn)
            )
        return lengths

    # What loads late is not sampling.
    first = tokenizer(prompts[:1], return_tensors="pt").to(model.device)
    model.generate(**first, max_new_tokens=1, pad_token_id=tokenizer.pad_token_id)
    return _timed(f"generate, {together * each} at a time", sample, clock)


def _timed(way: str, sample: Callable[[], list[int]], clock: Clock) -> Measured:
    begun = clock()
    lengths = sample()
    seconds = clock() - begun
    print(f"{way}: {len(lengths)} samples in {seconds:.1f} s", file=sys.stderr, flush=True)
    return Measured(way, len(lengths), sum(lengths), seconds)


def _print(config: ModelConfig, found: list[list[Measured]], speed: float) -> None:
    model = load_model(config)
    for runs in found:
        table = Table(title=f"{config.name}: {runs[0].samples:,} samples")
        for head in ("way", "seconds", "tokens", "tokens a second", "samples a second", "times"):
            table.add_column(head, justify="left" if head == "way" else "right")
        ways = list(dict.fromkeys(run.way for run in runs))
        middle = {w: statistics.median(r.seconds for r in runs if r.way == w) for w in ways}
        for way in ways:
            run = next(r for r in runs if r.way == way)
            table.add_row(
                way, f"{middle[way]:.1f}", f"{run.tokens:,}", f"{run.tokens / middle[way]:,.0f}",
                f"{run.samples / middle[way]:,.1f}", f"{middle[way] / middle[ways[0]]:.2f}",
            )  # fmt: skip
        Console().print(table)
        tokens = next(r.tokens for r in runs if r.way == ways[0])
        share = 2 * _matrices(model) * tokens / speed / middle[ways[0]]
        print(f"{ways[0]}: {share:.1%} of the limit, in drawn tokens alone")
    print(
        f"{torch.get_num_threads()} threads; a bare product of matrices makes {speed / 1e9:,.0f} "
        "billion operations a second"
    )


def _matrices(model: PreTrainedModel) -> int:
    """Count the weights that every token is multiplied with."""
    layers = (layer for layer in model.modules() if isinstance(layer, torch.nn.Linear))
    return sum(layer.weight.numel() for layer in layers)


if __name__ == "__main__":
    main(sys.argv[1:])
