"""The critic that is a program: which kind of edit it asks for, from what the judge said."""

import json
import re

import pytest

from puzzles import puzzle_from_source
from puzzles.builtin.read import read_builtin
from selftrain.refine.critic.reading import read_review
from selftrain.refine.critic.rules import LONGEST, MOST_EDITS, rules_review
from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.refine.tasks.task import Kind, RefineTask

REJECTED = "f rejects the answer 17"
FUNCTION = RefineTask(
    "T/1", Kind.function, "def top(xs): ...", entry_point="top", parameters="xs", canary="kanari"
)


def task_of(f: str) -> RefineTask:
    return puzzle_task(puzzle_from_source(f, name="p"))[0]


def failed(invariant: str, detail: str) -> GateReport:
    return GateReport((Evidence(invariant, Status.failed, detail),))


def said(task: RefineTask, source: str, report: GateReport | None) -> dict[str, list[str]]:
    """Give the edits of the fields that fail, as texts."""
    review = json.loads(rules_review(task, source, report))
    assert list(review) == ["correctness", "format", "efficiency", "completeness"]
    for field in review.values():
        assert field["verdict"] == ("fail" if field["edits"] else "pass")
    return {
        name: [f"{edit['location']}: {edit['action']}" for edit in field["edits"]]
        for name, field in review.items()
        if field["edits"]
    }


@pytest.mark.parametrize(
    ("check", "body", "edits"),
    [
        ("return x + a == b", "return b + a", {"correctness": ["line 2: change + to -"]}),
        ("return x + a == b", "return a - b", {"correctness": ["line 2: swap the sides of -"]}),
        ("return x + a == b", "return b - b", {"correctness": ["line 2: change one b to a"]}),
        ("return x + a == b", "return b", {"completeness": ["line 2: use a", "line 2: use -"]}),
        ("return a - x == b", "return a + b", {"correctness": ["line 2: change + to -"]}),
        ("return x * a == b", "return b * a", {"correctness": ["line 2: change * to //"]}),
        ("return x // a == b", "return a // b", {"correctness": ["line 2: change // to *"]}),
        ("return x ^ a == b", "return b + a", {"correctness": ["line 2: change + to ^"]}),
        ("return x * x == a + b", "return (a + b) * 2", {"correctness": ["line 2: change * to **"]}),
        ("return x + min(a, b) == 7 * b", "return 7 * b - max(a, b)",
         {"correctness": ["line 2: change max to min"]}),
        ("return x - 3964 == a + b", "return a + b + 3946",
         {"correctness": ["line 2: change 3946 to 3964"]}),
    ],
)  # fmt: skip
def test_a_rejected_answer_gets_the_step_that_does_not_undo_f(
    check: str, body: str, edits: dict[str, list[str]]
) -> None:
    task = task_of(f"def f(x: int, a=3, b=9):\n    {check}")
    source = f"def g(a=3, b=9):\n    {body}"
    assert said(task, source, failed("solved", REJECTED)) == edits


@pytest.mark.parametrize(
    ("f", "body", "edits"),
    [
        ("def f(s: str, a='ab'):\n    return s[::-1] == a", "return a",
         {"completeness": ["line 2: use [::-1]"]}),
        ("def f(s: str, a=['x', 'y']):\n    return s.split() == a", "return ' '.split(a)",
         {"correctness": ["line 2: change split to join"]}),
        ("def f(s: str, a='abc'):\n    return 'zu' + s == a", "return a[:len('zu')]",
         {"correctness": ["line 2: change [:n] to [n:]"]}),
        ("def f(x: List[int], a=[4, 5]):\n    return [i * 3 for i in x] == a",
         "return [i * 3 for i in a]", {"correctness": ["line 2: change * to //"]}),
        ("def f(x: List[bool], a=[4, 5], b=4):\n    return x == [i > b for i in a]",
         "return [i < b for i in a]", {"correctness": ["line 2: change < to >"]}),
        ("def f(x: float, a=4.5):\n    return abs(x * 3 - a) < 0.01", "return a * 3",
         {"correctness": ["line 2: change * to /"]}),
    ],
)  # fmt: skip
def test_strings_lists_and_floats_are_undone_in_their_own_way(
    f: str, body: str, edits: dict[str, list[str]]
) -> None:
    task = task_of(f)
    source = f"def g({task.parameters}):\n    {body}"
    assert said(task, source, failed("solved", REJECTED)) == edits


