"""Read a configuration: YAML, then the command line; refuse what does not fit in one sentence.

The settings and their defaults are in the package config, what contradicts what in
config_checks.py.
"""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from selftrain.config import Config
from selftrain.config_checks import refuse_contradictions
from selftrain.errors import UsageError
from selftrain.files import replacing

COMMAND_LINE = Path("command line")


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> Config:
    """Load `path`, or the defaults, and apply each `section.key=value`.

    Raises UsageError with one sentence.
    """
    tree = _read_yaml(path) if path else {}
    path = path or COMMAND_LINE
    for override in overrides:
        _set(tree, override)
    config = _validate(tree, path, overrides)
    refuse_contradictions(config, path)
    return config


def save_config(config: Config, path: Path) -> None:
    """Write the resolved configuration as YAML that `load_config` reads back."""
    with replacing(path) as file:
        _yaml().dump(config.model_dump(mode="json"), file)


def differences(ours: Config, theirs: Config) -> list[str]:
    """List the settings in which two configurations differ, each as `key theirs, now ours`."""
    mine, other = _flat(ours.model_dump(mode="json")), _flat(theirs.model_dump(mode="json"))
    # A model has keys of its own where the other names none.
    return [
        f"{key} {other.get(key, 'not set')}, now {mine.get(key, 'not set')}"
        for key in {**mine, **other}
        if mine.get(key) != other.get(key)
    ]


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat |= (
            _flat(value, f"{prefix}{key}.")
            if isinstance(value, dict)
            else {f"{prefix}{key}": value}
        )
    return flat


def _yaml() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[attr-defined, assignment]
    yaml.width = 10_000
    return yaml


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        tree = _yaml().load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{path}: there is no such file. Name a configuration such as configs/tiny.yaml."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a configuration ({error}).") from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise UsageError(f"{path}, line {line}: not valid YAML: {error.problem}.") from None
    except YAMLError as error:
        raise UsageError(f"{path}: not valid YAML: {' '.join(str(error).split())}.") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise UsageError(
            f"{path}: a configuration is a mapping of sections, but this is a "
            f"{type(tree).__name__}."
        )
    return tree


def _set(tree: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise UsageError(
            f"{override!r} is no setting. Write section.key=value, as in solve.num_attempts=16."
        )
    try:
        value = _yaml().load(text)
    except YAMLError:
        raise UsageError(f"{override!r}: the value is not valid YAML.") from None
    *sections, name = key.split(".")
    for section in sections:
        if tree.get(section) is None:
            tree[section] = {}
        inner = tree[section]
        if not isinstance(inner, dict):
            raise UsageError(f"{override!r}: {section} is a value, not a section.")
        tree = inner
    tree[name] = value


def _validate(tree: dict[str, Any], path: Path, overrides: Sequence[str]) -> Config:
    try:
        return Config.model_validate(_tuples(_without_empty_sections(tree, Config)))
    except ValidationError as error:
        _refuse(_most_telling(error.errors()), path, overrides)


def _without_empty_sections(tree: dict[str, Any], section: type[BaseModel]) -> dict[str, Any]:
    """Drop sections whose lines are all commented out: null in YAML, they mean the defaults."""
    kept: dict[str, Any] = {}
    for key, value in tree.items():
        inner = _section(section, key)
        if inner is None:
            kept[key] = value
        elif isinstance(value, dict):
            kept[key] = _without_empty_sections(value, inner)
        elif value is not None:
            kept[key] = value
    return kept


def _section(section: type[BaseModel], key: str) -> type[BaseModel] | None:
    """Give the section that a key names, one that may be null too; None where it is a setting."""
    field = section.model_fields.get(key)
    for kind in (field.annotation, *get_args(field.annotation)) if field else ():
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def _tuples(value: Any) -> Any:
    """Turn YAML's lists into the tuples that frozen records hold, all the way down."""
    if isinstance(value, dict):
        return {key: _tuples(inner) for key, inner in value.items()}
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _most_telling(errors: Sequence[ErrorDetails]) -> ErrorDetails:
    """Choose what to report: of a number or a list, what is wrong with the one found."""
    return max(errors, key=lambda e: (len(e["loc"]), not e["type"].endswith("_type")))


def _refuse(error: ErrorDetails, path: Path, overrides: Sequence[str]) -> NoReturn:
    keys = [str(part) for part in error["loc"]]
    named, section = _known_part(keys)
    set_there = [f"{override.partition('=')[0]}." for override in overrides]
    where = COMMAND_LINE if f"{'.'.join(keys)}.".startswith(tuple(set_there)) else path
    if error["type"] == "extra_forbidden":
        raise UsageError(f"{where}: {'.'.join(keys)} is not a setting.{_nearest(keys, section)}")
    found = list(error["input"]) if isinstance(error["input"], tuple) else error["input"]
    told = (
        error["msg"].removeprefix("Input ").removeprefix("Tuple ").partition(" after validation")[0]
    )
    told = (
        told.replace("valid ", "").replace("a integer", "a whole number").replace("tuple", "list")
    )
    if error["type"] in ("model_type", "dict_type"):
        told = f"is a section and holds {', '.join(section.model_fields)}"
    raise UsageError(
        f"{where}: {'.'.join(named)} {told}, but {found!r} ({_kind(found)}) was found."
    )


def _known_part(keys: Sequence[str]) -> tuple[list[str], type[BaseModel]]:
    """Split off the union members and indices that pydantic adds to a place.

    Gives the keys that are left, and the section that the last of them lies in.
    """
    section: type[BaseModel] = Config
    named: list[str] = []
    for key in keys:
        if key not in section.model_fields:
            break
        named.append(key)
        section = _section(section, key) or section
    return named, section


def _nearest(keys: Sequence[str], section: type[BaseModel]) -> str:
    """Suggest the setting that was probably meant, here or in any section."""
    # A section that is null by default has no settings among the defaults.
    here = [".".join([*keys[:-1], name]) for name in section.model_fields]
    everywhere = [*here, *_flat(Config().model_dump(mode="json"))]
    if len(keys) == 1:
        everywhere += Config.model_fields
    close = difflib.get_close_matches(".".join(keys), everywhere, n=1, cutoff=0.75)
    if not close:
        close = [key for key in everywhere if key.rsplit(".", 1)[-1] == keys[-1]][:1]
    if close:
        return f" Did you mean {close[0]}?"
    prefix = ".".join(keys[:-1]) or "the configuration"
    return f" There is, in {prefix}: {', '.join(section.model_fields)}."


def _kind(value: object) -> str:
    kinds = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        list: "a list",
    }
    return "nothing" if value is None else kinds.get(type(value), "a section")
