"""The command `selftrain sweep`: Pass@k at several temperatures, on the dev part alone.

It never opens the held-out puzzles: a temperature chosen there would flatter every number measured
there after. What is best of several on dev is flattered by that choice too, so it is measured anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from puzzles import Puzzle
from selftrain import models
from selftrain.config import Config
from selftrain.config_file import differences, load_config, save_config
from selftrain.dev import split_dev
from selftrain.errors import UsageError
from selftrain.evaluate import count_correct, evaluate, evaluation_of
from selftrain.files import Row, read_json, read_rows, replacing, write_json, write_rows
from selftrain.progress import Progress
from selftrain.prompts import few_shot_puzzles
from selftrain.provenance import command_line, provenance, what_changed
from selftrain.puzzle_source import read_split
from selftrain.references import with_sound_references
from selftrain.report.blocks import interval
from selftrain.report.text_table import text_table
from selftrain.run import working_in
from selftrain.run_directory import RunDirectory
from selftrain.sampling import Sampler
from selftrain.sampling.lazy import LazySampler
from selftrain.statistics import (
    Estimate,
    compare,
    rows_greedy,
    rows_pass_at_k,
    with_holm,
)

MOST_COLUMNS = 6
"""Tables and the plot show no more k than these; of many, the first, powers of ten, the last."""


@dataclass(frozen=True, slots=True)
class SweepDirectory:
    """The files of a sweep, beside those that a run directory has too."""

    run: RunDirectory
    """Configuration, provenance, log and lock."""

    def evaluation(self, temperature: float) -> Path:
        """Give the rows of one temperature, a dev puzzle each: there once all are judged."""
        return self.run.path / f"temperature-{temperature}.jsonl"

    def is_begun(self) -> bool:
        """Tell whether a temperature is measured; until then the folder belongs to no sweep."""
        return any(self.run.path.glob("temperature-*.jsonl"))

    @property
    def table(self) -> Path:
        """Pass@k by temperature, and what is best, as printed."""
        return self.run.path / "sweep.txt"

    def plot(self, suffix: str) -> Path:
        """Give the plot's file; the suffix is svg or png."""
        return self.run.path / f"sweep.{suffix}"


@dataclass(frozen=True, slots=True)
class Best:
    """The temperature with the highest Pass@k on dev, for one k."""

    k: int
    temperature: float
    """The lowest of those with the highest value."""
    not_apart: tuple[float, ...]
    """Temperatures whose paired difference from it is not significant at 5%, after Holm."""


def sweep(config: Config, temperatures: Sequence[float], folder: Path) -> int:
    """Measure each temperature that `folder` lacks, print table and choice, draw the plot.

    Raises UsageError where there is no dev part, or the folder holds another sweep.
    """
    if config.puzzles.num_dev == 0:
        raise UsageError(
            "puzzles.num_dev is 0, so there is no dev part to choose a temperature on, and the "
            "held-out puzzles are not for choosing. Set puzzles.num_dev, such as 30, here and in "
            "the run."
        )
    directory = SweepDirectory(RunDirectory(folder))
    _refuse_foreign(directory, config)
    refused: list[str] = []
    train = read_split(config.puzzles.train, "train", refused.append)
    with working_in(directory.run):
        _measure(config, temperatures, directory, train, refused)
        rows = {each: list(read_rows(directory.evaluation(each))) for each in temperatures}
        _publish(directory, config, rows)
    return 0


def best(rows: dict[float, list[Row]], k: int, seed: int) -> Best:
    """Choose the temperature for one k; `rows` has those of each temperature, lowest first."""
    values = {each: rows_pass_at_k(found, k, seed).value for each, found in rows.items()}
    chosen = max(values, key=lambda temperature: values[temperature])
    others = [temperature for temperature in rows if temperature != chosen]
    tested = with_holm([compare([rows[chosen]], [rows[each]], k, seed=seed) for each in others])
    alike = (each for each, one in zip(others, tested, strict=True) if one.holm_p_value >= 0.05)
    return Best(k, chosen, tuple(alike))


def sweep_text(rows: dict[float, list[Row]], ks: Sequence[int], seed: int) -> str:
    """Lay out Pass@k by temperature, greedy apart, and what to set for each k."""
    table = [("temperature", *(f"Pass@{k} % [95%]" for k in ks))]
    for temperature, found in rows.items():
        cells = [_spelt(rows_pass_at_k(found, k, seed)) for k in ks]
        table.append((f"{temperature:g}", *cells))
    lines = [text_table(table)]
    greedy = rows_greedy(next(iter(rows.values())), seed)
    if greedy:
        lines.append(f"greedy, one solution a puzzle: {_spelt(greedy)}")
    chosen = [best(rows, k, seed) for k in ks]
    settings = [
        f"best for Pass@{one.k}: evaluate.temperature={one.temperature:g}"
        f"{_told_apart(one, len(rows))}"
        for one in chosen
    ]
    return "\n".join([*lines, "", *settings])


