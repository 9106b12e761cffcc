"""An experiment under way, and how a stage is done once only. The rounds are in loop.py."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

from puzzles import Puzzle, from_row
from selftrain.config import Config, ModelConfig
from selftrain.decontaminate import HeldOutIndex
from selftrain.diversity.measure import Embed
from selftrain.evaluate import Evaluation, evaluation_of
from selftrain.files import Format, Record, Row, append_row, read_rows, write_rows
from selftrain.judge import Judging, judging_in_rounds
from selftrain.progress import Advance, Progress
from selftrain.prompts import few_shot_puzzles
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.sampling import Sampler
from selftrain.sampling.lazy import LazySampler
from selftrain.sampling.spending import Bill, since, spending_to_row
from selftrain.solve import Attempts
from selftrain.verifier.learning.lazy import LazyVerifier


class Paused(Exception):
    """A limit of the configuration was reached; the same command goes on. One sentence."""


@dataclass(frozen=True)
class Experiment:
    """Everything that the rounds of one run share."""

    config: Config
    run: RunDirectory
    train: Sequence[Puzzle]
    """The train split, of which prompts are made."""
    held_out: Sequence[Puzzle]
    """What is kept out of training."""
    progress: Progress
    load: Callable[[Path | None], Sampler]
    """Loads the base model (None), or the model that a round trained, for sampling."""
    load_other: Callable[[ModelConfig], Sampler]
    """Loads a model that proposes or solves and is not the one that learns."""
    embed: Embed | None = None
    """Embeds puzzles by the base model, to see how varied they are; None leaves that out."""
    dev: Sequence[Puzzle] = ()
    """Train puzzles that choices are made on; no prompt shows them."""
    measured: Sequence[Puzzle] = ()
    """The held-out puzzles that Pass@k is measured on."""
    begun: float = field(default_factory=time.monotonic)
    """When this process began, on the monotonic clock in seconds."""
    bill: Bill = field(default_factory=Bill)
    """What this process asked of servers."""

    def generator(self, number: int) -> LazySampler:
        """Give the model that round `number` ended with; round 0 has the base model."""
        model = self.run.round(number).model if number else None
        return LazySampler(lambda: self.load(model), self.bill)

    def generator_of_epoch(self, here: RoundDirectory, epoch: int) -> LazySampler:
        """Give the model after an epoch of a round, where every epoch is kept."""
        return LazySampler(lambda: self.load(here.epoch_model(epoch)), self.bill)

    def proposer(self, generator: LazySampler) -> LazySampler:
        """Give the model that proposes: one of its own, or the one that learns."""
        return self._others.get(self.config.propose.model, generator)

    def solver(self, generator: LazySampler) -> LazySampler:
        """Give the model that solves in rounds: one of its own, or the one that learns."""
        return self._others.get(self.config.solve.model, generator)

    @property
    def critic(self) -> LazySampler | None:
        """Give the model that reviews in rounds; None where it is the solver or a program."""
        return self._others.get(self._critic)

    @property
    def _critic(self) -> ModelConfig | None:
        refine = self.config.refine
        return refine.critic if refine.enabled and isinstance(refine.critic, ModelConfig) else None

    @cached_property
    def _others(self) -> dict[ModelConfig | None, LazySampler]:
        named = {self.config.propose.model, self.config.solve.model, self._critic} - {None}
        return {
            m: LazySampler(partial(self.load_other, m), self.bill) for m in named if m is not None
        }

    def reach_others(self) -> None:
        """Load the models besides the one that learns: a wrong name should end a run at once.

        Raises UsageError or RunError.
        """
        for sampler in self._others.values():
            _ = sampler.context_tokens
            sampler.release()

    def reach_verifier(self) -> None:
        """Load what a round's verifier starts from, where rounds have one, for the same reason.

        Raises UsageError or RunError.
        """
        if self.config.verifier.enabled:
            from selftrain.verifier.learning.inputs import reads_of
            from selftrain.verifier.learning.network import load_base

            load_base(self.config.verifier, reads_of(self.config.verifier, "full"), 0)

    def release(self, generator: LazySampler) -> None:
        """Give the memory of all models back; each is loaded again when next asked."""
        for sampler in (generator, *self._others.values()):
            sampler.release()
        self.verifiers.release()

    @cached_property
    def verifiers(self) -> LazyVerifier:
        """The verifiers of earlier rounds, one of them in memory at a time."""
        return LazyVerifier(self.config.verifier.model)

    @cached_property
    def few_shot(self) -> list[Puzzle]:
        """The train puzzles that a prompt to solve shows with their reference solutions."""
        return few_shot_puzzles(self.train, self.config.solve.num_few_shot)

    @cached_property
    def judging(self) -> Judging:
        """How the candidates of a round are judged."""
        return judging_in_rounds(self.config.judge)

    @cached_property
    def nearness(self) -> HeldOutIndex:
        """The held-out puzzles, as examples are compared with them."""
        return HeldOutIndex(self.held_out, self.config.decontaminate, self.dev)

    @cached_property
    def filter_judging(self) -> Judging:
        """How the trivial answers to a proposal are judged."""
        limits = replace(self.judging.limits, fuel=self.config.filter.fuel)
        return replace(self.judging, limits=limits)

    def attempts(self, number: int) -> Attempts:
        """Say how the puzzles of a round are tried."""
        c = self.config
        return Attempts(
            count=c.solve.num_attempts,
            temperature=c.solve.temperature,
            max_new_tokens=c.solve.max_new_tokens,
            few_shot=self.few_shot,
            seed=c.seed,
            place=(number, "solve"),
        )

    def evaluation(self, number: int) -> Evaluation:
        """Say how the held-out puzzles are tried after a round."""
        return evaluation_of(self.config, self.few_shot, number)

    def earlier_puzzles(self, number: int) -> Iterator[Puzzle]:
        """Stream the puzzles that the rounds before `number` kept."""
        for earlier in range(1, number):
            yield from map(from_row, read_rows(self.run.round(earlier).puzzles))

    def examples_before(self, number: int) -> Iterator[Row]:
        """Stream the earlier rounds' examples; none where training goes on from their model."""
        if number > 1 and self.config.finetune.start == "base":
            yield from read_rows(self.run.round(number - 1).examples)

    def once(
        self,
        here: RoundDirectory,
        shard: int,
        form: Format[Record],
        total: int,
        make: Callable[..., Iterable[Record]],
    ) -> list[Record]:
        """Make the records of one shard, or read them where an earlier process finished it.

        `make` is called with `advance`, which it tells how many of `total` it has just done.
        """
        path = here.shard(form.stage, shard)
        if not path.exists():
            with self.timed(here, form.stage, shard, total) as advance:
                write_rows(path, map(form.to_row, make(advance=advance)))
        return [form.from_row(row) for row in read_rows(path)]

    @contextmanager
    def timed(self, here: RoundDirectory, stage: str, shard: int, total: int) -> Iterator[Advance]:
        """Show and time a piece of work. Raises Paused before it where a limit is reached."""
        self._check_limits()
        started, begun, before = datetime.now(UTC), time.monotonic(), self.bill.total

        def note(**more: object) -> None:
            row = {
                "round": here.number,
                **({"place": here.label} if here.label else {}),
                "stage": stage,
                "shard": shard,
                "seconds": round(time.monotonic() - begun, 3),
                "started": started.isoformat(timespec="seconds"),
                **spending_to_row(since(before, self.bill.total)),
                **more,
            }
            append_row(self.run.timings, row)

        try:
            with self.progress.stage(f"{here.name}  {stage:<9} {shard + 1}", total) as advance:
                yield advance
        except BaseException:
            # What was asked of a server is paid for, though its answers are lost.
            if self.bill.total != before:
                note(cut_short=True)
            raise
        note()

    def _check_limits(self) -> None:
        limits = self.config.limits
        hours = (time.monotonic() - self.begun) / 3600
        if limits.hours is not None and hours >= limits.hours:
            raise Paused(f"limits.hours: {hours:.2f} of {limits.hours} hours are used")
        if limits.disk_gb is not None:
            used = (
                sum(path.stat().st_size for path in self.run.path.rglob("*") if path.is_file())
                / 1e9
            )
            if used >= limits.disk_gb:
                raise Paused(
                    f"limits.disk_gb: {used:.3f} of {limits.disk_gb} GB are used in {self.run.path}"
                )
