"""Candidates: what a sampler draws for tasks that come without any.

Puzzles are tried as an evaluation tries them (from_puzzles.py); this is for whatever else is asked
by a prompt. Nothing is executed or labelled here: each source of tasks knows how.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from selftrain.sampling import Completion, Request, Sampler
from selftrain.seeds import derive_seed
from selftrain.solve import Attempts
from selftrain.verifier.tasks.results import is_error
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import distinct


@dataclass(frozen=True, slots=True)
class Wording:
    """How a program of a task stands in what a model reads, and is cut from what it writes."""

    prompt: str
    """What a completion goes on from."""
    cut: Callable[[str], str | None]
    """Makes a program of a completion; None where it holds none."""
    head: str = ""
    """What the prompt holds of the program already; nothing where the program goes on from it."""
    end: str = ""
    """What tells a model that the program ends. A sampler counts the token that crosses into it,
    and so does whoever reads the program again."""


Asked = tuple[Task, Wording]
"""A task whose candidates are yet to be drawn, and its wording."""


def draw(
    sampler: Sampler,
    asked: Sequence[Asked],
    attempts: Attempts,
    *,
    advance: Callable[[int], object],
) -> list[Task]:
    """Draw the candidates of each task, equal ones of which are one, and a greedy one apart.

    Each sample has its own seed, from the run's, the place, the task's id and the sample's number.
    A completion without a program stays a candidate, its text as drawn: it is one of the samples,
    and errs once it is run. `advance` is told of each sample.
    """
    samples = _complete(sampler, asked, attempts, advance)
    greedy = _complete(sampler, asked, replace(attempts, count=1, temperature=0.0), advance)
    n = attempts.count
    return [
        replace(
            task,
            candidates=distinct(_candidate(wording, c) for c in samples[i * n : (i + 1) * n]),
            greedy=_candidate(wording, greedy[i]),
        )
        for i, (task, wording) in enumerate(asked)
    ]


def draw_missing(
    sampler: Sampler,
    asked: Sequence[Asked],
    attempts: Attempts,
    *,
    units: int,
    advance: Callable[[int], object],
) -> list[Task]:
    """Draw the candidates of the tasks that come without any, and give all tasks in order.

    `advance` is told of each sample, and of so many units for a task that has candidates.
    """
    bare = [(task, wording) for task, wording in asked if not task.candidates]
    advance(units * (len(asked) - len(bare)))
    drawn = iter(draw(sampler, bare, attempts, advance=advance))
    return [task if task.candidates else next(drawn) for task, _ in asked]


def _complete(
    sampler: Sampler,
    asked: Sequence[Asked],
    attempts: Attempts,
    advance: Callable[[int], object],
) -> list[Completion]:
    requests = [
        Request(wording.prompt, derive_seed(attempts.seed, *attempts.place, task.task_id, index))
        for task, wording in asked
        for index in range(attempts.count)
    ]
    return sampler.sample(
        requests,
        temperature=attempts.temperature,
        max_new_tokens=attempts.max_new_tokens,
        advance=advance,
    )


def _candidate(wording: Wording, completion: Completion) -> Candidate:
    program = wording.cut(completion.text)
    return Candidate(
        program=completion.text if program is None else program,
        sum_logprob=completion.sum_logprob,
        # A mean is taken over them; none is drawn where a prompt is too long.
        num_tokens=max(1, completion.num_tokens),
        result=None,
        label=None,
    )


def everyone(task: Task) -> tuple[Candidate, ...]:
    """Give a task's candidates, the greedy one last."""
    return task.candidates if task.greedy is None else (*task.candidates, task.greedy)


def with_candidates(task: Task, change: Callable[[Task, Candidate], Candidate]) -> Task:
    """Change a task's candidates one by one, the greedy one among them."""
    greedy = None if task.greedy is None else change(task, task.greedy)
    candidates = tuple(change(task, one) for one in task.candidates)
    return replace(task, candidates=candidates, greedy=greedy)


def with_gold(task: Task, result: str | None, *, is_right: bool = True) -> Task:
    """Note what a task's gold program returned, where that is known; a gold result stays.

    A program that fails, or is not right, is no gold program.
    """
    if task.gold_program is None:
        return task
    if not is_right or is_error(result):
        return replace(task, gold_program=None)
    return replace(task, gold_result=task.gold_result or result)
