"""Small comparisons of rankings: tasks whose candidates are right or wrong as written."""

from collections.abc import Sequence

from selftrain.config import Config
from selftrain.verifier.arms import Learner
from selftrain.verifier.calibration.calibrator import Calibrator
from selftrain.verifier.directory import Split
from selftrain.verifier.report.compared import Said
from selftrain.verifier.report.measure import Measured, measure
from selftrain.verifier.tasks.task import Arm, Candidate, Task

LABELS = ("-+", "+--", "--+", "-+", "--", "+-", "-+-", "--+", "-+", "+", "-++", "--+")
"""A task a text, a candidate a letter, + for a right one; the likelihood likes the first best."""
CALIBRATOR = Calibrator("platt", num_candidates=24, num_right=12, slope=0.5, intercept=-0.25)


def task(name: str, labels: str, *, logprobs: bool = True) -> Task:
    """Make a task; every candidate has a result of its own."""
    candidates = tuple(
        Candidate(
            program=f"def g():\n    return {i}",
            sum_logprob=-1.0 - i if logprobs else None,
            num_tokens=5,
            result=repr(i),
            label={"+": True, "-": False, "?": None}[letter],
        )
        for i, letter in enumerate(labels)
    )
    greedy = Candidate("greedy", -1.0, 5, "0", label=labels[:1] == "+")
    return Task(name, f"def f({name.replace(' ', '_')}): ...", candidates, greedy)


def tasks(labels: Sequence[str] = LABELS, *, logprobs: bool = True) -> dict[Split, list[Task]]:
    """Make splits; train and dev are always the same."""
    return {
        "train": [task(f"train {i}", "+-") for i in range(3)],
        "dev": [task(f"dev {i}", own) for i, own in enumerate(LABELS)],
        "test": [task(f"test {i}", own, logprobs=logprobs) for i, own in enumerate(labels)],
    }


def says(some: Sequence[Task], strength: float) -> list[list[float]]:
    """Say of right candidates log-odds of `strength`, of wrong ones the opposite."""
    return [[strength if one.label else -strength for one in each.candidates] for each in some]


def said(
    made: dict[Split, list[Task]], strength: float, arm: Arm = "full", size: int | None = None
) -> Said:
    """Let a verifier say so of dev and test tasks; negative strengths are wrong of all."""
    return Said(Learner(arm, size), says(made["dev"], strength), says(made["test"], strength))


def compared(config: Config | None = None) -> Measured:
    """Measure a verifier that knows the labels, one that errs without results, and one as good."""
    made = tasks()
    ones = [said(made, 9), said(made, -9, "no-execution"), said(made, 9, "full", 8)]
    return measure(made, ones, CALIBRATOR, config or Config())
