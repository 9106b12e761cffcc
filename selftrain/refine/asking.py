"""Ask a model in one of its roles, for many tasks at once, and count what it takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from selftrain.refine.trace import Asked, Used
from selftrain.sampling import Completion, FinishReason, Request, Sampler
from selftrain.sampling.completion import Message

Count = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of texts, by the tokenizer that counts for all roles."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A model, and how it is asked in a role."""

    sampler: Sampler
    temperature: float
    max_new_tokens: int
    message: Message | None
    """None where it goes on with a text that breaks off."""

    def plain(self) -> "Speaker":
        """Give the same without a schema that its replies follow."""
        return replace(self, message=Message())

    def ask(
        self,
        prompts: Sequence[str],
        seeds: Sequence[int],
        count: Count,
        advance: Callable[[int], object],
    ) -> list[tuple[Completion, Asked]]:
        """Ask once a prompt, each with its seed; give what came, and what it took."""
        # They hold what a model wrote: half a surrogate pair can neither be sent nor tokenized.
        prompts = [_sendable(prompt) for prompt in prompts]
        requests = [
            Request(prompt, seed, self.message) for prompt, seed in zip(prompts, seeds, strict=True)
        ]
        answers = self.sampler.sample(
            requests,
            temperature=self.temperature,
            max_new_tokens=self.max_new_tokens,
            advance=advance,
        )
        sizes = count([*prompts, *(_sendable(answer.text) for answer in answers)])
        return [
            (answer, Asked(seed, answer.text, answer.finish_reason, _used(answer, *pair)))
            for answer, seed, pair in zip(
                answers,
                seeds,
                zip(sizes[: len(prompts)], sizes[len(prompts) :], strict=True),
                strict=True,
            )
        ]


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _used(answer: Completion, prompt: int, completion: int) -> Used:
    # What leaves no room was never sent.
    is_sent = answer.finish_reason is not FinishReason.PROMPT_TOO_LONG
    return Used(prompt, completion, 1) if is_sent else Used()
