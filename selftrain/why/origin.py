"""Where a proposal and an attempt came from: the model, what it was shown, what it wrote.

Prompts are not kept in a run; they are rebuilt from the names of the train puzzles in them.
"""

import io
from collections.abc import Iterator, Sequence

from puzzles import Puzzle, from_row
from selftrain.config import Config, ModelConfig
from selftrain.dev import split_dev
from selftrain.errors import UsageError
from selftrain.files import Row, read_json
from selftrain.judge import is_attempt
from selftrain.progress import Progress
from selftrain.prompts import few_shot_puzzles, propose_prompt, solve_prompt
from selftrain.puzzle_source import read_split
from selftrain.references import with_sound_references
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.why.find import rows_with
from selftrain.why.text import block, headed

MAX_HASH = 16


def proposal_origin(
    run: RunDirectory, config: Config, here: RoundDirectory, proposal: Row
) -> Iterator[str]:
    """Tell which model proposed, what it wrote and the train puzzles that it was shown."""
    names = proposal["prompt_puzzles"]
    if not names:
        command = " ".join(read_json(run.provenance)["command"])
        yield from headed("Origin", ["no model proposed it; it was given:", f"  {command}"])
        return
    who = _writer(run, here.number, config.propose.model, "proposer")
    yield from headed("Proposed by", [who, _length(proposal)])
    yield from headed("What it wrote", block(proposal["text"]))
    yield from headed(f"What it was shown: {len(names)} train puzzles", [", ".join(names)])
    try:
        prompt = propose_prompt(_named(config, names))
    except UsageError as error:
        yield from headed("The prompt", [f"it cannot be rebuilt: {error}"])
    else:
        yield from headed("The prompt", block(prompt))


def solution_origin(
    run: RunDirectory, config: Config, here: RoundDirectory, attempt: Row
) -> Iterator[str]:
    """Tell which model tried, what it wrote and the prompt that it answered."""
    puzzle = from_row(next(rows_with(here.puzzles, "id", attempt["puzzle_id"])))
    yield from headed(f"Attempt {attempt['index']} as written", block(attempt["text"]))
    if attempt["num_tokens"] == 0:
        return
    who = _writer(run, here.number, config.solve.model, "solver")
    yield from headed("Solved by", [who, _length(attempt)])
    if not is_attempt(attempt):  # Its prompt holds another try and edits; it is not an attempt's.
        return
    try:
        shown = _few_shot(config)
    except UsageError as error:
        yield from headed("Its prompt", [f"it cannot be rebuilt: {error}"])
    else:
        if shown:
            names = ", ".join(one.name for one in shown)
            yield from headed(f"What it was shown: {len(shown)} solved train puzzles", [names])
        yield from headed("Its prompt", block(solve_prompt(puzzle, shown)))


def _writer(run: RunDirectory, number: int, own: ModelConfig | None, role: str) -> str:
    """Name the model that wrote in a round: one of its own, the base, or what was trained."""
    made = read_json(run.provenance)
    if own is not None:
        return f"{own.name}{_hash(made[role])}"
    base = f"{made['model']['name']}{_hash(made['model'])}"
    if number == 1:
        return f"the base model {base}"
    return f"the model of round {number - 1}, {run.round(number - 1).model}, trained from {base}"


def _hash(model: Row) -> str:
    if "server" in model:
        return f" at {model['server']}"
    weights = {name: it for name, it in model["files"].items() if name.endswith(".safetensors")}
    said = ", ".join(f"{name} sha256 {it[:MAX_HASH]}" for name, it in weights.items())
    return f" ({said})" if said else ""


def _length(row: Row) -> str:
    """Give tokens and log-probabilities, which not every server tells."""
    told = "not told" if row["sum_logprob"] is None else f"{row['sum_logprob']:.2f}"
    return f"{row['num_tokens']:,} tokens, sum of log-probabilities {told}"


def _named(config: Config, names: Sequence[str]) -> list[Puzzle]:
    """Find the train puzzles of a prompt. Raises UsageError where they are no longer there."""
    by_name = {puzzle.name: puzzle for puzzle in _train(config)}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise UsageError(f"puzzles.train={config.puzzles.train} has no {missing[0]!r} any more.")
    return [by_name[name] for name in names]


def _few_shot(config: Config) -> list[Puzzle]:
    """Choose the solved puzzles again that attempts are shown; some references may be dropped."""
    if config.solve.num_few_shot == 0:
        return []
    train = _train(config)
    if config.puzzles.failing_references == "drop":
        train = with_sound_references(train, config, Progress(stream=io.StringIO()))
    shown, _ = split_dev(train, config.puzzles.num_dev, config.seed)
    return few_shot_puzzles(shown, config.solve.num_few_shot)


def _train(config: Config) -> list[Puzzle]:
    """Read the train puzzles; what is refused of their file was said when the run began."""
    return read_split(config.puzzles.train, "train", refuse=lambda _: None)
