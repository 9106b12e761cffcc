"""What the gate finds of a puzzle's g: f is asked, at all its inputs and in both guests.

For a puzzle the gate is the solve test. What else the verdict tells is read from it too, so that
nothing is run twice.
"""

from collections.abc import Sequence
from dataclasses import replace

from judge import Outcome, Verdict
from puzzles import instances
from selftrain.judge import Judging
from selftrain.refine.gate.checks import OUT_OF_RESOURCES, judged
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.tasks.task import RefineTask, whole_source
from selftrain.verifier.tasks.results import shown

SHOWN = 120
"""Characters of an answer in a detail."""


def solve_all(asked: Sequence[tuple[RefineTask, str]], judging: Judging) -> list[Verdict]:
    """Judge each puzzle's g on all inputs, what passes in a second guest too. Raises JudgeError."""
    programs = []
    for task, source in asked:
        assert task.puzzle is not None, task.task_id
        programs.append((instances(task.puzzle), whole_source(task, source)))
    # Each alone: beside others, what is said of a rejection may depend on them.
    how = replace(judging, mode="strict", confirm=True)
    return list(how.judge_on_all(programs))


def evidence_of(verdict: Verdict) -> list[Evidence]:
    """Give plain_answer, resources, same_answer and solved, as the verdict tells them."""
    outcome, why = verdict.outcome, f"{verdict.outcome}: {verdict.detail}"
    return [
        _plain_answer(verdict),
        judged("resources", why if outcome in OUT_OF_RESOURCES else None, verdict.fuel),
        _same_answer(verdict),
        judged("solved", None if verdict.passed else _why(verdict), verdict.fuel),
    ]


def _plain_answer(verdict: Verdict) -> Evidence:
    if verdict.answer is not None:
        return judged("plain_answer", None)
    if verdict.outcome is Outcome.wrong_type:
        return judged("plain_answer", verdict.detail)
    return Evidence("plain_answer", Status.not_evaluated)


def _same_answer(verdict: Verdict) -> Evidence:
    """Tell what the second guest says, which is asked only where the first accepts."""
    if verdict.outcome is Outcome.flaky:
        return judged("same_answer", verdict.detail)
    if verdict.passed:
        return judged("same_answer", None)
    return Evidence("same_answer", Status.not_evaluated)


def _why(verdict: Verdict) -> str:
    """Say why f does not accept g."""
    outcome, detail = verdict.outcome, verdict.detail
    if verdict.answer is None:
        return f"{outcome} {detail}".rstrip()
    answer = shown(verdict.answer, SHOWN)
    if outcome is Outcome.wrong_answer:
        # At further inputs the detail begins with where: `on inputs 2: f returned False`.
        where = detail.partition(": ")[0] if detail.startswith("on inputs ") else ""
        return f"f rejects the answer {answer} {where}".rstrip()
    if outcome is Outcome.wrong_type:
        return f"the answer {answer}: {detail}"
    return f"{outcome} on the answer {answer}: {detail}"
