"""Ten runs of the same 1,000 programs: in threads, in processes, on idle and on busy cores."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from string import Template

import psutil
import pytest

from judge import (
    Case,
    FunctionProblem,
    Limits,
    Outcome,
    TextProblem,
    Verdict,
    judge,
    judge_completions,
    judge_function,
    judge_many,
    judge_text,
)

LIMITS = Limits(fuel=50_000_000, memory_bytes=1 << 27)
NUM_PROGRAMS = 1_000
MAX_HASH_SEED = 2**32 - 1
IS_N = "def f(x: int, n=$k): return x == n"
ANYTHING = "def f(x, n=$k): return x is not None"
TEMPLATES = [
    # Passes.
    (IS_N, "def g(n): return n + $a - $a"),
    (IS_N, "def g(n):\n    i = n - $b\n    while not f(i): i += 1\n    return i"),
    ("def f(x: List[int], n=$k): return sum(x) == n and len(x) == $a", "def g(n): return [n] + [0] * ($a - 1)"),
    ("def f(x: str, n=$k): return x == str(n)[::-1] * $a", "def g(n): return ''.join(reversed(str(n))) * $a"),
    ("def f(x: Dict[str, int], n=$k): return x == {'a': n, 'b': $b}", "def g(n): return dict(a=n, b=$b)"),
    ("def f(x: Set[int], n=$k): return len(x) == $b and n in x", "def g(n): return set(range(n, n + $b))"),
    ("def f(x: float, n=$k): return abs(x * x - n) < 1e-6", "def g(n): return n ** 0.5"),
    # Wrong, in ways that each have a name.
    (IS_N, "def g(n): return n + $a"),
    (IS_N, "def g(n): return None if n % $a else -n"),
    (IS_N, "def g(n): return float(n)"),
    (IS_N, "class I(int): pass\ndef g(n): return I(n)"),
    (IS_N, "def g(n): yield n + $a"),
    (IS_N, "def g(n) return $a"),
    (IS_N, "h = $a"),
    ("def f(x: int, n=$k): return [n] * $a", "def g(n): return n"),
    # Raising.
    (IS_N, "def g(n): return n // (n - n)"),
    (IS_N, "def g(n): return [][$a]"),
    (IS_N, "def g(n): return {'a': $a}[n]"),
    (IS_N, "def g(n):\n    try: raise ValueError(n)\n    except ValueError as e: raise KeyError('$a') from e"),
    (IS_N, "def g(n): raise SystemExit($a)"),
    ("def f(x: int, n=$k): return 1 // (x - n)", "def g(n): return n"),
    # Forbidden, and traps.
    (IS_N, "import os\ndef g(n): return len(os.listdir('/$a'))"),
    (IS_N, "def g(n): return open('/tmp/$b')"),
    (IS_N, "import numpy\ndef g(n): return n"),
    (IS_N, "import os\ndef g(n): os._exit($a)"),
    (IS_N, "import os\ndef g(n): os.abort() if n else $a"),
    # Memory.
    (IS_N, "def g(n): return [0] * $a * 10 ** 9"),
    (IS_N, "def g(n): return len(bytearray($b * 10 ** 8))"),
    (ANYTHING, "def g(n): return len([[i] for i in range($b * 100)])"),
    (ANYTHING, "import gc, sys\ndef g(n): return [gc.collect(), len(gc.get_objects()), sys.getsizeof([0] * $b)]"),
    # Loops.
    (IS_N, "def g(n):\n    while True: n += $a"),
    (IS_N, "def g(n):\n    while True:\n        try:\n            while True: pass\n        except BaseException: n = $a"),
    (IS_N, "import re\ndef g(n): return bool(re.match('(a+)+$$', 'a' * $b + 'b'))"),
    (ANYTHING, "def g(n): return sum(i * i % 7 for i in range($b * 300))"),
    ("def f(x: int, n=$k):\n    while x: pass", "def g(n): return n"),
    ("def f(x: int, n=$k): return all(x % i for i in range(2, $b * 100))", "def g(n): return 10007 * n"),
    # Orders of sets, hashes, addresses.
    (ANYTHING, "def g(n): return list({str(i * $a) for i in range($b)})"),
    (ANYTHING, "def g(n): return [*{(i, str(n)) for i in range($a)}]"),
    (ANYTHING, "def g(n): return {str(i * n) for i in range($b)}.pop()"),
    (ANYTHING, "def g(n): return [hash('$b'), hash((n, 'a')), hash(b'$a')]"),
    (ANYTHING, "def g(n): return [id(n) % 997, id(list), id([]), hash(object())]"),
    (ANYTHING, "class A: pass\ndef g(n): return repr([A() for _ in range($a)])"),
    (ANYTHING, "class A: pass\ndef g(n):\n    many = [A() for _ in range($b)]\n    return [many.index(one) for one in set(many)]"),
    ("def f(x: int, n=$k): return list({str(i) for i in range(n)})[x] < '$b'", "def g(n): return n - 1"),
    # Randomness.
    (ANYTHING, "import random\ndef g(n): return [random.random(), random.randrange(n), random.gauss(0, $a)]"),
    (ANYTHING, "import random\ndef g(n): return random.Random().sample(range($b), $a)"),
    (ANYTHING, "import random\nrandom.seed()\ndef g(n): return random.getrandbits($b)"),
    (ANYTHING, "import os, secrets, uuid\ndef g(n): return [os.urandom($a), secrets.token_hex($a), str(uuid.uuid4())]"),
    ("import random\ndef f(x: int, n=$k): return random.randrange($a) == 0", "def g(n): return n"),
    # Clocks.
    (ANYTHING, "import time\ndef g(n): return [time.time(), time.perf_counter_ns(), time.process_time()]"),
    (ANYTHING, "import datetime\ndef g(n): return str(datetime.datetime.now() + datetime.timedelta($b))"),
    (ANYTHING, "import time\ndef g(n):\n    begun, i = time.monotonic(), 0\n    while time.monotonic() - begun < 0.0000$b: i += 1\n    return i"),
    (ANYTHING, "import time\ndef g(n):\n    time.sleep(0.$b)\n    return time.ctime()"),
    (IS_N, "import time\ntime.sleep($a + 5)\ndef g(n): return n"),
    # Recursion.
    (ANYTHING, "def g(n):\n    def r(i): return i and 1 + r(i - 1)\n    return r($b * 20)"),
    (IS_N, "def g(n): return g(n + $a)"),
    (IS_N, "import sys\nsys.setrecursionlimit(10 ** 9)\ndef g(n): return max([n + $a], key=g)"),
    (IS_N, "def g(n):\n    x = ()\n    for _ in range($b * 500): x = (x,)\n    return len(repr(x))"),
    (IS_N, "def g(n):\n    x = $a\n    for _ in range($b + 100): x = [x]\n    return x"),
    # Big numbers.
    (ANYTHING, "def g(n): return 3 ** ($b * 20) % (10 ** 30 + n)"),
    (ANYTHING, "import math\ndef g(n): return len(str(math.factorial($b * 4)))"),
    (ANYTHING, "def g(n): return $a << $b * 10"),
    (ANYTHING, "def g(n): return [n ** 0.$b, float('inf') - float('inf'), -0.0, 1e308 * $a, n + 2j]"),
    # The standard library.
    (ANYTHING, "import json, re\ndef g(n): return json.loads(re.sub('a', '$b', '[a, 1.5, null]'))"),
    (ANYTHING, "import collections\ndef g(n): return collections.Counter(str(n ** $b)).most_common($a)"),
    (ANYTHING, "import itertools, heapq\ndef g(n): return heapq.nsmallest($a, (a * b for a, b in itertools.combinations(range($b), 2)))"),
    (ANYTHING, "import decimal, fractions\ndef g(n): return [str(decimal.Decimal(n).sqrt()), str(fractions.Fraction(n, $b))]"),
    (ANYTHING, "import hashlib, base64\ndef g(n): return base64.b64encode(hashlib.sha256(b'$b').digest())"),
    (ANYTHING, "import functools\n@functools.lru_cache\ndef h(i): return i if i < 2 else h(i - 1) + h(i - 2)\ndef g(n): return h($b)"),
    (ANYTHING, "import dataclasses, enum\n@dataclasses.dataclass\nclass P:\n    x: int = $a\ndef g(n): return [repr(P(n)), repr(enum.Enum('E', 'a b')(1))]"),
    (ANYTHING, "import traceback\ndef g(n):\n    try: 1 // 0\n    except ZeroDivisionError: return traceback.format_exc() * $a"),
    (ANYTHING, "import difflib, textwrap\ndef g(n): return [difflib.SequenceMatcher(None, str(n), '$b').ratio(), textwrap.fill('ab ' * $b, $a * 10)]"),
]  # fmt: skip
"""Sources of f and g: $k is another number in each program, $a has one digit and $b has two."""
ADD = FunctionProblem(
    "def add(a, b):\n", "add", "def check(add):\n    assert [add(i, 1) for i in range(9)] == [*range(1, 10)]\n"
)  # fmt: skip
LINES = TextProblem((Case("1 2\n", "3\n"), Case("3 4\n", "7\n")))
SAMPLES: list[tuple[FunctionProblem | TextProblem, str]] = [
    *[
        (ADD, f"    {body}\n")
        for body in (
            "return a + b",
            "return a",
            "return a / (b - 1)",
            "return hash(str(a))",
            "import random; return random.random()",
            "import time; return time.time()",
            "return add(a, b)",
            "return [0] * 10 ** 9",
            "while True: pass",
            "return (",
            "return object()",
            "return {str(i) for i in range(99)}.pop()",
        )
    ],
    *[
        (LINES, source)
        for source in (
            "print(sum(map(int, input().split())))",
            "print(3)",
            "print(1 / 0)",
            "print({str(i) for i in range(99)}, id([]), hash('a'))",
            "import random, time\nprint(random.random(), time.time())",
            "while True: print(1)",
        )
    ],
]
"""Completions of a function and whole programs."""


def made() -> list[tuple[str, str]]:
    """The same programs in every process, no two of which are the same."""
    draw = random.Random(20240101)
    pairs = []
    for k in range(1_000, 1_000 + NUM_PROGRAMS):
        f, g = TEMPLATES[k % len(TEMPLATES)]
        numbers = {"k": k, "a": draw.randrange(2, 10), "b": draw.randrange(10, 100)}
        pairs.append((Template(f).substitute(numbers), Template(g).substitute(numbers)))
    return pairs


PAIRS = made()


def in_order() -> list[Verdict]:
    return list(judge_many(PAIRS, LIMITS, remember=False))


def from_the_last() -> list[Verdict]:
    return [judge(f, g, LIMITS) for f, g in reversed(PAIRS)][::-1]


def in_threads(num_threads: int) -> list[Verdict]:
    with ThreadPoolExecutor(num_threads) as threads:
        return list(threads.map(lambda pair: judge(pair[0], pair[1], LIMITS), PAIRS))


def in_workers() -> list[Verdict]:
    return list(judge_many(PAIRS, LIMITS, 2, remember=False))


def judged_samples() -> list[Verdict]:
    return [
        judge_function(problem, source, LIMITS)
        if isinstance(problem, FunctionProblem)
        else judge_text(problem, source, LIMITS)
        for problem, source in SAMPLES
    ]


def in_an_interpreter(function: str, hash_seed: int) -> str:
    """What a function of this file returns in a fresh interpreter, as that one writes it."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        f"import test_determinism; print(repr(test_determinism.{function}()))"
    )
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", code, str(here), str(here.parents[1])],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
    )
    return done.stdout.removesuffix("\n")


