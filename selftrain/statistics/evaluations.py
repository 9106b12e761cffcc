"""Pass@k of the rows of an evaluation: a row a puzzle, with n, num_correct and family.

Rows come from evaluate.py, or from any file that has these keys.
"""

from collections.abc import Sequence

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics.estimator import Floats, pass_at_k
from selftrain.statistics.intervals import Estimate, mean_pass_at_k, mean_with_interval


def rows_pass_at_k(rows: Sequence[Row], k: int, seed: int) -> Estimate:
    """Average Pass@k over rows of an evaluation; `seed` is the run's."""
    return mean_pass_at_k(
        [row["n"] for row in rows],
        [row["num_correct"] for row in rows],
        k,
        [row["family"] for row in rows],
        seed=derive_seed(seed, "intervals"),
    )


def mean_over_seeds(evaluations: Sequence[Sequence[Row]], k: int, *, seed: int) -> Estimate:
    """Average Pass@k over puzzles and seeds, from one list of rows a seed; `seed` is the run's.

    Raises ValueError where the evaluations differ in their puzzles.
    """
    same = aligned(evaluations)
    return mean_with_interval(
        [rows_values(rows, k) for rows in same],
        [row["family"] for row in same[0]],
        num_samples=min(row["n"] for rows in same for row in rows),
        seed=derive_seed(seed, "intervals"),
    )


def rows_values(rows: Sequence[Row], k: int) -> Floats:
    """Estimate Pass@k row by row."""
    return pass_at_k([row["n"] for row in rows], [row["num_correct"] for row in rows], k)


def aligned(evaluations: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Put the rows of each evaluation into the order of the first, by name.

    Raises ValueError where there is none, a name comes twice, or they differ in puzzles or family.
    """
    if not evaluations or not evaluations[0]:
        raise ValueError("There is no evaluation, or it has no rows.")
    found = []
    for number, rows in enumerate(evaluations, start=1):
        by_name = {row["name"]: row for row in rows}
        if len(by_name) < len(rows):
            raise ValueError(f"Evaluation {number} has two rows of one name; each puzzle has one.")
        found.append(by_name)
    wanted = {name: row["family"] for name, row in found[0].items()}
    for number, by_name in enumerate(found[1:], start=2):
        other = {name: row["family"] for name, row in by_name.items()}
        differ = sorted({name for name, _ in wanted.items() ^ other.items()})
        if differ:
            more = f" and {len(differ) - 1} more" if len(differ) > 1 else ""
            raise ValueError(
                f"Evaluations 1 and {number} are not of the same puzzles and families: they differ "
                f"in {differ[0]!r}{more}."
            )
    return [[by_name[name] for name in wanted] for by_name in found]


def rows_greedy(rows: Sequence[Row], seed: int) -> Estimate | None:
    """Average what greedy decoding passed; None where there was none. `seed` is the run's."""
    greedy = [row for row in rows if row["greedy_passed"] is not None]
    if not greedy:
        return None
    return mean_with_interval(
        [float(row["greedy_passed"]) for row in greedy],
        [row["family"] for row in greedy],
        num_samples=1,
        seed=derive_seed(seed, "intervals"),
    )


def evaluation_metrics(rows: Sequence[Row], ks: Sequence[int], seed: int) -> dict[str, float | int]:
    """Give the `eval/` metrics of one round; `seed` is the run's: all rounds share their draws.

    `eval/greedy` and the two kinds of family are there only where some puzzle has them. Raises
    ValueError where a k exceeds n, or there is no row.
    """
    if not rows:
        raise ValueError("The evaluation has no rows: there is no held-out puzzle to measure on.")
    metrics: dict[str, float | int] = {}
    for k in ks:
        estimate = rows_pass_at_k(rows, k, seed)
        metrics[f"eval/pass@{k}"] = estimate.value
        metrics[f"eval/pass@{k}_low"] = estimate.low
        metrics[f"eval/pass@{k}_high"] = estimate.high
    greedy = rows_greedy(rows, seed)
    if greedy is not None:
        metrics["eval/greedy"] = greedy.value
    metrics["eval/num_puzzles"] = len(rows)
    metrics["eval/num_samples"] = min(row["n"] for row in rows)
    for kind, members in (("known_family", known_family(rows)), ("new_family", new_family(rows))):
        if members:
            metrics[f"eval/{kind}/pass@1"] = rows_pass_at_k(members, 1, seed).value
    return metrics


def known_family(rows: Sequence[Row]) -> list[Row]:
    """Pick the new instances of families that the train split has too."""
    return [row for row in rows if row["family"] and row["known_family"]]


def new_family(rows: Sequence[Row]) -> list[Row]:
    """Pick the puzzles of families that the train split lacks; without a family is in neither."""
    return [row for row in rows if row["family"] and not row["known_family"]]
