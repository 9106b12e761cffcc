"""Given candidates read anew: how likely each is to a model that may not have drawn it.

How a model reads is in likelihood.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from puzzles import Puzzle
from selftrain.prompts import solve_head, solve_prompt
from selftrain.verifier.tasks import from_functions, from_questions
from selftrain.verifier.tasks.candidates import everyone
from selftrain.verifier.tasks.from_file import HEAD, asked
from selftrain.verifier.tasks.from_functions import FunctionTask
from selftrain.verifier.tasks.from_puzzles import puzzle_of
from selftrain.verifier.tasks.from_questions import Question
from selftrain.verifier.tasks.likelihood import Logprob
from selftrain.verifier.tasks.task import Candidate, Task

END = "\n\nassert"
"""What follows a solution in a prompt to solve, so that it ends there. A sampler counts the token
that crosses into it, and so does whoever reads the solution again."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a program of a task stands in what a model reads."""

    prompt: str
    """What a sampler is given."""
    head: str = ""
    """What the prompt holds of the program already; nothing where the program goes on from it."""
    end: str = ""
    """What tells a model that the program ends."""


def wording_of(task: Task, few_shot: Sequence[Puzzle] = ()) -> Wording:
    """Give the wording of a puzzle, or of another task of a task file."""
    puzzle = puzzle_of(task)
    if puzzle is None:
        return Wording(asked(task).prompt, HEAD, END)
    return Wording(solve_prompt(puzzle, few_shot), solve_head(puzzle), END)


def wording_of_item(item: Question | FunctionTask) -> Wording:
    """Give the wording of a question or a function, whose prompts begin the program."""
    if isinstance(item, Question):
        return Wording(from_questions.prompt(item), from_questions.HEAD[item.language])
    return Wording(from_functions.prompt(item), item.head)


def reread(
    tasks: Sequence[Task],
    wordings: Mapping[str, Wording],
    read: Callable[[Sequence[tuple[str, str]]], list[Logprob | None]],
    say: Callable[[str], object],
) -> list[Task]:
    """Replace all log-probabilities by what `read` says of (prompt, completion).

    A candidate that the model's context does not hold is left out and told of, since this model
    could not have drawn it. `wordings` are by task_id.
    """
    everything = [
        (words.prompt, one.program.removeprefix(words.head) + words.end)
        for task in tasks
        for words in (wordings[task.task_id],)
        for one in everyone(task)
    ]
    found = iter(read(everything))
    done = []
    for task in tasks:
        told = [_told(one, next(found)) for one in task.candidates]
        greedy = None if task.greedy is None else _told(task.greedy, next(found))
        kept = tuple(one for one in told if one is not None)
        done.append(replace(task, candidates=kept, greedy=greedy))
    before, after = (sum(len(task.candidates) for task in some) for some in (tasks, done))
    if before > after:
        say(
            f"{before - after:,} of {before:,} candidates are left out: the model's context does "
            "not hold them, so it could not have drawn them"
        )
    return done


def _told(one: Candidate, likelihood: Logprob | None) -> Candidate | None:
    if likelihood is None:
        return None
    return replace(one, sum_logprob=likelihood.sum_logprob, num_tokens=likelihood.num_tokens)
