"""What publish writes and prints of a comparison of arms."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from refine.report.made import (
    EDIT,
    HELD,
    asked,
    config,
    first,
    folder,
    rejected,
    result,
    results,
    review,
    task,
    tasks,
)

from selftrain.config import Config
from selftrain.errors import RunError
from selftrain.refine.critic.review import FieldVerdict
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.report.page import publish
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.trace import Fate, Role, Step, Stop

ARMS = {"forward": "+----" "-----", "critic": "-++++" "+++--", "resample": "++++-" "-----"}  # fmt: skip
CONFIG = config("forward", "critic", "resample")


def published(directory: RefineDirectory, c: Config, some: list[RefineTask]) -> str:
    with redirect_stdout(StringIO()) as printed:
        publish(directory, c, some)
    return printed.getvalue()


def steps() -> list[Step]:
    """Let the critic solve t1 by an edit, and lose t0 to a `<script>`."""
    made = []
    for arm in ARMS:
        for i in range(10):
            made.append(first(arm, f"t{i}", None if arm == "forward" else HELD))
            if arm == "critic" and i < 2:
                source = ("lost </script><script>alert()", "gained it")[i]
                made.append(
                    Step(
                        arm,
                        f"t{i}",
                        1,
                        {Role.critic: asked(), Role.forward: asked()},
                        review=review(FieldVerdict.failed, EDIT),
                        edits=(EDIT,),
                        candidate=Candidate(source, proofs=(("examples", "as `1 + 2` is 3"),)),
                        report=HELD,
                        fate=Fate.best,
                        stop=Stop.iterations,
                    )
                )
    made.append(
        Step(
            "critic",
            "t1",
            2,
            {Role.critic: asked(), Role.forward: asked()},
            edits=(EDIT,),
            candidate=Candidate("thrown away"),
            report=rejected(("imports", 0)),
            fate=Fate.discarded,
        )
    )
    return made


@pytest.fixture
def done(tmp_path: Path) -> RefineDirectory:
    made = steps()
    made.insert(
        made.index(next(s for s in made if s.arm == "critic" and s.task_id == "t2")), made.pop()
    )
    return folder(tmp_path, results(ARMS), made)


def test_publish_writes_all_numbers_and_names_its_files(done: RefineDirectory) -> None:
    printed = published(done, CONFIG, tasks(10))
    assert printed.endswith("".join(f"{done.path}/refine.{x}\n" for x in ("json", "md", "html")))
    outcome = json.loads(done.outcome.read_text())
    assert [one["num_solved"] for one in outcome["arms"]] == [1, 7, 4]
    assert outcome["strata"]["source"][0]["num_solved"] == {
        "forward": 1,
        "critic": 7,
        "resample": 4,
    }
    assert outcome["trace"]["arms"]["critic"]["rejected"]["num_discarded"] == 1


def test_the_terminal_has_the_one_table_in_100_columns(done: RefineDirectory) -> None:
    lines = published(done, CONFIG, tasks(10)).splitlines()
    # critic against forward: 7 gained, 1 lost, p = 2 * (1 + 8) / 2^8; against resample: 4 and 1... by hand:
    # it solves t1-t7, resample t0-t3: gained t4-t7, lost t0, p = 2 * (1 + 5) / 2^5.
    assert [line.split() for line in lines[:4]] == [
        ["arm", "solved", "%", "[95%]", "vs", "forward", "p", "vs", "resample", "p", "tokens"],
        ["forward", "1/10", "10.0", "[1.8,", "40.4]", "15"],
        ["critic", "7/10", "70.0", "[39.7,", "89.2]", "+7", "−1", "0.0703", "+4", "−1", "0.3750", "15"],
        ["resample", "4/10", "40.0", "[16.8,", "68.7]", "+3", "−0", "0.2500", "15"],
    ]  # fmt: skip
    assert max(map(len, lines[:-3])) <= 100


def test_publish_again_and_elsewhere_gives_the_same_bytes(
    done: RefineDirectory, tmp_path: Path
) -> None:
    published(done, CONFIG, tasks(10))
    files = [done.outcome, done.report_markdown, done.report_html]
    before = [file.read_bytes() for file in files]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("results.jsonl", "trace.jsonl"):
        (elsewhere / name).write_bytes((tmp_path / name).read_bytes())
    published(RefineDirectory(elsewhere), CONFIG, tasks(10))
    assert [(elsewhere / file.name).read_bytes() for file in files] == before
    assert not any(str(tmp_path).encode() in text for text in before)


def test_the_page_needs_nothing_else_and_escapes_what_models_wrote(done: RefineDirectory) -> None:
    published(done, CONFIG, tasks(10))
    html = done.report_html.read_text()
    assert "lost &lt;/script&gt;&lt;script&gt;alert()" in html
    assert not re.search(r"https?://|<script|src=", html)


def test_gained_lost_and_rejected_are_shown_word_for_word(done: RefineDirectory) -> None:
    published(done, CONFIG, tasks(10))
    text = done.report_markdown.read_text()
    gained, lost, rejected_ = re.split(r"### (?:Tasks|Updates) .*", text)[1:]
    for words in (
        "first t1",
        "1. line 2: return the sum",
        "gained it",
        "examples: as `1 + 2` is 3",
    ):
        assert words in gained
    assert "lost </script>" in lost and "gained it" not in lost
    before, after = rejected_.split("thrown away")
    assert "gained it" in before and "line 2: return the sum" in before
    assert "imports: imports is wrong" in after


def test_a_table_of_the_widest_arms_fits_a_terminal(tmp_path: Path) -> None:
    names = (
        "forward",
        "resample",
        "resample_no_gate",
        "self_critic",
        "critic_code",
        "critic_no_gate",
    )
    solved = dict.fromkeys(names, "+" * 1000) | {"forward": "-" * 1000}
    printed = published(folder(tmp_path, results(solved)), config(*names), tasks(1000))  # type: ignore[arg-type]
    assert "100.0 [99.6, 100.0]" in printed and "+1000 −0" in printed and "<0.0001" in printed
    assert max(map(len, printed.splitlines()[:-3])) <= 100


@pytest.mark.parametrize("base", ["forward", "resample"])
def test_columns_of_an_arm_that_is_not_there_are_absent(tmp_path: Path, base: str) -> None:
    solved = {base: "+-", "critic": "++"}
    printed = published(folder(tmp_path, results(solved)), config(base, "critic"), tasks(2))  # type: ignore[arg-type]
    other = {"forward": "resample", "resample": "forward"}[base]
    assert f"vs {base}" in printed and f"vs {other}" not in printed
    assert "is not among the arms" in printed.replace("\n", " ")


def test_forward_alone_is_reported_without_a_comparison(tmp_path: Path) -> None:
    done = folder(tmp_path, results({"forward": "+-"}), [first("forward", "t0")])
    printed = published(done, config("forward"), tasks(2))
    assert "Nothing is refined here; solved: forward 1 of 2 tasks (50.0%)." in printed
    assert "No arm has a gate." in done.report_markdown.read_text()


def test_one_task_that_no_arm_solves_is_reported(tmp_path: Path) -> None:
    done = folder(tmp_path, results({"forward": "-", "critic": "-", "resample": "-"}))
    printed = published(done, CONFIG, tasks(1))
    assert "Refinement (critic) solves 0 of 1 task (0.0%)" in printed
    assert printed.replace("\n", " ").count("no difference could be shown (p = 1.0000)") == 2
    assert json.loads(done.outcome.read_text())["arms"][0]["tokens_per_solved"] is None


def test_few_tasks_that_differ_are_said_to_show_nothing_whatever_is_true(tmp_path: Path) -> None:
    solved = {"forward": "-----+", "critic": "++++++", "resample": "------"}
    printed = " ".join(published(folder(tmp_path, results(solved)), CONFIG, tasks(6)).split())
    assert "Against forward alone only 5 of 6 tasks came out differently" in printed
    assert "Against re-sampling at equal tokens only" not in printed
    assert "it gains 6 and loses 0: it solves more (p = 0.0312)" in printed


@pytest.mark.parametrize(
    "wrong",
    [
        results({"forward": "++", "critic": "++", "resample": "+"}),
        [
            *results({"forward": "++", "critic": "++", "resample": "+"}),
            result("resample", "t1", None),
        ],
        [
            *results({"forward": "++", "critic": "++", "resample": "++"}),
            result("critic", "t1", True),
        ],
        results({"forward": "++", "critic": "++", "resample": "++", "self_critic": "++"}),
    ],
    ids=["missing", "unscored", "twice", "another arm"],
)
def test_results_of_other_tasks_or_arms_are_refused(tmp_path: Path, wrong: list) -> None:  # type: ignore[type-arg]
    with pytest.raises(
        RunError, match=r"results.jsonl: it does not have one scored row a task and arm"
    ):
        published(folder(tmp_path, wrong), CONFIG, tasks(2))


def test_the_folder_of_a_model_is_named_by_its_last_part(tmp_path: Path) -> None:
    c = CONFIG.model_copy(
        update={"model": CONFIG.model.model_copy(update={"name": "/data/ann/qwen"})}
    )
    done = folder(tmp_path, results({"forward": "+", "critic": "+", "resample": "+"}))
    published(done, c, [task("t0")])
    text = done.report_markdown.read_text()
    assert "Forward model: qwen," in text and "/data" not in text