def _told_apart(one: Best, num_temperatures: int) -> str:
    if num_temperatures == 1:
        return ""
    alike = ", ".join(f"{temperature:g}" for temperature in one.not_apart)
    apart = f"not told apart from {alike}" if alike else "told apart from all others"
    return f" ({apart}: paired permutation tests, 5%, Holm)"


def _spelt(estimate: Estimate) -> str:
    return interval(estimate.value, estimate.low, estimate.high)


def _refuse_foreign(directory: SweepDirectory, config: Config) -> None:
    """Refuse the folder of another sweep; what no finished row depends on may change."""
    if not directory.is_begun():
        return
    theirs = load_config(directory.run.config)
    changed = [
        line
        for line in differences(config, theirs)
        if not line.startswith(("evaluate.temperature ", "evaluate.k ", "limits."))
    ]
    if changed:
        raise UsageError(
            f"{directory.run.path} was made with another configuration ({'; '.join(changed)}). "
            "Choose another folder with --output."
        )


def _measure(
    config: Config,
    temperatures: Sequence[float],
    directory: SweepDirectory,
    train: Sequence[Puzzle],
    refused: Sequence[str],
) -> None:
    missing = [each for each in temperatures if not directory.evaluation(each).exists()]
    if not missing:
        return
    progress = Progress(directory.run.log)
    for sentence in refused:
        progress.say(sentence)
    sound = with_sound_references(train, config, progress)
    shown, dev = split_dev(sound, config.puzzles.num_dev, config.seed)
    made_with = provenance(command_line(), config, shown, dev, len(refused))
    _claim(directory, config, made_with)
    sampler = LazySampler(lambda: models.load_sampler(config.model))
    for temperature in missing:
        at = config.evaluate.model_copy(update={"temperature": temperature})
        changed = config.model_copy(update={"evaluate": at})
        rows = _rows(changed, sampler, shown, dev, progress)
        write_rows(directory.evaluation(temperature), rows)


def _claim(directory: SweepDirectory, config: Config, made_with: Row) -> None:
    """Write down what the sweep is made with, or refuse to go on with anything else."""
    if not directory.is_begun():
        save_config(config, directory.run.config)
        write_json(directory.run.provenance, made_with)
        return
    changed = what_changed(read_json(directory.run.provenance), made_with)
    if changed:
        raise UsageError(
            f"{directory.run.path} was made with another {changed}. Put the old one back, or "
            "choose another folder with --output."
        )


def _rows(
    config: Config,
    sampler: Sampler,
    shown: Sequence[Puzzle],
    dev: Sequence[Puzzle],
    progress: Progress,
) -> list[Row]:
    """Solve and judge the dev puzzles at one temperature, with the same seeds as at any other."""
    evaluation = evaluation_of(config, few_shot_puzzles(shown, config.solve.num_few_shot), 0)
    size, n = config.evaluate.shard_size, config.evaluate.num_samples
    candidates: list[Row] = []
    label = f"temperature {config.evaluate.temperature:g}"
    with progress.stage(label, len(dev) * (n + 1)) as advance:
        for start in range(0, len(dev), size):
            some = dev[start : start + size]
            candidates += evaluate(sampler, some, evaluation, advance=advance)
    return list(count_correct(candidates, dev, {puzzle.family for puzzle in shown}))


def _publish(directory: SweepDirectory, config: Config, rows: dict[float, list[Row]]) -> None:
    """Print the table and the choice; write them and the plot."""
    from selftrain.report.sweep_chart import draw_sweep

    num_puzzles = len(next(iter(rows.values())))
    shown = _shown(config.evaluate.k)
    head = (
        f"{config.model.name} on {num_puzzles} dev puzzles of {config.puzzles.train}, "
        f"n = {config.evaluate.num_samples}; no held-out puzzle was read"
    )
    note = "The best of several is flattered by the choice: measure it anew on the held-out split."
    text = f"{head}\n\n{sweep_text(rows, shown, config.seed)}\n{note}\n"
    with replacing(directory.table) as file:
        file.write(text)
    lines = {k: [rows_pass_at_k(found, k, config.seed) for found in rows.values()] for k in shown}
    plots = [directory.plot(suffix) for suffix in ("svg", "png")]
    draw_sweep(list(rows), lines, plots)
    print(text, directory.table, *plots, sep="\n")


def _shown(ks: Sequence[int]) -> list[int]:
    some = {ks[0], 10, 100, 1000, ks[-1]}
    return [k for k in sorted(ks) if len(ks) <= MOST_COLUMNS or k in some]
