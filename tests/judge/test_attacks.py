"""Programs that try to be accepted wrongly, to hang or to break the judge.

They are ours and the shared ones. Every exploit ever found becomes a line here.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from judge import Limits, Outcome, judge

SHARED = Path(os.environ.get("SELFTRAIN_SHARED", Path(__file__).parents[3] / "shared"))
ATTACKS = SHARED / "data" / "attacks.jsonl"
QUICK = Limits(fuel=1_000_000_000)
ROOMY = Limits(fuel=6_000_000_000)
EQUALS_8 = "def f(x: int, n=8):\n    return x == n\n"

REASONS = {
    "false": {Outcome.wrong_answer},
    "not-true": {Outcome.wrong_answer},
    "type": {Outcome.wrong_type, Outcome.too_large},
    "timeout": {Outcome.timed_out, Outcome.f_timed_out},
    "memory": {Outcome.out_of_memory, Outcome.f_out_of_memory},
    "error": {Outcome.raised, Outcome.f_raised, Outcome.syntax_error, Outcome.no_g},
    "no-answer": {Outcome.forbidden},
    "crash": {Outcome.crashed},
    "too-large": {Outcome.too_large},
}
"""What the shared file's reasons are called here."""
MISSING = {Outcome.forbidden, Outcome.raised}
"""What becomes of an attack whose tool does not exist in the guest; a rejection all the same."""
TOOL_IS_MISSING = {
    "loop-signals-off",
    "loop-raise-limits",
    "stop-self",
    "memory-scan",
    "null-deref",
    "fork-outlive",
    "ptrace-parent",
    "file-write",
    "network",
}


def shared_attacks() -> list[dict[str, str]]:
    if not ATTACKS.exists():
        return []
    return [json.loads(line) for line in ATTACKS.read_text().splitlines()]


@pytest.mark.skipif(not ATTACKS.exists(), reason=f"{ATTACKS} is not here")
@pytest.mark.parametrize("attack", shared_attacks(), ids=lambda attack: str(attack["id"]))
def test_shared_attack_has_its_verdict(attack: dict[str, str]) -> None:
    verdict = judge(attack["f"], attack["g"], ROOMY)
    if attack["expected"] == "accept":
        assert verdict.outcome is Outcome.passed, verdict
        return
    expected = set[Outcome]()
    for reason in attack["expected"].removeprefix("reject:").split("-or-"):
        expected |= REASONS[reason]
    if attack["id"] in TOOL_IS_MISSING:
        expected |= MISSING
    assert verdict.outcome in expected, verdict


