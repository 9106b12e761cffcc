"""What servers were asked for: requests, tokens, and an estimate of what they cost.

It is kept beside the times, since a run that was cut short asks again for what was lost. What a
server reckoned for an answer that never came is not known here.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from threading import Lock
from typing import Any, Protocol, runtime_checkable

Prices = tuple[float, float] | None
"""Dollars a million tokens of prompts and of completions; None where there are none."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What was asked of servers and answered."""

    requests: int = 0
    """Requests for completions that were answered."""
    prompt_tokens: int = 0
    """Tokens of their prompts, one prompt a request."""
    completion_tokens: int = 0
    """Tokens of all their completions, those of a stop sequence among them where it tells."""
    dollars: float | None = None
    """What they cost by `model.dollars_per_million_tokens`; None where no price is known."""


@runtime_checkable
class Billed(Protocol):
    """A sampler that asks servers."""

    @property
    def spent(self) -> Spending:
        """Give what was asked so far."""
        ...


class Bill:
    """Adds up what several threads or samplers spend."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._total = Spending()

    @property
    def total(self) -> Spending:
        """Give all that was charged so far."""
        return self._total

    def charge(self, spending: Spending) -> None:
        """Add to the total."""
        with self._lock:
            self._total = add_up([self._total, spending])


def priced(requests: int, prompt_tokens: int, completion_tokens: int, prices: Prices) -> Spending:
    """Say what so many tokens cost by these prices."""
    dollars = None
    if prices is not None:
        dollars = (prompt_tokens * prices[0] + completion_tokens * prices[1]) / 1e6
    return Spending(requests, prompt_tokens, completion_tokens, dollars)


def add_up(all_spent: Sequence[Spending]) -> Spending:
    """Sum spendings; the dollars are those of the ones with a price."""
    dollars = [one.dollars for one in all_spent if one.dollars is not None]
    return Spending(
        sum(one.requests for one in all_spent),
        sum(one.prompt_tokens for one in all_spent),
        sum(one.completion_tokens for one in all_spent),
        sum(dollars) if dollars else None,
    )


def since(before: Spending, now: Spending) -> Spending:
    """Give what was spent between two totals of one bill."""
    dollars = None if now.dollars is None else now.dollars - (before.dollars or 0.0)
    return Spending(
        now.requests - before.requests,
        now.prompt_tokens - before.prompt_tokens,
        now.completion_tokens - before.completion_tokens,
        dollars,
    )


def spending_to_row(spending: Spending) -> dict[str, Any]:
    """Flatten it for a row of timings; nothing where nothing was asked."""
    return {"asked": asdict(spending)} if spending.requests else {}


def spending_from_row(row: dict[str, Any]) -> Spending:
    """Rebuild it; nothing where the row tells of none."""
    known = {field.name for field in fields(Spending)}
    return Spending(**{key: value for key, value in row.get("asked", {}).items() if key in known})


def spending_text(spending: Spending) -> str:
    """Say it in a line."""
    text = (
        f"asked of servers: {spending.requests:,} requests, {spending.prompt_tokens:,} prompt "
        f"and {spending.completion_tokens:,} completion tokens"
    )
    return text + (f", about ${dollars_text(spending.dollars)}" if spending.dollars else "")


def dollars_text(dollars: float) -> str:
    """Write an estimate: cents from a dollar on, two digits below."""
    return f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.2g}"
