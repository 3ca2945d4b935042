"""Random columns: every type that DuckDB has, with the values by which code errs."""

from __future__ import annotations

from random import Random

from tests.fuzz.case import Column

EXTREMES: dict[str, tuple[str, ...]] = {
    "BOOLEAN": ("true", "false"),
    "TINYINT": ("-128", "127", "0", "1", "-1"),
    "SMALLINT": ("-32768", "32767", "0", "12345"),
    "INTEGER": ("-2147483648", "2147483647", "0", "-1", "7", "3141592"),
    "BIGINT": ("-9223372036854775808", "9223372036854775807", "9007199254740993",
               "9007199254740992", "0", "-1"),
    "HUGEINT": ("-170141183460469231731687303715884105728", "9007199254740993", "0", "-5",
                "170141183460469231731687303715884105727"),
    "UTINYINT": ("0", "255", "7"),
    "USMALLINT": ("0", "65535", "7"),
    "UINTEGER": ("0", "4294967295", "7"),
    "UBIGINT": ("0", "18446744073709551615", "9223372036854775808", "7"),
    "UHUGEINT": ("0", "340282366920938463463374607431768211455", "7"),
    "FLOAT": ("0.0", "-0.0", "nan", "1.5", "3.4e38", "-3.4e38", "1e-45", "16777217"),
    "DOUBLE": ("0.0", "-0.0", "nan", "0.1", "1e300", "-1e300", "5e-324", "1e16", "2.718281828"),
    "DECIMAL(4,1)": ("-999.9", "999.9", "0.0", "-0.1"),
    "DECIMAL(9,2)": ("-9999999.99", "9999999.99", "0.00", "1.50"),
    "DECIMAL(18,6)": ("-999999999999.999999", "999999999999.999999", "0.000001", "0"),
    "DECIMAL(38,10)": ("-9999999999999999999999999999.9999999999", "0.0000000001", "0",
                       "9999999999999999999999999999.9999999999"),
    "DATE": ("0001-01-01", "5881580-07-10", "5877642-06-25 (BC)", "1970-01-01", "2024-02-29"),
    "TIME": ("00:00:00", "23:59:59.999999", "24:00:00", "12:30:01"),
    "TIMESTAMP": ("290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806",
                  "1970-01-01 00:00:00", "2024-10-27 02:30:00"),
    "TIMESTAMP_S": ("1970-01-01 00:00:00", "2024-02-29 23:59:59", "0001-01-01 00:00:00"),
    "TIMESTAMP_MS": ("1970-01-01 00:00:00.001", "2024-02-29 23:59:59.999"),
    "TIMESTAMP_NS": ("1677-09-22 00:00:00", "2262-04-11 23:47:16.854775806",
                     "1970-01-01 00:00:00.000000001"),
    "TIMESTAMPTZ": ("2024-10-27 02:30:00+02", "2024-10-27 02:30:00+01", "1970-01-01 00:00:00+00",
                    "290309-12-22 (BC) 00:00:00+00"),
    "UUID": ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
             "47183823-2574-4bfd-b411-99ed177d3e43"),
    "VARCHAR": ("", " ", "a", "A", "NULL", "nan", "it's Zqx1", 'say "Zqx2"', "a, b", "[1, 2]",
                "{a}", "\u00e4Zqx3", "a\u0308Zqx3", "\u65e5\u672c\u8a9e", "\U0001f600\U0001f468",
                "a\nb", "a\tb", "$x ${k} {}", "x" * 300, "*", "%_\\", "e\u0301" * 9, "\u202eZqx4",
                "--Zqx5", "'; DROP TABLE t; --", "0", "-0", "1e5", "01", "true"),
    "BLOB": (r"\x00", r"\xFF\xFE", "abc", "", r"\x00\x00"),
    "ENUM('', 'alpha Zqx6', 'beta, gamma', 'it''s', 'never')": (
        "", "alpha Zqx6", "beta, gamma", "it's"),
}
"""Of each type that a quasi-identifier may have, the values by which code errs."""

