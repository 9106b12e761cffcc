"""The report as one self-contained page: no script, no outside address, light and dark."""

import re
from pathlib import Path

from selftrain.report.blocks import Page
from selftrain.report.verbatim import visible


def to_html(page: Page) -> str:
    """Set the page by its template, which escapes everything but our own drawings."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.tests["a"] = lambda block, name: type(block).__name__ == name
    # A no-break space holds an interval together.
    environment.filters["pieces"] = lambda text: re.sub(
        r"\[([\d.]+), ([\d.]+)\]", "[\\1,\u00a0\\2]", text
    ).split("`")
    return environment.get_template("page.html.j2").render(page=page)


def _visible(value: object) -> object:
    """Keep lone surrogates and control characters of names and labels out of the file."""
    return visible(value) if type(value) is str else value
