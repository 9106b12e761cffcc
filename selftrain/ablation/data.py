"""The pairs that arms draw from: of each pool and kind all that may be trained on, decontaminated.

Pools are made in loop.py; what one arm takes of the pairs is drawn in draw.py. Nothing is sampled.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby, islice

from puzzles import Puzzle, from_row
from selftrain.ablation.arms import HUMAN, VERIFIED, Arm, Generator
from selftrain.ablation.directory import ROUND, AblationDirectory
from selftrain.ablation.draw import Slot
from selftrain.config import ModelConfig
from selftrain.curate import Example, chosen_pairs, curate
from selftrain.decontaminate import decontaminate
from selftrain.experiment import Experiment
from selftrain.files import Format, Row, read_rows, write_rows
from selftrain.judge import Judged, judge_candidates, judged_from_row, judging_in_evaluation
from selftrain.models import load_tokenizer
from selftrain.pairs import Given, Program, candidates_of
from selftrain.run_directory import RoundDirectory


@dataclass(frozen=True, slots=True)
class Attempted:
    """A puzzle and all attempts at it."""

    puzzle: Puzzle
    judged: list[Judged]


def write_pairs(
    x: Experiment,
    directory: AblationDirectory,
    generator: Generator | None,
    pool: RoundDirectory | None,
    arms: Sequence[Arm],
) -> None:
    """Write the pairs of every kind that the arms of one generator draw from, unless there.

    `x` is the experiment of their seed. Without generator and pool they are reference solutions.
    """
    seed = x.config.seed
    here = directory.data(generator, seed)
    kinds = dict.fromkeys(kind for arm in arms for kind in arm.kinds)
    missing = [kind for kind in kinds if not directory.pairs(kind, generator, seed).exists()]
    if missing:
        checking = partial(_checked, x, _token_counter(x.config.model))
    for kind in missing:
        attempted = _of_pool(pool) if pool else _references(x)
        form: Format[Row] = Format(kind, lambda row: row, lambda row: row)
        shard = 0
        while batch := list(islice(attempted, x.config.propose.shard_size)):
            x.once(here, shard, form, len(batch), partial(checking, kind, batch))
            shard += 1
        removed = ({**r["pair"], **r["rejection"]} for r in here.rows(kind) if r["rejection"])
        write_rows(directory.removed(kind, generator, seed), removed)
        write_rows(directory.pairs(kind, generator, seed), _kept(x, kind, here))
    here.remove_shards()


def read_slots(directory: AblationDirectory, arm: Arm, seed: int) -> dict[str, list[Slot]]:
    """Read how many tokens each pair takes that an arm may draw, by kind."""
    return {
        kind: [
            Slot(kind, number, row["num_tokens"])
            for number, row in enumerate(read_rows(directory.pairs(kind, arm.generator, seed)))
        ]
        for kind in arm.kinds
    }


def read_pairs(
    directory: AblationDirectory, arm: Arm, seed: int, slots: Sequence[Slot]
) -> list[Row]:
    """Read the pairs that were drawn, in the order of `slots`."""
    wanted = {(slot.kind, slot.number) for slot in slots}
    found = {
        (kind, number): row
        for kind in arm.kinds
        for number, row in enumerate(read_rows(directory.pairs(kind, arm.generator, seed)))
        if (kind, number) in wanted
    }
    return [found[slot.kind, slot.number] for slot in slots]


def _checked(
    x: Experiment,
    count_tokens: Callable[[Sequence[str]], list[int]],
    kind: str,
    batch: Sequence[Attempted],
    *,
    advance: Callable[[int], object],
) -> Iterator[Row]:
    """Curate attempts at some puzzles, count tokens, and say what is too near a held-out puzzle."""
    found = [pair for attempted in batch for pair in _curated(x, kind, attempted)]
    examples = [example for example, _ in found]
    sizes = count_tokens([example.prompt + example.completion for example in examples])
    checked = decontaminate(examples, x.nearness, x.config.decontaminate, x.judging)
    for (example, passed), size, one in zip(found, sizes, checked, strict=True):
        pair = {**asdict(example), "kind": kind, "passed": passed, "num_tokens": size}
        yield {"pair": pair, "rejection": asdict(one.rejection) if one.rejection else None}
    advance(len(batch))


def _curated(x: Experiment, kind: str, attempted: Attempted) -> Iterator[tuple[Example, bool]]:
    """Choose among the attempts at one puzzle; each comes with its verdict, for the report."""
    c = x.config
    how: Row = {"verdicts": kind}
    if kind == HUMAN:
        # Reference solutions all pass, which tells nothing of how hard a puzzle is.
        how = {"verdicts": VERIFIED, "drop_always_solved": False}
    passed = {one.candidate.index: one.passed for one in attempted.judged}
    curating = c.curate.model_copy(update=how)
    for example in curate([attempted.puzzle], attempted.judged, curating, c.seed, ROUND):
        yield example, passed[example.index]


def _token_counter(model: ModelConfig) -> Callable[[Sequence[str]], list[int]]:
    """Count tokens of texts as they are packed into blocks, an end-of-text token after each."""
    tokenizer = load_tokenizer(model)

    def count(texts: Sequence[str]) -> list[int]:
        # A tokenizer refuses an empty list.
        found = tokenizer(list(texts), verbose=False)["input_ids"] if texts else []
        return [len(tokens) + 1 for tokens in found]

    return count


def _kept(x: Experiment, kind: str, here: RoundDirectory) -> Iterator[Row]:
    """Give the pairs that no check removed: of a pool's as `curate` chooses them, in its order."""
    c = x.config
    if kind == HUMAN or (c.curate.max_pairs is None and c.curate.choose == "random"):
        return _clean(kind, here)
    rates = [row["num_correct"] / row["num_attempts"] for row in _clean(kind, here)]
    chosen = chosen_pairs(rates, c.curate, c.seed, ROUND)
    place = {number: order for order, number in enumerate(chosen)}
    rows = [(place[i], row) for i, row in enumerate(_clean(kind, here)) if i in place]
    return (row for _, row in sorted(rows, key=lambda one: one[0]))


def _clean(kind: str, here: RoundDirectory) -> Iterator[Row]:
    return (row["pair"] for row in here.rows(kind) if row["rejection"] is None)


def _of_pool(pool: RoundDirectory) -> Iterator[Attempted]:
    """Stream the puzzles of a pool with their judged attempts."""
    groups = groupby(read_rows(pool.candidates), key=lambda row: row["puzzle_id"])
    for row, (puzzle_id, group) in zip(read_rows(pool.puzzles), groups, strict=True):
        assert row["id"] == puzzle_id, "candidates come in the order of their puzzles"
        yield Attempted(from_row(row), [judged_from_row(one) for one in group])


def _references(x: Experiment) -> Iterator[Attempted]:
    """Judge the reference solutions of the train split as if they were attempts."""
    puzzles = [puzzle for puzzle in x.train if puzzle.solutions]
    candidates = [candidates_of(_given(puzzle)) for puzzle in puzzles]
    judged = judge_candidates(
        [one for some in candidates for one in some],
        judging_in_evaluation(x.config.judge),
        advance=lambda _: None,
    )
    for puzzle, some in zip(puzzles, candidates, strict=True):
        yield Attempted(puzzle, list(islice(judged, len(some))))


def _given(puzzle: Puzzle) -> Given:
    """Put the reference solutions of a puzzle as a file of pairs would."""
    programs = tuple(Program(g, False, 1) for g in puzzle.solutions)
    return Given(puzzle.name, puzzle.f, puzzle, programs, len(programs))
