"""What the benchmark judges: five workloads of distinct pairs (f, g), the same in every run.

Codex's programs come from P3's file; nothing hostile is among them, since the rivals run them with
little or no isolation.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random

from judge import Limits, judge_many
from puzzles.puzzle import Puzzle
from scripts.codex_programs import evenly, read_codex, with_head

NAMES = ("trivial", "trivial-half", "codex", "attempts", "attempts-loops")
EVALUATION_FUEL = 20_000_000_000
"""The default of evaluation."""
ROUND_FUEL = 4_000_000_000
"""The default of a round's attempts."""

NUM_ATTEMPTS = 128
"""Attempts a puzzle, as in the paper."""
NUM_RIGHT = 4
NUM_DRAWN = 180
"""Other puzzles' programs drawn for the wrong ones."""
NUM_LOOPS = round(0.05 * NUM_ATTEMPTS)
SEED = 0

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of each workload is judged."""

    num_trivial: int
    """Pairs of `trivial`, and of `trivial-half`."""
    num_codex: int | None
    """Programs of `codex`, evenly spread over the file; None for all."""
    num_puzzles: int
    """Puzzles of `attempts`, and of `attempts-loops`, with 128 attempts each."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Pairs to judge, and the fuel that ours gives each stage of one."""

    name: str
    pairs: tuple[Pair, ...]
    fuel: int

    def __post_init__(self) -> None:
        num_distinct = len(set(self.pairs))
        if num_distinct < len(self.pairs):
            raise ValueError(
                f"{self.name}: only {num_distinct} of {len(self.pairs)} pairs are distinct; a "
                "judge that remembers verdicts would be measured remembering"
            )


def read_workload(name: str, sizes: Sizes, folder: Path) -> Workload:
    """Make the workload of this name; folder is that of P3's files."""
    match name:
        case "trivial":
            return Workload(name, trivial(sizes.num_trivial, 1), EVALUATION_FUEL)
        case "trivial-half":
            return Workload(name, trivial(sizes.num_trivial, 2), EVALUATION_FUEL)
        case "codex":
            return Workload(name, codex(folder, sizes.num_codex), EVALUATION_FUEL)
        case "attempts":
            return Workload(name, attempts(folder, sizes.num_puzzles, 0), ROUND_FUEL)
        case "attempts-loops":
            return Workload(name, attempts(folder, sizes.num_puzzles, NUM_LOOPS), ROUND_FUEL)
    raise ValueError(f"{name!r} is no workload; there are {', '.join(NAMES)}")


def trivial(count: int, passing_every: int) -> tuple[Pair, ...]:
    """Make small pairs of which one in so many passes."""
    return tuple(
        (
            f"def f(answer: int, n={n}):\n    return answer == {n + 17}",
            f"def g(n={n}):\n    return n + {17 if n % passing_every == 0 else 18}",
        )
        for n in range(count)
    )


def codex(folder: Path, count: int | None) -> tuple[Pair, ...]:
    """Take Codex's accepted programs with their own puzzles."""
    programs = read_codex(folder)
    return tuple(program.pair for program in evenly(programs, count or len(programs)))


def attempts(folder: Path, num_puzzles: int, num_loops: int) -> tuple[Pair, ...]:
    """Make 128 attempts a puzzle: 4 accepted ones, endless loops, and what solves other puzzles.

    The wrong ones solve another puzzle of the same answer type, and get this puzzle's head; where
    one then misses an input it raises, as wrong attempts do.
    """
    programs = read_codex(folder)
    bodies: dict[Puzzle, list[str]] = defaultdict(list)
    pool: dict[str, set[str]] = defaultdict(set)
    for program in programs:
        bodies[program.puzzle].append(program.body)
        pool[program.puzzle.answer_type].add(program.body)
    eligible = [
        puzzle
        for puzzle, own in bodies.items()
        if len(own) >= NUM_RIGHT and len(pool[puzzle.answer_type] - set(own)) >= NUM_DRAWN
    ]
    pairs: list[Pair] = []
    for puzzle in evenly(eligible, num_puzzles):
        random = Random(f"{SEED}/{puzzle.name}")
        others = sorted(pool[puzzle.answer_type] - set(bodies[puzzle]))
        wrong = draw_wrong(puzzle, others, random)
        loops = [f"\n    a = {n}\n    while True: pass\n" for n in range(num_loops)]
        chosen = random.sample(bodies[puzzle], NUM_RIGHT) + loops + wrong[num_loops:]
        random.shuffle(chosen)
        pairs += [(puzzle.f, with_head(puzzle, body)) for body in chosen]
    return tuple(pairs)


def draw_wrong(puzzle: Puzzle, others: list[str], random: Random) -> list[str]:
    """Draw bodies that do not solve the puzzle; a few of others' do, by chance, and are left out.

    Our own screen tells. Were it mistaken, the table would show it: more than four would pass.
    """
    drawn = random.sample(others, NUM_DRAWN)
    pairs = [(puzzle.f, with_head(puzzle, body)) for body in drawn]
    verdicts = judge_many(pairs, Limits(fuel=ROUND_FUEL), mode="screen")
    both = zip(drawn, verdicts, strict=True)
    wrong = [body for body, verdict in both if not verdict.passed]
    if len(wrong) < NUM_ATTEMPTS - NUM_RIGHT:
        raise ValueError(f"{puzzle.name}: {len(drawn) - len(wrong)} of {len(drawn)} pass by chance")
    return wrong[: NUM_ATTEMPTS - NUM_RIGHT]
