"""The engine: each compiled guest once a process, a fresh instance of one for each program.

An instance is CPython in WebAssembly with a budget of instructions and of memory. One that runs a
candidate has no imports; one that checks a function has one, which calls it. What an instance
replies is text from a stranger. Not here: what f and g mean (pair.py).

Threads may share a Guest; a World belongs to one, with a deep stack (stack.py). A child of a fork
gets Guests of its own.
"""

import atexit
import mmap
import os
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from judge.export import call_export
from judge.identity import Kind
from judge.literal import Malformed, Tree, parse
from judge.records import JudgeError, Limits, Outcome

if TYPE_CHECKING:
    from wasmtime import Engine
    from wasmtime.component import Component, ExportIndex, Func, Linker

WASM_STACK_BYTES = 64 << 20
"""More than the guest ever needs: its own limits come first, and those depend on no processor."""
MOST_BYTES = 1 << 32
"""What an instance can have at all, whatever its limit."""
START_FUEL = 1_000_000_000
TRAPS = {
    "all fuel consumed": (Outcome.timed_out, "used up its instructions"),
    "call stack exhausted": (Outcome.raised, "RecursionError: the stack is exhausted"),
}
"""What the message of a trap ends in, what it means, and how that is said."""
STUB_FRAME = re.compile(r"\s0: .*<wasm function.*\n(?:.*<wasm function.*\n)*.*!(\w+)")
"""The backtrace of a call to the outside: it ends in the nameless stub that stands for it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call of the guest came to."""

    tag: str
    """`answer`, `loaded`, `alone`, `ended`, or the value of an Outcome, not yet f's or g's."""
    detail: str
    """One short line."""
    tree: Tree = None
    """The answer, where tag is `answer`; untrusted."""


class Guest:
    """One compiled guest of this process."""

    def __init__(self, engine: "Engine", component: "Component", linker: "Linker") -> None:
        self.engine = engine
        self.component = component
        self.linker = linker
        self.indices: dict[str, ExportIndex] = {}

    def index(self, export: str) -> "ExportIndex":
        """Return where an export is found."""
        if export not in self.indices:
            index = self.component.get_export_index(export)
            assert index is not None, export
            self.indices[export] = index
        return self.indices[export]

    @classmethod
    def start(cls, cache_dir: Path, kind: Kind = Kind.candidate) -> "Guest":
        """Start the engine and load the guest, which is built where it is missing."""
        try:
            import wasmtime
            from wasmtime._bindings import wasmtime_config_async_stack_size_set
            from wasmtime.component import Linker
        except (ImportError, OSError) as error:
            raise JudgeError(f"wasmtime cannot be loaded: {error}. Run `make setup`") from error
        from judge.build import load

        try:
            config = wasmtime.Config()
            config.consume_fuel = True
            config.cranelift_nan_canonicalization = True
            # No stack is async here, but the engine wants that limit above the other one.
            wasmtime_config_async_stack_size_set(config.ptr(), 2 * WASM_STACK_BYTES)
            config.max_wasm_stack = WASM_STACK_BYTES
            engine = wasmtime.Engine(config)
            return cls(engine, load(engine, cache_dir, kind), Linker(engine))
        except wasmtime.WasmtimeError as error:
            raise JudgeError(f"the engine cannot start: {error}") from error


LOCK = threading.Lock()
GUESTS: dict[tuple[int, Kind], Guest] = {}
"""The guests of each process id: a forked child must not use its parent's engine."""


def guest(kind: Kind = Kind.candidate) -> Guest:
    """Return a guest of this process, from the default cache folder."""
    key = os.getpid(), kind
    if key not in GUESTS:
        with LOCK:
            if key not in GUESTS:
                from judge.build import default_cache_dir

                # Dropped while wasmtime is still whole: its destructors complain after that.
                atexit.register(GUESTS.clear)
                GUESTS[key] = Guest.start(default_cache_dir(), kind)
    return GUESTS[key]


