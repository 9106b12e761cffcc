"""Whether prompts and reference solutions fit the context and the tokens that may be drawn."""

from collections.abc import Callable, Sequence

from selftrain.config import Config
from selftrain.doctor.finding import Finding, State
from selftrain.doctor.texts import Text


def room(
    count: Callable[[Sequence[str]], list[int]],
    texts: Sequence[Text],
    config: Config,
    context: int,
) -> Finding:
    """Look for prompts to solve and solutions that are longer than there is room.

    A prompt to propose takes as many puzzles as fit.
    """
    solving = [text for text in texts if text.kind == "solve"]
    sizes = count([text.prompt for text in solving])
    solution = max(count([text.completion for text in solving]))
    return _finding(sizes, solution, config.solve.max_new_tokens, context)


def _finding(sizes: Sequence[int], solution: int, new: int, context: int) -> Finding:
    if solution > new:
        return Finding(
            "room",
            State.MEND,
            f"the longest reference solution takes {solution:,} tokens, but "
            f"solve.max_new_tokens is {new:,}",
            "Raise it.",
        )
    too_long = sum(size + new > context for size in sizes)
    if too_long:
        return Finding(
            "room",
            State.MEND,
            f"{too_long:,} of {len(sizes):,} prompts to solve, up to {max(sizes):,} tokens long, "
            f"leave no room for solve.max_new_tokens, {new:,}, in a context of {context:,}",
            "Lower solve.num_few_shot or solve.max_new_tokens; or raise model.context_tokens, "
            "where the model reads more.",
        )
    return Finding(
        "room",
        State.FINE,
        f"prompts to solve take up to {max(sizes):,} tokens and solutions {solution:,}, of a "
        f"context of {context:,}",
    )
