"""A query of a stranger's: what it reads, what it may not do, and what it may use."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from selftrain.errors import UsageError
from selftrain.verifier.tasks.sql import run_sql, schema_of
from selftrain.verifier.tasks.sql_guard import SqlLimits

LIMITS = SqlLimits(instructions=1_000_000)
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
DOUBLED = ", ".join(f"t{i} AS (SELECT x.a FROM t{i - 1} x, t{i - 1} y)" for i in range(1, 25))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sql") / "what? #1 100%.sqlite"
    with sqlite3.connect(f"file:{quote(bytes(path))}?mode=rwc", uri=True) as connection:
        connection.execute("CREATE TABLE town (name TEXT, people INT, area REAL, flag BLOB)")
        rows = [("Rom", 2_800_000, 1285.0, b"\xff\x00"), ("Ulm", 126_000, 118.7, None)]
        connection.executemany("INSERT INTO town VALUES (?, ?, ?, ?)", rows)
        connection.execute("CREATE TABLE many (x INT)")
        connection.executemany("INSERT INTO many VALUES (?)", [(i,) for i in range(1000)])
        connection.execute("CREATE VIEW today AS SELECT date('now')")
    connection.close()
    return path


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("SELECT * FROM town", "[('Rom', 2800000, 1285.0, b'\\xff\\x00'), ('Ulm', 126000, 118.7, None)]"),
        ("SELECT name FROM town WHERE people < 0", "[]"),
        ("SELECT count(*), 1e999, -1e999, 1e999 - 1e999 FROM many;", "[(1000, float('inf'), float('-inf'), None)]"),
        ("SELECT CAST(x'fe41' AS TEXT)", "[('\\udcfeA',)]"),
        ("SELECT strftime('%Y', '2001-02-03'), date('2001-02-28', '+1 day')", "[('2001', '2001-03-01')]"),
        ("SELECT date(x'323030312d30322d3033'), date(0, 'unixepoch'), date(NULL)", "[('2001-02-03', '1970-01-01', None)]"),
        ("SELECT printf('%.2f %d%%', 2.5, 3), format('%5s', 'a')", "[('2.50 3%', '    a')]"),
        ("WITH big AS (SELECT x FROM many WHERE x > 997) SELECT sum(x) OVER (ORDER BY x) FROM big", "[(998,), (1997,)]"),
        ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 3) SELECT n FROM r", "[(1,), (2,), (3,)]"),
        ("VALUES (1, 'a;b') -- ; no second one", "[(1, 'a;b')]"),
    ],
)  # fmt: skip
def test_a_query_gives_its_rows_as_a_literal(database: Path, query: str, result: str) -> None:
    assert run_sql(database, query, LIMITS) == result


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("ATTACH '{folder}/other.db' AS other", "forbidden"),
        ("DETACH main", "forbidden"),
        ("PRAGMA journal_mode = DELETE", "forbidden"),
        ("PRAGMA table_info(town)", "forbidden"),
        ("SELECT * FROM pragma_table_info('town')", "forbidden"),
        ("SELECT load_extension('x')", "forbidden"),
        ("SELECT fts3_tokenizer('simple')", "forbidden"),
        ("SELECT * FROM sqlite_stmt", "forbidden"),
        ("SELECT count(*) FROM dbstat", "forbidden"),
        ("SELECT sqlite_version()", "forbidden"),
        ("SELECT random()", "forbidden"),
        ("SELECT name FROM town ORDER BY RANDOM()", "forbidden"),
        ("SELECT hex(randomblob(4))", "forbidden"),
        ("SELECT CURRENT_TIMESTAMP", "forbidden"),
        ("SELECT date()", "forbidden"),
        ("SELECT current_date", "forbidden"),
        ("SELECT Current_Time", "forbidden"),
        ("SELECT time(), datetime()", "forbidden"),
        ("SELECT julianday()", "forbidden"),
        ("SELECT unixepoch()", "forbidden"),
        ("SELECT date('n' || 'ow')", "forbidden"),
        ("SELECT date(' NOW ')", "forbidden"),
        ("SELECT date(x'6e6f77')", "forbidden"),
        ("SELECT julianday(x'4e4f57')", "forbidden"),
        ("SELECT strftime('%s', x'6e6f77')", "forbidden"),
        ("SELECT strftime(x'2573', CAST('now' AS BLOB))", "forbidden"),
        ("SELECT datetime('now' || char(0) || 'x')", "forbidden"),
        ("SELECT unixepoch(x'6e6f7700ff')", "forbidden"),
        ("SELECT time('subsec'), time('subsecond')", "forbidden"),
        ("SELECT datetime(0, 'unixepoch', CAST('LocalTime' AS BLOB))", "forbidden"),
        ("SELECT datetime(0, 'unixepoch', 'utc' || char(0) || '1')", "forbidden"),
        ("SELECT strftime('%Y')", "forbidden"),
        ("SELECT datetime(0, 'unixepoch', 'localtime')", "forbidden"),
        ("SELECT * FROM today", "forbidden"),
        ("EXPLAIN SELECT 1", "forbidden"),
        ("/* a */ -- b\n EXPLAIN QUERY PLAN SELECT 1", "forbidden"),
        ("INSERT INTO town VALUES ('a', 1, 1, 1)", "forbidden"),
        ("DELETE FROM town", "forbidden"),
        ("UPDATE town SET people = 0", "forbidden"),
        ("DROP TABLE town", "forbidden"),
        ("CREATE TABLE a (b)", "forbidden"),
        ("CREATE TEMP TABLE a (b)", "forbidden"),
        ("CREATE TABLE a AS SELECT * FROM town", "forbidden"),
        ("BEGIN IMMEDIATE", "forbidden"),
        ("SAVEPOINT a", "forbidden"),
        ("ANALYZE", "forbidden"),
        ("VACUUM", "forbidden"),
        ("VACUUM INTO '{folder}/copy.db'", "forbidden"),
        ("SELECT 1; SELECT 2", "syntax_error"),
        ("SELECT 1; DROP TABLE town", "syntax_error"),
        ("SELEC name FROM town", "syntax_error"),
        ("SELECT", "syntax_error"),
        ("", "syntax_error"),
        ("-- nothing", "syntax_error"),
        ("REINDEX", "syntax_error"),
        ("SELECT '\udc80'", "syntax_error"),
        ("SELECT 1\0", "syntax_error"),
        ("SELECT size FROM town", "raised"),
        ("SELECT * FROM village", "raised"),
        ("SELECT writefile('{folder}/a', 'b')", "raised"),
        ("SELECT ?", "raised"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "raised"),
        (ENDLESS + "SELECT count(*) FROM r", "timed_out"),
        ("SELECT count(*) FROM many a, many b, many c", "timed_out"),
        ("WITH t0 AS (SELECT 1 AS a), " + DOUBLED + " SELECT count(*) FROM t24", "out_of_memory"),
        (ENDLESS + "SELECT n || hex(zeroblob(40000)) AS a FROM r ORDER BY a", "out_of_memory"),
        (ENDLESS + "SELECT n FROM r", "too_large"),
        ("SELECT zeroblob(1000000000)", "too_large"),
        ("SELECT hex(zeroblob(60000))", "too_large"),
        ("SELECT printf('%.*c', 1000000000, 'x')", "too_large"),
        ("SELECT format('%1000000000d', 1)", "too_large"),
        ("SELECT format(CAST('%1000000000d' AS BLOB), 1)", "too_large"),
        ("SELECT replace(hex(zeroblob(40000)), '0', 'abc')", "too_large"),
        ("SELECT group_concat(hex(zeroblob(1000))) FROM many", "too_large"),
        ("SELECT zeroblob(90000) FROM many", "too_large"),
        ("SELECT " + ", ".join(["zeroblob(90000)"] * 1000), "too_large"),
        ("SELECT " + " " * 200_000 + "1", "too_large"),
    ],
)  # fmt: skip
def test_a_hostile_or_wrong_query_is_an_error_and_changes_nothing(
    database: Path, query: str, kind: str
) -> None:
    before = {path.name: path.read_bytes() for path in database.parent.iterdir()}
    result = run_sql(database, query.replace("{folder}", str(database.parent)), LIMITS)
    assert result.startswith(f"ERROR: {kind}")
    assert "\n" not in result and len(result) < 300
    assert {path.name: path.read_bytes() for path in database.parent.iterdir()} == before


def test_an_error_names_its_reason(database: Path) -> None:
    assert "no such column: size" in run_sql(database, "SELECT size FROM town", LIMITS)
    assert "the function random" in run_sql(database, "SELECT random()", LIMITS)
    few = SqlLimits(num_rows=3)
    assert run_sql(database, "SELECT x FROM many LIMIT 3", few) == "[(0,), (1,), (2,)]"
    assert "over 3 rows" in run_sql(database, "SELECT x FROM many LIMIT 4", few)


def test_a_query_fails_at_the_same_instruction_every_time(database: Path) -> None:
    query = "SELECT count(*) FROM many a, many b"
    ran = [
        run_sql(database, query, SqlLimits(instructions=n))
        for n in (100, 1_000_000, 10_000_000, 1_000_000)
    ]
    assert ran[2] == "[(1000000,)]"
    assert all(result.startswith("ERROR: timed_out") for result in (ran[0], ran[1], ran[3]))


def test_what_is_no_database_is_refused_and_is_no_result(database: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database " * 1000)
    cut = tmp_path / "cut"
    cut.write_bytes(database.read_bytes()[:5000])
    for path in (tmp_path / "none", tmp_path, tmp_path / "text"):
        with pytest.raises(UsageError, match="this is no SQLite database that can be read"):
            run_sql(path, "SELECT 1", LIMITS)
    with pytest.raises(UsageError, match="cut: this is no SQLite database"):
        run_sql(cut, "SELECT * FROM many", LIMITS)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("run", [schema_of, lambda path: run_sql(path, "SELECT 1", LIMITS)])
def test_only_a_regular_file_that_is_not_empty_is_a_database(
    tmp_path: Path, run: Callable[[Path], str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "byte").write_bytes(b"a")
    names = {"pipe": "no regular file", ".": "no regular file", "/dev/zero": "no regular file"}
    names |= {
        "empty": "it is empty",
        "byte": "it is empty",
        "a\0b": "no file can have",
        "\ud800": "no file",
    }
    for name, reason in names.items():
        with pytest.raises(UsageError, match=f"no SQLite database that can be read .*{reason}"):
            run(tmp_path / name)
    with pytest.raises(UsageError, match="File name too long"):
        run(tmp_path / ("a" * 5000))


def test_the_schema_is_what_the_tables_were_made_by(database: Path) -> None:
    assert schema_of(database) == (
        "CREATE TABLE town (name TEXT, people INT, area REAL, flag BLOB)\n\n"
        "CREATE TABLE many (x INT)"
    )
