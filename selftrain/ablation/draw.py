"""Draw an arm's examples from its pairs, by seed, and cut them at a number of tokens.

Where the pairs come from is said in data.py. Nothing is read or written here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from selftrain.ablation.arms import VERIFIED, WRONG, Arm, curating
from selftrain.config import Config
from selftrain.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Slot:
    """A pair that may be drawn: where it lies, and how much it takes."""

    kind: str
    """verified, unverified, wrong or human."""
    number: int
    """Its row in the file of its kind, from 0."""
    num_tokens: int
    """As the base model reads it, end-of-text included."""


def in_order(arm: Arm, slots: Mapping[str, Sequence[Slot]], config: Config) -> list[Slot]:
    """Give all that an arm could train on, in the order in which it is taken.

    `slots` has the pairs of each kind, which are shuffled by the configuration's seed, in one way
    for all arms, so that a noise dose has verified pairs of the verified arm, as many as it needs.
    Those that `curate.choose: middle_first` has put in order keep it.
    """
    shuffled = {
        kind: slots[kind]
        if curating(kind, config.curate).choose == "middle_first"
        else _shuffled(kind, slots[kind], config.seed)
        for kind in arm.kinds
    }
    if arm.num_wrong_of_100 is None:
        (kind,) = arm.kinds
        return list(shuffled[kind])
    return list(_dosed(shuffled[VERIFIED], shuffled[WRONG], arm.num_wrong_of_100))


def sum_tokens(slots: Sequence[Slot]) -> int:
    """Sum the tokens of pairs."""
    return sum(slot.num_tokens for slot in slots)


def within_budget(order: Sequence[Slot], budget: int) -> list[Slot]:
    """Take pairs in order while they fit, one more where that comes nearer, and exchange one.

    What is added or exchanged at last is of the kind whose turn it was, so a dose stays what it is.
    """
    taken: list[Slot] = []
    left = budget
    for slot in order:
        if slot.num_tokens > left:
            if slot.num_tokens - left < left:
                taken.append(slot)
            return _exchanged(taken, order[len(taken) :], budget)
        taken.append(slot)
        left -= slot.num_tokens
    return taken


def _exchanged(taken: list[Slot], spare: Sequence[Slot], budget: int) -> list[Slot]:
    """Put one spare pair in the place of one of its kind, where that comes nearest the budget."""
    left = budget - sum_tokens(taken)
    # Pairs of one kind and size are alike; of each the last taken and the first spare will do.
    places = {(slot.kind, slot.num_tokens): place for place, slot in enumerate(taken)}
    others = {(slot.kind, slot.num_tokens): slot for slot in reversed(spare)}
    exchanges = [
        (abs(left + taken[place].num_tokens - other.num_tokens), place, other)
        for (kind, _), place in places.items()
        for other in others.values()
        if other.kind == kind
    ]
    nearest = min(exchanges, key=lambda one: one[:2], default=None)
    if nearest is None or nearest[0] >= abs(left):
        return taken
    _, place, other = nearest
    return [*taken[:place], other, *taken[place + 1 :]]


def _shuffled(kind: str, slots: Sequence[Slot], seed: int) -> list[Slot]:
    order = list(slots)
    Random(derive_seed(seed, "ablate", kind)).shuffle(order)
    return order


def _dosed(
    verified: Sequence[Slot], wrong: Sequence[Slot], num_wrong_of_100: int
) -> Iterator[Slot]:
    """Mix so that of the first n pairs P percent are wrong, but for rounding, whatever n is."""
    right, false = iter(verified), iter(wrong)
    number = 0
    while True:
        is_wrong = (number + 1) * num_wrong_of_100 // 100 > number * num_wrong_of_100 // 100
        slot = next(false if is_wrong else right, None)
        if slot is None:
            return
        yield slot
        number += 1
