"""The report of a run: report.md and one self-contained report.html, and the table a run ends with.

It reads the run directory alone, so equal runs give equal bytes, whatever their folder is called;
times, which differ, are added only where asked. It judges nothing and runs nothing. A new section
is a function that gives a `Section`.
"""

from selftrain.files import replacing
from selftrain.report.blocks import Page
from selftrain.report.final_table import final_table
from selftrain.report.reading import read_run
from selftrain.run_directory import RunDirectory

__all__ = ["final_table", "write_report"]


def write_report(run: RunDirectory, *, with_timings: bool) -> None:
    """Write report.md and report.html of a run, finished or not.

    Raises UsageError where the folder holds no run.
    """
    # Imported here: a run's last table needs neither the drawings nor the template.
    from selftrain.report.html import to_html
    from selftrain.report.markdown import to_markdown

    page = make_page(run, with_timings=with_timings)
    for path, text in ((run.report_markdown, to_markdown(page)), (run.report_html, to_html(page))):
        with replacing(path) as file:
            file.write(text)


def make_page(directory: RunDirectory, *, with_timings: bool) -> Page:
    """Gather what the report says, in its order."""
    from selftrain.report.choices import choices_section
    from selftrain.report.contamination import contamination_section
    from selftrain.report.difficulty import difficulty_section
    from selftrain.report.diversity import diversity_section
    from selftrain.report.pass_at_k import facts, headline, pass_at_k_section
    from selftrain.report.refinement import refinement_section
    from selftrain.report.stages import cost_section, funnel_section, outcomes_section
    from selftrain.report.verbatim import verbatim_section
    from selftrain.report.verifier import verifier_section

    run = read_run(directory)
    sections = (
        pass_at_k_section(run),
        contamination_section(run, directory),
        choices_section(run, directory),
        funnel_section(run),
        outcomes_section(run),
        refinement_section(run),
        verifier_section(run, directory),
        diversity_section(run, directory),
        difficulty_section(run, directory),
        cost_section(run, directory, with_timings=with_timings),
        verbatim_section(run, directory),
    )
    there = tuple(section for section in sections if section is not None)
    return Page(headline(run), facts(run), there)
