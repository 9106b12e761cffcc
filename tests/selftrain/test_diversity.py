"""Diversity: known pools have known measures, a collapse is told, and a round is measured once."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import log2
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from puzzles import Puzzle
from puzzles.normal import shape
from puzzles.puzzle import puzzle_from_source
from selftrain.cli import main
from selftrain.config import DiversityConfig
from selftrain.diversity import Diversity, measure_diversity, read_diversity
from selftrain.diversity.kinds import Kinds, kinds_of, variety, variety_at
from selftrain.diversity.layout import lay_out
from selftrain.diversity.syntax import SyntaxVariety
from selftrain.diversity.vectors import directions, mean_distance, nearest_distance
from selftrain.errors import UsageError
from selftrain.files import Row, write_json, write_rows
from selftrain.report.blocks import Page, Verbatim
from selftrain.report.diversity import diversity_section, diversity_table
from selftrain.report.markdown import to_markdown
from selftrain.report.reading import read_run
from selftrain.run_directory import RoundDirectory, RunDirectory

SETTINGS = DiversityConfig()
TRAIN = [puzzle_from_source("def f(x: int):\n    return x + 1 == 3", name="add-1")]
OPERATORS = ("-", "*", "//", "%", "**", "|", "&", "^", "<<", ">>")
FAMILIES = [
    f"def f(x: int):\n    return {{}} {a} x {b} 2 == 7" for a in OPERATORS for b in OPERATORS
]
"""A hundred families, none of them in TRAIN."""


def family(number: int, constant: int = 5) -> str:
    return FAMILIES[number].format(constant)


def by_letters(texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed a text by how often it has each character: no model, and equal for equal texts."""
    rows = [[text.count(chr(code)) for code in range(32, 127)] for text in texts]
    return np.array(rows, dtype=np.float32)


def propose(here: RoundDirectory, definitions: Sequence[str | None]) -> RoundDirectory:
    """Write a round's proposals; None is a completion that no definition was cut from."""
    rows: list[Row] = [
        {
            "id": f"{here.number:03d}-{index:06d}",
            "text": "raw",
            "f": f,
            "puzzle_id": None,
            "rejection": {"reason": "duplicate" if f else "syntax", "detail": ""},
        }
        for index, f in enumerate(definitions)
    ]
    write_rows(here.proposals, rows)
    return here


def measured(
    tmp_path: Path,
    *rounds: Sequence[str | None],
    embed: object = by_letters,
    train: Sequence[Puzzle] = TRAIN,
    config: DiversityConfig = SETTINGS,
) -> list[Diversity]:
    """Measure some rounds, one after the other."""
    run = RunDirectory(tmp_path)
    done: list[RoundDirectory] = [run.round(0)]
    for number, definitions in enumerate(rounds, start=1):
        here = propose(run.round(number), definitions)
        measure_diversity(here, done, train, config, embed, seed=3)  # type: ignore[arg-type]
        done.append(here)
    return [read_diversity(here.diversity) for here in done[1:]]


def test_equal_puzzles_have_no_entropy_and_one_effective_kind(tmp_path: Path) -> None:
    (found,) = measured(tmp_path, [family(0)] * 9)
    assert found.metrics["diversity/num_distinct"] == 1
    assert found.metrics["diversity/distinct_share"] == round(1 / 9, 6)
    assert found.metrics["diversity/family_bits"] == 0
    assert found.metrics["diversity/effective_families"] == 1
    assert found.metrics["diversity/effective_syntax"] == 1
    assert found.metrics["diversity/mean_distance"] == 0


@pytest.mark.parametrize("num_families", [2, 5, 8])
def test_equally_frequent_families_are_as_many_effective_ones(
    tmp_path: Path, num_families: int
) -> None:
    (found,) = measured(tmp_path, [family(i) for i in range(num_families)] * 3)
    assert found.metrics["diversity/num_families"] == num_families
    assert found.metrics["diversity/effective_families"] == num_families
    assert found.metrics["diversity/family_bits"] == round(log2(num_families), 6)


def test_names_and_layout_make_no_other_normal_form_and_constants_no_other_family(
    tmp_path: Path,
) -> None:
    (found,) = measured(
        tmp_path,
        [
            "def f(x: int):\n    return x * 2 == 8",
            "def f(y: int):\n    return (y*2) == 8",
            "def f(x: int):\n    return x * 3 == 9",
        ],
    )
    assert found.metrics["diversity/num_distinct"] == 2
    assert found.metrics["diversity/num_families"] == 1


