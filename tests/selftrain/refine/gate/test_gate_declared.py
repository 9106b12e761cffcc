"""Invariants that a task declares: a predicate over answers, and a bound on growth."""

from collections.abc import Callable

import pytest

from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.gate.growth import rises
from selftrain.refine.tasks.task import Growth, Invariant, Kind, RefineTask

Find = Callable[[RefineTask, str], dict[str, Evidence]]
LIST = "(list(range(n)),)"


def declared(find: Find, source: str, *, inputs: tuple[str, ...] = (), **more: object) -> Evidence:
    invariant = Invariant("it", inputs, **more)  # type: ignore[arg-type]
    task = RefineTask("t", Kind.function, "", entry_point="f", invariants=(invariant,))
    return find(task, source)["declared:it"]


PREDICATES = {
    "holds": ("answer == inputs[0]", ""),
    "holds over lines": ("(answer\n == inputs[0])  # and more", ""),
    "fails at the second": ("answer < 5", "f(7) returned 7, which breaks answer < 5"),
    "true, but not True itself": ("answer", "f(3) returned 3, which breaks answer (gave 3, not True)"),
    "a function": ("lambda: answer", "f(3) returned 3, which breaks lambda: answer (gave a function, not True)"),
    "raises": ("answer.a", "f(3) returned 3, which breaks answer.a (raised AttributeError: 'int' object has no attribute 'a')"),
    "exits": ("exit()", "the predicate exit() ends in raised: SystemExit"),
    "is endless": ("any(iter(int, 1))", "the predicate any(iter(int, 1)) ends in timed_out: used up its instructions"),
}  # fmt: skip


@pytest.mark.parametrize("name", PREDICATES)
def test_a_predicate_holds_only_where_it_is_true_of_every_answer(name: str, find: Find) -> None:
    predicate, detail = PREDICATES[name]
    found = declared(find, "def f(n): return n", inputs=("(3,)", "(7,)"), predicate=predicate)
    assert (found.status, found.detail) == (Status.failed if detail else Status.held, detail)


def test_a_predicate_is_asked_where_the_candidate_never_was(find: Find) -> None:
    source = "import builtins\nbuiltins.len = lambda _: 9\nbuiltins.sum = 3\ndef f(n): return [n]"
    found = declared(find, source, inputs=("(3,)",), predicate="len(answer) == 9")
    assert found.detail == "f(3) returned [3], which breaks len(answer) == 9"


def test_a_candidate_does_not_change_the_inputs_that_a_predicate_reads(find: Find) -> None:
    source = "def f(a):\n  a.clear()\n  return 0"
    found = declared(find, source, inputs=("([1, 2],)",), predicate="inputs == ([1, 2],)")
    assert found.status is Status.held


def test_an_input_at_which_a_candidate_fails_is_named(find: Find) -> None:
    source = "def f(a): return a[0]"
    found = declared(find, source, inputs=("([1],)", "([],)"), predicate="True")
    assert found.detail == "f([]) raised IndexError: list index out of range"


def test_a_predicate_that_the_judge_cannot_load_is_no_candidates_fault(find: Find) -> None:
    # The guest's parser has less of a stack than the host's.
    deep = f"{'(' * 90}{'[' * 90}{'(' * 15}1{')' * 15}{']' * 90}{')' * 90} and answer"
    found = declared(find, "def f(n): return n", inputs=("(3,)",), predicate=deep)
    assert found.status is Status.not_evaluated
    assert found.detail.startswith("the predicate ((((")
    assert "ends in syntax_error: " in found.detail


def test_answers_that_fill_more_than_one_source_are_all_asked_about(find: Find) -> None:
    inputs = tuple(f"({number},)" for number in range(18))
    source = "def f(n): return 'a' * 900_000"
    found = declared(find, source, inputs=inputs, predicate="len(answer) == 900_000")
    assert found.status is Status.held, found.detail
    wrong = declared(find, source, inputs=inputs, predicate="inputs[0] < 17")
    assert wrong.detail.startswith("f(17) returned 'aaa")


def test_a_predicate_that_a_stub_satisfies_is_vacuous(find: Find) -> None:
    source, inputs = "def f(n): return n", ("(3,)",)
    assert declared(find, source, inputs=inputs, predicate="answer != 4").vacuous
    assert not declared(find, source, inputs=inputs, predicate="answer == 3").vacuous


GROWING = {
    "constant": ("return len(a)", 0.0, True),
    "constant whatever is given": ("return 3", 0.0, True),
    "a loop": ("s = 0\n    for x in a: s += x\n    return s", 1.0, True),
    "linear": ("return sum(a)", 1.0, True),
    "linear with much to load": ("return sum(a)", 1.0, True),
    "n log n": ("return sorted(a, key=lambda x: x * 7919 % 10007)[0]", 1.0, True),
    "linear where nothing may grow": ("return sum(x for x in a)", 0.0, False),
    "square": ("return sum(x * y for x in a for y in a)", 1.0, False),
    "a square that may be one": ("return sum(x * y for x in a for y in a)", 2.0, True),
}  # fmt: skip


