"""Run a query that a model wrote, on a database that must stay as it is.

The query is a stranger's; the file is trusted. It is opened read-only and immutable, so nobody may
write to it meanwhile, and what still lies in a write-ahead log is not read. What a query may do
and use, sql_guard.py watches. Bounded besides: rows, bytes of the result, all of SQLite's memory
(for the whole process, once a query was run). Not here: which result is right (from_questions.py).
"""

import math
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from judge import Outcome
from selftrain.errors import UsageError
from selftrain.verifier.tasks.results import error_of
from selftrain.verifier.tasks.sql_guard import Cell, Guard, Refused, SqlLimits, restrict

MEMORY_BYTES = 256_000_000
"""What SQLite may allocate in this process. No setting: SQLite lowers it, and never raises it."""
EXPLAIN = re.compile(r"(?is)(?>\s+|--[^\n]*\n|/\*.*?\*/)*+explain\b")
"""A statement that tells how the engine would work; atomic, so that no comment makes it slow."""
NO_DATABASE = frozenset(
    (
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
    )
)
"""Primary codes of errors that no query is to blame for."""


def run_sql(database: Path, query: str, limits: SqlLimits) -> str:
    """Run one query; return the literal of a list of tuples, or `ERROR: reason`.

    Cells are None, int, float, str (what is no UTF-8 in it as lone surrogates) or bytes. Rows come
    in SQLite's order. Raises UsageError where there is no such database; that is no result.
    """
    with opened(database) as connection:
        try:
            rows = fetch(connection, query, limits)
        except Refused as refused:
            return error_of(refused.outcome, refused.detail)
        except sqlite3.DatabaseError as error:
            # Of a query that was fine; a file that is damaged in the middle, say.
            raise no_database(database, error) from None
    return "[" + ", ".join(rows) + "]"


def schema_of(database: Path) -> str:
    """Return the CREATE TABLE texts, a paragraph each, in the order they were made.

    Raises UsageError where there is no such database.
    """
    texts = "SELECT sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL ORDER BY rowid"
    with opened(database) as connection:
        try:
            return "\n\n".join(text for (text,) in connection.execute(texts))
        except sqlite3.DatabaseError as error:
            raise no_database(database, error) from None


@contextmanager
def opened(database: Path) -> Iterator[sqlite3.Connection]:
    """Open a file that is there and is a database, so that nothing can write to it."""
    refuse_no_file(database)
    address = f"file:{quote(bytes(database.absolute()))}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise no_database(database, error) from None
    with closing(connection):
        try:
            # The first that reads the file. The rest keeps sorting in memory, where it is bounded.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA hard_heap_limit = {MEMORY_BYTES}")
        except sqlite3.Error as error:
            raise no_database(database, error) from None
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        yield connection


def refuse_no_file(database: Path) -> None:
    """Refuse what SQLite would wait for, as it does for a pipe, or take for an empty database."""
    try:
        status = database.stat()
    except OSError as error:
        raise no_database(database, error.strerror) from None
    except ValueError:  # a NUL or half a surrogate pair
        raise no_database(database, "no file can have this name") from None
    if not stat.S_ISREG(status.st_mode):
        raise no_database(database, "it is no regular file")
    if status.st_size < 2:  # SQLite takes one byte for none
        raise no_database(database, "it is empty")


def no_database(database: Path, reason: object) -> UsageError:
    """Say that a file is missing or is no database."""
    # The name is a row's, and may be what no terminal can show.
    name = str(database).encode(errors="backslashreplace").decode()
    return UsageError(f"{name}: this is no SQLite database that can be read ({reason}).")


def fetch(connection: sqlite3.Connection, query: str, limits: SqlLimits) -> list[str]:
    """Return the literals of the rows. Raises Refused, and DatabaseError for a damaged file."""
    guard = Guard(limits)
    if EXPLAIN.match(query):
        raise Refused(Outcome.forbidden, "EXPLAIN may not be used")
    with closing(sqlite3.connect(":memory:")) as elsewhere:
        restrict(connection, guard, elsewhere)
        try:
            cursor = connection.execute(query)
            if cursor.description is None:  # empty, or a REINDEX of nothing
                raise Refused(Outcome.syntax_error, "no query that gives rows")
            return bounded(cursor, limits)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
            raise guard.stopped or refusal(error) from None


def bounded(cursor: sqlite3.Cursor, limits: SqlLimits) -> list[str]:
    """Read a result row by row, as long as it is within the limits."""
    rows: list[str] = []
    size = 0
    for row in cursor:
        # Before they are written out, which may take four times as much.
        cells = sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        rows.append(literal(row) if cells <= limits.result_bytes else "")
        size += max(cells, len(rows[-1]))
        if len(rows) > limits.num_rows:
            raise Refused(Outcome.too_large, f"the result has over {limits.num_rows:,} rows")
        if size > limits.result_bytes:
            raise Refused(Outcome.too_large, f"the result has over {limits.result_bytes:,} bytes")
    return rows


def literal(row: tuple[Cell, ...]) -> str:
    """Write a row as the judge writes a tuple."""
    cells = [
        f"float('{cell}')" if isinstance(cell, float) and not math.isfinite(cell) else repr(cell)
        for cell in row
    ]
    return f"({cells[0]},)" if len(cells) == 1 else f"({', '.join(cells)})"


def refusal(error: Exception) -> Refused:
    """Say what SQLite, or Python on its behalf, has against a query; raise what is no query's."""
    detail = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return Refused(Outcome.out_of_memory, f"wanted over {MEMORY_BYTES:,} bytes")
    if isinstance(error, sqlite3.DataError) or "too big" in detail:
        return Refused(Outcome.too_large, detail)
    # Several statements, an open parameter, a NUL or a lone surrogate: Python alone tells these.
    if isinstance(error, (sqlite3.Warning, sqlite3.ProgrammingError, ValueError)):
        return Refused(Outcome.syntax_error, detail)
    assert isinstance(error, sqlite3.Error)
    if error.sqlite_errorcode & 0xFF in NO_DATABASE:
        raise error
    is_syntax = re.search("syntax error|incomplete input|unrecognized token", detail)
    return Refused(Outcome.syntax_error if is_syntax else Outcome.raised, detail)
