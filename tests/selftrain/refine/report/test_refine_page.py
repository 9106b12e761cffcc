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
    too_long,
)

from selftrain.config import Config, RefineConfig
from selftrain.errors import RunError
from selftrain.files import write_rows
from selftrain.refine.arms import ways_of
from selftrain.refine.critic.review import FieldVerdict
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.report.page import publish
from selftrain.refine.report.task_table import MAX_TASKS
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.trace import NO_CANDIDATE, Fate, Role, Step, Stop

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


def flat(printed: str) -> str:
    return " ".join(printed.split())


def test_a_run_in_which_nothing_could_be_asked_is_no_null_result(tmp_path: Path) -> None:
    solved = {"forward": "-----", "critic": "-----"}
    steps = [
        Step(arm, f"t{i}", 0, {Role.forward: too_long()}, candidate=Candidate(None, "prompt_too_long"), stop=Stop.too_long)
        for arm in solved
        for i in range(5)
    ]  # fmt: skip
    c = config("forward", "critic")
    c = c.model_copy(update={"model": c.model.model_copy(update={"context_tokens": 300})})
    done = folder(tmp_path, results(solved, outcome=NO_CANDIDATE), steps)
    printed = flat(published(done, c, tasks(5)))
    said = "5 of 5 first prompts do not fit in 300 tokens beside a reply of up to 512: raise model.context_tokens"
    top = flat(done.report_markdown.read_text().split("## Arms")[0]).replace("\\", "")
    for text in (printed, top, *json.loads(done.outcome.read_text())["troubles"]):
        assert said in text
    for text in (printed, top):
        assert "Nothing could be asked" in text
        assert "no difference" not in text and "came out differently" not in text
    (row,) = [line for line in done.report_markdown.read_text().splitlines() if line[:5] == "| t0 "]
    assert row == "| t0 | — | — | one\\_try |"


def test_one_arm_alone_is_not_compared_and_no_column_that_is_not_there_is_explained(
    tmp_path: Path,
) -> None:
    done = folder(
        tmp_path, results({"gate_no_critic": "+-"}), [first("gate_no_critic", "t0", HELD)]
    )
    printed = flat(published(done, config("gate_no_critic"), tasks(2)))
    assert "vs" not in printed and "Refinement (" not in printed
    assert "Revision by what the gate finds alone (gate_no_critic) solves 1 of 2 tasks" in printed
    assert printed.count("among the arms") == 1
    page = done.report_markdown.read_text().replace("\\", "")
    assert "The arm resample" not in page and "against forward alone" not in page


def test_that_few_tasks_differ_is_said_once_for_both_arms(tmp_path: Path) -> None:
    solved = {"forward": "--+--", "critic": "+++++", "resample": "++---"}
    printed = flat(published(folder(tmp_path, results(solved)), CONFIG, tasks(5)))
    assert printed.count("with fewer than 6") == 1
    assert (
        "Against forward alone only 4 of 5 tasks came out differently, and against re-sampling at "
        "equal tokens only 3 of 5 tasks came out differently; with fewer" in printed
    )


@pytest.mark.parametrize(
    ("critic", "arm", "why"),
    [
        ("self", "critic", "with refine.critic=self it is self_critic once more"),
        ("rules", "critic_code", "with refine.critic=rules the critic is a program"),
    ],
)
def test_an_arm_that_is_left_out_is_said_with_the_order_of_the_others(
    tmp_path: Path, critic: str, arm: str, why: str
) -> None:
    c = Config(refine=RefineConfig(critic=critic))  # type: ignore[arg-type]
    names = [way.name for way in ways_of(c.refine)]
    done = folder(tmp_path, results(dict.fromkeys(names, "+-")))
    printed = published(done, c, tasks(2))
    page = done.report_markdown.read_text().replace("\\", "")
    for text in (printed, page):
        assert f"The arm {arm} is left out: {why}" in flat(text)
    assert f"in the order in which they were done: {', '.join(names)}." in page
    assert names[-2:] == ["resample", "resample_no_gate"]


def test_tasks_are_listed_by_arm_first_those_on_which_arms_differ(tmp_path: Path) -> None:
    number = MAX_TASKS + 2
    solved = {"forward": "+" * number, "critic": "+" * (number - 1) + "-"}
    done = folder(tmp_path, results(solved, stop=Stop.tokens))
    published(done, config("forward", "critic"), tasks(number))
    section = done.report_markdown.read_text().split("## Tasks\n")[1].split("## Verbatim")[0]
    rows = [line for line in section.splitlines() if line.startswith("| t")]
    assert rows[:2] == [f"| t{number - 1} | yes | no | tokens |", "| t0 | yes | yes | tokens |"]
    assert len(rows) == MAX_TASKS and f"{MAX_TASKS} of {number}; results.jsonl has all" in section


def test_what_servers_were_asked_stands_beneath_the_table_and_not_on_the_page(
    done: RefineDirectory,
) -> None:
    assert "asked of servers" not in published(done, CONFIG, tasks(10))
    page = done.report_html.read_bytes()
    asked_of = {"requests": 3, "prompt_tokens": 40, "completion_tokens": 5, "dollars": None}
    write_rows(done.run.timings, [{"round": 0, "asked": asked_of}])
    printed = published(done, CONFIG, tasks(10))
    assert "asked of servers: 3 requests, 40 prompt and 5 completion tokens\n\n" in printed
    assert done.report_html.read_bytes() == page
