"""The command `selftrain train`: a file of pairs trains a model, measured before and after.

It is a run of one round, whose puzzles and programs are read (pairs.py) where other runs invent
them. All that follows is as in loop.py: decontaminate, fine-tune, evaluate.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from puzzles import Puzzle
from selftrain import round_files
from selftrain.config import Config
from selftrain.curate import Example, curate
from selftrain.decontaminate import CHECKED, decontaminate
from selftrain.errors import RunError, UsageError
from selftrain.experiment import Experiment
from selftrain.files import read_rows
from selftrain.filter import FILTERED, Filtered, kept_puzzles
from selftrain.judge import JUDGED, Judged, judge_candidates
from selftrain.pairs import Given, candidates_of, describe, read_pairs
from selftrain.propose import Proposal
from selftrain.run import run
from selftrain.run_directory import RoundDirectory
from selftrain.sampling import Completion, FinishReason
from selftrain.sampling.lazy import LazySampler


def train_pairs(config: Config, path: Path, split: str | None, folder: Path) -> int:
    """Train on the pairs of a file in `folder`, or go on with it. Raises UsageError or RunError."""
    given = read_pairs(path, split)
    if not any(one.programs for one in given if isinstance(one.result, Puzzle)):
        raise UsageError(f"{path}: nothing to train on ({'; '.join(describe(given))}).")
    config = config.model_copy(update={"rounds": 1})
    return run(config, folder, gather=partial(take_pairs, given), data={"pairs": _digest(given)})


def take_pairs(
    given: Sequence[Given], x: Experiment, here: RoundDirectory, generator: LazySampler
) -> None:
    """Judge and curate what was given, in place of what a model would invent."""
    for line in describe(given):
        x.progress.say(line)
    # Programs of a puzzle are few and mostly right here, so there is nothing to screen.
    judging = replace(x.judging, mode="strict")
    num_examples = 0
    size = x.config.propose.shard_size
    for shard, start in enumerate(range(0, len(given), size)):
        some = given[start : start + size]
        once = partial(x.once, here, shard)
        filtered = once(FILTERED, len(some), partial(_filtered, some))
        puzzles = kept_puzzles(filtered)
        candidates = [candidate for one in some for candidate in candidates_of(one)]
        judged = once(JUDGED, len(candidates), partial(judge_candidates, candidates, judging))
        examples = list(_curate(some, puzzles, judged, x.config, here.number))
        checking = partial(decontaminate, examples, x.nearness, x.config.decontaminate, judging)
        checked = once(CHECKED, len(examples), checking)
        num_examples += sum(one.rejection is None for one in checked)
    round_files.write_stages(here, x.examples_before(here.number), x.config)
    round_files.write_near(here, x.nearness, x.train)
    if num_examples == 0:
        raise RunError(_why_nothing_was_kept(here))


def _filtered(given: Sequence[Given], *, advance: Callable[[int], object]) -> Iterator[Filtered]:
    """Put what was given into the rows of proposals, though no model proposed it."""
    for one in given:
        proposal = Proposal(one.name, (), Completion(one.f, FinishReason.STOP, 0, 0.0))
        yield Filtered(proposal, one.f, one.result)
        advance(1)


def _curate(
    given: Sequence[Given],
    puzzles: Sequence[Puzzle],
    judged: Sequence[Judged],
    config: Config,
    round_number: int,
) -> Iterator[Example]:
    """Make examples as rounds do, with the solve rates that the file tells of."""
    by_id = {one.result.id: one for one in given if isinstance(one.result, Puzzle)}
    num_correct = _num_correct(by_id, judged)
    # Wrong attempts are often left out of a file, so what was always solved is known by its counts.
    keeping = config.curate.model_copy(update={"drop_always_solved": False})
    examples = curate(puzzles, judged, keeping, config.seed, round_number)
    for example in examples:
        num_attempts = by_id[example.puzzle_id].num_attempts
        correct = num_correct[example.puzzle_id]
        if not (config.curate.drop_always_solved and correct == num_attempts):
            yield replace(example, num_attempts=num_attempts, num_correct=correct)


def _num_correct(by_id: Mapping[str, Given], judged: Sequence[Judged]) -> Counter[str]:
    """Count a puzzle's attempts that passed: each distinct program as often as it came."""
    num_correct: Counter[str] = Counter()
    for one in judged:
        if one.passed:
            place = one.candidate
            num_correct[place.puzzle_id] += by_id[place.puzzle_id].programs[place.index].count
    return num_correct


def _why_nothing_was_kept(here: RoundDirectory) -> str:
    counts = Counter(row["outcome"] for row in read_rows(here.candidates))
    counts.update(f"removed by {row['reason']}" for row in read_rows(here.removed))
    why = ", ".join(f"{count:,} {what}" for what, count in counts.most_common())
    return f"{here.path.name}: nothing was left to train on ({why}); see {here.candidates}."


def _digest(given: Sequence[Given]) -> str:
    """Hash what was given, so that a run goes on with the same pairs only."""
    digest = hashlib.sha256()
    for one in given:
        for text in (one.name, one.f, *(f"{p.count}\0{p.text}" for p in one.programs)):
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