def test_only_definitions_count_whatever_the_filter_says_of_them(tmp_path: Path) -> None:
    (found,) = measured(tmp_path, [None, family(0), None, family(0), family(1)])
    assert found.metrics["diversity/num_definitions"] == 3
    assert (found.normal_forms, found.families) == (Kinds((1, 2), (1, 1)), Kinds((1, 2), (1, 1)))


def test_a_text_that_nests_too_deep_counts_as_itself(tmp_path: Path) -> None:
    deep = "def f(x: int):\n    return " + "-" * 150 + "x == 1"
    (found,) = measured(tmp_path, [deep, deep, family(0)])
    assert found.metrics["diversity/num_distinct"] == 2
    assert found.metrics["diversity/num_families"] == 2


def test_what_the_filter_noted_of_a_kept_puzzle_is_its_normal_form(tmp_path: Path) -> None:
    here = RunDirectory(tmp_path).round(1)
    puzzle = puzzle_from_source(family(0), name="1")
    kept: Row = {"id": "1", "f": puzzle.f, "puzzle_id": puzzle.id}
    write_rows(here.proposals, [kept, {"id": "2", "f": puzzle.f, "puzzle_id": None}])
    metrics = measure_diversity(here, [], TRAIN, SETTINGS, None, 3)
    assert metrics["diversity/num_distinct"] == 1


def test_a_round_that_repeats_an_earlier_one_is_not_novel(tmp_path: Path) -> None:
    first = [family(i) for i in range(20)]
    _, other, again = measured(tmp_path, first, [family(33), family(44)], first[5:15])
    assert other.metrics["diversity/novelty"] == 1
    assert other.metrics["diversity/nearest_distance"] > 0
    assert again.metrics["diversity/novelty"] == 0
    assert again.metrics["diversity/num_new_families"] == 0
    assert again.metrics["diversity/nearest_distance"] == 0
    assert again.metrics["diversity/beyond_train"] == 1


def test_instances_of_a_train_family_are_not_novel(tmp_path: Path) -> None:
    (found,) = measured(tmp_path, ["def f(n: int):\n    return n + 70 == 30", family(0)])
    assert found.metrics["diversity/num_new_families"] == 1
    assert found.metrics["diversity/novelty"] == 0.5
    assert found.metrics["diversity/beyond_train"] == 0.5


def test_syntax_tells_an_operator_less_apart_than_another_grammar() -> None:
    def bits(*sources: str) -> float:
        syntax = SyntaxVariety()
        for source in sources:
            syntax.add(shape(source))
        return syntax.bits

    add, times = "def f(x: int):\n    return x + 1 == 3", "def f(x: int):\n    return x * 1 == 3"
    loop = "def f(x: int):\n    for i in range(x):\n        if i > 2: return True\n    return False"
    assert 0 < bits(add, times) < 0.5 * bits(add, loop) < 0.5
    assert bits(add, add, times, times) == pytest.approx(bits(add, times))


def test_puzzles_that_share_no_pair_of_nodes_are_as_many_effective_ones() -> None:
    syntax = SyntaxVariety()
    for source in ("x", "pass", "import a"):
        syntax.add(source)
    # Module-Expr and Expr-Name; Module-Pass; Module-Import and Import-alias.
    assert 2**syntax.bits == pytest.approx(3)


def test_a_smaller_pool_is_the_mean_over_all_its_draws() -> None:
    pool = "aaaabbccd"
    kinds = kinds_of(np.array([4, 2, 2, 1]))
    drawn = [Counter(members) for members in combinations(pool, 4)]
    each = [variety(kinds_of(np.array(list(one.values())))) for one in drawn]
    expected = variety_at(kinds, 4)
    assert expected.num_distinct == pytest.approx(np.mean([one.num_distinct for one in each]))
    assert expected.bits == pytest.approx(np.mean([one.bits for one in each]))


def test_a_pool_at_its_own_size_is_itself() -> None:
    kinds = Kinds((1, 3), (5, 2))
    assert variety_at(kinds, 11) == variety_at(kinds, 99) == variety(kinds)


def test_a_larger_pool_of_the_same_source_is_no_more_varied_at_one_size() -> None:
    small, large = Kinds((3,), (40,)), Kinds((300,), (40,))
    assert variety_at(large, 120).num_distinct < variety(large).num_distinct == 40
    assert variety_at(large, 120).num_distinct == pytest.approx(40, rel=0.1)
    assert variety_at(small, 60).num_distinct < 40


