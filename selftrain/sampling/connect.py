"""Finding a model on an OpenAI-compatible server: its address, its key, what kind of server it is.

Nothing is sampled here; server.py does that. No other file reads the key.
"""

import os
from dataclasses import replace
from threading import Event
from urllib.parse import urlsplit

from openai import NotFoundError, OpenAI, Timeout

from selftrain.config import ModelConfig
from selftrain.errors import UsageError
from selftrain.models import MOST_CONTEXT_TOKENS
from selftrain.sampling.answers import Card, read_cards
from selftrain.sampling.retry import Patience, Server, ask
from selftrain.sampling.server import Dialect, ServerSampler

DIALECTS = {
    "vllm": Dialect({"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}, "prompt"),
    "sglang": Dialect({"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}, "prompt"),
    "llamacpp": Dialect({"top_k": -1, "min_p": 0.0, "repeat_penalty": 1.0}, "content"),
}
"""By `owned_by` in the server's list of models; others may know OpenAI's protocol alone."""


def connect(config: ModelConfig, patience: Patience = Patience()) -> ServerSampler:  # noqa: B008
    """Find the model of `config.name` on `config.server`.

    Raises UsageError where it is not there or the key is refused, RunError where nobody answers.
    """
    assert config.server is not None
    assert isinstance(config.server, str)
    server = Server(_address(config.server), config.api_key_variable, _key(config), patience)
    client = OpenAI(
        base_url=server.address,
        # The client wants one; a server without keys does not look at it.
        api_key=server.key or "none",
        max_retries=0,
        timeout=Timeout(patience.timeout_seconds, connect=min(10.0, patience.timeout_seconds)),
    )
    card = _card(client, config.name, server)
    return ServerSampler(
        client,
        server,
        config.name,
        DIALECTS.get(card.owned_by),
        concurrency=config.batch_size,
        context_tokens=_context_tokens(config, card.max_model_len),
    )


def _card(client: OpenAI, name: str, server: Server) -> Card:
    """Find the model in the server's list; a server without a list is taken at its user's word."""

    def call() -> tuple[Card, ...]:
        try:
            return read_cards(client.models.with_raw_response.list().content)
        except NotFoundError:
            return ()

    # Not with all patience: an address with a typing error should be told of soon.
    soon = replace(server.patience, num_tries=min(3, server.patience.num_tries), num_hung_tries=1)
    cards = ask(call, replace(server, patience=soon), Event())
    if not cards:
        return Card(id=name)
    for card in cards:
        if card.id == name:
            return card
    names = ", ".join(card.id for card in cards[:5]) + (", ..." if len(cards) > 5 else "")
    raise UsageError(f"model.name: {server.address} serves no {name!r}. It serves {names}.")


def _context_tokens(config: ModelConfig, own: int | None) -> int:
    if config.context_tokens is None:
        return min(own or MOST_CONTEXT_TOKENS, MOST_CONTEXT_TOKENS)
    if own is not None and config.context_tokens > own:
        raise UsageError(
            f"model.context_tokens is {config.context_tokens}, "
            f"but {config.server} lets {config.name} read at most {own}."
        )
    return config.context_tokens


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"model.server: {url!r} is no address; write one such as http://localhost:8000/v1."
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "model.server: an address holds no user and password, since it is written into the "
            "run. Put the key into the environment variable of model.api_key_variable."
        )
    return url


def _key(config: ModelConfig) -> str | None:
    """Read the key from its environment variable, the only place where it is looked for."""
    key = os.environ.get(config.api_key_variable, "").strip()
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            f"the environment variable {config.api_key_variable} holds no key: a key has no "
            "blanks, line ends or letters beyond ASCII."
        )
    return key