@contextmanager
def every_core_busy() -> Iterator[None]:
    """Keep as many processes spinning as there are cores; a little nice, so that a test may end."""
    spin = [sys.executable, "-c", "import os\nos.nice(5)\nwhile True: pass"]
    spinning = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)]
    try:
        while any(psutil.Process(one.pid).cpu_times().user < 0.1 for one in spinning):
            time.sleep(0.05)
        yield
    finally:
        for one in spinning:
            one.kill()
            one.wait()


def differences(
    found: Sequence[Verdict], expected: Sequence[Verdict]
) -> list[tuple[tuple[str, str], Verdict, Verdict]]:
    """The programs whose verdict, detail, answer or fuel is another one."""
    rows = zip(PAIRS, found, expected, strict=True)
    return [(pair, one, other) for pair, one, other in rows if one != other]


@pytest.fixture(scope="module")
def first_run() -> list[Verdict]:
    return in_order()


def test_the_programs_are_a_thousand_distinct_ones_of_every_outcome(
    first_run: list[Verdict],
) -> None:
    assert len(set(PAIRS)) == NUM_PROGRAMS
    counts = Counter(verdict.outcome for verdict in first_run)
    assert {*counts} == {
        Outcome.passed,
        Outcome.wrong_answer,
        Outcome.wrong_type,
        Outcome.raised,
        Outcome.syntax_error,
        Outcome.no_g,
        Outcome.timed_out,
        Outcome.out_of_memory,
        Outcome.forbidden,
        Outcome.too_large,
        Outcome.crashed,
        Outcome.f_raised,
        Outcome.f_timed_out,
    }
    assert len({verdict.fuel for verdict in first_run}) > NUM_PROGRAMS / 2