REJECTED: dict[str, tuple[str, Any, str]] = {
    "equals everything": (
        EQUALS_8,
        "class E:\n    def __eq__(s, o): return True\ndef g(n): return E()",
        Outcome.wrong_type,
    ),
    "int subclass": (EQUALS_8, "class I(int): pass\ndef g(n): return I(n)", Outcome.wrong_type),
    "subclass inside a list": (
        "def f(x: list): return x[0] == 'a'",
        "class S(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\n"
        "def g(): return [S('b')]",
        Outcome.wrong_type,
    ),
    "enum member": (
        EQUALS_8,
        "import enum\nclass E(enum.IntEnum):\n    a = 8\ndef g(n): return E.a",
        Outcome.wrong_type,
    ),
    "bool in a list of int": (
        "def f(x: List[int]): return sum(x) == 1",
        "def g(): return [True]",
        Outcome.wrong_type,
    ),
    "int for float": ("def f(x: float): return x == 2", "def g(): return 2", Outcome.wrong_type),
    "float for int": (EQUALS_8, "def g(n): return 8.0", Outcome.wrong_type),
    "tuple for list": ("def f(x: list): return len(x) == 1", "def g(): return (1,)", "wrong_type"),
    "decimal": (
        EQUALS_8,
        "import decimal\ndef g(n): return decimal.Decimal(8)",
        Outcome.wrong_type,
    ),
    "generator function": (EQUALS_8, "def g(n): yield 8", Outcome.wrong_type),
    "class as g": (EQUALS_8, "class g:\n    def __init__(self, n): pass", Outcome.wrong_type),
    "one instead of True": ("def f(x: int): return 1", "def g(): return 0", Outcome.wrong_answer),
    "truthy object of f": ("def f(x: int): return [x]", "def g(): return 0", Outcome.wrong_answer),
    "patched f in the caller": (
        EQUALS_8,
        "import sys\ndef g(n):\n    sys._getframe(1).f_globals['f'] = lambda *a, **k: True\n"
        "    globals()['f'] = lambda *a, **k: True\n    return 0",
        Outcome.wrong_answer,
    ),
    "patched defaults of f": (
        EQUALS_8,
        "def g(n):\n    f.__defaults__ = (0,)\n    return 0",
        Outcome.wrong_answer,
    ),
    "own default instead of the input": (
        EQUALS_8,
        "def g(n=9): return n + (n == 8)",
        Outcome.wrong_answer,
    ),
    "replaced judge, forging a pass": (
        EQUALS_8,
        'import sys\ndef g(n): return 0\nsys.modules["app"].encode = lambda *a: \'["passed",""]\'',
        Outcome.crashed,
    ),
    "replaced judge, forging an unhashable key": (
        "def f(x): return True",
        "import sys\ndef g(): return 0\n"
        'sys.modules["app"].encode = lambda *a: \'["answer",{"s":[[1]]}]\'',
        Outcome.crashed,
    ),
    "replaced judge, flooding the host": (
        EQUALS_8,
        "import sys\ndef g(n): return 0\nsys.modules['app'].encode = lambda *a: 'x' * 200_000_000",
        Outcome.crashed,
    ),
    "raising the judge's own failure": (
        EQUALS_8,
        "import sys\ndef g(n): raise sys.modules['app'].Failure('passed', '')",
        Outcome.crashed,
    ),
    "exit in a finally": (
        EQUALS_8,
        "def g(n):\n    try:\n        return 0\n    finally:\n        raise SystemExit",
        Outcome.raised,
    ),
    "keyboard interrupt": (EQUALS_8, "def g(n): raise KeyboardInterrupt", Outcome.raised),
    "exception with an endless message": (
        EQUALS_8,
        "class E(Exception):\n    def __str__(self):\n        while True: pass\ndef g(n): raise E",
        Outcome.timed_out,
    ),
    "bare except around an endless loop": (
        EQUALS_8,
        "def g(n):\n    while True:\n        try:\n            while True: pass\n"
        "        except: pass",
        Outcome.timed_out,
    ),
    "endless regular expression": (
        EQUALS_8,
        "import re\ndef g(n): return bool(re.match('(a+)+$', 'a' * 40 + 'b'))",
        Outcome.timed_out,
    ),
    "endless search in C": (
        EQUALS_8,
        "import itertools\ndef g(n): return 'a' in itertools.repeat('b')",
        Outcome.timed_out,
    ),
    "huge power": (EQUALS_8, "def g(n): return 10 ** 10 ** 8", Outcome.timed_out),
    "sleeping caught": (
        EQUALS_8,
        "import time\ndef g(n):\n    try:\n        time.sleep(1e9)\n    except BaseException:\n"
        "        pass\n    return 8",
        Outcome.timed_out,
    ),
    "sleeping in small steps": (
        EQUALS_8,
        "import time\ndef g(n):\n    for _ in range(1000): time.sleep(0.1)\n    return 8",
        Outcome.timed_out,
    ),
    "sleeping module body": (
        EQUALS_8,
        "import time\ntime.sleep(1e6)\ndef g(n): return 8",
        Outcome.timed_out,
    ),
    "deadlock": (
        EQUALS_8,
        "import threading\ndef g(n):\n    lock = threading.Lock()\n    lock.acquire()\n"
        "    lock.acquire()\n    return 8",
        Outcome.timed_out,
    ),
    "list beyond memory": (EQUALS_8, "def g(n): return [0] * 5 * 10 ** 8", Outcome.out_of_memory),
    "text beyond 32 bits": (EQUALS_8, "def g(n): return 'a' * 10 ** 12", Outcome.out_of_memory),
    "recursion in Python": (EQUALS_8, "def g(n): return g(n)", Outcome.raised),
    "recursion in C": (
        EQUALS_8,
        "import sys\nsys.setrecursionlimit(10 ** 9)\ndef g(n): return max([n], key=g)",
        Outcome.raised,
    ),
    "deep repr": (
        EQUALS_8,
        "def g(n):\n    x = ()\n    for _ in range(100_000): x = (x,)\n    return len(repr(x))",
        Outcome.timed_out,
    ),
    "endless answer": (
        "def f(x): return True",
        "def g():\n    x = []\n    x.append(x)\n    return x",
        Outcome.too_large,
    ),
    "long answer": ("def f(x): return True", "def g(): return 'a' * 10 ** 7", Outcome.too_large),
    "long int": ("def f(x): return True", "def g(): return 1 << 10 ** 7", Outcome.too_large),
    "abort": (EQUALS_8, "import os\ndef g(n): os.abort()", Outcome.crashed),
    "exit of the process": (EQUALS_8, "import os\ndef g(n): os._exit(0)", Outcome.forbidden),
    "absent module": (EQUALS_8, "import numpy\ndef g(n): return 8", Outcome.forbidden),
    "file": (EQUALS_8, "def g(n): return len(open('/etc/passwd').read())", Outcome.forbidden),
    "directory": (EQUALS_8, "import os\ndef g(n): return len(os.listdir())", Outcome.forbidden),
    "empty input": (EQUALS_8, "def g(n): return int(input())", Outcome.raised),
    "syntax error": (EQUALS_8, "def g(n) return 8", Outcome.syntax_error),
    "NUL": (EQUALS_8, "def g(n): return 8\0", Outcome.syntax_error),
    "lone surrogate in the source": (EQUALS_8, "g = '\ud800'", Outcome.syntax_error),
    "10,000 brackets": (EQUALS_8, "(" * 10_000 + ")" * 10_000, Outcome.syntax_error),
    "source that is no text": (EQUALS_8, 8, Outcome.syntax_error),
    "10 MB of source": (EQUALS_8, "#" * 10_000_000, Outcome.too_large),
    "no g": (EQUALS_8, "def h(n): return 8", Outcome.no_g),
    "empty source": (EQUALS_8, "", Outcome.no_g),
    "g of f": (EQUALS_8 + "def g(n): return n\n", "x = 1", Outcome.no_g),
    "g is no function": (EQUALS_8, "g = 8", Outcome.raised),
    "g without the input": (EQUALS_8, "def g(): return 8", Outcome.raised),
    "g with another name": (EQUALS_8, "def g(m): return 8", Outcome.raised),
    "raising module body": (EQUALS_8, "def g(n): return 8\n1 / 0", Outcome.raised),
    "f does not compile": ("def f(x: int", "def g(): return 8", Outcome.f_syntax_error),
    "f is absent": ("x = 1", "def g(): return 8", Outcome.f_raised),
    "f without answer": ("def f(): return True", "def g(): return 8", Outcome.f_raised),
    "f with an input but no value": (
        "def f(x: int, n): return True",
        "def g(n): return 8",
        Outcome.f_raised,
    ),
    "f with a bad annotation": (
        "def f(x: Nothing): return True",
        "def g(): return 8",
        Outcome.f_raised,
    ),
    "f with an untestable annotation": (
        "def f(x: Callable): return True",
        "def g(): return 8",
        Outcome.wrong_type,
    ),
    "f exits": ("def f(x: int): raise SystemExit(0)", "def g(): return 8", Outcome.f_raised),
    "f loops when loaded": ("while True: pass", "def g(): return 8", Outcome.f_timed_out),
    "f loops on the answer": (
        "def f(x: int):\n    while x: pass",
        "def g(): return 8",
        Outcome.f_timed_out,
    ),
    "f sleeps": (
        "import time\ndef f(x: int):\n    time.sleep(100)\n    return True",
        "def g(): return 8",
        Outcome.f_timed_out,
    ),
    "f wants memory": (
        "def f(x: int): return len(bytearray(x)) > 0",
        "def g(): return 2 * 10 ** 9",
        Outcome.f_out_of_memory,
    ),
    "f imports what is absent": (
        "import numpy\ndef f(x: int): return True",
        "def g(): return 8",
        Outcome.f_forbidden,
    ),
    "10 MB of f": ("#" * 10_000_000, "def g(): return 8", Outcome.f_too_large),
}


@pytest.mark.parametrize("name", REJECTED)
def test_attack_is_rejected_for_its_reason(name: str) -> None:
    f, g, outcome = REJECTED[name]
    verdict = judge(f, g, QUICK)
    assert verdict.outcome == outcome, verdict


def test_endless_loop_ends_at_the_default_limits() -> None:
    verdict = judge(EQUALS_8, "def g(n):\n    while True: pass")
    assert (verdict.outcome, verdict.fuel) == (Outcome.timed_out, 20_000_000_000)


def test_marks_of_one_program_are_gone_for_the_next() -> None:
    write = "import math\ndef g(n):\n    math.left_behind = 1\n    return 8"
    read = "import math\ndef g(n): return 8 if hasattr(math, 'left_behind') else 0"
    assert judge(EQUALS_8, write).passed
    assert judge(EQUALS_8, read).outcome is Outcome.wrong_answer
