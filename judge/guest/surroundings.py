"""What a program finds around it: streams, clock, randomness, modules. All of it made up.

The guest has no imports, so the real ones would trap. Print and warnings go nowhere, input is
empty, the clock is virtual (it advances by a microsecond a reading and by sleeping), random is
seeded. Every module of the standard library that can be imported is imported when this module is,
before the snapshot: there is no file system afterwards. Not here: anything about f or g.
"""

import builtins
import errno
import io
import linecache
import mimetypes
import os
import random
import sys
import time
import warnings
from typing import Any

import variant

START_NS = (1_704_067_200 + variant.NUMBER * 47_304_000) * 10**9
"""The clock's first reading: 2024-01-01 00:00 UTC; 2025-07-01 12:00 in the second guest."""
STEP_NS = 1_000
"""What each reading of the clock adds, so that loops that wait for it come to an end.

A reading costs some 5,000 instructions: with the fuel of a second, waiting may last four.
"""
MAX_SLEEP_NS = 5 * 10**9
"""A program that sleeps longer than this, in all, has timed out."""
RECURSION_LIMIT = 6_000
"""Room for 5,000 of the program's own calls."""

SKIPPED = """
    antigravity ensurepip idlelib lib2to3 pydoc_data pip test this tkinter turtle turtledemo venv
    _pyrepl __main__ __phello__ _ios_support _android_support _apple_support
""".split()  # noqa: SIM905
"""Modules that need a screen, a network or an installation, or print when imported."""


FILE_FUNCTIONS = """
    access chdir link listdir lstat mkdir readlink remove rename replace rmdir
    scandir stat symlink unlink utime
""".split()  # noqa: SIM905
"""Functions of os that ask for files."""


class SleptTooLong(BaseException):
    """Raised in a program that sleeps past MAX_SLEEP_NS; counted even where it is caught."""


