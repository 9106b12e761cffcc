"""What a refinement works with: models in their roles, gate, judge, tokenizer. Nothing is asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from puzzles import Puzzle
from selftrain import models
from selftrain.config import Config, ModelConfig, RefineConfig
from selftrain.errors import UsageError
from selftrain.experiment import Experiment
from selftrain.judge import Judging, judging_in_evaluation
from selftrain.refine.asking import Count, Speaker
from selftrain.refine.calls import Calls, OnceSampler
from selftrain.refine.critic.schema import REVIEW_SCHEMA
from selftrain.refine.gate.gate import Gate
from selftrain.sampling import Sampler
from selftrain.sampling.completion import Message
from selftrain.sampling.lazy import LazySampler


@dataclass(frozen=True, slots=True)
class Means:
    """What a loop works with."""

    config: RefineConfig
    forward: Speaker
    critics: Mapping[str, Speaker | None]
    """By `forward` or `configured`; None is the program `rules`."""
    gate: Gate
    judging: Judging
    """How a critic's probes are run."""
    count: Count
    few_shot: Sequence[Puzzle]
    """Solved puzzles that a text to go on with begins with."""
    seed: int
    """Seed of the run."""
    place: tuple[int | str, ...]
    """From which each call's own seed is derived, with role, task and iteration: no arm among them,
    so that arms that ask the same are told the same."""
    advance: Callable[[int], object] = lambda _: None
    """Told of replies as they come."""


@dataclass(frozen=True, slots=True)
class Samplers:
    """The models of a comparison, loaded when first asked."""

    forward: LazySampler
    critic: LazySampler | None
    """`refine.critic`, where it is a model of its own and not the forward model."""

    @classmethod
    def of(cls, x: Experiment, taught: Path | None) -> "Samplers":
        """Name them; the forward model is the one that was taught, where one was."""
        forward = (
            x.solver(x.generator(0))
            if taught is None
            else LazySampler(lambda: x.load(taught), x.bill)
        )
        critic = x.config.refine.critic
        is_forward = taught is None and critic == (x.config.solve.model or x.config.model)
        if isinstance(critic, str) or is_forward:
            return cls(forward, None)
        return cls(forward, LazySampler(lambda: x.load_other(critic), x.bill))

    def reach(self) -> None:
        """Load the critic's model: a wrong name should end a comparison at once, not after arms.

        Raises UsageError or RunError.
        """
        if self.critic is not None:
            _ = self.critic.context_tokens

    def release(self) -> None:
        """Give their memory back."""
        for one in (self.forward, self.critic):
            if one is not None:
                one.release()


def means_of(
    x: Experiment,
    samplers: Samplers,
    calls: Calls,
    judging: Judging | None = None,
    place: tuple[int | str, ...] = ("refine",),
) -> Means:
    """Gather what the loop works with; each model is asked through what it answered before.

    Programs are judged as in evaluation, where `judging` does not say otherwise.
    """
    c = x.config.refine
    model = x.config.solve.model or x.config.model
    forward = OnceSampler(calls, "forward", samplers.forward, _together(model))
    message = Message() if c.wording == "message" else None
    own = critic_speaker(c, forward)
    configured: Speaker | None = None if c.critic == "rules" else own
    if samplers.critic is not None and not isinstance(c.critic, str):
        other = OnceSampler(calls, "critic", samplers.critic, _together(c.critic))
        configured = critic_speaker(c, other)
    judging = judging or judging_in_evaluation(x.config.judge)
    return Means(
        config=c,
        forward=Speaker(forward, c.temperature, c.max_new_tokens, message),
        critics={"forward": own, "configured": configured},
        gate=Gate(judging, c.allowed_imports),
        judging=judging,
        count=counting(tokenizer_of(x.config)),
        few_shot=x.few_shot,
        seed=x.config.seed,
        place=place,
    )


def critic_speaker(config: RefineConfig, sampler: Sampler) -> Speaker:
    """Say how a model is asked for a review."""
    return Speaker(
        sampler,
        config.critic_temperature,
        config.critic_max_new_tokens,
        Message(REVIEW_SCHEMA),
    )


def tokenizer_of(config: Config) -> ModelConfig:
    """Give the model whose tokenizer counts: the named one, or the forward model if it is here."""
    forward = config.solve.model or config.model
    if config.refine.tokenizer is not None:
        return ModelConfig(name=config.refine.tokenizer)
    return ModelConfig() if forward.server else forward


def counting(tokenizer: ModelConfig) -> Count:
    """Count tokens by the tokenizer of a model."""
    try:
        loaded = models.load_tokenizer(tokenizer)
    except UsageError as error:
        raise UsageError(f"The tokenizer that counts tokens (refine.tokenizer): {error}") from None
    return lambda texts: [len(ids) for ids in loaded(list(texts), verbose=False)["input_ids"]]


def _together(model: ModelConfig) -> int | None:
    return None if model.server else model.batch_size
