"""What refinement added to the rounds of a run, beside drawing again: from metrics alone."""

from collections.abc import Mapping

from selftrain.difficulty import interval as wilson
from selftrain.files import Row
from selftrain.report.blocks import (
    ABSENT,
    Block,
    Heading,
    Paragraph,
    Section,
    Table,
    count,
    interval,
    p_value,
    share,
)
from selftrain.report.reading import Run

WAYS = {"refined": "refined", "resampled": "drawn again"}
"""What becomes of an unsolved puzzle, as metrics and as tables name it."""


def refinement_section(run: Run) -> Section | None:
    """Give what each round's refinement added and took; None where no round refines."""
    rounds = {
        round_.number: round_.metrics
        for round_ in run.trained
        if f"refine/{next(iter(WAYS))}/puzzles" in round_.metrics
    }
    if not rounds:
        return None
    blocks: list[Block] = [_pairs(rounds)]
    if said := _compared(rounds):
        blocks.append(Paragraph(said))
    blocks += [_costs(rounds), Heading("Why refinements ended"), _stops(rounds)]
    return Section("Refinement", tuple(blocks))


def _pairs(rounds: Mapping[int, Row]) -> Table:
    rows = []
    for number, metrics in rounds.items():
        for key, name in WAYS.items():
            one = _of(metrics, key)
            rows.append(
                (
                    f"Round {number}, {name}",
                    count(one["puzzles"]),
                    count(one["solved"]),
                    _solved(one),
                    count(one["examples"]),
                    count(one["tokens"]),
                    _rate(one),
                )
            )
    return Table(
        "Puzzles that no attempt solved, some drawn by lot to be drawn again: how many were solved "
        "then, and verified pairs for 1,000 tokens, with 95% intervals.",
        ("Puzzles", "Number", "Solved", "Percent", "Trained on", "Tokens", "Pairs for 1,000"),
        tuple(rows),
        "A puzzle solved is one verified pair, since a way ends with it. Tokens are those of all "
        "roles, prompts included, as `refine.tokenizer` counts them; the attempt that a refinement "
        "begins with is not among them. Intervals are Wilson's, of the share solved; those of "
        "pairs for 1,000 tokens take the tokens as they are.",
    )


def _compared(rounds: Mapping[int, Row]) -> str:
    """Say whether the two ways differ over all rounds; nothing where one of them took no puzzle."""
    refined, drawn = (
        {name: sum(_of(one, key)[name] for one in rounds.values()) for name in _COUNTED}
        for key in WAYS
    )
    if not (refined["tokens"] and drawn["tokens"]):
        return ""
    p = p_value(_fisher(refined, drawn)).replace("<", "< ")
    differ = "differ" if _fisher(refined, drawn) < SHOWN else "could not be shown to differ"
    return (
        f"Over all rounds refinement solved {_counted(refined)}, and drawing again "
        f"{_counted(drawn)}. The shares solved {differ} by Fisher's exact test (p "
        f"{p if p[0] == '<' else f'= {p}'}). Which puzzles were refined is decided by lot."
    )


def _counted(one: Mapping[str, int]) -> str:
    rate = 1000 * one["solved"] / one["tokens"]
    return f"{count(one['solved'])} of {count(one['puzzles'])} ({rate:.3f} pairs for 1,000 tokens)"


def _fisher(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Give the two-sided p-value of two shares solved being one."""
    import numpy as np
    from scipy.stats import fisher_exact

    table = np.array([[one["solved"], one["puzzles"] - one["solved"]] for one in (a, b)])
    return float(fisher_exact(table).pvalue)


SHOWN = 0.05
"""Above this p-value nothing is said to differ."""
_COUNTED = ("puzzles", "solved", "tokens")


def _costs(rounds: Mapping[int, Row]) -> Table:
    rows = [
        (
            f"Round {number}, {name}",
            count(one["calls"]),
            share(one["critic_tokens"], one["tokens"]),
            count(one["tokens"] / one["puzzles"]) if one["puzzles"] else ABSENT,
        )
        for number, metrics in rounds.items()
        for key, name in WAYS.items()
        for one in [_of(metrics, key)]
    ]
    return Table(
        "Calls of models, and tokens of the critic among all.",
        ("Puzzles", "Calls", "Tokens of the critic", "Tokens a puzzle"),
        tuple(rows),
        "The last call of a puzzle may go beyond `refine.tokens`.",
    )


def _stops(rounds: Mapping[int, Row]) -> Table:
    columns = {
        f"{number}, {name}": _of(metrics, f"{key}/stop")
        for number, metrics in rounds.items()
        for key, name in WAYS.items()
    }
    names = sorted({name for column in columns.values() for name in column})
    rows = [
        (name, *(share(one.get(name, 0), sum(one.values())) for one in columns.values()))
        for name in names
    ]
    return Table(
        "Puzzles by the reason for which it ended, by round.", ("Reason", *columns), tuple(rows)
    )


def _of(metrics: Row, way: str) -> Row:
    """Give the metrics of a way by their last names."""
    begin = f"refine/{way}/"
    return {
        key.removeprefix(begin): value
        for key, value in metrics.items()
        if key.startswith(begin) and "/" not in key.removeprefix(begin)
    }


def _solved(one: Row) -> str:
    if not one["puzzles"]:
        return ABSENT
    return interval(one["solved"] / one["puzzles"], *wilson(one["solved"], one["puzzles"]))


def _rate(one: Row) -> str:
    if one["pairs_per_1000_tokens"] is None:
        return ABSENT
    ends = wilson(one["solved"], one["puzzles"])
    low, high = (1000 * end * one["puzzles"] / one["tokens"] for end in ends)
    return f"{one['pairs_per_1000_tokens']:.3f} [{low:.3f}, {high:.3f}]"
