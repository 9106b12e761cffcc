"""Judges or runs many programs: in order, streamed, equal ones once, on many cores or machines.

Memory stays flat: a batch is read, judged and handed out before the next one is read, and what is
remembered of earlier ones is bounded. A verdict does not depend on how many workers there are, nor
on what was judged before. Not here: where the workers are (workers/).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

from judge.function import FunctionProblem, judge_function
from judge.memory import VERDICTS_BYTES, Found, Memory, ask_once, key
from judge.pair import check, confirm, decide, run, run_text, timed
from judge.records import DEFAULT_LIMITS, Backend, Execution, Limits, Mode, NotText, Verdict
from judge.screen import screen
from judge.stack import deep
from judge.text import TextProblem, judge_text

if TYPE_CHECKING:
    from judge.workers import Workers

Pair: TypeAlias = tuple[str, str]
Sample: TypeAlias = tuple[FunctionProblem | TextProblem, str]
Program: TypeAlias = tuple[str, str | None]
Group: TypeAlias = tuple[tuple[Any, Any], ...]
"""What is judged together: one program in `strict`, the attempts at one puzzle in `screen`."""
JudgeGroup: TypeAlias = Callable[[Group], list[Found]]
"""How a group is judged, or run: one verdict, or execution, of each of its programs."""

T = TypeVar("T")
R = TypeVar("R")

GROUP_PAIRS = 128
"""Most attempts that share an instance: the paper's number a puzzle."""
BATCH_PAIRS = 256
"""Pairs a worker in a batch, and at least one group."""
CHUNK_PAIRS = 8
"""Pairs in one message to a worker: few, so that an endless loop delays few others."""


@dataclass(frozen=True, slots=True)
class How:
    """How each group is judged."""

    limits: Limits
    mode: Mode
    confirm: bool
    """Whether what passes must pass in a second guest too."""
    remember: bool
    """Whether f is asked only once about equal answers."""


def judge_many(
    pairs: Iterable[Pair],
    limits: Limits = DEFAULT_LIMITS,
    num_workers: int = 1,
    *,
    mode: Mode = "strict",
    confirm: bool = False,
    remember: bool = True,
    backend: Backend = "loky",
    address: str | None = None,
) -> Iterator[Verdict]:
    """Yield the verdict of each (f, g), in order; raise JudgeError if the judge cannot run.

    `strict` runs every program in instances of its own. `screen` accepts and rejects the same,
    several times faster where many attempts at one f follow each other, most of them wrong; what
    it says of a rejection (fuel, detail) is the same for the same 128 rows. With `confirm`, what
    passes must pass in a second guest too, or is `flaky`. `remember` judges what came before only
    once. `backend` and `address` say where the workers are: see workers.start_workers.
    """
    if mode not in get_args(Mode):
        raise ValueError(f"mode is {mode!r}; it must be 'strict' or 'screen'")
    where = start(num_workers, backend, address)
    judging = partial(judge_group, How(limits, mode, confirm, remember))
    return judge_groups(grouped(pairs, mode), judging, num_workers, where, remember)


def judge_completions(
    samples: Iterable[Sample],
    limits: Limits = DEFAULT_LIMITS,
    num_workers: int = 1,
    *,
    remember: bool = True,
    backend: Backend = "loky",
    address: str | None = None,
) -> Iterator[Verdict]:
    """Yield the verdict of each (problem, completion), in order, each judged alone.

    A completion continues the prompt of a FunctionProblem, or is the whole program of a
    TextProblem. The rest is as in judge_many.
    """
    where = start(num_workers, backend, address)
    groups = (((problem, as_text(completion)),) for problem, completion in samples)
    judging = partial(judge_completion, limits)
    return judge_groups(groups, judging, num_workers, where, remember)


def run_many(
    programs: Iterable[Program],
    limits: Limits = DEFAULT_LIMITS,
    num_workers: int = 1,
    *,
    second: bool = False,
    remember: bool = True,
    backend: Backend = "loky",
    address: str | None = None,
) -> Iterator[Execution]:
    """Yield what each (g, f) does, in order; raise JudgeError if the judge cannot run.

    Each g is run as `run` does it: alone, on the inputs of f, or without any where f is None; with
    `second`, in the guest that has another hash seed. The rest is as in judge_many.
    """
    where = start(num_workers, backend, address)
    groups = (((as_text(g), None if f is None else as_text(f)),) for g, f in programs)
    running = partial(run_group, limits, second)
    return judge_groups(groups, running, num_workers, where, remember)


def run_texts(
    programs: Iterable[tuple[str, str]],
    limits: Limits = DEFAULT_LIMITS,
    num_workers: int = 1,
    *,
    second: bool = False,
    remember: bool = True,
    backend: Backend = "loky",
    address: str | None = None,
) -> Iterator[Execution]:
    """Yield what each (whole program, standard input) writes, in order, as `run_text` does it.

    The input has no surrogates. The rest is as in run_many.
    """
    where = start(num_workers, backend, address)
    groups = (((as_text(source), given),) for source, given in programs)
    running = partial(run_text_group, limits, second)
    return judge_groups(groups, running, num_workers, where, remember)


