"""What the judge is given and what it says: Limits, Mode, Outcome, Verdict, JudgeError.

A wrong program is data: an Outcome, never an exception. A judge that cannot run is an exception:
JudgeError, never an Outcome.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["strict", "screen"]
"""Each program alone, or the attempts at one f together first; both accept the same."""
Backend: TypeAlias = Literal["loky", "ray", "dask"]
"""Where workers are: on this machine, or on a Ray or Dask cluster."""


class JudgeError(Exception):
    """The judge itself cannot run; says nothing about any program."""


class Outcome(StrEnum):
    """What became of a pair. Those that begin with f_ are the puzzle's own failures."""

    passed = "passed"
    """f returned True itself, on an answer of the annotated type."""
    wrong_answer = "wrong_answer"
    """f returned anything else."""
    wrong_type = "wrong_type"
    """The answer is no plain data, or not of the annotated type, or that type cannot be tested."""
    raised = "raised"
    """g, or the body of its source, raised; or overran the stack."""
    syntax_error = "syntax_error"
    """The source of g does not compile."""
    no_g = "no_g"
    """The source defines no g."""
    timed_out = "timed_out"
    """g used up its instructions, or slept too long."""
    out_of_memory = "out_of_memory"
    """g wanted more memory than the limit."""
    forbidden = "forbidden"
    """g imported what is not there, or asked for files, network or processes."""
    too_large = "too_large"
    """The answer is too long or too deeply nested, or the source of g too long."""
    crashed = "crashed"
    """g broke the interpreter in another way, or forged a reply that cannot be read."""
    flaky = "flaky"
    """It passed, but not with other hashes, other random numbers and another day."""
    f_raised = "f_raised"
    """f, or the body of its source, raised; or its source defines no proper f."""
    f_syntax_error = "f_syntax_error"
    """The source of f does not compile."""
    f_timed_out = "f_timed_out"
    """f used up its instructions, or slept too long."""
    f_out_of_memory = "f_out_of_memory"
    """f wanted more memory than the limit."""
    f_forbidden = "f_forbidden"
    """f imported what is not there, or asked for the outside."""
    f_too_large = "f_too_large"
    """The source of f, or what was asked of its inputs, is too long or too deeply nested."""
    f_wrong_type = "f_wrong_type"
    """An input of f is no plain data (only where the inputs themselves are asked for)."""
    f_crashed = "f_crashed"
    """f broke the interpreter in another way."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use in one stage (g and f are a stage each)."""

    fuel: int = 20_000_000_000
    """WebAssembly instructions a stage; 2e10 are about a second of native work."""
    memory_bytes: int = 1 << 30
    """Memory of a guest, interpreter included (it starts with about 40 MB)."""
    answer_bytes: int = 1_000_000
    """Length of an answer, as encoded."""
    answer_depth: int = 100
    """Levels of nesting in an answer."""
    source_bytes: int = 1_000_000
    """Length of the source of f or of g, in UTF-8."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            # Exactly an int: 2e10 would be a float, and the fuel left is counted to the unit.
            # And below 2^63: the engine's counters have 64 bits, and would wrap around.
            if type(value) is not int or not 1 <= value < 2**63:
                raise ValueError(
                    f"Limits.{name} is {value!r}; it must be an int from 1 to 2^63 - 1"
                )
        if self.answer_depth > 100:
            raise ValueError(f"Limits.answer_depth is {self.answer_depth}; it may be at most 100")


DEFAULT_LIMITS = Limits()
"""A second of native work a stage, as evaluation has it."""


@dataclass(frozen=True, slots=True)
class NotText:
    """What stands for a source that is no text, of whatever size and depth it was."""

    kind: str
    """Name of its type."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What running a program did."""

    answer: str | None
    """What it returned, as a Python literal; None where it did not."""
    failure: Outcome | None
    """Why it returned nothing; None where it did."""
    detail: str
    """One short line about the failure, such as `ZeroDivisionError: division by zero`."""
    fuel: int
    """Instructions used."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What f says of g."""

    outcome: Outcome
    """Whether it passed, and if not, why."""
    answer: str | None
    """What g returned, as a Python literal; None where it returned nothing that can be written."""
    detail: str
    """One short line about a failure; empty where it passed."""
    fuel: int
    """Instructions used by g and f together."""
    seconds: float = field(default=0.0, compare=False, repr=False)
    """How long that took here; not part of the verdict, and never equal twice."""

    @property
    def passed(self) -> bool:
        """Whether f returned True itself, on an answer of the annotated type."""
        return self.outcome is Outcome.passed


@dataclass(frozen=True, slots=True)
class Probe:
    """Which of many given answers f accepts first."""

    index: int | None
    """Which answer makes f True; None where none does."""
    failure: Outcome | None
    """Why f could not be asked at all (it does not compile, say); None where it could."""
    detail: str
    """One short line about the failure."""
    num_timed_out: int
    """How many answers f did not decide within its fuel."""
    fuel: int
    """Instructions used."""
