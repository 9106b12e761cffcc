"""The numbers of an ablation: Pass@k of each arm, and how it compares with unverified and base.

They are worked out from the evaluations on disk; the statistics themselves are in the package
statistics, and how the numbers are shown is in page.py.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from selftrain.ablation.arms import BASE, UNVERIFIED, Arm
from selftrain.ablation.directory import AblationDirectory
from selftrain.files import Row, read_json, read_rows, write_rows
from selftrain.statistics import Comparison, Estimate, compare, mean_over_seeds, with_holm

REFERENCES = (UNVERIFIED, BASE)
"""What every arm is compared with."""


@dataclass(frozen=True, slots=True)
class Against:
    """An arm compared with a reference arm."""

    reference: Arm
    by_k: dict[int, Comparison]
    """At each k; corrected over the arms that are compared with this kind of reference."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came out of one arm."""

    arm: Arm
    by_seed: tuple[Row, ...]
    """The metrics of each seed."""
    pass_at_k: dict[int, Estimate]
    """Means over puzzles and seeds, by k."""
    against: dict[str, Against]
    """Comparisons with unverified and base, where these are arms and not this one."""

    def mean(self, key: str) -> float | None:
        """Average a metric over the seeds; None where the arm has none such."""
        found = [row[key] for row in self.by_seed if key in row]
        return fmean(found) if found else None


def read_results(
    directory: AblationDirectory,
    arms: Sequence[Arm],
    seeds: Sequence[int],
    ks: Sequence[int],
    seed: int,
) -> list[Result]:
    """Work out the results of seeds that are complete in every arm; `seed` is the run's."""
    rows = {
        arm: [list(read_rows(directory.arm(arm, each).evaluation)) for each in seeds]
        for arm in arms
    }
    against: dict[Arm, dict[str, Against]] = {arm: {} for arm in arms}
    for kind in REFERENCES:
        for arm, one in _against(kind, arms, rows, ks, seed).items():
            against[arm][kind] = one
    return [
        Result(
            arm,
            tuple(read_json(directory.arm(arm, each).metrics) for each in seeds),
            {k: mean_over_seeds(rows[arm], k, seed=seed) for k in ks},
            against[arm],
        )
        for arm in arms
    ]


def write_results(directory: AblationDirectory, results: Sequence[Result]) -> None:
    """Write the numbers as rows, an arm each."""
    write_rows(directory.results, map(_to_row, results))


def reference_of(arm: Arm, kind: str, arms: Sequence[Arm]) -> Arm | None:
    """Find what an arm is compared with: the arm of that kind, of the same generator if it has one.

    None where there is no such arm, more than one, or it is the arm itself. That base differs from
    unverified is said once, where unverified is compared with base.
    """
    if arm.data in (BASE, kind):
        return None
    found = [
        other
        for other in arms
        if other.data == kind and (kind == BASE or arm.generator in (None, other.generator))
    ]
    return found[0] if len(found) == 1 else None


def _against(
    kind: str,
    arms: Sequence[Arm],
    rows: dict[Arm, list[list[Row]]],
    ks: Sequence[int],
    seed: int,
) -> dict[Arm, Against]:
    """Compare all arms with one kind of reference, and correct for their number at each k."""
    pairs = [(arm, ref) for arm in arms if (ref := reference_of(arm, kind, arms)) is not None]
    by_k: dict[Arm, dict[int, Comparison]] = {arm: {} for arm, _ in pairs}
    for k in ks:
        found = with_holm([compare(rows[arm], rows[ref], k, seed=seed) for arm, ref in pairs])
        for (arm, _), one in zip(pairs, found, strict=True):
            by_k[arm][k] = one
    return {arm: Against(ref, by_k[arm]) for arm, ref in pairs}


def _to_row(result: Result) -> Row:
    row: Row = {
        "arm": result.arm.name,
        "data": result.arm.data,
        "generator": result.arm.generator.label if result.arm.generator else None,
        "seeds": [one["seed"] for one in result.by_seed],
    }
    for key in ("num_examples", "num_tokens", "num_passed"):
        row[key] = [one.get(f"train/{key}", 0) for one in result.by_seed]
    for k, estimate in result.pass_at_k.items():
        row[f"pass@{k}"] = asdict(estimate)
        row[f"pass@{k}"]["by_seed"] = [one[f"eval/pass@{k}"] for one in result.by_seed]
    for kind, against in result.against.items():
        for k, comparison in against.by_k.items():
            row[f"minus_{kind}/pass@{k}"] = asdict(comparison)
    return row
