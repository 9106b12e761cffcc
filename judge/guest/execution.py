"""One program in its module, and what became of it: shared by both kinds of guest.

What a program made is kept to the end, since dropping it would run its finalizers; only programs
that certainly have none (confined.py) are cleaned up after.
"""

import copy
import sys
import types
import typing
from builtins import BaseException, type
from typing import Any

import codec
import surroundings

IN_SCOPE = """
    Any Callable Collection Counter Deque DefaultDict Dict FrozenSet Generator
    Generic Hashable Iterable Iterator List Literal Mapping MutableMapping MutableSequence
    MutableSet NamedTuple NoReturn Optional OrderedDict Sequence Set Sized Text
    Tuple Type TypeVar Union
""".split()  # noqa: SIM905
"""Names of typing that P3's programs use without importing them."""
TOO_LONG_FOR_32_BITS = ("index-sized integer", "too long", "too large")
"""What the interpreter says of sizes for which a 64-bit one would want memory."""
MAX_DETAIL = 200
quote = codec.quote
deepcopy = copy.deepcopy
clock = surroundings.clock
set_digits = sys.set_int_max_str_digits
set_recursion = sys.setrecursionlimit


class Failure(Exception):
    """A reply other than an answer."""

    def __init__(self, tag: str, detail: str) -> None:
        self.tag = tag
        self.detail = detail


class Program:
    """The one module in which a program runs."""

    def __init__(self) -> None:
        # Not "__main__", so that a guarded main does not run; in sys.modules for dataclasses.
        self.module = types.ModuleType("program")
        self.names = self.module.__dict__
        self.bare = dict(self.names)
        self.names.update({name: getattr(typing, name) for name in IN_SCOPE})
        sys.modules["program"] = self.module
        self.f: Any = None
        self.inputs: dict[str, Any] = {}
        self.kept: list[Any] = []

    def compile(self, source: str, filename: str) -> types.CodeType:
        try:
            return compile(source, filename, "exec", dont_inherit=True)
        except BaseException as error:
            raise Failure("syntax_error", describe(error)) from None

    def execute(self, source: str, filename: str) -> None:
        exec(self.compile(source, filename), self.names)

    def undress(self) -> None:
        """Take the names of typing away, for programs that bring their own imports."""
        self.names.clear()
        self.names.update(self.bare)


program = Program()


def describe(error: BaseException) -> str:
    """Return one short line, such as `ZeroDivisionError: division by zero`."""
    name = codec.name_of(type(error))
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = ""
    return f"{name}: {text}"[:MAX_DETAIL] if text else name


def classify(error: BaseException) -> Failure:
    """Turn what a program raised into a reply."""
    kind = type(error)
    if kind is Failure:
        return error  # type: ignore[return-value]
    if kind is MemoryError:
        return Failure("out_of_memory", describe(error))
    if kind is OverflowError and any(part in describe(error) for part in TOO_LONG_FOR_32_BITS):
        return Failure("out_of_memory", describe(error))
    if kind is ModuleNotFoundError or kind is PermissionError:
        return Failure("forbidden", describe(error))
    return Failure("raised", describe(error))


def reply(work: typing.Callable[[], str]) -> str:
    """Run work and write its reply, whatever it raises."""
    set_digits(0)
    set_recursion(surroundings.RECURSION_LIMIT)
    # componentize-py empties it at every call.
    sys.argv = ["program"]
    try:
        written = work()
    except BaseException as error:
        # Kept alive: its frames hold the program's objects, whose finalizers must not run.
        program.kept.append(error)
        failure = classify(error)
        written = tagged(failure.tag, failure.detail)
    if clock.ran_out:
        return '["timed_out","slept longer than the limit"]'
    return written


def tagged(tag: str, detail: str) -> str:
    return "[" + quote(tag) + "," + quote(detail) + "]"


def encode(value: Any, max_bytes: int, max_depth: int) -> str:
    program.kept.append(value)
    try:
        return '["answer",' + codec.Encoder(max_bytes, max_depth).encode(value) + "]"
    except codec.NotPlain as error:
        raise Failure("wrong_type", f"the answer is or holds a {error}") from None
    except codec.TooLarge as error:
        raise Failure("too_large", str(error)) from None


def name_value(value: Any) -> str:
    """Name a value without running a program's own repr."""
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)[:MAX_DETAIL]
    return f"a {codec.name_of(type(value))}"
