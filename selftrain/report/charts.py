"""The report's drawings, as inline SVG by matplotlib: no pixels, no fonts, no colours of their own.

Colours are stand-ins that become variables of the page's style sheet, so that one drawing serves
light and dark. The same numbers give the same bytes.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, BASE = "#010101", "#020202", "#030303"
SERIES = ("#040401", "#040402", "#040403", "#040404")
_VARIABLES = {
    INK: "var(--ink-soft)",
    FAINT: "var(--line)",
    BASE: "var(--base)",
    **{stand_in: f"var(--series-{index})" for index, stand_in in enumerate(SERIES)},
}
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True)
class Curve:
    """One line with its intervals."""

    label: str
    """What the legend says."""
    x: tuple[float, ...]
    """Places on the horizontal axis."""
    values: tuple[float, ...]
    """Shares from 0 to 1, one an x."""
    lows: tuple[float, ...]
    """Lower ends of the intervals."""
    highs: tuple[float, ...]
    """Upper ends of the intervals."""


def draw_by_k(curves: Sequence[Curve]) -> str:
    """Draw Pass@k over k, a line a round: base model first, later rounds stand out more."""
    with figure_of("by-k", height=3.7) as (figure, axes):
        for index, curve in enumerate(curves):
            color = BASE if index == 0 else SERIES[0]
            strength = 1.0 if index == 0 else 0.35 + 0.65 * index / (len(curves) - 1)
            ends = index in (0, len(curves) - 1)
            axes.plot(
                curve.x,
                curve.values,
                color=color,
                alpha=strength,
                label=curve.label,
                linestyle="--" if index == 0 else "-",
                marker="o",
                markersize=3.5,
                linewidth=2 if ends else 1.4,
            )
            if ends:
                axes.fill_between(
                    curve.x, curve.lows, curve.highs, color=color, alpha=0.13, linewidth=0
                )
        axes.set_xscale("log", base=2)
        ticks = sorted({x for curve in curves for x in curve.x})
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("k")
        _share_axis(axes, "Pass@k")
        return svg_of(figure)


def draw_by_round(curves: Sequence[Curve]) -> str:
    """Draw Pass@k over rounds, a line a k, each with its interval."""
    with figure_of("by-round", height=3.4) as (figure, axes):
        for index, curve in enumerate(curves):
            # Intervals of several k at one round would lie on each other.
            x = [place + 0.05 * (index - (len(curves) - 1) / 2) for place in curve.x]
            draw_points(axes, curve, x, SERIES[index % len(SERIES)])
        rounds = sorted({place for curve in curves for place in curve.x})
        axes.set_xticks(rounds, ["base" if place == 0 else f"{place:g}" for place in rounds])
        axes.set_xlabel("round")
        _share_axis(axes, "Pass@k")
        return svg_of(figure)


def draw_points(axes: "Axes", curve: Curve, x: Sequence[float], color: str) -> None:
    """Draw a curve's points at `x`, each with its interval."""
    below = [value - low for value, low in zip(curve.values, curve.lows, strict=True)]
    above = [high - value for value, high in zip(curve.values, curve.highs, strict=True)]
    axes.errorbar(
        x,
        curve.values,
        yerr=(below, above),
        color=color,
        label=curve.label,
        marker="o",
        markersize=4.5,
        linewidth=1.6,
        elinewidth=1.2,
        capsize=3,
    )


def draw_funnel(steps: Sequence[tuple[str, int]]) -> str:
    """Draw what one round kept, a bar a step, longest on top."""
    with figure_of("funnel", height=0.36 * len(steps) + 0.3) as (figure, axes):
        names, counts = [name for name, _ in steps], [number for _, number in steps]
        bars = axes.barh(names, counts, color=SERIES[0], height=0.62)
        axes.bar_label(bars, [f"{number:,}" for number in counts], padding=6, color=INK)
        axes.set_xlim(0, max(1, max(counts)) * 1.12)
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.xaxis.set_visible(False)
        axes.spines["bottom"].set_visible(False)
        return svg_of(figure)


def _share_axis(axes: "Axes", label: str) -> None:
    from matplotlib.ticker import PercentFormatter

    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol="%"))
    axes.set_ylabel(label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


@contextmanager
def figure_of(name: str, *, height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """Begin a drawing; `name` keeps its ids apart from those of others on the page."""
    from matplotlib import style
    from matplotlib.figure import Figure

    # Ids inside a drawing come from the salt: drawings on one page must not share ids.
    # Default style first: a person's own matplotlibrc has no say.
    with style.context(["default", {**_STYLE, "svg.hashsalt": f"selftrain {name}"}]):
        figure = Figure(figsize=(7.2, height), layout="constrained")
        yield figure, figure.subplots()


def svg_of(figure: "Figure") -> str:
    """Save as inline SVG: no date, no header, no outside address, colours from the page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r'<g id="\w+">', "<g>", svg)
    for stand_in, variable in _VARIABLES.items():
        svg = svg.replace(stand_in, variable)
    return re.sub(r"\n\s*\n", "\n", svg).strip()