@pytest.mark.parametrize("name", GROWING)
def test_instructions_grow_as_they_may(name: str, find: Find) -> None:
    body, most, holds = GROWING[name]
    source = f"def f(a):\n    {body}\n"
    if "load" in name:
        source += f"table = {[*range(3000)]}\n"
    found = declared(find, source, growth=Growth(LIST, (50, 150, 450), most))
    assert (found.status is Status.held) is holds, found.detail
    assert found.vacuous


SQUARE = "    s = 0\n    for x in a:\n        for y in a: s += y\n    return s // max(1, len(a))\n"
CALLER = """
try: 1 / 0
except Exception as error: frame = error.__traceback__.tb_frame
while "_given" not in frame.f_globals: frame = frame.f_back
"""
DISGUISED = {
    "a load that burns where nothing is given": f"{CALLER}if not frame.f_globals['_given']:\n  for i in range(3_000_000): pass\ndef f(a):\n{SQUARE}",
    "work wasted where n is small": f"def f(a):\n    for i in range(max(0, 640_000 - len(a) ** 2)): pass\n{SQUARE}",
    "a table that each call makes": f"def f(a):\n    t = [i * i for i in range(100_000)]\n{SQUARE}",
    "a long text that each call searches": f"def f(a):\n    t = (bytes(range(256)) * 40_000).count(b'ab')\n{SQUARE}",
}  # fmt: skip


@pytest.mark.parametrize("name", DISGUISED)
def test_what_is_constant_does_not_hide_a_square(name: str, find: Find) -> None:
    growth = Growth(LIST, (100, 200, 400, 800), 1.2)
    found = declared(find, DISGUISED[name], growth=growth)
    assert found.detail == (
        "instructions grow as n to the 2.0, and may grow as n to the 1.2 (n = 100, 200, 400, 800)"
    )


def test_a_constant_beside_which_growth_does_not_show_leaves_it_open(find: Find) -> None:
    source = "def f(a):\n  t = [i * i for i in range(100_000)]\n  return sum(x for x in a)"
    found = declared(find, source, growth=Growth(LIST, (10, 20, 40), 1.0))
    assert found.status is Status.not_evaluated
    assert found.detail.startswith("a constant part of ")
    assert found.detail.endswith(" instructions hides the growth: declare larger sizes")


@pytest.mark.parametrize("constant", [0, 10**9])
@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
def test_rises_tell_the_power_whatever_is_constant(constant: int, power: float) -> None:
    sizes = (100, 200, 400, 800)
    own = [constant + round(10_000 * size**power) for size in sizes]
    assert [one.exponent for one in rises(sizes, own)] == pytest.approx([power, power], abs=0.01)


def test_tables_that_grow_in_leaps_are_linear(find: Find) -> None:
    growth = Growth(LIST, (5000, 10_000, 20_000), 1.0)
    found = declared(find, "def f(a): return len(set(a))", growth=growth)
    assert found.status is Status.held


def test_what_it_takes_to_load_a_square_does_not_hide_it(find: Find) -> None:
    source = f"table = {[*range(4000)]}\ndef f(a): return sum(x * y for x in a for y in a)\n"
    found = declared(find, source, growth=Growth(LIST, (20, 60, 180), 1.0))
    assert found.detail.startswith("instructions grow as n to the ")


def test_a_candidate_that_is_too_slow_at_a_size_is_not_run_at_a_larger_one(find: Find) -> None:
    source = "def f(a):\n  while len(a) > 5: pass\n  return 0"
    found = declared(find, source, growth=Growth(LIST, (5, 10, 20), 1.0))
    assert found.detail == "at n = 10 it failed, timed_out: used up its instructions"
    assert found.fuel < 1_100_000_000


def test_a_predicate_must_hold_of_the_answers_at_all_sizes(find: Find) -> None:
    growth = Growth(LIST, (10, 20, 40), 1.0)
    right = declared(find, "def f(a): return sum(a)", predicate="answer == sum(inputs[0])", growth=growth)  # fmt: skip
    assert (right.status, right.vacuous) == (Status.held, False)
    wrong = declared(find, "def f(a): return sum(a[:20])", predicate="answer == sum(inputs[0])", growth=growth)  # fmt: skip
    assert wrong.detail.endswith("returned 190, which breaks answer == sum(inputs[0])")


@pytest.mark.parametrize("make", ["[n]", "1 / 0", "(iter([]),)", "("])
def test_a_make_that_gives_no_arguments_leaves_growth_open(make: str, find: Find) -> None:
    found = declared(find, "def f(n): return n", growth=Growth(make, (1, 2, 3), 1.0))
    assert found.status is Status.not_evaluated
    assert found.detail == "its `make` gives no input of some size, or one too long"


def test_an_invariant_without_inputs_is_not_evaluated(find: Find) -> None:
    found = declared(find, "def f(n): return n", predicate="answer")
    assert found.status is Status.not_evaluated
