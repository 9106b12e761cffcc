"""Diversity in reports: the measures by round or by generator, the map, what was repeated most.

Everything is read from what a run measured; nothing is measured here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from selftrain.diversity.kinds import variety_at
from selftrain.diversity.record import Diversity, Point, read_diversity
from selftrain.files import Row
from selftrain.report.blocks import (
    ABSENT,
    Block,
    Figure,
    Heading,
    Paragraph,
    Section,
    Table,
    Verbatim,
    count,
    percent,
    share,
)
from selftrain.report.charts import BASE, SERIES, figure_of, svg_of
from selftrain.report.reading import Run
from selftrain.report.verbatim import passage
from selftrain.run_directory import RunDirectory

MARKERS = ("o", "s", "^", "D")

NOTE = (
    "Measured on all definitions proposed, kept or not. A family is a shape: a normal form without "
    "its constants. Effective numbers are 2 to the entropy: so many equally frequent kinds would "
    "be as varied. Syntax is the part of the entropy of (node, child) pairs that lies between "
    "puzzles. Distances are 1 - cosine between mean last hidden states of the base model."
)

_Spell = Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Group:
    """Points that share a colour on a map."""

    label: str
    """What the legend says."""
    places: Sequence[tuple[float, float]]
    """Where they lie."""


def diversity_section(run: Run, directory: RunDirectory) -> Section:
    """Say how varied each round was, what fell, and which families were proposed most often."""
    paths = [directory.round(number).diversity for number in range(run.num_rounds + 1)]
    rounds = [read_diversity(path) for path in paths if path.exists()]
    if not rounds:
        return Section("Diversity", (Paragraph("No round's diversity has been measured."),))
    return Section(
        "Diversity",
        (
            *(Paragraph(f"Warning: {line}") for one in rounds for line in one.warnings),
            diversity_table({f"Round {one.number}": one for one in rounds}),
            *_map(rounds[-1].points),
            *_frequent(rounds[-1]),
        ),
    )


def diversity_table(pools: Mapping[str, Diversity]) -> Table:
    """Lay the measures of pools side by side, a column each: of rounds, runs or generators.

    Pools of different sizes are also compared at the size of the smallest.
    """
    rows = [
        (name, *(spell(one.metrics) for one in pools.values())) for name, spell in _MEASURES.items()
    ]
    sizes = {one.families.size for one in pools.values()}
    if len(sizes) > 1 and min(sizes) > 0:
        rows += _at_one_size(pools, min(sizes))
    return Table(
        "How varied the proposed puzzles are, and how new.", ("", *pools), tuple(rows), NOTE
    )


def draw_map(groups: Sequence[Group], axes_are_components: bool) -> str:
    """Draw points of a plane, a colour and a shape a group, the first of which is the base."""
    with figure_of("diversity", height=4.6) as (figure, axes):
        for index, group in enumerate(groups):
            axes.scatter(
                [x for x, _ in group.places],
                [y for _, y in group.places],
                s=13,
                color=BASE if index == 0 else SERIES[(index - 1) % len(SERIES)],
                marker="x" if index == 0 else MARKERS[(index - 1) % len(MARKERS)],
                alpha=0.7,
                linewidths=0.8 if index == 0 else 0,
                label=group.label,
            )
        axes.grid(visible=False)
        axes.set_xticks([])
        axes.set_yticks([])
        if axes_are_components:
            axes.set_xlabel("first component")
            axes.set_ylabel("second component")
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
        return svg_of(figure)


def spread(numbers: Sequence[int]) -> list[int]:
    """Choose as many of these, first and last among them, as there are colours."""
    most = len(SERIES)
    if len(numbers) <= most:
        return list(numbers)
    return [numbers[round(i * (len(numbers) - 1) / (most - 1))] for i in range(most)]


def _share_of(part: str, whole: str) -> _Spell:
    return lambda metrics: share(metrics[part], metrics[whole])


def _number(key: str, digits: int) -> _Spell:
    return lambda metrics: f"{metrics[key]:.{digits}f}" if key in metrics else ABSENT


_MEASURES: dict[str, _Spell] = {
    "Definitions proposed": lambda metrics: count(metrics["diversity/num_definitions"]),
    "Distinct normal forms": _share_of("diversity/num_distinct", "diversity/num_definitions"),
    "Families": lambda metrics: count(metrics["diversity/num_families"]),
    "Entropy of families, bits": _number("diversity/family_bits", 2),
    "Effective families": _number("diversity/effective_families", 1),
    "Entropy of syntax, bits": _number("diversity/syntax_bits", 2),
    "Effective syntax": _number("diversity/effective_syntax", 2),
    "Families never seen before": _share_of("diversity/num_new_families", "diversity/num_families"),
    "Definitions beyond the train families": lambda metrics: percent(
        metrics["diversity/beyond_train"]
    ),
    "Mean distance of two": _number("diversity/mean_distance", 3),
    "Distance to the nearest before": _number("diversity/nearest_distance", 3),
}


def _at_one_size(pools: Mapping[str, Diversity], size: int) -> list[tuple[str, ...]]:
    """Give what `size` definitions drawn from each pool would show."""
    forms = [variety_at(one.normal_forms, size) for one in pools.values()]
    families = [variety_at(one.families, size) for one in pools.values()]
    of = f"of {count(size)} definitions"
    return [
        (f"Distinct normal forms {of}", *(share(one.num_distinct, size) for one in forms)),
        (f"Families {of}", *(count(one.num_distinct) for one in families)),
        (f"Effective families {of}", *(f"{one.effective_number:.1f}" for one in families)),
    ]


def _map(points: Sequence[Point]) -> list[Block]:
    """Draw the last round's map: train puzzles, and at most as many rounds as have a colour."""
    rounds = sorted({point.round for point in points} - {0})
    if not rounds:
        return []
    groups = [
        Group(
            "train" if number == 0 else f"round {number}",
            [(point.x, point.y) for point in points if point.round == number],
        )
        for number in (0, *spread(rounds))
    ]
    caption = (
        "Puzzles as the base model embeds them, by the two directions of the largest variance. "
        "Rounds that drift together onto one spot are a collapse."
    )
    return [Figure(caption, draw_map(groups, axes_are_components=True))]


def _frequent(diversity: Diversity) -> list[Block]:
    """Show the families proposed most often, word for word."""
    if not diversity.frequent:
        return []
    total = diversity.metrics["diversity/num_definitions"]
    shown = [
        Verbatim(
            f"{share(one.count, total)} of the definitions have this shape",
            (passage("puzzle", one.f),),
        )
        for one in diversity.frequent
    ]
    return [Heading(f"The families proposed most often in round {diversity.number}"), *shown]