@pytest.mark.parametrize(
    ("source", "detail", "edits"),
    [
        ("def g(a=3):\n    return (a", "...", {"completeness": ["line 2: close the bracket"]}),
        ("def g(a=3):\n    return 'a", "...", {"completeness": ["line 2: close the string"]}),
        ("def g(a=3):\n    return a - q", "raised NameError: name 'q' is not defined",
         {"correctness": ["line 2: q is not defined"], "completeness": ["line 2: use 7"]}),
        ("def g(a=3):\n    return str(a - 7)", "the answer '-4': the answer is not of type int",
         {"format": ["line 2: return int"]}),
        ("def g(a=3):\n    while a - 7:\n        a -= 0\n    return 7 - a", "timed_out",
         {"efficiency": ["line 4: use fewer steps"]}),
        ("def g(a=3):\n    return [7] - [a]",
         "raised TypeError: can only concatenate list (not \"int\") to list",
         {"correctness": ["line 2: change + to *"]}),
        ("def g(a=3):\n    return (7 - a)()", "raised TypeError: 'int' object is not callable",
         {"correctness": ["line 2: write another expression"]}),
    ],
)  # fmt: skip
def test_each_kind_of_failure_belongs_to_its_field(
    source: str, detail: str, edits: dict[str, list[str]]
) -> None:
    # f doesn't say how to get at the answer, so that only the judge's words tell.
    task = task_of("def f(x: int, a=3):\n    return x in (a, 7)")
    assert said(task, source, failed("solved", detail)) == edits


@pytest.mark.parametrize(
    ("invariant", "detail", "edits"),
    [
        ("examples", "top([1]) returned 1, not 2",
         {"correctness": ["top: handle this case: top([1]) returned 1, not 2"]}),
        ("examples", "top([]) raised IndexError",
         {"correctness": ["top: mend what raises: top([]) raised IndexError"]}),
        ("signature", "it takes (ys)", {"format": ["top: define top(xs): it takes (ys)"]}),
        ("imports", "os on line 3", {"format": ["line 3: drop the import: os on line 3"]}),
        ("streams", "print on line 2",
         {"format": ["line 2: return the answer, neither read nor print: print on line 2"]}),
        ("resources", "timed_out at top([1])",
         {"efficiency": ["top: use fewer steps: timed_out at top([1])"]}),
        ("declared:edge case", "at ([-1],) it is 0",
         {"correctness": ["top: keep edge case: at ([-1],) it is 0"]}),
    ],
)  # fmt: skip
def test_a_function_is_told_what_the_gate_found(
    invariant: str, detail: str, edits: dict[str, list[str]]
) -> None:
    source = "def top(xs):\n    return xs[0]"
    assert said(FUNCTION, source, failed(invariant, detail)) == edits


def test_what_the_gate_accepts_passes_though_its_syntax_looks_wrong() -> None:
    task = task_of("def f(x: int, a=3, b=9):\n    return x + a == b")
    accepted = GateReport((Evidence("solved", Status.held),))
    review = read_review(rules_review(task, "def g(a=3, b=9):\n    return b + a", accepted))
    assert accepted.accepted and review.passes


def test_what_nothing_tells_of_is_no_pass() -> None:
    nothing = GateReport((Evidence("solved", Status.not_evaluated),))
    review = read_review(rules_review(FUNCTION, "def top(xs):\n    return 1", nothing))
    assert not review.passes and review.edits


def test_a_reply_without_a_program_is_asked_for_one() -> None:
    report = failed("parses", "the reply holds no program (empty)")
    assert said(FUNCTION, "", report) == {"completeness": ["top: write the whole program"]}


@pytest.mark.parametrize(
    "source", ["def g(:", "def g():\n" * 3_000, "(" * 5_000, "\0", "\ud800", ""]
)
def test_a_hostile_source_gets_edits_within_bounds(source: str) -> None:
    task = task_of("def f(x: int):\n    return x == 17")
    review = json.loads(rules_review(task, source, failed("solved", "raised SyntaxError")))
    edits = [edit for field in review.values() for edit in field["edits"]]
    assert edits
    assert all(len(field["edits"]) <= MOST_EDITS for field in review.values())
    assert all(len(edit["action"]) <= LONGEST and "\n" not in edit["action"] for edit in edits)


def test_no_edit_names_a_number_that_is_neither_in_f_nor_in_g() -> None:
    told = 0
    for puzzle in read_builtin("train"):
        task, _ = puzzle_task(puzzle)
        source = f"def g({puzzle.inputs}):\n    return 90210"
        edits = said(task, source, failed("solved", REJECTED))
        for action in (text.split(": ", 1)[1] for some in edits.values() for text in some):
            told += 1
            numbers = [word for word in re.findall(r"\d+", action) if len(word) > 1]
            assert all(number in puzzle.f + source for number in numbers)
    assert told > 204
