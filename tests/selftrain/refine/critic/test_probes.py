"""Only literal calls are run, each alone in the judge, and no hidden test is at hand there."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import Case, JudgeError, Limits
from puzzles import puzzle_from_source
from selftrain.config import JudgeConfig
from selftrain.judge import Judging
from selftrain.refine.critic.probe import Probe
from selftrain.refine.critic.probes import read_probes, run_probes
from selftrain.refine.tasks.task import Kind, RefineTask

JUDGING = Judging(Limits(fuel=1_000_000_000), "strict", False, JudgeConfig(num_workers=1))
CANARY = "canary_7f3a91"
ADD = RefineTask(
    "add",
    Kind.function,
    'def add(a, b):\n    """Add."""\n',
    entry_point="add",
    parameters="a, b",
    preamble="import math\n",
    canary=CANARY,
)
PUZZLE = RefineTask(
    "p",
    Kind.puzzle,
    "",
    entry_point="g",
    puzzle=puzzle_from_source("def f(x: int, a=17, b=4):\n    return x == a + b", name="p"),
)
PROGRAM = RefineTask("sum", Kind.program, "Print the sum.", examples=(Case("1 2\n", "3\n"),))
SUM = "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n"


def ran(task: RefineTask, source: str, *calls: str, characters: int = 300) -> list[str]:
    ((*probes,),) = run_probes([(task, source, calls)], JUDGING, characters)
    assert [probe.call for probe in probes] == list(calls)
    return [probe.result for probe in probes]


@pytest.mark.parametrize(
    "text",
    [
        "add(1, -2)",
        "I would call `add(1, -2)` first.",
        ">>> add(1, -2)\n-1",
        "- add(1,-2)  # negative",
        "1. print(add(1, -2))",
        "assert add(1, -2) == -1",
        "```python\nadd(1, -2)\n```",
        '["add(1, -2)"]',
        '{"calls": ["add(1, -2)"]}',
        '{"calls": [{"call": "add(1, -2)", "why": "a sign"}]}',
        "<think>add(5, 5)</think>add(1, -2)",
        "add(\n    1,\n    -2,\n)",
        "def add(a=1, b=2):\n    pass\nadd(1, -2)",
        "add(x, 1) and add(add(1, 1), 2), then add(1, -2)",
        "add(1, -2\nadd(1, -2)",
    ],
)
def test_a_call_is_found_however_it_is_written(text):
    assert read_probes(ADD, text, 4) == ["add(1, -2)"]


@pytest.mark.parametrize(
    "call",
    [
        "add([1, (2,), {3}], {'a': b'b', 1.5: None})",
        "add(True, 'a, \"b\" (c')",
        "add(a=1, b=-2.5)",
        "add()",
        "add('', [])",
        "add(-1j, -1)",
    ],
)
def test_all_literals_are_kept_as_they_are(call):
    assert read_probes(ADD, call, 4) == [call]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add",
        "add(x, 1)",
        "add(1 + 1, 2)",
        "add(len('a'), 2)",
        "add(*[1, 2])",
        "add(**{'a': 1})",
        "add([x for x in 'a'], 1)",
        "add(f'{1}', 1)",
        "add(lambda: 1, 1)",
        "add({**{}}, 1)",
        "add(..., 1)",
        "add(not 1, 1)",
        "add(--1, 1)",
        "add(-True, 1)",
        "add(add(1, 2), 3)",
        "add.__globals__",
        "other.add(1, 2)",
        "badd(1, 2)",
        "def add(a=1, b=2): ...",
        "add(1, 2",
        "__import__('os').system('true')",
        "add('" + "a" * 2_000 + "', 1)",
        "add(" + "[" * 900 + "]" * 900 + ")",
        "add(" + "-" * 900 + "1)",
        "<think>add(1, 2)",
    ],
)
def test_what_is_no_call_with_literals_alone_is_not_kept(text):
    assert read_probes(ADD, text, 4) == []


def test_calls_are_distinct_in_order_and_no_more_than_asked_for():
    text = "add(3, 1)\nadd(2, 1)\nadd( 3,1 )\nadd(1, 1)\nadd(0, 1)\n"
    assert read_probes(ADD, text, 3) == ["add(3, 1)", "add(2, 1)", "add(1, 1)"]


def test_a_program_is_run_on_one_text():
    text = 'run("1 2\\n")\nrun(1)\nrun("a", "b")\nrun(given="a")\nrun("\\ud800")\nadd(1)\nrun("")'
    assert read_probes(PROGRAM, text, 9) == ["run('1 2\\n')", "run('')"]


def test_a_puzzle_has_its_f_and_its_g():
    assert read_probes(PUZZLE, "g()\ng(1, b=2)\nf(21)\nf(g())\nf(answer)\nrun('a')", 9) == [
        "g()",
        "g(1, b=2)",
        "f(21)",
    ]


@pytest.mark.parametrize(
    "piece", ["add(", "add(1", "add('", 'add("""', "[", '{"', "add(((", "<think>", "#", "'"]
)
def test_a_reply_of_a_megabyte_is_read_in_a_second(piece):
    start = time.process_time()
    assert read_probes(ADD, piece * (1_000_000 // len(piece)), 4) == []
    assert read_probes(ADD, piece * (49_000 // len(piece)), 4) == []
    assert time.process_time() - start < 2


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                "add(",
                "1",
                ",",
                ")",
                "'",
                '"',
                "[",
                "]",
                "\\",
                "\n",
                "{",
                "}",
                ":",
                "#",
                "-",
                "\x00",
                "\ud800",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_no_text_raises(text):
    for task in (ADD, PUZZLE, PROGRAM):
        assert len(read_probes(task, text, 4)) <= 4


@given(
    st.lists(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-99, 10**30)
            | st.text(max_size=20)
            | st.binary(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
            max_leaves=5,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_what_python_writes_of_plain_values_is_kept(arguments):
    call = f"add({', '.join(map(repr, arguments))})"
    (found,) = read_probes(ADD, call, 4)
    assert eval(found, {"add": lambda *given: list(given)}) == arguments


def test_a_function_is_called_with_its_preamble_and_postlude():
    task = replace(ADD, postlude="\ndef add(a, b):\n    return Solution().add(a, b)\n")
    source = "class Solution:\n    def add(self, a, b):\n        return math.floor(a) + b\n"
    assert ran(task, source, "add(1.5, 2)", "add(b=1, a=2)") == ["3", "3"]


def test_results_are_literals_or_reasons():
    source = "def add(a, b):\n    while b == 'loop':\n        pass\n    return a / b if a else {1: (2,), 'x': {3}}\n"
    assert ran(ADD, source, "add(1, 0)", "add(0, 1)", "add(1)", "add(1, 'loop')") == [
        "ERROR: raised: ZeroDivisionError: division by zero",
        "{1: (2,), 'x': {3}}",
        "ERROR: raised: TypeError: add() missing 1 required positional argument: 'b'",
        "ERROR: timed_out: used up its instructions",
    ]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def add(a, b) return a", "syntax_error"),
        ("x = 1", "no_g"),
        ("def add(a, b):\n    return object()", "wrong_type"),
        ("import numpy", "forbidden"),
        ("", "no_g"),
        ("raise SystemExit(0)", "raised"),
        ("def add(a, b):\n    raise SystemExit(0)", "raised"),
    ],
)
def test_what_cannot_be_called_says_why(source, kind):
    (result,) = ran(ADD, source, "add(1, 2)")
    assert result.startswith(f"ERROR: {kind}")


def test_an_argument_that_cannot_be_made_is_no_fault_of_the_candidate():
    assert ran(ADD, "def add(a, b):\n    return 1\n", "add({[1]}, 2)") == [
        "ERROR: not_run: its inputs could not be made"
    ]


def test_a_puzzle_is_run_on_the_inputs_of_f_or_on_those_given():
    source = "def g(a, b):\n    return a + b if a < 20 else g(a - 1, b) + 1\n"
    assert ran(PUZZLE, source, "g()", "g(1, 2)", "g(1, b=1)", "g(25, 0)", "f(21)", "f(20)", "f(6, a=2)", "f()") == [
        "21", "3", "2", "25", "True", "False", "True",
        "ERROR: raised: TypeError: f() missing 1 required positional argument: 'x'",
    ]  # fmt: skip


def test_a_puzzle_without_a_g_says_so():
    assert [
        result.partition(":")[2].split(":")[0].strip()
        for result in ran(PUZZLE, "x = 1", "g()", "g(1, 2)")
    ] == ["no_g", "no_g"]


def test_a_program_shows_what_it_wrote():
    assert ran(PROGRAM, SUM, "run('1 2\\n')", "run('')", "run('a')") == [
        "'3\\n'",
        "'0\\n'",
        "ERROR: raised: ValueError: invalid literal for int() with base 10: 'a'",
    ]


def test_a_program_that_writes_nothing_shows_an_empty_text():
    assert ran(PROGRAM, "input()\n", "run('a')") == ["''"]


def test_each_call_meets_a_candidate_of_its_own():
    source = "seen = []\ndef add(a, b):\n    seen.append(a)\n    return seen\n"
    assert ran(ADD, source, "add(1, 2)", "add(2, 2)") == ["[1]", "[2]"]


def test_a_long_result_is_cut():
    (result,) = ran(ADD, "def add(a, b):\n    return 'a' * 100_000\n", "add(1, 2)", characters=80)
    assert len(result) <= 80 and result.startswith("'aaa") and "100,002 characters" in result


def test_a_task_has_its_own_time():
    source = "def add(a, b):\n    return sum(range(1_000_000))\n"
    short = replace(ADD, time_limit_seconds=0.0005)
    (slow,), (fast,) = run_probes(
        [(short, source, ["add(1, 2)"]), (ADD, source, ["add(1, 2)"])], JUDGING, 300
    )
    assert slow.result.startswith("ERROR: timed_out") and fast == Probe("add(1, 2)", "499999500000")


def test_tasks_of_all_kinds_go_in_one_batch_and_come_back_in_order():
    batches = []

    class Watched(Judging):
        def call(self, function, items):
            batches.append(len(items))
            return super().call(function, items)

    watched = Watched(JUDGING.limits, "strict", False, JUDGING.config)
    add = "def add(a, b):\n    return a + b\n"
    asked = [
        (PROGRAM, SUM, ["run('1 2')"]),
        (ADD, add, []),
        (ADD, add, ["add(1, 2)", "add(1, 2)"]),
        (PUZZLE, "def g(a, b):\n    return b\n", ["g()"]),
    ]
    assert run_probes(asked, watched, 300) == [
        (Probe("run('1 2')", "'3\\n'"),),
        (),
        (Probe("add(1, 2)", "3"), Probe("add(1, 2)", "3")),
        (Probe("g()", "4"),),
    ]
    assert batches == [3]


def test_a_broken_judge_is_no_result():
    class Broken(Judging):
        def call(self, function, items):
            raise JudgeError("no engine")

    with pytest.raises(JudgeError):
        run_probes(
            [(ADD, "", ["add(1, 2)"])], Broken(JUDGING.limits, "strict", False, JUDGING.config), 300
        )


SEARCH = """
def add(a, b):
    import gc, sys
    found, seen, waiting = [], set(), [globals(), sys.modules, gc.get_objects()]
    frame = sys._getframe()
    while frame is not None:
        waiting += [frame.f_globals, frame.f_locals, frame.f_code.co_consts]
        frame = frame.f_back
    while waiting and len(seen) < 200_000:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, str):
            if b + a in value:
                found.append(value[:50])
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting += value
        else:
            try:
                waiting += gc.get_referents(value)
            except Exception:
                pass
    return found, len(seen) > 5_000
"""


def test_a_candidate_that_reads_all_that_there_is_finds_no_canary():
    # Two halves, so that the call itself does not hold it.
    judging = replace(JUDGING, limits=Limits(fuel=40_000_000_000))
    call = f"add({CANARY[6:]!r}, {CANARY[:6]!r})"
    ((probe,),) = run_probes([(ADD, SEARCH, [call])], judging, 300)
    assert probe.result == "([], True)"


def test_the_search_of_that_candidate_finds_what_there_is():
    judging = replace(JUDGING, limits=Limits(fuel=40_000_000_000))
    source = f"hidden = [{{'x': ({CANARY!r},)}}]\n{SEARCH}"
    ((probe,),) = run_probes(
        [(ADD, source, [f"add({CANARY[6:]!r}, {CANARY[:6]!r})"])], judging, 300
    )
    assert CANARY in probe.result


@pytest.mark.parametrize(
    ("task", "call"),
    [
        (ADD, "add(1, 2)"),
        (replace(PUZZLE, canary=CANARY), "g()"),
        (replace(PROGRAM, canary=CANARY), "run('1')"),
    ],
)
def test_nothing_that_the_judge_is_given_holds_the_canary(task, call):
    given = []

    class Watched(Judging):
        def call(self, function, items):
            given.extend(items)
            return super().call(function, items)

    run_probes(
        [(task, "def add(a, b):\n    return a\n", [call])],
        Watched(JUDGING.limits, "strict", False, JUDGING.config),
        300,
    )
    assert len(given) == 1 and call in repr(given) and CANARY not in repr(given)
