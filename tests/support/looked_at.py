"""What is withheld of a table of people as people are, a table of the documentation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb

import kanon_sql

DATA = Path(__file__).parents[1] / "data"
ROWS = 3000

CITY = "'479' || lpad((hash(i + 5) % 40)::VARCHAR, 2, '0')"
COLUMNS = {
    # what: SQL of row i, and whether it should be withheld
    "first names of the 1990 census": ("first", False),
    "first and last names": ("concat(first, ' ', last)", True),
    "phones, two of them equal": (
        "'0151 ' || (2000000 + 7919 * CASE WHEN i = 1 THEN 0 ELSE i END)", True
    ),
    "phones of households of three": ("'0951 ' || (2000000 + 7919 * (i * 7 % 3000 // 3))", True),
    "e-mails, two rows each": ("'m' || i * 11 % 3000 // 2 || '@example.org'", True),
    "notes ('note of Mrs. 399'), three rows each": ("'note of Mrs. ' || i * 13 % 3000 // 3", True),
    "notes, six rows each": ("'note of Mrs. ' || i * 17 % 3000 // 6", True),
    "IBANs": ("'DE' || (10 + i % 90) || (500105170000000000 + 7919 * i)", True),
    "row numbers": ("i", True),
    "keys, every tenth missing": ("1000 + i * 10 // 9", True),
    "keys, every third missing": ("1000 + i * 3 // 2", True),
    "keys, nine in ten missing": ("1000 + i * 10 + hash(i) % 10", True),
    "keys drawn from a billion": ("hash(i) % 1000000000", True),
    "ICD codes": ("chr(65 + icd // 30) || lpad((icd % 30)::VARCHAR, 2, '0')", False),
    "zip codes of a town": (CITY, False),
    "zip codes of the country": ("zip", False),
    "incomes to the dollar": ("20000 + hash(i + 9) % 90000", False),
    "dates of birth": ("DATE '1930-01-01' + (hash(i + 3) % 30000)::INTEGER", False),
}
"""Columns of ROWS people; of some it is a matter of taste."""

CALLS = {
    "one value per class (`mdav_star`)": "k=5",
    "all its values (`k_member`)": "k=5, method='k_member'",
    "passes (`others='release'`)": "k=5, quasi_identifiers=['age'], others='release'",
}

PEOPLE = f"""
    CREATE TABLE drawn AS
    SELECT i, 18 + hash(i + 1) % 70 AS age,
           (hash(i + 2) % 90000) / 1000.0 AS one, (hash(i + 4) % 90000) / 1000.0 AS other,
           hash(i + 6) % 42366 AS place, (sqrt(hash(i + 7) % 90000))::INTEGER AS icd
    FROM range({ROWS}) AS r(i);
    CREATE TABLE names AS FROM '{DATA}/names_female_first.parquet';
    CREATE TABLE zips AS
    SELECT code AS zip, row_number() OVER (ORDER BY code) - 1 AS place
    FROM (SELECT DISTINCT code FROM '{DATA}/us_zip_centroids.parquet');
    CREATE TABLE whole AS
    SELECT d.*, f.name AS first, l.name AS last, z.zip
    FROM drawn AS d ASOF JOIN names AS f ON d.one >= f.cum_pct - f.freq_pct
    ASOF JOIN names AS l ON d.other >= l.cum_pct - l.freq_pct
    JOIN zips AS z ON z.place = d.place % (SELECT count(*) FROM zips)
"""


@cache
def looked_at() -> dict[str, dict[str, bool]]:
    """Of each column, by call, whether anonymize_roles says that it is withheld, and that it
    suggests the role of an identifier; both are the same."""
    found: dict[str, dict[str, bool]] = {what: {} for what in COLUMNS}
    with duckdb.connect() as con:
        kanon_sql.register(con).execute("SET enable_progress_bar = false")
        con.execute(PEOPLE)
        shown = ", ".join(
            f"{sql[0]} AS c{j}" for j, sql in enumerate(COLUMNS.values())
        )
        con.execute(f"CREATE TABLE people AS SELECT age, {shown} FROM whole")
        for call, options in CALLS.items():
            rows = con.execute(
                "SELECT column_name, suggested_role = 'identifier', released_as = 'NULL' "
                f"FROM anonymize_roles('people', {options}) WHERE column_name <> 'age'"
            ).fetchall()
            for what, (_, suggested, withheld) in zip(COLUMNS, rows, strict=True):
                assert bool(suggested) == withheld, what
                found[what][call] = withheld
    return found


def shown() -> str:
    """The table, with what is wrong in bold."""
    lines = [
        f"| {ROWS} rows, k = 5 | {' | '.join(CALLS)} |", "|---|" + "---|" * len(CALLS)
    ]
    for what, by_call in looked_at().items():
        words = [
            word if withheld == COLUMNS[what][1] else f"**{word}**"
            for withheld in by_call.values()
            for word in ["withheld" if withheld else "released"]
        ]
        lines.append(f"| {what} | {' | '.join(words)} |")
    return "\n".join(lines)
