"""What the gate finds of whole programs, which read standard input and write standard output."""

from collections.abc import Callable

import pytest

from judge import Case
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.gate.gate import Gate
from selftrain.refine.tasks.task import Growth, Invariant, Kind, RefineTask

TASK = RefineTask(
    "sum",
    Kind.program,
    "Write the sum of the numbers.",
    examples=(Case("1 2\n", "3\n"), Case("4 5\n", "9\n")),
    invariants=(
        Invariant("none", ("0\n",), "int(answer) == 0 and inputs == '0\\n'"),
        Invariant("linear", growth=Growth("' '.join(map(str, range(n)))", (100, 400, 1600), 1.0)),
    ),
    time_limit_seconds=0.05,
    canary="canary_3",
)
SUM = "print(sum(map(int, input().split())))"
WRONG = {
    "another output": ("print(3)", {"examples": "with the input '4 5\\n' it wrote what is wrong: line 1 is '3', not '9'", "declared:none": "with the input '0\\n' it wrote '3\\n', which breaks int(answer) == 0 and inputs == '0\\n'"}),
    "an error": ("a, b = input().split()\nprint(int(a) + int(b))", {"declared:none": "with the input '0\\n' it raised ValueError: not enough values to unpack (expected 2, got 1)", "declared:linear": "at n = 100 it raised ValueError: too many values to unpack (expected 2, got 100)"}),
    "another import": ("import os\n" + SUM, {"imports": "line 1 imports os, which is not allowed"}),
    "the canary": ("print('canary' + '_3') if input() == '0' else print(9)", {"hidden": "it gave a word of the hidden tests"}),
}  # fmt: skip


def test_a_right_program_may_use_its_streams(gate: Gate) -> None:
    (report,) = gate.examine([(TASK, "import sys\nprint(sum(map(int, sys.stdin.read().split())))")])
    assert report.accepted
    assert report.num_evaluated == 2
    found = {one.invariant: one for one in report.evidence}
    assert found["streams"].status is found["signature"].status is Status.not_evaluated
    assert found["declared:linear"].vacuous and not found["examples"].vacuous


@pytest.mark.parametrize("name", [name for name in WRONG if name != "the canary"])
def test_what_fails_is_named(
    name: str, failed: Callable[[RefineTask, str], dict[str, str]]
) -> None:
    source, expected = WRONG[name]
    assert failed(TASK, source) == expected


def test_the_canary_in_an_output_is_found_and_not_told(
    failed: Callable[[RefineTask, str], dict[str, str]],
) -> None:
    found = failed(TASK, WRONG["the canary"][0])
    assert found["hidden"] == "it gave a word of the hidden tests"
    assert "[hidden]" in found["declared:none"]
    assert not any("canary_3" in detail for detail in found.values())


def test_white_space_at_the_ends_of_lines_is_no_matter(
    failed: Callable[[RefineTask, str], dict[str, str]],
) -> None:
    assert failed(TASK, "print(sum(map(int, input().split())), '  ')\nprint()") == {}


def test_a_square_is_found_by_its_growth_and_an_endless_loop_by_its_time(
    failed: Callable[[RefineTask, str], dict[str, str]],
) -> None:
    square = "a = input().split()\nfor x in a:\n  for y in a[:99]: pass\nfor x in a:\n  for y in a: pass\nprint(sum(map(int, a)))"  # fmt: skip
    assert list(failed(TASK, square)) == ["declared:linear"]
    endless = failed(TASK, "while True: pass")
    assert endless["resources"] == (
        "with the input '1 2\\n' it failed, timed_out: used up its instructions"
    )


def test_output_that_depends_on_hashes_fails(
    find: Callable[[RefineTask, str], dict[str, Evidence]],
) -> None:
    found = find(TASK, "print(hash('a'))")
    assert found["same_answer"].status is Status.failed
    assert find(TASK, SUM)["same_answer"].status is Status.held
