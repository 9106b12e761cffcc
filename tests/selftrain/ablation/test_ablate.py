"""An ablation with a scripted sampler: what its arms share, what they train on, what it refuses."""

from pathlib import Path

import pytest
from ablation.ablations import Ablations, rows, shown, small_ablations
from scripted import few_held_out

from selftrain.ablation.arms import Arm, Generator, arms_of
from selftrain.ablation.data import read_slots
from selftrain.ablation.directory import AblationDirectory
from selftrain.ablation.draw import in_order, sum_tokens
from selftrain.config import ModelConfig
from selftrain.errors import RunError, UsageError
from selftrain.files import Row
from selftrain.statistics import compare, mean_over_seeds
from selftrain.verifier.learning import network

ALL = "ablate.arms=[base, verified, unverified, wrong, noise-50]"
SEEDS = (0, 1)
MATCHED = ("verified", "unverified", "wrong", "noise-50")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Ablations:
    """Give a whole ablation, to be looked at only."""
    made = small_ablations(tmp_path_factory.mktemp("ablations"), tiny_model)
    made.run(ALL, "ablate.num_seeds=2")
    return made


@pytest.fixture
def ablations(tmp_path: Path, tiny_model: Path) -> Ablations:
    return small_ablations(tmp_path, tiny_model)


def arm(done: Ablations, name: str) -> Arm:
    return next(one for one in arms_of(done.config(ALL)) if one.name == name)


def examples(done: Ablations, name: str, seed: int) -> list[Row]:
    return rows(AblationDirectory(done.folder).arm(arm(done, name), seed).examples)


def evaluations(done: Ablations, name: str) -> list[list[Row]]:
    here = AblationDirectory(done.folder)
    return [rows(here.arm(arm(done, name), seed).evaluation) for seed in SEEDS]


def results(done: Ablations) -> dict[str, Row]:
    return {row["arm"]: row for row in rows(AblationDirectory(done.folder).results)}


def test_it_leaves_its_files_and_no_others(done: Ablations) -> None:
    assert sorted(path.name for path in done.folder.iterdir()) == [
        ".lock",
        "1-pools",
        "2-data",
        "3-arms",
        "ablation.html",
        "ablation.md",
        "config.yaml",
        "log.txt",
        "results.jsonl",
        "run.json",
        "timings.jsonl",
    ]
    assert not list(done.folder.rglob("shards")) and not list(done.folder.rglob("*.unfinished"))


def test_matched_arms_train_on_equal_tokens_within_two_percent(done: Ablations) -> None:
    sums = [
        sum(row["num_tokens"] for row in examples(done, name, seed))
        for name in MATCHED
        for seed in SEEDS
    ]
    assert max(sums) - min(sums) <= 0.02 * min(sums)


def test_the_scarcest_arm_trains_on_all_it_has(done: Ablations) -> None:
    here = AblationDirectory(done.folder)
    all_there_is, taken = [], []
    for name in MATCHED:
        for seed in SEEDS:
            config = done.config(f"seed={seed}")
            order = in_order(arm(done, name), read_slots(here, arm(done, name), seed), config)
            all_there_is.append(sum_tokens(order))
            taken.append(sum(row["num_tokens"] for row in examples(done, name, seed)))
    assert taken[all_there_is.index(min(all_there_is))] == min(all_there_is) < max(all_there_is)


def test_tokens_are_counted_as_blocks_count_them(done: Ablations) -> None:
    from selftrain.config import FinetuneConfig
    from selftrain.finetune.pieces import pieces, texts_of
    from selftrain.models import load_tokenizer

    tokenizer = load_tokenizer(ModelConfig(name=str(done.model)))
    for row in examples(done, "wrong", 0)[:5]:
        (piece,) = pieces(tokenizer, texts_of([row]), FinetuneConfig(block_tokens=256))
        assert row["num_tokens"] == len(piece.tokens)


@pytest.mark.parametrize(("name", "passed"), [("verified", True), ("wrong", False)])
def test_an_arm_has_pairs_of_its_verdict_only(done: Ablations, name: str, passed: bool) -> None:
    for seed in SEEDS:
        assert {row["passed"] for row in examples(done, name, seed)} == {passed}


