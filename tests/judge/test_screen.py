"""Screening: the same accept or reject as judging alone, whatever stands beside a program."""

import ast
import gzip
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from judge import Limits, Outcome, Verdict, judge, judge_many
from judge.pair import decide
from judge.screen import Shared, screen

LIMITS = Limits(fuel=500_000_000)
F = "def f(x: int, n=7, items=[1, 2]): return x == n + len(items)"
RIGHT = "def g(n, items): return n + len(items)"
MEDDLERS = {
    "builtins": "import builtins\nbuiltins.len = lambda x: 0\ndef g(n, items): return 0",
    "builtins by name": "def g(n, items):\n    __builtins__['len'] = max\n    return 0",
    "builtins by globals": "def g(n, items):\n    globals()['len'] = max\n    return 0",
    "global statement": "def g(n, items):\n    global len\n    len = max\n    return 0",
    "module level name": "len = max\ndef g(n, items): return 0",
    "own names": "x = 5\nn = 9\nsorted = None\ndef g(n, items): return x",
    "f by name": "f = None\ndef g(n, items): return 0",
    "f by def": "def f(x): return True\ndef g(n, items): return 0",
    "f's code": "def h(x, n=7, items=[]): return False\nf.__code__ = h.__code__\ndef g(n, items): return 0",
    "f's defaults": "f.__defaults__ = (1, [])\ndef g(n, items): return 0",
    "f's inputs": "def g(n, items):\n    items.append(3)\n    f(0)\n    return 0",
    "f's globals": "f.__globals__['len'] = max\ndef g(n, items): return 0",
    "f deleted": "del f\ndef g(n, items): return 0",
    "modules": "import sys\nsys.modules.clear()\ndef g(n, items): return 0",
    "modules through typing": "import typing\ntyping.sys.modules.clear()\ndef g(n, items): return 0",
    "modules through functools": "import collections\ndef g(n, items):\n    collections._sys.modules.clear()\n    return 0",
    "a module's function": "import math\nmath.floor = None\ndef g(n, items): return 0",
    "by setattr": "import math\ndef g(n, items): setattr(math, 'pi', 3)",
    "by class": "class A:\n    def __eq__(self, o): return True\ndef g(n, items): return A()",
    "by type": "def g(n, items): return type('A', (int,), {})(9)",
    "by frame": "def g(n, items):\n    def h(): yield\n    h().gi_frame.f_globals['f'] = None\n    return 0",
    "by traceback": "def g(n, items):\n    try: 1 / 0\n    except Exception as e: e.__traceback__.tb_frame.f_globals['len'] = max\n    return 0",
    "by string": "def g(n, items):\n    eval('__import__(\"builtins\").__dict__').update(len=max)\n    return 0",
    "by formatter": "import string\ndef g(n, items):\n    string.Formatter().get_field('0.__globals__', (f,), {})[0]['len'] = max\n    return 0",
    "by get_type_hints": "import typing\ndef h(x: 'globals().update(len=max)'): pass\ntyping.get_type_hints(h)\ndef g(n, items): return 0",
    "by registering": "import collections.abc\ncollections.abc.Sized.register(int)\ndef g(n, items): return 0",
    "recursion limit": "import sys\nsys.setrecursionlimit(50)\ndef g(n, items): return 0",
    "random state": "import random\nrandom.seed(5)\ndef g(n, items): return 0",
    "the clock": "import time\ntime.sleep(4)\ndef g(n, items): return 0",
    "a thread": "import threading\ndef g(n, items): return 0",
    "exit": "import sys\nsys.exit()\ndef g(n, items): return 0",
    "os exit": "import os\nos._exit(0)\ndef g(n, items): return 0",
    "endless": "def g(n, items):\n    while True: pass",
    "endless, stubborn": "def g(n, items):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "endless finalizer": "def h():\n    try: yield\n    finally:\n        while True: pass\nk = h()\nnext(k)\ndef g(n, items): return 0",
    "endless recursion": "def g(n, items): return g(n, items)",
    "recursion in C": "def g(n, items):\n    a = []\n    for _ in range(10 ** 5): a = [a]\n    return repr(a)",
    "memory": "def g(n, items): return [0] * 10 ** 8 and 0",
    "all memory": "def g(n, items):\n    a = []\n    while True: a.append('x' * 10 ** 6 + str(len(a)))",
    "memory that is kept": "a = []\ndef g(n, items):\n    a.append(bytearray(3 * 10 ** 8))\n    return 0",
    "too large": "def g(n, items): return 'x' * 10 ** 7",
    "no g": "h = 1",
    "syntax": "def g(n, items",
    "the wrong type": "def g(n, items): return True",
    "a generator": "def g(n, items): yield 9",
    "collector": "import gc\ngc.disable()\ngc.set_threshold(1)\ndef g(n, items): return 0",
}


