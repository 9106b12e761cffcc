"""A sampler that loads its model when first asked: a resumed run may not need it.

It draws nothing itself, but puts on a bill what a server was asked for.
"""

from collections.abc import Callable, Sequence

from selftrain.sampling.completion import Completion, Request, Sampler, Tell, ignore
from selftrain.sampling.spending import Bill, Billed, since


class LazySampler:
    """The model of one round."""

    def __init__(self, load: Callable[[], Sampler], bill: Bill | None = None) -> None:
        self._load = load
        self._bill = bill or Bill()
        self._loaded: Sampler | None = None

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`."""
        sampler = self._sampler()
        before = sampler.spent if isinstance(sampler, Billed) else None
        try:
            return sampler.sample(
                requests,
                temperature=temperature,
                max_new_tokens=max_new_tokens,
                advance=advance,
                tell=tell,
            )
        finally:
            if isinstance(sampler, Billed) and before is not None:
                self._bill.charge(since(before, sampler.spent))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, as the model reads it."""
        return self._sampler().count_tokens(texts)

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        return self._sampler().context_tokens

    def release(self) -> None:
        """Give the model's memory back; it is loaded again when next asked."""
        self._loaded = None

    def _sampler(self) -> Sampler:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded
