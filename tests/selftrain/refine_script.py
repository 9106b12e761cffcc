"""A sampler that answers by a script, in a forward model's role or a critic's, and writes down
what it was asked.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selftrain.files import read_whole_rows
from selftrain.refine.critic.review import Field
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import Tell, ignore

Reply = str | Completion
Answer = Callable[[Request], Reply]


@dataclass
class Script:
    """Keeps the Protocol `Sampler`. The last reply of a list is given again and again."""

    replies: Sequence[Reply] | Answer
    requests: list[Request] = field(default_factory=list)
    context_tokens: int = 100_000

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

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
            reply = self._reply(request)
            self.requests.append(request)
            if isinstance(reply, str):
                reply = Completion(reply, FinishReason.STOP, len(reply.split()), None)
            done.append(reply)
            tell(place, reply)
            advance(1)
        return done

    def _reply(self, request: Request) -> Reply:
        if callable(self.replies):
            return self.replies(request)
        return self.replies[min(len(self.requests), len(self.replies) - 1)]

    @property
    def prompts(self) -> list[str]:
        return [request.prompt for request in self.requests]


def note_asked(
    log: Path, requests: Sequence[Request], answered: Sequence[Path], model: str
) -> None:
    """Write down what a model is asked, and whether its answer stands in a file already."""
    known = {
        (row["prompt"], row["seed"])
        for path in answered
        for row in read_whole_rows(path)
        if row["model"] == model
    }
    with log.open("a") as file:
        for one in requests:
            again = (one.prompt, one.seed) in known
            file.write(json.dumps([again, one.seed, one.prompt]) + "\n")


def read_asked(log: Path) -> tuple[set[tuple[int, str]], int]:
    """Read what was asked, and how often for what was answered before."""
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return {(seed, prompt) for _, seed, prompt in rows}, sum(again for again, *_ in rows)


def block(source: str, proofs: str = "") -> str:
    """Write a forward model's reply."""
    return f"```python\n{source}\n```\n{proofs}"


def verdicts(*edits: tuple[str, str, str]) -> str:
    """Write a critic's reply that fails the fields with edits (field, location, action)."""
    return json.dumps(
        {
            name: {
                "verdict": "fail" if any(edit[0] == name for edit in edits) else "pass",
                "edits": [
                    {"location": location, "action": action}
                    for field_name, location, action in edits
                    if field_name == name
                ],
            }
            for name in Field
        }
    )


ALL_PASS = verdicts()
FAIL = verdicts(("correctness", "the return", "return twice x"))
