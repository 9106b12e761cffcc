"""What a query may do and use, watched while SQLite runs it; nothing is opened or run here.

Refused, since two runs of one query must agree: randomness, the time of day (`'now'`, and dates
that leave the date out), the machine's time zone, tables and functions that tell of the engine's
own state. Refused since it is more than reading: any other statement, and virtual tables, those of
FTS among them, since one is made before it is read. Not counted: how long one instruction takes,
which may compare two cells of the longest size; so there is a limit of seconds as well, far beyond
what the instructions of an ordinary query take.
"""

import re
import sqlite3
import time
from dataclasses import dataclass
from functools import partial

from judge import Outcome

Cell = None | int | float | str | bytes

STEP = 100
"""Instructions between two looks at what is spent."""
HARMLESS = frozenset(
    """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce cos cosh count
    cume_dist degrees dense_rank exp first_value floor glob group_concat hex ifnull iif
    instr json json_array json_array_length json_extract json_group_array json_group_object
    json_insert json_object json_patch json_quote json_remove json_replace json_set json_type
    json_valid lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max
    min mod nth_value ntile nullif percent_rank pi pow power quote radians rank replace
    round row_number rtrim sign sin sinh soundex sqrt substr substring sum tan tanh total trim
    trunc typeof unicode unlikely upper zeroblob
    """.split()  # noqa: SIM905
)
"""Functions of SQLite that give the same on the same arguments, and touch nothing else."""
DATES = frozenset(("date", "time", "datetime", "julianday", "unixepoch", "strftime"))
"""Functions that do so unless they are asked for today, or for here."""
FORMATS = frozenset(("format", "printf"))
"""Functions that write a billion characters before they are found to be too many."""
WIDE = re.compile(r"\*|[0-9]{4}")
TODAY_OR_HERE = frozenset(("now", "localtime", "utc", "subsec", "subsecond"))
"""Arguments of dates that do. A time value of `subsec` is now, from SQLite 3.42."""
ENGINE_TABLES = frozenset(("dbstat", "sqlite_stmt", "sqlite_dbpage", "bytecode", "tables_used"))
"""Tables that tell of the engine's state, not of the data."""


@dataclass(frozen=True, slots=True)
class SqlLimits:
    """What one query may use."""

    instructions: int = 50_000_000
    """Instructions of SQLite's virtual machine; about a second of ordinary work."""
    num_rows: int = 10_000
    """Rows of the result."""
    result_bytes: int = 1_000_000
    """Length of the result, as a literal."""
    cell_bytes: int = 100_000
    """Length of one text or blob, also of those that are computed on the way."""
    query_bytes: int = 100_000
    """Length of the query."""
    seconds: float = 20.0
    """A last resort against slow instructions; the one limit that depends on the machine."""


class Refused(Exception):
    """A query went beyond what it may do or use."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


class Guard:
    """Watches one query, and remembers why it was stopped: SQLite's own error tells less."""

    def __init__(self, limits: SqlLimits) -> None:
        self.limits = limits
        self.left = limits.instructions
        self.ends = time.monotonic() + limits.seconds
        self.stopped: Refused | None = None

    def authorize(
        self, action: int, first: str | None, second: str | None, _: object, __: object
    ) -> int:
        """Let a statement read, and call what is harmless."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            return self.allow((first or "").lower() not in ENGINE_TABLES, f"the table {first}")
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            return self.allow(name in HARMLESS | DATES | FORMATS, f"the function {name}")
        return self.allow(False, "a statement that does more than read")

    def allow(self, is_allowed: bool, what: str) -> int:
        """Answer SQLite, and keep what was refused first."""
        if not is_allowed and self.stopped is None:
            self.stopped = Refused(Outcome.forbidden, f"{what} may not be used"[:200])
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    def count(self) -> bool:
        """Count instructions; True stops the query."""
        self.left -= STEP
        if self.left < 0:
            self.stopped = Refused(Outcome.timed_out, "used up its instructions")
        elif time.monotonic() > self.ends:
            self.stopped = Refused(Outcome.timed_out, f"took over {self.limits.seconds:g} seconds")
        return self.stopped is not None

    def call(self, elsewhere: sqlite3.Connection, name: str, *arguments: Cell) -> Cell:
        """Do what SQLite's function of that name does, unless it asks for today or for too much."""
        words = [as_read(argument) for argument in arguments]
        if name in FORMATS:
            if words and WIDE.search(words[0]):
                self.stopped = Refused(Outcome.too_large, f"{name} may not pad to any width")
        elif len(arguments) < (2 if name == "strftime" else 1) or TODAY_OR_HERE & set(words):
            self.stopped = Refused(Outcome.forbidden, f"{name} may not ask for today or for here")
        if self.stopped is not None:
            raise self.stopped
        marks = ", ".join("?" * len(arguments))
        value: Cell = elsewhere.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]
        return value


def as_read(argument: Cell) -> str:
    """Give an argument as SQLite's own functions read text: a blob's bytes, up to the first NUL.

    In lower case and without blanks around, since SQLite compares so or more narrowly.
    """
    text = argument.decode(errors="replace") if isinstance(argument, bytes) else str(argument)
    return text.partition("\0")[0].strip().lower()


def restrict(connection: sqlite3.Connection, guard: Guard, elsewhere: sqlite3.Connection) -> None:
    """Set every bound of a connection; the authorizer last, since it would refuse the others."""
    limits = guard.limits
    for which, most in (
        (sqlite3.SQLITE_LIMIT_LENGTH, limits.cell_bytes),
        (sqlite3.SQLITE_LIMIT_SQL_LENGTH, limits.query_bytes),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500),
        (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 100),
        (sqlite3.SQLITE_LIMIT_VDBE_OP, 1_000_000),
        (sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 0),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    ):
        connection.setlimit(which, most)
    for name in DATES | FORMATS:
        connection.create_function(
            name, -1, partial(guard.call, elsewhere, name), deterministic=True
        )
    connection.set_progress_handler(guard.count, STEP)
    connection.set_authorizer(guard.authorize)
