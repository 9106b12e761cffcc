"""A sampler that proposes and solves by a script, and a model to fine-tune that is tiny and random.

The script knows a pool of instances of the built-in families, none of a held-out family, with their
solutions. What it draws depends on prompt and seed alone, as a real model's completions do.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

from puzzles import Puzzle
from puzzles.builtin.family import draw_instance
from puzzles.builtin.read import FAMILIES, read_builtin
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import Tell, ignore

NOT_KEPT = {
    "syntax": "x: int):\n    return x +",
    "trivial": "x: int):\n    return x == 3",
    "answer_type": "x: dict):\n    return x == {}",
    "duplicate": read_builtin("train")[0].f.removeprefix("def f("),
}
"""Proposals that the filter rejects, by its reason."""
WRONG = ("return 0", "return 1 / 0", "return (", "pass")


def _pool() -> dict[str, str]:
    pool: dict[str, str] = {}
    for family in FAMILIES:
        if not family.held_out:
            for number in range(4):
                drawn = draw_instance(family, Random(f"scripted {family.name} {number}"))
                pool[drawn.f] = drawn.g
    return pool


POOL = _pool()
SOLUTIONS = POOL | {
    p.f: p.solutions[0] for split in ("train", "held_out") for p in read_builtin(split)
}  # type: ignore[arg-type]


class ScriptedSampler:
    """Keeps the Protocol `Sampler`; writes down what it was asked."""

    context_tokens = 300

    def __init__(self, *, bad_share: float = 0.3, wrong_share: float = 0.5) -> None:
        self.bad_share = bad_share
        self.wrong_share = wrong_share
        self.requests: list[Request] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 3 + 1 for text in texts]

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        done = []
        for place, request in enumerate(requests):
            self.requests.append(request)
            done.append(self._complete(request, temperature))
            tell(place, done[-1])
            advance(1)
        return done

    def _complete(self, request: Request, temperature: float) -> Completion:
        random = Random(request.seed if temperature else 0)
        if request.prompt.endswith("("):
            text = self._propose(random)
        else:
            text = self._solve(random, request.prompt)
        return Completion(text, FinishReason.STOP, len(text) // 3, -random.random())

    def _propose(self, random: Random) -> str:
        if random.random() < self.bad_share:
            text = random.choice(list(NOT_KEPT.values()))
        else:
            text = random.choice(list(POOL)).removeprefix("def f(")
        return f"{text}\n\ndef"

    def _solve(self, random: Random, prompt: str) -> str:
        f = re.sub(r"^def f\d*\(", "def f(", prompt.split("\n\n")[-2])
        body = SOLUTIONS[f].split("\n", 1)[1]
        if random.random() < self.wrong_share:
            body = "    " + random.choice(WRONG)
        elif random.random() < 0.3:
            body = f"    answer = 0\n{body}"
        return f"\n{body}\n\nassert"


@cache
def few_held_out() -> list[Puzzle]:
    """Give four held-out puzzles, two of them of families that the train split lacks."""
    new = {family.name for family in FAMILIES if family.held_out}
    puzzles = read_builtin("held_out")
    known = [puzzle for puzzle in puzzles if puzzle.family not in new]
    return [*known[:2], *[puzzle for puzzle in puzzles if puzzle.family in new][:2]]


@cache
def few_train() -> list[Puzzle]:
    """Give train puzzles of several families: their reference solutions are soon judged."""
    return read_builtin("train")[::8]


def write_puzzles(path: Path, puzzles: Sequence[Puzzle]) -> Path:
    """Write puzzles as a JSONL file that a configuration can name."""
    from dataclasses import asdict

    from selftrain.files import write_rows

    write_rows(
        path, ({**asdict(puzzle), "solutions": list(puzzle.solutions)} for puzzle in puzzles)
    )
    return path


def scripted_run(folder: Path, model: Path, settings: Sequence[str]) -> None:
    """Do a whole run in `folder`/run, in which the script proposes and solves."""
    import pytest

    from selftrain import models
    from selftrain.config_file import load_config
    from selftrain.run import run

    held_out = write_puzzles(folder / "held_out.jsonl", few_held_out())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "load_sampler", lambda *_: ScriptedSampler())
        here = (f"puzzles.held_out={held_out}", f"model.name={model}")
        assert run(load_config(None, [*settings, *here]), folder / "run") == 0


def make_model(folder: Path) -> Path:
    """Save a Llama of two layers with random weights, and the built-in model's tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from selftrain.config import ModelConfig
    from selftrain.models import load_tokenizer

    tokenizer = load_tokenizer(ModelConfig(name="builtin:tiny"))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.3,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
