"""The guest that checks a function which runs elsewhere. CPython 3.14 in wasm.

It has the problem's setup and its test, and in the function's place a stand-in that hands every
call to the host as plain data, and gets plain data or an error back. So a candidate can reach
neither the test nor the values that it compares with. Its one import is that call.
"""

import surroundings  # first: it replaces the clock before anyone keeps a reference to it

# isort: split
import builtins
import types
from typing import Any

import codec
import memory
import wit_world
from execution import Failure, describe, program, reply, tagged

MAX_ARGUMENT_BYTES = 10_000_000
MAX_DEPTH = 100
"""What the arguments of one call may be, as encoded."""


class Unsendable(BaseException):
    """The test calls the function with what is no plain data; no fault of the function's."""


class StandIn:
    """What is called in the place of the candidate."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.num_calls = 0

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        try:
            arguments = codec.Encoder(MAX_ARGUMENT_BYTES, MAX_DEPTH).encode((positional, keywords))
        except (codec.NotPlain, codec.TooLarge) as error:
            raise Unsendable(f"an argument of the test is or holds a {error}") from None
        self.num_calls += 1
        tag, body = codec.loads(wit_world.call(arguments))
        if tag == "answer":
            return codec.build(body)
        raise as_exception(body)


def as_exception(described: str) -> Exception:
    """Rebuild what the candidate raised, where it is a built-in exception."""
    name, _, text = described.partition(": ")
    # A StopIteration would end a loop of the test instead of the test.
    kind = None if name.startswith("Stop") else getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:  # UnicodeDecodeError and its like want more than a text
            pass
    return RuntimeError(described)


def check(setup: str, entry_point: str, test: str) -> str:
    """Run the test on the stand-in; anything but a quiet end is a failure."""
    stand_in = StandIn(entry_point)
    program.undress()
    exec(compile_setup(setup), program.names)
    program.names[entry_point] = stand_in
    program.execute(test, "<test>")
    tested = program.names.get("check")
    if not callable(tested):
        raise Failure("raised", "the test defines no check")
    try:
        tested(stand_in)
    except AssertionError as error:
        raise Failure("wrong_answer", describe(error)) from None
    except Exception as error:
        # On an answer of another kind than expected a test stumbles before it can assert.
        raise Failure("wrong_answer" if stand_in.num_calls else "raised", describe(error)) from None
    if not stand_in.num_calls:
        raise Failure("raised", "the test never called the function")
    return tagged("passed", "")


def compile_setup(setup: str) -> types.CodeType:
    """Compile a prompt, which may end in the head of a function without any body."""
    try:
        return program.compile(setup, "<setup>")
    except Failure:
        return program.compile(setup + "\n    pass\n", "<setup>")


class WitWorld(wit_world.WitWorld):  # type: ignore[misc]
    """The exports of guest.wit."""

    def __init__(self) -> None:
        memory.settle()

    def check(self, setup: str, entry_point: str, test: str) -> str:
        return reply(lambda: check(setup, entry_point, test))


surroundings.close("codec", "execution", "memory", "variant")
