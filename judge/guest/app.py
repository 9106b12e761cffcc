"""The guest that runs candidates: f and g, functions and whole programs. CPython 3.14 in wasm.

A reply is `[tag, text]` or `["answer", tagged]`. Whatever a program does, it can do to this module
too: an instance that ran g can reply what it likes, which is why the host believes nothing of it
but an answer, and asks another instance, which never saw g, whether that answer is right.
"""

import surroundings  # first: it replaces the clock before anyone keeps a reference to it

# isort: split
import io
import sys
import types
import typing
from builtins import BaseException, Exception, dict, len, list, type  # noqa: UP029
from typing import Any

import annotations
import codec
import confined
import memory
import wit_world
from execution import (
    Failure,
    deepcopy,
    describe,
    encode,
    name_value,
    program,
    reply,
    set_recursion,
    tagged,
)

LITERAL_NAMES = {"complex": complex, "float": float, "frozenset": frozenset, "set": set}
"""What a literal may call: nan, infinities and the empty sets have no other form."""
forget_types = typing._cleanups  # type: ignore[attr-defined]
LOADED = '["loaded",""]'
PASSED = '["passed",""]'


def load(source: str) -> str:
    """Run the source of f, and keep its inputs."""
    program.execute(source, "<f>")
    program.f = program.names.get("f")
    program.inputs = default_inputs(program.f)
    # g must come from its own source.
    program.names.pop("g", None)
    return LOADED


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


def solve(code: types.CodeType, max_bytes: int, max_depth: int) -> str:
    """Run the source of g, call g with f's inputs and write its answer."""
    inputs = deepcopy(program.inputs)
    exec(code, program.names)
    if "g" not in program.names:
        raise Failure("no_g", "the source defines no g")
    return encode(program.names["g"](**inputs), max_bytes, max_depth)


def check(text: str) -> str:
    """Test the type of an answer, then f on it."""
    answer = codec.decode(text)
    annotation = annotations.answer_annotation(program.f)
    try:
        matched = annotations.matches(answer, annotation)
    except annotations.Untestable as error:
        raise Failure("wrong_type", str(error)) from None
    if not matched:
        raise Failure("wrong_type", f"the answer is not of type {type_name(annotation)}")
    if call_f(answer):
        return PASSED
    raise Failure("wrong_answer", "f returned " + name_value(program.kept[-1]))


def type_name(annotation: Any) -> str:
    return annotation.__name__ if type(annotation) is type else repr(annotation)


def probe(literal: str) -> str:
    """Call f on a literal of whatever type."""
    answer = eval(literal, {"__builtins__": LITERAL_NAMES})
    return PASSED if call_f(answer) else '["wrong_answer",""]'


