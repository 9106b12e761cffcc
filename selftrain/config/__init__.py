"""The configuration: a strict, frozen, typed tree, and the only place where defaults stand.

A file says what differs from the defaults, the command line may add `section.key=value`, and
whatever does not fit is refused with one sentence. Nothing here reads the environment.
"""

from typing import Annotated

from pydantic import Field

from selftrain.config.model import LoraConfig, ModelConfig
from selftrain.config.refine import RefineConfig
from selftrain.config.rounds import (
    AblateConfig,
    CurateConfig,
    DecontaminateConfig,
    DiversityConfig,
    EvaluateConfig,
    FilterConfig,
    FinetuneConfig,
    JudgeConfig,
    ProposeConfig,
    PuzzlesConfig,
    SolveConfig,
)
from selftrain.config.section import PerRound, Section
from selftrain.config.verifier import LeverConfig, VerifierConfig

__all__ = [
    "AblateConfig",
    "Config",
    "CurateConfig",
    "DecontaminateConfig",
    "DiversityConfig",
    "EvaluateConfig",
    "FilterConfig",
    "FinetuneConfig",
    "JudgeConfig",
    "LeverConfig",
    "LimitsConfig",
    "LoraConfig",
    "ModelConfig",
    "PerRound",
    "ProposeConfig",
    "PuzzlesConfig",
    "RefineConfig",
    "SolveConfig",
    "VerifierConfig",
    "of_round",
]


class LimitsConfig(Section):
    """When a run stops by itself, to be resumed by the same command."""

    hours: Annotated[float, Field(gt=0)] | None = None
    """Hours this process may work."""
    disk_gb: Annotated[float, Field(gt=0)] | None = None
    """Gigabytes (1e9 bytes) the run directory may hold."""


class Config(Section):
    """A whole experiment."""

    seed: Annotated[int, Field(ge=0)] = 0
    """Every draw of the run comes from this."""
    rounds: Annotated[int, Field(ge=0)] = 3
    """Rounds of self-training after the evaluation of the base model."""
    puzzles: PuzzlesConfig = PuzzlesConfig()
    model: ModelConfig = ModelConfig()
    propose: ProposeConfig = ProposeConfig()
    filter: FilterConfig = FilterConfig()
    solve: SolveConfig = SolveConfig()
    judge: JudgeConfig = JudgeConfig()
    curate: CurateConfig = CurateConfig()
    decontaminate: DecontaminateConfig = DecontaminateConfig()
    finetune: FinetuneConfig = FinetuneConfig()
    evaluate: EvaluateConfig = EvaluateConfig()
    diversity: DiversityConfig = DiversityConfig()
    ablate: AblateConfig = AblateConfig()
    verifier: VerifierConfig = VerifierConfig()
    lever: LeverConfig = LeverConfig()
    refine: RefineConfig = RefineConfig()
    limits: LimitsConfig = LimitsConfig()


def of_round(value: PerRound, round_number: int) -> int:
    """Give a setting's value in a round, counted from 1."""
    if isinstance(value, int):
        return value
    return value[min(round_number, len(value)) - 1]
