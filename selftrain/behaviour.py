"""Behaviour: which examples solve a held-out puzzle, by their answer or by their g.

One that differs from the held-out puzzle in constants only is exempt where a new instance of a
known family stays: that its g solves both is what makes them a family, and their answers lie so
close together that they are often equal by chance. What unrelated answers solve too tells nothing
(puzzles/behaviour.py). Nothing is removed here; that is decontaminate.py.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from puzzles import Puzzle
from puzzles.behaviour import (
    can_tell,
    constant_solution,
    fits_by_chance,
    fitting_answers,
    input_names,
    searches,
)
from puzzles.contamination import Check, Overlap
from puzzles.normal import shape
from puzzles.trivial import trivial_answers
from selftrain.config import DecontaminateConfig
from selftrain.curate import Example
from selftrain.judge import Judging

MAX_FUEL = 1_000_000_000
"""Instructions for g, and again for the held-out f; by more, endless loops would cost the most.
Of P3's 227 reference answers none needs more than 730 million."""


@dataclass(frozen=True, slots=True)
class Paired:
    """An example and a held-out puzzle of its answer's type."""

    number: int
    """Which example."""
    example: Example
    held_out: Puzzle


@dataclass(frozen=True, slots=True)
class Fit:
    """An example that solves a held-out puzzle."""

    pair: Paired
    answer: str
    """The example's own answer, or that of its g to the inputs of the held-out puzzle."""
    by_g: bool
    """Whether g was called with those inputs."""


@dataclass(frozen=True, slots=True)
class Given:
    """The answer that the g of an example gave to the inputs of a held-out puzzle."""

    pair: Paired
    answer: str
    passed: bool


@dataclass(frozen=True, slots=True)
class Solves:
    """What an example solves."""

    overlap: Overlap | None
    """The first held-out puzzle that it solves and unrelated ones do not; null where none is."""
    by_chance: tuple[str, ...]
    """Names of held-out puzzles that it solves, which tells nothing."""


class HeldOutBehaviour:
    """The held-out puzzles by the type of their answer, and how many trivial answers fit them."""

    def __init__(self, held_out: Iterable[Puzzle]) -> None:
        self.by_type: defaultdict[str, list[Puzzle]] = defaultdict(list)
        self.shapes: dict[str, str] = {}
        self.input_names: dict[str, frozenset[str]] = {}
        for puzzle in held_out:
            self.by_type[puzzle.answer_type].append(puzzle)
            self.shapes[puzzle.name] = shape(puzzle.f)
            self.input_names[puzzle.name] = input_names(puzzle)
        self._num_trivial: dict[str, int] = {}

    def num_trivial(self, puzzles: Iterable[Puzzle], judging: Judging) -> Mapping[str, int]:
        """Count the trivial answers that fit each of these puzzles, by name; each is asked once."""
        new = {p.name: p for p in puzzles if p.name not in self._num_trivial}
        found = _ask([(p, trivial_answers(p.answer_type)) for p in new.values()], judging)
        self._num_trivial |= {name: len(answers) for name, answers in found.items()}
        return self._num_trivial


class Answers:
    """The answers of some examples, and which of them fit which held-out puzzle."""

    def __init__(
        self,
        examples: Sequence[tuple[Example, Puzzle]],
        held_out: HeldOutBehaviour,
        judging: Judging,
    ) -> None:
        self._ids: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        for example, puzzle in examples:
            kind, answer = puzzle.answer_type, example.answer
            if kind in held_out.by_type and answer is not None and can_tell(answer, kind):
                self._ids[kind][answer].add(example.puzzle_id)
        asked = [
            (puzzle, list(answers))
            for kind, answers in self._ids.items()
            for puzzle in held_out.by_type[kind]
        ]
        self._fitting = _ask(asked, judging)

    def fitting(self, held_out: Puzzle) -> set[str]:
        """Give the answers that fit a held-out puzzle, those left out that can tell nothing."""
        return self._fitting.get(held_out.name, set())

    def fits_by_chance(self, fit: Fit, num_trivial: int, max_base_rate: float) -> bool:
        """Say whether answers of other puzzles, and trivial ones, fit too.

        An answer counts once, however many examples give it: a held-out puzzle that many of them
        repeat would else hide itself.
        """
        kind = fit.pair.held_out.answer_type
        if not can_tell(fit.answer, kind):
            return True
        ids = self._ids[kind]
        own = {fit.pair.example.puzzle_id}
        related = {fit.answer, *(answer for answer, owners in ids.items() if owners == own)}
        return fits_by_chance(
            num_trivial + len(self.fitting(fit.pair.held_out) - related),
            len(trivial_answers(kind)) + len(ids.keys() - related),
            max_base_rate,
        )


def given_by_chance(fit: Fit, given: Sequence[Given], max_base_rate: float) -> bool:
    """Say whether the g of other puzzles solve the held-out one too, with other answers.

    `given` are the answers to its inputs. To take two numbers a and b tells nothing where a + b and
    a - b both do.
    """
    unrelated = {
        one.answer: one.passed
        for one in given
        if one.pair.example.puzzle_id != fit.pair.example.puzzle_id and one.answer != fit.answer
    }
    return fits_by_chance(sum(unrelated.values()), len(unrelated), max_base_rate)


