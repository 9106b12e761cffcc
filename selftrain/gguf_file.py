"""A model in a GGUF file, llama.cpp's format, made into a folder of transformers.

transformers reads such a file in half a minute and cannot save what it read, so each file is
converted once, into the user's cache, under a hash of its bytes. Quantised weights are worked out
to float32, exactly as the file has them; what quantisation lost stays lost. Serving the file as it
is, without converting, is a server's business (`model.server`).
"""

import hashlib
import struct
from contextlib import redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selftrain.errors import RunError, UsageError
from selftrain.files import read_json, replacing_folder, write_json
from selftrain.loading import quiet
from selftrain.progress import Progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MAGIC = b"GGUF"
ORIGIN = "gguf.json"
"""What a converted folder holds besides the files of transformers: which file it was made from."""
CONVERSION = 1
"""Goes up where a file is converted in another way, so that old folders are not taken."""
_SINGLE_DIGITS = (
    "starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b",
)  # fmt: skip
"""Ways to split text (`tokenizer.ggml.pre`) in which llama.cpp parts every digit from its
neighbours first, and transformers 5.24 does not."""
_LIKE_GPT2 = ("default", "gpt-2", "gpt2", "mpt", "olmo", "jais", "phi-2", "trillion")
"""Ways in which it splits as GPT-2 does, as transformers does where it knows no other."""


def is_gguf(path: Path) -> bool:
    """Tell whether a file is in this format, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def converted(path: Path) -> Path:
    """Give the folder of transformers that a GGUF file was made into, made now if need be.

    Raises UsageError for a file that cannot be converted.
    """
    folder = _cache() / f"{sha256_of(path)[:32]}-{CONVERSION}"
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            Progress().say(f"{path}: converting it once, into {folder}; half a minute or more.")
            convert(path, folder)
        # A copy elsewhere may be gone by now: what was trained here names the file of today.
        if origin(folder) != path.resolve():
            write_json(folder / ORIGIN, {**read_json(folder / ORIGIN), "path": str(path.resolve())})
    return folder


def origin(folder: Path) -> Path | None:
    """Give the GGUF file that a folder was converted from; None for any other folder."""
    about = folder / ORIGIN
    return Path(read_json(about)["path"]) if about.is_file() else None


def sha256_of(path: Path) -> str:
    """Hash a file, once in a process as long as it is not written to."""
    about = path.stat()
    return _sha256(path, about.st_size, about.st_mtime_ns)


@cache
def _sha256(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    RuntimeError,
    struct.error,
)
"""What transformers and gguf raise where a file ends too soon or is something else."""


def convert(path: Path, folder: Path) -> None:
    """Write a GGUF file as a folder of transformers, whole or not at all.

    Weights are float32 in safetensors. Raises UsageError for a file that is no causal language
    model, or lacks a part of one; RunError where the folder cannot be written.
    """
    quiet()
    try:
        tokenizer, model = _tokenizer(path), _model(path)
    except _UNREADABLE as error:
        said = " ".join(str(error).split())[:200]
        raise UsageError(
            f"model.name: {path} cannot be converted ({said}). Is it a whole GGUF file of a "
            "language model?"
        ) from None
    try:
        with replacing_folder(folder) as unfinished:
            model.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
            about = {"path": str(path.resolve()), "sha256": sha256_of(path)}
            write_json(unfinished / ORIGIN, about)
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror}).") from None


def _model(path: Path) -> "PreTrainedModel":
    """Load the weights, and move them into a fresh model, since transformers saves no other."""
    import torch
    from transformers import AutoModelForCausalLM, GgufConfig

    load: Any = AutoModelForCausalLM.from_pretrained
    with redirect_stderr(StringIO()):  # it has a bar of its own, which nothing else turns off
        loaded, info = load(
            str(path.parent),
            gguf_file=path.name,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
            output_loading_info=True,
        )
    missing = sorted(info["missing_keys"])
    if missing:  # transformers has drawn them at random
        raise ValueError(f"it lacks {', '.join(missing[:3])}, {len(missing)} tensors in all")
    with torch.device("meta"):
        model: PreTrainedModel = type(loaded)(loaded.config)
    model.load_state_dict(loaded.state_dict(), assign=True)
    model.tie_weights()
    model.generation_config = loaded.generation_config
    return model


def _tokenizer(path: Path) -> "PreTrainedTokenizerBase":
    """Load the tokenizer, and mend how it splits digits where transformers does not know."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
    tokenizer.init_kwargs.pop("gguf_file", None)
    backend, way = tokenizer.backend_tokenizer, _way_to_split(path)
    if way in _SINGLE_DIGITS:
        from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

        split = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
        backend.pre_tokenizer = split
    elif type(backend.pre_tokenizer).__name__ == "ByteLevel" and way not in _LIKE_GPT2:
        Progress().say(
            f"{path}: its way to split text, {way!r}, is not known here; it is split as GPT-2's. "
            "Compare some tokens with llama.cpp's."
        )
    return tokenizer  # type: ignore[no-any-return]


def _way_to_split(path: Path) -> str:
    """Read `tokenizer.ggml.pre`, which says by which rule text is cut before pairs are merged."""
    from transformers.integrations.gguf.reader import read_gguf_metadata

    # Without the vocabulary, which the package gguf would read for seconds.
    metadata, _ = read_gguf_metadata(str(path))
    return str(metadata.get("tokenizer.ggml.pre", "default"))


def _cache() -> Path:
    import pooch

    return Path(pooch.os_cache("selftrain")) / "gguf"
