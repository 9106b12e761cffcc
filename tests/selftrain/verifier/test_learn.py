"""Learning: equation 4, what is learnt from, and that one seed gives one verifier."""

import math
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
from tiny_networks import make_network, make_tasks, make_tokenizer, settings

from selftrain.config import VerifierConfig
from selftrain.errors import RunError, UsageError
from selftrain.files import Row
from selftrain.verifier.learning.inputs import Reads, reads_of
from selftrain.verifier.learning.learn import draw_steps, learn, task_loss
from selftrain.verifier.learning.lessons import Lessons, make_lessons
from selftrain.verifier.learning.network import Verifier, load_base, save
from selftrain.verifier.learning.score import log_odds
from selftrain.verifier.learning.train import train_verifier
from selftrain.verifier.tasks.task import Arm, Candidate, Task

ALL = Reads("value", programs=True, max_tokens=128)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_network("llama", tmp_path_factory.mktemp("networks") / "llama")


def train(
    config: VerifierConfig, tasks: list[Task], dev: list[Task], seed: int = 3
) -> tuple[Verifier, list[Row]]:
    verifier = load_base(config, reads_of(config, "full"), seed)
    return verifier, learn(verifier, tasks, dev, config, seed, advance=lambda _: None)


def lessons(tasks: list[Task], *, gold: bool = False, reads: Reads = ALL) -> Lessons:
    return make_lessons(make_tokenizer("llama"), reads, tasks, gold=gold)


def odds_of(*probabilities: float) -> torch.Tensor:
    return torch.tensor([math.log(p / (1 - p)) for p in probabilities], dtype=torch.float64)


def test_the_loss_is_the_mean_over_tasks_of_the_mean_over_candidates() -> None:
    odds = [odds_of(0.9), odds_of(0.5, 0.2, 0.6)]
    labels = [torch.tensor([True]), torch.tensor([True, False, False])]
    one = -math.log(0.9)
    other = -(math.log(0.5) + math.log(0.8) + math.log(0.4)) / 3
    assert task_loss(odds, labels).item() == pytest.approx((one + other) / 2, rel=1e-12)


def test_ten_copies_of_a_tasks_candidates_leave_the_loss_unchanged() -> None:
    odds = [odds_of(0.9, 0.3), odds_of(0.5, 0.2, 0.6)]
    labels = [torch.tensor([True, False]), torch.tensor([True, False, False])]
    copied = task_loss([odds[0].repeat(10), odds[1]], [labels[0].repeat(10), labels[1]])
    assert copied.item() == pytest.approx(task_loss(odds, labels).item(), rel=1e-12)


def test_ten_copies_of_a_tasks_candidates_are_learnt_from_once() -> None:
    tasks = make_tasks(2)
    often = [replace(tasks[0], candidates=tasks[0].candidates * 10), tasks[1]]
    frequent = tuple(replace(one, num_samples=10) for one in tasks[0].candidates)
    assert (
        lessons(often)
        == lessons(tasks)
        == lessons([replace(tasks[0], candidates=frequent), tasks[1]])
    )


def test_the_loss_of_odds_of_a_thousand_nats_is_finite() -> None:
    odds = torch.tensor([1000.0, -1000.0], dtype=torch.float64)
    assert task_loss([odds], [torch.tensor([False, True])]).item() == 1000.0
    assert task_loss([odds], [torch.tensor([True, False])]).item() == 0.0


def test_a_gold_program_is_added_once_as_right() -> None:
    (task,) = make_tasks(1)
    gold = replace(task, gold_program="def g():\n    return 99", gold_result="99")
    (examples,) = lessons([gold], gold=True).tasks
    assert [one.label for one in examples] == [True, False, False, True, False, True]
    assert lessons([gold], gold=True).counts.num_gold == 1
    assert len(lessons([gold], gold=False).tasks[0]) == 5


@pytest.mark.parametrize("ending", ["", "\n", "  \n\n"])
def test_a_gold_program_among_the_candidates_is_not_added(ending: str) -> None:
    (task,) = make_tasks(1)
    gold = replace(task, gold_program=task.candidates[3].program + ending, gold_result="1")
    assert lessons([gold], gold=True).tasks == lessons([task]).tasks


