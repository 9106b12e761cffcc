"""What is written down of a refinement: a row an iteration, and what a task came to in an arm."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from selftrain.config.refine import Arm
from selftrain.files import Format, Row
from selftrain.refine.critic.probe import Probe
from selftrain.refine.critic.review import Edit, FieldReview, FieldVerdict, How, Review
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.gate.evidence import GateReport, report_from_row, report_to_row
from selftrain.sampling.completion import FinishReason

NO_CANDIDATE = "no_candidate"
"""Outcome of an arm that came to no program at all."""


class Role(StrEnum):
    """Who was asked."""

    forward = "forward"
    critic = "critic"
    """For a review."""
    probes = "probes"
    """The critic, for calls to run."""


class Stop(StrEnum):
    """Why a refinement ended."""

    all_pass = "all_pass"
    """The critic passes all four fields, and the candidate is one that the gate accepts; in `paper`
    mode and without a gate, the first alone."""
    gate_passed = "gate_passed"
    """The gate accepts the candidate, and no critic is asked for more."""
    no_gradient = "no_gradient"
    """Neither critic nor gate asks for an edit."""
    no_change = "no_change"
    """The forward model wrote what it had written before."""
    iterations = "iterations"
    """All updates are used up."""
    tokens = "tokens"
    """All tokens are used up."""
    too_long = "too_long"
    """The prompt leaves no room for a reply."""
    one_try = "one_try"
    """The arm asks for one candidate only."""


class Fate(StrEnum):
    """What became of a candidate."""

    best = "best"
    """The gate accepts it, or there is none: the answer so far."""
    current = "current"
    """The gate rejects it, but nothing better is there to go on from."""
    discarded = "discarded"
    """The gate rejects it, or it is no program: what there was before stays."""


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens of one or more calls, counted by `refine.tokenizer`."""

    prompt: int = 0
    completion: int = 0
    num_calls: int = 0

    @property
    def total(self) -> int:
        """Give prompt and completion together."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a model, and what it said."""

    seed: int
    reply: str
    """Its text, raw."""
    finish_reason: str
    """Why it ends; `content_filter` is a refusal, `length` a reply that is cut."""
    used: Used


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration: what was asked for, what came, and what the gate said of it."""

    arm: Arm
    task_id: str
    iteration: int
    """0 is the first candidate."""
    calls: Mapping[Role, Asked]
    """Those of this iteration."""
    probes: tuple[Probe, ...] = ()
    """What the critic had run on the candidate before."""
    review: Review | None = None
    """What the critic says of the candidate before; None where none was asked."""
    edits: tuple[Edit, ...] = ()
    """What the forward model was asked to do."""
    candidate: Candidate | None = None
    """What it wrote; None where the refinement ended without another one."""
    report: GateReport | None = None
    """What the gate says of it; None without a gate."""
    fate: Fate | None = None
    stop: Stop | None = None
    """Why the refinement ended with this iteration; None where it goes on."""

    @property
    def has_candidate(self) -> bool:
        """Tell whether a candidate was written; of a prompt that left no room there is none."""
        one = self.candidate
        return one is not None and one.no_source != FinishReason.PROMPT_TOO_LONG


@dataclass(frozen=True, slots=True)
class Result:
    """What a task came to in an arm."""

    arm: Arm
    task_id: str
    source: str | None
    """The answer: the best candidate, or the first where the gate accepts none."""
    accepted: bool
    """Whether the gate accepts it; without a gate, False."""
    stop: Stop
    num_updates: int
    """Candidates after the first."""
    used: Mapping[Role, Used]
    solved: bool | None = None
    """Whether the hidden tests pass; None until they were asked, once, at the end."""
    outcome: str = ""
    """A `judge.Outcome`, or `no_candidate`."""

    @property
    def num_tokens(self) -> int:
        """Give the tokens of all its calls."""
        return sum(used.total for used in self.used.values())


def step_to_row(step: Step) -> Row:
    """Flatten a step: a row of the trace."""
    review = step.review
    return {
        "arm": step.arm,
        "task_id": step.task_id,
        "iteration": step.iteration,
        "calls": {role: asdict(asked) for role, asked in step.calls.items()},
        "probes": [asdict(probe) for probe in step.probes],
        "review": None
        if review is None
        else {
            "how": review.how,
            "num_dropped": review.num_dropped,
            "fields": [asdict(one) for one in review.fields],
        },
        "edits": [asdict(edit) for edit in step.edits],
        "candidate": None if step.candidate is None else asdict(step.candidate),
        "gate": None if step.report is None else report_to_row(step.report),
        "fate": step.fate,
        "stop": step.stop,
    }


def step_from_row(row: Row) -> Step:
    """Rebuild what `step_to_row` flattened."""
    candidate = row["candidate"]
    return Step(
        row["arm"],
        row["task_id"],
        row["iteration"],
        {
            Role(role): Asked(**{**asked, "used": Used(**asked["used"])})
            for role, asked in row["calls"].items()
        },
        tuple(Probe(**probe) for probe in row["probes"]),
        None if row["review"] is None else _review(row["review"]),
        tuple(Edit(**edit) for edit in row["edits"]),
        None
        if candidate is None
        else Candidate(**{**candidate, "proofs": tuple(map(tuple, candidate["proofs"]))}),
        None if row["gate"] is None else report_from_row(row["gate"]),
        None if row["fate"] is None else Fate(row["fate"]),
        None if row["stop"] is None else Stop(row["stop"]),
    )


def _review(row: Row) -> Review:
    first, second, third, fourth = (
        FieldReview(FieldVerdict(one["verdict"]), tuple(Edit(**edit) for edit in one["edits"]))
        for one in row["fields"]
    )
    return Review((first, second, third, fourth), How(row["how"]), row["num_dropped"])


def result_to_row(result: Result) -> Row:
    """Flatten a result."""
    return asdict(result)


def result_from_row(row: Row) -> Result:
    """Rebuild what `result_to_row` flattened."""
    used = {Role(role): Used(**one) for role, one in row["used"].items()}
    return Result(**{**row, "stop": Stop(row["stop"]), "used": used})


@dataclass(frozen=True, slots=True)
class Refined:
    """A task in an arm, from its first candidate to the end."""

    result: Result
    steps: tuple[Step, ...]


REFINED: Format[Refined] = Format(
    "refine",
    lambda one: {
        "result": result_to_row(one.result),
        "steps": [step_to_row(step) for step in one.steps],
    },
    lambda row: Refined(
        result_from_row(row["result"]), tuple(step_from_row(step) for step in row["steps"])
    ),
)
