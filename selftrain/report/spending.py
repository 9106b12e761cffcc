"""What a run asked of servers, and about what that cost: from its timings alone.

An answer that was asked for and lost is counted as often as it was asked for.
"""

from collections.abc import Sequence

from selftrain.files import read_whole_rows
from selftrain.report.blocks import ABSENT, Block, Heading, Table, count
from selftrain.run_directory import RunDirectory
from selftrain.sampling.spending import (
    Spending,
    add_up,
    dollars_text,
    spending_from_row,
    spending_text,
)


def spending_blocks(directory: RunDirectory) -> Sequence[Block]:
    """Lay out what each round asked of servers; nothing where none was asked."""
    rounds = _by_round(directory)
    if not rounds:
        return ()
    rows = [
        ("Requests answered", *(count(one.requests) for one in rounds.values())),
        ("Tokens of prompts", *(count(one.prompt_tokens) for one in rounds.values())),
        ("Tokens of completions", *(count(one.completion_tokens) for one in rounds.values())),
    ]
    if any(one.dollars is not None for one in rounds.values()):
        rows.append(("Dollars, about", *(_dollars(one) for one in rounds.values())))
    heads = ("", *(f"Round {number}" for number in rounds))
    table = Table("What servers were asked for, tries that were lost included.", heads, tuple(rows))
    return (Heading("Servers"), table)


def spending_line(directory: RunDirectory) -> str:
    """Say in a line what a run asked of servers; empty where it asked none."""
    rounds = _by_round(directory)
    return spending_text(add_up(list(rounds.values()))) if rounds else ""


def _by_round(directory: RunDirectory) -> dict[int, Spending]:
    """Add up the rounds in which a server was asked, in order."""
    found: dict[int, list[Spending]] = {}
    for row in read_whole_rows(directory.timings):
        if "asked" in row:
            found.setdefault(row["round"], []).append(spending_from_row(row))
    return {number: add_up(found[number]) for number in sorted(found)}


def _dollars(spending: Spending) -> str:
    return ABSENT if spending.dollars is None else dollars_text(spending.dollars)
