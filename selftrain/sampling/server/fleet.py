"""Work spread over the addresses of a server: each takes what it can, others what it leaves.

What work shares a key goes to the same address, as far as none idles: a server has read that prompt
already. An address that fails for good has its work done by the others. What is asked is in
address.py.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Condition, Event, Thread
from typing import Generic, TypeVar
from zlib import crc32

from selftrain.sampling.server.address import Address
from selftrain.sampling.server.retry import NoAnswer

Result = TypeVar("Result")
Do = Callable[[Address, int, Event], Result]
"""Does one piece of work, by its number, at an address, until it is done or the event is set."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Done(Generic[Result]):
    """A piece of work that is done."""

    number: int
    result: Result


@dataclass(frozen=True, slots=True)
class _Failed:
    """A failure that ends all."""

    error: BaseException


def spread(
    do: Do[Result],
    keys: Sequence[str],
    addresses: Sequence[Address],
    concurrency: int,
    heard: Callable[[int, Result], object],
) -> list[Result]:
    """Do a piece of work for each key, `concurrency` at once at each address; give their results.

    `heard` is told the number and the result of each piece that is done, in this thread. The first
    failure ends the rest and is raised, but for NoAnswer while another address answers; what was
    done by then is told of before.
    """
    work = _Work(keys, addresses)
    ended: SimpleQueue[_Done[Result] | _Failed] = SimpleQueue()
    for place, address in enumerate(addresses):
        for _ in range(0 if address.is_dead else min(concurrency, len(keys))):
            # Daemons: one that hangs on a dead address holds up nobody's end.
            Thread(target=_labour, args=(do, work, place, ended), daemon=True).start()
    results: dict[int, Result] = {}
    failure: BaseException | None = None
    try:
        while len(results) < len(keys) and (failure is None or not ended.empty()):
            one = ended.get()
            if isinstance(one, _Failed):
                failure = failure or one.error
            elif one.number not in results:
                results[one.number] = one.result
                heard(one.number, one.result)
    finally:
        work.stop()
    if failure is not None and len(results) < len(keys):
        raise failure
    return [results[number] for number in range(len(keys))]


def _labour(
    do: Do[Result], work: "_Work", place: int, ended: "SimpleQueue[_Done[Result] | _Failed]"
) -> None:
    """Work at one address until there is nothing left, or it is dead."""
    while (number := work.take(place)) is not None:
        try:
            result = do(work.addresses[place], number, work.stopped[place])
        except NoAnswer as error:
            if not work.give_up(place, error.what):
                ended.put(_Failed(error))
            return
        except BaseException as error:
            ended.put(_Failed(error))
            return
        work.finish(place, number)
        ended.put(_Done(number, result))


class _Work:
    """What is left to do, and who does what."""

    def __init__(self, keys: Sequence[str], addresses: Sequence[Address]) -> None:
        self.addresses = addresses
        self.stopped = [Event() for _ in addresses]
        self._groups = _deal(keys, len(addresses))
        """By address: its groups of one key, each a queue of numbers."""
        self._under_way: list[set[int]] = [set() for _ in addresses]
        self._num_left = len(keys)
        self._changed = Condition()

    def take(self, place: int) -> int | None:
        """Give an address its next piece, another's last group where it has none.

        Waits while others are at work, who may leave theirs. None where there is nothing to do.
        """
        with self._changed:
            while not self.stopped[place].is_set() and self._num_left:
                if not self._groups[place]:
                    longest = max(self._groups, key=len)
                    if not longest:
                        self._changed.wait()
                        continue
                    self._groups[place].append(longest.pop())
                group = self._groups[place][0]
                number = group.popleft()
                if not group:
                    self._groups[place].popleft()
                self._under_way[place].add(number)
                return number
        return None

    def finish(self, place: int, number: int) -> None:
        """Note that a piece is done; that of an address given up is another's by now."""
        with self._changed:
            if number in self._under_way[place]:
                self._under_way[place].remove(number)
                self._num_left -= 1
                self._changed.notify_all()

    def give_up(self, place: int, why: str) -> bool:
        """Leave an address's work to the others; tell whether there are any."""
        with self._changed:
            if self.stopped[place].is_set():
                return True
            self.addresses[place].is_dead = True
            self.stopped[place].set()
            num_left = sum(not address.is_dead for address in self.addresses)
            if self._under_way[place]:
                self._groups[place].append(deque(sorted(self._under_way[place])))
                self._under_way[place].clear()
            self._changed.notify_all()
        if num_left:
            others = "other server" if num_left == 1 else f"{num_left} other servers"
            _LOG.warning("%s. Its work goes to the %s.", why, others)
        return num_left > 0

    def stop(self) -> None:
        """Wake and end all who wait."""
        with self._changed:
            for event in self.stopped:
                event.set()
            self._changed.notify_all()


def _deal(keys: Sequence[str], num_addresses: int) -> list[deque[deque[int]]]:
    """Give each key an address, the same each time, and its work in order."""
    groups: dict[str, deque[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, deque()).append(number)
    dealt: list[deque[deque[int]]] = [deque() for _ in range(num_addresses)]
    for key, group in groups.items():
        dealt[crc32(key.encode(errors="surrogatepass")) % num_addresses].append(group)
    return dealt
