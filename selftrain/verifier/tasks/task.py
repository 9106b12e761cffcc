"""A task and its candidates, as a verifier ranks them. Nothing is run, read or scored here."""

from dataclasses import dataclass
from typing import Literal

Arm = Literal["full", "no-execution", "type-only", "no-program", "no-gold"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One distinct program that may solve a task."""

    program: str
    """Its text; no other candidate of the task has the same."""
    sum_logprob: float | None
    """Sum of the log-probabilities of its completion's tokens in nats, at temperature 1, unwarped;
    None where whoever drew it tells none. The completion is what follows the head that the prompt
    ends in, with the token by which it was seen to end, where there is one."""
    num_tokens: int | None
    """Tokens of that completion."""
    result: str | None
    """What it returned, as a canonical Python literal, or `ERROR: reason`; None where unknown."""
    label: bool | None
    """Whether it is right; None where unknown. Hidden from the verifier, always."""
    num_samples: int = 1
    """How many samples had this text."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task, its candidates, and what is known of the right answer."""

    task_id: str
    """Unique among the tasks of a file; ties are drawn by it."""
    task: str
    """What a verifier reads of the task: a puzzle's f, a prompt, a question."""
    candidates: tuple[Candidate, ...]
    """The distinct programs that were sampled: the set S of the paper."""
    greedy: Candidate | None = None
    """The program at temperature 0, drawn apart; None where there is none."""
    gold_program: str | None = None
    """A program that is right, where one is known; learnt from, never ranked."""
    gold_result: str | None = None
    """The right result, as a canonical literal, where it is known."""
    family: str = ""
    """Tasks that are instances of one template share it; empty where unknown."""
