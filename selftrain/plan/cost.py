"""What servers will take for a run, about: by their prices, for what they are asked.

A prompt is billed once a request, whatever the server remembers of it. Nothing is asked here.
"""

import math
from collections.abc import Sequence

from selftrain.config import Config, ModelConfig
from selftrain.plan.counts import Counts, prompt_reads
from selftrain.plan.texts import count_roughly
from selftrain.sampling.server.chat import message
from selftrain.sampling.spending import priced


def dollars(config: Config, counts: Counts) -> float | None:
    """Estimate what the servers that propose and solve take; None where no price is known."""
    c = config
    proposing = _dollars(
        c.propose.model,
        counts.proposals,
        c.propose.num_samples,
        counts.read_proposing,
        counts.sampled_proposing,
    )
    solving = _dollars(
        c.solve.model,
        counts.attempts,
        c.solve.num_attempts,
        counts.read_solving,
        counts.sampled_solving,
    )
    known = [part for part in (proposing, solving) if part is not None]
    return sum(known) if known else None


def dollars_of_rounds(config: Config, rounds: Sequence[Counts]) -> list[float]:
    """Estimate what servers take in each round; 0 where no price is known."""
    return [dollars(config, counts) or 0.0 for counts in rounds]


def _dollars(
    model: ModelConfig | None, completions: int, a_prompt: int, read: int, sampled: int
) -> float | None:
    """Price completions of which `a_prompt` share a prompt; all prompts have `read` tokens."""
    if model is None or not model.servers or not completions:
        return None
    length = read / prompt_reads(completions, a_prompt, model.batch_size)
    if model.api == "chat":
        length += count_roughly([message("")])[0]
    # A prompt's last request may ask for fewer.
    requests = math.ceil(completions * math.ceil(a_prompt / model.samples_per_request) / a_prompt)
    prices = model.dollars_per_million_tokens
    return priced(requests, math.ceil(requests * length), sampled, prices).dollars