def test_half_of_a_half_wrong_arm_is_wrong_but_for_rounding(done: Ablations) -> None:
    for seed in SEEDS:
        taken = examples(done, "noise-50", seed)
        assert abs(sum(not row["passed"] for row in taken) - len(taken) / 2) < 1


def test_unverified_pairs_have_the_verdicts_that_chance_gave_them(done: Ablations) -> None:
    found = {row["passed"] for seed in SEEDS for row in examples(done, "unverified", seed)}
    assert found == {True, False}


def test_verdicts_are_those_of_the_pool(done: Ablations) -> None:
    here = AblationDirectory(done.folder)
    for name in MATCHED:
        pool = here.pool(Generator("", done.config().model), 1)
        passed = {(r["puzzle_id"], r["index"]): r["passed"] for r in rows(pool.candidates)}
        taken = examples(done, name, 1)
        assert taken
        assert all(passed[row["puzzle_id"], row["index"]] == row["passed"] for row in taken)


def test_each_seed_has_a_pool_of_its_own_that_all_arms_share(done: Ablations) -> None:
    here = AblationDirectory(done.folder)
    pools = [here.pool(Generator("", done.config().model), seed) for seed in SEEDS]
    proposals = [[row["text"] for row in rows(pool.proposals)] for pool in pools]
    assert proposals[0] != proposals[1]
    requests = done.asked[str(done.model)]
    assert sum(r.prompt.endswith("(") for r in requests) == 2 * 24
    held_out = {puzzle.f for puzzle in few_held_out()}
    attempts = [r for r in requests if not r.prompt.endswith("(")]
    own = [r for r in attempts if r.prompt.rsplit("\n\n", 1)[0] not in held_out]
    assert len(own) == sum(4 * len(rows(pool.puzzles)) for pool in pools)


def test_all_arms_of_a_seed_answer_the_same_prompts_drawn_by_the_same_numbers(
    done: Ablations,
) -> None:
    wanted = done.asked["3-arms/verified/seed-1/5-model"]
    assert len(wanted) == 4 * (2 + 1)
    for name in ("unverified", "wrong", "noise-50"):
        assert done.asked[f"3-arms/{name}/seed-1/5-model"] == wanted
    assert set(wanted) <= set(done.asked[str(done.model)])
    assert done.asked["3-arms/verified/seed-0/5-model"] != wanted


def test_base_trains_on_nothing(done: Ablations) -> None:
    here = AblationDirectory(done.folder).arm(arm(done, "base"), 0)
    assert not here.examples.exists() and not here.model.exists()
    assert results(done)["base"]["num_tokens"] == [0, 0]


def test_the_numbers_are_those_worked_out_from_the_files(done: Ablations) -> None:
    found = results(done)
    for name in ("base", *MATCHED):
        for k in (1, 2):
            mean = mean_over_seeds(evaluations(done, name), k, seed=0)
            assert found[name][f"pass@{k}"]["value"] == mean.value
            assert found[name][f"pass@{k}"]["high"] == mean.high
    for name in ("verified", "wrong", "noise-50"):
        one = compare(evaluations(done, name), evaluations(done, "unverified"), 1, seed=0)
        told = found[name]["minus_unverified/pass@1"]
        assert (told["difference"], told["p_value"]) == (one.difference, one.p_value)
        assert tuple(told["by_seed"]) == one.by_seed
    assert found["verified"]["num_examples"] == [len(examples(done, "verified", s)) for s in SEEDS]


def test_the_table_says_what_the_numbers_say(done: Ablations) -> None:
    found = results(done)
    text = (done.folder / "ablation.md").read_text()
    for name in ("base", *MATCHED):
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} | ")][:1]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[4].startswith(f"{100 * found[name]['pass@1']['value']:.1f} ")
        if name != "base":
            assert cells[1] == f"{sum(found[name]['num_examples']) / 2:,.0f}"


def test_nothing_compares_base_with_unverified_twice(done: Ablations) -> None:
    found = results(done)
    assert "minus_unverified/pass@1" not in found["base"]
    assert "minus_base/pass@1" in found["unverified"]


