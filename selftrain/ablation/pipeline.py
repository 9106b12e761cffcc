"""An ablation from pools to measured arms: every arm trains the base model, all else equal.

Pools first, which arms share; then the pairs of each kind; then, a seed after the other, each arm
takes its pairs, trains, and is measured. What is finished is not done again. What arms are is in
arms.py, how pairs are chosen in data.py, budget.py and draw.py, what came out in results.py.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from selftrain import round_files
from selftrain.ablation.arms import BASE, VERIFIED, Arm, Generator
from selftrain.ablation.budget import check_data, token_budget, write_examples
from selftrain.ablation.data import copy_pairs, write_pairs
from selftrain.ablation.directory import AblationDirectory, remove_weights
from selftrain.config import Config
from selftrain.epochs import choose_epoch, measure_epochs, try_puzzles
from selftrain.errors import RunError
from selftrain.evaluate import EVALUATED
from selftrain.experiment import Experiment
from selftrain.files import Row, read_rows, write_json
from selftrain.finetune.log import read_training, training_metrics
from selftrain.loop import invent_puzzles, train
from selftrain.run_directory import RoundDirectory
from selftrain.sampling.lazy import LazySampler
from selftrain.statistics import evaluation_metrics


def run_arms(x: Experiment, directory: AblationDirectory, arms: Sequence[Arm]) -> Iterator[int]:
    """Make what is missing of every arm and seed; yield each seed once it is complete.

    Raises `Paused` where a limit is reached, `RunError` or `UsageError` where an arm cannot be.
    """
    experiments = [_of_seed(x, seed) for seed in seeds_of(x)]
    learning = [arm for arm in arms if arm.data != BASE]
    if learning and not directory.has_data():
        _reach_models(x, directory, arms)
        for own in experiments:
            _share_index(x, own)
    generators = list(dict.fromkeys(arm.generator for arm in learning))
    for own, generator in product(experiments, generators):
        drawing = [arm for arm in learning if arm.generator == generator]
        make_data(x, own, directory, generator, drawing)
    budget = token_budget(x.config, directory, arms, seeds_of(x))
    for number, own in enumerate(experiments, start=1):
        for place, arm in enumerate(arms, start=1):
            where = f"seed {number} of {len(experiments)}, arm {place} of {len(arms)}"
            make_arm(own, directory, arm, budget, where)
        yield own.config.seed


def seeds_of(x: Experiment) -> list[int]:
    """Give the seeds: the configured one and those that follow."""
    return [x.config.seed + number for number in range(x.config.ablate.num_seeds)]


def pool_seeds_of(x: Experiment) -> list[int]:
    """Give the seeds that puzzles are proposed and solved in: the first where pools are shared."""
    return seeds_of(x)[:1] if x.config.ablate.pool == "shared" else seeds_of(x)


def make_data(
    x: Experiment,
    own: Experiment,
    directory: AblationDirectory,
    generator: Generator | None,
    arms: Sequence[Arm],
) -> None:
    """Make what the arms of one generator draw from in a seed, unless it is there."""
    first, seed = x.config.seed, own.config.seed
    pool = None
    if generator:
        y = own if seed in pool_seeds_of(x) else x
        pool = make_pool(y, directory, generator, any(VERIFIED in arm.kinds for arm in arms))
        if seed != first and _draws_nothing(x.config):
            copy_pairs(directory, generator, first, seed)
    write_pairs(own, directory, generator, pool, arms)
    check_data(own, directory, arms)


def make_pool(
    x: Experiment, directory: AblationDirectory, generator: Generator, some_must_pass: bool
) -> RoundDirectory:
    """Let a generator propose, solve and judge, unless that is done.

    It keeps all pairs that pass; those of `curate.max_pairs` are chosen for each kind in data.py.
    Nothing is refined: the arms compare what attempts give.
    """
    pool = directory.pool(generator, x.config.seed)
    if not pool.metrics.exists():
        x.progress.say(f"seed {x.config.seed}: {generator.name} proposes and solves")
        sampler = LazySampler(lambda: x.load_other(generator.model), x.bill)
        whole = x.config.curate.model_copy(update={"max_pairs": None, "choose": "random"})
        plain = x.config.refine.model_copy(update={"enabled": False})
        y = replace(x, config=x.config.model_copy(update={"curate": whole, "refine": plain}))
        _share_index(x, y)
        try:
            invent_puzzles(y, pool, sampler)
        except RunError:
            # Its last word is that no pair passed; to arms of others that says nothing.
            if some_must_pass or not pool.near.exists() or not any(read_rows(pool.puzzles)):
                raise
        y.release(sampler)
        write_json(pool.metrics, _counts(pool))
    pool.remove_shards()
    return pool


def make_arm(
    x: Experiment, directory: AblationDirectory, arm: Arm, budget: int, where: str
) -> None:
    """Choose an arm's pairs in one seed, train the base model on them and measure it."""
    here = directory.arm(arm, x.config.seed)
    if not here.metrics.exists():
        x.progress.say(f"{where}: {arm.name}")
        if arm.data != BASE:
            write_examples(x.config, directory, arm, budget)
            train(x, here)
            choose_epoch(x, here)
        model = here.model if arm.data != BASE else None
        generator = LazySampler(lambda: x.load(model), x.bill)
        measure_epochs(x, here, generator)
        try_puzzles(x, here, generator, x.measured, EVALUATED.stage)
        known_families = {puzzle.family for puzzle in x.train}
        round_files.write_evaluation(here, x.measured, x.dev, known_families)
        write_json(here.metrics, _metrics(x, here))
    here.remove_shards()
    if not x.config.ablate.keep_models:
        remove_weights(here)


