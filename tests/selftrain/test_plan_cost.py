"""What servers will take, by hand."""

from pathlib import Path

import pytest

from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.plan.cost import dollars
from selftrain.plan.counts import Counts
from selftrain.plan.show import show_plan

# 10 prompts of 100 tokens with 4 proposals each; 6 prompts of 50 tokens with 8 attempts each.
COUNTS = Counts(
    proposals=40,
    attempts=48,
    sampled_proposing=2_000,
    sampled_solving=3_000,
    read_proposing=1_000,
    read_solving=300,
)
SERVED = (
    "propose.model.name=m",
    "propose.model.server=http://a/v1",
    "solve.model.name=m",
    "solve.model.server=[http://a/v1, http://b/v1]",
    "propose.num_samples=4",
    "solve.num_attempts=8",
)


def priced(*settings: str) -> Config:
    return load_config(None, [*SERVED, *settings])


def test_a_prompt_is_paid_for_with_every_request() -> None:
    a_token = "propose.model.dollars_per_million_tokens=[1000000, 0]"
    assert dollars(priced(a_token), COUNTS) == 40 * 100
    assert dollars(priced(a_token, "propose.model.samples_per_request=4"), COUNTS) == 10 * 100
    assert dollars(priced(a_token, "propose.model.samples_per_request=3"), COUNTS) == 20 * 100


def test_each_server_has_its_prices() -> None:
    both = (
        "propose.model.dollars_per_million_tokens=[0, 1000000]",
        "solve.model.dollars_per_million_tokens=[0, 2000000]",
    )
    assert dollars(priced(*both), COUNTS) == 2_000 + 2 * 3_000


def test_without_a_price_or_a_server_nothing_is_estimated() -> None:
    assert dollars(priced(), COUNTS) is None
    here = load_config(None, ["solve.model.name=m"])
    assert dollars(here, COUNTS) is None


def test_a_plan_says_what_servers_take(capsys: pytest.CaptureFixture[str]) -> None:
    settings = [*SERVED, "solve.model.dollars_per_million_tokens=[100, 100]"]
    path = Path("configs/tiny.yaml")
    assert show_plan(load_config(path, settings), path, settings, probe=False) == 0
    shown = capsys.readouterr().out
    assert "\ndollars\n" in shown
    assert "Servers take about $" in shown
    assert "attempts by m on http://a/v1, http://b/v1" in shown
    assert show_plan(load_config(path), path, (), probe=False) == 0
    assert "dollars" not in capsys.readouterr().out