def what_they_solve(
    examples: Sequence[tuple[Example, Puzzle]],
    held_out: HeldOutBehaviour,
    config: DecontaminateConfig,
    judging: Judging,
) -> list[Solves]:
    """Say of each example, given with its puzzle, what it solves. Raises `judge.JudgeError`."""
    fuel = min(judging.limits.fuel, MAX_FUEL)
    judging = replace(judging, limits=replace(judging.limits, fuel=fuel))
    telling, by_chance = _told_apart(examples, held_out, config, judging)
    confirmed = _confirmed(telling, judging)
    overlaps: dict[int, Overlap] = {}
    for fit in telling:
        if fit in confirmed:
            overlaps.setdefault(fit.pair.number, _overlap(fit))
    names: defaultdict[int, list[str]] = defaultdict(list)
    for fit in by_chance:
        names[fit.pair.number].append(fit.pair.held_out.name)
    return [
        Solves(overlaps.get(number), tuple(dict.fromkeys(names[number])))
        for number in range(len(examples))
    ]


def _told_apart(
    examples: Sequence[tuple[Example, Puzzle]],
    held_out: HeldOutBehaviour,
    config: DecontaminateConfig,
    judging: Judging,
) -> tuple[list[Fit], list[Fit]]:
    """Find what solves a held-out puzzle: what tells something, and what is so by chance."""
    answers = Answers(examples, held_out, judging)
    pairs = list(_pairs(examples, held_out, keep_same_shape=config.same_shape == "keep"))
    given: defaultdict[str, list[Given]] = defaultdict(list)
    for one in _call(pairs, examples, held_out, judging):
        given[one.pair.held_out.name].append(one)
    fits = [Fit(pair, pair.example.answer or "", False) for pair in pairs if _fits(pair, answers)]
    fits += [Fit(g.pair, g.answer, True) for some in given.values() for g in some if g.passed]
    num_trivial = held_out.num_trivial((fit.pair.held_out for fit in fits), judging)
    told: tuple[list[Fit], list[Fit]] = ([], [])
    for fit in fits:
        name, rate = fit.pair.held_out.name, config.max_base_rate
        by_chance = answers.fits_by_chance(fit, num_trivial[name], rate) or (
            fit.by_g and given_by_chance(fit, given[name], rate)
        )
        told[by_chance].append(fit)
    return told


def _pairs(
    examples: Sequence[tuple[Example, Puzzle]], held_out: HeldOutBehaviour, *, keep_same_shape: bool
) -> Iterator[Paired]:
    """Pair each example with the held-out puzzles that it is compared with."""
    shapes = {example.f: shape(puzzle.f) for example, puzzle in examples} if keep_same_shape else {}
    for number, (example, puzzle) in enumerate(examples):
        for other in held_out.by_type.get(puzzle.answer_type, ()):
            if shapes.get(example.f) != held_out.shapes[other.name]:
                yield Paired(number, example, other)


def _fits(pair: Paired, answers: Answers) -> bool:
    return pair.example.answer in answers.fitting(pair.held_out)


def _call(
    pairs: Sequence[Paired],
    examples: Sequence[tuple[Example, Puzzle]],
    held_out: HeldOutBehaviour,
    judging: Judging,
) -> Iterator[Given]:
    """Call each g with the inputs of the held-out puzzles whose inputs have the same names.

    Without inputs it could only give its own answer again.
    """
    names = {example.f: input_names(puzzle) for example, puzzle in examples}
    searching = {g: searches(g) for g in {example.g for example, _ in examples}}
    called = [
        pair
        for pair in pairs
        if names[pair.example.f]
        and names[pair.example.f] == held_out.input_names[pair.held_out.name]
        and not searching[pair.example.g]
    ]
    # The judge screens together what follows each other with one f.
    called.sort(key=lambda pair: (pair.held_out.name, pair.number))
    verdicts = judging.judge((pair.held_out.f, pair.example.g) for pair in called)
    for pair, verdict in zip(called, verdicts, strict=True):
        if verdict.answer is not None:
            yield Given(pair, verdict.answer, verdict.passed)


def _confirmed(fits: Sequence[Fit], judging: Judging) -> set[Fit]:
    """Judge answers that fit as the pairs they would be: types are tested then, and luck is not."""
    by_answer = [fit for fit in fits if not fit.by_g]
    verdicts = judging.judge(
        (fit.pair.held_out.f, constant_solution(fit.answer)) for fit in by_answer
    )
    passed = {fit for fit, verdict in zip(by_answer, verdicts, strict=True) if verdict.passed}
    return passed | {fit for fit in fits if fit.by_g}


def _overlap(fit: Fit) -> Overlap:
    name = fit.pair.held_out.name
    what = "its g, called with the inputs of" if fit.by_g else "its answer solves"
    solved = f"{what} the held-out {name}" + (", solves it" if fit.by_g else "")
    return Overlap(Check.BEHAVIOUR, name, solved)


def _ask(tasks: Sequence[tuple[Puzzle, Sequence[str]]], judging: Judging) -> dict[str, set[str]]:
    """Find the answers that fit each puzzle, by its name."""
    where = judging.config
    found = fitting_answers(
        [(puzzle.f, answers) for puzzle, answers in tasks],
        judging.limits,
        where.num_workers,
        backend=where.backend,
        address=where.address,
    )
    return {puzzle.name: fitting for (puzzle, _), fitting in zip(tasks, found, strict=True)}