class World:
    """One fresh instance of a guest, for one program. After a trap it is of no more use."""

    def __init__(
        self,
        limits: Limits,
        kind: Kind = Kind.candidate,
        call: Callable[[str], str] | None = None,
    ) -> None:
        """Start an instance; `call` is what the import of a checker does."""
        # First, since it says what to do where there is no wasmtime.
        self.guest = guest(kind)
        import wasmtime

        self.limits = limits
        self.wants_memory = False
        self.fuel_spent = 0
        self.broken = False
        self.functions: dict[str, Func] = {}
        self.store = wasmtime.Store(self.guest.engine)
        self.store.set_limits(memory_size=limits.memory_bytes)
        # Starting is not the program's: a budget too small for it would look like a broken engine.
        self.store.set_fuel(START_FUEL)
        try:
            linker = self.guest.linker if call is None else linker_to(call, self.guest.engine)
            self.instance = linker.instantiate(self.store, self.guest.component)
        except wasmtime.WasmtimeError as error:
            self.store.close()
            raise JudgeError(
                f"no instance of the guest can be made: {' '.join(str(error).split())}. It needs "
                "free memory, and a memory limit above 64 MB"
            ) from error
        self.refuel(limits.fuel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the instance's memory back; raise JudgeError if the host was what lacked some."""
        self.store.close()
        if self.wants_memory:
            require_memory(min(self.limits.memory_bytes, MOST_BYTES))

    def refuel(self, fuel: int) -> None:
        """Set what is left to spend."""
        self.fuel_given = self.fuel_spent + fuel
        self.store.set_fuel(fuel)

    def call(self, export: str, *arguments: str | int) -> Reply:
        """Call an export of the guest; whatever the program does comes back as a Reply."""
        import wasmtime

        function = self.function(export)
        try:
            text = call_export(self.store, function, arguments)
        except wasmtime.WasmtimeError as error:
            self.broken = True
            return trapped(str(error))
        except UnicodeDecodeError:
            return Reply(Outcome.crashed, "replied what is no text")
        finally:
            self.fuel_spent = self.fuel_given - self.store.get_fuel()
        return self.reply(text)

    def function(self, export: str) -> "Func":
        """Return a function of the instance."""
        if export not in self.functions:
            function = self.instance.get_func(self.store, self.guest.index(export))
            assert function is not None, export
            self.functions[export] = function
        return self.functions[export]

    def reply(self, text: str) -> Reply:
        """Read a reply, and remember whether memory was short."""
        found = self.read(text)
        self.wants_memory |= found.tag == Outcome.out_of_memory
        return found

    def read(self, text: str) -> Reply:
        """Return the reply in a guest's text; one that cannot be read is an outcome too."""
        if len(text) > 2 * self.limits.answer_bytes + 10_000:
            return Reply(Outcome.crashed, "replied more than the guest can")
        try:
            match parse(text):
                case ["answer", tree]:
                    return Reply("answer", "", tree)
                case [str(tag), str(detail)]:
                    return Reply(tag, " ".join(detail.split())[:200])
        except Malformed:
            pass
        return Reply(Outcome.crashed, "replied what cannot be read")


def require_memory(num_bytes: int) -> None:
    """Raise JudgeError if this machine has not as much memory as a program may use.

    A program that got less than its limit, and failed, was not judged.
    """
    try:
        if sys.platform == "win32":
            mmap.mmap(-1, num_bytes).close()
        else:  # Shared memory, as mmap makes by itself, is counted otherwise than an instance's.
            mmap.mmap(-1, num_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise JudgeError(
            f"a program may use {num_bytes:,} bytes, and this machine does not give them "
            f"({error}). Judge with fewer workers, or with a lower memory limit"
        ) from error


def linker_to(call: Callable[[str], str], engine: "Engine") -> "Linker":
    """Return a linker that gives an instance its one import."""
    from wasmtime.component import Linker

    linker = Linker(engine)
    with linker.root() as root:
        root.add_func("call", lambda _, arguments: call(arguments))
    return linker


def trapped(message: str) -> Reply:
    """Say what a trap means, from the engine's message (a program has no part in its text)."""
    last = message.strip().rpartition("\n")[2]
    for part, (outcome, detail) in TRAPS.items():
        if part in last:
            return Reply(outcome, detail)
    stub = STUB_FRAME.search(message)
    if "unreachable" in last and stub:
        if stub[1].startswith("monotonic_clock"):
            return Reply(Outcome.timed_out, "waited for what cannot come")
        return Reply(Outcome.forbidden, f"asked for the outside ({stub[1]})")
    return Reply(Outcome.crashed, last.strip()[:200])
