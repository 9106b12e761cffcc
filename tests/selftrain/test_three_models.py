"""Proposer, solver and the model that learns are three: a whole round with two of them on servers."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from scripted import ScriptedSampler, few_held_out, few_train, write_puzzles
from served import NAME, Served, serving

from selftrain.config import Config
from selftrain.config_file import load_config
from selftrain.errors import RunError
from selftrain.files import Row, read_json, read_rows
from selftrain.report import make_page
from selftrain.report.markdown import to_markdown
from selftrain.report.spending import spending_line
from selftrain.run import run
from selftrain.run_directory import RunDirectory
from selftrain.sampling.spending import add_up, spending_from_row

KEY = "sk-a-key-that-nobody-sees"
SMALL = (
    "rounds=1",
    "propose.num_proposals=16",
    "propose.shard_size=8",
    "solve.num_attempts=3",
    "judge.num_workers=1",
    "evaluate.num_samples=2",
    "evaluate.k=[1, 2]",
    "solve.max_new_tokens=40",
    "finetune.block_tokens=128",
    "diversity.embeddings=false",
    "model.device=cpu",
)


def config_of(folder: Path, model: Path, proposer: Served, solver: Served) -> Config:
    train = write_puzzles(folder / "train.jsonl", few_train())
    held_out = write_puzzles(folder / "held_out.jsonl", few_held_out()[:1])
    here = (
        f"puzzles.train={train}",
        f"puzzles.held_out={held_out}",
        f"model.name={model}",
        *(
            f"{section}.model.{key}={value}"
            for section, served in (("propose", proposer), ("solve", solver))
            for key, value in {
                "name": NAME,
                "server": served.url,
                "batch_size": 4,
                "context_tokens": 1024,
                "api_key_variable": "MY_KEY",
                "dollars_per_million_tokens": "[1000000, 1000]",
            }.items()
        ),
    )
    return load_config(None, [*SMALL, *here])


class Trio:
    """A run with two servers, and the servers."""

    def __init__(self, folder: Path, model: Path, proposer: Served, solver: Served) -> None:
        self.proposer, self.solver = proposer, solver
        self.config = config_of(folder, model, proposer, solver)
        self.directory = RunDirectory(folder / "run")

    def run(self) -> None:
        assert run(self.config, self.directory.path) == 0

    def rows(self, name: str) -> list[Row]:
        return list(read_rows(self.directory.round(1).path / name))


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Iterator[Trio]:
    """Give a whole run, to be looked at only."""
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("MY_KEY", KEY)
        proposer = stack.enter_context(serving(ScriptedSampler()))
        solver = stack.enter_context(serving(ScriptedSampler(), kind="openai", logprobs=None))
        trio = Trio(tmp_path_factory.mktemp("trio"), tiny_model, proposer, solver)
        trio.run()
        yield trio


def test_the_proposer_is_asked_for_puzzles_alone_and_the_solver_for_solutions(trio: Trio) -> None:
    assert len(trio.proposer.asked) == 16
    assert all(body["prompt"].endswith("(") for body in trio.proposer.asked)
    assert len(trio.solver.asked) == len(trio.rows("3-candidates.jsonl")) > 0
    assert all(body["prompt"].endswith("):") for body in trio.solver.asked)


def test_the_model_here_learns_from_what_the_servers_wrote(trio: Trio) -> None:
    here = trio.directory.round(1)
    assert len(trio.rows("4-examples.jsonl")) > 0
    trained, base = here.model / "model.safetensors", Path(trio.config.model.name)
    assert trained.read_bytes() != (base / "model.safetensors").read_bytes()
    assert here.metrics.exists()


def test_the_model_here_is_the_one_that_is_evaluated(trio: Trio) -> None:
    asked = len(trio.proposer.asked) + len(trio.solver.asked)
    drawn = len(trio.rows("1-proposals.jsonl")) + len(trio.rows("3-candidates.jsonl"))
    assert len(trio.rows("6-eval-candidates.jsonl")) == 3
    assert asked == drawn


def test_provenance_names_the_servers_and_hashes_nothing_of_them(trio: Trio) -> None:
    made_with = read_json(trio.directory.provenance)
    assert made_with["proposer"] == {"name": NAME, "server": trio.proposer.url}
    assert made_with["solver"] == {"name": NAME, "server": trio.solver.url}
    assert "model.safetensors" in made_with["model"]["files"]


def test_what_a_server_does_not_tell_is_null_on_disk(trio: Trio) -> None:
    assert {row["sum_logprob"] for row in trio.rows("3-candidates.jsonl")} == {None}
    assert all(row["sum_logprob"] < 0 for row in trio.rows("1-proposals.jsonl"))


def test_what_servers_were_asked_for_is_in_the_timings_the_report_and_nowhere_else(
    trio: Trio,
) -> None:
    asked = [row for row in read_rows(trio.directory.timings) if "asked" in row]
    assert {row["stage"] for row in asked} == {"propose", "solve"}
    num_asked = len(trio.proposer.asked) + len(trio.solver.asked)
    total = add_up([spending_from_row(row) for row in asked])
    assert (total.requests, total.prompt_tokens) == (num_asked, 7 * num_asked)
    assert total.dollars == pytest.approx(7 * num_asked + total.completion_tokens / 1000)
    page = to_markdown(make_page(trio.directory, with_timings=True))
    assert f"| Requests answered | {num_asked} |" in page
    assert "| Dollars, about |" in page
    assert "Requests answered" not in trio.directory.report_markdown.read_text()
    assert spending_line(trio.directory).startswith(f"asked of servers: {num_asked} requests, ")


def test_no_file_of_the_run_holds_the_key(trio: Trio) -> None:
    assert {sent["authorization"] for sent in trio.proposer.headers} == {f"Bearer {KEY}"}
    files = [path for path in trio.directory.path.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_a_server_that_fails_ends_the_run_and_the_same_command_goes_on_to_the_same_rows(
    trio: Trio, tmp_path: Path, tiny_model: Path
) -> None:
    with serving(ScriptedSampler()) as proposer, serving(ScriptedSampler(), "openai") as solver:
        other = Trio(tmp_path, tiny_model, proposer, solver)
        solver.logprobs = None
        solver.failures = [""] * 4 + ["429 in an hour"]
        with pytest.raises(RunError, match="429 Too Many Requests"):
            other.run()
        assert not other.directory.round(1).candidates.exists()
        lost = list(read_rows(other.directory.timings))[-1]
        assert (lost["stage"], lost["cut_short"]) == ("solve", True)
        assert lost["asked"]["requests"] >= 1
        other.run()
        assert len(proposer.asked) == 16
    for name in ("1-proposals.jsonl", "3-candidates.jsonl", "4-examples.jsonl"):
        assert other.rows(name) == trio.rows(name)


def test_a_server_that_is_not_there_ends_a_run_before_anything_is_measured(
    tmp_path: Path, tiny_model: Path, trio: Trio
) -> None:
    config = config_of(tmp_path, tiny_model, trio.proposer, trio.solver)
    nowhere = config.solve.model.model_copy(update={"server": "http://127.0.0.1:9/v1"})  # type: ignore[union-attr]
    solving = config.solve.model_copy(update={"model": nowhere})
    with pytest.raises(RunError, match=r"127\.0\.0\.1:9"):
        run(config.model_copy(update={"solve": solving}), tmp_path / "run")
    assert not list((tmp_path / "run").glob("round-*"))
