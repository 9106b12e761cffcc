"""A model that revises by a script, and runs that kill themselves while rounds refine. A program.

python killed_in_rounds.py FOLDER section.key=value ...
"""

import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import killed_runs
from refine_script import FAIL, block, note_asked
from scripted import SOLUTIONS, WRONG, ScriptedSampler

from puzzles import puzzle_from_source
from selftrain.config_file import load_config
from selftrain.run import run
from selftrain.sampling import Completion, FinishReason, Request

POINTS = (
    "open round-001/shards/refine-calls/000000.jsonl 3",
    "open round-001/shards/refine-calls/000000.jsonl 4",
    "open round-001/shards/refine/000000.jsonl.unfinished 1",
    "rename round-001/shards/refine/000000.jsonl 1",
    "open round-001/shards/refine-calls/000001.jsonl 2",
    "rename round-001/3-candidates.jsonl 1",
    "rename round-001/3-refined.jsonl 1",
    "rename round-001/metrics.json 1",
)
"""Points while refinement is under way and while its files are joined, in order."""


class Revising(ScriptedSampler):
    """Solves as the script does, seldom; revises rightly where it is told so, by `right_share`.

    As a critic it finds the same fault each time.
    """

    context_tokens = 2000

    def __init__(self, *, right_share: float = 0.6, log: Path | None = None) -> None:
        super().__init__(bad_share=0.3, wrong_share=0.8)
        self.right_share = right_share
        self.log = log

    def sample(self, requests: Sequence[Request], **how: Any) -> list[Completion]:
        if self.log is not None:
            files = sorted(self.log.parent.glob("killed/round-001/shards/refine-calls/*"))
            note_asked(self.log, requests, files, "forward")
        return super().sample(requests, **how)

    def _complete(self, request: Request, temperature: float) -> Completion:
        if request.message is None:
            return super()._complete(request, temperature)
        if request.message.schema is not None:
            return Completion(FAIL, FinishReason.STOP, 20, None)
        f = re.findall(r"```python\n(def f\(.*?)\n```", request.prompt, re.DOTALL)[-1]
        g = f"def g({_inputs(f)}):\n{self._body(Random(request.seed), f)}"
        return Completion(block(g), FinishReason.STOP, 20, None)

    def _solve(self, random: Random, prompt: str) -> str:
        if "\n# 1. " not in prompt:
            return super()._solve(random, prompt)
        shown = [part for part in prompt.split("\n\n") if re.match(r"def f\d*\(", part)]
        return f"\n{self._body(random, re.sub(r'^def f[0-9]*', 'def f', shown[-1]))}\n\nassert"

    def _body(self, random: Random, f: str) -> str:
        """Give the body of a revision, which is wrong in other words each time."""
        if random.random() < self.right_share:
            return SOLUTIONS[f].split("\n", 1)[1]
        return f"    {random.choice(WRONG)}  # {random.random()}"


def _inputs(f: str) -> str:
    return puzzle_from_source(f, name="f").inputs


if __name__ == "__main__":
    root = Path(sys.argv[1])
    killed_runs.Points = killed_runs.Numbered  # type: ignore[misc]
    killed_runs.ScriptedSampler = partial(Revising, log=root / "answers.jsonl")  # type: ignore[misc, assignment]
    config = load_config(None, sys.argv[2:])
    killed_runs.compare(partial(run, config), root, lambda _: list(POINTS))
