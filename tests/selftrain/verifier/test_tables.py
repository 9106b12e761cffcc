"""Tables: how a gold result may be written, and when two are equal."""

import pytest

from selftrain.verifier.tasks.tables import as_table, same_table


@pytest.mark.parametrize(
    ("gold", "table"),
    [
        ("18", "[(18,)]"),
        ("['a', 2.5, None]", "[('a',), (2.5,), (None,)]"),
        ("[['a', 1], ('b', 2)]", "[('a', 1), ('b', 2)]"),
        ("(1, 'a')", "[(1, 'a')]"),
        ("[]", "[]"),
        ("{1: 2}", None),
        ("[[[1]]]", None),
        ("Ulm", None),
    ],
)
def test_a_short_gold_result_is_a_table(gold: str, table: str | None) -> None:
    assert as_table(gold) == table


def test_tables_are_equal_by_their_cells_and_multiplicities() -> None:
    assert same_table("[(1, None), ('a', 2.0)]", "[('a', 2), (1.0, None)]", ordered=False)
    assert not same_table("[(1,), (1,), (2,)]", "[(1,), (2,), (2,)]", ordered=False)
    assert not same_table("[(1,), (1,)]", "[(1,)]", ordered=False)
    assert not same_table("[('1',)]", "[(1,)]", ordered=False)
    assert not same_table("[(b'a',)]", "[('a',)]", ordered=False)
    rows = [(i,) for i in range(5)]
    assert not same_table(str([*rows, (6,)]), str([*rows, (7,)]), ordered=False)
    assert not same_table("ERROR: raised", "ERROR: raised", ordered=False)
