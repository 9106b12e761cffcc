"""Some refinements word for word: numbers alone never show what an edit did.

Which are shown is drawn by seed: tasks that the first arm with a critic gains and loses, from the
results; rejected updates, one an invariant, while the trace streams by.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from selftrain.config.refine import Arm
from selftrain.refine.forward.wording import edit_line
from selftrain.refine.gate.evidence import GateReport
from selftrain.refine.report.outcomes import FORWARD
from selftrain.refine.report.reading import Ended
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.trace import Fate, Step
from selftrain.report.blocks import Block, Heading, Paragraph, Passage, Section, Verbatim, plain
from selftrain.report.verbatim import MAX_TITLE, Reservoir, passage, visible
from selftrain.seeds import derive_seed

NUM_SHOWN = 3
"""Tasks gained, and tasks lost."""
MAX_REASONS = 8
"""Invariants of which a rejected update is shown; all that tasks declare are one."""
MAX_STEPS = 4
"""Iterations of a task that are shown: the first, and the last ones."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An update that the gate rejects, whatever became of it."""

    step: Step
    before: str | None
    """The source that was to be revised; None where there was none."""


@dataclass
class Samples:
    """What is shown of a comparison."""

    seed: int
    arm: Arm | None
    """The arm whose gains and losses are shown; None shows none."""
    gained: Mapping[str, list[Step]] = field(default_factory=dict)
    """Iterations by task."""
    lost: Mapping[str, list[Step]] = field(default_factory=dict)
    rejected: dict[str, Reservoir[Rejected]] = field(default_factory=dict)
    """By invariant."""


def choose(arm: Arm | None, ended: Mapping[Arm, Sequence[Ended]], seed: int) -> Samples:
    """Draw the tasks that `arm` gains and loses against forward alone."""
    if arm is None or FORWARD not in ended:
        return Samples(seed, None)
    pairs = [(one, own.solved) for one, own in zip(ended[FORWARD], ended[arm], strict=True)]
    gained = [one.task_id for one, solved in pairs if solved and not one.solved]
    lost = [one.task_id for one, solved in pairs if one.solved and not solved]
    return Samples(seed, arm, _draw(gained, seed, "gained"), _draw(lost, seed, "lost"))


def keep(samples: Samples, refinement: Sequence[Step]) -> None:
    """Look at all iterations of a task in an arm, and keep what is to be shown."""
    before: str | None = None
    for step in refinement:
        if step.arm == samples.arm:
            for chosen in (samples.gained, samples.lost):
                if step.task_id in chosen:
                    chosen[step.task_id].append(step)
        if step.edits and step.report is not None and not step.report.accepted:
            reason = _reason(step.report)
            if reason not in samples.rejected:
                place = derive_seed(samples.seed, "refine", "report", "rejected", reason)
                samples.rejected[reason] = Reservoir(1, place)
            samples.rejected[reason].add(Rejected(step, before))
        if step.candidate is not None and step.fate is not Fate.discarded:
            before = step.candidate.source


def samples_section(samples: Samples, tasks: Sequence[RefineTask]) -> Section:
    """Set what was kept."""
    by_id = {task.task_id: task for task in tasks}
    blocks: list[Block] = []
    if samples.arm is not None:
        for what, chosen in (("gained", samples.gained), ("lost", samples.lost)):
            blocks.append(Heading(f"Tasks {what} by {samples.arm} against forward alone"))
            shown = [_refinement(by_id[task_id], steps) for task_id, steps in chosen.items()]
            blocks += shown or [Paragraph("None.")]
    blocks.append(Heading("Updates that the gate rejected, one an invariant"))
    reasons = sorted(samples.rejected)[:MAX_REASONS]
    rejected = [(reason, samples.rejected[reason].kept[0]) for reason in reasons]
    blocks += [_rejected(by_id[one.step.task_id], reason, one) for reason, one in rejected] or [
        Paragraph("None.")
    ]
    return Section("Verbatim", tuple(blocks))


def _draw(task_ids: Sequence[str], seed: int, what: str) -> dict[str, list[Step]]:
    drawn: Reservoir[str] = Reservoir(NUM_SHOWN, derive_seed(seed, "refine", "report", what))
    for task_id in task_ids:
        drawn.add(task_id)
    return {task_id: [] for task_id in drawn.kept}


def _reason(report: GateReport) -> str:
    """Name the first invariant that failed; those that tasks declare go by one name."""
    failures = report.failures
    return failures[0].invariant.split(":")[0] if failures else "nothing evaluated"


def _refinement(task: RefineTask, steps: Sequence[Step]) -> Verbatim:
    passages = [passage("task", task.statement)]
    for step in [*steps[:1], *steps[1:][1 - MAX_STEPS :]]:
        passages += _iteration(step)
    return Verbatim(_title(task.task_id), tuple(passages))


def _rejected(task: RefineTask, reason: str, one: Rejected) -> Verbatim:
    step = one.step
    before = [] if one.before is None else [passage("candidate before", one.before)]
    return Verbatim(
        _title(f"{reason}: {task.task_id}, {step.arm}, iteration {step.iteration}"),
        (passage("task", task.statement), *before, *_iteration(step)),
    )


def _iteration(step: Step) -> Iterator[Passage]:
    """Set what was asked for, what came, what the gate said, and the proofs."""
    number = step.iteration
    if step.edits:
        lines = (f"{i}. {line}" for i, line in enumerate(map(edit_line, step.edits), start=1))
        yield passage(f"edits of iteration {number}", "\n".join(lines))
    if step.candidate is not None:
        fate = f", {step.fate}" if step.fate else ""
        source = step.candidate.source
        said = f"(no program: {step.candidate.no_source})" if source is None else source
        yield passage(f"candidate of iteration {number}{fate}", said)
    if step.report is not None and not step.report.accepted:
        failed = [f"{bad.invariant}: {bad.detail}" for bad in step.report.failures]
        yield passage("what the gate found", "\n".join(failed or ["nothing could be evaluated"]))
    if step.candidate is not None and step.candidate.proofs:
        proofs = "\n".join(f"{name}: {text}" for name, text in step.candidate.proofs)
        yield passage("proofs, which decide nothing", proofs)
    if step.stop is not None:
        yield passage("ended", step.stop)


def _title(text: str) -> str:
    spelt = visible(plain(text))
    return spelt if len(spelt) <= MAX_TITLE else f"{spelt[: MAX_TITLE - 1]}…"