class Clock:
    """A clock that only the program itself moves."""

    def __init__(self) -> None:
        self.now_ns = START_NS
        self.slept_ns = 0

    def read_ns(self) -> int:
        self.now_ns += STEP_NS
        return self.now_ns

    def read(self) -> float:
        return self.read_ns() / 10**9

    def elapsed_ns(self) -> int:
        return self.read_ns() - START_NS

    def elapsed(self) -> float:
        return self.elapsed_ns() / 10**9

    def sleep(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        slept = int(min(float(seconds), 1e9) * 10**9)
        self.now_ns += slept
        self.slept_ns += slept
        if self.slept_ns > MAX_SLEEP_NS:
            raise SleptTooLong(f"slept for {self.slept_ns / 10**9:g} seconds")

    @property
    def ran_out(self) -> bool:
        return self.slept_ns > MAX_SLEEP_NS


class Nowhere(io.TextIOBase):
    """An output stream that keeps nothing."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self) -> None:
        self.buffer = NowhereBytes()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        return len(text)


class Captured(io.TextIOBase):
    """An output stream that keeps what is written, up to a limit."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.written: list[str] = []
        self.size = 0
        self.buffer = CapturedBytes(self)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        # Beyond the limit only the size matters: it tells that the output is too large.
        if self.size <= self.max_bytes:
            self.written.append(str(text))
        self.size += len(text)
        return len(text)

    def text(self) -> str:
        return "".join(self.written)


class CapturedBytes(io.RawIOBase):
    """The bytes beneath Captured."""

    def __init__(self, above: Captured) -> None:
        self.above = above

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.above.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


class NowhereBytes(io.RawIOBase):
    """The bytes beneath Nowhere."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


def install_clock(clock: Clock) -> None:
    """Replace every way of the time module to read the clock or to wait."""
    read_wall = {"time": clock.read, "time_ns": clock.read_ns}
    names = ("monotonic", "perf_counter", "process_time", "thread_time")
    read_elapsed = dict.fromkeys(names, clock.elapsed)
    read_elapsed_ns = {f"{name}_ns": clock.elapsed_ns for name in names}
    for name, function in {**read_wall, **read_elapsed, **read_elapsed_ns}.items():
        setattr(time, name, function)
    time.sleep = clock.sleep  # type: ignore[assignment]
    time.clock_gettime = lambda clk_id: clock.read()
    time.clock_gettime_ns = lambda clk_id: clock.read_ns()
    time.clock_getres = lambda clk_id: STEP_NS / 10**9

    # With no argument these read the clock in C, which would trap.
    def with_now(convert: Any) -> Any:
        return lambda seconds=None: convert(clock.read() if seconds is None else seconds)

    gmtime, strftime, asctime = time.gmtime, time.strftime, time.asctime
    time.gmtime = with_now(gmtime)
    time.localtime = with_now(gmtime)
    time.ctime = with_now(lambda seconds: asctime(gmtime(seconds)))
    time.strftime = lambda form, t=None: strftime(form, time.gmtime() if t is None else t)
    time.asctime = lambda t=None: asctime(time.gmtime() if t is None else t)  # type: ignore[assignment,misc]


def install_randomness() -> None:
    """Seed random, and give every unseeded generator and os.urandom a fixed stream."""
    entropy = random.Random(variant.NUMBER)
    seed = random.Random.seed

    def seed_fixed(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed(self, entropy.getrandbits(64) if a is None else a, version)

    random.Random.seed = seed_fixed  # type: ignore[method-assign]
    os.urandom = entropy.randbytes
    random._urandom = entropy.randbytes  # type: ignore[attr-defined]
    random.seed = random._inst.seed  # type: ignore[attr-defined]
    random.seed(variant.NUMBER)


def install_streams() -> None:
    """Replace the standard streams, and whatever would write or read beside them."""
    sys.stdin = sys.__stdin__ = io.StringIO("")  # type: ignore[assignment,misc]
    sys.stdout = sys.__stdout__ = Nowhere()  # type: ignore[assignment,misc]
    sys.stderr = sys.__stderr__ = Nowhere()  # type: ignore[assignment,misc]
    sys.unraisablehook = lambda _: None
    sys.excepthook = lambda *_: None
    sys.orig_argv = ["python", "program"]
    os.environ.clear()
    # A warning or a traceback looks for the source in a file.
    warnings._showwarnmsg_impl = lambda _: None  # type: ignore[attr-defined]
    linecache.updatecache = lambda *_: []
    for name in ("exit", "quit"):
        setattr(builtins, name, sys.exit)


def close_files() -> None:
    """Make files fail as in Python, where the real functions would trap."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "there are no files here")

    for name in FILE_FUNCTIONS:
        setattr(os, name, refuse)
    os.getcwd = lambda: "/"
    os.getcwdb = lambda: b"/"
    # Opening one has many ways, of which a SyntaxError's is one.
    sys.addaudithook(lambda event, _: refuse() if event == "open" else None)


def import_standard_library() -> None:
    """Import every module that can be."""
    import importlib
    import pkgutil

    # The C datetime reads the real clock; the Python one reads time.time.
    sys.modules["_datetime"] = None  # type: ignore[assignment]
    sys.modules["_zoneinfo"] = None  # type: ignore[assignment]
    queue = sorted(set(sys.stdlib_module_names).difference(SKIPPED))
    for name in queue:
        try:
            module = importlib.import_module(name)
        except Exception:
            continue
        for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
            if "test" not in info.name and info.name not in SKIPPED:
                queue.append(f"{name}.{info.name}")


def close_imports() -> None:
    """Leave only what is imported and what is built in: looking for a file would trap."""
    sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", "") != "PathFinder"]
    sys.path[:] = []
    sys.path_hooks[:] = []
    sys.path_importer_cache.clear()


def close(*modules: str) -> None:
    """End the preparations; a program that imports one of these modules means its own."""
    for name in ("surroundings", *modules):
        del sys.modules[name]
    close_imports()
    close_files()


clock = Clock()
install_clock(clock)
import_standard_library()
# It would look for the system's files.
mimetypes.init(files=[])
install_randomness()
install_streams()
