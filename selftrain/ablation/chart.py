"""The plot of an ablation: Pass@k of each arm with its interval, one colour a k.

It looks as the drawings of a run's report do.
"""

from collections.abc import Sequence

from selftrain.ablation.results import Result
from selftrain.report.charts import INK, SERIES, figure_of, svg_of


def draw_arms(results: Sequence[Result], ks: Sequence[int]) -> str:
    """Draw a row an arm, the first on top; at most four k can be told apart."""
    from matplotlib.ticker import PercentFormatter

    names = [result.arm.name for result in results]
    with figure_of("arms", height=0.42 * len(results) + 0.9) as (figure, axes):
        for index, k in enumerate(ks):
            found = [result.pass_at_k[k] for result in results]
            # Intervals of several k in one row would lie on each other.
            offset = 0.16 * (index - (len(ks) - 1) / 2)
            axes.errorbar(
                [one.value for one in found],
                [row + offset for row in range(len(results))],
                xerr=(
                    [one.value - one.low for one in found],
                    [one.high - one.value for one in found],
                ),
                color=SERIES[index],
                label=f"Pass@{k}",
                linestyle="none",
                marker="o",
                markersize=4.5,
                elinewidth=1.4,
                capsize=3,
            )
        axes.set_yticks(range(len(results)), names, color=INK)
        axes.set_ylim(len(results) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol="%"))
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
        return svg_of(figure)
