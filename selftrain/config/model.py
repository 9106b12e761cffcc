"""A model, the computer or server it runs on, and adapters of it."""

from typing import Annotated, Literal

from pydantic import Field

from selftrain.config.section import Count, Section


class ModelConfig(Section):
    """A model, and the computer it runs on."""

    name: str = "builtin:tiny"
    """`builtin:tiny`, a local folder, a GGUF file, an id of the Hugging Face hub, or a server's
    model."""
    engine: Literal["transformers", "vllm"] = "transformers"
    """What samples in this process; vllm is the extra `selftrain[vllm]`, for CUDA. Training,
    likelihoods and embeddings are transformers' in any case."""
    server: str | Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Address of an OpenAI-compatible server that samples, such as http://localhost:8000/v1, or a
    list of them, which share the work.

    Null samples in this process. A model that is trained has none.
    """
    api: Literal["completions", "chat"] = "completions"
    """Which of the server's endpoints is asked; chat is for models that have no other."""
    samples_per_request: Count = 1
    """Most completions of one prompt asked for in one request (`n`). A server that bills by tokens
    bills the prompt once a request; one that refuses so many is asked for fewer."""
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    """Most requests a minute to each server; null sends them as fast as they are answered."""
    dollars_per_million_tokens: (
        tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] | None
    ) = None
    """The server's prices, of prompts and of completions, from which the cost is estimated."""
    api_key_variable: str = "OPENAI_API_KEY"
    """Environment variable that holds the server's key; the key itself is written nowhere."""
    revision: str | None = None
    """Commit or tag of a hub model; null takes its main branch."""
    trust_remote_code: bool = False
    """Whether a model that brings its own Python code may run it, with all your rights."""
    weights: Literal["safetensors", "any"] = "safetensors"
    """Whether weights may be pickled too, which can run code when they are loaded."""
    context_tokens: Annotated[int, Field(ge=64)] | None = None
    """Tokens of prompt and completion together; null takes the model's own limit, at most 2,048."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of sampling; auto is bfloat16 on a chip that computes in it, else float32."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1, mps, ..."""
    batch_size: Count = 128
    """Samples that are drawn together, fewer where memory runs out; of a server, requests that are
    under way together at each address."""

    @property
    def servers(self) -> tuple[str, ...]:
        """Give the addresses of `server`; none where this process samples."""
        if self.server is None:
            return ()
        return (self.server,) if isinstance(self.server, str) else self.server


class LoraConfig(Section):
    """Low-rank adapters (PEFT)."""

    rank: Count = 16
    """Rank of the update."""
    alpha: Count = 32
    """Scale of the update is alpha / rank."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Dropout before the adapter."""
    target_modules: str | tuple[str, ...] = "all-linear"
    """Names of the layers that get an adapter."""
