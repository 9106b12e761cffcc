"""The paper's Figure 1: a cubic maximum subarray that fails where all numbers are negative."""

import pytest

from selftrain.refine.gate.evidence import GateReport, Status
from selftrain.refine.gate.gate import Gate
from selftrain.refine.tasks.task import Example, Growth, Invariant, Kind, RefineTask

TASK = RefineTask(
    "figure-1",
    Kind.function,
    "Return the largest sum of a contiguous, non-empty part of nums.",
    entry_point="max_subarray",
    parameters="nums",
    examples=(Example("(([1, -2, 3, 4],), {})", "7"),),
    invariants=(
        Invariant(
            "efficiency",
            growth=Growth("([i * 31 % 17 - 8 for i in range(n)],)", (20, 60, 180), 1.0),
        ),
        Invariant(
            "edge-case",
            inputs=("([-3, -1, -2],)", "([-5],)"),
            predicate="answer == max(inputs[0])",
        ),
    ),
)
CUBIC = """
def max_subarray(nums):
    best = 0
    for i in range(len(nums)):
        for j in range(i, len(nums)):
            total = 0
            for k in range(i, j + 1):
                total += nums[k]
            best = max(best, total)
    return best
"""
KADANE = """
def max_subarray(nums):
    best = here = nums[0]
    for number in nums[1:]:
        here = max(number, here + number)
        best = max(best, here)
    return best
"""
LINEAR_FROM_ZERO = """
def max_subarray(nums):
    best = here = 0
    for number in nums:
        here = max(0, here + number)
        best = max(best, here)
    return best
"""
QUADRATIC = """
def max_subarray(nums):
    best = nums[0]
    for i in range(len(nums)):
        total = 0
        for number in nums[i:]:
            total += number
            best = max(best, total)
    return best
"""
EFFICIENCY, EDGE_CASE = "declared:efficiency", "declared:edge-case"


@pytest.fixture(scope="module")
def reports(gate: Gate) -> dict[str, GateReport]:
    sources = {"cubic": CUBIC, "kadane": KADANE, "zero": LINEAR_FROM_ZERO, "quadratic": QUADRATIC}
    found = gate.examine([(TASK, source) for source in sources.values()])
    return dict(zip(sources, found, strict=True))


@pytest.mark.parametrize(
    ("name", "fails"),
    [
        ("cubic", [EFFICIENCY, EDGE_CASE]),
        ("kadane", []),
        ("zero", [EDGE_CASE]),
        ("quadratic", [EFFICIENCY]),
    ],
)
def test_each_version_fails_what_it_breaks_by_name_and_nothing_else(
    name: str, fails: list[str], reports: dict[str, GateReport]
) -> None:
    assert [one.invariant for one in reports[name].failures] == fails
    assert reports[name].accepted is (not fails)


def test_details_say_what_was_found(reports: dict[str, GateReport]) -> None:
    efficiency, edge_case = reports["cubic"].failures
    assert edge_case.detail == (
        "max_subarray([-3, -1, -2]) returned 0, which breaks answer == max(inputs[0])"
    )
    assert efficiency.detail == (
        "instructions grow as n to the 2.7, and may grow as n to the 1 (n = 20, 60, 180)"
    )


def test_growth_alone_is_vacuous_and_the_predicate_is_not(reports: dict[str, GateReport]) -> None:
    vacuous = {one.invariant: one.vacuous for one in reports["kadane"].evidence}
    assert vacuous[EFFICIENCY] and not vacuous[EDGE_CASE] and not vacuous["examples"]


def test_all_is_counted_in_instructions_so_that_another_gate_finds_the_same(
    gate: Gate, reports: dict[str, GateReport]
) -> None:
    again = Gate(gate.judging, gate.allowed_imports)
    assert again.examine([(TASK, CUBIC), (TASK, KADANE)]) == [reports["cubic"], reports["kadane"]]
    assert all(
        one.fuel > 0
        for one in reports["cubic"].evidence
        if one.invariant in ("examples", "resources", "same_answer", EFFICIENCY, EDGE_CASE)
    )
    assert reports["kadane"].evidence[-1].status is Status.held
