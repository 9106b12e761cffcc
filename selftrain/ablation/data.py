"""The pairs that arms draw from: of each pool and kind all that may be trained on, decontaminated.

Pools are made in loop.py, and have checked their verified pairs; what one arm takes of the pairs is
drawn in draw.py. Nothing is sampled.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path

from puzzles import Puzzle, from_row
from selftrain.ablation.arms import VERIFIED, Arm, Generator, curating
from selftrain.ablation.directory import ROUND, AblationDirectory
from selftrain.ablation.draw import Slot
from selftrain.config import ModelConfig
from selftrain.curate import chosen_rows, curate
from selftrain.decontaminate import decontaminate, removed_row
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
    c, here = x.config, directory.data(generator, x.config.seed)
    kinds = dict.fromkeys(kind for arm in arms for kind in arm.kinds)
    missing = [kind for kind in kinds if not directory.pairs(kind, generator, c.seed).exists()]
    if missing:
        with_tokens = _token_counter(c.model)
    for kind in missing:
        if kind == VERIFIED and pool:
            # The pool's round has decontaminated what passed, under the same settings.
            clean, removed = partial(_passed, pool.examples), _passed(pool.removed)
        else:
            _check(x, here, kind, _of_pool(pool) if pool else _references(x))
            clean, removed = partial(_clean, kind, here), _removed(kind, here)
        kept = chosen_rows(clean, curating(kind, c.curate), c.seed, ROUND)
        write_rows(directory.removed(kind, generator, c.seed), removed)
        write_rows(directory.pairs(kind, generator, c.seed), with_tokens(kept))
    here.remove_shards()


def copy_pairs(
    directory: AblationDirectory, generator: Generator | None, source: int, seed: int
) -> None:
    """Take over what pairs one seed has for another, where nothing is drawn between the two."""
    for path in sorted(directory.data(generator, source).path.glob("*.jsonl")):
        target = directory.data(generator, seed).path / path.name
        if not target.exists():
            write_rows(target, read_rows(path))


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


def _check(x: Experiment, here: RoundDirectory, kind: str, attempted: Iterator[Attempted]) -> None:
    """Choose and decontaminate the pairs of one kind, shard by shard."""
    form: Format[Row] = Format(kind, lambda row: row, lambda row: row)
    shard = 0
    while batch := list(islice(attempted, x.config.propose.shard_size)):
        x.once(here, shard, form, len(batch), partial(_checked, x, kind, batch))
        shard += 1


def _checked(
    x: Experiment, kind: str, batch: Sequence[Attempted], *, advance: Callable[[int], object]
) -> Iterator[Row]:
    """Curate attempts at some puzzles, and say which pairs are too near a held-out puzzle.

    Each comes with its verdict, for the report.
    """
    c = x.config
    passed = {
        (one.candidate.puzzle_id, one.candidate.index): one.passed
        for attempted in batch
        for one in attempted.judged
    }
    puzzles = [attempted.puzzle for attempted in batch]
    judged = (one for attempted in batch for one in attempted.judged)
    examples = list(curate(puzzles, judged, curating(kind, c.curate), c.seed, ROUND))
    for one in decontaminate(examples, x.nearness, c.decontaminate, x.judging):
        example, rejection = one.example, one.rejection
        verdict = passed[example.puzzle_id, example.index]
        yield {
            "example": {**asdict(example), "kind": kind, "passed": verdict},
            "rejection": asdict(rejection) if rejection else None,
        }
    advance(len(batch))


def _token_counter(model: ModelConfig) -> Callable[[Iterator[Row]], Iterator[Row]]:
    """Count tokens of examples as they are packed into blocks, an end-of-text token after each."""
    tokenizer = load_tokenizer(model)

    def with_tokens(rows: Iterator[Row]) -> Iterator[Row]:
        while some := list(islice(rows, 1000)):
            texts = [row["prompt"] + row["completion"] for row in some]
            found = tokenizer(texts, verbose=False)["input_ids"]
            for row, tokens in zip(some, found, strict=True):
                yield {**row, "num_tokens": len(tokens) + 1}

    return with_tokens


def _passed(path: Path) -> Iterator[Row]:
    """Stream the verified pairs that a pool kept or removed."""
    return ({**row, "kind": VERIFIED, "passed": True} for row in read_rows(path))


def _clean(kind: str, here: RoundDirectory) -> Iterator[Row]:
    return (row["example"] for row in here.rows(kind) if row["rejection"] is None)


def _removed(kind: str, here: RoundDirectory) -> Iterator[Row]:
    return (removed_row(row) for row in here.rows(kind) if row["rejection"] is not None)


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
