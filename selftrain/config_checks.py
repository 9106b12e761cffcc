"""Settings that are right one by one and contradict each other: refused in one sentence.

What a setting may be by itself is said in the package config.
"""

from pathlib import Path

from selftrain.config import Config, ModelConfig
from selftrain.errors import UsageError
from selftrain.refine.arms import left_out, reference, ways_of

_OF_SERVERS = (
    "api",
    "samples_per_request",
    "requests_per_minute",
    "dollars_per_million_tokens",
    "api_key_variable",
)
_OF_THIS_PROCESS = ("engine", "revision", "trust_remote_code", "weights", "dtype", "device")


def refuse_contradictions(config: Config, path: Path) -> None:
    """Raise UsageError with one sentence that begins with `path`, where the settings lie."""
    _refuse_evaluation(config, path)
    _refuse_choice_by_verdicts(config, path)
    for name, model in _models(config):
        _refuse_idle(name, model, path)
    if config.verifier.enabled and config.verifier.use != "watch":
        _refuse_undecided(config, path)
    if "refine" in config.model_fields_set:
        _refuse_refinement(config, path)


def _refuse_evaluation(config: Config, path: Path) -> None:
    if max(config.evaluate.k) > config.evaluate.num_samples:
        raise UsageError(
            f"{path}: evaluate.k holds {max(config.evaluate.k)} but evaluate.num_samples is "
            f"{config.evaluate.num_samples}; Pass@k needs n >= k. Raise one or lower the other."
        )
    if config.evaluate.epochs == "dev" and config.puzzles.num_dev == 0:
        raise UsageError(
            f"{path}: evaluate.epochs is dev but puzzles.num_dev is 0, so there is nothing to "
            "choose the epoch on. Set puzzles.num_dev, such as 30."
        )


def _refuse_choice_by_verdicts(config: Config, path: Path) -> None:
    """Refuse what chooses by verdicts where pairs are taken without a look at them."""
    by_rate = config.curate.drop_always_solved or config.curate.choose == "middle_first"
    if config.curate.verdicts == "unverified" and by_rate:
        raise UsageError(
            f"{path}: curate.verdicts is unverified, but curate.drop_always_solved and "
            "curate.choose=middle_first choose by verdicts. Leave these two out."
        )


def _models(config: Config) -> list[tuple[str, ModelConfig]]:
    """Name the models that sample."""
    found = {
        "model": config.model,
        "propose.model": config.propose.model,
        "solve.model": config.solve.model,
        "refine.critic": None if isinstance(config.refine.critic, str) else config.refine.critic,
        **{f"ablate.generators[{i}]": model for i, model in enumerate(config.ablate.generators)},
    }
    return [(name, model) for name, model in found.items() if model is not None]


def _refuse_idle(name: str, model: ModelConfig, path: Path) -> None:
    """Refuse what would do nothing: how a server is asked without one, how to load beside one."""
    ours, defaults = model.model_dump(), ModelConfig().model_dump()
    settings = _OF_SERVERS if model.server is None else _OF_THIS_PROCESS
    idle = next((key for key in settings if ours[key] != defaults[key]), None)
    if idle is None:
        return
    if model.server is None:
        raise UsageError(
            f"{path}: {name}.{idle} says how a server is asked, but {name}.server is null. "
            f"Set {name}.server, or leave it out."
        )
    raise UsageError(
        f"{path}: {name}.server samples, so {name}.{idle}={ours[idle]} would do nothing. "
        "Leave one of them out."
    )


def _refuse_undecided(config: Config, path: Path) -> None:
    """Refuse what leaves a verifier nothing to decide, or needs the verdicts that it spares."""
    curate, use = config.curate, config.verifier.use
    refused = {
        f"curate.verdicts={curate.verdicts}": curate.verdicts != "verified",
        "curate.drop_always_solved": use == "judge" and curate.drop_always_solved,
        "curate.choose=middle_first": use == "judge" and curate.choose == "middle_first",
    }
    if found := next((name for name, is_set in refused.items() if is_set), None):
        why = f"leaves candidates without a verdict, but {found} needs one on each"
        if use == "keep":
            why = f"chooses among solutions that passed, but {found} draws others by lot"
        raise UsageError(
            f"{path}: verifier.use is {use}, which {why}. Leave it out, or set verifier.use=watch."
        )


def _refuse_refinement(config: Config, path: Path) -> None:
    """Refuse arms that lack a part, and teaching what is not ours to teach."""
    c = config.refine
    ways = ways_of(c)
    if not ways:
        why = "; ".join(f"{arm}: {reason}" for arm, reason in left_out(c).items())
        raise UsageError(f"{path}: refine.arms holds nothing to be done ({why}). Name another arm.")
    if c.enabled and config.curate.verdicts != "verified":
        raise UsageError(
            f"{path}: refine.enabled tries unsolved puzzles until a pair is verified, but "
            f"curate.verdicts={config.curate.verdicts} takes pairs whatever their verdict. Leave "
            "one of them out."
        )
    if ways[-1].resamples and reference(ways) is None:
        raise UsageError(
            f"{path}: refine.arms holds {ways[-1].name}, which has the tokens of an arm that "
            "revises, and there is none. Add one, such as critic."
        )
    if c.teach and (config.model.server or config.solve.model or c.wording != "continue"):
        raise UsageError(
            f"{path}: refine.teach fine-tunes the model in `model` to go on with text, so "
            "model.server and solve.model must be null and refine.wording must be continue."
        )
    if c.teach and config.solve.num_few_shot > 0:
        raise UsageError(
            f"{path}: refine.teach fine-tunes on prompts without solved puzzles before them, but "
            f"solve.num_few_shot is {config.solve.num_few_shot}. Set it to 0."
        )
