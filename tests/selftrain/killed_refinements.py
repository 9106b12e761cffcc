"""Refinements that kill themselves (SIGKILL) at chosen points, and the same command again. A program.

    python killed_refinements.py FOLDER CONFIG

As killed_runs.py, with scripted models that write each call they answered beside the folder.
"""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from killed_runs import compare
from refine_script import ALL_PASS, FAIL, Script, block

from selftrain import models
from selftrain.config import Config, ModelConfig
from selftrain.config_file import load_config
from selftrain.refine import refine as command
from selftrain.sampling import Completion, Request
from selftrain.sampling.completion import Tell, ignore


def answer(request: Request) -> str:
    """Answer by prompt and seed alone, as a real model does: right, wrong or unusable."""
    random = Random(f"{request.seed} {request.prompt}")
    if request.message is not None and request.message.schema is not None:
        return random.choice([FAIL, FAIL, ALL_PASS, "correctness: fail"])
    if "one a line" in request.prompt:
        return "add(1, 2)\nadd(0, 0)"
    return random.choice(
        [
            block(f"def add(a, b):\n    return a {sign} b{tail}")
            for sign in "+-*"
            for tail in ("", " + 0")
        ]
        + ["I am sorry."]
    )


class Logged(Script):
    """Writes each call down once whoever asked has the answer."""

    log: Path

    def sample(self, requests: Sequence[Request], *, tell: Tell = ignore, **how: Any) -> list[Completion]:  # fmt: skip
        def told(place: int, completion: Completion) -> None:
            tell(place, completion)
            with self.log.open("a") as file:
                file.write(f"{requests[place].seed} {hash_of(requests[place].prompt)}\n")

        return super().sample(requests, tell=told, **how)


def hash_of(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


def refine(config: Config, folder: Path) -> None:
    def load(model: ModelConfig, *_: object) -> Logged:
        sampler = Logged(answer)
        sampler.log = folder.with_suffix(f".{model.name.replace('/', '-')[-12:]}.asked")
        return sampler

    models.load_sampler = load  # type: ignore[assignment]
    assert command.refine(config, folder) == 0


def every(points: list[str]) -> list[str]:
    """Choose every third point, and all that write a model's answer or end an arm."""
    return [p for i, p in enumerate(points) if i % 3 == 0 or "calls" in p or "3-refined" in p]


if __name__ == "__main__":
    config = load_config(Path(sys.argv[2]), [])
    compare(partial(refine, config), Path(sys.argv[1]), every)
