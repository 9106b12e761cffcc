"""The arms of an ablation, read from their names, and all that can be refused before any work.

What an arm trains on is chosen in data.py.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from puzzles import Puzzle
from selftrain.config import Config, CurateConfig, ModelConfig
from selftrain.errors import UsageError
from selftrain.model_source import resolve

BASE, HUMAN = "base", "human"
VERIFIED, UNVERIFIED, WRONG = "verified", "unverified", "wrong"
_NAMES = (BASE, HUMAN, VERIFIED, UNVERIFIED, WRONG)


@dataclass(frozen=True, slots=True)
class Generator:
    """A model whose puzzles and solutions others are trained on."""

    label: str
    """How tables name it; empty where the base model trains on its own data alone."""
    model: ModelConfig

    @property
    def name(self) -> str:
        """How a sentence names it."""
        return self.label or "the base model"

    @property
    def folder(self) -> str:
        """The label as the name of a folder; empty where there is none."""
        return re.sub(r"[^\w.-]+", "-", self.label)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to choose what the base model is trained on."""

    data: str
    """As configured: base, human, verified, unverified, wrong, or noise-P."""
    generator: Generator | None
    """Whose puzzles and attempts it draws from; None for base and human."""

    @property
    def name(self) -> str:
        """How tables and folders of results name it."""
        source = self.generator.label if self.generator else ""
        return f"{self.data}, from {source}" if source else self.data

    @property
    def folder(self) -> str:
        """The name of its folder."""
        source = self.generator.folder if self.generator else ""
        return f"{self.data}-from-{source}" if source else self.data

    @property
    def is_matched(self) -> bool:
        """Whether it trains on as many tokens as the others; base and human are exempt."""
        return self.data not in (BASE, HUMAN)

    @property
    def num_wrong_of_100(self) -> int | None:
        """Of a hundred examples of a noise dose, how many are wrong; None for other arms."""
        return int(self.data.removeprefix("noise-")) if self.data.startswith("noise-") else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of pairs it draws from."""
        if self.num_wrong_of_100 is not None:
            return (VERIFIED, WRONG)
        return () if self.data == BASE else (self.data,)


def arms_of(config: Config) -> list[Arm]:
    """Read the arms of a configuration, those that draw on generators once for each of them.

    Raises UsageError for a name that is no arm, one given twice, and generators that cannot be.
    """
    generators = generators_of(config)
    arms: list[Arm] = []
    for name in config.ablate.arms:
        _check_name(name)
        if name in (BASE, HUMAN):
            arms.append(Arm(name, None))
        else:
            arms += [Arm(name, generator) for generator in generators]
    twice = [name for name in config.ablate.arms if config.ablate.arms.count(name) > 1]
    if twice:
        raise UsageError(f"ablate.arms names {twice[0]} twice. Name each arm once.")
    return arms


def generators_of(config: Config) -> list[Generator]:
    """Name the models that propose and solve. Raises UsageError where two could be confused."""
    if not config.ablate.generators:
        return [Generator("", config.model)]
    if config.propose.model or config.solve.model:
        raise UsageError(
            "ablate.generators and propose.model or solve.model both say who makes the data. "
            "Keep one of them."
        )
    found: dict[str, Generator] = {}
    for model in config.ablate.generators:
        if not model.server:
            resolve(model.name)
        generator = Generator(_label(model), model)
        if generator.folder in found:
            raise UsageError(
                f"ablate.generators names two models {generator.label!r}, which no table could "
                "tell apart. Name each once, and folders by different last names."
            )
        found[generator.folder] = generator
    return list(found.values())


def curating(kind: str, config: CurateConfig) -> CurateConfig:
    """Say how the pairs of a kind are chosen.

    Solve rates choose among pairs whose verdict is known: of unverified ones it is not looked at,
    and reference solutions, all of which an arm takes, pass always.
    """
    how: dict[str, object] = {"verdicts": kind}
    if kind in (HUMAN, UNVERIFIED):
        how |= {"drop_always_solved": False, "choose": "random"}
    if kind == HUMAN:
        how |= {"verdicts": VERIFIED, "max_pairs": None}
    return config.model_copy(update=how)


def check_arms(config: Config, arms: Sequence[Arm], train: Sequence[Puzzle]) -> None:
    """Refuse what could only fail after hours. Raises UsageError."""
    if config.model.server:
        raise UsageError("model.server: the model that arms train cannot be a server's.")
    if config.curate.verdicts != VERIFIED:
        raise UsageError(
            f"curate.verdicts is {config.curate.verdicts}, but each arm of an ablation has its "
            "own. Leave it out and name the arm in ablate.arms."
        )
    if config.evaluate.epochs == "all":
        raise UsageError(
            "evaluate.epochs is all, but the table of an ablation has one epoch of each arm. Set "
            "finetune.epochs to the one you want, and evaluate.epochs=last."
        )
    if config.finetune.held_back:
        raise UsageError(
            f"finetune.held_back is {config.finetune.held_back}, but arms are matched by the "
            "tokens that all their pairs have. Leave it out."
        )
    if any(arm.data == HUMAN for arm in arms) and not any(puzzle.solutions for puzzle in train):
        raise UsageError(
            f"ablate.arms: human trains on reference solutions, and the {len(train)} train "
            f"puzzles of {config.puzzles.train} have none. Leave that arm out."
        )


def _check_name(name: str) -> None:
    """Raise UsageError where a name is no arm, with the nearest one."""
    if re.fullmatch(r"noise-[1-9][0-9]?", name) or name in _NAMES:
        return
    if name in ("noise-0", "noise-100"):
        instead = VERIFIED if name == "noise-0" else WRONG
        raise UsageError(f"ablate.arms: {name} is the arm {instead}. Name it so.")
    if name.startswith("noise"):
        raise UsageError(
            f"ablate.arms: {name!r} is no arm. Of noise-P, P is the share of wrong examples in "
            "percent, from 1 to 99, as in noise-50."
        )
    close = difflib.get_close_matches(name, _NAMES, n=1, cutoff=0.5)
    meant = f"Did you mean {close[0]}?" if close else f"There is {', '.join(_NAMES)}, noise-50."
    raise UsageError(f"ablate.arms: {name!r} is no arm. {meant}")


def _label(model: ModelConfig) -> str:
    """Name a model by its id, or by the last name of its folder."""
    folder = Path(model.name).expanduser()
    return folder.resolve().name if not model.server and folder.is_dir() else model.name
