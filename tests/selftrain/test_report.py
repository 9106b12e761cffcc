"""The report, on small runs made here: what it says, always the same, and no text breaks it."""

import re
import subprocess
import sys
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from selftrain.errors import UsageError
from selftrain.files import Row, write_json, write_rows
from selftrain.report import final_table, write_report
from selftrain.report.blocks import Page, Paragraph, Section, Table, Verbatim
from selftrain.report.html import to_html
from selftrain.report.markdown import to_markdown
from selftrain.report.reading import Round, Run, read_run
from selftrain.report.verbatim import (
    MAX_CHARACTERS,
    Reservoir,
    passage,
    read_attempts,
    verbatim_section,
)
from selftrain.run_directory import RunDirectory
from selftrain.statistics import evaluation_metrics

N = 4
CONFIG = "seed: 3\nrounds: {rounds}\nmodel:\n  name: builtin:tiny\nevaluate:\n  temperature: 0.8\n  k: [1, 4]\n"
FUNNEL = {
    "completions": 100,
    "parsed": 60,
    "typed": 50,
    "new": 40,
    "non_trivial": 30,
    "solved": 10,
    "examples": 15,
}


def candidate(puzzle_id: str, index: int, g: str | None, outcome: str, **more: Any) -> Row:
    return {
        "puzzle_id": puzzle_id,
        "f": "def f(x: int):\n    return x + 2 == 5",
        "index": index,
        "text": "raw text",
        "finish_reason": "stop",
        "num_tokens": 9,
        "sum_logprob": -1.5,
        "g": g,
        "outcome": outcome,
        "answer": "3" if outcome == "passed" else None,
        "detail": "" if outcome == "passed" else "found 4",
        "fuel": 1000,
        "passed": outcome == "passed",
        **more,
    }


def proposal(
    index: int, *, f: str | None, reason: str | None = None, text: str = "raw text"
) -> Row:
    return {
        "id": f"001-{index:06d}",
        "prompt_puzzles": ["add-1"],
        "text": text,
        "finish_reason": "stop",
        "num_tokens": 9,
        "sum_logprob": -1.5,
        "puzzle_id": None if reason else "aa",
        "f": f,
        "rejection": {"reason": reason, "detail": f"because of {reason}"} if reason else None,
    }


def evaluation(num_correct: int) -> list[Row]:
    rows = []
    for index in range(24):
        family = "add" if index < 12 else "word"
        rows.append(
            {
                "name": f"{family}-{index}",
                "puzzle_id": f"{index:02x}",
                "family": family,
                "known_family": family == "add",
                "category": "integers" if index < 20 else "strings",
                "difficulty": "easy" if index % 2 else "hard",
                "n": N,
                "num_correct": num_correct if index % 3 == 0 else 0,
                "outcomes": {"passed": num_correct, "wrong_answer": N - num_correct}
                if index % 3 == 0
                else {"raised": N},
                "greedy_passed": index % 6 == 0,
            }
        )
    return rows


