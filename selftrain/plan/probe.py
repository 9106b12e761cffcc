"""A short measurement: each stage at its real lengths, for as many samples as a minute allows.

The stages are the run's own, called with the run's own arguments; what they write is thrown away,
but for its lengths and rates. The base model is probed: later rounds write, and solve, otherwise.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from puzzles import Puzzle
from puzzles.near import NearIndex
from puzzles.seen import Seen
from puzzles.trivial import trivial_answers
from selftrain import models
from selftrain.config import Config
from selftrain.curate import Example, curate
from selftrain.decontaminate import decontaminate
from selftrain.errors import RunError
from selftrain.experiment import Experiment
from selftrain.filter import Filtered, filter_proposals, kept_puzzles
from selftrain.held_out import draw_measured
from selftrain.judge import Judged, Judging, judge_candidates
from selftrain.plan.counts import Rates, rates_at_most
from selftrain.plan.durations import Speeds
from selftrain.plan.texts import Written
from selftrain.progress import Progress
from selftrain.propose import Proposal, propose
from selftrain.run_directory import RunDirectory
from selftrain.sampling.lazy import LazySampler
from selftrain.seeds import derive_seed
from selftrain.solve import Attempts, Candidate, solve

SECONDS = 60.0
"""What a probe takes at most, about: a batch that is under way is waited for."""
REPEATS = 3
LEAST_WRITTEN = 30
"""Proposals, and attempts, below which a share of them means nothing."""
STEPS = 3
"""Steps of fine-tuning that are timed, after one that is not."""
_PROBED_ROUND = 0
"""A run invents from round 1 on, so no puzzle of a run is one of the probe's."""
_WARM_UP = ("def f(x: int):\n    return x == 7", "def g():\n    return 7")
"""Judged before time is taken: the processes that judge start with the first program."""
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Probe:
    """What was measured."""

    speeds: Speeds
    rates: Rates
    written: Written
    batch: int
    """Samples that were drawn together; fewer than configured on a slow machine."""
    seconds: float
    """What the probe itself took."""

    @property
    def tells_rates(self) -> bool:
        """Tell whether enough was written to take its lengths and rates for the run's."""
        return min(len(self.written.proposals), len(self.written.attempts)) >= LEAST_WRITTEN


class _Enough(Exception):
    """Enough steps were timed; nothing is to be saved."""


def run_probe(x: Experiment) -> Probe:
    """Measure each stage of a round. Raises RunError where the machine cannot hold a batch."""
    try:
        return _probe(x)
    except Exception as error:
        if (
            type(error).__name__ != "OutOfMemoryError"
        ):  # torch's, which is not imported for a server
            raise
        raise RunError(
            f"the probe ran out of memory with model.batch_size {x.config.model.batch_size} and "
            f"finetune.batch_size {x.config.finetune.batch_size}. Lower one of them, or "
            "finetune.block_tokens."
        ) from None


def probe_experiment(
    config: Config, train: Sequence[Puzzle], dev: Sequence[Puzzle], held_out: Sequence[Puzzle]
) -> Experiment:
    """Make an experiment that has the run's models and settings, and no run directory."""
    return Experiment(
        config=config,
        run=RunDirectory(Path(os.devnull)),
        train=train,
        dev=dev,
        held_out=held_out,
        measured=draw_measured(held_out, config),
        progress=Progress(),
        load=lambda trained: models.load_sampler(config.model, trained),
        load_other=lambda other: models.load_sampler(other),
    )


def _probe(x: Experiment) -> Probe:
    c, begun = x.config, time.monotonic()
    generator = x.generator(0)
    load = _timed(lambda: generator.count_tokens(["f"]))
    batch = _largest_batch(x, generator)
    filtered, proposing, filtering = _invent(x, generator, batch)
    puzzles = kept_puzzles(filtered) or list(x.train)
    attempts = x.attempts(_PROBED_ROUND)
    judged, solving, judging = _try(x.solver(generator), puzzles, attempts, x.judging, batch)
    trial = x.evaluation(_PROBED_ROUND)
    _, trying, trying_judge = _try(generator, x.measured, trial.samples, trial.judging, batch)
    x.release(generator)
    examples = list(curate(puzzles, judged, c.curate, c.seed, _PROBED_ROUND))
    speeds = Speeds(
        load=(load,),
        propose=proposing,
        filter=filtering,
        solve=solving,
        judge=judging,
        decontaminate=_compare(x, examples),
        step=_step(x, examples),
        evaluate=trying,
        evaluate_judge=trying_judge,
    )
    written = Written(filtered, judged, examples)
    return Probe(speeds, _rates(c, filtered, judged), written, batch, time.monotonic() - begun)