def alone(f: str, g: str) -> Verdict:
    return judge(f, g, LIMITS)


def passes(f: str, gs: list[str]) -> list[bool]:
    return [verdict.passed for verdict in screen(f, gs, LIMITS, alone)]


@pytest.mark.parametrize("name", MEDDLERS)
def test_what_one_attempt_does_changes_nothing_for_the_next(name: str) -> None:
    calls_f = "def g(n, items): return [i for i in range(99) if f(i)][0]"
    assert passes(F, ["def g(n, items): return 1", MEDDLERS[name], RIGHT, calls_f]) == [
        False,
        False,
        True,
        True,
    ]


def test_all_meddlers_together_change_nothing() -> None:
    gs = [g for meddler in MEDDLERS.values() for g in (meddler, RIGHT)]
    assert passes(F, gs) == [g == RIGHT for g in gs]


@pytest.mark.parametrize(
    "f",
    [
        "seen = []\ndef f(x: int):\n    seen.append(x)\n    return len(seen) == 1 and x == 3",
        "count = 0\ndef f(x: int):\n    global count\n    count += 1\n    return count == 1 and x == 3",
        "def f(x: int, n=[]):\n    n.append(x)\n    return n == [3]",
        "def h(x, seen=[]):\n    seen.append(x)\n    return seen\ndef f(x: int): return h(x) == [3]",
        "def f(x: int):\n    f.seen = getattr(f, 'seen', 0) + 1\n    return f.seen == 1 and x == 3",
        "def make():\n    seen = []\n    def f(x: int):\n        seen.append(x)\n        return seen == [3]\n    return f\nf = make()",
        "import random\ndef f(x: int): return random.random() > 0.8 and x == 3",
        "class C: seen = 0\ndef f(x: int):\n    C.seen += 1\n    return C.seen == 1 and x == 3",
        "def f(x: int):\n    if x > 3:\n        while True: pass\n    return x == 3",
        "def f(x: int): return 1 / (x - 1) and x == 3",
        "from typing import *\nfrom collections import Counter\nimport math, re\ndef f(x: int): return math.floor(x) == len(Counter('abc'))",
    ],
)
def test_an_f_that_keeps_something_is_asked_alone(f: str) -> None:
    inputs = "n" if "n=[]" in f else ""
    gs = [f"def g({inputs}): return {i}" for i in (1, 2, 3, 4, 3, 5)]
    assert passes(f, gs) == [alone(f, g).passed for g in gs]
    assert passes(f, [g.replace("return", "return 0 +") for g in gs]) == passes(f, gs)


def test_attempts_that_leave_nothing_share_an_instance() -> None:
    """Otherwise screening would be slower than judging alone, and nothing would tell."""
    honest = [
        "from typing import List\ndef g(n: int, items: List[int]) -> int: return sum(i for i in items)",
        "import math, itertools\nfrom collections import Counter, deque\nfrom functools import reduce\ndef g(n, items):\n    d = deque(items)\n    d.append(3)\n    return reduce(max, map(math.gcd, d, d))",
        "def g(n, items):\n    def gen():\n        yield from items\n    return sorted(gen(), key=lambda i: -i)",
        "def h(x): return x * 2\ndef g(n, items): return [h(i) for i in range(9) if f(i)]",
        "def g(n, items): return int(str(n).replace('7', '9'))\nassert True",
        "def g(n, items):\n    print(n)\n    return {i: '%d' % i for i in items}",
    ]
    attempts = Shared(F, LIMITS).attempts(honest)
    assert all(attempt.answer is not None for attempt in attempts)