def make_round(
    run: RunDirectory, number: int, *, rounds: int = 1, text: str = "raw text", funnel: Row = FUNNEL
) -> None:
    """Write one complete round as the loop leaves it."""
    round_ = run.round(number)
    run.path.mkdir(parents=True, exist_ok=True)
    run.config.write_text(CONFIG.format(rounds=rounds), encoding="utf-8")
    held_out = [
        candidate("00", 0, "def g():\n    return 30", "passed", name="add-0"),
        candidate("00", 1, text, "wrong_answer", name="add-0"),
        candidate("01", 0, None, "no_g", name="add-1", text=text),
    ]
    rows = evaluation(1 + number)
    metrics = {"round": number, **evaluation_metrics(rows, [1, 4], 3), "cost/eval_tokens": 1234}
    if number > 0:
        write_rows(
            round_.proposals,
            [
                proposal(0, f="def f(x: int):\n    return x + 2 == 5"),
                proposal(1, f=None, reason="syntax", text=text),
            ],
        )
        tried = [
            candidate("aa", 0, "def g():\n    return 1 + 2", "passed"),
            candidate("aa", 1, "def g():\n    return 3", "passed"),
            candidate("bb", 0, text, "wrong_answer"),
        ]
        write_rows(round_.candidates, tried if funnel["solved"] else [])
        counts = {f"funnel/{key}": value for key, value in funnel.items()}
        metrics |= counts | {
            "rejected/syntax": 40,
            "rejected/trivial": 10,
            "outcome/passed": 2,
            "outcome/wrong_answer": 1,
        }
        metrics |= {"train/steps": 7, "train/final_loss": 0.5, "cost/judge_fuel": 123456789}
    write_rows(round_.evaluation, rows)
    write_rows(round_.evaluation_candidates, held_out)
    write_json(round_.metrics, metrics)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Two complete rounds: the base model and one of self-training."""
    run = RunDirectory(tmp_path / "run")
    make_round(run, 0)
    make_round(run, 1)
    write_rows(
        run.timings,
        [{"round": 1, "stage": "propose", "shard": i, "seconds": 40.0} for i in range(2)],
    )
    return run


def markdown(run: RunDirectory, *, with_timings: bool = False) -> str:
    write_report(run, with_timings=with_timings)
    return run.report_markdown.read_text(encoding="utf-8")


def page(run: RunDirectory) -> str:
    write_report(run, with_timings=False)
    return run.report_html.read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Collect a page's tags, the text of its pre elements, and whether every element was closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.pre: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "br"}:
            self.open.append(tag)
        if tag == "pre":
            self.pre.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if "pre" in self.open:
            self.pre[-1] += data


def test_the_headline_tells_base_and_last_round_with_intervals(run: RunDirectory) -> None:
    headline = markdown(run).split("\n\n")[1]
    assert re.fullmatch(
        r"\*\*Pass@1 on 24 held-out puzzles rose from 8\.3% \\\[[\d., ]+\\\] to 16\.7% \\\[[\d., ]+\\\] "
        r"between round 0 and round 1: \+8\.3 points \\\[[−\d., +]+\\\], paired p = 0\.\d+\.\*\*",
        headline,
    )


def test_n_temperature_and_the_number_of_families_are_stated(run: RunDirectory) -> None:
    text = markdown(run)
    assert "n = 4 samples a puzzle at temperature 0.8, seed 3" in text
    assert "cluster bootstrap over 2 families" in text


def test_sections_stand_in_the_order_of_the_design(run: RunDirectory) -> None:
    titles = [
        "Pass@k before and after",
        "Contamination",
        "The funnel",
        "Outcomes",
        "Diversity",
        "Difficulty of the generated puzzles",
        "Time a stage",
        "Verbatim",
    ]
    assert re.findall(r"^## (.*)$", markdown(run), re.MULTILINE) == titles
    assert re.findall(r"<h2>(.*)</h2>", page(run)) == titles


def test_two_folders_of_equal_runs_give_the_same_bytes(run: RunDirectory, tmp_path: Path) -> None:
    other = RunDirectory(tmp_path / "a folder of another name")
    make_round(other, 0)
    make_round(other, 1)
    write_rows(other.timings, [{"round": 1, "stage": "propose", "shard": 0, "seconds": 99.0}])
    for each in (run, other):
        write_report(each, with_timings=False)
    assert run.report_html.read_bytes() == other.report_html.read_bytes()
    assert run.report_markdown.read_bytes() == other.report_markdown.read_bytes()


def test_times_are_added_only_where_asked(run: RunDirectory) -> None:
    without, with_timings = markdown(run), markdown(run, with_timings=True)
    assert "Times differ between two runs of the same seed and are kept in timings.jsonl" in without
    assert "| propose | 1 min 20 s |" in with_timings
    assert "1 min 20 s" not in without


def test_the_funnel_gives_counts_with_their_share_of_the_completions(run: RunDirectory) -> None:
    text = markdown(run)
    assert "| Completions | 100 |" in text
    assert "| Non-trivial | 30 (30.0%) |" in text
    assert "| Examples | 15 (1.5 a solved puzzle) |" in text


def test_rejections_come_most_frequent_first_with_shares(run: RunDirectory) -> None:
    assert "| syntax | 40 (80.0%) |\n| trivial | 10 (20.0%) |\n| All | 50 |" in markdown(run)


def test_held_out_outcomes_are_summed_over_puzzles(run: RunDirectory) -> None:
    assert "| wrong\\_answer | 24 (25.0%) | 16 (16.7%) |" in markdown(run)


def test_strata_give_numerators_and_denominators_and_mark_the_small(run: RunDirectory) -> None:
    text = markdown(run)
    assert "| integers | 20 | 7 / 80 | 8.8% | 14 / 80 | 17.5% |" in text
    assert "| strings † | 4 | 1 / 16 | 6.2% | 2 / 16 | 12.5% |" in text
    assert "† fewer than 10 puzzles." in text


def test_known_and_new_families_stand_apart(run: RunDirectory) -> None:
    assert re.search(r"^\| 1, new \| 1 \| 12 \| 16\.7 ", markdown(run), re.MULTILINE)


def test_the_shortest_solution_of_an_accepted_puzzle_is_shown(run: RunDirectory) -> None:
    text = markdown(run)
    assert "aa: 2 of 2 attempts passed" in text
    assert "return 3\n```" in text
    assert "return 1 + 2" not in text


def test_the_greedy_candidate_is_not_counted_among_the_samples(run: RunDirectory) -> None:
    rows = [
        candidate("00", 0, "def g():\n    return 30", "passed", name="add-0"),
        candidate("00", 1, "def g():\n    return 4", "wrong_answer", name="add-0"),
        candidate("00", -1, "def g():\n    return 0", "passed", name="add-0"),
    ]
    write_rows(run.round(1).evaluation_candidates, rows)
    assert "add-0: 1 of 2 attempts passed" in markdown(run)


def test_the_page_holds_no_script_and_no_outside_address(run: RunDirectory) -> None:
    text = page(run)
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", text)
    assert not {"script", "img", "link", "iframe", "object"} & set(Reader(text).tags)


def test_figures_take_their_colours_from_the_page(run: RunDirectory) -> None:
    svgs = re.findall(r"<svg.*?</svg>", page(run), re.DOTALL)
    assert len(svgs) == 3
    assert not re.search(r"#[0-9a-f]{6}", "".join(svgs))


HOSTILE = [
    "</pre></script><script>alert(1)</script>",
    "'\" onload=alert(1) &lt;b&gt; {{ page }} {% raw %}",
    "```\n````\n# not a heading\n<b>`````</b>",
    "\ud800 lone \udfff",
    "bell \x07 null \x00 escape \x1b[31m return \r next \x85 \u2028 \u202e turned \ufffe",
    "x" * 1_000_000,
    "\n" * 10_000,
]


def verbatim_page(folder: Path, text: str) -> Page:
    """Give what a report shows of the models' words, for a run that wrote `text` everywhere."""
    run = RunDirectory(folder)
    make_round(run, 0, text=text)
    make_round(run, 1, text=text)
    return Page("", (), (verbatim_section(read_run(run), run),))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_leaves_the_page_whole(text: str, tmp_path: Path) -> None:
    reader = Reader(to_html(verbatim_page(tmp_path, text)))
    assert reader.open == []
    assert "script" not in reader.tags
    assert "b" not in reader.tags
    assert sum(pre.strip("\n") == passage("", text).text.strip("\n") for pre in reader.pre) >= 3


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_within_its_fence(text: str, tmp_path: Path) -> None:
    tokens = MarkdownIt("commonmark").parse(to_markdown(verbatim_page(tmp_path, text)))
    fences = [token.content for token in tokens if token.type == "fence"]
    assert fences.count(passage("", text).text + "\n") >= 3
    assert sum(token.tag == "h1" for token in tokens if token.type == "heading_open") == 1
    assert not any(token.type.startswith("html") for token in tokens)


