"""Refinements that kill themselves (SIGKILL) at chosen points, and the same command again. A program.

    python killed_refinements.py FOLDER CONFIG

As killed_runs.py, with scripted models that write what they are asked beside the folder.
"""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import killed_runs
from refine_script import ALL_PASS, FAIL, Script, block, note_asked

from selftrain import models
from selftrain.config import Config, ModelConfig
from selftrain.config_file import load_config
from selftrain.refine import refine as command
from selftrain.sampling import Completion, Request


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
    """Writes down what it is asked."""

    log: Path
    calls: Path
    role: str

    def sample(self, requests: Sequence[Request], **how: Any) -> list[Completion]:
        note_asked(self.log, requests, [self.calls], self.role)
        return super().sample(requests, **how)


def refine(config: Config, folder: Path) -> None:
    def load(model: ModelConfig, *_: object) -> Logged:
        sampler = Logged(answer)
        sampler.role = "critic" if model.server else "forward"
        sampler.log = folder.with_suffix(f".{sampler.role}")
        sampler.calls = folder / "2-calls.jsonl"
        return sampler

    models.load_sampler = load  # type: ignore[assignment]
    assert command.refine(config, folder) == 0


def in_every_part(points: list[str]) -> list[str]:
    """Choose files of the first arm, then points between answers, then files of the last arms."""
    files = [p for p in points if p.endswith(" 1") and not p.startswith("advance")]
    first = [p for p in files if "3-refined/forward" in p]
    last = files[next(i for i, p in enumerate(files) if "3-refined/resample-as-critic" in p) :]
    return [*files[:2], *first, *["open 2-calls.jsonl 3"] * 12, *last[::2]]


if __name__ == "__main__":
    killed_runs.Points = killed_runs.Numbered  # type: ignore[misc]
    config = load_config(Path(sys.argv[2]), [])
    killed_runs.compare(partial(refine, config), Path(sys.argv[1]), in_every_part)
