"""A task under way in an arm: what is known so far. What is done with it is in loop.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from selftrain.refine.arms import Way
from selftrain.refine.critic.probe import Probe
from selftrain.refine.critic.review import Edit, Review
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.gate.evidence import Evidence, GateReport
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.trace import Asked, Fate, Refined, Result, Role, Step, Stop, Used


@dataclass
class State:
    """One task, from its first candidate to the end."""

    task: RefineTask
    way: Way
    budget: int | None = None
    """Tokens that all its calls may take; None sets no limit."""
    first: Candidate | None = None
    current: Candidate | None = None
    """What is revised."""
    report: GateReport | None = None
    """What the gate says of it."""
    best: Candidate | None = None
    """The last that the gate accepts; without a gate, the last."""
    rejected: tuple[Evidence, ...] = ()
    """What the last update failed, where it was a program and discarded."""
    seen: set[str] = field(default_factory=set)
    """The sources of all candidates."""
    steps: list[Step] = field(default_factory=list)
    num_asked: int = 0
    """Calls of models so far."""
    # Of the iteration that is under way:
    calls: dict[Role, Asked] = field(default_factory=dict)
    probes: tuple[Probe, ...] = ()
    review: Review | None = None
    edits: tuple[Edit, ...] = ()
    stop: Stop | None = None
    """Why it ended; None while it goes on."""

    @property
    def used(self) -> Mapping[Role, Used]:
        """Give the tokens of all calls so far, by role."""
        total: dict[Role, Used] = {}
        asked = [item for step in self.steps for item in step.calls.items()]
        for role, call in [*asked, *self.calls.items()]:
            before = total.get(role, Used())
            total[role] = Used(
                before.prompt + call.used.prompt,
                before.completion + call.used.completion,
                before.num_calls + call.used.num_calls,
            )
        return total

    @property
    def source(self) -> str:
        """Give the source that is revised; empty where there is none yet."""
        return (self.current.source if self.current else None) or ""

    def is_spent(self) -> bool:
        """Tell whether its tokens are used up."""
        return self.budget is not None and self.budget <= sum(
            used.total for used in self.used.values()
        )

    def note(
        self,
        candidate: Candidate | None = None,
        report: GateReport | None = None,
        fate: Fate | None = None,
    ) -> None:
        """Write the iteration down, and begin the next one."""
        step = Step(
            arm=self.way.name,
            task_id=self.task.task_id,
            iteration=len(self.steps),
            calls=self.calls,
            probes=self.probes,
            review=self.review,
            edits=self.edits,
            candidate=candidate,
            report=report,
            fate=fate,
            stop=self.stop,
        )
        self.steps.append(step)
        self.calls, self.probes, self.review, self.edits = {}, (), None, ()

    def end(self, stop: Stop, candidate: Candidate | None = None) -> None:
        """End it, with this iteration as the last."""
        self.stop = stop
        self.note(candidate)

    def refined(self) -> Refined:
        """Give what it came to. The answer is the best, or the first where none is accepted."""
        answer = self.best or self.first
        assert self.stop is not None, "it goes on"
        result = Result(
            arm=self.way.name,
            task_id=self.task.task_id,
            source=answer.source if answer else None,
            accepted=self.way.gate and self.best is not None,
            stop=self.stop,
            num_updates=sum(step.has_candidate for step in self.steps[1:]),
            used=self.used,
        )
        return Refined(result, tuple(self.steps))
