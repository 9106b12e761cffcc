"""The plot of a temperature sweep, in files of its own: SVG and PNG by matplotlib.

The drawings of a report, which take their colours from its page, are in charts.py.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selftrain.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLE = {
    "svg.hashsalt": "selftrain sweep",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
}


def draw_sweep(
    temperatures: Sequence[float], lines: Mapping[int, Sequence[Estimate]], paths: Sequence[Path]
) -> None:
    """Draw Pass@k over temperature with 95% intervals, a line a k, and save it to each path.

    The format is that of a path's suffix. The best of each line is filled. The same numbers give
    the same bytes.
    """
    from matplotlib import colormaps, style
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    # Default style first: a person's own matplotlibrc has no say.
    with style.context(["default", _STYLE]):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.subplots()
        # Intervals of several k at one temperature would lie on each other.
        gaps = [right - left for left, right in pairwise(temperatures)]
        apart = 0.36 * min(gaps, default=0.2) / len(lines)
        for index, (k, estimates) in enumerate(lines.items()):
            color = colormaps["viridis"](0.85 * index / max(1, len(lines) - 1))
            x = [place + apart * (index - (len(lines) - 1) / 2) for place in temperatures]
            _draw_line(axes, x, estimates, color=color, label=f"Pass@{k}")
        axes.set_xticks(temperatures, [f"{temperature:g}" for temperature in temperatures])
        axes.set_xlabel("temperature (filled: best on dev)")
        axes.set_ylabel("Pass@k on the dev puzzles")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
        for path in paths:
            _save(figure, path)


def _draw_line(
    axes: "Axes", x: Sequence[float], estimates: Sequence[Estimate], **look: Any
) -> None:
    values = [estimate.value for estimate in estimates]
    below = [estimate.value - estimate.low for estimate in estimates]
    above = [estimate.high - estimate.value for estimate in estimates]
    axes.errorbar(x, values, yerr=(below, above), marker="o", mfc="white", capsize=3, **look)
    highest = values.index(max(values))
    axes.plot(x[highest], values[highest], color=look["color"], marker="o", zorder=5)


def _save(figure: "Figure", path: Path) -> None:
    """Save without a date, so that the same numbers give the same bytes."""
    undated = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    unfinished = path.with_name(f"unfinished-{path.name}")
    figure.savefig(unfinished, dpi=150, metadata=undated)
    unfinished.replace(path)
