"""Whatever a candidate does is data: the gate says what failed, and raises nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from selftrain.refine.gate.evidence import GateReport, report_to_row
from selftrain.refine.gate.gate import Gate
from selftrain.refine.tasks.task import Example, Growth, Invariant, Kind, RefineTask

TASK = RefineTask(
    "next",
    Kind.function,
    "",
    entry_point="f",
    parameters="n",
    examples=(Example("((1,), {})", "2"), Example("((2,), {})", "3")),
    invariants=(
        Invariant("more", ("(5,)",), "answer > inputs[0]", Growth("(n,)", (1, 2, 4), 1.0)),
    ),
    canary="canary_2",
)
HOSTILE = {
    "nothing": "",
    "a null byte": "def f(n): return 2\0",
    "half a surrogate pair": "def f(n): return '\ud800'",
    "ten megabytes": "x" * 10_000_000,
    "deep minus": "def f(n): return " + "-" * 40_000 + "1",
    "deep brackets": "(" * 40_000,
    "a deep tree": "def f(n): return n" + ".a" * 5_000,
    "an exit": "raise SystemExit",
    "an exit in what it says": "class E(Exception):\n  def __str__(s): raise SystemExit\ndef f(n): raise E",
    "a surrogate in what it says": "def f(n): raise ValueError('\\ud800')",
    "a surrogate returned": "def f(n): return '\\ud800'",
    "a name that is no text": "class M(type):\n  __name__ = property(lambda s: [1])\nclass Y(metaclass=M): pass\ndef f(n): return Y()",
    "builtins replaced": "def f(n):\n  __builtins__['tuple'] = __builtins__['type'] = __builtins__['list'] = None\n  return n + 1",
    "a finalizer": "class A:\n  def __del__(s):\n    while 1: pass\ndef f(n):\n  A()\n  return n + 1",
    "an endless load": "while True: pass\ndef f(n): pass",
    "no result": "def f(n):\n  g = f.__globals__\n  while 1: g[n] = g",
    "a deep answer": "def f(n):\n  x = []\n  for _ in range(98): x = [x]\n  return x",
    "a long answer": "def f(n): return 'a' * 900_000",
    "a long number": "def f(n): return 10 ** 100_000",
    "its own answer": "def f(n):\n  x = []\n  x.append(x)\n  return x",
    "a subclass": "class I(int):\n  def __eq__(s, o): return True\n  __hash__ = int.__hash__\ndef f(n): return I(n)",
    "not callable": "f = 3",
    "code that follows from the future": "x = 1\nfrom __future__ import annotations\ndef f(n): return n + 1",
}  # fmt: skip
FRAMES = """
def frames():
    try: 1 / 0
    except Exception as error: frame = error.__traceback__.tb_frame
    while frame:
        yield frame
        frame = frame.f_back

def caller(): return next(frame.f_globals for frame in frames() if "_given" in frame.f_globals)
"""
IN_THE_LIST = (
    FRAMES
    + """
import gc
def f(n):
    def forge(_):
        for found in gc.get_objects():
            if type(found) is list and found and type(found[0]) is tuple and found[0][:1] == ("returned",):
                found[:] = FORGED
        return False
    caller()["bool"] = forge
    return 0
"""
)
FORGED = {
    "no results": IN_THE_LIST.replace("FORGED", "[]"),
    "more results than calls": IN_THE_LIST.replace("FORGED", "[('returned', 1)] * 5"),
    "an empty result": IN_THE_LIST.replace("FORGED", "[()] * len(found)"),
    "an end that none was": IN_THE_LIST.replace("FORGED", "[('ended', 'x')] * len(found)"),
    "the caller's own function": "import sys\ndef f(n):\n  sys._getframe(2).f_globals['_told'] = lambda *a: ('returned', 1)\n  return 0",
    "the caller's result": "import sys\ndef f(n):\n  sys._getframe(2).f_globals['_call_all'] = 0\n  sys._getframe(2).f_globals['g'] = lambda: ([('returned', 2), ('returned', 3)], False)\n  return 0",
    "another shape": "import sys\ndef f(n):\n  sys._getframe(2).f_globals['_told'] = lambda *a: {1: [2]}\n  return 0",
    "another kind": "import sys\ndef f(n):\n  sys._getframe(2).f_globals['_told'] = lambda *a: ('accepted', 1)\n  return 0",
    "an outcome": "import sys\ndef f(n):\n  sys._getframe(2).f_globals['_told'] = lambda *a: ('passed', 'passed')\n  return 0",
    "copying": "import marshal\nmarshal.loads = lambda _: True\ndef f(n): return 0",
    "a word for right": "class T:\n  def __eq__(s, o): return True\ndef f(n): return T()",
}  # fmt: skip
"""None of them knows what is right: that never enters the instance."""


@pytest.fixture
def look(gate: Gate) -> Callable[[str], GateReport]:
    return lambda source: gate.examine([(TASK, source)])[0]


@pytest.mark.parametrize("name", [*HOSTILE, *FORGED])
def test_it_is_rejected_for_a_reason_that_can_be_written(
    name: str, look: Callable[[str], GateReport]
) -> None:
    report = look((HOSTILE | FORGED)[name])
    assert report.failures
    assert not report.accepted
    str(report_to_row(report)).encode()
    assert all(0 < len(one.detail) <= 300 for one in report.failures)


@pytest.mark.parametrize("name", FORGED)
def test_what_calls_a_candidate_can_be_replaced_and_gives_other_answers_only(
    name: str, look: Callable[[str], GateReport]
) -> None:
    status = {one.invariant: one.status for one in look(FORGED[name]).evidence}
    assert status["examples"] == "failed"
    assert status["declared:more"] == "failed"


@pytest.mark.parametrize("name", ["no results", "more results than calls", "an empty result"])
def test_where_nothing_can_be_read_nothing_holds_that_needs_it(
    name: str, look: Callable[[str], GateReport]
) -> None:
    report = look(FORGED[name])
    found = {one.invariant: one for one in report.evidence}
    ran = ["examples", "plain_answer", "resources", "same_answer", "hidden", "declared:more"]
    assert "held" not in {found[invariant].status for invariant in ran}
    assert found["examples"].detail.startswith("f(1) failed, crashed: replied what cannot be read")
    # examples and declared:more, which failed; a stub says nothing of the rest.
    assert report.num_evaluated == 2


def test_a_long_answer_costs_no_more_than_the_expected_one_may(gate: Gate) -> None:
    task = replace(TASK, examples=tuple(Example(f"(({n},), {{}})", "[]") for n in range(5)))
    (report,) = gate.examine([(task, "def f(n): return 'a' * 200_000")])
    (failure, *_) = report.failures
    assert failure.detail == (
        "f(0) failed, too_large: the answer is longer than 131072 bytes, and should return []"
    )
    long = repr("a" * 200_000)
    task = replace(task, examples=(Example("((1,), {})", long),), invariants=())
    assert gate.examine([(task, "def f(n): return 'a' * 200_000")])[0].accepted


def test_the_gate_goes_on_as_if_nothing_had_been(look: Callable[[str], GateReport]) -> None:
    assert look("def f(n): return n + 1").accepted


def test_all_at_once_are_what_each_is_alone(gate: Gate) -> None:
    sources = [*HOSTILE.values(), "def f(n): return n + 1"]
    alone = [gate.examine([(TASK, source)])[0] for source in sources]
    assert (
        Gate(gate.judging, gate.allowed_imports).examine([(TASK, one) for one in sources]) == alone
    )
