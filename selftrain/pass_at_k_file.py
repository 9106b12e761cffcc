"""The command `selftrain pass-at-k`: Pass@k of any file of rows with `n` and `num_correct`.

A row is a puzzle. It samples nothing, and takes the counts as it finds them. Against another file
of the same puzzles it prints the difference, its test, and what could have been found.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.report.blocks import p_value
from selftrain.statistics import (
    NUM_REPLICATES,
    Comparison,
    compare,
    mcnemar,
    rows_pass_at_k,
    with_holm,
)

MOST_SAMPLES = 1_000_000
"""Beyond, the exact binomials would take minutes."""
LABELS = ("name", "p3_name", "family", "category", "difficulty", "split")
"""Keys that a row may have; where there is one it is text or null."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The rows of a file that were asked for."""

    path: Path
    rows: tuple[Row, ...]
    """Each with n, num_correct, family ('' where the file names none), and what else it had."""


def pass_at_k_file(
    paths: Sequence[Path],
    ks: Sequence[int],
    where: Sequence[str],
    against: Path | None,
    seed: int,
) -> int:
    """Print Pass@k of each file, and how it compares with `against`. Raises UsageError.

    `where` holds KEY=VALUE; only rows that have all of them count. Holm's correction is over the
    files, at each k.
    """
    files = [read_counts(path, ks, where) for path in ([against] if against else []) + [*paths]]
    lines = [line for counts in files for line in _estimates(counts, ks, where, seed)]
    if against:
        lines += _comparisons(files[0], files[1:], ks, seed)
    print("\n".join(lines))
    return 0


def read_counts(path: Path, ks: Sequence[int], where: Sequence[str]) -> Counts:
    """Read the rows that `where` picks, and check each. Raises UsageError with the line number."""
    rows: list[Row] = []
    places: dict[str, str] = {}
    seen: dict[str, Counter[str]] = {condition: Counter() for condition in where}
    try:
        for place, row in read_objects(path):
            _check(row, place)
            for condition in where:
                seen[condition][_spelt(row.get(condition.partition("=")[0]))] += 1
            if all(_holds(condition, row) for condition in where):
                _check_k(row, place, ks)
                _check_name(row, place, places)
                name = row.get("name") or row.get("p3_name")
                rows.append({**row, "name": name, "family": row.get("family") or ""})
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None
    if not rows:
        raise UsageError(f"{path}: no row has {' and '.join(where)}.{_there_is(seen)}")
    return Counts(path, tuple(rows))


def _check(row: Row, place: str) -> None:
    for key in ("n", "num_correct"):
        if key not in row:
            raise UsageError(
                f"{place}: there is no {key!r}. Each row needs 'n', the samples of a puzzle, and "
                "'num_correct', how many of them were right."
            )
        # True is an int to Python, and no count to anybody.
        if type(row[key]) is not int:
            raise UsageError(f"{place}: {key!r} is {row[key]!r}. Make it a whole number.")
    if not 1 <= row["n"] <= MOST_SAMPLES:
        raise UsageError(
            f"{place}: 'n' is {row['n']}. Give the samples drawn, from 1 to {MOST_SAMPLES:,}."
        )
    if not 0 <= row["num_correct"] <= row["n"]:
        raise UsageError(
            f"{place}: 'num_correct' is {row['num_correct']}, which is not from 0 to n, {row['n']}."
        )
    for key in LABELS:
        if not isinstance(row.get(key), str | None):
            raise UsageError(f"{place}: {key!r} is {row[key]!r}. Make it text, or null.")
    first = row.get("first_correct")
    if first is not None and (type(first) is not int or not 0 <= first < row["n"]):
        raise UsageError(
            f"{place}: 'first_correct' is {first!r}. Make it the number of the first sample that "
            "was right, from 0, or null."
        )
    if not isinstance(row.get("greedy_passed"), bool | None):
        raise UsageError(
            f"{place}: 'greedy_passed' is {row['greedy_passed']!r}. Make it true, false or null."
        )


def _check_k(row: Row, place: str, ks: Sequence[int]) -> None:
    if max(ks) > row["n"]:
        raise UsageError(
            f"{place}: n is {row['n']}, so Pass@{max(ks)} cannot be estimated. Ask for a k of at "
            f"most {row['n']}, or leave such rows out with --where."
        )


