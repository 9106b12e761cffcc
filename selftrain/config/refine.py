"""Refinement by a critic's edits behind a gate (CodeGrad, Zhang et al. 2025)."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from selftrain.config.model import ModelConfig
from selftrain.config.section import Count, Section

Arm = Literal[
    "forward",
    "resample",
    "resample_no_gate",
    "self_critic",
    "critic",
    "critic_code",
    "critic_no_gate",
    "gate_no_critic",
]


class RefineConfig(Section):
    """What `selftrain refine` compares, and what a round does with puzzles that it did not solve.

    The forward model is the one that learns, or `solve.model` where that is set.
    """

    enabled: bool = False
    """Whether each round of a run refines tries at puzzles that no attempt solved, before these are
    given up."""
    tasks: Annotated[tuple[str, ...], Field(min_length=1)] = ("puzzles",)
    """What `selftrain refine` is measured on: `puzzles`, the held-out ones of this configuration,
    and files of functions or programs: HumanEval, HumanEval+, LiveCodeBench, or rows of one's own
    (docs/refine.md)."""
    num_tasks: Count | None = None
    """Tasks of each source, the first in an order drawn by the seed; null takes all."""
    arms: Annotated[tuple[Arm, ...], Field(min_length=1)] = get_args(Arm)
    """Ways to spend tokens on a task, all from the same first candidate. Those that
    draw again have the tokens of `critic`, or else of `self_critic`, `critic_code` and so on: on
    each task, or without a gate in the mean."""
    mode: Literal["best", "paper"] = "best"
    """`paper` discards every update that the gate rejects and ends only when the critic passes all
    four fields; `best` works on what it has until something passes the gate, and carries a
    rejection's reasons to the next edits."""
    iterations: Count = 2
    """Most updates of a candidate; N in the paper."""
    critic: ModelConfig | Literal["self", "rules"] = "self"
    """The critic: another model, the forward model itself, or `rules`, a program that reads what
    the judge said. In the arm `self_critic` it is always the forward model."""
    wording: Literal["message", "continue"] = "message"
    """How the forward model is asked: by a message, for models that follow instructions; or by a
    Python file that breaks off, for those that go on with text. A critic gets a message."""
    temperature: Annotated[float, Field(ge=0)] = 0.7
    """Sampling temperature of the forward model."""
    critic_temperature: Annotated[float, Field(ge=0)] = 0.0
    """Sampling temperature of the critic."""
    max_new_tokens: Count = 512
    """Longest reply of the forward model, in tokens."""
    critic_max_new_tokens: Count = 768
    """Longest reply of the critic."""
    max_probes: Count = 4
    """Most calls that a critic with code may have run in an iteration; K."""
    probe_characters: Count = 300
    """Characters that are shown of what a call returned."""
    allowed_imports: tuple[str, ...] = (
        "__future__",
        "abc",
        "array",
        "bisect",
        "cmath",
        "collections",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "itertools",
        "json",
        "math",
        "numbers",
        "operator",
        "random",
        "re",
        "statistics",
        "string",
        "textwrap",
        "typing",
    )
    """Modules that a candidate may import, where its task does not name its own; programs that read
    standard input may import `io` and `sys` too."""
    tokenizer: str | None = None
    """Model whose tokenizer counts the tokens of all roles, so that arms compare; null takes the
    forward model's, or the built-in one's where that lies on a server."""
    teach: bool = False
    """Whether `selftrain refine` first fine-tunes the forward model on wrong tries of the train
    puzzles, the edits that `rules` asks for, and right tries."""
    tokens: Count = 2000
    """In rounds, the tokens that a puzzle may cost before it is given up."""
    resample_share: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """In rounds, the share of unsolved puzzles, drawn by lot, that are drawn again with as many
    tokens instead: what refinement is measured against."""
    shard_size: Count = 32
    """Tasks that go through an arm together: the unit of resuming. No model's answer is asked for
    twice in any case."""