def _ignore(_: object) -> None:
    """Take no notice of how far a stage is."""


def _timed(work: Callable[[], object]) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def _repeat(
    parts: Iterable[Sequence[_Part]], work: Callable[[Sequence[_Part]], Sized], budget: float
) -> tuple[float, ...]:
    """Work on part after part until the budget is spent; give seconds a unit of each.

    What `work` gives is counted as its units.
    """
    begun, seconds = time.monotonic(), []
    for part in parts:
        started = time.monotonic()
        num_units = len(work(part))
        seconds.append((time.monotonic() - started) / num_units)
        if time.monotonic() - begun > budget:
            break
    return tuple(seconds)


def _parts(items: Sequence[_Part]) -> list[Sequence[_Part]]:
    """Deal items out into as many parts as there are repeats; none is empty."""
    return [part for part in (items[i::REPEATS] for i in range(REPEATS)) if part]


def _kept(done: list[_Part], new: Iterable[_Part]) -> Sequence[_Part]:
    """Add what was just done to `done`, and give it."""
    some = list(new)
    done.extend(some)
    return some


def _largest_batch(x: Experiment, generator: LazySampler) -> int:
    """Grow a batch of proposals until it is the configured one, or takes too long for a probe.

    A first one does what is done once only, such as compiling for a GPU, and counts for nothing.
    It begins with the samples of one prompt, which is read once for all of them.
    """
    proposer = x.config.propose.model or x.config.model
    _propose(x, generator, range(1))
    rows = min(x.config.propose.num_samples, proposer.batch_size)
    while True:
        taken = _timed(lambda: _propose(x, generator, range(rows)))  # noqa: B023  # called at once
        if rows == proposer.batch_size or taken > SECONDS / 8:
            return rows
        rows = min(4 * rows, proposer.batch_size)


def _propose(x: Experiment, generator: LazySampler, indices: Sequence[int]) -> list[Proposal]:
    c = x.config
    return propose(
        x.proposer(generator), x.train, c.propose, c.seed, _PROBED_ROUND, indices, advance=_ignore
    )


def _invent(
    x: Experiment, generator: LazySampler, batch: int
) -> tuple[list[Filtered], tuple[float, ...], tuple[float, ...]]:
    """Propose and filter; give what came of it, and the seconds of each a proposal."""
    c = x.config
    proposals: list[Proposal] = []
    filtered: list[Filtered] = []
    seen, held_out = Seen([*x.train, *x.dev, *x.held_out]), NearIndex(x.held_out)

    def sift(some: Sequence[Proposal]) -> Iterator[Filtered]:
        return filter_proposals(
            some, seen, held_out, c.filter, x.filter_judging, c.seed, advance=_ignore
        )

    batches = [range(i * batch, (i + 1) * batch) for i in range(1, REPEATS + 1)]
    proposing = _repeat(
        batches, lambda part: _kept(proposals, _propose(x, generator, part)), SECONDS / 6
    )
    filtering = _repeat(_parts(proposals), lambda part: _kept(filtered, sift(part)), SECONDS / 10)
    return filtered, proposing, filtering


