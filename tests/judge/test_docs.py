"""docs/judge.md says what is: its examples are run, and its tables are compared with the guest."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from judge import Limits, Outcome, records, run
from selftrain.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
IMPORTS = "import copy, datetime, functools, json, os, pickle, random, struct, sys, time\n"
"""What the page leaves out of its programs."""
MODULES_SOURCE = """
def g():
    import sys
    found = {}
    for name in sys.stdlib_module_names:
        if not name.startswith("_") or name == "__future__":
            try:
                __import__(name)
            except ImportError:
                found[name] = "absent"
            else:
                found[name] = "present"
    return found
"""


def table(heading: str) -> list[list[str]]:
    """Return the cells of the table whose heading begins so."""
    (rows,) = re.findall(rf"^\| {re.escape(heading)}.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.M)
    return [re.split(r" *\| *", line)[1:-1] for line in rows.splitlines()]


def code(cell: str) -> list[str]:
    """Return what stands between backticks."""
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", PAGE, re.S))
def test_a_python_example_prints_what_stands_below_it(example: str, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(example, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert printed == re.findall(r"^# (.*)$", example, re.M)


def test_the_commands_print_what_stands_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.S)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
    judged = 0
    for part in parts:
        command, _, text = part.partition("\n")
        words = command.split()
        if words[0] == "cat":
            Path(words[1]).write_text(text, encoding="utf-8")
        elif words[:2] == ["selftrain", "judge"]:
            assert main(words[1:]) == 0
            assert without_costs(capsys.readouterr().out) == without_costs(text)
            judged += 1
    assert judged == 2


def without_costs(text: str) -> str:
    """Blot out fuel, which differs from guest to guest, and time."""
    return re.sub(r'"(fuel|seconds)": [\d.]+', "", text)


def test_outcomes_are_as_their_docstrings_say() -> None:
    (body,) = [
        node.body
        for node in ast.parse(inspect.getsource(records)).body
        if isinstance(node, ast.ClassDef) and node.name == "Outcome"
    ]
    said = [
        " ".join(ast.literal_eval(after.value).split())
        for before, after in pairwise(body)
        if isinstance(before, ast.Assign) and isinstance(after, ast.Expr)
    ]
    rows = table("outcome")
    assert rows == [[f"`{o}`", text] for o, text in zip(Outcome, said, strict=True)]


def test_modules_are_present_or_absent_as_in_the_guest() -> None:
    answer = run(MODULES_SOURCE).answer
    assert answer is not None
    named = [
        (name, "absent" if here == "absent" else "present")
        for modules, here, _ in table("modules")
        for name in code(modules)
    ]
    assert len(named) == len(dict(named))
    assert dict(named) == ast.literal_eval(answer)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import threading\ndef g(): threading.Thread(target=print).start()", Outcome.raised),
        ("import queue\ndef g(): queue.Queue().get()", Outcome.timed_out),
        ("import asyncio\nasync def a(): pass\ndef g(): asyncio.run(a())", Outcome.timed_out),
        ("import select\ndef g(): select.select([], [], [], 0)", Outcome.timed_out),
        ("import subprocess\ndef g(): subprocess.run(['a'])", Outcome.raised),
        ("import multiprocessing as m\ndef g(): m.Process(target=print).start()", Outcome.forbidden),
        ("import socket\ndef g(): socket.socket()", Outcome.forbidden),
        ("import urllib.request as u\ndef g(): u.urlopen('http://a')", Outcome.forbidden),
        ("import os\ndef g(): return 1 / (not os.path.exists('a'))", None),
        ("import os\ndef g(): os.times()", Outcome.timed_out),
        ("import uuid\ndef g(): uuid.uuid1()", Outcome.forbidden),
        ("import inspect\ndef g(): inspect.getsource(g)", Outcome.raised),
        ("import mimetypes\ndef g(): return mimetypes.guess_type('a.html')", None),
        ("import cProfile\ndef g(): cProfile.run('1')", Outcome.timed_out),
        ("import calendar\ndef g(): calendar.LocaleTextCalendar('en_US').formatmonth(1, 1)", Outcome.raised),
        ("def g():\n    try: open('a')\n    except PermissionError: return 1", None),
        ("import doctest\ndef g(): doctest.testmod()", None),
        ("import sqlite3\ndef g(): return sqlite3.connect(':memory:').execute('select 1').fetchall()", None),
        ("import hashlib\ndef g(): return hashlib.md5(hashlib.sha256(b'').digest()).digest()", None),
        ("import numpy\ndef g(): return 1", Outcome.forbidden),
    ],
)  # fmt: skip
def test_a_module_is_limited_as_the_table_says(program: str, expected: Outcome | None) -> None:
    assert run(program).failure is expected


@pytest.mark.parametrize(("programs", "here"), [(row[0], row[2]) for row in table("program")])
def test_a_program_comes_to_what_the_table_says(programs: str, here: str) -> None:
    for program in code(programs):
        source = f"{IMPORTS}def g(): return {program}"
        ran = run(source)
        if here == "the same on every run":
            assert ran.failure is None and run(source).answer == ran.answer
        else:
            assert code(here)[0] == (ran.failure or ran.answer)
            assert all(word in ran.detail for word in re.findall(r"\((\w+Error)", here))


def nested(expression: str) -> Callable[[int], str]:
    """Return a program that makes a list of some depth, and evaluates the expression on it."""
    return lambda n: (
        f"{IMPORTS}def g():\n    a = []\n    for _ in range({n}): a = [a]\n    {expression}"
    )


def recursive(step: str, decorator: str = "") -> Callable[[int], str]:
    """Return a program whose h calls itself to some depth, in its last step."""
    return lambda n: f"{IMPORTS}{decorator}\ndef h(n):\n    if n: {step}\ndef g(): h({n})"


DEPTHS: dict[str, Callable[[int], str]] = {
    "own calls": recursive("h(n - 1)"),
    "`repr`": nested("repr(a)"),
    "`pickle.dumps`": nested("pickle.dumps(a)"),
    "`copy.deepcopy`": nested("copy.deepcopy(a)"),
    "`functools.cache`": recursive("h(n - 1)", "@functools.cache"),
    "`sum`": recursive("sum(h(k) or 0 for k in [n - 1])"),
    "`sorted`": recursive("sorted([n - 1], key=h)"),
    "brackets": lambda n: f"def g(): return {'[' * n}{']' * n} and 1",
    "`1 + 1 + ...`": lambda n: f"def g(): return {'1 + ' * n}1",
    "`elif`": lambda n: (
        "def g():\n    x = 1\n    if x == 0: pass\n" + "    elif x == 2: pass\n" * n
    ),
}


@pytest.mark.parametrize("row", table("nesting by"), ids=lambda row: row[0])
def test_nesting_ends_where_the_table_says(row: list[str]) -> None:
    (program,) = [make for start, make in DEPTHS.items() if row[0].startswith(start)]
    works, ends = (int(cell.replace(",", "")) for cell in row[1:3])
    assert run(program(works)).failure is None
    assert run(program(ends)).failure in (Outcome.raised, Outcome.syntax_error)


def test_the_limit_of_calls_can_be_raised() -> None:
    for make, n in ((DEPTHS["own calls"], 200_000), (DEPTHS["`copy.deepcopy`"], 100_000)):
        ran = run("import sys\nsys.setrecursionlimit(10**6)\n" + make(n))
        assert ran.failure is None


def test_the_same_program_uses_the_same_fuel_and_the_default_is_as_said() -> None:
    source = "def g(): return sum(i * i for i in range(100_000))"
    assert run(source) == run(source)
    assert Limits() == Limits(fuel=20_000_000_000, memory_bytes=2**30)
