"""What `selftrain why` tells of one task of a comparison of refinements, from its trace."""

from collections.abc import Callable
from pathlib import Path

import pytest
from refine.report.made import (
    EDIT,
    HELD,
    asked,
    first,
    folder,
    rejected,
    result,
    results,
    review,
    too_long,
)

from selftrain.cli import main
from selftrain.refine.critic.probe import Probe
from selftrain.refine.critic.review import FieldVerdict, How
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.trace import NO_CANDIDATE, Fate, Role, Step, Stop

Ask = Callable[..., str]


@pytest.fixture
def done(tmp_path: Path) -> RefineDirectory:
    """Let the critic mend t0 by an edit, after a reply without a program."""
    update = Step(
        "critic",
        "t0",
        1,
        {Role.critic: asked(prompt=1000), Role.forward: asked("length")},
        probes=(Probe("add_t0(1, 2)", "4"),),
        review=review(FieldVerdict.failed, EDIT, how=How.mended),
        edits=(EDIT,),
        candidate=Candidate("def add_t0(a, b):\n    return a \x1b[31m+ b\n"),
        report=HELD,
        fate=Fate.best,
        stop=Stop.all_pass,
    )
    steps = [
        first("forward", "t0", stop=Stop.one_try),
        first("forward", "t1"),
        first("critic", "t0", rejected(("examples", 1)), Fate.current),
        update,
        first("critic", "t1", HELD),
    ]
    some = [
        *results({"forward": "-+"}),
        result("critic", "t0", True, accepted=True, stop=Stop.all_pass),
        result("critic", "t1", False),
    ]
    return folder(tmp_path, some, steps)


@pytest.fixture
def ask(done: RefineDirectory, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Ask why, and give what is said."""

    def asked_for(*arguments: str, status: int = 0) -> str:
        assert main(["why", str(done.path), *arguments]) == status
        told = capsys.readouterr()
        return told.err if status else told.out

    return asked_for


def test_a_task_is_told_arm_by_arm_from_its_first_candidate_to_the_hidden_tests(ask: Ask) -> None:
    said = ask("t0")
    assert said.startswith("t0: solved by critic; not by forward\n")
    forward, critic = said.split("\ncritic\n")
    assert "      first t0" in forward and "hidden tests of the answer: wrong_answer" in forward
    lines = [line.strip() for line in critic.splitlines()]
    wanted = [
        "iteration 0 (tokens: forward 10 + 5)",
        "candidate, current:",
        "first t0",
        "the gate: rejected; invariants evaluated that tell something: 2",
        "examples: examples is wrong",
        "iteration 1 (tokens: critic 1,000 + 5, forward 10 + 5)",
        "the reply of forward ends by length",
        "add_t0(1, 2) -> 4",
        "review, read as mended: correctness fail, format fail, efficiency fail, completeness fail",
        "1. line 2: return the sum",
        "candidate, best:",
        "def add_t0(a, b):",
        "the gate: accepted; invariants evaluated that tell something: 2",
        "the end: all_pass",
        "ended: all_pass, after 15 tokens",
        "hidden tests of the answer, which the gate accepts: passed",
    ]
    assert [line for line in lines if line in wanted] == wanted
    # Sources are indented as they are, and what shows nothing is spelt out.
    assert "\n          return a \\x1b[31m+ b\n" in critic
    assert "t1" not in said


def test_one_arm_is_told_of_alone(ask: Ask) -> None:
    said = ask("t0", "--arm", "forward")
    assert "\nforward\n" in said and "\ncritic\n" not in said


def test_an_unknown_task_or_arm_is_refused_with_what_there_is(ask: Ask) -> None:
    assert "no task is called 'T0'. The nearest are t0, t1." in ask("T0", status=2)
    said = ask("t0", "--arm", "crític", status=2)
    assert "no arm is called 'crític'. There are forward, critic." in said


def test_what_was_never_asked_and_what_holds_nothing_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [
        Step("critic", "t0", 0, {Role.forward: asked()}, candidate=Candidate(None, "no_code"), report=rejected(("parses", 0)), fate=Fate.current),
        Step("critic", "t0", 1, {Role.critic: too_long(), Role.forward: too_long()}, candidate=Candidate(None, "prompt_too_long"), stop=Stop.too_long),
    ]  # fmt: skip
    done = folder(tmp_path, [result("critic", "t0", False, outcome=NO_CANDIDATE)], steps)
    assert main(["why", str(done.path), "t0"]) == 0
    said = capsys.readouterr().out
    assert "t0: solved by no arm of critic" in said
    assert "no program (no_code), current\n      a reply\n" in said
    assert "the prompt of forward leaves no room for a reply, so it was not asked" in said
    assert "the prompt of critic leaves no room" in said
    assert "hidden tests of the answer: not asked, it came to no program" in said


def test_under_way_there_is_no_trace_to_tell_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "2-calls.jsonl").touch()
    assert main(["why", str(tmp_path), "t0"]) == 2
    assert "its trace comes when all arms are done" in capsys.readouterr().err


def test_an_arm_of_a_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.yaml").touch()
    assert main(["why", str(tmp_path), "001-000001", "--arm", "critic"]) == 2
    assert "holds a run, which has no arms. Leave --arm out." in capsys.readouterr().err
