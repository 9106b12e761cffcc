"""Write rows as Parquet, in batches, a few files a part; memory stays flat while rows stream.

Parquet holds Unicode alone, and a model may write half of a surrogate pair: that is spelt out as an
escape, and counted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selftrain.files import Row

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1_000
"""Rows in memory together."""
FILE_ROWS = 500_000
"""Rows of a file; with texts of a kilobyte it has a few hundred megabytes, as the hub advises."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written of one part."""

    num_rows: int
    num_escaped: int
    """Texts in which something was spelt out that is no Unicode."""
    num_withheld: int = 0
    """Rows that hold a held-out puzzle: left out, or written without their texts."""


def write_parquet(folder: Path, split: str, rows: Iterable[Row], schema: "pa.Schema") -> Written:
    """Write the columns of `schema` into `folder/SPLIT-00000.parquet` and so on.

    Without rows there is no file, since `datasets` cannot read an empty one. Raises
    `pyarrow.ArrowException` where a value is not of its column's type.
    """
    from pyarrow.parquet import ParquetWriter

    rows = iter(rows)
    num_rows = num_escaped = number = 0
    while first := list(islice(rows, 1)):
        folder.mkdir(parents=True, exist_ok=True)
        some = islice(chain(first, rows), FILE_ROWS)
        with ParquetWriter(folder / f"{split}-{number:05d}.parquet", schema) as writer:
            for batch in _batches(some):
                cleaned, escaped = _cleaned(batch, schema.names)
                writer.write_table(_table(cleaned, schema))
                num_rows += len(batch)
                num_escaped += escaped
        number += 1
    return Written(num_rows, num_escaped)


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, BATCH_ROWS)):
        yield batch


def _table(rows: list[Row], schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=schema)


def _cleaned(rows: list[Row], columns: list[str]) -> tuple[list[Row], int]:
    """Take the columns of each row, with texts that can be encoded; count those that could not."""
    num_escaped = 0

    def clean(value: Any) -> Any:
        nonlocal num_escaped
        if isinstance(value, list):
            return [clean(item) for item in value]
        if not isinstance(value, str) or _is_unicode(value):
            return value
        num_escaped += 1
        return value.encode("utf-8", "backslashreplace").decode()

    return [{key: clean(row.get(key)) for key in columns} for row in rows], num_escaped


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
