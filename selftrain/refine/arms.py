"""The arms of a comparison: which parts of the loop each has. All begin at the same candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from selftrain.config import RefineConfig
from selftrain.config.refine import Arm


@dataclass(frozen=True, slots=True)
class Way:
    """One way to spend tokens on a task."""

    name: Arm
    critic: Literal["none", "forward", "configured"] = "none"
    """Who reviews: nobody, the forward model, or `refine.critic`."""
    code: bool = False
    """Whether the critic may have calls run first."""
    gate: bool = False
    """Whether a machine checks candidates."""
    updates: bool = True
    """Whether the first candidate is followed by others."""
    resamples: bool = False
    """Whether these are drawn anew from the first prompt, instead of being revisions."""
    until_accepted: bool = False
    """Whether it ends with the first candidate that the gate accepts, though there is a critic."""


WAYS: dict[Arm, Way] = {
    way.name: way
    for way in (
        Way("forward", updates=False),
        Way("resample", gate=True, resamples=True),
        Way("resample_no_gate", resamples=True),
        Way("self_critic", critic="forward", gate=True),
        Way("critic", critic="configured", gate=True),
        Way("critic_code", critic="configured", code=True, gate=True),
        Way("critic_no_gate", critic="configured"),
        Way("gate_no_critic", gate=True),
    )
}


BY_INTEREST: tuple[Arm, ...] = (
    "critic",
    "self_critic",
    "critic_code",
    "critic_no_gate",
    "gate_no_critic",
)
"""The arms that revise, the paper's own first."""


def left_out(config: RefineConfig) -> Mapping[Arm, str]:
    """Say which arms of a configuration are not done, and why: they would be another one again."""
    reasons: dict[Arm, str] = {}
    if config.critic == "self" and {"critic", "self_critic"} <= set(config.arms):
        reasons["critic"] = "with refine.critic=self it is self_critic once more"
    if config.critic == "rules" and "critic_code" in config.arms:
        reasons["critic_code"] = (
            "with refine.critic=rules the critic is a program, which asks for no calls"
        )
    return reasons


def ways_of(config: RefineConfig) -> list[Way]:
    """Give the arms in the order in which they are done: those that draw again come last."""
    no_others = left_out(config)
    names = dict.fromkeys(name for name in config.arms if name not in no_others)
    return sorted((WAYS[name] for name in names), key=lambda way: way.resamples)


def reference(ways: Sequence[Way]) -> Way | None:
    """Give the arm that is set against the others, and whose tokens those that draw again may use:
    the first of `BY_INTEREST` that is there; None where none is.
    """
    by_name = {way.name: way for way in ways}
    return next((by_name[name] for name in BY_INTEREST if name in by_name), None)