@pytest.mark.parametrize("num_threads", [2, 5])
def test_verdicts_and_fuel_are_the_same_in_threads(
    first_run: list[Verdict], num_threads: int
) -> None:
    assert differences(in_threads(num_threads), first_run) == []


@pytest.mark.parametrize("run", [1, 2])
def test_verdicts_and_fuel_are_the_same_in_workers(first_run: list[Verdict], run: int) -> None:
    assert differences(in_workers(), first_run) == []


def test_verdicts_and_fuel_are_the_same_in_interpreters_with_other_hash_seeds(
    first_run: list[Verdict],
) -> None:
    with ThreadPoolExecutor(2) as threads:
        forward = threads.submit(in_an_interpreter, "in_order", 1)
        backward = threads.submit(in_an_interpreter, "from_the_last", MAX_HASH_SEED)
        assert forward.result() == repr(first_run)
        assert backward.result() == repr(first_run)


def test_verdicts_and_fuel_are_the_same_in_threads_workers_and_interpreters_on_busy_cores(
    first_run: list[Verdict],
) -> None:
    with every_core_busy(), ThreadPoolExecutor(1) as threads:
        other = threads.submit(in_an_interpreter, "from_the_last", 7)
        assert differences(in_threads(2), first_run) == []
        assert differences(in_workers(), first_run) == []
        assert other.result() == repr(first_run)


def test_verdicts_and_fuel_of_functions_and_texts_are_the_same_everywhere() -> None:
    expected = judged_samples()
    assert len({verdict.outcome for verdict in expected}) >= 7
    assert judged_samples() == expected
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: judged_samples(), range(2))) == [expected, expected]
    with every_core_busy():
        assert list(judge_completions(SAMPLES, LIMITS, 2, remember=False)) == expected
        assert in_an_interpreter("judged_samples", 7) == repr(expected)


def test_functions_that_end_their_test_disturb_no_other_thread() -> None:
    """Such a call leaves the checker by an exception, through the engine."""
    exits = "import os\ndef g(): os._exit(0)"

    def outcome(number: int) -> Outcome:
        if number % 2:
            return judge_function(ADD, "    import os; os._exit(0)\n", LIMITS).outcome
        return judge("def f(x: int): return x == 1", exits, LIMITS).outcome

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(outcome, range(1_000))) == {Outcome.forbidden}