def _check_name(row: Row, place: str, places: dict[str, str]) -> None:
    """Note where a puzzle stands; one that stands twice would count twice."""
    name = row.get("name")
    if name is not None and name in places:
        raise UsageError(
            f"{place}: the puzzle {name!r} is already in {places[name]}. Keep one row a puzzle, "
            "such as those of one split or one epoch, by --where."
        )
    if name is not None:
        places[name] = place.rpartition(", ")[2]


def _holds(condition: str, row: Row) -> bool:
    key, _, value = condition.partition("=")
    return key in row and _spelt(row[key]) == value


def _spelt(value: object) -> str:
    """Spell a value as it is typed in a condition: text bare, the rest as in JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _there_is(seen: dict[str, Counter[str]]) -> str:
    said = []
    for condition, values in seen.items():
        some = ", ".join(f"{value} ({count})" for value, count in values.most_common(5))
        said.append(f" Its {condition.partition('=')[0]} is {some}.")
    return "".join(said)


def _estimates(counts: Counts, ks: Sequence[int], where: Sequence[str], seed: int) -> Iterator[str]:
    smallest, largest = (pick(row["n"] for row in counts.rows) for pick in (min, max))
    condition = f" with {' and '.join(where)}" if where else ""
    n = f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
    yield f"{counts.path.name}: {len(counts.rows):,} puzzles{condition}, n = {n}"
    for k in ks:
        found = rows_pass_at_k(counts.rows, k, seed)
        yield f"  Pass@{k:<6} {found.value:.4f}  [{found.low:.4f}, {found.high:.4f}]"
    yield (
        f"  95% intervals by bootstrap over {found.num_clusters:,} clusters (families; a puzzle "
        f"without one is its own) and puzzles within, {NUM_REPLICATES:,} replicates, seed {seed}"
    )


def _comparisons(
    base: Counts, others: Sequence[Counts], ks: Sequence[int], seed: int
) -> Iterator[str]:
    for counts in (base, *others):
        _check_names(counts)
    names = _names([one.path for one in (base, *others)])
    for k in ks:
        found = [_compare(counts, base, k, seed) for counts in others]
        yield f"Pass@{k} minus that of {names[base.path]}"
        for counts, one in zip(others, with_holm(found), strict=True):
            corrected = f", Holm {p_value(one.holm_p_value)}" if len(others) > 1 else ""
            yield (
                f"  {names[counts.path]}: {one.difference:+.4f} [{one.low:+.4f}, {one.high:+.4f}], "
                f"permutation p = {p_value(one.p_value)}{corrected}; {_detectable(one)}"
            )
            rows = (*counts.rows, *base.rows)
            # Which of the first k samples passed is known where they are all, or their order is.
            if all(k == row["n"] or "first_correct" in row for row in rows):
                yield f"    {_discordant(counts, base, k)}"
    if all(row.get("greedy_passed") is not None for one in (base, *others) for row in one.rows):
        yield f"Greedy, against {names[base.path]}"
        yield from (f"  {names[one.path]}: {_discordant(one, base, None)}" for one in others)


def _names(paths: Sequence[Path]) -> dict[Path, str]:
    """Name files by their own names; by their whole paths where two have one name."""
    names = [path.name for path in paths]
    alike = len(set(names)) < len(names)
    return {path: str(path) if alike else path.name for path in paths}


def _check_names(counts: Counts) -> None:
    if not all(row.get("name") for row in counts.rows):
        raise UsageError(
            f"{counts.path}: a row has no 'name', so puzzles cannot be paired. Name each, the "
            "same in both files."
        )


def _compare(counts: Counts, base: Counts, k: int, seed: int) -> Comparison:
    try:
        return compare([counts.rows], [base.rows], k, seed=seed)
    except ValueError as error:
        raise UsageError(f"{counts.path} and {base.path} cannot be compared: {error}") from None


def _detectable(one: Comparison) -> str:
    if one.smallest_detectable is None:
        return "what could be detected cannot be told: under six clusters, or no spread"
    return f"smallest detectable {one.smallest_detectable:.4f} (80% power)"


def _discordant(counts: Counts, base: Counts, k: int | None) -> str:
    found = mcnemar(counts.rows, base.rows, k)
    which = "greedily" if k is None else f"within the first {k} samples"
    return (
        f"solved {which} by it alone {found.only_a}, by the other alone {found.only_b}, "
        f"exact McNemar p = {p_value(found.p_value)} (each puzzle its own cluster)"
    )
