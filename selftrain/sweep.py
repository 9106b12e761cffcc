"""The command `selftrain sweep`: Pass@k at several temperatures, on the dev part alone.

It never opens the held-out puzzles: a temperature chosen there would flatter every number measured
there after. What is best of several on dev is flattered by that choice too, so it is measured anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from puzzles import Puzzle
from selftrain.claim import SWEEP, claim, refuse_foreign, working_in
from selftrain.config import Config
from selftrain.config_file import save_config
from selftrain.epochs import try_puzzles
from selftrain.errors import UsageError
from selftrain.evaluate import EVALUATED, count_correct
from selftrain.experiment import Experiment, Paused
from selftrain.files import Row, read_rows, replacing, write_rows
from selftrain.models import check_samplers
from selftrain.provenance import command_line, provenance
from selftrain.puzzle_source import read_split
from selftrain.report.blocks import interval
from selftrain.report.columns import shown_ks
from selftrain.report.text_table import text_table
from selftrain.run import build
from selftrain.sampling.lazy import LazySampler
from selftrain.statistics import Estimate, compare, rows_greedy, rows_pass_at_k, with_holm
from selftrain.sweep_directory import SweepDirectory

MOST_COLUMNS = 6
"""The table and the plot have room for no more k than these."""
_MAY_CHANGE = ("evaluate.temperature", "evaluate.k")
"""Settings that no finished row depends on."""


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
    directory = SweepDirectory(folder)
    refuse_foreign(SWEEP, directory.run, config, _MAY_CHANGE)
    refused: list[str] = []
    train = read_split(config.puzzles.train, "train", refused.append)
    if not directory.is_begun():
        check_samplers(config.model)
    with working_in(directory.run):
        made_with = provenance(command_line(), config, train, (), len(refused))
        with claim(SWEEP, directory.run, config, made_with, _MAY_CHANGE):
            save_config(config, directory.run.config)
            try:
                rows = _measure(config, temperatures, directory, train, refused)
            except Paused as paused:
                print(f"Paused: {paused}. The same command goes on; limits may be changed for it.")
                return 0
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


def _measure(
    config: Config,
    temperatures: Sequence[float],
    directory: SweepDirectory,
    train: Sequence[Puzzle],
    refused: Sequence[str],
) -> dict[float, list[Row]]:
    """Measure what is missing, and give the rows of each temperature. Raises Paused."""
    if not all(directory.evaluation(each).exists() for each in temperatures):
        x = build(config, directory.run, train, (), refused)
        sampler = x.generator(0)
        for temperature in temperatures:
            if not directory.evaluation(temperature).exists():
                _measure_at(x, temperature, directory, sampler)
    for temperature in temperatures:
        directory.remove_shards(temperature)
    return {each: list(read_rows(directory.evaluation(each))) for each in temperatures}


def _measure_at(
    x: Experiment, temperature: float, directory: SweepDirectory, sampler: LazySampler
) -> None:
    """Let the model try the dev puzzles at one temperature, by the same seeds as at any other."""
    at = x.config.evaluate.model_copy(update={"temperature": temperature})
    x = replace(x, config=x.config.model_copy(update={"evaluate": at}))
    here = directory.under_way(temperature)
    try_puzzles(x, here, sampler, x.dev, EVALUATED.stage)
    known = {puzzle.family for puzzle in x.train}
    rows = count_correct(here.rows(EVALUATED.stage), x.dev, known)
    write_rows(directory.evaluation(temperature), rows)


def _publish(directory: SweepDirectory, config: Config, rows: dict[float, list[Row]]) -> None:
    """Print the table and the choice; write them and the plot."""
    from selftrain.report.sweep_chart import draw_sweep

    num_puzzles = len(next(iter(rows.values())))
    shown = shown_ks(config.evaluate.k, MOST_COLUMNS)
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
