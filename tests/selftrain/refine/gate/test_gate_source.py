"""What a candidate's syntax tree tells the gate: parses, signature, imports, streams."""

import pytest

from puzzles import puzzle_from_source
from selftrain.refine.gate.evidence import Status
from selftrain.refine.gate.source import read_source
from selftrain.refine.tasks.task import Kind, RefineTask

ALLOWED = ("math", "collections")
FUNCTION = RefineTask("f", Kind.function, "", entry_point="f", parameters="a, b=2, *, c=None")
PROGRAM = RefineTask("p", Kind.program, "")
METHOD = RefineTask(
    "m",
    Kind.function,
    "",
    entry_point="f",
    parameters="self, a: int",
    postlude="\ndef f(*args): return Solution().f(*args)\n",
)
PUZZLE = puzzle_from_source("def f(x: int, n=9, m=1): return x == n + m", name="sum")
G = RefineTask("g", Kind.puzzle, PUZZLE.f, entry_point="g", puzzle=PUZZLE)


def failures(task: RefineTask, source: str) -> dict[str, str]:
    evidence = read_source(task, source, ALLOWED).evidence
    return {one.invariant: one.detail for one in evidence if one.status is Status.failed}


RIGHT = {
    "as the task has it": (FUNCTION, "def f(a, b=2, *, c=None): return a"),
    "with annotations": (FUNCTION, "def f(a: int, b: int = 2, *, c: str | None = None) -> int: return a"),
    "the last of two": (FUNCTION, "def f(): pass\ndef f(a, b=2, *, c=None): return a"),
    "decorated": (FUNCTION, "from functools import cache\n@cache\ndef f(a, b=2, *, c=None): return a"),
    "a submodule of what is allowed": (METHOD, "import collections.abc\nclass Solution:\n  def f(self, a): return a"),
    "names of streams that are its own": (METHOD, "class Solution:\n  def f(self, a):\n    print = open = input = a\n    return print"),
    "a program reads and writes": (PROGRAM, "import sys, io\nprint(sys.stdin.read())"),
    "a g without the defaults": (G, "def g(n, m): return n + m"),
    "a g with them": (G, "def g(n=9, m=1): return n + m"),
}  # fmt: skip
WRONG = {
    "no function": (FUNCTION, "x = 1", "signature", "it defines no function f at module level"),
    "a lambda": (FUNCTION, "f = lambda a, b=2, *, c=None: a", "signature", "it defines no function f at module level"),
    "an inner one": (FUNCTION, "if 1:\n  def f(a, b=2, *, c=None): pass", "signature", "it defines no function f at module level"),
    "async": (FUNCTION, "async def f(a, b=2, *, c=None): pass", "signature", "it defines no function f at module level"),
    "another default": (FUNCTION, "def f(a, b=3, *, c=None): pass", "signature", "f takes (a, b=3, *, c=None), and should take (a, b=2, *, c=None)"),
    "another order": (FUNCTION, "def f(b, a=2, *, c=None): pass", "signature", "f takes (b, a=2, *, c=None), and should take (a, b=2, *, c=None)"),
    "no class": (METHOD, "def f(self, a): return a", "signature", "it defines no function f in a class Solution"),
    "another input": (G, "def g(n): return n + 1", "signature", "g takes (n), and should take (n, m)"),
    "a module": (G, "import math, os.path\ndef g(n, m): pass", "imports", "line 1 imports os.path, which is not allowed"),
    "from a module": (G, "def g(n, m):\n  from os import path", "imports", "line 2 imports os, which is not allowed"),
    "a relative import": (G, "from . import x\ndef g(n, m): pass", "imports", "line 1 imports ., which is not allowed"),
    "the function behind import": (G, "def g(n, m): return __import__('math')", "imports", "line 1 imports by __import__, which is not allowed"),
    "a program's module": (PROGRAM, "import os", "imports", "line 1 imports os, which is not allowed"),
    "print": (G, "def g(n, m):\n  print(n)\n  return n", "streams", "line 2 uses print; take what is given and return the answer"),
    "input": (G, "def g(n, m): return int(input())", "streams", "line 1 uses input; take what is given and return the answer"),
    "not every print is its own": (G, "def g(n, m):\n  print(n)\ndef h(print): return print", "streams", "line 2 uses print; take what is given and return the answer"),
    "no Python": (G, "def g(n, m) return", "parses", "line 1: expected ':'"),
    "deeper than is read": (G, "def g(n, m): return " + "-" * 200 + "n", "streams", "it nests too deep to be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_fails(name: str) -> None:
    task, source = RIGHT[name]
    found = failures(task, source)
    # The tests' own table allows no functools.
    found.pop("imports", None) if "functools" in source else None
    assert found == {}


@pytest.mark.parametrize("name", WRONG)
def test_what_fails_is_named(name: str) -> None:
    task, source, invariant, detail = WRONG[name]
    assert failures(task, source) == {invariant: detail}


def test_standard_streams_are_found_by_their_modules_names_too() -> None:
    sources = ["import sys\ndef g(n, m): sys.stdout.write('')", "from sys import stdin\ndef g(n, m): pass"]  # fmt: skip
    found = [failures(G, source)["streams"].split(";")[0] for source in sources]
    assert found == ["line 2 uses sys.stdout", "line 1 uses sys.stdin"]


def test_a_task_may_allow_modules_of_its_own() -> None:
    task = RefineTask("f", Kind.function, "", entry_point="f", allowed_imports=("os",))
    assert failures(task, "import os\ndef f(): pass") == {}
    assert "imports" in failures(task, "import math\ndef f(): pass")


def test_where_nothing_parses_the_rest_is_not_evaluated() -> None:
    reading = read_source(G, "def g(", ALLOWED)
    statuses = [one.status for one in reading.evidence]
    assert statuses == [Status.failed, *[Status.not_evaluated] * 3]
    assert not reading.can_run


def test_parameters_that_the_task_leaves_open_are_not_evaluated() -> None:
    task = RefineTask("f", Kind.function, "", entry_point="f")
    reading = read_source(task, "def f(x, y): pass", ALLOWED)
    assert reading.evidence[1].status is Status.not_evaluated
    assert reading.can_run


def test_a_name_that_is_bound_otherwise_can_be_run_and_fails_the_signature() -> None:
    assert read_source(FUNCTION, "f = max", ALLOWED).can_run
    assert not read_source(FUNCTION, "f(1)", ALLOWED).can_run