def test_a_rejection_is_the_same_for_the_same_rows() -> None:
    gs = [f"def g(n, items): return {i}" for i in range(40)] + [*MEDDLERS.values(), RIGHT]
    pairs = [(F, g) for g in gs]
    one = list(judge_many(pairs, LIMITS, mode="screen"))
    assert list(judge_many(pairs, LIMITS, num_workers=2, mode="screen")) == one
    before = [(F, "def g(n, items): return 99")] * 128
    assert list(judge_many([*before, *pairs], LIMITS, mode="screen"))[128:] == one


def test_groups_end_where_f_changes_and_after_128() -> None:
    other = F.replace("n=7", "n=8")
    rows = [(F, RIGHT), *[(F, f"def g(n, items): return {i}") for i in range(200)], (other, RIGHT)]
    verdicts = list(judge_many([*rows, (F, RIGHT)], LIMITS, mode="screen"))
    expected = [True, *[i == 9 for i in range(200)], True, True]
    assert [verdict.passed for verdict in verdicts] == expected


def test_a_pass_is_the_verdict_that_it_would_get_alone() -> None:
    gs = ["def g(n, items): return 0", RIGHT, "def g(n, items): return 9"]
    found = screen(F, gs, LIMITS, alone)
    assert found[1:] == [alone(F, g) for g in gs[1:]]
    assert found[0].outcome is Outcome.wrong_answer and found[0].answer == "0"


@pytest.mark.parametrize(("remember", "num_judged"), [(True, 2), (False, 6)])
def test_equal_attempts_are_judged_once_where_they_may_be_remembered(
    remember: bool, num_judged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def counting(f: str, g: str, limits: Limits, **more: Any) -> Verdict:
        judged.append(g)
        return decide(f, g, limits, **more)

    monkeypatch.setattr("judge.many.decide", counting)
    gs = [RIGHT, "def g(n, items): return 9", "def g(n, items): return 0"] * 3
    found = list(judge_many([(F, g) for g in gs], LIMITS, mode="screen", remember=remember))
    assert [verdict.passed for verdict in found] == [True, True, False] * 3
    assert len(judged) == num_judged


@pytest.fixture(scope="module")
def shared() -> Path:
    folder = Path(os.environ.get("SELFTRAIN_SHARED", Path(__file__).parents[3] / "shared"))
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    return folder / "data"


def both_modes_agree(pairs: list[tuple[str, str]]) -> int:
    """Judge in both modes; return how many passed."""
    limits = Limits(fuel=1_000_000_000)
    strict = [verdict.passed for verdict in judge_many(pairs, limits, 2)]
    assert [v.passed for v in judge_many(pairs, limits, 2, mode="screen")] == strict
    return sum(strict)


def test_both_modes_agree_on_the_shared_attacks(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "attacks.jsonl").read_text().splitlines()]
    by_f: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_f[row["f"]].append(row["g"])
    groups = by_f.items()
    both_modes_agree([(f, g) for f, gs in groups for g in [*gs, *gs[::-1], "def g(): return 0"]])