def test_all_hostile_texts_together_are_written(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    make_round(run, 0, text="\n".join(HOSTILE))
    make_round(run, 1, text="".join(reversed(HOSTILE)))
    assert Reader(page(run)).open == []
    assert "of 1,010,189 characters are shown." in markdown(run)


def test_memory_does_not_grow_with_the_candidates(tmp_path: Path) -> None:
    peaks = []
    for num_puzzles in (200, 4000):
        run = RunDirectory(tmp_path / str(num_puzzles))
        make_round(run, 0)
        make_round(run, 1)
        rows = (
            candidate(str(i // 2), i, f"def g():\n    return {i}" + " " * 500, "raised")
            for i in range(num_puzzles)
        )
        write_rows(run.round(1).candidates, rows)
        read = read_run(run)
        tracemalloc.start()
        verbatim_section(read, run)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_of_a_hundred_ks_the_tables_show_the_first_the_powers_of_ten_and_the_last() -> None:
    metrics = {f"eval/pass@{k}": 0.5 for k in range(1, 129)}
    run = Run(0, 0, "m", 0.8, (Round(0, metrics, ()),), ())
    assert run.shown_ks == (1, 10, 100, 128)


def test_a_hostile_name_breaks_neither_table_nor_heading() -> None:
    name = "a|b `c` <script> \ud800\n# d"
    table = Table("Caption", (name, "n"), ((name, "1"),))
    text = to_markdown(
        Page(name, (), (Section(name, (table, Verbatim(name, (passage(name, "x"),)))),))
    )
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2", "h4"]
    assert sum(token.type == "td_open" for token in tokens) == 2
    text.encode("utf-8")


def test_a_long_line_is_shortened_and_says_so() -> None:
    shown = passage("solution", "x" * 1_000_000)
    assert len(shown.text) == MAX_CHARACTERS
    assert shown.note == "Shortened: 1,500 of 1,000,000 characters are shown."


def test_a_backtick_in_a_paragraph_is_code_on_both() -> None:
    assert "Run `selftrain report` again\\*." in to_markdown(
        Page("", (), (Section("", (Paragraph("Run `selftrain report` again*."),)),))
    )


def test_a_run_with_the_base_model_alone_is_reported(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    make_round(run, 0, rounds=3)
    text = markdown(run)
    assert "Pass@1 of the base model on 24 held-out puzzles is 8.3%" in text
    assert "This run is not finished: 0 of 3 rounds are complete." in text
    assert "No round of self-training is complete yet." in text


def test_a_run_without_a_complete_round_says_so(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.config.write_text(CONFIG.format(rounds=3), encoding="utf-8")
    assert "No round of this run is complete yet" in markdown(run)
    assert final_table(run) == "No round is complete yet."


def test_a_round_under_way_is_named_and_its_rejections_are_shown(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    make_round(run, 0, rounds=3)
    write_rows(run.round(1).proposals, [proposal(1, f=None, reason="no_return", text="def f(x")])
    text = markdown(run)
    assert "Round 1 was begun and is not counted here." in text
    assert "no\\_return: 001-000001" in text


def test_a_round_in_which_nothing_survived_is_reported(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    make_round(run, 0)
    make_round(run, 1, funnel=dict.fromkeys(FUNNEL, 0))
    text = markdown(run)
    assert "| Solved | 0 |" in text
    assert "each with its shortest solution\n\nNone." in text


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no config\.yaml\. Is it a run directory\?"):
        write_report(RunDirectory(tmp_path), with_timings=False)


def test_the_final_table_is_aligned_and_tells_each_round(run: RunDirectory) -> None:
    *lines, stated = final_table(run).splitlines()
    assert stated == "24 held-out puzzles, n = 4 samples each"
    assert [line.split()[0] for line in lines] == ["round", "0", "1"]
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == [
        "round",
        "Pass@1",
        "%",
        "[95%]",
        "Pass@4",
        "%",
        "greedy",
        "%",
        "kept",
        "pairs",
    ]
    assert lines[1].endswith("33.3      16.7           -")
    assert lines[2].endswith("33.3      16.7          15")


def test_a_reservoir_gives_each_row_the_same_chance() -> None:
    drawn = [0] * 20
    for seed in range(4000):
        reservoir: Reservoir[int] = Reservoir(5, seed)
        for item in range(20):
            reservoir.add(item)
        for item in reservoir.kept:
            drawn[item] += 1
    assert drawn == pytest.approx([1000] * 20, rel=0.15)


def test_candidates_are_read_one_puzzle_at_a_time() -> None:
    read: list[int] = []

    def rows() -> Any:
        for index in range(6):
            read.append(index)
            yield candidate(str(index // 2), index, "def g(): return 3", "passed")

    next(read_attempts(rows(), "puzzle_id"))
    assert read == [0, 1, 2]


def test_importing_the_report_brings_neither_matplotlib_nor_jinja2() -> None:
    code = (
        "import sys, selftrain.report; print({'matplotlib', 'jinja2', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
