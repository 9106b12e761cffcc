"""Where a model lies: what `model.name` means, before anything of it is loaded.

A folder, a GGUF file or an id of the hub, which is not looked up here; loading is models.py's.
"""

from importlib.resources import files
from pathlib import Path

from selftrain.errors import UsageError
from selftrain.files import read_json
from selftrain.gguf_file import converted, is_gguf
from selftrain.loading import loading


def resolve(name: str) -> str:
    """Turn `model.name` into a folder, a GGUF file or a hub id. Raises UsageError for a folder or a
    file that holds no model.
    """
    if name.startswith("builtin:"):
        return _builtin(name)
    path = Path(name).expanduser()
    if name.strip() and path.exists():
        _refuse_other_files(name, path)
        return str(path.resolve())
    is_path = name.startswith((".", "/", "~")) or name.endswith(".gguf") or name.count("/") > 1
    if is_path or not name.strip():
        raise UsageError(
            f"model.name: there is no folder {name!r}. "
            "Name a model folder, a GGUF file, a hub id or builtin:tiny."
        )
    return name


def _builtin(name: str) -> str:
    folder = Path(str(files("selftrain") / "builtin_model" / name.removeprefix("builtin:")))
    if "/" in name or not (folder / "config.json").is_file():
        raise UsageError(f"model.name: {name!r} is not built in. There is builtin:tiny.")
    return str(folder)


def _refuse_other_files(name: str, path: Path) -> None:
    """Raise UsageError for a folder that is no model's, or a file in another format."""
    if path.is_dir():
        if not (path / "config.json").is_file() and not is_adapter(path):
            raise UsageError(
                f"model.name: the folder {name} holds no config.json, so it is no model of "
                "transformers. Name the folder that save_pretrained wrote."
            )
    elif not is_gguf(path):
        raise UsageError(
            f"model.name: {name} is a file, and not in GGUF format; a model is a folder, a "
            "GGUF file or a hub id."
        )


def source_of(name: str) -> str:
    """Give what transformers loads for `model.name`: a folder, or a hub id.

    A GGUF file is converted, the first time it is used. Raises UsageError where there is no model.
    """
    source = resolve(name)
    return str(converted(Path(source))) if Path(source).is_file() else source


def tokenizer_source(name: str) -> str:
    """Give what transformers loads the tokenizer from: an adapter's folder may hold none."""
    source = source_of(name)
    folder = Path(source)
    if is_adapter(folder) and not (folder / "tokenizer_config.json").is_file():
        return source_of(base_of_adapter(folder))
    return source


def is_adapter(folder: Path) -> bool:
    """Tell whether a folder holds an adapter (PEFT) instead of a model."""
    return (folder / "adapter_config.json").is_file()


def base_of_adapter(folder: Path) -> str:
    """Read the name of the model that an adapter was trained on. Raises UsageError."""
    with loading(str(folder)):
        return str(read_json(folder / "adapter_config.json")["base_model_name_or_path"])