def test_both_modes_agree_on_codex_programs_among_wrong_ones(shared: Path) -> None:
    with gzip.open(shared / "p3/codex_cushman_med.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if len(row["bodies"]) >= 4][::20]
    pairs = []
    for row, *others in zip(rows, rows[1:] + rows, rows[2:] + rows, strict=False):
        f = "from typing import *\n" + row["f"]
        inputs = ast.parse(f).body[-1].args  # type: ignore[attr-defined]
        names = [argument.arg for argument in inputs.args[1:]]
        own = [body for body, _ in row["bodies"][:8]]
        borrowed = [body for other in others for body, _ in other["bodies"][:8]]
        pairs += [(f, f"def g({', '.join(names)}):{body}") for body in (*own, *borrowed)]
    assert both_modes_agree(pairs) > 30


ESCAPES = {
    "a class pattern": "import math\ndef g(n, items):\n    match math:\n        case object(__dict__=d): d['floor'] = None\n    return 1",
    "a class pattern on a function": "def g(n, items):\n    match f:\n        case object(__builtins__=d): d['len'] = max\n    return 1",
    "a forward reference": "import typing\ndef g(n, items):\n    u = '_'.join(['', '', 'import', '', ''])\n    typing.get_args(List['set' + 'attr(' + u + '(\"math\"), \"floor\", max)'])[0].evaluate()\n    return 1",
    "an attribute error's object": "import math\ndef g(n, items):\n    s = '_'.join(['{0.', '', 'dict', '', '.x}'])\n    try: s.format(math)\n    except AttributeError as e: e.obj['floor'] = None\n    return 1",
    "a mark of typing": "import typing, math\ndef g(n, items):\n    typing.final(math)\n    return 1",
    "a type that typing remembers": "def g(n, items): return repr(List[7.0])",
    "a large answer": "def g(n, items): return bytes(500_000_000)",
    "much to drop": "def g(n, items):\n    a = list(zip(range(300_000)))\n    raise ValueError",
}
SENSITIVE = [
    "import math\ndef g(n, items): return math.floor(9.5)",
    "def g(n, items): return 9 if repr(List[7]) == 'typing.List[7]' else 0",
    "import math\ndef g(n, items): return 9 if len(dir(math)) == len(dir(math)) else 0",
    "def g(n, items):\n    try: return len(bytes(700_000_000)) * 0 + 9\n    except MemoryError: return 0",
    "def d(k): return 0 if k == 0 else 1 + d(k - 1)\ndef g(n, items):\n    try: return d(5994) * 0 + 9\n    except RecursionError: return -1",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_what_looks_harmless_changes_nothing_for_the_next(name: str) -> None:
    gs = [ESCAPES[name], *SENSITIVE, ESCAPES[name], ESCAPES[name] + "\n", *SENSITIVE, RIGHT]
    assert passes(F, gs) == [alone(F, g).passed for g in gs]


@pytest.mark.parametrize(
    "f",
    [
        "memo = {}\ndef f(x: int):\n    memo[len(memo)] = x\n    return len(memo) == 1 and x == 7",
        "memo = {}.setdefault\ndef f(x: int): return memo(0, x) == 7",
        "pop = [7, 6, 5, 4].pop\ndef f(x: int): return pop() == 4 and x == 7",
        "def f(x: int, m={}.setdefault): return m(0, x) == 7",
        "from collections import namedtuple\nP = namedtuple('P', 'seen', defaults=[[]])\ndef f(x: int):\n    s = P().seen\n    s.append(x)\n    return len(s) == 1 and x == 7",
        "def f(x: int, h=lambda v, acc=[]: (acc.append(v), len(acc))[1]): return h(x) == 1 and x == 7",
        "import functools\ndef f(x: int, c=functools.lru_cache(lambda v: v)):\n    c(x)\n    return c.cache_info().misses == 1 and x == 7",
        "def h(): pass\ndef f(x: int):\n    match h:\n        case object(__dict__=d):\n            d[len(d)] = x\n            return len(d) == 1 and x == 7",
        "def r(k):\n    try: return r(k + 1)\n    except RecursionError: return k\ndef f(x: int): return r(0) == x",
    ],
)
def test_an_f_that_keeps_something_in_another_way_is_asked_alone(f: str) -> None:
    names = f.partition("def f(x: int")[2].partition("):")[0].strip(", ").partition("=")[0]
    gs = [f"def g({names}): return {i}" for i in (5, 7, 5990, 5991, 5992, 5993, 5994, 5995, 7)]
    assert passes(f, gs) == [alone(f, g).passed for g in gs]