class Shared:
    """An instance that many attempts at f use, one after another, as long as f allows it."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.defaults: Any = None

    def load(self, source: str) -> str:
        before = dict(program.names)
        loaded = load(source)
        self.names = dict(program.names)
        before["__builtins__"] = self.names["__builtins__"]
        new = [value for name, value in self.names.items() if value is not before.get(name)]
        rest = [value for value in new if value is not program.f]
        if not confined.is_confined(program.compile(source, "<f>")) or program.f.__closure__:
            return tagged("alone", "f may keep something")
        if not all(confined.is_constant(value) for value in rest):
            return tagged("alone", "the module of f has what can be changed")
        defaults = program.f.__defaults__, program.f.__kwdefaults__
        if not confined.is_plain(defaults):
            return tagged("alone", "an input of f is no plain data")
        if not confined.is_constant((*(defaults[0] or ()), *(defaults[1] or {}).values())):
            self.defaults = deepcopy(defaults)
        return loaded

    def restore(self) -> str:
        """Undo what a confined program can have done; it has no finalizers that dropping runs."""
        program.kept.clear()
        program.names.clear()
        program.names.update(self.names)
        if self.defaults is not None:
            program.f.__defaults__, program.f.__kwdefaults__ = deepcopy(self.defaults)
        # Equal types of other values are one in typing's caches, and what they hold stays alive.
        for forget in forget_types:
            forget()
        return LOADED

    def attempt(self, source: str, max_bytes: int, max_depth: int) -> str:
        code = program.compile(source, "<g>")
        if not confined.is_confined(code):
            return tagged("alone", "g may leave something behind")
        self.restore()
        # This frame is one that a program alone has not above it.
        set_recursion(surroundings.RECURSION_LIMIT + 1)
        return solve(code, max_bytes, max_depth)

    def ask(self, text: str) -> str:
        self.restore()
        set_recursion(surroundings.RECURSION_LIMIT + 1)
        return check(text)


shared = Shared()


def call(name: str, arguments: str, max_bytes: int, max_depth: int) -> str:
    """Call a function of the program on (positional, keywords), and write what it returns."""
    positional, keywords = codec.decode(arguments)
    if name not in program.names:
        raise Failure("no_g", f"the source defines no {name}")
    try:
        result = program.names[name](*positional, **keywords)
    except Exception:
        raise
    except BaseException as error:
        # An exit and its like: no test may take it for an error that it expects.
        program.kept.append(error)
        raise Failure("ended", describe(error)) from None
    return encode(result, max_bytes, max_depth)


def define(source: str) -> str:
    program.undress()
    program.execute(source, "<program>")
    return LOADED


def run_text(source: str, given: str, max_bytes: int) -> str:
    """Run a whole program on its standard input, and write its standard output."""
    program.undress()
    program.names["__name__"] = "__main__"
    sys.modules["__main__"] = program.module
    output = surroundings.Captured(max_bytes)
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode("utf-8", "surrogatepass")), "utf-8")
    sys.stdout = output
    code = program.compile(source, "<program>")
    try:
        exec(code, program.names)
    except SystemExit as error:
        if error.code not in (None, 0):
            raise
    return encode(output.text(), max_bytes, 1)


class WitWorld(wit_world.WitWorld):  # type: ignore[misc]
    """The exports of guest.wit."""

    def __init__(self) -> None:
        # The last that happens before the snapshot, once an export.
        memory.settle()

    def load(self, f: str) -> str:
        return reply(lambda: load(f))

    def inputs(self, max_bytes: int, max_depth: int) -> str:
        return reply(lambda: encode(program.inputs, max_bytes, max_depth))

    def solve(self, g: str, max_bytes: int, max_depth: int) -> str:
        return reply(lambda: solve(program.compile(g, "<g>"), max_bytes, max_depth))

    def check(self, answer: str) -> str:
        return reply(lambda: check(answer))

    def probe(self, literal: str) -> str:
        return reply(lambda: probe(literal))

    def share(self, f: str) -> str:
        return reply(lambda: shared.load(f))

    def attempt(self, g: str, max_bytes: int, max_depth: int) -> str:
        return reply(lambda: shared.attempt(g, max_bytes, max_depth))

    def ask(self, answer: str) -> str:
        return reply(lambda: shared.ask(answer))

    def restore(self) -> str:
        return reply(shared.restore)

    def define(self, source: str) -> str:
        return reply(lambda: define(source))

    def call(self, name: str, arguments: str, max_bytes: int, max_depth: int) -> str:
        return reply(lambda: call(name, arguments, max_bytes, max_depth))

    def run_text(self, source: str, given: str, max_bytes: int) -> str:
        return reply(lambda: run_text(source, given, max_bytes))


def warm() -> None:
    """Run what every program runs, so that the snapshot has it ready."""
    source = "def f(x: int, n=[1]):\n    return x == n\n"
    code = compile(source, "<warm>", "exec")
    exec(code, {})
    confined.is_confined(code)
    for value in (1, 1.5, "a", "é", None, [1, (2, {3})], {"a": b"b"}):
        codec.decode(codec.Encoder(1000, 10).encode(value))
    deepcopy({"n": [1, "a", (2, 3)]})
    annotations.matches([1], list[int])


warm()
surroundings.close("annotations", "codec", "confined", "execution", "memory", "variant")
