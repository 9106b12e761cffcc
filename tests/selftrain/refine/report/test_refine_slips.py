"""Invariants that no candidate keeps: a slip in the task's file, where hidden tests say otherwise."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from refine.report.made import config, first, folder, rejected, result, results, task

from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.report.page import publish
from selftrain.refine.report.slips import MAX_NAMED
from selftrain.refine.trace import Result, Step

BROKEN = rejected(("declared:sorted", 1))
KEPT = GateReport((Evidence("parses", Status.held), Evidence("declared:sorted", Status.held)))


def told(path: Path, some: list[Result], steps: list[Step]) -> tuple[str, str, dict]:  # type: ignore[type-arg]
    """Publish arms critic and resample; give the terminal's text, the page's top, the JSON's slips."""
    names = [f"t{i}" for i in range(len({one.task_id for one in some}))]
    done = folder(path, some, steps)
    with redirect_stdout(StringIO()) as printed:
        publish(done, config("critic", "resample"), [task(name) for name in names])
    page = done.report_markdown.read_text().split("## Arms")[0].replace("\\", "")
    return " ".join(printed.getvalue().split()), page, json.loads(done.outcome.read_text())["slips"]


def test_what_every_candidate_fails_and_hidden_tests_pass_is_a_likely_slip(tmp_path: Path) -> None:
    steps = [first(arm, "t0", BROKEN) for arm in ("critic", "resample")]
    terminal, page, row = told(tmp_path, results({"critic": "+", "resample": "+"}), steps)
    said = "A likely slip in a task's file: every candidate fails it, though the hidden tests pass one of them. t0: sorted (declared:sorted is wrong)."
    assert said in terminal and said in page
    assert [one["invariant"] for one in row["refuted"]] == ["declared:sorted"]


def test_what_one_candidate_of_any_arm_keeps_is_none(tmp_path: Path) -> None:
    steps = [first("critic", "t0", BROKEN), first("resample", "t0", KEPT)]
    _, _, row = told(tmp_path, results({"critic": "+", "resample": "+"}), steps)
    assert row == {"refuted": [], "never_held": [], "never_evaluated": []}


def test_where_nothing_is_solved_the_task_may_be_too_hard_and_the_page_alone_says_so(
    tmp_path: Path,
) -> None:
    steps = [first("critic", "t0", rejected(("examples", 1), ("imports", 1)))]
    terminal, page, row = told(tmp_path, results({"critic": "-", "resample": "-"}), steps)
    assert "a hard task or a slip in its file: t0: examples (examples is wrong)." in page
    assert "slip" not in terminal and not row["refuted"]
    # An import that is not allowed is the candidate's own.
    assert [one["invariant"] for one in row["never_held"]] == ["examples"]


def test_an_answer_of_an_arm_without_a_gate_proves_nothing_about_the_gate(tmp_path: Path) -> None:
    steps = [first("critic", "t0", BROKEN)]
    some = [result("critic", "t0", True, accepted=True), result("resample", "t0", False)]
    _, _, row = told(tmp_path, some, steps)
    assert not row["refuted"]


def test_a_growth_without_input_is_named_with_what_the_gate_said(tmp_path: Path) -> None:
    nothing = Evidence("declared:linear", Status.not_evaluated, "its `make` gives no input")
    untold = Evidence("declared:other", Status.not_evaluated)
    steps = [first("critic", "t0", GateReport((Evidence("parses", Status.held), nothing, untold)))]
    terminal, page, _ = told(tmp_path, results({"critic": "-", "resample": "-"}), steps)
    said = "Declared, but never evaluated of any candidate: t0: linear (its 'make' gives no input)."
    assert said in terminal and said in page


def test_only_some_are_named_and_the_json_has_all(tmp_path: Path) -> None:
    number = MAX_NAMED + 2
    steps = [first("critic", f"t{i}", BROKEN) for i in range(number)]
    solved = dict.fromkeys(("critic", "resample"), "+" * number)
    terminal, _, row = told(tmp_path, results(solved), steps)
    assert "; and 2 more." in terminal and f"t{MAX_NAMED}:" not in terminal
    assert len(row["refuted"]) == number
