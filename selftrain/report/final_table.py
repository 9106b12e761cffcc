"""The table a run ends with on the terminal: plain text, aligned."""

from selftrain.held_out import held_out_text
from selftrain.report.blocks import count, interval, percent
from selftrain.report.reading import read_run
from selftrain.report.text_table import text_table
from selftrain.run_directory import RunDirectory


def final_table(directory: RunDirectory) -> str:
    """Lay out the rounds: Pass@k at smallest k with its interval, the largest, greedy, pairs."""
    run = read_run(directory)
    if not run.ks:
        return "No round is complete yet."
    smallest, largest = run.ks[0], run.ks[-1]
    # With one k alone, one column says it.
    larger = [largest] if largest != smallest else []
    titles = [f"Pass@{k} %" for k in larger]
    rows = [("round", f"Pass@{smallest} % [95%]", *titles, "greedy %", "kept pairs")]
    for round_ in run.rounds:
        metrics = round_.metrics
        rows.append(
            (
                round_.name,
                interval(*(metrics[f"eval/pass@{smallest}{end}"] for end in ("", "_low", "_high"))),
                *(percent(metrics[f"eval/pass@{k}"]).rstrip("%") for k in larger),
                percent(metrics["eval/greedy"]).rstrip("%") if "eval/greedy" in metrics else "-",
                count(metrics["funnel/examples"]) if round_.number else "-",
            )
        )
    last = run.rounds[-1].metrics
    stated = (
        f"{held_out_text(last['eval/num_puzzles'], run.made_with)}, "
        f"n = {last['eval/num_samples']} samples each"
    )
    lines = [text_table(rows), stated]
    if best := run.best_on_dev:
        rate = percent(best.dev_rate(smallest) or 0.0)
        lines.append(f"best on the dev puzzles: round {best.name}, Pass@{smallest} {rate} there")
    return "\n".join(lines)
