"""A sampler that answers by a script, in a forward model's role or a critic's, and writes down
what it was asked.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