def test_an_ablation_run_again_changes_nothing(done: Ablations) -> None:
    paths = [path for path in done.folder.rglob("*") if path.is_file() and path.name != "log.txt"]
    before = {path: path.read_bytes() for path in paths}
    asked = {name: len(requests) for name, requests in done.asked.items()}
    done.run(ALL, "ablate.num_seeds=2")
    assert {path: path.read_bytes() for path in before} == before
    assert {name: len(requests) for name, requests in done.asked.items()} == asked


def test_another_configuration_is_refused(done: Ablations) -> None:
    with pytest.raises(UsageError, match=r"ablate\.num_seeds 2, now 3"):
        done.run(ALL, "ablate.num_seeds=3")


def test_other_tokens_are_refused_once_an_arm_is_trained(done: Ablations) -> None:
    with pytest.raises(UsageError, match=r"ablate\.train_tokens None, now 300"):
        done.run(ALL, "ablate.num_seeds=2", "ablate.train_tokens=300")


def test_more_tokens_than_an_arm_has_are_refused_and_fewer_go_on(ablations: Ablations) -> None:
    few = ("ablate.arms=[wrong]", "ablate.num_seeds=1")
    with pytest.raises(UsageError, match=r"train_tokens is 90,000, but .* of wrong have .* seed 0"):
        ablations.run(*few, "ablate.train_tokens=90_000")
    ablations.run(*few, "ablate.train_tokens=400")
    assert len([r for r in ablations.asked[str(ablations.model)] if r.prompt.endswith("(")]) == 24
    (row,) = rows(AblationDirectory(ablations.folder).results)
    assert abs(row["num_tokens"][0] - 400) <= 8


UNSOLVED = "ablate.arms=[unverified, wrong]"