def _try(
    sampler: LazySampler,
    puzzles: Sequence[Puzzle],
    attempts: Attempts,
    judging: Judging,
    batch: int,
) -> tuple[list[Judged], tuple[float, ...], tuple[float, ...]]:
    """Solve a batch of attempts after another, at other puzzles where there are, and judge them.

    Gives the seconds of each an attempt.
    """
    attempts = replace(attempts, count=min(attempts.count, batch))
    a_batch = min(len(puzzles), max(1, batch // attempts.count))
    batches = [
        [puzzles[(start + i) % len(puzzles)] for i in range(a_batch)]
        for start in range(0, REPEATS * a_batch, a_batch)
    ]
    candidates: list[Candidate] = []
    judged: list[Judged] = []

    def by_judge(groups: Sequence[list[Candidate]]) -> Iterator[Judged]:
        return judge_candidates(
            [one for group in groups for one in group], judging, advance=_ignore
        )

    solving = _repeat(
        batches,
        lambda part: _kept(candidates, solve(sampler, part, attempts, advance=_ignore)),
        SECONDS / 6,
    )
    list(judging.judge([_WARM_UP] * 2))
    groups = [list(group) for _, group in groupby(candidates, key=lambda one: one.puzzle_id)]
    judge_seconds = _repeat(
        _parts(groups), lambda part: _kept(judged, by_judge(part)), SECONDS / 10
    )
    return judged, solving, judge_seconds


def _compare(x: Experiment, examples: Sequence[Example]) -> tuple[float, ...]:
    """Decontaminate the pairs at hand; without any, it is taken to cost nothing."""
    c, held_out = x.config.decontaminate, x.nearness  # which is made when first asked for
    compare = partial(decontaminate, held_out=held_out, config=c, judging=x.judging)
    return _repeat(_parts(examples), compare, SECONDS / 10) or (0.0,)


def _step(x: Experiment, examples: Sequence[Example]) -> tuple[float, ...]:
    """Time steps of fine-tuning on the pairs at hand, or on the train puzzles, and save nothing."""
    from selftrain.finetune.blocks import blocks
    from selftrain.finetune.lessons import Lessons, TrainingPaths
    from selftrain.finetune.pieces import Text
    from selftrain.finetune.train import fine_tune

    c = x.config
    tokenizer = models.load_tokenizer(c.model)
    # A prompt of its own each, as `finetune.loss_on: completion` learns from nothing else.
    texts = [Text(one.prompt, one.completion) for one in examples] or [
        Text("", puzzle.f) for puzzle in x.train
    ]
    packed = blocks(tokenizer, texts, c.finetune)
    wanted = (STEPS + 1) * c.finetune.batch_size
    data = [packed[i % len(packed)] for i in range(wanted)]
    model = models.load_for_training(c.model, c.finetune.method, None)
    times = [time.monotonic()]

    # Called before the first step too, which is not timed: it does what is done once only.
    def advance(_: int) -> None:
        _synchronize()
        times.append(time.monotonic())
        if len(times) == STEPS + 3:
            raise _Enough

    seed = derive_seed(c.seed, _PROBED_ROUND, "fine-tune")
    once = c.finetune.model_copy(
        update={"epochs": 1, "tracker": None, "checkpoint_steps": len(data)}
    )
    with tempfile.TemporaryDirectory() as folder, suppress(_Enough):
        paths = TrainingPaths(*(Path(folder) / name for name in ("model", "state", "tracker")))
        fine_tune(model, Lessons(data), once, seed, paths, say=_ignore, advance=advance)
    return tuple(after - before for before, after in pairwise(times[2:]))


def _synchronize() -> None:
    """Wait for what a GPU still has to do; else a step would seem to take no time."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _rates(config: Config, filtered: Sequence[Filtered], judged: Sequence[Judged]) -> Rates:
    """Give the rates of the probe; what it saw none of is not known to be none: half of one."""
    kept = [one.result for one in filtered if isinstance(one.result, Puzzle)]
    most, attempts = rates_at_most(config).pairs, config.solve.num_attempts
    pairs = []
    for _, group in groupby(judged, key=lambda one: one.candidate.puzzle_id):
        tried = list(group)
        right = {one.candidate.g for one in tried if one.passed}
        pairs.append(min(most, len(right) * attempts / len(tried)))
    if config.curate.verdicts != "verified":
        pairs = [most]
    answers = [
        len(trivial_answers(puzzle.answer_type)) for puzzle in kept if puzzle.answer_type != "bool"
    ]
    return Rates(
        kept=max(len(kept), 0.5) / len(filtered),
        pairs=fmean(pairs) or most * 0.5 / len(judged),
        trivial_answers=sum(answers) / len(filtered),
    )
