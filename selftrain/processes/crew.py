"""Rank 0's side: it gives orders to all processes, does its own part, and collects the answers.

Without other processes there is no crew, and `everywhere` is a plain call.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet

from selftrain.processes.orders import Answer, Lost, Order

if TYPE_CHECKING:
    from selftrain.processes.channel import Channel

GRACE_SECONDS = 5.0
"""How long a process that failed waits for the others to come to the same point: what fails in one
often fails in all, and is then told once. Those that wait for it inside training never come."""
Listener = Callable[..., object]
Thing = TypeVar("Thing")
Result = TypeVar("Result")


class Held(Generic[Thing]):
    """A thing that each process has its own of, under one number, as long as this record lives."""

    def __init__(self, number: int, own: Thing) -> None:
        self.number = number
        self.own = own


class Crew:
    """The processes of a launch, as rank 0 sees them; made by `lead`."""

    def __init__(self, channel: "Channel") -> None:
        self._channel = channel
        self._numbers = count()
        self._in_use: WeakSet[Held[Any]] = WeakSet()
        self._at_work = False

    @property
    def size(self) -> int:
        """Give how many processes there are, this one among them."""
        return self._channel.size

    def hold(self, make: Callable[..., Thing], *arguments: Any) -> Held[Thing]:
        """Let each process make a thing, such as a loaded model, and keep it.

        Raises what `make` raises in one of them.
        """
        number = next(self._numbers)
        own, _ = self._give(make, [arguments] * self.size, {}, keep_as=number)
        held = Held(number, own)
        self._in_use.add(held)
        return held

    def each(
        self,
        work: Callable[..., Result],
        parts: Sequence[tuple[Any, ...]],
        held: Held[Any] | None = None,
        **listeners: Listener,
    ) -> list[Result]:
        """Let each process do its part; give what came of them, in order.

        `work` takes what the process holds, where it is to, its part, and the listeners, which hear
        of this process's part alone. Raises what `work` raises in one of them.
        """
        own, others = self._give(work, parts, listeners, on=held)
        return [own, *(answer.value for answer in others)]

    def together(
        self, work: Callable[..., Result], *arguments: Any, **listeners: Listener
    ) -> Result:
        """Call a function in all processes at once, in which they wait for each other.

        Gives what came of it here. Raises what it raises in one of them.
        """
        own, _ = self._give(work, [arguments] * self.size, listeners, meets=True)
        return own

    def end(self) -> None:
        """Send the others home. In the middle of an order they end when this process does."""
        if not self._at_work:
            with suppress(Lost):
                self._channel.send(None)
                self._channel.close()

    def _give(
        self,
        work: Callable[..., Result],
        parts: Sequence[tuple[Any, ...]],
        listeners: Mapping[str, Listener],
        *,
        on: Held[Any] | None = None,
        keep_as: int | None = None,
        meets: bool = False,
    ) -> tuple[Result, list[Answer]]:
        """Give an order; do this process's part, to which the listeners go besides."""
        assert not self._at_work, "an order was not finished"
        number = on.number if on else None
        in_use = frozenset(held.number for held in self._in_use)
        self._at_work = True
        names = tuple(listeners)
        self._channel.send(Order(work, parts, names, number, keep_as, in_use, meets))
        first = () if on is None else (on.own,)
        try:
            result = work(*first, *parts[0], **listeners)
        except Exception:
            self._collect_after_failure()
            raise
        answers = self._channel.answers()
        self._at_work = False
        for answer in answers:
            if answer.failure is not None:
                raise answer.failure.error(answer.failure.said)
        return result, answers

    def _collect_after_failure(self) -> None:
        """Let the others finish where they can. Raises Lost, the cause, where one has ended."""
        with suppress(TimeoutError):
            self._channel.answers(GRACE_SECONDS)
            self._at_work = False


_crew: Crew | None = None
"""The crew of this process, as torch.distributed has one launch a process."""


def current_crew() -> Crew | None:
    """Give the processes that work with this one; None where it is alone."""
    return _crew


def everywhere(work: Callable[..., Result], *arguments: Any, **listeners: Listener) -> Result:
    """Call a function in all processes of the launch at once, or only here where it is alone.

    It is a function of a module, and its arguments can be pickled; listeners hear of this process
    alone. Gives what came of it here. Raises what it raises in any process.
    """
    if _crew is None:
        return work(*arguments, **listeners)
    return _crew.together(work, *arguments, **listeners)


@contextmanager
def lead(channel: "Channel") -> Iterator[None]:
    """Lead the other processes while the block runs, and send them home after it."""
    global _crew
    _crew = Crew(channel)
    try:
        yield
    finally:
        _crew.end()
        _crew = None
