"""The drawing of a comparison of arms, which looks as a run's report does. Nothing is measured."""

from collections.abc import Sequence

from selftrain.refine.report.outcomes import FORWARD, ArmOutcome
from selftrain.report.charts import BASE, SERIES, figure_of, svg_of


def draw_arms(arms: Sequence[ArmOutcome]) -> str:
    """Draw the share that each arm solves with its interval, forward alone as a dashed line."""
    from matplotlib.ticker import PercentFormatter

    with figure_of("arms", height=0.36 * len(arms) + 0.7) as (figure, axes):
        shares = [one.num_solved / one.num_tasks for one in arms]
        # Rounding may put an end of Wilson's interval on the wrong side by an ulp.
        below = [max(0.0, share - one.low) for share, one in zip(shares, arms, strict=True)]
        above = [max(0.0, one.high - share) for share, one in zip(shares, arms, strict=True)]
        axes.errorbar(
            shares,
            [one.arm for one in arms],
            xerr=(below, above),
            fmt="o",
            color=SERIES[0],
            markersize=4.5,
            elinewidth=1.2,
            capsize=3,
        )
        for one, share in zip(arms, shares, strict=True):
            if one.arm == FORWARD:
                axes.axvline(share, color=BASE, linestyle="--", linewidth=1.2)
        axes.set_ylim(len(arms) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol="%"))
        axes.set_xlabel("tasks solved")
        return svg_of(figure)
