"""The tables of what arms come to: an arm a row, or a stratum a row.

What they hold is in outcomes.py and strata.py here. What the gate and the critics said on the way
is laid out in trace_tables.py.
"""

from collections.abc import Sequence

from selftrain.config.refine import Arm
from selftrain.refine.report.outcomes import FORWARD, RESAMPLE, ArmOutcome, Gated
from selftrain.refine.report.strata import Stratum
from selftrain.refine.trace import Role, Stop
from selftrain.report.blocks import ABSENT, Table, count, interval, p_value
from selftrain.report.strata import SMALL_STRATUM


def solved_table(arms: Sequence[ArmOutcome]) -> Table:
    """Lay out what each arm solves, and where gate and hidden tests disagree."""
    rows = [
        (one.arm, of(one.num_solved, one.num_tasks), spelt(one), *_gate_cells(one.gated))
        for one in arms
    ]
    return Table(
        "What each arm solves, and what the gate accepts.",
        ("Arm", "Solved", "% [95%]", "Accepted", "Accepted, fail", "Rejected, pass"),
        tuple(rows),
        "Accepted, fail: the gate accepts the answer and the hidden tests do not, its false "
        "accepts. Rejected, pass: the other way round.",
    )


def against_table(arms: Sequence[ArmOutcome], base: Arm, name: str) -> Table:
    """Lay out how arms differ from one that is there, task by task."""
    base_tokens = next(one.num_tokens for one in arms if one.arm == base)
    rows = [
        (
            one.arm,
            count(found.gained),
            count(found.lost),
            p_value(found.p_value),
            p_value(found.holm_p_value),
            f"{one.num_tokens / base_tokens:.2f}" if base_tokens else ABSENT,
        )
        for one in arms
        if (found := one.against.get(base))
    ]
    return Table(
        f"Tasks gained and lost against {name}.",
        ("Arm", "Gained", "Lost", "p (McNemar, exact)", "p (Holm)", "Tokens, times"),
        tuple(rows),
        f"Tokens, times: those of the arm over those of {name}. What differs in them is no "
        "comparison at equal cost.",
    )


def tokens_table(arms: Sequence[ArmOutcome]) -> Table:
    """Lay out the tokens of all roles, in all, a task and a task solved."""
    rows = [
        (
            one.arm,
            count(one.num_tokens),
            f"{one.tokens_per_task:,.1f}",
            ABSENT if one.tokens_per_solved is None else f"{one.tokens_per_solved:,.1f}",
            *(_prompt_and_completion(one, role) for role in Role),
        )
        for one in arms
    ]
    return Table(
        "Tokens, prompts and completions together, and apart by role as prompt + completion.",
        ("Arm", "All", "A task", "A task solved", *(role.capitalize() for role in Role)),
        tuple(rows),
        "Probes: the critic's replies that say which calls to run.",
    )


def _gate_cells(gated: Gated | None) -> tuple[str, str, str]:
    if gated is None:
        return ABSENT, ABSENT, ABSENT
    return (
        count(gated.num_accepted),
        count(gated.num_false_accepts),
        count(gated.num_false_rejects),
    )


def _prompt_and_completion(one: ArmOutcome, role: Role) -> str:
    if role not in one.used:
        return ABSENT
    return f"{count(one.used[role].prompt)} + {count(one.used[role].completion)}"


def stops_table(arms: Sequence[ArmOutcome]) -> Table:
    """Lay out why refinements ended, tasks an arm."""
    stops = [stop for stop in Stop if any(stop in one.stops for one in arms)]
    rows = [(one.arm, *(count(one.stops.get(stop, 0)) for stop in stops)) for one in arms]
    return Table("Why it ended, in tasks.", ("Arm", *stops), tuple(rows))


def updates_table(arms: Sequence[ArmOutcome]) -> Table:
    """Lay out how many updates tasks took and how often each role was asked."""
    most = 4
    rows = []
    for one in arms:
        beyond = sum(tasks for number, tasks in one.updates.items() if number > most)
        rows.append(
            (
                one.arm,
                *(count(one.updates.get(number, 0)) for number in range(most + 1)),
                count(beyond),
                *(count(one.used[role].num_calls) if role in one.used else "0" for role in Role),
            )
        )
    return Table(
        "Tasks by the number of candidates after the first, and calls of each role.",
        (
            "Arm",
            *map(str, range(most + 1)),
            f"{most + 1} or more",
            *(f"Calls: {role}" for role in Role),
        ),
        tuple(rows),
    )


def outcomes_table(arms: Sequence[ArmOutcome]) -> Table:
    """Lay out what the hidden tests said, tasks an arm."""
    outcomes = sorted({outcome for one in arms for outcome in one.outcomes})
    rows = [(one.arm, *(count(one.outcomes.get(name, 0)) for name in outcomes)) for one in arms]
    return Table("What the hidden tests say, in tasks.", ("Arm", *outcomes), tuple(rows))


def strata_table(key: str, found: Sequence[Stratum]) -> Table:
    """Lay out what the arms solve of each stratum, an arm a column."""
    arms = list(found[0].num_solved)
    rows = [(one.label, *(of(one.num_solved[arm], one.num_tasks) for arm in arms)) for one in found]
    small = any(one.num_tasks < SMALL_STRATUM for one in found)
    return Table(
        f"Solved by {key}.",
        (key.capitalize(), *arms),
        tuple(rows),
        f"† fewer than {SMALL_STRATUM} tasks: one alone moves them by over ten points."
        if small
        else "",
    )


def of(part: int, whole: int) -> str:
    """Spell a count and what it is of: 12 / 164."""
    return f"{count(part)} / {count(whole)}"


def spelt(one: ArmOutcome) -> str:
    """Spell the share solved with its interval, in percent."""
    return interval(one.num_solved / one.num_tasks, one.low, one.high)


def terminal_rows(arms: Sequence[ArmOutcome]) -> list[tuple[str, ...]]:
    """Lay out the one table for a terminal; columns of an arm that is not there are left out."""
    there = {one.arm for one in arms}
    bases = [base for base in (FORWARD, RESAMPLE) if base in there]
    bases = [base for base in bases if any(base in one.against for one in arms)]
    heads = [cell for base in bases for cell in (f"vs {base}"[:11], "p")]
    rows: list[tuple[str, ...]] = [("arm", "solved", "% [95%]", *heads, "tokens")]
    for one in arms:
        cells: list[str] = []
        for base in bases:
            found = one.against.get(base)
            cells += (
                (f"+{found.gained} \u2212{found.lost}", p_value(found.p_value))
                if found
                else ("", "")
            )
        solved = f"{one.num_solved}/{one.num_tasks}"
        rows.append((one.arm, solved, spelt(one), *cells, count(one.tokens_per_task)))
    return rows