@pytest.mark.parametrize("arm", ["full", "no-execution", "type-only", "no-program"])
def test_every_arm_learns_from_the_same_candidates(arm: Arm) -> None:
    """Gold programs of unknown result are left out even where no result is read."""
    gold = [replace(task, gold_program="def g():\n    return 99") for task in make_tasks(3)]
    gold[0] = replace(gold[0], gold_result="99")
    found = lessons(gold, gold=True, reads=reads_of(VerifierConfig(), arm))
    counts = found.counts
    assert (counts.num_gold, counts.num_gold_left_out, counts.num_examples) == (1, 2, 16)
    labels = [[one.label for one in task] for task in found.tasks]
    assert labels == [
        [True, False, False, True, False, True],
        *[[True, False, False, True, False]] * 2,
    ]


def test_what_has_no_label_is_left_out_and_counted() -> None:
    tasks = make_tasks(3)
    unknown = tuple(replace(one, label=None) for one in tasks[0].candidates)
    half = (*unknown[:3], *tasks[1].candidates[3:])
    found = lessons(
        [replace(tasks[0], candidates=unknown), replace(tasks[1], candidates=half), tasks[2]]
    )
    assert [len(task) for task in found.tasks] == [2, 5]
    assert (found.counts.num_tasks, found.counts.num_unlabelled) == (3, 1)


@pytest.mark.parametrize("label", [True, False])
def test_labels_that_are_all_equal_are_refused(llama: Path, label: bool) -> None:
    tasks = [
        replace(task, candidates=tuple(replace(one, label=label) for one in task.candidates))
        for task in make_tasks()
    ]
    says = f"all 30 labelled candidates of the train tasks are {'right' if label else 'wrong'}"
    with pytest.raises(UsageError, match=says):
        train(settings(llama), tasks, make_tasks(2))


@pytest.mark.parametrize(
    ("label", "says"),
    [
        (True, "15 candidates, all right"),
        (False, "15 candidates, all wrong"),
        (None, "no candidates"),
    ],
)
def test_dev_tasks_of_one_class_are_refused_before_a_model_is_loaded(
    tmp_path: Path, label: bool | None, says: str
) -> None:
    dev = [
        replace(task, candidates=tuple(replace(one, label=label) for one in task.candidates))
        for task in make_tasks(3)
    ]
    config = settings(tmp_path / "there is no such model")
    with pytest.raises(UsageError, match=f"The dev tasks have {says}"):
        train_verifier(
            tmp_path / "v", config, ALL, make_tasks(), dev, seed=0, advance=lambda _: None
        )
    assert not (tmp_path / "v").exists()


def test_no_labels_at_all_are_refused(llama: Path) -> None:
    with pytest.raises(UsageError, match="none of the 1 train tasks has a labelled candidate"):
        train(
            settings(llama),
            [Task("a", "x", (Candidate("y", None, None, None, None),))],
            make_tasks(2),
        )


