"""A learned verifier, and what `selftrain lever` does with one."""

from typing import Annotated, Literal

from pydantic import Field

from selftrain.config.model import LoraConfig, ModelConfig
from selftrain.config.section import Count, Section


class VerifierConfig(Section):
    """A learned verifier (LEVER, Ni et al. 2023): what it is, what it reads, how it learns.

    The defaults of learning are the paper's, section 4.1 and appendix A, but for `tasks_per_step`,
    `candidates_per_step` and `check_every`, which are ours.
    """

    enabled: bool = False
    """Whether each round of a run trains one on the round's own verdicts."""
    use: Literal["watch", "judge", "keep"] = "watch"
    """What the verifier of the round before decides in a round: nothing, its worth is measured;
    `judge`, in which order a puzzle's candidates are judged, until `curate.max_solutions`
    distinct ones passed; `keep`, which of the solutions that passed are kept, likeliest first, as
    `judge` does too."""
    explore: Annotated[float, Field(gt=0, le=1)] = 0.25
    """With `judge`, the share of puzzles all of whose candidates are judged whatever the verifier
    says: what it learns from and is measured on, since no choice of its own has touched them."""
    model: ModelConfig = ModelConfig()
    """Encoder, encoder-decoder or decoder of transformers that it starts from."""
    output: Literal["auto", "head", "yes_no"] = "auto"
    """A head of two labels, or `yes` against `no` at the first step of a decoder; auto is the
    latter for an encoder-decoder, a head for others."""
    method: Literal["full", "lora"] = "full"
    """Train all weights, or low-rank adapters and the head."""
    lora: LoraConfig = LoraConfig()
    results: Literal["value", "type", "none"] = "value"
    """What is read of a program's result: the value, its type alone, or nothing."""
    programs: bool = True
    """Whether the program is read."""
    gold: bool = True
    """Whether a task's gold program, where it has one, is added to its candidates to learn from."""
    max_tokens: Annotated[int, Field(ge=64)] = 512
    """Tokens of task, program and result together. Where they are more, the task is cut first, to a
    quarter of what the result leaves, then the program; the result is shown shorter only beyond
    half a row."""
    learning_rate: Annotated[float, Field(gt=0)] = 5e-5
    """Peak learning rate of AdamW."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.1
    """Weight decay of AdamW."""
    steps: Count = 10_000
    """Optimizer steps."""
    warmup_steps: Annotated[int, Field(ge=0)] = 100
    """Steps in which the learning rate rises from zero, at most a quarter of `steps`; it falls
    linearly after that."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Gradients are clipped to this norm."""
    tasks_per_step: Count = 8
    """Tasks a step."""
    candidates_per_step: Count = 8
    """Candidates of each of these tasks a step, drawn anew each time; 4 to 20 in the paper."""
    check_every: Count = 500
    """Steps between looks at the dev tasks; the weights with the lowest loss there are kept."""
    likelihood: Literal["sum", "mean"] = "sum"
    """Whether the joint score takes the sum of a program's token log-probabilities, or their mean,
    as the paper does for GSM8k alone."""
    groups: bool = True
    """Whether programs of the same result pool their joint scores."""
    calibrator: Literal["platt", "temperature", "isotonic"] = "platt"
    """What is fitted on the dev tasks to make its probabilities those of being right."""


class LeverConfig(Section):
    """What `selftrain lever` learns from and is measured on.

    A source of tasks is `puzzles`, those of this configuration, tried by `model` with the checker
    withheld; `run:FOLDER`, what a run tried; `humaneval:FILE`, `mbpp:FILE`, `questions:FILE`, in
    these formats; `pairs:FILE`, programs that are right, set against those of other puzzles; or a
    file of tasks. Of a file whose rows name a `split`, each takes its own.
    """

    train: str = "puzzles"
    """Tasks that the verifier learns from."""
    dev: str | None = None
    """Tasks that it is chosen and calibrated on; null sets `num_dev` of the train tasks aside."""
    test: str = "puzzles"
    """Tasks that rankings are measured on."""
    num_dev: Count = 40
    """Train tasks set aside where `dev` is null."""
    dev_families: Literal["apart", "shared"] = "apart"
    """Whether these are whole families, so that dev asks for new ones as the strictest test would;
    or single tasks, so that it asks for new instances of known families, where the test does."""
    num_samples: Count = 32
    """Candidates drawn of a task that comes without any; those with equal text are one."""
    temperature: Annotated[float, Field(gt=0)] = 0.8
    """Their sampling temperature; 0.6 for Codex, 0.8 for others in the paper."""
    logprobs: Literal["given", "model"] = "given"
    """Where log-probabilities of candidates come from: whoever drew them, or `model`, which reads
    each candidate once more, at temperature 1."""
    arms: Annotated[
        tuple[Literal["full", "no-execution", "type-only", "no-program", "no-gold"], ...],
        Field(min_length=1),
    ] = ("full", "no-execution")
    """Verifiers that are trained and compared; the first is the one that is laid open."""
    train_sizes: tuple[Count, ...] = ()
    """Candidates a task to train further verifiers on, to see what more of them bring."""
    max_risk: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Share of wrong choices that is accepted: on the dev tasks a threshold is chosen by it, above
    which a choice is made at all."""
