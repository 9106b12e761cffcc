"""The model of a round as a folder that transformers or PEFT reads; merged where that is asked."""

import json
import shutil
from pathlib import Path

from selftrain.config import Config
from selftrain.files import read_json
from selftrain.model_source import is_adapter
from selftrain.models import load_model, load_tokenizer
from selftrain.run_directory import RunDirectory

ADAPTER_CONFIG = "adapter_config.json"


def write_model(
    run: RunDirectory, config: Config, number: int, folder: Path, *, merged: bool
) -> bool:
    """Write weights or adapter with the tokenizer; tell whether it is an adapter.

    A merged adapter has the precision that the configuration samples in. Raises UsageError where
    the base of an adapter cannot be loaded.
    """
    trained = run.round(number).model
    if merged and is_adapter(trained):
        load_model(config.model, trained).save_pretrained(folder)
        load_tokenizer(config.model).save_pretrained(folder)
        return False
    here = run.round(number)
    own = {here.training_log.name, here.chosen_epoch.name}
    folder.mkdir(parents=True)
    for path in sorted(trained.iterdir()):
        if path.is_file() and path.name not in own:
            shutil.copy2(path, folder / path.name)
    if is_adapter(trained):
        _name_base(folder / ADAPTER_CONFIG, config)
        return True
    return False


def _name_base(path: Path, config: Config) -> None:
    """Name the base as the configuration does, not by a folder of this machine."""
    adapter = read_json(path)
    adapter["base_model_name_or_path"] = config.model.name
    adapter["revision"] = config.model.revision
    path.write_text(json.dumps(adapter, indent=2, sort_keys=True) + "\n", encoding="utf-8")