def call_many(
    function: Callable[[T], R],
    items: Sequence[T],
    num_workers: int = 1,
    *,
    backend: Backend = "loky",
    address: str | None = None,
) -> Iterator[R]:
    """Yield function(item) of each, in order; `function` is pure, and calls the judge itself.

    With workers, items should be so small that an endless loop in one delays few others. Raises
    JudgeError if the judge cannot run. The rest is as in judge_many.
    """
    if not items:
        return
    with start(num_workers, backend, address) as workers:
        yield from workers.map(function, items) if workers else map(function, items)


def judge_groups(
    groups: Iterable[Group],
    judging: JudgeGroup[Found],
    num_workers: int,
    where: AbstractContextManager["Workers | None"],
    remember: bool,
) -> Iterator[Found]:
    """Judge group after group, a batch at a time."""
    known: Memory[Found] = Memory(VERDICTS_BYTES if remember else 0)
    with where as workers:
        # This process alone hands out each verdict as soon as it has it.
        for batch in batches(groups, BATCH_PAIRS * num_workers if workers else 1):
            for found in judge_batch(batch, judging, workers, known):
                yield from found


def start(
    num_workers: int, backend: Backend, address: str | None
) -> AbstractContextManager["Workers | None"]:
    """Start workers; one alone is this process."""
    if num_workers < 1:
        raise ValueError(f"num_workers is {num_workers}; it must be at least 1")
    if backend not in get_args(Backend):
        raise ValueError(f"backend is {backend!r}; it must be 'loky', 'ray' or 'dask'")
    if backend == "loky" and num_workers == 1:
        return nullcontext()
    from judge.workers import start_workers

    return start_workers(num_workers, backend, address)


def grouped(pairs: Iterable[Pair], mode: Mode) -> Iterator[Group]:
    """Cut the pairs into groups; where, depends on nothing but the pairs."""
    pairs = ((as_text(f), as_text(g)) for f, g in pairs)
    if mode == "strict":
        yield from ((pair,) for pair in pairs)
        return
    for _, same_f in groupby(pairs, key=lambda pair: pair[0]):
        while group := tuple(islice(same_f, GROUP_PAIRS)):
            yield group


def as_text(source: Any) -> Any:
    """Return a source, or what stands for one that is no text and may be too deep to be sent."""
    return source if isinstance(source, str) else NotText(type(source).__name__)


def batches(groups: Iterable[Group], num_pairs: int) -> Iterator[list[Group]]:
    """Gather groups until they hold so many pairs."""
    batch: list[Group] = []
    size = 0
    for group in groups:
        batch.append(group)
        size += len(group)
        if size >= num_pairs:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def judge_batch(
    batch: list[Group],
    judging: JudgeGroup[Found],
    workers: "Workers | None",
    known: Memory[Found],
) -> list[list[Found]]:
    """Give what is found of each group of a batch; judge those not known yet, each once."""
    names = [key(group) for group in batch]
    distinct = dict(zip(names, batch, strict=True))
    found = {name: before for name in distinct if (before := known.get(name)) is not None}
    unknown = {name: group for name, group in distinct.items() if name not in found}
    judged = in_chunks(partial(judge_chunk, judging), list(unknown.values()), workers)
    for name, now in zip(unknown, judged, strict=True):
        found[name] = now
        known.put(name, now)
    return [found[name] for name in names]


def in_chunks(
    function: Callable[[list[Group]], list[list[Found]]],
    groups: Sequence[Group],
    workers: "Workers | None",
) -> list[list[Found]]:
    """Call the function on the groups, a few in one message."""
    chunks = list(batches(groups, CHUNK_PAIRS))
    done = workers.map(function, chunks) if workers else map(function, chunks)
    return [found for chunk in done for found in chunk]


@deep
def judge_chunk(judging: JudgeGroup[Found], groups: list[Group]) -> list[list[Found]]:
    """Judge a few groups; this runs in a worker."""
    return [judging(group) for group in groups]


def judge_group(how: How, group: Group) -> list[Verdict]:
    """Judge the pairs of one group."""
    ask = ask_once if how.remember else check

    @timed
    def alone(f: str, g: str) -> Verdict:
        verdict = decide(f, g, how.limits, ask=ask)
        return confirm(f, g, how.limits, verdict, ask) if how.confirm else verdict

    if how.remember:
        # A model that knows a solution writes it again and again: most attempts are repetitions.
        alone = cache(alone)
    if how.mode == "strict" or not all(isinstance(text, str) for pair in group for text in pair):
        return [alone(f, g) for f, g in group]
    return screen(group[0][0], [g for _, g in group], how.limits, alone)


def judge_completion(limits: Limits, group: Group) -> list[Verdict]:
    """Judge one completion."""
    ((problem, completion),) = group
    if isinstance(problem, FunctionProblem):
        return [judge_function(problem, completion, limits)]
    return [judge_text(problem, completion, limits)]


def run_group(limits: Limits, second: bool, group: Group) -> list[Execution]:
    """Run one program."""
    ((g, f),) = group
    return [run(g, f, limits, second=second)]


def run_text_group(limits: Limits, second: bool, group: Group) -> list[Execution]:
    """Run one whole program."""
    ((source, given),) = group
    return [run_text(source, given, limits, second=second)]