def test_a_collapse_is_told_with_what_fell_and_what_to_do(tmp_path: Path) -> None:
    varied = [family(i % 100, i) for i in range(400)]
    collapsed = [family(i % 3, 1) for i in range(400)]
    before, now = measured(tmp_path, varied, collapsed)
    assert before.warnings == ()
    (line,) = now.warnings
    assert "effective families 100 -> 3 (3%)" in line
    assert "distinct normal forms 400 -> 3 (1%)" in line
    assert "mean distance of embeddings" in line
    assert "propose.temperature" in line and "\n" not in line


def test_an_unchanged_round_is_no_collapse(tmp_path: Path) -> None:
    one = [family(i % 100, i) for i in range(400)]
    assert measured(tmp_path, one, one[::-1])[1].warnings == ()


def test_a_round_of_another_size_is_no_collapse(tmp_path: Path) -> None:
    one = [family(i % 10, i % 20) for i in range(200)]
    smaller, larger = measured(tmp_path, one, one * 20)
    assert larger.metrics["diversity/distinct_share"] < 0.1
    assert smaller.metrics["diversity/distinct_share"] == 0.1
    assert larger.warnings == ()


def test_a_copy_of_the_train_families_is_told(tmp_path: Path) -> None:
    train = [puzzle_from_source(family(i), name=f"{i}") for i in range(50, 100)]
    new = [family(i % 50, i) for i in range(400)]
    copied = [family(50 + i % 50, i) for i in range(400)]
    _, now = measured(tmp_path, new, copied, train=train)
    assert "share beyond the train families 1 -> 0 (0%)" in now.warnings[0]


def test_few_definitions_are_not_compared(tmp_path: Path) -> None:
    varied = [family(i) for i in range(99)]
    assert measured(tmp_path, varied, [family(0)] * 99)[1].warnings == ()


def test_a_measured_round_is_not_measured_again(tmp_path: Path) -> None:
    here = propose(RunDirectory(tmp_path).round(1), [family(0), family(1)])
    metrics = measure_diversity(here, [], TRAIN, SETTINGS, by_letters, 3)
    here.proposals.unlink()
    assert measure_diversity(here, [], TRAIN, SETTINGS, None, 3) == metrics


def test_a_killed_measurement_ends_with_the_same_bytes(tmp_path: Path) -> None:
    rounds = [[family(i) for i in range(30)], [family(i, 8) for i in range(10, 60)]]
    measured(tmp_path / "a", *rounds)
    measured(tmp_path / "b", *rounds)
    # Killed after the vectors were written, with half a file beside them.
    here = RunDirectory(tmp_path / "b").round(2)
    here.diversity.rename(here.diversity.with_name("2-diversity.json.unfinished"))
    measured(tmp_path / "b", *rounds)
    for number in (1, 2):
        a, b = (RunDirectory(tmp_path / name).round(number) for name in "ab")
        assert a.diversity.read_bytes() == b.diversity.read_bytes()
        assert a.vectors.read_bytes() == b.vectors.read_bytes()


def test_without_embeddings_all_else_is_measured(tmp_path: Path) -> None:
    off = DiversityConfig(embeddings=False)
    (found,) = measured(tmp_path, [family(0), family(1)], config=off)
    assert found.metrics["diversity/num_families"] == 2
    assert "diversity/mean_distance" not in found.metrics
    assert found.points == ()


def test_a_round_without_a_definition_is_measured(tmp_path: Path) -> None:
    (found,) = measured(tmp_path, [None, None])
    assert found.metrics["diversity/num_definitions"] == 0
    assert found.metrics["diversity/novelty"] == 0
    assert {point.round for point in found.points} == {0}


def test_at_most_so_many_puzzles_are_embedded_and_repeats_keep_their_share(tmp_path: Path) -> None:
    asked: list[Sequence[str]] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.append(texts)
        return by_letters(texts)

    few = DiversityConfig(max_embedded=300)
    rounds = [[family(0)] * 900 + [family(1)] * 100, [family(2)]]
    measured(tmp_path, *rounds, embed=embed, config=few)
    counts = Counter(asked[0])
    assert counts.total() == 301  # and the train puzzle
    assert 240 < counts[family(0)] < 300
    assert asked[1] == [family(2)]  # no round is embedded twice


def test_distances_of_known_vectors_are_known() -> None:
    rows = directions(np.array([[2, 0], [0, 3], [5, 0]], dtype=np.float32))
    assert mean_distance(rows) == pytest.approx(2 / 3)
    assert nearest_distance(rows, [rows[:1]]) == pytest.approx(1 / 3)
    assert nearest_distance(rows, [rows[:1], rows[1:]]) == 0


