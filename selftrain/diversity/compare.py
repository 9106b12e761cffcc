"""The command `selftrain diversity`: rounds and runs side by side, as a table and as a map.

A complete round that an earlier version left unmeasured is measured first, with its run's settings.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from selftrain.claim import require_run
from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.dev import split_dev
from selftrain.diversity.layout import Method, lay_out
from selftrain.diversity.measure import NUM_POINTS, measure_diversity
from selftrain.diversity.record import Diversity, read_diversity
from selftrain.diversity.vectors import Embedded, read_vectors
from selftrain.errors import UsageError
from selftrain.files import check_output, replacing
from selftrain.puzzle_source import read_splits
from selftrain.report.blocks import Block, Figure, Page, Paragraph, Section, Table
from selftrain.report.text_table import text_table
from selftrain.run_directory import RoundDirectory, RunDirectory

NUM_COLUMNS = 6
"""Pools beside each other on a terminal; more follow below."""


def compare_diversity(folders: Sequence[Path], output: Path | None, method: Method) -> int:
    """Print the measures of every round of some runs; write them with a map where asked.

    Raises UsageError where a folder is no run, or a map of these runs would say nothing.
    """
    from selftrain.report.diversity import diversity_table

    if output is not None:
        check_output(output)
    runs = {_name(folder, folders): RunDirectory(folder) for folder in folders}
    for run in runs.values():
        _measure_missing(run)
    measured = {name: _measured(run) for name, run in runs.items()}
    pools = {
        f"{name} {here.number}" if len(runs) > 1 else f"round {here.number}": read_diversity(
            here.diversity
        )
        for name, rounds in measured.items()
        for here in rounds
    }
    table = diversity_table(pools)
    print(_aligned(table))
    for name, pool in pools.items():
        for line in pool.warnings:
            print(f"{name}: {line}" if len(runs) > 1 else line)
    if output is not None:
        _write_page(output, pools, table, _figure(runs, measured, method))
        print(output)
    return 0


def _name(folder: Path, folders: Sequence[Path]) -> str:
    """Name a run by its folder, and by the whole path where two would have one name."""
    name = folder.resolve().name
    return name if [one.resolve().name for one in folders].count(name) == 1 else str(folder)


def _measure_missing(run: RunDirectory) -> None:
    require_run(run)
    complete = [here for here in run.complete_rounds() if here.proposals.exists()]
    if all(here.diversity.exists() for here in complete):
        return
    from selftrain.claim import working_in  # brings the model loader, which a table does not need

    config = load_config(run.config)
    train, _ = split_dev(read_splits(config.puzzles)[0], config.puzzles.num_dev, config.seed)
    embed = None
    if config.diversity.embeddings:
        from selftrain.embeddings import embed as by_model

        embed = partial(by_model, config.model)
    with working_in(run):
        for number, here in enumerate(complete):
            before = complete[:number]
            measure_diversity(here, before, train, config.diversity, embed, config.seed)


def _measured(run: RunDirectory) -> list[RoundDirectory]:
    """List the rounds that are measured, the one under way among them."""
    rounds: list[RoundDirectory] = []
    while (here := run.round(len(rounds) + 1)).diversity.exists():
        rounds.append(here)
    if not rounds:
        raise UsageError(f"{run.path}: no round has proposed puzzles yet.")
    return rounds


def _figure(
    runs: dict[str, RunDirectory], measured: dict[str, list[RoundDirectory]], method: Method
) -> Block:
    """Draw a map of all rounds of one run, or of all runs, a colour each."""
    from selftrain.report.diversity import Group, draw_map, spread

    _refuse_strangers(runs)
    first = next(iter(measured.values()))
    groups = {"train": read_vectors(first[0].vectors).train}
    if len(runs) == 1:
        by_number = {here.number: read_vectors(here.vectors).puzzles for here in first}
        groups |= {f"round {number}": by_number[number] for number in spread(list(by_number))}
    else:
        for name, rounds in measured.items():
            embedded = [read_vectors(here.vectors).puzzles for here in rounds]
            groups[name] = _together(embedded)
    if any(not group.names for group in groups.values()):
        return Paragraph("There is no map: nothing was embedded (diversity.embeddings).")
    rows = [group.directions[:NUM_POINTS] for group in groups.values()]
    points = lay_out(np.concatenate(rows), method, seed=0)
    drawn = np.split(points, np.cumsum([len(part) for part in rows])[:-1])
    shown = [
        Group(label, [(x, y) for x, y in part.tolist()])
        for label, part in zip(groups, drawn, strict=True)
    ]
    caption = f"Puzzles as the base model embeds them, laid out by {method.upper()}."
    return Figure(caption, draw_map(shown, axes_are_components=method == "pca"))


def _together(rounds: Sequence[Embedded]) -> Embedded:
    """Join the rounds of a run, one puzzle of each in turn, so that the first show all rounds."""
    order = sorted(
        (place, number) for number, one in enumerate(rounds) for place in range(len(one.names))
    )
    return Embedded(
        tuple(rounds[number].names[place] for place, number in order),
        np.array([rounds[number].directions[place] for place, number in order], dtype=np.float32),
    )


def _refuse_strangers(runs: dict[str, RunDirectory]) -> None:
    """Refuse one map of puzzles that different models have embedded."""
    models: dict[tuple[str, str | None], str] = {}
    for name, run in runs.items():
        config: Config = load_config(run.config)
        models.setdefault((config.model.name, config.model.revision), name)
    if len(models) > 1:
        named = ", ".join(f"{name} by {model}" for (model, _), name in models.items())
        raise UsageError(
            f"--output: these runs were embedded by different models ({named}), so no map holds "
            "them. Leave --output out for the table alone."
        )


def _write_page(output: Path, pools: dict[str, Diversity], table: Table, figure: Block) -> None:
    from selftrain.report.html import to_html

    warnings = [f"{name}: {line}" for name, pool in pools.items() for line in pool.warnings]
    page = Page(
        headline=f"Diversity of {len(pools)} rounds",
        facts=(),
        sections=(Section("Diversity", (*map(Paragraph, warnings), table, figure)),),
    )
    with replacing(output) as file:
        file.write(to_html(page))


def _aligned(table: Table) -> str:
    """Lay a table out as text, some columns beside each other, the others below."""
    parts = []
    for start in range(1, len(table.columns), NUM_COLUMNS):
        chosen = slice(start, start + NUM_COLUMNS)
        rows = [(row[0], *row[chosen]) for row in (table.columns, *table.rows)]
        parts.append(text_table(rows))
    return "\n\n".join(parts)
