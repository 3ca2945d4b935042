"""Random tables of the types and the ties by which an audit might err, as SQL."""

from __future__ import annotations

from random import Random

VALUES = {
    "whole": ["7", "-3", "0", "7", "41", "NULL"],
    "small": ["0.5::FLOAT", "'nan'::FLOAT", "'-0.0'::FLOAT", "0::FLOAT", "1e30::FLOAT", "NULL"],
    "double": ["0.1::DOUBLE", "'nan'::DOUBLE", "'-0.0'::DOUBLE", "0::DOUBLE", "1e16", "NULL"],
    "money": ["1.50::DECIMAL(9, 2)", "2.00::DECIMAL(9, 2)", "-0.01::DECIMAL(9, 2)", "NULL"],
    "huge": ["9007199254740993::HUGEINT", "9007199254740992::HUGEINT", "5::HUGEINT", "NULL"],
    "day": ["DATE '1970-01-01'", "DATE '2024-02-29'", "DATE '1890-05-05'", "NULL"],
    "instant": ["TIMESTAMP '2024-01-01'", "TIMESTAMP '1999-12-31 23:59:59.5'", "NULL"],
    "hour": ["TIME '00:00'", "TIME '12:30:01'", "NULL"],
    "truth": ["true", "false", "NULL"],
    "word": ["'Flu'", "'flu'", "''", "'HIV'", "'a, b'", "'Ünal'", "NULL"],
    "span": ["INTERVAL 1 MONTH", "INTERVAL 30 DAYS", "NULL"],
    "words": ["['a', 'b']", "['a, b']", "['c']", "NULL"],
    "pair": ["{'low': 1, 'high': 2.0}", "{'low': 1, 'high': NULL}", "NULL"],
}
"""Values of a column, as SQL: also those that compare as equal and look different."""

SIMPLE = tuple(name for name in VALUES if name not in ("span", "words", "pair"))
"""The columns that have no values inside of values: what a model or a population may be about."""


def table(random: Random, name: str, columns: list[str]) -> str:
    """CREATE TABLE of few values in each column, so that many rows are alike."""
    few = {each: [VALUES[each][0], *random.sample(VALUES[each], 2)] for each in columns}
    rows = (
        f"({', '.join(random.choice(few[each]) for each in columns)})"
        for _ in range(random.randint(3, 60))
    )
    first = f"({', '.join(VALUES[each][0] for each in columns)})"  # no column is NULL alone
    listed = ", ".join([first, *rows])
    return f"CREATE OR REPLACE TABLE {name} AS FROM (VALUES {listed}) AS t({', '.join(columns)})"
