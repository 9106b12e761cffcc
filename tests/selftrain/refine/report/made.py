"""Hand-made comparisons, so small that every number of their report can be worked out by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from selftrain.config import Config, ModelConfig, RefineConfig
from selftrain.config.refine import Arm
from selftrain.files import write_rows
from selftrain.refine.critic.review import Edit, Field, FieldReview, FieldVerdict, How, Review
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.gate.evidence import Evidence, GateReport, Status
from selftrain.refine.tasks.task import Example, Kind, RefineTask
from selftrain.refine.trace import (
    Asked,
    Fate,
    Result,
    Role,
    Step,
    Stop,
    Used,
    result_to_row,
    step_to_row,
)

EDIT = Edit("line 2", "return the sum")
HELD = GateReport((Evidence("parses", Status.held, fuel=0), Evidence("examples", Status.held)))
UNCHECKED = GateReport(
    (Evidence("parses", Status.held, vacuous=True), Evidence("examples", Status.not_evaluated))
)


def config(*arms: Arm, **more: object) -> Config:
    critic = ModelConfig(name="critic") if "critic_code" in arms else "rules"
    return Config(refine=RefineConfig(arms=arms, critic=critic, **more))  # type: ignore[arg-type]


def task(
    name: str, difficulty: str = "", category: str = "", source: str = "humaneval"
) -> RefineTask:
    """Make a function task, of which a message asks proofs of signature, imports, streams and examples."""
    return RefineTask(
        name,
        Kind.function,
        f'def add_{name}(a, b):\n    """Add."""\n',
        f"add_{name}",
        examples=(Example("([1, 2], {})", "3"),),
        category=category,
        difficulty=difficulty,
        source=source,
    )


def asked(finish_reason: str = "stop", prompt: int = 10, completion: int = 5) -> Asked:
    return Asked(1, "a reply", finish_reason, Used(prompt, completion, 1))


def too_long() -> Asked:
    """Make a call whose prompt left no room, so that it was never sent."""
    return Asked(1, "", "prompt_too_long", Used())


def rejected(*failed: tuple[str, float], held_seconds: float = 0.0) -> GateReport:
    """Fail each of these, by name and native seconds."""
    first = Evidence("parses", Status.held, fuel=int(held_seconds * 2e10))
    return GateReport(
        (
            first,
            *(
                Evidence(name, Status.failed, f"{name} is wrong", int(seconds * 2e10))
                for name, seconds in failed
            ),
        )
    )


def first(
    arm: str, name: str, report: GateReport | None = None, fate: Fate = Fate.best, **more: object
) -> Step:
    return Step(
        arm, name, 0, {Role.forward: asked()}, candidate=Candidate(f"first {name}"), report=report, fate=fate, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def review(
    verdict: FieldVerdict, *edits: Edit, how: How = How.json, num_dropped: int = 0
) -> Review:
    """Say the same of all fields, with the edits in the first one."""
    one, *others = [FieldReview(verdict, edits), *(FieldReview(verdict) for _ in list(Field)[1:])]
    return Review((one, *others), how, num_dropped)  # type: ignore[arg-type]


def result(
    arm: str, name: str, solved: bool | None, accepted: bool = False, **more: object
) -> Result:
    given = {
        "stop": Stop.one_try,
        "num_updates": 0,
        "used": {Role.forward: Used(10, 5, 1)},
        "outcome": "passed" if solved else "wrong_answer",
        **more,
    }
    return Result(arm, name, f"def add_{name}(a, b): ...", accepted, solved=solved, **given)  # type: ignore[arg-type]


def results(solved: Mapping[str, str], **more: object) -> list[Result]:
    """Make results from a letter a task, + for a solved one, by arm; tasks are t0, t1, ..."""
    return [
        result(arm, f"t{i}", letter == "+", **more)
        for arm, letters in solved.items()
        for i, letter in enumerate(letters)
    ]


def folder(path: Path, some: Sequence[Result], steps: Sequence[Step] = ()) -> RefineDirectory:
    """Make what publish reads, in the folder of a comparison."""
    write_rows(path / "2-calls.jsonl", [])
    write_rows(path / "results.jsonl", map(result_to_row, some))
    write_rows(path / "trace.jsonl", map(step_to_row, steps))
    return RefineDirectory(path)


def tasks(number: int) -> list[RefineTask]:
    return [task(f"t{i}") for i in range(number)]
