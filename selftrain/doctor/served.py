"""What can be asked of a model on a server: room, and whether its completions tell what runs need.

A server shows neither its tokens nor its logits, so most checks want the model's own files.
"""

from collections.abc import Sequence

from selftrain.config import Config
from selftrain.doctor.boundary import prompts_end
from selftrain.doctor.finding import Finding, State
from selftrain.doctor.room import room
from selftrain.doctor.texts import Text
from selftrain.sampling import Completion, Request, Sampler

_NUM_TOKENS = 16


def ask_server(sampler: Sampler, texts: Sequence[Text], config: Config) -> list[Finding]:
    """Look at what a server tells. Raises RunError where it does not answer, UsageError where it
    refuses.
    """
    prompt = next(text.prompt for text in texts if text.kind == "example")
    first, second = (_draw(sampler, prompt) for _ in range(2))
    return [
        prompts_end(texts),
        room(sampler.count_tokens, texts, config, sampler.context_tokens),
        _logprobs(first),
        _seed(first, second),
        Finding(
            "others",
            State.NOTE,
            "a server shows neither tokens nor logits, so nothing else can be looked at",
            "Name the model's folder or hub id without model.server for the other checks.",
        ),
    ]


def _draw(sampler: Sampler, prompt: str) -> Completion:
    (completion,) = sampler.sample(
        [Request(prompt, 1)],
        temperature=1.0,
        max_new_tokens=_NUM_TOKENS,
        advance=lambda _: None,
    )
    return completion


def _logprobs(completion: Completion) -> Finding:
    if completion.sum_logprob is None:
        return Finding(
            "logprobs",
            State.NOTE,
            "the server tells no log-probabilities",
            "A verifier then ranks without them, or reads them anew: lever.logprobs=model.",
        )
    return Finding("logprobs", State.FINE, "the server tells log-probabilities")


def _seed(first: Completion, second: Completion) -> Finding:
    if first.text == second.text:
        return Finding("seed", State.FINE, "one seed gave the same completion twice")
    return Finding(
        "seed",
        State.NOTE,
        "one seed gave two completions",
        "Such a run cannot be repeated to the byte; what was drawn is kept all the same.",
    )
