"""Given candidates read anew: how likely each is to a model that may not have drawn it.

How a model reads is in likelihood.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from selftrain.verifier.tasks.candidates import Wording, everyone
from selftrain.verifier.tasks.likelihood import Logprob
from selftrain.verifier.tasks.task import Candidate, Task


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