def test_the_map_shows_train_and_every_round_so_far(tmp_path: Path) -> None:
    _, last = measured(tmp_path, [family(i) for i in range(5)], [family(i) for i in range(7)])
    assert Counter(point.round for point in last.points) == {0: 1, 1: 5, 2: 7}
    assert {point.name for point in last.points if point.round == 0} == {"add-1"}


def test_the_map_keeps_distances_in_a_plane_whichever_way_the_axes_were_found() -> None:
    plane = np.array([[0, 0, 0], [4, 0, 0], [0, 2, 0], [4, 2, 0]], dtype=np.float32)
    expected = [[-2, -1], [2, -1], [-2, 1], [2, 1]]
    assert lay_out(plane, "pca", 0).tolist() == expected
    # A mirrored cloud has the same axes, up to their signs, which the largest component fixes.
    assert lay_out(-plane, "pca", 0).tolist() == [[-x or 0, -y or 0] for x, y in expected]


def test_umap_that_is_not_installed_is_asked_for_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "umap", None)
    with pytest.raises(UsageError, match="umap-learn"):
        lay_out(np.eye(20, dtype=np.float32), "umap", 0)


def make_run(folder: Path, *rounds: Sequence[str], model: str = "builtin:tiny") -> RunDirectory:
    run = RunDirectory(folder)
    folder.mkdir(parents=True)
    text = f"rounds: {len(rounds)}\nmodel: {{name: '{model}'}}\n"
    run.config.write_text(
        f"seed: 3\n{text}evaluate: {{k: [1], temperature: 0.8}}\n", encoding="utf-8"
    )
    measured(folder, *rounds)
    return run


def test_the_report_warns_and_shows_what_is_repeated(tmp_path: Path) -> None:
    collapsed = ["def f(x: int):\n    return x ** 2 == 64 # `"] * 300
    run = make_run(tmp_path / "run", [family(i % 100, i) for i in range(300)], collapsed)
    write_json(run.round(0).metrics, {"round": 0})
    write_rows(run.round(0).evaluation, [])
    section = diversity_section(read_run(run), run)
    text = to_markdown(Page("", (), (section,)))
    assert "Warning: round 2 is less varied than round 1" in text
    assert "| Effective families | 100.0 | 1.0 |" in text
    shown = [block for block in section.blocks if isinstance(block, Verbatim)]
    assert shown[0].title == "300 (100.0%) of the definitions have this shape"
    assert shown[0].passages[0].text == collapsed[0]


def test_pools_of_different_sizes_are_also_compared_at_the_smallest(tmp_path: Path) -> None:
    small, large = measured(tmp_path, [family(0)] * 10, [family(i % 20) for i in range(400)])
    table = diversity_table({"a": small, "b": large})
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["Families"] == ("1", "20")
    assert rows["Families of 10 definitions"] == ("1", "8")


def test_runs_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(tmp_path / "narrow", [family(0)] * 20)
    make_run(tmp_path / "wide", [family(i) for i in range(20)], [family(i) for i in range(9)])
    page = tmp_path / "page.html"
    folders = [str(tmp_path / "narrow"), str(tmp_path / "wide")]
    assert main(["diversity", *folders, "--output", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["narrow", "1", "wide", "1", "wide", "2"]
    assert "Effective families 1.0 20.0 9.0" in [" ".join(line.split()) for line in lines]
    assert "<svg" in page.read_text(encoding="utf-8")


def test_one_map_of_two_models_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "a", [family(0)])
    make_run(tmp_path / "b", [family(0)], model="some/other")
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert main(["diversity", *folders, "--output", str(tmp_path / "page.html")]) == 2
    assert "different models (a by builtin:tiny, b by some/other)" in capsys.readouterr().err
    assert main(["diversity", *folders]) == 0


def test_a_complete_round_left_unmeasured_is_measured_as_the_run_would_have(
    tmp_path: Path,
) -> None:
    run = make_run(tmp_path / "run", [family(i) for i in range(5)])
    with run.config.open("a", encoding="utf-8") as file:
        file.write("diversity: {embeddings: false}\n")
    here = run.round(1)
    here.diversity.unlink()
    write_json(here.metrics, {"round": 1})
    assert main(["diversity", str(run.path)]) == 0
    assert read_diversity(here.diversity).metrics["diversity/effective_families"] == 5


def test_a_folder_without_a_measured_round_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "run")
    assert main(["diversity", str(tmp_path / "run")]) == 2
    assert main(["diversity", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "no round has proposed puzzles yet" in said and "has no config.yaml" in said
