"""Sensitive columns without SQL: values told apart by their texts, in the order of their size."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.sensitive import fit_sensitive, learned_column, sensitive_codes
from kanon_sql.errors import DataError

BIG = 2**53
NEAR = st.integers(-3, 3).map(lambda step: str(BIG + step))
NUMBERS = st.lists(st.none() | NEAR | st.sampled_from(("-7", "9", "10", "0.25")), max_size=15)


@dataclass(frozen=True)
class Tree:
    """A hierarchy of illnesses."""

    @property
    def levels(self) -> tuple[pa.Array, ...]:
        return tuple(pa.array(level) for level in (
            ["flu", "cold", "gout"], ["cough", "cough", "joint"], ["*", "*", "*"]
        ))


def rows_of(words: list[str | None], numeric: bool, coded: bool = False) -> Rows:
    texts = pa.array(words, pa.string())
    numbers = np.array([np.nan if word is None else float(word) for word in words]
                       if numeric else [])
    cells = CellColumns({0: numbers} if numeric else {},
                        {0: texts.dictionary_encode() if coded else texts})
    return Rows({"secrets": cells}, len(words))


@given(words=NUMBERS, coded=st.booleans())
def test_numbers_that_doubles_do_not_tell_apart_are_in_order(
    words: list[str | None], coded: bool
) -> None:
    rows = rows_of(words, True, coded)
    (column,) = fit_sensitive(rows, [Column("pay", "DECIMAL(38,2)")], {})
    known = sorted({word for word in words if word is not None}, key=Decimal)
    assert column.words == tuple(known) and column.ordered
    assert column.numbers.tolist() == [float(word) for word in known]
    codes = [len(known) if word is None else known.index(word) for word in words]
    assert sensitive_codes(rows, [column])[:, 0].tolist() == codes


def test_several_runs_of_numbers_that_are_one_double() -> None:
    words = ["1", "18014398509481985", "18014398509481984", "9007199254740993", "9007199254740992",
             "9007199254740990", "2"]
    for some in (words, words[1:5], words[1:3]):
        rows = rows_of(list(some), True)
        (column,) = fit_sensitive(rows, [Column("n", "HUGEINT")], {})
        assert column.words == tuple(sorted(some, key=int))


def test_late_moments_are_in_the_order_of_their_texts() -> None:
    words = ["9999-01-01 00:00:00.000002", "9999-01-01 00:00:00.000001", "1999-01-01 00:00:00"]
    cells = CellColumns({0: np.array([9e18, 9e18, 1e15])}, {0: pa.array(words)})
    (column,) = fit_sensitive(Rows({"secrets": cells}, 3), [Column("at", "TIMESTAMP")], {})
    assert column.words == tuple(sorted(words))


@pytest.mark.parametrize("coded", [False, True])
def test_texts_are_in_order_and_have_the_nodes_of_their_hierarchy(coded: bool) -> None:
    rows = rows_of(["gout", None, "cold", "flu", "cold"], False, coded)
    (column,) = fit_sensitive(rows, [Column("Ill", "VARCHAR")], {"ill": Tree()})
    assert column.words == ("cold", "flu", "gout") and not column.ordered
    own, above = column.levels.tolist()
    assert len(set(own)) == 3 and above[0] == above[1] != above[2]
    assert sensitive_codes(rows, [column]).tolist() == [[2], [3], [0], [1], [0]]
    (plain,) = fit_sensitive(rows, [Column("Ill", "VARCHAR")], {})
    assert plain.levels.shape == (0, 3)
    assert fit_sensitive(Rows({}, 5), [], {}) == ()
    with pytest.raises(DataError, match="sensitive column 'Ill' has values that the encoding doe"):
        sensitive_codes(rows_of(["flu", "mumps"], False, coded), [column])


def test_what_was_learned_of_all_rows_is_used_for_a_block() -> None:
    column = Column("pay", "INTEGER")
    learned = learned_column(
        column, ["30", "4", "5"], np.array([30.0, 4.0, 5.0]), np.array([7, 8, 9]), 2, None
    )
    assert learned.words == ("4", "5", "30") and learned.numbers.tolist() == [4.0, 5.0, 30.0]
    assert learned.table is not None and learned.table.tolist() == [8, 9, 7, 2]
    block = rows_of(["30", None], True)
    known = fit_sensitive(block, [Column("pay", "INTEGER", known=learned)], {})
    assert known == (learned,)
    assert sensitive_codes(block, known).tolist() == [[2], [3]]