@pytest.fixture(scope="module")
def unsolved(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Ablations:
    """Give an ablation of one pool in which no attempt is right, to be looked at only."""
    made = small_ablations(tmp_path_factory.mktemp("unsolved"), tiny_model)
    made.wrong_share = 1
    made.run(
        UNSOLVED,
        "ablate.pool=shared",
        "ablate.num_seeds=2",
        "ablate.keep_models=false",
        "curate.max_solutions=1",
        "curate.drop_always_solved=true",
    )
    return made


def test_arms_without_verified_pairs_need_none(unsolved: Ablations) -> None:
    found = results(unsolved)
    assert found["wrong"]["num_passed"] == found["unverified"]["num_passed"] == [0, 0]
    assert min(found["wrong"]["num_examples"]) > 0


def test_a_shared_pool_is_sampled_once_and_drawn_from_by_each_seed(unsolved: Ablations) -> None:
    requests = unsolved.asked[str(unsolved.model)]
    assert sum(r.prompt.endswith("(") for r in requests) == 24
    here = AblationDirectory(unsolved.folder)
    (one, _) = arms_of(unsolved.config(UNSOLVED))
    drawn = [[row["g"] for row in rows(here.arm(one, seed).examples)] for seed in SEEDS]
    assert drawn[0] != drawn[1]


def test_weights_that_are_not_kept_leave_their_training_log(unsolved: Ablations) -> None:
    here = AblationDirectory(unsolved.folder)
    for one in arms_of(unsolved.config(UNSOLVED)):
        for seed in SEEDS:
            left = here.arm(one, seed).model.iterdir()
            assert [path.name for path in left] == ["training.jsonl"]


def test_the_page_says_that_unverified_pairs_are_not_chosen_by_solve_rate(
    unsolved: Ablations, done: Ablations
) -> None:
    told = "Unverified pairs are drawn without a look at their verdicts"
    assert told in (unsolved.folder / "ablation.md").read_text()
    assert told not in (done.folder / "ablation.md").read_text()


def test_an_arm_that_needs_verified_pairs_says_why_there_is_none(ablations: Ablations) -> None:
    ablations.wrong_share = 1
    with pytest.raises(RunError, match=r"seed-0: none of [\d,]+ candidates for \d+ puzzles passed"):
        ablations.run("ablate.arms=[wrong, noise-50]")


def test_the_held_out_puzzles_are_indexed_once_for_all_seeds(done: Ablations) -> None:
    assert done.num_indices == 1


@pytest.mark.parametrize(
    "setting",
    [
        "ablate.generators=[{name: org/a, server: http://a/v1}, {name: org/b, server: http://a/v1}]",
        "solve.model={name: org/b, server: http://a/v1}",
    ],
)
def test_a_model_out_of_reach_ends_it_before_anything_is_made(
    ablations: Ablations, setting: str
) -> None:
    ablations.missing = "org/b"
    with pytest.raises(UsageError, match="there is no org/b"):
        ablations.run("ablate.arms=[base, verified]", setting)
    assert not any(ablations.asked.values())
    assert not AblationDirectory(ablations.folder).is_begun()


def test_no_verifier_is_loaded_since_an_ablation_has_none(
    ablations: Ablations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_base(*_: object) -> None:
        raise AssertionError("an ablation has no verifier")

    monkeypatch.setattr(network, "load_base", load_base)
    here = ablations.run(
        "ablate.arms=[base, verified]", "ablate.num_seeds=1", "verifier.enabled=true"
    )
    assert here.results.exists()


def test_each_generator_has_a_pool_and_arms_of_its_own(ablations: Ablations) -> None:
    here = ablations.run(
        "ablate.arms=[verified, unverified]",
        "ablate.generators=[{name: org/a, server: http://a/v1}, {name: org/b, server: http://a/v1}]",
        "ablate.num_seeds=1",
    )
    for name in ("org/a", "org/b"):
        assert sum(r.prompt.endswith("(") for r in ablations.asked[name]) == 24
    assert not ablations.asked[str(ablations.model)]
    found = {row["arm"]: row for row in rows(here.results)}
    assert list(found) == [
        "verified, from org/a",
        "verified, from org/b",
        "unverified, from org/a",
        "unverified, from org/b",
    ]
    assert "minus_unverified/pass@1" in found["verified, from org/b"]


def test_nothing_wrong_names_the_arm_and_the_seed(ablations: Ablations) -> None:
    ablations.wrong_share = 0
    with pytest.raises(RunError, match=r"arm noise-50 has no wrong pair to train on in seed 0: no"):
        ablations.run("ablate.arms=[base, noise-50]")
    assert not (ablations.folder / "3-arms").exists()


def test_human_is_the_reference_solutions_but_those_too_near_a_held_out_puzzle(
    ablations: Ablations,
) -> None:
    known = {puzzle.family for puzzle in few_held_out()}
    assert known & {puzzle.family for puzzle in shown()}
    here = ablations.run(
        "ablate.arms=[human]",
        "ablate.num_seeds=1",
        "decontaminate.checks=[ngrams]",
        "decontaminate.same_shape=remove",
        "decontaminate.max_containment=0.5",
    )
    (human,) = arms_of(ablations.config("ablate.arms=[human]"))
    removed, kept = rows(here.removed("human", None, 0)), rows(here.arm(human, 0).examples)
    assert {row["name"] for row in removed} >= {p.name for p in shown() if p.family in known}
    assert {row["reason"] for row in removed} == {"ngrams"}
    wanted = sorted(g for puzzle in shown() for g in puzzle.solutions)
    assert sorted(row["g"] for row in [*kept, *removed]) == wanted
    assert kept
    assert [m for m, asked in ablations.asked.items() if asked] == ["3-arms/human/seed-0/5-model"]


def test_a_full_disk_budget_counts_the_whole_ablation_and_a_larger_one_goes_on(
    ablations: Ablations,
) -> None:
    few = ("ablate.arms=[verified]", "ablate.num_seeds=1")
    here = ablations.run(*few, "limits.disk_gb=1e-5")
    assert "Paused: limits.disk_gb" in here.run.log.read_text()
    ablations.run(*few, "limits.disk_gb=1")
    assert here.results.exists()


def test_the_directory_of_a_run_is_refused(ablations: Ablations) -> None:
    (ablations.folder / "round-000").mkdir(parents=True)
    with pytest.raises(UsageError, match="holds a run"):
        ablations.run("ablate.arms=[base]")


def test_what_is_refused_at_the_first_start_claims_no_directory(ablations: Ablations) -> None:
    with pytest.raises(UsageError, match="is no arm"):
        ablations.run("ablate.arms=[bass]")
    assert not ablations.folder.exists()