def _of_seed(x: Experiment, seed: int) -> Experiment:
    return replace(x, config=x.config.model_copy(update={"seed": seed}))


def _share_index(x: Experiment, other: Experiment) -> None:
    """Hand on the index of the held-out puzzles, a cached property that takes seconds to make."""
    vars(other)["nearness"] = x.nearness


def _reach_models(x: Experiment, directory: AblationDirectory, arms: Sequence[Arm]) -> None:
    """Load each model once where a pool is still to be made: a wrong name should end it at once.

    Raises UsageError or RunError.
    """
    inventing = {
        arm.generator.model
        for arm in arms
        if arm.generator
        and not all(directory.pool(arm.generator, s).metrics.exists() for s in pool_seeds_of(x))
    }
    if inventing:
        x.reach_others()
        x.load(None)
    for model in inventing - {x.config.model}:
        x.load_other(model)


def _draws_nothing(config: Config) -> bool:
    """Tell whether every seed has the same pairs of each kind, whose order alone it draws."""
    c = config.curate
    takes_all = config.solve.num_attempts <= c.max_solutions
    chooses_none = c.max_pairs is None and c.choose == "random"
    return config.ablate.pool == "shared" and takes_all and chooses_none


def _counts(pool: RoundDirectory) -> Row:
    """Count what a pool holds."""
    outcomes: Counter[str] = Counter()
    solved = set()
    for row in read_rows(pool.candidates):
        outcomes[row["outcome"]] += 1
        if row["passed"]:
            solved.add(row["puzzle_id"])
    return {
        "num_proposals": sum(1 for _ in read_rows(pool.proposals)),
        "num_puzzles": sum(1 for _ in read_rows(pool.puzzles)),
        "num_solved": len(solved),
        "num_attempts": outcomes.total(),
        "num_passed": outcomes["passed"],
        "outcomes": dict(sorted(outcomes.items())),
    }


def _metrics(x: Experiment, here: RoundDirectory) -> Row:
    """Give what came out of an arm in one seed; written last."""
    rows = list(read_rows(here.evaluation))
    metrics: Row = {"seed": x.config.seed}
    metrics |= evaluation_metrics(rows, x.config.evaluate.k, x.config.seed)
    if here.examples.exists():
        taught = [(row["num_tokens"], row["passed"]) for row in read_rows(here.examples)]
        metrics |= {
            "train/num_examples": len(taught),
            "train/num_tokens": sum(size for size, _ in taught),
            "train/num_passed": sum(passed for _, passed in taught),
            **training_metrics(read_training(here.training_log)),
        }
    return metrics
