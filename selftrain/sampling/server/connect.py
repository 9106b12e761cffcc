"""Finding a model on OpenAI-compatible servers: their addresses, their key, how much they read.

Nothing is sampled here; sampler.py does that. No other file reads the key.
"""

import logging
import os
from urllib.parse import urlsplit

from openai import Omit, OpenAI

from selftrain.config import ModelConfig
from selftrain.errors import UsageError
from selftrain.models import MOST_CONTEXT_TOKENS
from selftrain.sampling.server.address import Address
from selftrain.sampling.server.pace import Pace
from selftrain.sampling.server.retry import NoAnswer, Patience, Server
from selftrain.sampling.server.sampler import ServerSampler

_LOG = logging.getLogger(__name__)


class Client(OpenAI):
    """OpenAI's client, which sends the key it is given, and nothing from the environment.

    OpenAI's own adds an organization, a project and any header that variables name, and a line for
    each fact of the machine.
    """

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        """Give the headers of all requests."""
        return {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": self.user_agent,
            "Authorization": f"Bearer {self.api_key}",
        }


def connect(config: ModelConfig, patience: Patience = Patience()) -> ServerSampler:  # noqa: B008
    """Find the model of `config.name` on each address of `config.server`.

    One of several that does not answer is left out until it does. Raises UsageError where the model
    is not there or the key is refused, RunError where nobody answers.
    """
    urls = config.servers
    if twice := [url for url in urls if urls.count(url) > 1]:
        raise UsageError(f"model.server names {twice[0]} twice. Name each address once.")
    key = _key(config)
    addresses = [_address(config, url, key, patience) for url in urls]
    failures = []
    for address in addresses:
        try:
            address.reach()
        except NoAnswer as error:
            address.is_dead = True
            failures.append(error)
    if len(failures) == len(addresses):
        raise failures[0]
    for failure in failures:
        _LOG.warning("%s. It is left out until it does.", failure.what)
    return ServerSampler(
        addresses,
        api=config.api,
        samples_per_request=config.samples_per_request,
        concurrency=config.batch_size,
        context_tokens=_context_tokens(config, addresses),
    )


def _address(config: ModelConfig, url: str, key: str | None, patience: Patience) -> Address:
    _check(url)
    pace = Pace(config.requests_per_minute)
    return Address(
        # The client wants a key; a server without keys does not look at it.
        Client(base_url=url, api_key=key or "none", max_retries=0),
        Server(url, config.api_key_variable, key, patience, pace),
        config.name,
        most_choices=config.samples_per_request,
        prices=config.dollars_per_million_tokens,
    )


def _context_tokens(config: ModelConfig, addresses: list[Address]) -> int:
    """Give what every server reads, or as configured."""
    own = {one.server.address: one.context_tokens for one in addresses if one.context_tokens}
    url = min(own, key=lambda one: own[one] or 0, default="")
    least = own.get(url) or MOST_CONTEXT_TOKENS
    if config.context_tokens is None:
        return min(least, MOST_CONTEXT_TOKENS)
    if url and config.context_tokens > least:
        raise UsageError(
            f"model.context_tokens is {config.context_tokens}, "
            f"but {url} lets {config.name} read at most {least}."
        )
    return config.context_tokens


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        # The port is read only when asked for; a host name is written in ASCII on the wire.
        whole = parts.port != 0 and bool((parts.hostname or "").encode("idna"))
    except ValueError:
        whole = False
    if not whole or parts.scheme not in ("http", "https") or not url.isprintable() or " " in url:
        raise UsageError(
            f"model.server: {url!r} is no address; write one such as http://localhost:8000/v1."
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "model.server: an address holds no user and password, since it is written into the "
            "run. Put the key into the environment variable of model.api_key_variable."
        )


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
