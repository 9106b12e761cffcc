"""The program inside the guest: runs f and g, and replies in JSON. Runs on CPython 3.14 in wasm.

One instance serves one program and is then thrown away, so nothing here is cleaned up. A reply is
`[tag, text]` or `["answer", tagged]`. Whatever g or f does, it can do to this module too: g's
instance can reply what it likes, which is why the host believes nothing of it but an answer, and
asks another instance, which never saw g, whether that answer is right.
"""

import surroundings  # first: it replaces the clock before anyone keeps a reference to it

# isort: split
import copy
import gc
import sys
import types
import typing
from builtins import BaseException, len, list, type  # noqa: UP029
from typing import Any

import annotations
import codec
import wit_world

IN_SCOPE = """
    Any Callable Collection Counter Deque DefaultDict Dict FrozenSet Generator
    Generic Hashable Iterable Iterator List Literal Mapping MutableMapping MutableSequence
    MutableSet NamedTuple NoReturn Optional OrderedDict Sequence Set Sized Text
    Tuple Type TypeVar Union
""".split()  # noqa: SIM905
"""Names of typing that P3's programs use without importing them."""
TOO_LONG_FOR_32_BITS = ("index-sized integer", "repeated string is too long", "are too long")
"""What the interpreter says of sizes for which a 64-bit one would want memory."""
LITERAL_NAMES = {"complex": complex, "float": float, "frozenset": frozenset, "set": set}
"""What a literal may call: nan, infinities and the empty sets have no other form."""
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
    """The one module in which f, then g, run. Kept to the end: dropping it would run finalizers."""

    def __init__(self) -> None:
        # Not "__main__", so that a guarded main does not run; in sys.modules for dataclasses.
        self.module = types.ModuleType("program")
        self.names = self.module.__dict__
        self.names.update({name: getattr(typing, name) for name in IN_SCOPE})
        sys.modules["program"] = self.module
        self.f: Any = None
        self.inputs: dict[str, Any] = {}
        self.kept: list[Any] = []

    def execute(self, source: str, filename: str) -> None:
        try:
            code = compile(source, filename, "exec", dont_inherit=True)
        except BaseException as error:
            raise Failure("syntax_error", describe(error)) from None
        exec(code, self.names)

    def load(self, source: str) -> None:
        self.execute(source, "<f>")
        self.f = self.names.get("f")
        self.inputs = default_inputs(self.f)
        # g must come from its own source.
        self.names.pop("g", None)


program = Program()


def default_inputs(f: Any) -> dict[str, Any]:
    """Return the inputs of f by name: the defaults of all parameters but the first."""
    if type(f) is not types.FunctionType:
        raise TypeError("the source defines no function f")
    code = f.__code__
    if not code.co_argcount:
        raise TypeError("f takes no answer")
    names = code.co_varnames[1 : code.co_argcount]
    defaults = f.__defaults__ or ()
    if len(defaults) < len(names):
        raise TypeError(f"input {names[len(names) - len(defaults) - 1]!r} of f has no default")
    keyword_only = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    missing = [name for name in keyword_only if name not in (f.__kwdefaults__ or {})]
    if missing:
        raise TypeError(f"input {missing[0]!r} of f has no default")
    # An f whose answer has a default as well: that one is not an input.
    inputs = dict(zip(names, defaults[len(defaults) - len(names) :], strict=True))
    return {**inputs, **(f.__kwdefaults__ or {})}


def call_f(answer: Any) -> bool:
    """Say whether f returns True itself on the answer and a fresh copy of its inputs."""
    f, inputs = program.f, deepcopy(program.inputs)
    code = f.__code__
    # By position, for the sake of parameters that have no name to a caller.
    positional = [inputs.pop(name) for name in code.co_varnames[1 : code.co_argcount]]
    result = f(answer, *positional, **inputs)
    program.kept.append(result)
    return result is True


def describe(error: BaseException) -> str:
    """Return one short line, such as `ZeroDivisionError: division by zero`."""
    name = type(error).__name__
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
    try:
        written = work()
    except BaseException as error:
        # Kept alive: its frames hold the program's objects, whose finalizers must not run.
        program.kept.append(error)
        failure = classify(error)
        written = "[" + quote(failure.tag) + "," + quote(failure.detail) + "]"
    if clock.ran_out:
        return '["timed_out","slept longer than the limit"]'
    return written


def encode(value: Any, max_bytes: int, max_depth: int) -> str:
    program.kept.append(value)
    try:
        return '["answer",' + codec.Encoder(max_bytes, max_depth).encode(value) + "]"
    except codec.NotPlain as error:
        raise Failure("wrong_type", f"the answer is or holds a {error}") from None
    except codec.TooLarge as error:
        raise Failure("too_large", str(error)) from None


def solve(source: str, max_bytes: int, max_depth: int) -> str:
    inputs = deepcopy(program.inputs)
    program.execute(source, "<g>")
    if "g" not in program.names:
        raise Failure("no_g", "the source defines no g")
    return encode(program.names["g"](**inputs), max_bytes, max_depth)


def check(text: str) -> str:
    answer = codec.decode(text)
    annotation = annotations.answer_annotation(program.f)
    try:
        matched = annotations.matches(answer, annotation)
    except annotations.Untestable as error:
        raise Failure("wrong_type", str(error)) from None
    if not matched:
        raise Failure("wrong_type", f"the answer is not of type {type_name(annotation)}")
    if call_f(answer):
        return '["passed",""]'
    raise Failure("wrong_answer", "f returned " + name_value(program.kept[-1]))


def name_value(value: Any) -> str:
    """Name a value without running a program's own repr."""
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)[:MAX_DETAIL]
    return f"a {type(value).__name__}"


def type_name(annotation: Any) -> str:
    return annotation.__name__ if type(annotation) is type else repr(annotation)


def probe(literal: str) -> str:
    answer = eval(literal, {"__builtins__": LITERAL_NAMES})
    return '["passed",""]' if call_f(answer) else '["wrong_answer",""]'


class WitWorld(wit_world.WitWorld):  # type: ignore[misc]
    """The exports of guest.wit."""

    def load(self, f: str) -> str:
        def work() -> str:
            if f:
                program.load(f)
            return '["loaded",""]'

        return reply(work)

    def inputs(self, max_bytes: int, max_depth: int) -> str:
        return reply(lambda: encode(program.inputs, max_bytes, max_depth))

    def solve(self, g: str, max_bytes: int, max_depth: int) -> str:
        return reply(lambda: solve(g, max_bytes, max_depth))

    def check(self, answer: str) -> str:
        return reply(lambda: check(answer))

    def probe(self, literal: str) -> str:
        return reply(lambda: probe(literal))


def warm() -> None:
    """Run what every program runs, so that the snapshot has it ready."""
    exec(compile("def f(x: int, n=[1]):\n    return x == n\n", "<warm>", "exec"), {})
    for value in (1, 1.5, "a", "é", None, [1, (2, {3})], {"a": b"b"}):
        codec.decode(codec.Encoder(1000, 10).encode(value))
    deepcopy({"n": [1, "a", (2, 3)]})
    annotations.matches([1], list[int])


warm()
# A program that imports a module of one of these names means its own, which is not there.
for _name in ("surroundings", "annotations", "codec"):
    del sys.modules[_name]
surroundings.close_imports()
surroundings.close_files()
gc.collect()
gc.freeze()
