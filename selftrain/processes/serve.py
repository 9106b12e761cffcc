"""What a rank above 0 does: it carries out orders, one after the other, until sent home.

It reads no configuration, judges nothing, and says nothing while all goes well.
"""

import os
import sys
from typing import Any, NoReturn

from accelerate.utils.memory import clear_device_cache

from selftrain.loading import quiet
from selftrain.processes.channel import Channel
from selftrain.processes.crew import GRACE_SECONDS
from selftrain.processes.orders import Answer, Failure, Lost, Order, failure_of


def serve(channel: Channel) -> NoReturn:
    """Carry out rank 0's orders; end with it."""
    # While rank 0 reads puzzles and judges references, there is time for what takes seconds.
    quiet()
    import selftrain.sampling.local.sampler  # noqa: F401

    held: dict[int, Any] = {}
    try:
        while (order := channel.receive()) is not None:
            _let_go(held, order.in_use)
            answer = _carry_out(order, channel, held)
            if answer.failure is not None and order.meets:
                _answer_or_end(channel, answer.failure)
            else:
                channel.answer(answer)
        channel.close()
    except Lost:
        # Rank 0 has ended, or is told the same of another one; its words are enough.
        os._exit(1)
    sys.exit(0)


def _carry_out(order: Order, channel: Channel, held: dict[int, Any]) -> Answer:
    first = () if order.on is None else (held[order.on],)
    deaf = dict.fromkeys(order.listeners, _ignore)
    try:
        value = order.work(*first, *order.parts[channel.rank], **deaf)
    except Exception as error:
        return Answer(failure=failure_of(error, channel.name))
    if order.keep_as is not None:
        held[order.keep_as] = value
    return Answer(None if order.meets or order.keep_as is not None else value)


def _answer_or_end(channel: Channel, failure: Failure) -> None:
    """Tell why training failed here: rank 0, or the terminal where it waits for this one inside.

    To end is all that lets go of those who wait.
    """
    try:
        channel.answer(Answer(failure=failure), GRACE_SECONDS)
    except TimeoutError:
        print(f"selftrain: {failure.said}", file=sys.stderr, flush=True)
        os._exit(1)


def _let_go(held: dict[int, Any], in_use: frozenset[int]) -> None:
    """Give back the memory of what rank 0 no longer uses."""
    gone = held.keys() - in_use
    for number in gone:
        del held[number]
    if gone:
        clear_device_cache(garbage_collection=True)


def _ignore(_: object) -> None:
    """Stand in for who listens in rank 0, which tells a person of its own part alone."""
