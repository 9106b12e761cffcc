"""The command `selftrain evaluate`: Pass@k of any model on any puzzles, outside a run."""

from pathlib import Path

from selftrain.config import Config
from selftrain.evaluate import count_correct, evaluate, evaluation_of
from selftrain.files import Row, check_output, write_rows
from selftrain.humaneval import function_rows, names_functions, read_functions
from selftrain.models import load_sampler
from selftrain.progress import Progress
from selftrain.prompts import few_shot_puzzles
from selftrain.puzzle_source import read_splits
from selftrain.references import with_sound_references
from selftrain.report.strata import strata_text
from selftrain.statistics import evaluation_metrics


def evaluate_model(config: Config, model: str, tasks: str | None, output: Path | None) -> int:
    """Measure a model as a run's round 0 is measured, and print a table. Raises UsageError."""
    tasks = tasks or config.puzzles.held_out
    config = config.model_copy(
        update={
            "model": config.model.model_copy(update={"name": model}),
            "puzzles": config.puzzles.model_copy(update={"held_out": tasks}),
        }
    )
    if output:
        check_output(output)
    rows = _rows(config)
    if output:
        write_rows(output, rows)
    metrics = evaluation_metrics(rows, config.evaluate.k, config.seed)
    print(f"{model} on {len(rows)} puzzles of {tasks}, n = {config.evaluate.num_samples}")
    for k in config.evaluate.k:
        value, low, high = (metrics[f"eval/pass@{k}{end}"] for end in ("", "_low", "_high"))
        print(f"  Pass@{k:<4} {value:6.1%}  [{low:.1%}, {high:.1%}]")
    print(f"  greedy    {metrics['eval/greedy']:6.1%}")
    by_stratum = strata_text(rows)
    if by_stratum:
        print(f"\n{by_stratum}")
    return 0


def _rows(config: Config) -> list[Row]:
    if names_functions(config.puzzles.held_out):
        problems = read_functions(config.puzzles.held_out)
        return function_rows(problems, config, load_sampler(config.model), Progress())
    train, puzzles = read_splits(config.puzzles)
    progress = Progress()
    train = with_sound_references(train, config, progress)
    puzzles = with_sound_references(puzzles, config, progress)
    evaluation = evaluation_of(config, few_shot_puzzles(train, config.solve.num_few_shot), 0)
    sampler = load_sampler(config.model)
    candidates: list[Row] = []
    with progress.stage("evaluate", len(puzzles) * (config.evaluate.num_samples + 1)) as advance:
        for start in range(0, len(puzzles), config.evaluate.shard_size):
            some = puzzles[start : start + config.evaluate.shard_size]
            candidates += evaluate(sampler, some, evaluation, advance=advance)
    return list(count_correct(candidates, puzzles, {puzzle.family for puzzle in train}))
