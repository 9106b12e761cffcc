"""The tables of what an ablation's arms were made of: pools, and the pairs drawn from them."""

from collections.abc import Sequence

from selftrain.ablation.directory import AblationDirectory
from selftrain.ablation.results import Result
from selftrain.files import read_json, read_rows
from selftrain.report.blocks import Table, count


def data_tables(
    directory: AblationDirectory, results: Sequence[Result], pool_seeds: Sequence[int]
) -> tuple[Table, ...]:
    """Say what the pools held, and how many pairs of each kind there were; nothing without any."""
    seeds = [row["seed"] for row in results[0].by_seed]
    tables = (_pools(directory, results, pool_seeds), _pairs(directory, results, seeds))
    return tuple(table for table in tables if table.rows)


def _pools(
    directory: AblationDirectory, results: Sequence[Result], pool_seeds: Sequence[int]
) -> Table:
    generators = dict.fromkeys(result.arm.generator for result in results if result.arm.generator)
    rows = []
    for generator in generators:
        for seed in pool_seeds:
            counts = read_json(directory.pool(generator, seed).metrics)
            keys = ("num_proposals", "num_puzzles", "num_solved", "num_attempts", "num_passed")
            cells = [count(counts[key]) for key in keys]
            rows.append((f"{generator.label} {seed}".strip(), *cells))
    return Table(
        "What was proposed and solved, by seed; all arms draw from it.",
        ("Pool", "Proposals", "Puzzles", "Solved", "Attempts", "Passed"),
        tuple(rows),
    )


def _pairs(directory: AblationDirectory, results: Sequence[Result], seeds: Sequence[int]) -> Table:
    drawn = dict.fromkeys(
        (kind, result.arm.generator) for result in results for kind in result.arm.kinds
    )
    rows = []
    for kind, generator in drawn:
        for seed in seeds if generator else seeds[:1]:
            paths = directory.pairs(kind, generator, seed), directory.removed(kind, generator, seed)
            cells = [count(sum(1 for _ in read_rows(path))) for path in paths]
            name = f"{kind}, {generator.label} {seed}".replace(",  ", ", ") if generator else kind
            rows.append((name, *cells))
    return Table(
        "Pairs that arms could draw from, and those that lay too near a held-out puzzle.",
        ("Pairs", "Kept", "Removed"),
        tuple(rows),
    )
