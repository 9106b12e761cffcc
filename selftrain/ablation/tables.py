"""The tables of an ablation: an arm a row, and a comparison a row. What they hold is in results.py.

All numbers are spelt here: shares in percent, differences in points.
"""

from collections.abc import Iterator, Sequence

from selftrain.ablation.budget import TOLERANCE
from selftrain.ablation.results import REFERENCES, Against, Result
from selftrain.report.blocks import ABSENT, Table, count, interval, p_value, percent, points
from selftrain.statistics import Comparison

MINUS = "\u2212"


def arms_table(results: Sequence[Result], ks: Sequence[int]) -> Table:
    """Lay out Pass@k of each arm, and its differences at the first k."""
    kinds = [kind for kind in REFERENCES if any(kind in result.against for result in results)]
    heads = [head for kind in kinds for head in (f"{MINUS} {kind}", "p")]
    rows = []
    for result in results:
        estimates = [result.pass_at_k[k] for k in ks]
        cells = [
            *_size(result),
            *(interval(one.value, one.low, one.high) for one in estimates),
            *(cell for kind in kinds for cell in _difference(result.against.get(kind), ks[0])),
        ]
        rows.append((result.arm.name, *cells))
    note = (
        f"Examples and tokens are means over seeds; tokens are equal within {TOLERANCE:.0%}, but "
        "for base and human. Right: share of the examples that the judge accepts."
    )
    if kinds:
        note += f" Differences are in points of Pass@{ks[0]}; p is corrected over arms (Holm)."
    return Table(
        "Pass@k by arm, in percent, with 95% intervals.",
        ("Arm", "Examples", "Tokens", "Right", *(f"Pass@{k}" for k in ks), *heads),
        tuple(rows),
        note,
    )


def comparisons_table(results: Sequence[Result], k: int, *, folded: bool) -> Table:
    """Lay out a row a comparison at one k."""
    rows = [
        (
            _pair(result, against),
            _with_interval(against.by_k[k]),
            p_value(against.by_k[k].p_value),
            p_value(against.by_k[k].holm_p_value),
            signs(against.by_k[k]),
            _detectable(against.by_k[k]),
        )
        for result, against in compared(results)
    ]
    return Table(
        f"Differences of Pass@{k} in points, with 95% intervals.",
        ("Arms", "Difference", "p", "p (Holm)", "Sign a seed", "Could show"),
        tuple(rows),
        folded=folded,
    )


def compared(results: Sequence[Result]) -> Iterator[tuple[Result, Against]]:
    """List the comparisons, those with unverified first."""
    for kind in REFERENCES:
        for result in results:
            if kind in result.against:
                yield result, result.against[kind]


def sentence(result: Result, against: Against, k: int) -> str:
    """Say one comparison in one line."""
    one = against.by_k[k]
    return (
        f"{_pair(result, against)} at Pass@{k}: {_with_interval(one)} points, "
        f"p = {p_value(one.holm_p_value)}; by seed {signs(one)}; could show {_detectable(one)}"
    )


def signs(one: Comparison) -> str:
    """Spell which arm was ahead in each seed: + + −; 0 where neither was."""
    return " ".join("+" if d > 0 else MINUS if d < 0 else "0" for d in one.by_seed)


def _size(result: Result) -> tuple[str, str, str]:
    """Spell how much an arm trained on, and how much of it is right."""
    examples, tokens = result.mean("train/num_examples"), result.mean("train/num_tokens")
    passed = result.mean("train/num_passed")
    if examples is None or tokens is None or passed is None:
        return ABSENT, ABSENT, ABSENT
    return count(examples), count(tokens), percent(passed / examples)


def _difference(against: Against | None, k: int) -> tuple[str, str]:
    if against is None:
        return ABSENT, ABSENT
    return points(against.by_k[k].difference), p_value(against.by_k[k].holm_p_value)


def _pair(result: Result, against: Against) -> str:
    return f"{result.arm.name} {MINUS} {against.reference.name}"


def _with_interval(one: Comparison) -> str:
    return f"{points(one.difference)} [{points(one.low)}, {points(one.high)}]"


def _detectable(one: Comparison) -> str:
    value = one.smallest_detectable
    return ABSENT if value is None else f"{100 * value:.1f}"