def test_each_task_is_seen_equally_often_and_weighs_the_same() -> None:
    tasks = lessons(make_tasks(7)).tasks
    config = settings("none", tasks_per_step=4, candidates_per_step=3)
    steps = list(islice(draw_steps(tasks, config, 0), 14))
    owner = {id(one): number for number, task in enumerate(tasks) for one in task}
    seen = Counter(owner[id(one.example)] for step in steps for one in step)
    assert set(seen.values()) == {14 * 4 // 7 * 3}
    for step in steps:
        assert len({id(one.example) for one in step}) == len(step) == 12
        weights = Counter[int]()
        for one in step:
            weights[owner[id(one.example)]] += one.weight  # type: ignore[assignment]
        assert list(weights.values()) == pytest.approx([0.25] * 4)


def test_a_task_of_few_candidates_gives_all_of_them() -> None:
    tasks = lessons(make_tasks(1)).tasks
    (step,) = islice(
        draw_steps(tasks, settings("none", tasks_per_step=1, candidates_per_step=20), 0), 1
    )
    assert sorted(one.example.row.ids for one in step) == sorted(one.row.ids for one in tasks[0])


def test_the_first_step_has_the_loss_of_equation_4_however_it_is_batched(llama: Path) -> None:
    tasks = make_tasks(3)
    tasks[1] = replace(tasks[1], candidates=tasks[1].candidates[:2])
    config = settings(llama, tasks_per_step=3, candidates_per_step=9, steps=1)
    found = log_odds(load_base(config, ALL, 3), tasks, batch_size=9, advance=lambda _: None)
    labels = [torch.tensor([one.label for one in task.candidates]) for task in tasks]
    expected = task_loss([torch.tensor(odds) for odds in found], labels).item()
    for size in (1, 4, 99):
        model = config.model.model_copy(update={"batch_size": size})
        _, log = train(config.model_copy(update={"model": model}), tasks, make_tasks(2))
        assert log[1]["loss"] == pytest.approx(expected, rel=1e-4)


def test_it_learns_to_tell_right_from_wrong_by_the_result(llama: Path) -> None:
    config = settings(llama, steps=40, check_every=10, learning_rate=1e-2, candidates_per_step=5)
    tasks = make_tasks(8)
    verifier, log = train(config, tasks[:6], tasks[6:])
    assert log[-1]["dev_loss"] < 0.2 < log[0]["dev_loss"]
    assert log[-1]["dev_accuracy"] == 1.0
    for odds in log_odds(verifier, tasks[6:], batch_size=8, advance=lambda _: None):
        assert min(odds[0], odds[3]) > max(odds[1], odds[2], odds[4])


@pytest.mark.parametrize("more", [{}, {"method": "lora", "lora": {"rank": 2, "dropout": 0.1}}])
def test_one_seed_writes_the_same_bytes(
    llama: Path, tmp_path: Path, more: dict[str, object]
) -> None:
    logs = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        verifier, log = train(settings(llama, **more), make_tasks(), make_tasks(2), seed)
        torch.rand(5)  # What was drawn before must not matter.
        save(verifier, tmp_path / name)
        logs.append(log)
    files = {
        name: {path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())}
        for name in "abc"
    }
    assert files["a"] == files["b"] != files["c"]
    assert logs[0] == logs[1] != logs[2]


def test_the_weights_of_the_best_look_are_kept(llama: Path) -> None:
    wrong = [
        replace(
            task, candidates=tuple(replace(one, label=not one.label) for one in task.candidates)
        )
        for task in make_tasks(2)
    ]
    config = settings(llama, steps=12, check_every=3, learning_rate=1e-2)
    verifier, log = train(config, make_tasks(), wrong)
    looks = {row["step"]: row["dev_loss"] for row in log[1:] if row["dev_loss"] is not None}
    assert list(looks) == [3, 6, 9, 12]
    assert min(looks, key=looks.__getitem__) != 12
    found = log_odds(verifier, wrong, batch_size=8, advance=lambda _: None)
    labels = [torch.tensor([one.label for one in task.candidates]) for task in wrong]
    loss = task_loss([torch.tensor(odds) for odds in found], labels).item()
    assert loss == pytest.approx(min(looks.values()), rel=1e-5)


def test_the_log_says_what_was_learnt_from_and_how_the_rate_fell(llama: Path) -> None:
    config = settings(llama, steps=5, warmup_steps=100, learning_rate=1e-3)
    told = []
    verifier = load_base(config, ALL, 0)
    log = learn(verifier, make_tasks(), make_tasks(2), config, 0, advance=told.append)
    assert told == [1] * 5
    assert log[0]["train"] == {
        "num_tasks": 6,
        "num_unlabelled": 0,
        "num_examples": 30,
        "num_right": 12,
        "num_gold": 0,
        "num_gold_left_out": 0,
        "cut": {"task": 0.0, "program": 0.0, "result": 0.0},
    }
    assert [row["learning_rate"] for row in log[1:]] == pytest.approx(
        [0, 1e-3, 7.5e-4, 5e-4, 2.5e-4]
    )
    assert [row["step"] for row in log if row["dev_loss"] is not None] == [0, 2, 4, 5]


def test_a_training_that_diverges_is_one_sentence(llama: Path) -> None:
    config = settings(llama, steps=20, learning_rate=1e30, max_grad_norm=1e30)
    with pytest.raises(RunError, match=r"diverged.*Lower verifier\.learning_rate"):
        train(config, make_tasks(), make_tasks(2))
