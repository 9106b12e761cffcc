"""What rank 0 asks of the others, and what they answer. How both travel is in channel.py."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from selftrain.errors import RunError, UsageError


class Lost(RunError):
    """Another process of the launch has ended."""


@dataclass(frozen=True, slots=True)
class Order:
    """A call that every process makes."""

    work: Callable[..., Any]
    """A function of a module, which goes to the others by its name."""
    parts: Sequence[tuple[Any, ...]]
    """Its arguments, a tuple a process."""
    listeners: tuple[str, ...]
    """Names of further arguments, functions that rank 0 has called as its part goes on, such as
    `advance`; in the others nobody listens."""
    on: int | None
    """Number of what each process holds and passes first; None where nothing is."""
    keep_as: int | None
    """Number under which each process holds what the call gave; None gives it to rank 0."""
    in_use: frozenset[int]
    """Numbers of all that is to be held on; each process lets go of the rest before the call."""
    meets: bool
    """Whether the processes wait for each other in the call, as they do in training."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a process could not do its part."""

    error: type[Exception]
    """UsageError, RunError, or RuntimeError for what nobody foresaw."""
    said: str
    """Which process it was, and its sentence; its whole traceback where nobody foresaw it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a process's part of an order."""

    value: Any = None
    """What the call gave, where it is not held."""
    failure: Failure | None = None
    """Why there is nothing; None where all went well."""


def failure_of(error: Exception, who: str) -> Failure:
    """Describe an exception of the process that is called `who`."""
    for kind in (UsageError, RunError):
        if isinstance(error, kind):
            return Failure(kind, f"{who}: {error}")
    return Failure(RuntimeError, f"{who}:\n{''.join(traceback.format_exception(error))}")
