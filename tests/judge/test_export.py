"""Our way to call an export, which lies on wasmtime's private parts, is `Func.__call__` in all."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import wasmtime

from judge import Limits
from judge.engine import World
from judge.export import call_export
from judge.identity import Kind

LIMITS = Limits(fuel=500_000_000)
ANSWERED = 10_000, 20
F = "def f(x: int, n=7, text='ä\\U0001f600'): return x == n"


def theirs(store: Any, function: Any, arguments: Sequence[str | int]) -> str:
    text: str = function(store, *arguments)
    function.post_return(store)
    return text


def told(way: Callable[..., str], calls: Sequence[tuple[str, tuple[str | int, ...]]]) -> list[Any]:
    """Give what each call came to in one instance, with the fuel that was left."""
    found: list[Any] = []
    with World(LIMITS) as world:
        for name, arguments in calls:
            try:
                text = way(world.store, world.function(name), arguments)
            except wasmtime.WasmtimeError as error:
                text = str(error)
            found.append((text, world.store.get_fuel()))
    return found


@pytest.mark.parametrize(
    "calls",
    [
        [("load", (F,)), ("inputs", ANSWERED), ("solve", ("def g(n, text): return n", *ANSWERED))],
        [("load", ("",))],
        [("load", ("def f(x: int): return x == 0\n" + "#" * 100_000,))],
        [("define", ("def add(a, b): return a + b",)), ("restore", ())],
        [("solve", ("def g():\n    while True: pass", *ANSWERED))],
        [("solve", ("import os\ndef g(): os.urandom(2); os.kill(1, 9)", *ANSWERED)), ("load", (F,))],
    ],
    ids=["texts and counts", "an empty text", "a long text", "no argument", "a trap", "after a trap"],
)  # fmt: skip
def test_an_export_answers_traps_and_burns_fuel_as_wasmtimes_own_call_does(
    calls: Sequence[tuple[str, tuple[str | int, ...]]],
) -> None:
    assert told(call_export, calls) == told(theirs, calls)


class Ours(Exception):
    """What the import raises."""


@pytest.mark.parametrize("way", [call_export, theirs])
def test_what_the_import_raises_comes_out_of_either_call(way: Callable[..., str]) -> None:
    def call(_: str) -> str:
        raise Ours

    test = "def check(g): g(1)"
    with World(LIMITS, Kind.checker, call) as world, pytest.raises(Ours):
        way(world.store, world.function("check"), ("", "g", test))