REFUSED: dict[str, tuple[str, ...]] = {
    "TIMETZ": ("00:00:00+15:59:59", "23:59:59.999999-15:59:59", "12:00:00+00"),
    "BIT": ("0", "1", "0101", "0000000000000001"),
    "INTERVAL": ("1 month", "30 days", "720 hours", "-83 years", "0 days"),
    "TIME_NS": ("00:00:00", "23:59:59.999999999", "12:30:01"),
    "BIGNUM": ("0", "-1", "99999999999999999999999999999999999999999999", "7"),
    "INTEGER[]": ("[]", "[1]", "[1, NULL]"),
    "VARCHAR[]": ("[a]", "['a, b']", "[]"),
    "INTEGER[2]": ("[1, 2]", "[3, NULL]"),
    "STRUCT(a INTEGER, b VARCHAR)": ("{'a': 1, 'b': x}", "{'a': NULL, 'b': NULL}"),
    "MAP(VARCHAR, INTEGER)": ("{a=1}", "{}"),
    "JSON": ('{"a": 1}', "null", "[1]", '"Zqx7"'),
    "UNION(a INTEGER, b VARCHAR)": ("1", "xZqx8"),
    "GEOMETRY": ("POINT (1 2)", "LINESTRING (0 0, 1 1)"),
}
"""Of types that a quasi-identifier can't have, or not as single values."""

DENSE = ("INTEGER", "DOUBLE", "VARCHAR", "DATE", "DECIMAL(9,2)", "TIMESTAMP", "SMALLINT")
"""Types of which columns also have plain values, many of them near each other."""

INFINITE = {"DOUBLE": ("inf", "-inf"), "FLOAT": ("inf",), "DATE": ("infinity", "-infinity"),
            "TIMESTAMP": ("infinity",), "TIMESTAMPTZ": ("-infinity",)}

NAMES = (
    "age", "zip", "Job", "seen at", "select", "group", "it's", 'say "so"', "\u00fcber", "k", "x",
    "method", "row", "class_id", "a.b", "-", "count", "t", "source", "rowid",
    "\U0001f600", "e\u0301t\u00e9", "\u00e9t\u00e9", "a" * 80, "1st", "value", "min", "released",
    "from", "NULL", "${k}", "%s", "{}", "place_0", "tab\tname", "metric", "true",
)


def dense(random: Random, type: str) -> list[str]:
    """Plain values of a type, some of them near each other."""
    base = random.choice((0, 20, 1000))
    numbers = [base + random.randrange(random.choice((3, 10, 60, 400))) for _ in range(40)]
    if type == "VARCHAR":
        return [f"{random.choice(('word', '47', 'Zqx'))}{number}" for number in numbers]
    if type == "DATE":
        return [f"{2000 + n % 30}-{1 + n % 12:02}-{1 + n % 28:02}" for n in numbers]
    if type == "TIMESTAMP":
        return [f"2024-{1 + n % 12:02}-{1 + n % 28:02} {n % 24:02}:00:00" for n in numbers]
    if type in ("DOUBLE", "DECIMAL(9,2)"):
        return [f"{number / random.choice((1, 4, 10)):.2f}" for number in numbers]
    return [str(number) for number in numbers]


def pool_of(random: Random, type: str) -> list[str | None]:
    """The values that a column of this type is drawn from."""
    if type in DENSE and random.random() < 0.6:
        values: list[str | None] = list(dense(random, type))
    else:
        known = {**EXTREMES, **REFUSED}[type]
        values = list(random.sample(known, random.randint(1, min(6, len(known)))))
        if type in INFINITE and random.random() < 0.05:
            values += INFINITE[type]
    roll = random.random()
    if roll < 0.25:
        values += [None] * random.randint(1, max(1, len(values) // 3))
    elif roll < 0.27:
        values = [None]
    return values


def column(random: Random, name: str, rows: int, types: tuple[str, ...]) -> Column:
    """A random column of one of these types."""
    type = random.choice(types)
    pool = pool_of(random, type)
    if random.random() < 0.3:  # one value is much more frequent than others
        pool = pool + pool[:1] * (2 * len(pool))
    return Column(name, type, tuple(random.choice(pool) for _ in range(rows)))


def names(random: Random, count: int) -> list[str]:
    """Different names of columns, also by the rules of DuckDB, which ignores case."""
    chosen = random.sample(NAMES, count) if random.random() < 0.5 else [
        f"c{i}" for i in range(count)
    ]
    return chosen
