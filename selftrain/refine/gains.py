"""What refinement adds in a round, beside drawing again: verified pairs, and the tokens they took.

It is counted in one pass over the round's files; tokens are those of all roles, as
`refine.tokenizer` counts them. How the numbers are shown is in report/refinement.py.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from selftrain.config.refine import Arm
from selftrain.files import Row, read_rows
from selftrain.judge import Judged
from selftrain.refine.arms import WAYS
from selftrain.refine.in_rounds import RETRIED, Retried
from selftrain.refine.trace import Role, Stop
from selftrain.run_directory import RoundDirectory

NAMES = ("refined", "resampled")
"""The two things that become of an unsolved puzzle, as metrics name them."""


@dataclass
class Gains:
    """What became of the puzzles that went one way."""

    num_puzzles: int = 0
    num_solved: int = 0
    """Puzzles with an answer that passed the judge: each a verified pair, since a way ends there.
    """
    num_examples: int = 0
    """Of these pairs, those that are trained on."""
    num_calls: int = 0
    num_tokens: int = 0
    """Of prompts and replies."""
    num_critic_tokens: int = 0
    """How many of these the critic read or wrote."""
    stops: Counter[Stop] = field(default_factory=Counter)

    @property
    def pairs_per_1000_tokens(self) -> float | None:
        """Give the verified pairs for 1,000 tokens; None where no token was used."""
        return 1000 * self.num_solved / self.num_tokens if self.num_tokens else None


def gains_metrics(here: RoundDirectory) -> Row:
    """Give the flat metrics of a round; none where it did not refine."""
    if not here.refined.exists():
        return {}
    pairs = {
        (row["puzzle_id"], row["index"])
        for row in read_rows(here.examples)
        if row["round"] == here.number
    }
    gains = count_gains(map(RETRIED.from_row, read_rows(here.refined)), pairs)
    return {key: value for name, one in gains.items() for key, value in _metrics(name, one)}


def count_gains(retried: Iterable[Retried], examples: set[tuple[str, int]]) -> dict[str, Gains]:
    """Count by name of the way; `examples` are puzzle ids and attempts of what is trained on."""
    gains = {name: Gains() for name in NAMES}
    for one in retried:
        result = one.refined.result
        own = gains[name_of(result.arm)]
        own.num_puzzles += 1
        own.num_solved += bool(result.solved)
        own.num_examples += _is_in(one.judged, examples)
        own.stops[result.stop] += 1
        for role, used in result.used.items():
            own.num_calls += used.num_calls
            own.num_tokens += used.total
            own.num_critic_tokens += used.total if role is not Role.forward else 0
    return gains


def name_of(arm: Arm) -> str:
    """Name what became of a puzzle in an arm."""
    return NAMES[WAYS[arm].resamples]


def _is_in(judged: Judged | None, examples: set[tuple[str, int]]) -> bool:
    if judged is None:
        return False
    return (judged.candidate.puzzle_id, judged.candidate.index) in examples


def _metrics(name: str, one: Gains) -> list[tuple[str, int | float | None]]:
    begin = f"refine/{name}"
    return [
        (f"{begin}/puzzles", one.num_puzzles),
        (f"{begin}/solved", one.num_solved),
        (f"{begin}/examples", one.num_examples),
        (f"{begin}/calls", one.num_calls),
        (f"{begin}/tokens", one.num_tokens),
        (f"{begin}/critic_tokens", one.num_critic_tokens),
        (f"{begin}/pairs_per_1000_tokens", one.pairs_per_1000_tokens),
        *((f"{begin}/stop/{stop}", one.stops[stop]) for stop in Stop if one.stops[stop]),
    ]
