"""What a model may run while transformers loads it, and what is said of one that cannot be loaded.

Which model is loaded, and how, is in models.py.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selftrain.config import ModelConfig
from selftrain.errors import UsageError


def may_run(config: ModelConfig) -> dict[str, bool | None]:
    """Give what `from_pretrained` of a model is told of code and pickled weights.

    transformers asks on the terminal where it is told nothing of code.
    """
    return {
        "trust_remote_code": config.trust_remote_code,
        "use_safetensors": True if config.weights == "safetensors" else None,
    }


def refuse_pickles(folder: Path, config: ModelConfig) -> None:
    """Raise UsageError for a folder whose only weights are pickled, unless they are allowed."""
    pickled = sorted(path.name for path in folder.glob("*.bin"))
    if config.weights == "safetensors" and pickled and not any(folder.glob("*.safetensors")):
        raise UsageError(f"model.name: {folder} has only pickled weights ({pickled[0]}){_PICKLED}")


_PICKLED = (
    ", which can run code when they are loaded. Take safetensors, or allow them with "
    "model.weights=any where you trust who made them."
)


@contextmanager
def loading(source: str) -> Iterator[None]:
    """Turn what the libraries say of a model that cannot be loaded into one sentence."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        said = " ".join(str(error).split())[:200]
        if "trust_remote_code" in str(error):
            raise UsageError(
                f"model.name: {source!r} brings Python code of its own, which would run with all "
                "your rights. Read it, then allow it with model.trust_remote_code=true."
            ) from None
        if "use_safetensors=True" in str(error):
            raise UsageError(f"model.name: {source!r} has only pickled weights{_PICKLED}") from None
        raise UsageError(
            f"model.name: {source!r} cannot be loaded; it is neither a whole model folder nor a "
            f"model of the hub within reach ({said})"
        ) from None


def quiet() -> None:
    """Keep transformers' own bars and advice off the terminal; they would break ours."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Nor ask the hub's converter to make safetensors of a model that has none.
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "true")
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging

    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
