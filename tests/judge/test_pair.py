"""What judging a pair means: inputs, answers, types, surroundings."""

import pytest

from judge import Limits, Outcome, first_true, inputs, judge, run

QUICK = Limits(fuel=1_000_000_000)

ACCEPTED = {
    "inputs by name, in another order": (
        "def f(x: int, a=1, b=20): return x == a - b",
        "def g(b=0, a=0): return a - b",
    ),
    "a fresh copy of each input": (
        "def f(x: List[int], xs=[3, 1, 2]): return x == sorted(xs) and xs[0] == 3",
        "def g(xs):\n    xs.sort()\n    return xs",
    ),
    "g calls f": (
        "def f(i: int, n=50): return i * i > n",
        "def g(n):\n    i = 0\n    while not f(i): i += 1\n    return i",
    ),
    "keyword-only and positional-only inputs of f": (
        "def f(x: int, a=1, /, *, b=2): return x == a + b",
        "def g(a, b): return a + b",
    ),
    "names of typing without an import": (
        "def f(x: Dict[str, Optional[Tuple[int, ...]]]): return x['a'] == (1, 2)",
        "def g() -> Dict[str, Any]: return {'a': (1, 2), 'b': None}",
    ),
    "an annotation as text": ("def f(x: 'List[int]'): return x == [1]", "def g(): return [1]"),
    "built-in generics": (
        "def f(x: list[tuple[int, str]]): return x == [(1, 'a')]",
        "def g(): return [(1, 'a')]",
    ),
    "a union": ("def f(x: int | None): return x is None", "def g(): return None"),
    "no annotation": ("def f(x): return x == {1: {2}}", "def g(): return {1: {2}}"),
    "an empty list": ("def f(x: List[List[int]]): return x == []", "def g(): return []"),
    "an assertion after g": ("def f(x: int): return x == 1", "def g(): return 1\nassert f(g())"),
    "print, warnings and streams": (
        "def f(x: int): return x == 1",
        "import sys, warnings\nwarnings.simplefilter('always')\ndef g():\n    print('a' * 10 ** 6)\n"
        "    print('a', file=sys.stderr, flush=True)\n    warnings.warn('a')\n"
        "    sys.stdout.buffer.write(b'a')\n    return 1",
    ),
    "recursion 5,000 deep": (
        "def f(x: int): return x == 5000",
        "def g():\n    def r(n): return n and 1 + r(n - 1)\n    return r(5000)",
    ),
    "ints beyond 4,300 digits": (
        "def f(x: int): return len(str(x)) == 5001 and x == int('1' + '0' * 5000)",
        "def g(): return 10 ** 5000",
    ),
    "a dataclass": (
        "def f(x: int): return x == 1",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef g(): return P(1).x",
    ),
    "an absent module, tried": (
        "def f(x: int): return x == 1",
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\ndef g(): return 1",
    ),
    "a syntax error, caught": (
        "def f(x: int): return x == 1",
        "def g():\n    try:\n        exec('def x(:')\n    except SyntaxError:\n        return 1",
    ),
    "a short sleep and a clock": (
        "def f(x: float): return 0.5 <= x < 1",
        "import time\ndef g():\n    start = time.time()\n    time.sleep(0.5)\n"
        "    return time.time() - start",
    ),
    "dates": (
        "def f(x: int): return x == 2024",
        "import datetime\ndef g(): return datetime.datetime.now().year",
    ),
    "unseeded randomness": (
        "def f(x: int): return x == 1",
        "import random, secrets, uuid\ndef g():\n    random.seed()\n    random.Random().random()\n"
        "    random.SystemRandom().random()\n    secrets.token_hex(4)\n    uuid.uuid4()\n    return 1",
    ),
    "a guarded main does not run": (
        "def f(x: int): return x == 1",
        "def g(): return 1\nif __name__ == '__main__':\n    1 / 0",
    ),
    "patched built-ins": (
        "def f(x: list): return x == [1, 'a', (2.5, None)]",
        "import builtins, json\ndef g():\n    builtins.len = builtins.type = builtins.map = None\n"
        "    json.dumps = None\n    return [1, 'a', (2.5, None)]",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_right_program_passes(name: str) -> None:
    verdict = judge(*ACCEPTED[name], QUICK)
    assert verdict.passed, verdict


ANSWERS = [
    "None",
    "True",
    "-3",
    "18446744073709551616",
    "1.5",
    "-0.0",
    "float('nan')",
    "[float('inf'), float('-inf')]",
    "complex(1.0, -2.0)",
    "'naïve 𝐀'",
    r"'\ud83d\udc00 \x00'",
    r"b'\x00\xff'",
    "[]",
    "[1, 'a', [None, 2.0]]",
    "()",
    "(1,)",
    "(1, (2, 3))",
    "set()",
    "{1, 2, 3}",
    "{'a', 'b', (1, 2)}",
    "frozenset()",
    "frozenset({1})",
    "{}",
    "{'a': [1], (1, 2): {3: {4}}}",
]


@pytest.mark.parametrize("literal", ANSWERS)
def test_plain_data_comes_back_as_the_same_literal(literal: str) -> None:
    assert run(f"def g(): return {literal}", limits=QUICK).answer == literal


@pytest.mark.parametrize("literal", ANSWERS)
def test_f_sees_the_value_that_g_returned(literal: str) -> None:
    f = f"def f(x, expected={literal}): return repr(x) == repr(expected)"
    assert judge(f, "def g(expected): return expected", QUICK).passed


def test_equal_sets_are_equal_literals() -> None:
    forward = run("def g(): return {str(i) for i in range(50)}", limits=QUICK)
    backward = run("def g(): return {str(i) for i in reversed(range(50))}", limits=QUICK)
    assert forward.answer == backward.answer


def test_execution_says_why_there_is_no_answer() -> None:
    execution = run("def g(n): return n / 0", "def f(x, n=1): return True", QUICK)
    assert (execution.answer, execution.failure) == (None, Outcome.raised)
    assert execution.detail == "ZeroDivisionError: division by zero"


def test_program_without_f_uses_its_own_defaults() -> None:
    assert run("def g(n=3): return n + 1", limits=QUICK).answer == "4"


def test_verdict_has_the_answer_and_the_fuel_of_both() -> None:
    verdict = judge("def f(x: int, n=2): return x == n", "def g(n): return n + 1", QUICK)
    assert (verdict.answer, verdict.detail) == ("3", "f returned False")
    assert verdict.fuel > run("def g(n): return n + 1", "def f(x: int, n=2): return x == n").fuel


def test_inputs_are_the_defaults_of_f() -> None:
    f = "k = 3\ndef f(x: int, a=[1, k], *, b='c'):\n    return True\n"
    assert inputs(f).answer == "{'a': [1, 3], 'b': 'c'}"


@pytest.mark.parametrize(
    ("f", "failure"),
    [
        ("def f(x: int, a=absent): return True", Outcome.f_raised),
        ("def f(x: int, a): return True", Outcome.f_raised),
        ("def f(x: int, a=print): return True", Outcome.f_wrong_type),
        ("def f(x: int", Outcome.f_syntax_error),
        ("while True: pass", Outcome.f_timed_out),
    ],
)
def test_inputs_say_why_there_are_none(f: str, failure: Outcome) -> None:
    assert inputs(f, QUICK).failure is failure


INTS = [str(i) for i in range(-10, 101)]


def test_probe_finds_the_first_answer_that_makes_f_true() -> None:
    assert first_true("def f(x: int, n=3): return x > n", INTS).index == INTS.index("4")


def test_probe_takes_no_exception_and_nothing_truthy_for_true() -> None:
    probe = first_true("def f(x: int): return y if x < 50 else 1", INTS)
    assert (probe.index, probe.failure) == (None, None)


def test_probe_goes_on_after_endless_loops_traps_and_sleeps() -> None:
    f = (
        "import os, time\ndef f(x: int):\n    while x == -9: pass\n    if x == -8: os._exit(0)\n"
        "    if x == -7: time.sleep(99)\n    return x == -6"
    )
    probe = first_true(f, INTS, QUICK)
    assert (probe.index, probe.num_timed_out) == (4, 2)


def test_probe_gives_slow_answers_the_whole_fuel_in_the_end() -> None:
    f = "def f(x: int):\n    for _ in range(10 ** 6): pass\n    return x == 1"
    assert first_true(f, ["0", "1"], QUICK).index == 1


def test_probe_gives_each_answer_fresh_inputs() -> None:
    f = "def f(x: int, a=[]):\n    a.append(x)\n    return len(a) > 1"
    assert first_true(f, INTS).index is None


def test_probe_says_why_f_cannot_be_asked() -> None:
    assert first_true("def f(x", INTS).failure is Outcome.f_syntax_error


@pytest.mark.parametrize("fuel", [1, 100_000, 800_000])
def test_any_little_fuel_is_an_outcome(fuel: int) -> None:
    verdict = judge("def f(x: int): return x == 1", "def g(): return 1", Limits(fuel=fuel))
    assert verdict.outcome in (Outcome.timed_out, Outcome.f_timed_out)
    assert verdict.fuel <= 2 * fuel
