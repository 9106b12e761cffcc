"""One round: propose, filter, solve, judge, curate, fine-tune, evaluate.

This follows Haluptzok, Bowers and Kalai, "Language Models Can Teach Themselves to Program Better"
(2022). What each call does is in the file of its name. `teach_verifier`, `judge_in_round` and
`measure_verifiers` are LEVER's (verifier/rounds/): without `verifier.enabled` they judge all
candidates by judge.py and do nothing else. `refine_unsolved` is CodeGrad's (refine/in_rounds.py):
without `refine.enabled` it gives the candidates as they are. `x.once` does a shard of a stage once:
where an earlier process finished it, its rows are read instead. How that is done is in
experiment.py.
"""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from puzzles.near import NearIndex
from puzzles.seen import Seen
from selftrain import round_files
from selftrain.config import of_round
from selftrain.curate import curate
from selftrain.decontaminate import CHECKED, decontaminate
from selftrain.diversity import measure_diversity, read_diversity
from selftrain.epochs import choose_epoch, measure_epochs, try_puzzles
from selftrain.errors import RunError
from selftrain.evaluate import EVALUATED
from selftrain.experiment import Experiment
from selftrain.files import read_rows
from selftrain.filter import FILTERED, filter_proposals, kept_puzzles, remember
from selftrain.finetune.everywhere import Training, train_into
from selftrain.finetune.lessons import TrainingPaths, read_lessons
from selftrain.judge import JUDGED
from selftrain.models import load_tokenizer
from selftrain.propose import PROPOSALS, propose
from selftrain.refine.in_rounds import refine_unsolved
from selftrain.run_directory import RoundDirectory
from selftrain.sampling.lazy import LazySampler
from selftrain.seeds import derive_seed
from selftrain.solve import CANDIDATES, solve
from selftrain.verifier.rounds.in_rounds import teach_verifier
from selftrain.verifier.rounds.judge_in_round import judge_in_round
from selftrain.verifier.rounds.worth import measure_verifiers

Gather = Callable[[Experiment, RoundDirectory, LazySampler], None]


def self_train(x: Experiment, gather: Gather | None = None) -> Iterator[RoundDirectory]:
    """Evaluate the base model, run the rounds; yield each round's directory once complete.

    `gather` writes what a round trains on, by default what the generator invents. Raises `Paused`
    where a limit is reached, `RunError` where a round kept nothing to train on.
    """
    generator = x.generator(0)
    for number in range(x.config.rounds + 1):
        here = x.run.round(number)
        if here.metrics.exists():
            generator = x.generator(number)
        else:
            if number > 0:
                (gather or invent_puzzles)(x, here, generator)
                x.release(generator)
                watch_diversity(x, here)
                teach_verifier(x, here)
                train(x, here)
                choose_epoch(x, here)
                generator = x.generator(number)
            measure(x, here, generator)
        here.remove_shards()
        yield here


def invent_puzzles(x: Experiment, here: RoundDirectory, generator: LazySampler) -> None:
    """Let the generator propose puzzles and solve them, and write what is to be trained on."""
    c = x.config
    proposer, solver = x.proposer(generator), x.solver(generator)
    num_proposals = of_round(c.propose.num_proposals, here.number)
    num_examples = 0
    seen = Seen(chain(x.train, x.dev, x.held_out, x.earlier_puzzles(here.number)))
    held_out = NearIndex([*x.held_out, *x.dev])
    for shard, start in enumerate(range(0, num_proposals, c.propose.shard_size)):
        indices = range(start, min(start + c.propose.shard_size, num_proposals))
        once = partial(x.once, here, shard)

        proposing = partial(propose, proposer, x.train, c.propose, c.seed, here.number, indices)
        proposals = once(PROPOSALS, len(indices), proposing)

        filtering = partial(
            filter_proposals, proposals, seen, held_out, c.filter, x.filter_judging, c.seed
        )
        filtered = once(FILTERED, len(proposals), filtering)
        remember(seen, filtered)
        puzzles = kept_puzzles(filtered)

        solving = partial(solve, solver, puzzles, x.attempts(here.number))
        candidates = once(CANDIDATES, len(puzzles) * c.solve.num_attempts, solving)

        judging = partial(judge_in_round, x, here, puzzles, candidates)
        judged = once(JUDGED, len(candidates), judging)
        judged = refine_unsolved(x, here, shard, solver, puzzles, judged)

        examples = list(curate(puzzles, judged, c.curate, c.seed, here.number))
        checking = partial(decontaminate, examples, x.nearness, c.decontaminate, x.judging)
        checked = once(CHECKED, len(examples), checking)
        num_examples += sum(one.rejection is None for one in checked)
        if c.propose.num_pairs and num_examples >= of_round(c.propose.num_pairs, here.number):
            break
    round_files.write_stages(here, x.examples_before(here.number), c)
    round_files.write_near(here, x.nearness, x.train)
    if num_examples == 0:
        raise RunError(round_files.why_nothing_was_kept(here))


def watch_diversity(x: Experiment, here: RoundDirectory) -> None:
    """Measure how varied the round's puzzles are, and warn where that falls."""
    c = x.config
    if not here.diversity.exists():
        earlier = [x.run.round(number) for number in range(1, here.number)]
        num_proposals = sum(1 for _ in read_rows(here.proposals))
        with x.timed(here, "diversity", 0, num_proposals) as advance:
            measure_diversity(here, earlier, x.train, c.diversity, x.embed, c.seed, advance=advance)
    for warning in read_diversity(here.diversity).warnings:
        x.progress.say(warning)


def train(x: Experiment, here: RoundDirectory) -> None:
    """Fine-tune the generator on the round's examples."""
    c = x.config
    if not here.model.exists():
        tokenizer = load_tokenizer(c.model)
        lessons = read_lessons(tokenizer, read_rows(here.examples), c.finetune, c.seed)
        seed = derive_seed(c.seed, here.number, "fine-tune")
        keep_epochs = c.evaluate.epochs != "last"
        training = Training(c.model, start_of(x, here), lessons, c.finetune, seed, keep_epochs)
        paths = TrainingPaths(here.model, here.training_state, here.tracker)
        with x.timed(here, "fine-tune", 0, lessons.num_steps(c.finetune)) as advance:
            train_into(paths, training, tokenizer, say=x.progress.say, advance=advance)
    shutil.rmtree(here.training_state, ignore_errors=True)


def start_of(x: Experiment, here: RoundDirectory) -> Path | None:
    """Give what a round trains from: the round before's model, or None for the base model."""
    if x.config.finetune.start == "previous" and here.number > 1:
        return x.run.round(here.number - 1).model
    return None


def measure(x: Experiment, here: RoundDirectory, generator: LazySampler) -> None:
    """Evaluate a round's model on the held-out puzzles, and write the round's metrics."""
    measure_epochs(x, here, generator)
    try_puzzles(x, here, generator, x.measured, EVALUATED.stage)
    round_files.write_evaluation(here, x.measured, x.dev, {puzzle.family for puzzle in x.train})
    measure_verifiers(x, here, generator)
    round_files.write_metrics(here, x.config)
