"""How many tokens the arms train on, and the examples that each arm takes of that many.

Tokens bind, and examples follow: with equal numbers of examples an arm of longer ones would learn
from more text. How pairs are drawn is in draw.py.
"""

from collections.abc import Sequence

from selftrain.ablation.arms import HUMAN, UNVERIFIED, VERIFIED, WRONG, Arm
from selftrain.ablation.data import read_pairs, read_slots
from selftrain.ablation.directory import AblationDirectory
from selftrain.ablation.draw import in_order, sum_tokens, within_budget
from selftrain.config import Config
from selftrain.errors import RunError, UsageError
from selftrain.experiment import Experiment
from selftrain.files import read_rows, write_rows

TOLERANCE = 0.02
"""By how much an arm's tokens may differ from the budget, as a share of it."""


def check_data(x: Experiment, directory: AblationDirectory, arms: Sequence[Arm]) -> None:
    """Refuse an arm without data in a seed, or with too little, once its pairs are there.

    Raises RunError, or UsageError where `ablate.train_tokens` asks for more than there is.
    """
    seed, asked = x.config.seed, x.config.ablate.train_tokens
    for arm in arms:
        for kind, slots in read_slots(directory, arm, seed).items():
            if not slots:
                raise RunError(_why_nothing(directory, arm, kind, seed))
        found = _capacity(x.config, directory, arm, seed)
        if arm.is_matched and asked is not None and asked * (1 - TOLERANCE) > found:
            raise UsageError(
                f"ablate.train_tokens is {asked:,}, but all the data of {arm.name} have {found:,} "
                f"tokens in seed {seed}. Lower it, which this directory allows as long as no arm "
                "is trained, or start anew with more propose.num_proposals."
            )


def token_budget(
    config: Config, directory: AblationDirectory, arms: Sequence[Arm], seeds: Sequence[int]
) -> int:
    """Give the tokens that each matched arm trains on in each seed: as set, or the scarcest's."""
    if config.ablate.train_tokens is not None:
        return config.ablate.train_tokens
    return min(
        (_capacity(config, directory, arm, s) for arm in arms if arm.is_matched for s in seeds),
        default=0,
    )


def write_examples(config: Config, directory: AblationDirectory, arm: Arm, budget: int) -> None:
    """Write what an arm trains on in a seed, unless it is there; `human` takes all it has.

    Raises RunError where no choice of examples comes near enough to the budget.
    """
    here = directory.arm(arm, config.seed)
    if here.examples.exists():
        return
    order = in_order(arm, read_slots(directory, arm, config.seed), config)
    taken = within_budget(order, budget) if arm.is_matched else order
    found = sum_tokens(taken)
    if arm.is_matched and abs(found - budget) > TOLERANCE * budget:
        raise RunError(
            f"the examples of {arm.name} in seed {config.seed} are too long to come within "
            f"{TOLERANCE:.0%} of {budget:,} tokens ({found:,} fit). Let arms have more data: raise "
            "propose.num_proposals or ablate.train_tokens."
        )
    write_rows(here.examples, read_pairs(directory, arm, config.seed, taken))


def _capacity(config: Config, directory: AblationDirectory, arm: Arm, seed: int) -> int:
    """Count the tokens of all that an arm could train on in a seed."""
    own = config.model_copy(update={"seed": seed})
    return sum_tokens(in_order(arm, read_slots(directory, arm, seed), own))


def _why_nothing(directory: AblationDirectory, arm: Arm, kind: str, seed: int) -> str:
    removed = directory.removed(kind, arm.generator, seed)
    num_removed = sum(1 for _ in read_rows(removed))
    lost = {
        HUMAN: "no reference solution could be used",
        VERIFIED: "no attempt passed the judge",
        UNVERIFIED: "no attempt parsed",
        WRONG: "no attempt that parsed was wrong",
    }[kind]
    if num_removed:
        lost = f"all {num_removed:,} pairs lay too near a held-out puzzle"
    return (
        f"the arm {arm.name} has no {kind} pair to train on in seed {seed}: {lost}; see {removed}. "
        "Leave that arm out, or raise propose.num_proposals or solve.num_attempts."
    )
