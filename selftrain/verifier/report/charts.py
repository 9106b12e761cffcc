"""The drawings of a comparison of rankings, as inline SVG that looks as a run's report does.

They draw what they are given; nothing is measured here. A table beside each holds the numbers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from selftrain.report.charts import BASE, INK, SERIES, Curve, draw_points, figure_of, svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CURVES = len(SERIES) + 1
"""A reference and as many curves as there are colours; more could not be told apart."""


def draw_curves(
    name: str,
    curves: Sequence[Curve],
    x: str,
    y: str,
    *,
    scale: Literal["doubling", "percentiles"],
) -> str:
    """Draw shares over a number, at most `MOST_CURVES` of them; the first is a dashed reference.

    The scale spaces 1, 2, 4, ... evenly, or goes from 0 to 100. Intervals are shaded for the first
    and the last curve alone, since more of them would hide each other.
    """
    assert len(curves) <= MOST_CURVES, f"{len(curves)} curves, and colours for {MOST_CURVES}"
    with figure_of(name, height=3.7) as (figure, axes):
        for index, curve in enumerate(curves):
            _draw(axes, curve, index, shaded=index in (0, len(curves) - 1))
        if scale == "doubling":
            _double(axes, max(place for curve in curves for place in curve.x))
        else:
            axes.set_xlim(0, 100)
        axes.set_xlabel(x)
        _shares(axes, y)
        return svg_of(figure)


def _draw(axes: "Axes", curve: Curve, index: int, *, shaded: bool) -> None:
    color = BASE if index == 0 else SERIES[index - 1]
    axes.plot(
        curve.x,
        curve.values,
        color=color,
        label=curve.label,
        linestyle="--" if index == 0 else "-",
        marker="o" if len(curve.x) <= 12 else "",
        markersize=3.5,
        linewidth=1.6,
    )
    if shaded:
        axes.fill_between(curve.x, curve.lows, curve.highs, color=color, alpha=0.13, linewidth=0)


def draw_reliability(curves: Sequence[Curve]) -> str:
    """Draw the share right over the probability stated, with intervals, against the diagonal."""
    with figure_of("reliability", height=4.2) as (figure, axes):
        axes.plot((0, 1), (0, 1), color=BASE, linestyle="--", linewidth=1.2, label="as stated")
        for curve, color in zip(curves, SERIES, strict=False):
            draw_points(axes, curve, curve.x, color)
        _share_x(axes, "mean probability stated")
        axes.set_ylim(top=1)
        _shares(axes, "share right")
        return svg_of(figure)


def draw_risk(
    label: str, coverage: Sequence[float], risk: Sequence[float], chosen: float | None
) -> str:
    """Draw the share of wrong choices over the share of tasks where one is made.

    `chosen` is the coverage that the threshold of the dev tasks gives; None where there is none.
    """
    with figure_of("risk", height=3.4) as (figure, axes):
        axes.plot(coverage, risk, color=SERIES[0], linewidth=1.6, label=label)
        axes.axhline(risk[-1], color=BASE, linestyle="--", linewidth=1.2, label="at random")
        if chosen is not None:
            axes.axvline(chosen, color=INK, linestyle=":", linewidth=1.2, label="threshold of dev")
        _share_x(axes, "coverage: share of tasks where a choice is made")
        _shares(axes, "risk: share of these wrong")
        return svg_of(figure)


def _double(axes: "Axes", highest: float) -> None:
    """Space powers of two evenly, up to the highest place, which is named too."""
    axes.set_xscale("log", base=2)
    ticks = [2**power for power in range(int(highest).bit_length())]
    if highest > 1.5 * ticks[-1]:  # Nearer ones would be written over each other.
        ticks.append(int(highest))
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()


def _share_x(axes: "Axes", label: str) -> None:
    from matplotlib.ticker import PercentFormatter

    axes.set_xlim(0, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol="%"))
    axes.set_xlabel(label)


def _shares(axes: "Axes", label: str) -> None:
    from matplotlib.ticker import PercentFormatter

    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol="%"))
    axes.set_ylabel(label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
