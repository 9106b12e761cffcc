"""What is shown of an ablation: a table, a plot, the comparisons, and what arms trained on.

The tables are laid out in tables.py and data_tables.py; how pages look is said in the package
report.
"""

import textwrap
from collections.abc import Iterator, Sequence

from selftrain.ablation.arms import UNVERIFIED, VERIFIED
from selftrain.ablation.chart import draw_arms
from selftrain.ablation.data_tables import data_tables
from selftrain.ablation.directory import AblationDirectory
from selftrain.ablation.results import Result
from selftrain.ablation.tables import arms_table, compared, comparisons_table, sentence
from selftrain.config import Config
from selftrain.files import Row, read_json, replacing
from selftrain.held_out import held_out_text
from selftrain.report.blocks import Figure, Page, Paragraph, Section, plain
from selftrain.report.columns import shown_ks
from selftrain.report.html import to_html
from selftrain.report.markdown import to_markdown
from selftrain.report.text_table import text_table
from selftrain.statistics import NUM_REPLICATES

MOST_COLUMNS = 4
"""Tables and the plot have room for no more k than these, beside the comparisons."""
_HOW_COMPARED = (
    "Differences are paired by puzzle and seed; each interval is a bootstrap over families, "
    "puzzles and seeds. p is of a two-sided permutation test that flips whole families, on means "
    "over seeds; p (Holm) is corrected over the arms that one reference is compared with. The last "
    "column is the true difference that such a test would find four times in five."
)


def write_pages(directory: AblationDirectory, config: Config, results: Sequence[Result]) -> None:
    """Write ablation.md and ablation.html."""
    page = make_page(directory, config, results)
    texts = {directory.report_markdown: to_markdown(page), directory.report_html: to_html(page)}
    for path, text in texts.items():
        with replacing(path) as file:
            file.write(text)


def terminal_text(results: Sequence[Result], ks: Sequence[int]) -> str:
    """Lay out the table, and a line a comparison, for a terminal."""
    shown = shown_ks(ks, MOST_COLUMNS)
    table = arms_table(results, shown)
    lines = [text_table([table.columns, *table.rows]), "", textwrap.fill(table.note, 100), ""]
    lines += [sentence(result, against, shown[0]) for result, against in compared(results)]
    return "\n".join(lines).rstrip()


def make_page(directory: AblationDirectory, config: Config, results: Sequence[Result]) -> Page:
    """Gather what the page says, in its order."""
    ks = shown_ks(config.evaluate.k, MOST_COLUMNS)
    figure = Figure("Pass@k of each arm, with 95% intervals.", draw_arms(results, ks))
    sections = [Section("Arms", (arms_table(results, ks), figure))]
    if any(result.against for result in results):
        tables = [comparisons_table(results, k, folded=k != ks[0]) for k in ks]
        sections.append(Section("Comparisons", (*tables, Paragraph(_HOW_COMPARED))))
    seeds = [row["seed"] for row in results[0].by_seed]
    pool_seeds = [config.seed] if config.ablate.pool == "shared" else seeds
    if data := data_tables(directory, results, pool_seeds):
        sections.append(Section("What arms trained on", data))
    facts = tuple(_facts(config, results, read_json(directory.run.provenance)))
    return Page(_headline(results, ks[0]), facts, tuple(sections), "Ablation")


def _headline(results: Sequence[Result], k: int) -> str:
    """Say how verified compares with unverified; else the first comparison there is."""
    found = sorted(compared(results), key=lambda one: one[0].arm.data != VERIFIED)
    if found:
        return sentence(*found[0], k)
    return f"Pass@{k} of {len(results)} arms; none of them is compared with another."


def _facts(config: Config, results: Sequence[Result], made_with: Row) -> Iterator[str]:
    estimate = results[0].pass_at_k[config.evaluate.k[0]]
    seeds = ", ".join(str(row["seed"]) for row in results[0].by_seed)
    measured = held_out_text(estimate.num_puzzles, made_with)
    yield (
        f"Base model {plain(config.model.name)}; {measured}, "
        f"n = {estimate.num_samples} samples a puzzle at temperature "
        f"{config.evaluate.temperature:g}, drawn by the same numbers in every arm. Pass@k is the "
        f"unbiased estimator, averaged over seeds ({seeds})."
    )
    yield (
        f"Intervals are 95%, by bootstrap over {estimate.num_clusters} families (a puzzle without "
        f"one counts as its own), the puzzles within, and seeds, {NUM_REPLICATES:,} replicates."
    )
    unverified = any(UNVERIFIED in result.arm.kinds for result in results)
    by_rate = config.curate.drop_always_solved or config.curate.choose == "middle_first"
    if unverified and by_rate:
        yield (
            "Unverified pairs are drawn without a look at their verdicts: none is left out or put "
            "first by its puzzle's solve rate (curate.drop_always_solved, curate.choose)."
        )
    missing = config.ablate.num_seeds - len(results[0].by_seed)
    if missing:
        yield f"This ablation is not finished: {missing} of {config.ablate.num_seeds} seeds miss."
