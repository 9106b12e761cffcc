"""Measure a model on functions that a prompt describes and a test calls, as HumanEval's are.

A sample goes on from the problem's own prompt, as published, without examples before it. Its rows
are those of evaluate.py, so that Pass@k, intervals and tables are the same. Nothing here is trained
on: such problems have no inputs to ask for an answer at, so they are no puzzles.
"""

import io
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge import FunctionProblem, Outcome
from puzzles.files import PuzzleFileError
from puzzles.problems import read_problems
from puzzles.syntax import unix_lines
from selftrain.config import Config
from selftrain.downloads import humaneval
from selftrain.errors import UsageError
from selftrain.evaluate import Evaluation, evaluation_of
from selftrain.files import Row
from selftrain.judge import Judging
from selftrain.progress import Progress
from selftrain.sampling import FinishReason, Request, Sampler
from selftrain.seeds import derive_seed
from selftrain.solve import Attempts

MAX_NEW_TOKENS = 512
"""Longest function, in tokens, unless `solve.max_new_tokens` is set.

That setting's default is the paper's for the solution of a puzzle, and functions are longer: of
HumanEval's 164 reference solutions 25 have more than 150 tokens of the built-in model's small
vocabulary, the longest 422.
"""
_LAYOUT = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
_NO_STATEMENT = (*_LAYOUT, tokenize.NEWLINE, tokenize.ENDMARKER)


def names_functions(tasks: str) -> bool:
    """Tell whether tasks are functions: `humaneval`, or `humaneval:FILE` in its format."""
    return tasks.partition(":")[0] == "humaneval"


def read_functions(tasks: str) -> dict[str, FunctionProblem]:
    """Read the problems by task_id, from a local file or the hub. Raises UsageError."""
    path = tasks.partition(":")[2]
    if not path:
        return humaneval()
    try:
        problems = read_problems(Path(path).expanduser())
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None
    functions = {
        name: problem for name, problem in problems.items() if isinstance(problem, FunctionProblem)
    }
    if other := sorted(problems.keys() - functions):
        raise UsageError(
            f"{path}: {other[0]} has 'cases', so it asks for a program. Take it out; "
            "`selftrain judge --problems` judges completions of both kinds."
        )
    return functions


def with_room(config: Config, context_tokens: int) -> Config:
    """Let functions be longer than solutions of puzzles, where `solve.max_new_tokens` is not set.

    No more than a quarter of the context, since what the prompt leaves no room for is not drawn.
    """
    if "max_new_tokens" in config.solve.model_fields_set:
        return config
    longest = max(config.solve.max_new_tokens, min(MAX_NEW_TOKENS, context_tokens // 4))
    solve = config.solve.model_copy(update={"max_new_tokens": longest})
    return config.model_copy(update={"solve": solve})


def function_rows(
    problems: Mapping[str, FunctionProblem], config: Config, sampler: Sampler, progress: Progress
) -> list[Row]:
    """Try every problem as a configuration tries held-out puzzles; give a row a problem.

    Its place is that of round 0, the base model. Raises `judge.JudgeError`.
    """
    evaluation = evaluation_of(config, (), 0)
    rows: list[Row] = []
    names = list(problems)
    with progress.stage("evaluate", len(names) * (config.evaluate.num_samples + 1)) as advance:
        for start in range(0, len(names), config.evaluate.shard_size):
            some = {n: problems[n] for n in names[start : start + config.evaluate.shard_size]}
            rows += evaluate_functions(sampler, some, evaluation, advance=advance)
    return rows


def evaluate_functions(
    sampler: Sampler,
    problems: Mapping[str, FunctionProblem],
    evaluation: Evaluation,
    *,
    advance: Callable[[int], object],
) -> list[Row]:
    """Sample and judge n completions and a greedy one of each problem, and count what passed."""
    n = evaluation.samples.count
    judging = evaluation.judging
    sampled = list(_tried(sampler, problems, evaluation.samples, judging, advance))
    greedy = list(_tried(sampler, problems, evaluation.greedy, judging, advance))
    return [_row(name, sampled[i * n : (i + 1) * n], greedy[i]) for i, name in enumerate(problems)]


@dataclass(frozen=True, slots=True)
class _Tried:
    """A completion of a problem's prompt, without its text."""

    finish_reason: FinishReason
    outcome: str
    """A `judge.Outcome`, or why nothing was drawn."""

    @property
    def passed(self) -> bool:
        return self.outcome == Outcome.passed


def _row(name: str, samples: Sequence[_Tried], greedy: _Tried) -> Row:
    """Count what the samples of a problem came to, as evaluate.py counts those of a puzzle."""
    return {
        "name": name,
        "puzzle_id": name,
        "family": "",
        "known_family": False,
        "category": "humaneval",
        "difficulty": "",
        "n": len(samples),
        "num_correct": sum(one.passed for one in samples),
        "first_correct": next((i for i, one in enumerate(samples) if one.passed), None),
        "num_cut": sum(one.finish_reason is FinishReason.LENGTH for one in samples),
        "outcomes": dict(sorted(Counter(one.outcome for one in samples).items())),
        "greedy_passed": greedy.passed,
    }


def _tried(
    sampler: Sampler,
    problems: Mapping[str, FunctionProblem],
    attempts: Attempts,
    judging: Judging,
    advance: Callable[[int], object],
) -> Iterator[_Tried]:
    """Draw the attempts at each problem, and yield what each came to, problem by problem."""
    asked = [(name, index) for name in problems for index in range(attempts.count)]
    completions = sampler.sample(
        [
            Request(problems[name].prompt, derive_seed(attempts.seed, *attempts.place, name, index))
            for name, index in asked
        ],
        temperature=attempts.temperature,
        max_new_tokens=attempts.max_new_tokens,
        advance=advance,
    )
    drawn = [(problems[name], c) for (name, _), c in zip(asked, completions, strict=True)]
    verdicts = judging.judge_completions(
        (problem, cut_function(problem.prompt, completion.text))
        for problem, completion in drawn
        if completion.finish_reason is not FinishReason.PROMPT_TOO_LONG
    )
    for completion in completions:
        reason = completion.finish_reason
        fits = reason is not FinishReason.PROMPT_TOO_LONG
        yield _Tried(reason, str(next(verdicts).outcome) if fits else str(reason))


def cut_function(prompt: str, completion: str) -> str:
    """Cut a completion where the function that its prompt began ends.

    That is before the first statement in column 0; brackets, texts of several lines and comments
    in column 0 belong to the function that they stand in.
    """
    prompt, completion = unix_lines(prompt), unix_lines(completion)
    begun = prompt.count("\n") + (1 if prompt.endswith("\n") else 2)
    lines = (prompt + completion).split("\n")
    for line in _statements_in_column_0(prompt + completion):
        if line >= begun:
            return "\n".join(lines[: line - 1])[len(prompt) :]
    return completion


def _statements_in_column_0(source: str) -> Iterator[int]:
    """Yield the lines, from 1, where a statement begins in column 0, as far as they can be read."""
    at_start = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if at_start and token.start[1] == 0 and token.type not in _NO_STATEMENT:
                yield token.start[0]
            if token.type not in _LAYOUT:
                at_start = token.type == tokenize.NEWLINE
    except (tokenize.TokenError, SyntaxError):
        return  # It ends inside a text or brackets, or its lines are indented anyhow.
