"""What a comparison of arms comes to, in sentences: the same in the report and on a terminal.

A sentence says what is shown and no more. Its numbers are those of outcomes.py.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from selftrain.config import Config, ModelConfig, RefineConfig
from selftrain.config.refine import Arm
from selftrain.refine.arms import WAYS, left_out, reference, ways_of
from selftrain.refine.means import tokenizer_of
from selftrain.refine.report.outcomes import FORWARD, RESAMPLE, Against, ArmOutcome
from selftrain.refine.tasks.task import Kind, RefineTask
from selftrain.report.blocks import count, p_value, percent, plain

SHOWN = 0.05
"""Above this p-value nothing is said to differ."""
LEAST_DISCORDANT = 6
"""Fewest tasks that differ for which the exact test can fall below it: 2 / 2^6 = 0.03."""
_BASES: dict[Arm, str] = {FORWARD: "forward alone", RESAMPLE: "re-sampling at equal tokens"}
_CALLED: dict[Arm, str] = {
    "critic_no_gate": "Refinement without a gate",
    "gate_no_critic": "Revision by what the gate finds alone",
}
"""What arms do that are no whole refinement."""


def measured_arm(config: RefineConfig) -> Arm | None:
    """Name the arm that sentences are about: that whose tokens re-sampling has; None if none."""
    way = reference(ways_of(config))
    return way.name if way else None


def headline(arms: Sequence[ArmOutcome], measured: Arm | None) -> str:
    """Say what refinement does against forward alone and against re-sampling at equal tokens."""
    by_name = {one.arm: one for one in arms}
    if measured is None:
        solved = ", ".join(f"{one.arm} {_solved(one)}" for one in arms)
        return f"Nothing is refined here; solved: {solved}."
    own = by_name[measured]
    said = [f"{_CALLED.get(measured, 'Refinement')} ({measured}) solves {_solved(own)}"]
    said += [
        _against(own.against[base], name, by_name[base])
        for base, name in _BASES.items()
        if base in by_name
    ]
    missing = [name for base, name in _BASES.items() if base not in by_name]
    if len(missing) == 1:
        said.append(f"{missing[0]} is not among the arms, so nothing is said against it")
    elif missing:
        said.append(f"neither {' nor '.join(missing)} is among the arms to set it against")
    return "; ".join(said) + "."


def _solved(one: ArmOutcome) -> str:
    share = percent(one.num_solved / one.num_tasks)
    return f"{count(one.num_solved)} of {tasks_of(one.num_tasks)} ({share})"


def _against(one: Against, name: str, base: ArmOutcome) -> str:
    p = p_value(one.p_value)
    shown = (f"p = {p}" if p[0] != "<" else f"p {p}").replace("<", "< ")
    differ = (
        f"against {name}, which solves {count(base.num_solved)}, it gains {count(one.gained)} and "
        f"loses {count(one.lost)}"
    )
    if one.p_value >= SHOWN:
        return f"{differ}: no difference could be shown ({shown})"
    return f"{differ}: it solves {'more' if one.gained > one.lost else 'fewer'} ({shown})"


def tasks_of(number: int) -> str:
    """Spell a number of tasks."""
    return "1 task" if number == 1 else f"{count(number)} tasks"


def caveats(arms: Sequence[ArmOutcome], measured: Arm | None) -> Iterator[str]:
    """Warn where so few tasks differ that no test could tell, and where tokens are not equal."""
    by_name = {one.arm: one for one in arms}
    if measured is None:
        return
    own = by_name[measured]
    of = f"of {tasks_of(own.num_tasks)} came out differently"
    few = [
        f"gainst {_BASES[base]} only {count(one.gained + one.lost)} {of}"
        for base, one in own.against.items()
        if one.gained + one.lost < LEAST_DISCORDANT
    ]
    if few:
        yield (
            f"A{', and a'.join(few)}; with fewer than {LEAST_DISCORDANT} the exact test cannot "
            f"fall below {SHOWN}, whatever the truth is."
        )
    if RESAMPLE in by_name:
        yield _tokens(own, by_name[RESAMPLE])


def _tokens(own: ArmOutcome, resample: ArmOutcome) -> str:
    said = (
        f"The arm {own.arm} used {count(own.num_tokens)} tokens of all roles, re-sampling "
        f"{count(resample.num_tokens)}"
    )
    if own.num_tokens:
        said += f" ({resample.num_tokens / own.num_tokens:.2f} times as many)"
    return (
        f"{said}: it draws until the gate accepts, or as many were used on the same task; the last "
        "draw may go over."
    )


def facts(
    config: Config, tasks: Sequence[RefineTask], arms: Sequence[ArmOutcome], measured: Arm | None
) -> Iterator[str]:
    """Say how it was measured, a sentence or two each."""
    yield _tasks(tasks)
    yield _models(config)
    yield (
        "All arms begin at the same first candidate. Tokens are those of prompts and completions "
        f"of all roles, as the tokenizer of {_name(tokenizer_of(config).name)} counts them."
        + _reference(arms, measured)
    )
    done = ", ".join(one.arm for one in arms)
    yield " ".join(
        [f"Arms, in the order in which they were done: {done}.", *left_out_arms(config.refine)]
    )
    yield (
        "Intervals are 95%, Wilson's. Gained and lost count tasks that one arm alone solves; p is "
        "McNemar's, exact and two-sided, which takes tasks as independent of each other. Holm's "
        "correction is over all arms that are compared with the same one."
    )


def left_out_arms(config: RefineConfig) -> Iterator[str]:
    """Say which arms were asked for and not done."""
    for arm, why in left_out(config).items():
        yield f"The arm {arm} is left out: {why}."


def _tasks(tasks: Sequence[RefineTask]) -> str:
    sources: dict[str, int] = {}
    for task in tasks:
        name = task.source or "(unlabelled)"
        sources[name] = sources.get(name, 0) + 1
    named = ", ".join(f"{count(number)} of {plain(name)}" for name, number in sources.items())
    said = f"{tasks_of(len(tasks))}: {named}. Hidden tests score each answer once, at the end."
    if any(task.kind is Kind.puzzle for task in tasks):
        said += (
            " A puzzle has none but its own check, which the gate has too: solved means solved "
            "within the budget."
        )
    return said


def _models(config: Config) -> str:
    c = config.refine
    forward = _model(config.solve.model or config.model)
    if c.teach:
        forward += ", first fine-tuned on edits of train puzzles"
    said = (
        f"Forward model: {forward}, asked by {c.wording}, temperature {c.temperature:g}, at most "
        f"{count(c.max_new_tokens)} tokens a reply."
    )
    if any(WAYS[arm].critic == "configured" for arm in c.arms):
        said += f" Critic: {_critic(c)}."
    updates = "update" if c.iterations == 1 else "updates"
    return f"{said} Mode {c.mode}, at most {c.iterations:,} {updates}; seed {config.seed}."


def _critic(c: RefineConfig) -> str:
    if c.critic == "self":
        return "the forward model itself"
    if c.critic == "rules":
        return "a program that reads what the judge said"
    return f"{_model(c.critic)}, temperature {c.critic_temperature:g}"


def _model(model: ModelConfig) -> str:
    return _name(model.name)


def _name(name: str) -> str:
    """Name a model; of a folder that lies somewhere on this machine, the last part alone."""
    return plain(PurePath(name).name if PurePath(name).is_absolute() else name)


def _reference(arms: Sequence[ArmOutcome], measured: Arm | None) -> str:
    if measured is None:
        return " No arm refines."
    names = {one.arm for one in arms}
    said = ""
    if "resample" in names:
        said += f" The arm resample may use those that {measured} used on the same task."
    if "resample_no_gate" in names:
        said += (
            " The arm resample_no_gate draws as often on every task, and uses as many in all as "
            f"{measured} did."
        )
    return said
